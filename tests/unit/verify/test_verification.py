"""A finished run holds; whatever is altered in its folder is found, with its file and record."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from pytest_speval.errors import UsageFault
from pytest_speval.evidence.canonical import canonical
from pytest_speval.evidence.envelope import seal
from pytest_speval.evidence.folder import RunFolder
from pytest_speval.evidence.plan import Plan
from pytest_speval.evidence.receipt import Receipt, SigningKey, write_receipt
from pytest_speval.verify.finding import Finding
from pytest_speval.verify.verification import run_folders, verify
from tests.damage import random_change, record_of
from tests.folders import CLIPS, RULES, finish, finished_run, killed_run, plan_of
from tests.runs import UNATTEMPTED, UNKNOWN, Clip, said

Damage = Callable[[str, bytes], list[Finding]]


def new_key(folder: Path, name: str) -> tuple[SigningKey, Path]:
    """A pair of keys in files."""
    key = Ed25519PrivateKey.generate()
    private, public = folder / f"{name}.pem", folder / f"{name}.pub.pem"
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return SigningKey.of(private), public


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keys")


@pytest.fixture(scope="module")
def key(keys: Path) -> SigningKey:
    return new_key(keys, "release")[0]


@pytest.fixture(scope="module", params=["unsigned", "signed"])
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, key: SigningKey) -> Path:
    """A finished run that no test changes for good."""
    return finished_run(tmp_path_factory.mktemp("whole"), key=key if request.param == "signed" else None)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """An unsigned finished run of the test's own."""
    return finished_run(tmp_path / "out")


@pytest.fixture
def damaged(whole: Path) -> Iterator[Damage]:
    """Verify with one file replaced, then put it back."""
    originals: dict[Path, bytes] = {}

    def damage(name: str, data: bytes) -> list[Finding]:
        path = whole / name
        original = originals.setdefault(path, path.read_bytes())
        path.write_bytes(data)
        try:
            return errors(verify(whole))
        finally:
            path.write_bytes(original)

    yield damage
    for path, original in originals.items():
        assert path.read_bytes() == original


def errors(findings: list[Finding]) -> list[Finding]:
    return [found for found in findings if found.severity == "error"]


def placed(findings: list[Finding]) -> list[tuple[str, str, str]]:
    """Code, file and record of the errors, without clips."""
    return [(found.code, found.file, found.record.partition(" (")[0]) for found in errors(findings)]


def rewritten(folder: Path, name: str, change: Callable[[Any], object]) -> None:
    """Change a JSON file by its value."""
    value = json.loads((folder / name).read_bytes())
    change(value)
    (folder / name).write_bytes(canonical(value) + b"\n")


def receipted(folder: Path, verdict: str = "pass", plan: Plan | None = None) -> None:
    """Write a receipt over whatever lies there, as a forger can."""
    write_receipt(RunFolder(folder), plan or plan_of(), verdict, None, None)


def test_a_finished_run_holds_and_its_verdict_is_told(whole: Path) -> None:
    found = verify(whole)
    assert not errors(found)
    assert [one.code for one in found] in (["unsigned", "verified"], ["signed", "verified"])
    assert str(found[-1]).startswith(
        "verdict pass; every file follows from the plan and 12 journal lines about 5 clips"
    )


@pytest.mark.parametrize("start", range(0, 300, 50))
def test_any_changed_byte_is_found_with_its_file_and_record(whole: Path, damaged: Damage, start: int) -> None:
    for seed in range(start, start + 50):
        change = random_change(whole, seed)
        data = (whole / change.file).read_bytes()
        altered = data[: change.offset] + bytes([change.value]) + data[change.offset + 1 :]
        found = damaged(change.file, altered)
        assert [one.file for one in found] == [change.file], (change, found)
        record = record_of(change, data)
        assert found[0].record.partition(" (")[0] == record, (change, found)


