"""Keys of a corpus that contradict one another."""

from __future__ import annotations

from pytest_speval.audit.finding import Finding
from pytest_speval.audit.identity import identity_findings
from pytest_speval.corpus.cohorts import CohortRule
from pytest_speval.corpus.roles import Cell
from tests.parts import Row, part_of

COHORTS = {"accent": CohortRule("accent", separator="|")}


def findings(**splits: list[Row]) -> list[Finding]:
    return identity_findings([part_of(name, rows) for name, rows in splits.items()], COHORTS)


def said(name: str, speaker: Cell, accent: Cell = "north", digest: str | None = None) -> Row:
    return {"id": name, "speaker": speaker, "accent": accent, "bytes_sha256": digest, "samples_sha256": digest}


def test_a_speaker_with_two_cohorts_is_told_with_all_clips() -> None:
    rows = [said("b", "S1"), said("a", "S1", "south"), said("c", "S2")]
    (finding,) = findings(test=rows)
    assert (finding.severity, finding.code) == ("notice", "cohorts-differ")
    assert finding.message == "1 speakers have rows with different cohorts accent: `S1` `north` and `south`"
    assert finding.clips == ("test/a", "test/b")


def test_cohorts_are_compared_across_splits_and_with_rows_that_have_none() -> None:
    (finding,) = findings(dev=[said("a", "S1")], test=[said("a", "S1", None)])
    assert finding.message.endswith("`S1` `north` and none")
    assert finding.clips == ("dev/a", "test/a")


def test_unknown_speakers_are_not_one_speaker() -> None:
    assert findings(test=[said("a", None), said("b", None, "south")]) == []


def test_only_a_few_speakers_are_shown_and_all_are_counted() -> None:
    rows = [said(f"c{number}{accent}", f"S{number}", accent) for number in range(7) for accent in ("north", "south")]
    (finding,) = findings(test=rows)
    assert finding.message.startswith("7 speakers have")
    assert finding.message.endswith("`S4` `north` and `south`, and 2 more")
    assert len(finding.clips) == 14


def test_a_recording_of_two_speakers_is_a_warning_told_once() -> None:
    (finding,) = findings(train=[said("a", "S1", digest="ab")], test=[said("b", "S2", digest="AB")])
    assert (finding.severity, finding.code) == ("warning", "recording-of-two-speakers")
    assert finding.message == "1 recordings stand under two speakers: `S1` and `S2`"
    assert finding.clips == ("test/b", "train/a") or finding.clips == ("train/a", "test/b")


def test_a_recording_with_one_speaker_and_rows_without_is_no_contradiction() -> None:
    assert (
        findings(test=[said("a", "S1", digest="ab"), said("b", None, digest="ab"), said("c", "S1", digest="ab")]) == []
    )


def test_files_of_two_speakers_do_not_hide_recordings_of_two_speakers() -> None:
    rows: list[Row] = [
        {"id": "a", "speaker": "S1", "bytes_sha256": "11", "samples_sha256": None},
        {"id": "b", "speaker": "S2", "bytes_sha256": "11", "samples_sha256": None},
        {"id": "c", "speaker": "S3", "bytes_sha256": "22", "samples_sha256": "aa"},
        {"id": "d", "speaker": "S4", "bytes_sha256": "33", "samples_sha256": "aa"},
    ]
    assert [finding.clips for finding in findings(test=rows)] == [("test/c", "test/d"), ("test/a", "test/b")]


def test_parts_without_the_columns_say_nothing() -> None:
    assert findings(test=[{"id": "a"}, {"id": "b"}], web=[{"id": "a", "speaker": "S1"}]) == []


def test_joined_keys_are_shown_with_blanks() -> None:
    rows = [said("a", ("S1", "site 2")), said("b", ("S1", "site 2"), "south")]
    assert findings(test=rows)[0].message.endswith("`S1 site 2` `north` and `south`")


def test_the_order_of_groups_in_a_cell_makes_no_other_cohorts() -> None:
    assert findings(test=[said("a", "S1", "us|uk"), said("b", "S1", "uk | us")]) == []
