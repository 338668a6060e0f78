"""A suite of recorded outcomes by cohort: no model, and yet evidence, replay and verification as of any other."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_speval.verify.verification import verify
from tests.plugin.conftest import Project, timeless

MANIFEST = """\
id,speaker,outcome,accents,device
a,A,matched,us,phone
b,A,matched,us,phone
c,A,matched,us|gb,desk
d,B,failed,gb,desk
e,B,unknown,n/a,phone
f,C,matched,(unknown label),phone
g,,matched,us,phone
"""
SUITE = """\
task: outcome
corpus:
  root: ..
  manifest: {manifest}
  columns:
    cohorts: {{accent: {{column: accents, separator: "|", source: self-described, missing: {{n/a: not-asked}}}}}}
    conditions: {{device: device}}
audit: {{unknown_speakers: quarantine}}
score: {{cohorts: [accent], small_groups: {{min_clips: 2}}, interval: {{replicates: 50}}}}
gates:
  done: {{metric: completion, min: 0.7, why: "As many as last year."}}
  by-speaker: {{metric: completion_by_speaker, min: 0.5, why: "Of people, not of clips."}}
"""


def write(project: Project, manifest: str = MANIFEST, name: str = "tasks.csv", suite: str = SUITE) -> None:
    (project.path / name).write_text(manifest)
    (project.path / "suites").mkdir(exist_ok=True)
    (project.path / "suites/bias.yaml").write_text(suite.format(manifest=name))


def groups(document: dict[str, Any]) -> dict[str, Any]:
    return {group["group"]["value"] or group["group"]["why"]: group for group in document["cohorts"]["accent"]}


def holds(project: Project) -> bool:
    return [found.code for found in verify(project.folder("bias"))] == ["unsigned", "verified"]


def test_outcomes_are_judged_by_group_and_hold(project: Project, distributed: tuple[str, ...]) -> None:
    write(project)
    run = project.run(*distributed)
    assert run.ret == 0, run.stdout
    document = project.document("bias")
    assert (document["model"], document["task"], document["headline"]) == ("manifest", "outcome", "completion")
    assert document["outcomes"] == {"matched": 5, "failed": 1, "unknown": 1}
    assert document["counts"]["answered"] == 7
    metrics = document["metrics"]
    assert (metrics["completion"]["numerator"], metrics["completion"]["denominator"]) == (5, 7)
    assert [metrics["completion_by_speaker"][key] for key in ("numerator", "denominator", "n")] == [2, 3, 3]
    assert (metrics["known_only.completion"]["value"], metrics["known_only.completion"]["n"]) == (5 / 6, 6)
    found = groups(document)
    assert [*found] == ["(unknown label)", "gb", "us", "not-asked"]
    assert found["us"]["rates"]["clip"] == {"value": 1.0, "numerator": 1, "denominator": 1}
    assert found["gb"]["rates"]["speaker"] == {"value": 0.5, "numerator": 1, "denominator": 2}
    assert found["not-asked"]["suppressed"] == "1 of 2 clips that score.small_groups asks for"
    assert document["cohortTotals"]["accent"] == {
        "state": "recorded", "clips": 6, "speakers": 3, "quarantined": 1, "sharedClips": 1, "sharedSpeakers": 2,
        "source": "self-described", "version": None,
    }  # fmt: skip
    lines = [
        json.loads(line)
        for path in (project.folder("bias") / "journal").iterdir()
        for line in path.read_text().splitlines()
    ]
    told = {line["id"]: line["answer"] for line in lines if line["event"] == "returned"}
    assert told == {
        row.split(",")[0]: {"outcome": row.split(",")[2]} for row in MANIFEST.splitlines()[1:]
    }  # every clip has its line of evidence
    assert holds(project)
    report = (project.folder("bias") / "report.md").read_text()
    for said in (
        "it leaves out 1 unknown",
        "A difference between groups is not a cause",
        "1 clip and 2 speakers are in more than one group: the groups overlap and do not add up.",
        "| “(unknown label)” |",
        "| no group: not-asked |",
        "suppressed: 1 of 2 clips",
    ):
        assert said in report


def test_a_replay_needs_no_manifest_and_is_the_run_it_replays(project: Project, distributed: tuple[str, ...]) -> None:
    write(project)
    project.run()
    stored = project.folder("bias")
    (project.path / "tasks.csv").unlink()
    run = project.run(f"--speval-replay={stored}", *distributed)
    assert run.ret == 0, run.stdout
    one, other = project.documents("bias")
    assert timeless(one) == timeless(other)
    assert holds(project)


def test_a_replay_may_ask_for_other_groups_of_the_same_clips(project: Project) -> None:
    write(project)
    project.run()
    stored = project.folder("bias")
    project.run(f"--speval-replay={stored}", "--speval-set", "bias.score.small_groups.min_clips=3")
    _, document = project.documents("bias")
    assert groups(document)["gb"]["suppressed"] == "2 of 3 clips that score.small_groups asks for"
    assert groups(document)["us"]["suppressed"] is None
    assert any("small_groups.min_clips" in what for what in document["plan"]["postHoc"])
    run = project.run(f"--speval-replay={stored}", "--speval-set", "bias.score.cohorts=[age]")
    run.stdout.fnmatch_lines(["*score.cohorts[[]0]: no cohort `age` in corpus.columns.cohorts*"])
    assert run.ret != 0
    run = project.run(f"--speval-replay={stored}", "--speval-set", "bias.corpus.columns.cohorts={device: device}",
                      "--speval-set", "bias.score.cohorts=[device]")  # fmt: skip
    assert run.ret == 6, "another column is another question"
    run.stdout.fnmatch_lines(["*corpus.columns.cohorts*"])


def test_lists_of_groups_in_json_lines(project: Project) -> None:
    rows = [line.split(",") for line in MANIFEST.splitlines()]
    records = [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    cells: dict[str, Any] = {"us|gb": ["us", "gb", "us"], "n/a": []}
    plain = [
        {name: cells.get(cell, cell) if name == "accents" else cell for name, cell in record.items() if cell}
        for record in records
    ]
    write(project, "\n".join(map(json.dumps, plain)), "tasks.jsonl")
    assert project.run().ret == 0
    found = groups(project.document("bias"))
    assert {name: group["counts"]["planned"] for name, group in found.items()} == {
        "(unknown label)": 1, "gb": 2, "us": 3, "unavailable": 1
    }  # fmt: skip
    assert holds(project)
    write(project, json.dumps(plain[0] | {"accents": [["us"], "gb"]}), "tasks.jsonl")
    run = project.run()
    assert run.ret == 2
    run.stdout.fnmatch_lines(['*is [[][[]"us"], "gb"] where a string or a flat list of strings is wanted*'])


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        (MANIFEST.replace("unknown,n/a", "Unknown,n/a"), "*:6: *the outcome `Unknown` is none of matched, failed*"),
        (MANIFEST.replace("unknown,n/a", ",n/a"), "*:6: *no outcome*"),
        (MANIFEST.replace("outcome", "result"), "*the task outcome needs a column for outcome*"),
    ],
)
def test_what_is_no_outcome_is_never_counted(project: Project, manifest: str, said: str) -> None:
    write(project, manifest)
    run = project.run()
    assert run.ret == 2
    run.stdout.fnmatch_lines([said])


@pytest.mark.parametrize("section", ["adapter: {use: predictions, file: x.csv}", "labels: {set: [a, b]}"])
def test_an_outcome_suite_has_no_model_and_no_labels(project: Project, section: str) -> None:
    write(project, suite=SUITE + section.replace("{", "{{").replace("}", "}}") + "\n")
    run = project.run()
    assert run.ret == 2
    run.stdout.fnmatch_lines(["*the task outcome has no use for it*"])


def test_no_other_suite_may_take_its_answers_from_the_manifest(project: Project) -> None:
    project.write(["yes"])
    text = (project.path / "suites/voice.yaml").read_text()
    (project.path / "suites/voice.yaml").write_text(text.replace("use: counting", "use: manifest"))
    run = project.run()
    assert run.ret == 2
    run.stdout.fnmatch_lines(["*no adapter `manifest`*"])


def test_a_failing_gate_names_its_figures(project: Project) -> None:
    write(project, MANIFEST.replace("c,A,matched", "c,A,failed").replace("b,A,matched", "b,A,failed"))
    run = project.run()
    assert run.ret == 1
    gates = {gate["id"]: gate for gate in project.document("bias")["gates"]}
    assert (gates["done"]["verdict"], gates["done"]["flips"]) == ("fail", 2)
    assert gates["by-speaker"]["verdict"] == "fail"
