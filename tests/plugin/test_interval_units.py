"""Intervals over the groups of a cohort in whole sessions: live, replayed, verified; and cohorts that cannot serve."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_speval.verify.verification import verify
from tests.plugin.conftest import Project, timeless
from tests.plugin.groups import write

GATES = 'gates: {floor: {suite: voice, metric: accuracy, min: 0.1, bound: low, why: "Not by luck."}}\n'
ANSWERS = ["yes", "no", "no", "yes", "yes", "no", "no", "yes", "yes"]
REFERENCES = ["yes", "no", "no", "yes", "no", "yes", "no", "yes", "no"]


def written(project: Project, accents: list[str], unit: str = "unit: accent", cohort: str = "accent") -> None:
    score = f"score: {{interval: {{{unit}, replicates: 2000}}}}"
    write(project, GATES, ANSWERS, accents, REFERENCES, score)
    suite = project.path / "suites/voice.yaml"
    suite.write_text(suite.read_text().replace("{accent: accent}", f"{{accent: {cohort}}}"))


def interval(project: Project, metric: str = "accuracy") -> dict[str, Any]:
    found: dict[str, Any] = project.document()["metrics"][metric]["interval"]
    return found


def test_groups_of_a_cohort_are_drawn_whole(project: Project, distributed: tuple[str, ...]) -> None:
    written(project, ["gb"] * 3 + ["us"] * 3 + ["in"] * 3)
    run = project.run(*distributed)
    found = interval(project)
    assert (found["unit"], found["clusters"], found["effective_clusters"], found["excluded"]) == ("accent", 3, 3.0, 0)
    assert (found["low"], found["high"]) == (1 / 3, 1.0), "of 3, 1 and 2 right out of 3, drawn in 27 ways"
    assert found["unreliable"]
    assert "Intervals are unreliable: 3.0 effective clusters of unit accent." in project.document()["notes"]
    assert run.ret == 0
    run.stdout.fnmatch_lines(["[*] unreliable: too few effective clusters"])
    assert {note.code for note in verify(project.folder())} <= {"unsigned", "verified"}

    live, folder = timeless(project.document()), project.folder()
    project.forget_calls()
    assert project.run("--speval-replay", str(folder)).ret == 0
    assert project.calls == []
    assert timeless(project.document()) == live


@pytest.mark.parametrize(
    ("unit", "clusters", "excluded"),
    [("unit: accent", 3, 3), ("unit: accent, null_unit: exclude", 3, 3), ("unit: accent, null_unit: singleton", 6, 0)],
)
def test_clips_of_which_no_group_is_known(project: Project, unit: str, clusters: int, excluded: int) -> None:
    said = '{column: accent, missing: {"-": declined}}'
    written(project, ["gb", "", "us", "-", "in", "gb", "us", "-", "in"], unit, said)
    project.run()
    found = interval(project)
    assert (found["clusters"], found["excluded"]) == (clusters, excluded)
    assert interval(project, "coverage")["clusters"] == clusters


def test_a_clip_in_two_groups_is_a_fault_before_any_call(project: Project) -> None:
    accents = ["gb", "us", "in", "gb", "us | in", "in", "gb|us", "us", "in"]
    written(project, accents, cohort="{column: accent, separator: '|'}")
    run = project.run()
    assert run.ret == 2
    told = "*clips.csv:6: 2 clips are in several groups of accent: they cannot be the unit of `score.interval`*"
    run.stdout.fnmatch_lines([told])
    assert project.calls == []
    written(project, [accent.partition("|")[0] for accent in accents], cohort="{column: accent, separator: '|'}")
    assert project.run().ret == 0
    assert interval(project)["clusters"] == 3


def test_evidence_judged_by_a_cohort_whose_groups_share_clips_has_no_interval(project: Project) -> None:
    """A replay may draw by another unit than its run did; what cannot be drawn is no interval, and no pass."""
    accents = ["gb", "us", "in", "gb", "us|in", "in", "gb", "us", "in"]
    written(project, accents, "unit: clip", "{column: accent, separator: '|'}")
    assert project.run().ret == 0
    again = project.run(
        "--speval-replay", str(project.folder()), "--speval-set", "voice.score.interval.unit=accent"
    )  # fmt: skip
    assert again.ret == 6
    found = project.document()["metrics"]["accuracy"]
    assert (found["interval"], found["interval_reason"]) == (
        None, "1 clip is in several groups of accent: they cannot be drawn whole"
    )  # fmt: skip
    assert [gate["verdict"] for gate in project.document()["gates"]] == ["invalid"]


def test_a_unit_that_is_no_cohort_is_a_fault_with_its_place(project: Project) -> None:
    written(project, ["gb"] * 9, "unit: acent")
    run = project.run()
    assert run.ret == 2
    run.stdout.fnmatch_lines(["*voice.yaml:5:*score.interval.unit: no unit `acent`, did you mean `accent`?*cohort*"])


def test_a_unit_of_its_own_name_is_never_a_cohort(project: Project) -> None:
    written(project, ["gb"] * 9, "unit: speaker")
    suite = project.path / "suites/voice.yaml"
    suite.write_text(suite.read_text().replace("cohorts: {accent: accent}", "cohorts: {speaker: accent}"))
    project.run()
    assert (interval(project)["unit"], interval(project)["clusters"]) == ("speaker", 9)
