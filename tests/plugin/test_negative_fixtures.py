"""Real sessions over `fixtures/negative`: each corpus with one thing wrong is told as its README says."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest

from pytest_speval.audit.finding import Side, Violation
from pytest_speval.corpus.clips import list_clips
from pytest_speval.corpus.listing import Listing
from pytest_speval.corpus.manifest import Format, read_manifest
from tests.plugin.conftest import Project

REPOSITORY = Path(__file__).parents[2]
NEGATIVE = REPOSITORY / "fixtures" / "negative"
MISSING = {"kind": "missing", "value": None, "why": "unavailable"}


def session(project: Project, case: str, *arguments: str) -> pytest.RunResult:
    shutil.copytree(NEGATIVE / case, project.path, dirs_exist_ok=True)
    return project.run("-rA", *arguments)


def audits(project: Project, case: str) -> Mapping[str, Any]:
    found = json.loads((project.folder(case) / "audits.json").read_text(encoding="utf-8"))
    return {audit["name"]: audit for audit in found}


def told(audit: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(finding["severity"], finding["code"]) for finding in audit["findings"]]


def assert_failed(project: Project, case: str, check: str, message: str) -> None:
    """The one audit fails with its message, nothing is asked, and the gate is invalid."""
    result = session(project, case)
    assert result.ret == 6
    found = audits(project, case)
    assert [name for name, audit in found.items() if audit["verdict"] == "fail"] == [check]
    assert found[check]["findings"][0]["message"] == message
    document = project.document(case)
    assert document["counts"]["unattempted"] == document["counts"]["planned"] > 0
    assert [gate["verdict"] for gate in document["gates"]] == ["invalid"]


def assert_clean(project: Project, case: str) -> None:
    assert session(project, case).ret == 0
    assert {name: told(audit) for name, audit in audits(project, case).items() if audit["findings"]} == {}
    assert [gate["verdict"] for gate in project.document(case)["gates"]] == ["pass"]


# --- keys on both sides


def test_a_30_a_speaker_in_train_and_test(project: Project) -> None:
    case = "a30-speaker-in-train-and-test"
    assert_failed(project, case, "speakers", "1 of 2 speakers, 1 of 2 clips also in train")
    (violation,) = audits(project, case)["speakers"]["violations"]
    assert (violation["kind"], violation["key"]) == ("speakers", "p1")
    assert violation["sides"] == [
        {"part": "test", "clips": ["test/c"], "lines": [4]},
        {"part": "train", "clips": ["train/a"], "lines": [2]},
    ]


def test_a_30_is_found_by_workers_sessions_too(project: Project, distributed: tuple[str, ...]) -> None:
    result = session(project, "a30-speaker-in-train-and-test", *distributed)
    assert result.ret == 6
    result.stdout.fnmatch_lines(["*1 of 2 speakers, 1 of 2 clips also in train*"])


def test_a_31_a_recording_under_two_speakers(project: Project) -> None:
    case = "a31-recording-under-two-speakers"
    assert_failed(project, case, "bytes", "1 of 2 files, 1 of 2 clips also in train")
    found = audits(project, case)
    assert [violation["key"] for violation in found["bytes"]["violations"]] == ["1" * 64]
    assert ("warning", "recording-of-two-speakers") in told(found["corpus"])
    assert told(found["speakers"]) == []


def test_a_32_a_shared_family_is_a_violation_only_where_content_is_held_out(project: Project) -> None:
    assert_clean(project, "a32-family-matched")
    assert "families" not in audits(project, "a32-family-matched")


def test_a_32_a_shared_family_with_content_held_out(project: Project) -> None:
    assert_failed(project, "a32-family-held-out", "families", "1 of 1 families, 1 of 1 clips also in train")


def test_a_33_an_unknown_speaker_is_not_proven_disjoint(project: Project) -> None:
    message = "1 of 1 clips of test have no speaker: disjointness is not proven"
    assert_failed(project, "a33-unknown-speaker-forbidden", "speakers", message)


def test_a_33_an_unknown_speaker_in_quarantine_is_counted_and_asked(project: Project) -> None:
    case = "a33-unknown-speaker-quarantined"
    assert session(project, case).ret == 0
    assert told(audits(project, case)["speakers"]) == [("warning", "key-unknown")]
    counts = project.document(case)["counts"]
    assert (counts["answered"], counts["quarantined"]) == (1, 1)


# --- what is no corpus


@pytest.mark.parametrize(
    ("case", "line"),
    [
        ("a36-no-rows", "*clips.csv: manifest has 0 rows*no-rows*"),
        ("a37-conflicting-clip", "*clips.csv:4*`test/a` also stands on line 2, with other cells*conflicting-identity*"),
        ("a37-nested-list", "*clips.jsonl:1*accent*cell-type*"),
    ],
)
def test_what_is_no_corpus_is_a_collection_error(project: Project, case: str, line: str) -> None:
    result = session(project, case)
    assert result.ret == 2
    result.stdout.fnmatch_lines([line])
    assert not (project.path / ".speval").exists()


def test_a_37_unlike_cohorts_of_one_speaker_are_reported(project: Project) -> None:
    case = "a37-one-speaker-two-accents"
    assert session(project, case).ret == 0
    (finding,) = audits(project, case)["corpus"]["findings"]
    assert (finding["severity"], finding["code"]) == ("notice", "cohorts-differ")
    assert finding["clips"] == ["test/a", "test/b"]


def test_a_37_a_text_is_one_cohort(project: Project) -> None:
    assert_clean(project, "a37-one-accent")


def test_a_38_what_was_read_cannot_be_bound_anew(tmp_path: Path) -> None:
    (tmp_path / "clips.csv").write_text("id,speaker\na,p1\n", encoding="utf-8")
    manifest = read_manifest(tmp_path / "clips.csv", "clips.csv", Format())
    clips = list_clips(manifest, Listing({"id": ("id",), "speaker": ("speaker",)}), None, [], Path)
    side = Side("test", ("test/a",), (2,))
    for frozen, name in (
        (manifest, "rows"),
        (clips, "ids"),
        (side, "clips"),
        (Violation("speakers", "p1", (side,)), "key"),
    ):
        with pytest.raises(FrozenInstanceError):
            setattr(frozen, name, ())


# --- identity correction


def test_merging_two_keys_makes_the_violation_appear(project: Project) -> None:
    assert_clean(project, "identity-merge-before")


def test_merged_keys_are_one_speaker(project: Project) -> None:
    assert_failed(project, "identity-merge-after", "speakers", "1 of 1 speakers, 1 of 1 clips also in train")


def test_one_key_of_two_speakers_is_a_violation_before_it_is_split(project: Project) -> None:
    assert_failed(project, "identity-split-before", "speakers", "1 of 1 speakers, 1 of 1 clips also in train")


def test_splitting_a_key_makes_the_violation_go(project: Project) -> None:
    assert_clean(project, "identity-split-after")


def test_both_revisions_of_a_correction_differ_in_keys_and_revision_only() -> None:
    for way in ("merge", "split"):
        before, after = (NEGATIVE / f"identity-{way}-{when}" for when in ("before", "after"))
        assert (before / "answers.csv").read_bytes() == (after / "answers.csv").read_bytes()
        assert (before / "clips.csv").read_bytes() != (after / "clips.csv").read_bytes()
        for folder, revision in ((before, "1"), (after, "2")):
            said = (folder / "suites" / f"{folder.name}.yaml").read_text(encoding="utf-8")
            assert f'map_revision: "{revision}"' in said


# --- outcomes


def groups(project: Project, case: str) -> list[Mapping[str, Any]]:
    assert session(project, case).ret == 0
    found: list[Mapping[str, Any]] = project.document(case)["cohorts"]["accent"]
    return found


def test_a_29_participants_are_not_clips(project: Project) -> None:
    (north,) = groups(project, "a29-participants")
    document = project.document("a29-participants")
    assert north["group"] == {"kind": "named", "value": "north", "why": None}
    assert (north["speakers"], north["counts"]["planned"]) == (2, 4)
    for metrics in (north["metrics"], document["metrics"]):
        assert (metrics["completion"]["numerator"], metrics["completion"]["denominator"]) == (3, 4)
        assert (metrics["completion_by_speaker"]["value"], metrics["completion_by_speaker"]["n"]) == (0.5, 2)


def test_a_34_an_unknown_outcome_is_neither_matched_nor_failed(project: Project) -> None:
    (group,) = groups(project, "a34-unknown-outcome")
    assert group["group"] == MISSING
    assert group["tally"] == {"matched": 0, "failed": 0, "unknown": 1}
    assert group["metrics"]["completion"]["value"] == 0
    assert group["metrics"]["known_only.completion"]["value"] is None


def test_a_35_no_group_is_not_a_group_that_is_called_so(project: Project) -> None:
    found = [group["group"] for group in groups(project, "a35-no-group-and-a-group-of-that-name")]
    assert found == [{"kind": "named", "value": "(unknown label)", "why": None}, MISSING]


# --- the files themselves


def test_the_script_writes_the_stored_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY / "fixtures"))
    monkeypatch.delitem(sys.modules, "build_negative", raising=False)
    build_negative = importlib.import_module("build_negative")

    for case in build_negative.CASES:
        build_negative.write(case, tmp_path / case.name)
    stored = {path.relative_to(NEGATIVE) for path in NEGATIVE.rglob("*") if path.is_file() and path.name != "README.md"}
    assert stored == {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    assert all((NEGATIVE / path).read_bytes() == (tmp_path / path).read_bytes() for path in stored)


def test_the_readme_names_every_case() -> None:
    readme = (NEGATIVE / "README.md").read_text(encoding="utf-8")
    cases = {path.name for path in NEGATIVE.iterdir() if path.is_dir()}
    assert {case for case in cases if f"`{case}`" not in readme} == set()
