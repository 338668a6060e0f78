"""A reviewer rebuilds single contributions from the files of a run, with nothing but csv, json and fractions (A-52)."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from tests.plugin.conftest import Project

MANIFEST = """\
id,speaker,outcome,accents,device
a,A,matched,us,phone
b,A,failed,us,desk
c,A,unknown,us|gb,desk
d,B,matched,us|gb,phone
e,B,failed,n/a,phone
g,,matched,us,phone
h,B,matched,gb,phone
"""
SUITE = """\
task: outcome
protocol: {version: "3", eligible: "first attempts of consenting callers"}
corpus:
  root: ..
  manifest: tasks.csv
  identity: {key: speaker, map_revision: "7"}
  columns:
    cohorts:
      accent: {column: accents, separator: "|", source: self-described, version: "2", missing: {n/a: not-asked}}
    conditions: {device: device}
  exclude: {test/h: "second attempt"}
audit: {unknown_speakers: quarantine}
score: {cohorts: [accent], small_groups: {min_clips: 1}, interval: {replicates: 50}}
"""


class Files:
    """What lies in a run folder, read anew."""

    def __init__(self, project: Project) -> None:
        folder = project.folder("bias")
        self.rows: list[dict[str, Any]] = [
            json.loads(line) for line in (folder / "clips.jsonl").read_text().splitlines()
        ]
        self.plan: dict[str, Any] = json.loads((folder / "plan.json").read_text())
        self.out: dict[str, Any] = json.loads((folder / "out.json").read_text())
        self.report = (folder / "report.md").read_text()

    def group(self, name: str) -> dict[str, Any]:
        (found,) = (
            one for one in self.out["cohorts"]["accent"] if name in (one["group"]["value"], one["group"]["why"])
        )
        assert isinstance(found, dict)
        return found

    def within(self, name: str) -> list[dict[str, Any]]:
        """The rows that count in a group, by what `clips.jsonl` says of each."""
        return [
            row
            for row in self.rows
            if row["status"] != "excluded" and not row["quarantined"]
            and any(name in (one["value"], one["why"]) for one in row["cohorts"]["accent"])
        ]  # fmt: skip


@pytest.fixture
def files(project: Project) -> Files:
    (project.path / "tasks.csv").write_text(MANIFEST)
    (project.path / "suites").mkdir()
    (project.path / "suites/bias.yaml").write_text(SUITE)
    assert project.run().ret == 0
    (project.path / "tasks.csv").unlink()
    return Files(project)


def share(rows: list[dict[str, Any]]) -> Fraction:
    return Fraction(sum(row["answer"] == "matched" for row in rows), len(rows))


def by_speaker(rows: list[dict[str, Any]]) -> Fraction:
    speakers = sorted({row["units"]["speaker"] for row in rows})
    shares = [share([row for row in rows if row["units"]["speaker"] == speaker]) for speaker in speakers]
    return sum(shares, Fraction()) / len(shares)


def told(rate: dict[str, Any]) -> Fraction:
    return Fraction(rate["numerator"], rate["denominator"])


def test_one_participant_is_rebuilt_with_every_outcome(files: Files) -> None:
    theirs = [row for row in files.rows if row["units"]["speaker"] == "A"]
    assert [(row["id"], row["answer"], row["raw"]) for row in theirs] == [
        ("a", "matched", {"outcome": "matched"}),
        ("b", "failed", {"outcome": "failed"}),
        ("c", "unknown", {"outcome": "unknown"}),
    ]
    assert share(theirs) == Fraction(1, 3)
    speakers = [share([row for row in files.rows if row["units"]["speaker"] == "A"]), Fraction(1, 2)]
    assert files.out["metrics"]["completion_by_speaker"]["value"] == float(sum(speakers) / 2)
    assert [row["conditions"]["device"] for row in theirs] == ["phone", "desk", "desk"]


def test_a_quarantined_clip_is_rebuilt_and_counts_in_no_group(files: Files) -> None:
    (kept_out,) = (row for row in files.rows if row["quarantined"])
    assert (kept_out["id"], kept_out["units"]["speaker"], kept_out["answer"]) == ("g", None, "matched")
    assert kept_out["cohorts"]["accent"] == [{"kind": "named", "value": "us", "why": None}]
    assert files.out["counts"]["quarantined"] == 1
    assert files.out["cohortTotals"]["accent"]["quarantined"] == 1
    assert files.group("us")["counts"]["planned"] == len(files.within("us")) == 4
    planned = [row for row in files.rows if row["status"] != "excluded"]
    assert told(files.out["metrics"]["completion"]) == share(planned) == Fraction(3, 6)


def test_a_participant_of_several_groups_is_rebuilt_in_each(files: Files) -> None:
    (shared,) = (row for row in files.rows if row["id"] == "d")
    assert [one["value"] for one in shared["cohorts"]["accent"]] == ["gb", "us"]
    for name in ("gb", "us", "not-asked"):
        rows, group = files.within(name), files.group(name)
        assert group["speakers"] == len({row["units"]["speaker"] for row in rows})
        assert told(group["rates"]["clip"]) == share(rows)
        assert told(group["rates"]["speaker"]) == by_speaker(rows)
    assert files.group("us")["rates"]["speaker"]["value"] == (1 / 3 + 1) / 2
    totals = files.out["cohortTotals"]["accent"]
    assert (totals["clips"], totals["speakers"], totals["sharedClips"]) == (5, 2, 2)


def test_the_rules_by_which_clips_count_are_kept(files: Files) -> None:
    question, rules = files.plan["question"], files.plan["rules"]
    assert question["corpus"]["identity"]["map_revision"] == "7"
    assert rules["protocol"]["eligible"] == "first attempts of consenting callers"
    cohort = question["corpus"]["columns"]["cohorts"]["accent"]
    assert (cohort["source"], cohort["version"], cohort["missing"]) == ("self-described", "2", {"n/a": "not-asked"})
    (excluded,) = (row for row in files.rows if row["status"] == "excluded")
    assert (excluded["id"], excluded["reason"]) == ("h", "second attempt")
    assert files.out["exclusions"] == {"second attempt": 1}
    assert "1 clip in no group" in files.report


@pytest.mark.parametrize("split", ["tset", "Test", ""])
def test_a_mistyped_split_stops_before_the_first_clip(project: Project, split: str) -> None:
    project.write(["yes"] * 4, splits=["test", "test", "train", "train"])
    suite = project.path / "suites/voice.yaml"
    suite.write_text(
        suite.read_text().replace("manifest: clips.csv", f"manifest: clips.csv, where: {{split: ['{split}']}}")
    )
    result = project.run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*split*test*train*"])
    assert project.calls == []
    assert not (project.path / ".speval").exists()
