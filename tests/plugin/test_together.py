"""`run.together`: suites that tell nothing overall before all of them are complete."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_speval.evidence.folder import RunFolder
from pytest_speval.evidence.partner import NAME
from tests.plugin.conftest import Project, timeless

TOGETHER = "run: {together: both, missing: withhold}"
GATE = "gates: {accuracy: {metric: accuracy, min: 0.5, why: chance}}"


def write(project: Project, first: str = "yes", second: str = "yes") -> None:
    """Two suites over three clips each; the second is asked by an adapter with answers of its own."""
    project.write(["yes", "yes", first], extra=TOGETHER)
    (project.path / "others.json").write_text(json.dumps(dict(zip(project.ids, ["yes", "no", second], strict=True))))
    project.suite("other", extra=TOGETHER, gates=GATE)
    suite = project.path / "suites/other.yaml"
    suite.write_text(suite.read_text().replace("{use: counting}", "{use: counting, said: others.json}"))


def accuracy(project: Project, suite: str) -> dict[str, Any]:
    metric: dict[str, Any] = project.document(suite)["metrics"]["accuracy"]
    return metric


def test_complete_suites_give_their_estimates(project: Project, distributed: tuple[str, ...]) -> None:
    write(project)
    assert project.run(*distributed).ret == 0
    assert accuracy(project, "voice")["value"] == 1
    assert accuracy(project, "other")["value"] == pytest.approx(2 / 3)


def test_one_failure_withholds_all_of_them(project: Project, distributed: tuple[str, ...]) -> None:
    write(project, second="raise")
    assert project.run(*distributed, "--speval-set=other.run.max_failed=3").ret == 6
    for suite, why in (
        ("voice", "it belongs together with other: 2 of 3 answered"),
        ("other", "2 of 3 answered, and nothing is told of a part"),
    ):
        document = project.document(suite)
        assert accuracy(project, suite) | {"value": None, "reason": why} == accuracy(project, suite)
        assert [gate["verdict"] for gate in document["gates"]] == ["invalid"]
        assert document["counts"]["planned"] == 3


def test_a_suite_that_is_not_asked_withholds_the_other(project: Project) -> None:
    write(project)
    assert project.run("-k", "voice").ret == 6
    assert accuracy(project, "voice")["reason"] == "it belongs together with other: not in this run"


def test_an_abstention_is_no_answer(project: Project) -> None:
    write(project, first="")
    assert project.run().ret == 6
    assert accuracy(project, "other")["value"] is None


def test_suites_asked_apart_are_complete_when_replayed_together(project: Project) -> None:
    write(project)
    assert project.run("-k", "voice").ret == 6
    assert project.run("-k", "other").ret == 6
    assert project.run("--speval-replay=.speval").ret == 0
    apart = {suite: timeless(project.document(suite)) for suite in ("voice", "other")}
    assert project.run().ret == 0
    assert {suite: timeless(project.document(suite)) for suite in apart} == apart


def test_a_replay_of_one_alone_withholds(project: Project) -> None:
    write(project)
    assert project.run().ret == 0
    folder = project.folder("voice")
    assert project.run("-k", "voice", f"--speval-replay={folder}").ret == 6


def test_a_failed_audit_of_the_other_is_told(project: Project) -> None:
    write(project)
    (project.path / "others.json").unlink()
    assert project.run().ret == 6
    assert "it belongs together with other: audit[adapter] failed" in accuracy(project, "voice")["reason"]


def test_what_was_known_of_the_other_is_evidence(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    from pytest_speval.command import main

    write(project)
    project.run()
    folder = project.folder("voice")
    assert main(["verify", str(folder)]) == 0
    kept = RunFolder(folder).path / NAME
    kept.write_text(kept.read_text().replace('"answered":3', '"answered":2'))
    assert main(["verify", str(folder)]) != 0
    assert NAME in capsys.readouterr().out
    kept.unlink()
    assert main(["verify", str(folder)]) != 0


def test_nothing_that_waits_tells_its_numbers_in_another_way(project: Project) -> None:
    write(project, second="raise")
    manifest = project.path / "clips.csv"
    rows = manifest.read_text().splitlines()
    manifest.write_text("\n".join([f"{rows[0]},accent", *(f"{row},gb" for row in rows[1:])]) + "\n")
    suite = project.path / "suites/voice.yaml"
    said = suite.read_text().replace("clips.csv}", "clips.csv, columns: {cohorts: {accent: accent}}}")
    score = "score: {cohorts: [accent], small_groups: {min_clips: 1}}\n"
    gates = ["coverage: {metric: coverage, min: 0.1, why: a}", "group: {metric: uar, cohort: accent, min: 0.1, why: a}",
             "gap: {metric: uar, cohort: accent, gap: true, max: 0.9, why: a}"]  # fmt: skip
    suite.write_text(said.replace(GATE, f"{score}gates: {{{', '.join(gates)}}}"))
    assert project.run().ret == 6
    document = project.document("voice")
    figures = [name for name, found in document["metrics"].items() if found["value"] is not None]
    assert not [name for name in figures if "accuracy" in name or "f1" in name or "uar" in name]
    assert document["confusion"] is None
    assert document["cohorts"] == {}
    assert {gate["verdict"] for gate in document["gates"]} == {"invalid"}
    report = (project.folder("voice") / "report.md").read_text()
    assert "it belongs together with other: 2 of 3 answered" in report


def test_a_shard_of_one_is_fine_when_its_clips_came_back(project: Project) -> None:
    write(project)
    for number in (1, 2):
        assert project.run(f"--speval-shard={number}/2", f"--speval-out=part{number}").ret == 0
    assert project.run("--speval-replay=part1", "--speval-replay=part2").ret == 0
    assert accuracy(project, "voice")["value"] == 1


@pytest.mark.parametrize("damage", ["x: 1\n{text}", "", "\n", "{text}run: {{}}\n", "{text}: [\n"])
def test_a_partner_whose_file_is_faulty_is_waited_for(project: Project, damage: str) -> None:
    write(project)
    third = project.path / "suites/third.yaml"
    other = project.path / "suites/other.yaml"
    third.write_text(other.read_text())
    other.write_text(damage.format(text=other.read_text()))
    run = project.run("suites/voice.yaml", "suites/third.yaml")
    assert run.ret == 6
    assert accuracy(project, "voice")["reason"] == "it belongs together with other: its file is faulty"
    third.unlink()
    assert project.run("suites/voice.yaml").ret == 6
    assert project.run("suites/voice.yaml", f"--speval-replay={project.folder('voice')}").ret == 6


def test_a_faulty_file_that_belongs_elsewhere_is_no_partner(project: Project) -> None:
    write(project)
    (project.path / "suites/third.yaml").write_text("task: emotion\nx: 1\n")
    assert project.run("suites/voice.yaml", "suites/other.yaml").ret == 0
    (project.path / "suites/other.yaml").unlink()
    assert project.run("suites/voice.yaml").ret == 4


def test_a_suite_cannot_wait_for_nobody(project: Project) -> None:
    write(project)
    (project.path / "suites/other.yaml").unlink()
    run = project.run()
    run.stderr.fnmatch_lines(["*run.together: both*no other suite*"])
    assert run.ret == 4


def test_proving_sees_the_gates_as_the_run_did(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    from pytest_speval.command import main

    write(project)
    project.run()
    main(["prove", str(project.folder("voice"))])
    assert "accuracy  pass    pass" in capsys.readouterr().out, "judged as stored, with the suite it belongs to"
