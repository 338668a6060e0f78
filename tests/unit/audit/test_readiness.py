"""The audit of what is declared: files, digests and dates are looked at, everything else is only repeated."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_speval.audit.finding import Audit
from pytest_speval.audit.readiness import audit_readiness, readiness_in_force
from pytest_speval.suite.audit_keys import AuditSection, Dates, Inventory, Period
from pytest_speval.suite.keys import Claim, Provenance
from pytest_speval.suite.readiness import load_readiness

FILES = ("permission.txt", "component.txt", "training.csv", "licence.pdf")
INDEPENDENT = Claim(level="independent")


def day(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text)


def filled() -> dict[str, Any]:
    """A readiness file in which every field is filled in, consistently."""
    return {
        "sources": [
            {"records": "clips.csv", "source": "the studio", "revision": "v1", "license": "own",
             "audio_redistribution": False, "annotation_redistribution": True, "permission": "permission.txt"}
        ],
        "collection": {"from": day("2026-09-20"), "to": day("2026-10-01")},
        "components": [
            {"name": "net", "revision": "abc", "frozen": day("2026-09-01"), "evidence": "component.txt"},
            {"name": "base", "revision": "def", "frozen": day("2026-05-01"), "evidence": "component.txt"},
        ],
        "inventories": {"training": "training.csv", **dict.fromkeys(("pretraining", "validation"), "unavailable"),
                        **dict.fromkeys(("calibration", "selection"), "unavailable")},
        "evidence": [
            {"what": "licence", "kind": "third-party", "file": "licence.pdf",
             "sha256": hashlib.sha256(b"licence.pdf").hexdigest()}
        ],
        "listeners": {"number": 3, "adults": True, "proficiency": "native", "blinded": True},
        "reviewer": {"name": "R. Eviewer", "date": day("2026-10-05"), "statement": "seen"},
    }  # fmt: skip


AGAINST: Mapping[str, Any] = dict.fromkeys(("pretraining", "validation", "calibration", "selection"), "unavailable")


def audited(
    folder: Path,
    data: dict[str, Any] | None,
    *,
    section: AuditSection | None = None,
    claim: Claim | None = None,
    environ: Mapping[str, str] | None = None,
) -> Audit:
    """The audit of a readiness file with this content, in a folder with all its files."""
    for name in FILES:
        if not (folder / name).exists():
            (folder / name).write_bytes(name.encode())
    file = folder / "voice.readiness.yaml"
    keys = None
    if data is not None:
        file.write_text(yaml.safe_dump(data, sort_keys=False))
        keys = load_readiness(file)
    if section is None:
        section = AuditSection(against={"training": folder / "training.csv", **AGAINST})
    return audit_readiness(keys, file, section, claim or Claim(), environ or {})


def found(audit: Audit, severity: str) -> list[tuple[str, str]]:
    return [(each.code, each.message) for each in audit.findings if each.severity == severity]


def test_what_is_filled_in_is_declared_and_never_verified(tmp_path: Path) -> None:
    audit = audited(tmp_path, filled())
    assert audit.clean
    declared = [message for code, message in found(audit, "notice") if code == "readiness-declared"]
    assert all(message.startswith("declared, not verified: ") for message in declared)
    assert [message.split(": ")[1] for message in declared] == [
        "sources[0]", "collection", "components[0]", "components[1]", "inventories", "evidence[0]", "listeners",
        "reviewer",
    ]  # fmt: skip
    assert "declared, not verified: reviewer: name R. Eviewer, date 2026-10-05, statement seen" in declared
    there = [message for code, message in found(audit, "notice") if code == "evidence-there"]
    assert len(there) == 5
    assert all("what it says was not examined" in message for message in there)
    assert "evidence[0].file: licence.pdf is there, SHA-256 as declared; what it says was not examined" in there
    assert any(hashlib.sha256(b"permission.txt").hexdigest() in message for message in there)


def test_a_template_that_nobody_filled_in_is_not_ready(tmp_path: Path) -> None:
    data = filled()
    blank = [data["collection"], data["inventories"], data["listeners"], data["reviewer"]]
    blank += [*data["sources"], *data["components"][:1], *data["evidence"]]
    data["components"] = data["components"][:1]
    for part in blank:
        part.update(dict.fromkeys(part, ""))
    audit = audited(tmp_path, data)
    assert not audit.clean
    assert not audit.failed
    assert found(audit, "warning") == [("readiness-unfilled", "not filled in: 29 of 29 fields")]
    assert [code for code, _ in found(audit, "notice")] == ["readiness-read"]
    data["sources"][0]["records"] = "  "
    assert audited(tmp_path, data).headline.startswith("not filled in: 29 of 29"), "blanks say nothing either"


def test_a_field_that_is_not_filled_in_is_named(tmp_path: Path) -> None:
    data = filled()
    data["components"][1]["frozen"] = ""
    data["evidence"][0]["sha256"] = ""
    audit = audited(tmp_path, data)
    told = "not filled in: 2 of 33 fields: components[1].frozen, evidence[0].sha256"
    assert found(audit, "warning") == [("readiness-unfilled", told)]
    assert "dates-separate" not in {each.code for each in audit.findings}, "one freeze is not known"


@pytest.mark.parametrize("claim", [Claim(level="listener-labelled"), Claim(family="listener")])
def test_a_claim_on_listeners_needs_their_section(tmp_path: Path, claim: Claim) -> None:
    data = filled()
    del data["listeners"]
    assert audited(tmp_path, data).clean
    assert [code for code, _ in found(audited(tmp_path, data, claim=claim), "warning")] == ["readiness-unfilled"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["gone", "empty", "folder"])
def test_a_file_that_is_not_there_is_an_error(tmp_path: Path, name: str, damage: str) -> None:
    assert not audited(tmp_path, filled()).failed
    (tmp_path / name).unlink()
    if damage == "folder":
        (tmp_path / name).mkdir()
    elif damage == "empty":
        (tmp_path / name).touch()
    else:
        (tmp_path / name).symlink_to("nowhere")
    data = filled()
    file = tmp_path / "voice.readiness.yaml"
    file.write_text(yaml.safe_dump(data))
    audit = audit_readiness(
        load_readiness(file),
        file,
        AuditSection(against={"training": tmp_path / "training.csv", **AGAINST}),
        Claim(),
        {},
    )
    assert {code for code, _ in found(audit, "error")} == {"evidence-missing"}
    assert all(name in message for _, message in found(audit, "error"))


def test_a_file_with_another_digest_is_an_error(tmp_path: Path) -> None:
    audited(tmp_path, filled())
    (tmp_path / "licence.pdf").write_bytes(b"licence.pdF")
    ((code, message),) = found(audited(tmp_path, filled()), "error")
    assert code == "evidence-changed"
    assert message.startswith(
        f"evidence[0].file: licence.pdf has the SHA-256 {hashlib.sha256(b'licence.pdF').hexdigest()}"
    )


def test_a_variable_stays_unexpanded_and_must_be_set(tmp_path: Path) -> None:
    data = filled()
    data["sources"][0]["permission"] = "${PERMITS}/permission.txt"
    audit = audited(tmp_path, data, environ={"PERMITS": str(tmp_path)})
    assert not audit.failed
    assert not any(str(tmp_path) in str(each) for each in audit.findings)
    assert any("${PERMITS}/permission.txt is there" in message for _, message in found(audit, "notice"))
    assert [code for code, _ in found(audited(tmp_path, data), "error")] == ["evidence-missing"]


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("collection", "to"), "2026-09-19", "collection.from is 2026-09-20 and collection.to is 2026-09-19"),
        (("reviewer", "date"), "2026-09-30", "collection.to is 2026-10-01 and reviewer.date is 2026-09-30"),
        (
            ("components", 0, "frozen"),
            "2026-10-06",
            "components[0].frozen is 2026-10-06 and reviewer.date is 2026-10-05",
        ),
    ],
)
def test_dates_that_cannot_both_be_true_are_an_error(
    tmp_path: Path, path: tuple[Any, ...], value: str, told: str
) -> None:
    data = filled()
    part: Any = data
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = day(value)
    errors = found(audited(tmp_path, data), "error")
    assert [code for code, _ in errors] == ["dates-contradict"]
    assert errors[0][1].startswith(told)


@pytest.mark.parametrize(
    ("dates", "told"),
    [
        (Dates(corpus=Period.model_validate({"from": day("2026-09-20"), "to": day("2026-10-01")})), None),
        (Dates(model_frozen=day("2026-09-01")), None),
        (Dates(model_frozen=day("2026-09-10")), None),
        (Dates(model_frozen=day("2026-08-31")), "components[0].frozen is 2026-09-01 and audit.dates.model_frozen is"),
        (
            Dates(corpus=Period.model_validate({"from": day("2026-09-21"), "to": day("2026-10-01")})),
            "collection.from is 2026-09-20 and audit.dates.corpus.from is 2026-09-21: not the same day",
        ),
    ],
)
def test_the_suite_and_its_readiness_file_may_not_contradict(tmp_path: Path, dates: Dates, told: str | None) -> None:
    section = AuditSection(dates=dates, against={"training": tmp_path / "training.csv", **AGAINST})
    errors = found(audited(tmp_path, filled(), section=section), "error")
    assert [code for code, _ in errors] == ([] if told is None else ["dates-contradict"])
    assert all(told is not None and message.startswith(told) for _, message in errors)


def test_collection_after_every_freeze_supports_separation_whatever_the_order(tmp_path: Path) -> None:
    for freezes in permutations(("2026-09-19", "2026-05-01", "2020-01-01")):
        data = filled()
        data["components"] = [data["components"][0] | {"frozen": day(frozen)} for frozen in freezes]
        notices = dict(found(audited(tmp_path, data), "notice"))
        assert "2026-09-19" in notices["dates-separate"]
        assert notices["dates-separate"].startswith("declared, not verified: collection.from is 2026-09-20")


@pytest.mark.parametrize("frozen", ["2026-09-20", "2026-09-25"])
def test_collection_on_the_day_of_a_freeze_or_before_narrows(tmp_path: Path, frozen: str) -> None:
    data = filled()
    data["components"][1]["frozen"] = day(frozen)
    audit = audited(tmp_path, data)
    assert not audit.failed
    assert [code for code, _ in found(audit, "warning")] == ["collection-before-freeze"]
    assert "dates-separate" not in {each.code for each in audit.findings}


def test_dates_of_the_suite_count_without_a_readiness_file(tmp_path: Path) -> None:
    period = Period.model_validate({"from": day("2026-09-20"), "to": day("2026-10-01")})
    after = AuditSection(dates=Dates(corpus=period, model_frozen=day("2026-09-01")))
    before = AuditSection(dates=Dates(corpus=period, model_frozen=day("2026-09-20")))
    half = AuditSection(dates=Dates(corpus=period))
    codes = [[each.code for each in audited(tmp_path, None, section=one).findings] for one in (after, before, half)]
    assert codes == [["dates-separate"], ["collection-before-freeze"], []]


def test_inventories_are_those_of_the_suite(tmp_path: Path) -> None:
    given = Inventory(file=tmp_path / "lists/../training.csv")
    assert audited(tmp_path, filled(), section=AuditSection(against={"training": given, **AGAINST})).clean
    other = AuditSection(against={"training": tmp_path / "other.csv", **AGAINST})
    assert found(audited(tmp_path, filled(), section=other), "error") == [
        (
            "inventory-contradicts",
            "inventories.training is training.csv, and audit.against.training of the suite is other.csv",
        )
    ]
    unavailable = AuditSection(against={"training": "unavailable"})
    assert [code for code, _ in found(audited(tmp_path, filled(), section=unavailable), "error")] == [
        "inventory-contradicts"
    ]
    assert [code for code, _ in found(audited(tmp_path, filled(), section=AuditSection()), "warning")] == [
        "inventory-unused"
    ]


def test_an_independent_claim_needs_a_readiness_file(tmp_path: Path) -> None:
    ((code, message),) = found(audited(tmp_path, None, claim=INDEPENDENT), "error")
    assert code == "readiness-missing"
    assert "voice.readiness.yaml" in message
    assert not audited(tmp_path, None).findings


def test_provenance_is_repeated_with_its_kind_and_its_files_must_be_there(tmp_path: Path) -> None:
    entries = tuple(
        Provenance(what=kind, kind=kind, evidence=file)  # type: ignore[arg-type]
        for kind, file in (("third-party", tmp_path / "licence.pdf"), ("independent-verification", tmp_path / "no.txt"))
    )
    audit = audited(tmp_path, None, claim=Claim(provenance=entries))
    assert found(audit, "error") == [("evidence-missing", "claim.provenance[1].evidence: there is no file no.txt")]
    assert [message for code, message in found(audit, "notice") if code == "readiness-declared"] == [
        "declared, not verified: claim.provenance[0]: third-party (third-party)",
        "declared, not verified: claim.provenance[1]: independent-verification (independent-verification)",
    ]


@pytest.mark.parametrize(
    ("exists", "section", "claim", "wanted"),
    [
        (False, AuditSection(), Claim(), False),
        (True, AuditSection(), Claim(), True),
        (False, AuditSection(dates=Dates()), Claim(), True),
        (False, AuditSection(), INDEPENDENT, True),
        (False, AuditSection(), Claim(level="listener-labelled"), False),
        (False, AuditSection(), Claim(provenance=(Provenance(what="a", kind="third-party"),)), False),
        (
            False,
            AuditSection(),
            Claim(provenance=(Provenance(what="a", kind="third-party", evidence=Path("a")),)),
            True,
        ),
    ],
)
def test_when_the_audit_is_in_force(exists: bool, section: AuditSection, claim: Claim, wanted: bool) -> None:
    assert readiness_in_force(exists=exists, section=section, claim=claim) is wanted