NAMES = [
    "plan.json",
    "audits.json",
    "clips.jsonl",
    "out.json",
    "report.md",
    "journal/gw0.jsonl",
    "journal/gw1.jsonl",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_taken_out_is_missed(run: Path, name: str) -> None:
    (run / name).unlink()
    assert placed(verify(run)) == [("file-missing", name, "")]


@pytest.mark.parametrize("name", NAMES)
def test_a_renamed_file_is_missed_and_not_known(run: Path, name: str) -> None:
    (run / name).rename(run / f"{name}.old.jsonl")
    found = placed(verify(run))
    assert found == [("file-missing", name, ""), ("file-unexpected", f"{name}.old.jsonl", "")]


@pytest.mark.parametrize(
    "name", ["more.txt", "journal/gw2.jsonl", "journal/gw0.torn", "answers/a.npy", ".out.json.1", "a/receipt.json"]
)
def test_an_added_file_is_not_known(run: Path, name: str) -> None:
    (run / name).parent.mkdir(exist_ok=True)
    (run / name).write_bytes(b"")
    assert placed(verify(run)) == [("file-unexpected", name, "")]


@pytest.mark.parametrize("name", [*NAMES, "receipt.json"])
@pytest.mark.parametrize("left", [0, 1, 40, -1])
def test_a_truncated_file_is_found(damaged: Damage, whole: Path, name: str, left: int) -> None:
    found = damaged(name, (whole / name).read_bytes()[:left])
    assert found[0].file == name


@pytest.mark.parametrize("name", ["clips.jsonl", "report.md"])
def test_lines_cut_off_or_put_in_are_told_by_the_first(damaged: Damage, whole: Path, name: str) -> None:
    lines = (whole / name).read_bytes().splitlines(keepends=True)
    assert placed(damaged(name, b"".join(lines[:-1]))) == [("not-recomputed", name, f"line {len(lines)}")]
    assert placed(damaged(name, b"".join([*lines, lines[0]]))) == [("not-recomputed", name, f"line {len(lines) + 1}")]
    swapped = [lines[0], lines[2], lines[1], *lines[3:]]
    assert placed(damaged(name, b"".join(swapped))) == [("not-recomputed", name, "line 2")]


def test_the_clip_of_an_altered_row_is_named(damaged: Damage, whole: Path) -> None:
    data = (whole / "clips.jsonl").read_bytes()
    (found,) = damaged("clips.jsonl", data.replace(b'"correct":false', b'"correct":true ', 1))
    assert str(found) == "clips.jsonl, line 2 (test/c1): not what was recomputed [not-recomputed]"


def test_the_last_lines_of_a_journal_cannot_go_unseen(damaged: Damage, whole: Path) -> None:
    lines = (whole / "journal/gw1.jsonl").read_bytes().splitlines(keepends=True)
    for kept in range(len(lines)):
        found = damaged("journal/gw1.jsonl", b"".join(lines[:kept]))
        assert placed(found) == [("line-missing", "journal/gw1.jsonl", f"line {kept + 1}")]


def test_a_torn_end_cannot_go_unseen_either(tmp_path: Path) -> None:
    plan = plan_of()
    run = killed_run(tmp_path, plan=plan)
    journal = run.journals / "gw0.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole + b'{"event":"ente')
    finish(run, plan)
    assert not errors(verify(run.path))
    for end in (b"", b'{"event":"entf', b'{"event":"entered'):
        journal.write_bytes(whole + end)
        expected = ("line-altered", "journal/gw0.jsonl", f"line {whole.count(10) + 1}")
        assert placed(verify(run.path)) == [expected]


def test_an_altered_number_is_told_with_the_recomputed_one(damaged: Damage, whole: Path) -> None:
    value = json.loads((whole / "out.json").read_bytes())
    value["metrics"]["accuracy"]["value"] = 0.9
    (found,) = damaged("out.json", canonical(value) + b"\n")
    assert str(found) == "out.json, metrics.accuracy.value: 0.4 recomputed, 0.9 now [not-recomputed]"


def test_altered_times_are_told_though_nothing_recomputes_them(damaged: Damage, whole: Path) -> None:
    text = (whole / "out.json").read_bytes()
    for old, new, record in (
        (b"12.53125", b"12.53126", "elapsedSeconds"),
        (b"12.53125", b"92.53125", "elapsedSeconds"),
        (b"12.53125", b"1e999999", "elapsedSeconds"),
        (b"2026-11-29T", b"2026-11-30T", "runStartedAt"),
        (b"23:59:58Z", b"23:59:59Z", "runStartedAt"),
        (b'"partial":false', b'"partial":true', "partial"),
    ):
        found = damaged("out.json", text.replace(old, new))
        assert placed(found)[0] == ("not-recomputed", "out.json", record)
        assert len(found) == 1


def test_several_altered_files_are_each_told(run: Path) -> None:
    for name in ("out.json", "report.md"):
        (run / name).write_bytes((run / name).read_bytes().replace(b"0.4", b"0.9", 1))
    assert {found.file for found in errors(verify(run))} == {"out.json", "report.md"}
    (run / "journal/gw0.jsonl").write_bytes(b"")
    found = placed(verify(run))
    assert found[0] == ("line-missing", "journal/gw0.jsonl", "line 1")
    assert {name for _, name, _ in found[1:]} == {"out.json", "report.md"}


def test_a_file_that_no_one_recomputes_is_held_by_its_digest(tmp_path: Path) -> None:
    plan = plan_of()
    folder = killed_run(tmp_path, plan=plan)
    (folder.path / "answers").mkdir()
    (folder.path / "answers/a.npy").write_bytes(b"\x93NUMPY")
    finish(folder, plan)
    assert not errors(verify(folder.path))
    (folder.path / "answers/a.npy").write_bytes(b"\x93NUMPX")
    assert placed(verify(folder.path)) == [("file-changed", "answers/a.npy", "")]


def test_a_link_is_no_file_of_a_run(run: Path, tmp_path: Path) -> None:
    shutil.move(run / "report.md", tmp_path / "report.md")
    (run / "report.md").symlink_to(tmp_path / "report.md")
    (run / "more").symlink_to(tmp_path)
    found = placed(verify(run))
    assert ("file-missing", "report.md", "") in found
    assert {("not-plain", "report.md", ""), ("not-plain", "more", "")} <= set(found)


def test_a_killed_run_is_unfinished_and_what_holds_so_far_is_told(tmp_path: Path) -> None:
    clips = [*CLIPS[:4], replace(CLIPS[5], ending=UNATTEMPTED)]
    folder = killed_run(tmp_path, clips).path
    journal = folder / "journal/gw0.jsonl"
    journal.write_bytes(journal.read_bytes() + b'{"event":"ente')
    found = verify(folder)
    assert placed(found) == [("receipt-missing", "receipt.json", "")]
    assert str(found[-1]) == "the journals hold together; 4 of 5 planned clips ended [so-far]"


def test_damage_of_a_killed_run_is_told_too(tmp_path: Path) -> None:
    folder = killed_run(tmp_path).path
    journal = folder / "journal/gw0.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:2], lines[2].replace(b"happy", b"sad!!"), *lines[3:]]))
    assert placed(verify(folder))[1:] == [("line-altered", "journal/gw0.jsonl", "line 3")]
    rewritten(folder, "plan.json", lambda plan: plan["question"]["clips"]["cells"]["label"].reverse())
    assert ("evidence-altered", "plan.json", "") in placed(verify(folder))
    assert ("line-altered", "journal/gw0.jsonl", "line 3") in placed(verify(folder))
    assert "question is not what questionSha256 stands for" in str(verify(folder)[1])
    for audits in (b'[{"name":"corpus"}]\n', b'[{"findings":[],"name":"corpus","verdict":"fail"}]\n', b"[1]\n"):
        (folder / "audits.json").write_bytes(audits)
        assert ("evidence-altered", "audits.json", "") in placed(verify(folder))
    (folder / "audits.json").unlink()
    assert ("file-missing", "audits.json", "") in placed(verify(folder))


def test_results_without_a_receipt_are_still_recomputed(run: Path) -> None:
    (run / "receipt.json").unlink()
    assert placed(verify(run)) == [("receipt-missing", "receipt.json", "")]
    (run / "clips.jsonl").write_bytes((run / "clips.jsonl").read_bytes().replace(b"happy", b"sappy", 1))
    assert placed(verify(run))[1:] == [("not-recomputed", "clips.jsonl", "line 1")]
    (run / "out.json").unlink()
    (run / "report.md").unlink()
    assert placed(verify(run)) == [("receipt-missing", "receipt.json", "")]


def test_a_signed_report_is_recomputed_without_its_receipt(tmp_path: Path, key: SigningKey) -> None:
    folder = finished_run(tmp_path, key=key)
    (folder / "receipt.json").unlink()
    assert placed(verify(folder)) == [("receipt-missing", "receipt.json", "")]


def test_a_damaged_receipt_is_no_witness_and_the_rest_is_still_checked(run: Path) -> None:
    data = (run / "receipt.json").read_bytes()
    (run / "receipt.json").write_bytes(data.replace(b"payloadType", b"payloadKind"))
    assert placed(verify(run)) == [("receipt-damaged", "receipt.json", "")]
    (run / "out.json").write_bytes((run / "out.json").read_bytes().replace(b"0.4", b"0.9", 1))
    assert [name for _, name, _ in placed(verify(run))] == ["receipt.json", "out.json"]


def test_forged_results_under_a_forged_receipt_do_not_follow(run: Path) -> None:
    rewritten(run, "out.json", lambda out: out["metrics"]["accuracy"].update(value=1.0))
    receipted(run)
    assert placed(verify(run)) == [("not-recomputed", "out.json", "metrics.accuracy.value")]


def test_a_forged_verdict_does_not_follow(run: Path) -> None:
    receipted(run, "fail")
    (found,) = errors(verify(run))
    assert str(found) == "receipt.json, verdict: pass recomputed, fail now [receipt-differs]"


def test_a_forged_receipt_cannot_leave_results_out(run: Path) -> None:
    for name in ("out.json", "report.md", "clips.jsonl"):
        (run / name).unlink()
        receipted(run)
        assert ("file-missing", name, "") in placed(verify(run))


def test_forged_evidence_is_only_held_by_a_signature(tmp_path: Path, keys: Path, key: SigningKey) -> None:
    forged = [replace(clip, ending=said(clip.label)) for clip in CLIPS]
    folder = finished_run(tmp_path / "forged", forged)
    found = verify(folder)
    assert not errors(found)
    assert str(found[0]) == "receipt.json: unsigned: anyone could have written it [unsigned]"
    public = keys / "release.pub.pem"
    assert placed(verify(folder, public)) == [("envelope-unsigned", "receipt.json", "")]
    other, _ = new_key(keys, "other")
    folder = finished_run(tmp_path / "signed", forged, other)
    assert not errors(verify(folder))
    assert placed(verify(folder, public)) == [("signature-by-another", "receipt.json", "")]
    folder = finished_run(tmp_path / "right", key=key)
    assert "the key you gave" in str(verify(folder, public)[0])
    assert "the key that the receipt itself names" in str(verify(folder)[0])


def test_a_signature_taken_away_or_put_over_other_words_is_found(tmp_path: Path, key: SigningKey) -> None:
    folder = finished_run(tmp_path, key=key)
    path = folder / "receipt.json"
    envelope = json.loads(path.read_bytes())
    path.write_bytes(canonical(envelope | {"signatures": []}) + b"\n")
    assert placed(verify(folder)) == [("envelope-unsigned", "receipt.json", "")]
    receipt, _ = Receipt.read(path.read_bytes())
    payload = base64.b64encode(replace(receipt, verdict="fail").statement()).decode()
    path.write_bytes(canonical(envelope | {"payload": payload}) + b"\n")
    assert placed(verify(folder))[0] == ("signature-wrong", "receipt.json", "")
    unsigned = seal(replace(receipt, public_key=None).statement(), None)
    path.write_bytes(unsigned)
    last = (folder / "report.md").read_text().count("\n")
    assert placed(verify(folder)) == [("not-recomputed", "report.md", f"line {last}")]


def test_other_versions_are_a_notice(tmp_path: Path) -> None:
    plan = replace(plan_of(), versions={"numpy": "1.0", "scorer": "ab" * 32})
    folder = finish(killed_run(tmp_path, plan=plan), plan)
    found = verify(folder)
    assert not errors(found)
    (notice,) = [one for one in found if one.code == "other-versions"]
    assert (notice.file, notice.record) == ("plan.json", "versions")
    assert "numpy: 1.0 in the plan, " in notice.message


@pytest.mark.parametrize("missing", ["withhold", "worst"])
def test_runs_of_any_outcome_hold(tmp_path: Path, missing: str) -> None:
    rules = RULES | {"run": {"max_failed": 0, "missing": missing}}
    outcomes: dict[str, list[Clip]] = {
        "invalid": [replace(CLIPS[0], ending=UNKNOWN), *CLIPS[1:]],
        "incomplete": [replace(CLIPS[0], ending=UNATTEMPTED), *CLIPS[1:]],
        "nothing": [replace(clip, ending=UNATTEMPTED) for clip in CLIPS],
        "perfect": [replace(clip, ending=said(clip.label)) for clip in CLIPS],
    }
    for name, clips in outcomes.items():
        plan = plan_of(clips, rules)
        for partial in (False, True):
            folder = finish(killed_run(tmp_path / f"{name}{partial}", clips, plan), plan, partial=partial)
            assert not errors(verify(folder)), name


def test_shards_and_titles_hold(tmp_path: Path) -> None:
    for name, plan in {"shard": plan_of(shard=(1, 2)), "title": plan_of(title="small")}.items():
        folder = finish(killed_run(tmp_path / name, plan=plan), plan)
        assert not errors(verify(folder))


def test_an_empty_journal_folder_may_be_lost_on_the_way(tmp_path: Path) -> None:
    plan = plan_of()
    run = killed_run(tmp_path, plan=plan)
    for journal in run.journal_files():
        journal.unlink()
    finish(run, plan)
    run.journals.rmdir()
    assert not errors(verify(run.path))


def test_a_plan_of_another_kind_under_right_digests_is_no_crash(tmp_path: Path) -> None:
    for rules in ({}, RULES | {"labels": {"set": ["other"]}}, RULES | {"gates": [{}]}, RULES | {"score": []}):
        plan = plan_of(rules=rules)
        folder = killed_run(tmp_path / str(len(list(tmp_path.iterdir()))), plan=plan).path
        for name in ("clips.jsonl", "report.md"):
            (folder / name).write_bytes(b"\n")
        (folder / "out.json").write_bytes(
            canonical({"runStartedAt": "2026-11-29T08:00:00Z", "elapsedSeconds": 1, "partial": False}) + b"\n"
        )
        receipted(folder, plan=plan)
        assert placed(verify(folder))[0][:2] == ("not-judged", "plan.json")


def test_an_unknown_task_is_told(tmp_path: Path) -> None:
    plan = plan_of()
    question = replace(plan.question, task="lip-reading")
    plan = replace(plan, question=question)
    folder = finished_run(tmp_path)
    (folder / "plan.json").write_bytes(canonical(plan.as_dict()) + b"\n")
    receipted(folder, plan=plan)
    assert placed(verify(folder)) == [("not-judged", "plan.json", "question.task")]


def test_nothing_in_the_folder_is_touched(run: Path) -> None:
    def state() -> dict[str, tuple[int, bytes]]:
        return {
            str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
            for path in run.rglob("*")
        }

    before = state()
    verify(run)
    assert state() == before


def test_a_key_that_cannot_check_is_a_usage_fault(tmp_path: Path) -> None:
    folder = finished_run(tmp_path / "out", key=new_key(tmp_path, "mine")[0])
    (tmp_path / "pub.pem").write_text("no key")
    for name in ("pub.pem", "nowhere.pem", "mine.pem"):
        with pytest.raises(UsageFault, match=name):
            verify(folder, tmp_path / name)


def test_run_folders_are_found_at_any_depth(run: Path, tmp_path: Path) -> None:
    assert run_folders(run) == run_folders(run.parent) == run_folders(tmp_path / "out") == run_folders(tmp_path)
    (run / "plan.json").unlink()
    assert run_folders(tmp_path) == [run]
    (tmp_path / "empty").mkdir()
    for place in (tmp_path / "empty", tmp_path / "nowhere"):
        with pytest.raises(UsageFault, match="holds no run") as caught:
            run_folders(place)
        assert caught.value.code == "no-run"


def test_verifying_knows_no_pytest_and_no_network(run: Path) -> None:
    code = (
        "import socket, sys\n"
        "def refuse(*a, **k): raise AssertionError('network')\n"
        "socket.socket = refuse\n"
        "from pytest_speval.command import main\n"
        f"status = main(['verify', {str(run)!r}])\n"
        "loaded = [name for name in ('pytest', '_pytest', 'onnxruntime', 'rich') if name in sys.modules]\n"
        "raise SystemExit(status or (str(loaded) if loaded else 0))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
