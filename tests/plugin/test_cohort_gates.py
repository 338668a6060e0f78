"""Gates on groups, gaps and labels in whole sessions: live, replayed, resumed, from shards, verified, frozen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_speval.verify.verification import verify
from tests.plugin.conftest import Project, timeless
from tests.plugin.groups import ACCENTS, GOOD_AND_BAD, REFERENCES, SCORE, write

GATES = """\
gates:
  floor: {suite: voice, metric: accuracy, cohort: accent, min: 0.5, why: "Nobody is left behind."}
  gap: {suite: voice, metric: accuracy, cohort: accent, gap: true, max: 0.1, why: "Nobody is far behind."}
  luck: {suite: voice, metric: accuracy, cohort: accent, gap: true, max: chance, why: "Nor by more than luck."}
  labels: {suite: voice, metric: recall, per_class: true, min: 0.6, why: "No label is lost."}
  failures: {suite: voice, metric: failure_rate, cohort: accent, max: 0, why: "Nobody goes unanswered."}
"""


def gates(project: Project) -> dict[str, dict[str, Any]]:
    return {gate["id"]: gate for gate in project.document()["gates"]}


def verdicts(project: Project) -> list[str]:
    return [gate["verdict"] for gate in project.document()["gates"]]


def holds(project: Project) -> bool:
    return {found.code for found in verify(project.folder())} <= {"unsigned", "verified"}


def test_the_worst_group_the_gap_and_the_worst_label_are_named(project: Project, distributed: tuple[str, ...]) -> None:
    write(project, GATES)
    run = project.run(*distributed)
    assert run.ret == 1
    found = gates(project)
    assert verdicts(project) == ["fail", "fail", "fail", "fail", "pass"]
    assert (found["floor"]["value"], found["floor"]["group"]["value"], found["floor"]["flips"]) == (0.0, "us", 2)
    assert (found["gap"]["value"], found["gap"]["best_group"]["value"]) == (1.0, "gb")
    chance = found["luck"]["chance"]
    assert (found["luck"]["max"], chance["simulations"], chance["unit"], chance["units"]) == (
        chance["limit"], 200, "speaker", 8
    )  # fmt: skip
    assert 0.5 <= chance["limit"] < 1, "of 35 unlike ways one has a gap of 1, 16 have one of a half, 18 none"
    assert (found["labels"]["metric"], found["labels"]["label"], found["labels"]["value"]) == ("recall", "yes", 0.5)
    run.stdout.fnmatch_lines(
        ["*accuracy of accent “us” 0 < 0.5*", "*accuracy gap of accent 1 > 0.1 (“us” 0 on 4 clips, “gb” 1 on 4 clips)*"]
    )
    assert holds(project)


def test_all_hold_where_groups_are_alike(project: Project) -> None:
    write(project, GATES, answers=REFERENCES)
    assert project.run().ret == 0
    assert verdicts(project) == ["pass"] * 5
    assert holds(project)


def test_a_replay_and_merged_shards_are_judged_alike(project: Project) -> None:
    write(project, GATES)
    project.run()
    single = timeless(project.document())
    stored = project.folder()
    assert project.run(f"--speval-replay={stored}").ret == 1
    assert timeless(project.document()) == single
    parts = []
    for number in (1, 2, 3):
        assert project.run(f"--speval-shard={number}/3", f"--speval-out=part{number}").ret == 0, "nothing is judged"
        (part,) = (project.path / f"part{number}/voice").iterdir()
        assert json.loads((part / "out.json").read_text())["gates"] == []
        parts.append(f"--speval-replay={part}")
    assert project.run(*parts).ret == 1
    assert timeless(project.document()) == single
    assert holds(project)
    run = project.run(*parts[:2])
    assert run.ret == 6, "without one shard there is no verdict"
    run.stdout.fnmatch_lines(["gate floor of voice: INVALID: *there is no shard 3/3"])


def test_a_resumed_run_is_judged_as_an_undisturbed_one(project: Project) -> None:
    write(project, GATES, answers=[*GOOD_AND_BAD[:6], "die", "yes"])
    assert project.run(environment={"HOME": str(project.path)}).ret == 17
    stored = project.folder()
    (project.path / "said.json").write_text(json.dumps(dict(zip(project.ids, GOOD_AND_BAD, strict=True))))
    assert project.run(f"--speval-resume={stored}").ret == 1
    resumed = timeless(project.document())
    project.run("--speval-out=whole")
    (whole,) = (project.path / "whole/voice").glob("*/out.json")
    assert resumed == timeless(json.loads(whole.read_text()))


def test_the_result_of_another_suite_or_of_other_groups_satisfies_no_gate(project: Project) -> None:
    write(project, GATES, answers=REFERENCES)
    assert project.run().ret == 0
    good = project.folder()
    write(project, GATES, accents=[*ACCENTS[:4], "us", "us", "us", "gb"])
    run = project.run(f"--speval-resume={good}")
    assert run.ret == 6, "other groups are another question"
    run.stdout.fnmatch_lines(["*cells*question-differs*"])
    write(project, GATES)
    suite = project.path / "suites/voice.yaml"
    (project.path / "suites/good.yaml").write_text(suite.read_text())
    (project.path / "said.json").write_text(json.dumps(dict(zip(project.ids, REFERENCES, strict=True))))
    assert project.run("suites/good.yaml", "--speval-out=good").ret == 0
    (document,) = (project.path / "good/good").glob("*/out.json")
    assert json.loads(document.read_text())["gates"] == [], "a gate is on the suite that it names"
    assert project.run("suites/voice.yaml", "--speval-replay=good").ret == 6, "and takes no other's evidence"


def test_a_gate_may_be_tightened_under_replay_and_not_on_a_cohort_that_is_not_there(project: Project) -> None:
    write(project, GATES, answers=[*REFERENCES[:7], "yes"])
    stricter = GATES.replace("gap: true, max: 0.1", "gap: true, max: 0.3").replace("min: 0.6", "min: 0.7")
    (project.path / "gates/voice.yaml").write_text(stricter)
    assert project.run().ret == 0
    stored = project.folder()
    (project.path / "gates/voice.yaml").write_text(stricter.replace("min: 0.5", "min: 0.8"))
    assert project.run(f"--speval-replay={stored}").ret == 1
    assert verdicts(project) == ["fail", "pass", "pass", "pass", "pass"]
    (project.path / "gates/voice.yaml").write_text(GATES.replace("cohort: accent, min", "cohort: acent, min"))
    run = project.run(f"--speval-replay={stored}")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(["*gates/voice.yaml:2:*no `acent`, did you mean `accent`?*unknown-cohort*"])


@pytest.mark.parametrize(("until", "status"), [("2999-12-31", 0), ("2001-01-01", 1)])
def test_waivers_of_groups_end_on_their_day_and_say_so(project: Project, until: str, status: int) -> None:
    names = ("floor", "gap", "luck", "labels")
    terms = "".join(f"  {name}: {{reason: known, owner: me, until: {until}}}\n" for name in names)
    write(project, f"{GATES}waivers:\n{terms}")
    run = project.run("-rx")
    assert run.ret == status
    assert verdicts(project) == ["fail", "fail", "fail", "fail", "pass"]
    told = "Waived: floor: known" if status == 0 else "Waiver expired and ignored: floor: known"
    assert any(note.startswith(told) for note in project.document()["notes"])


def test_invalid_groups_cannot_be_waived(project: Project) -> None:
    write(project, f"{GATES}waivers: {{floor: {{reason: known, owner: me, until: 2999-12-31}}}}\n", accents=[""] * 8)
    assert project.run().ret == 6
    found = gates(project)
    assert [found[name]["verdict"] for name in ("floor", "gap", "luck")] == ["invalid"] * 3
    assert found["floor"]["waived"] is None
    assert found["floor"]["not_gated"] == [
        {"group": {"kind": "missing", "value": None, "why": "unavailable"}, "why": "8 clips of which no group is known"}
    ]


def test_a_selection_of_clips_has_no_verdict_on_groups(project: Project) -> None:
    write(project, GATES, answers=REFERENCES)
    assert project.run("-k", "c0").ret == 6
    assert set(verdicts(project)) == {"invalid"}


def test_a_passing_gate_says_which_groups_took_no_part(project: Project) -> None:
    gates = "gates: {floor: {suite: voice, metric: accuracy, cohort: accent, min: 0.9, why: a}}\n"
    score = SCORE.replace("min_clips: 2", "min_clips: 4")
    write(project, gates, accents=["gb"] * 4 + ["us"] * 3 + [" us"], score=score)
    run = project.run()
    run.stdout.fnmatch_lines(["voice: gate floor passes; not gated: * us* (1 of 4 clips*), *us* (3 of 4 clips*"])
    assert run.ret == 0


def test_a_failing_gate_is_named_where_its_item_was_deselected(project: Project) -> None:
    gates = "gates: {floor: {suite: voice, metric: accuracy, min: 0.9, why: a}}\n"
    write(project, gates)
    run = project.run("--deselect=suites/voice.yaml::gate[floor]")
    run.stdout.fnmatch_lines(["voice (counting): fail: gate floor"])
    assert run.ret == 1
    assert "gate floor" in (project.path / ".speval/summary.md").read_text()
