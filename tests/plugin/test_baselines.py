"""Baselines in whole sessions: blessed, compared with, frozen, replayed, verified, damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_speval.command import main
from tests.plugin.conftest import Project, timeless, write_clip

REFERENCES = ["yes", "no"] * 10
GOOD = [*REFERENCES[:16], "no", "yes", "no", "yes"]
BETTER = [*REFERENCES[:18], "no", "yes"]
WORSE = [*REFERENCES[:12], "no", "yes", "no", "yes", "no", "yes", "no", "yes"]
GATES = """\
gates:
  no-regression: {metric: accuracy, baseline: ../baselines/voice, max_drop: 0.01, why: "Last year's model."}
"""
BY_CLIP = "score: {interval: {unit: clip, replicates: 200}}"


def blessed(project: Project, folder: str = "baselines/voice", answers: list[str] | None = None) -> Path:
    """A project whose first run is a baseline; afterwards its suite has a gate on it."""
    project.write(answers or GOOD, references=REFERENCES, gates="", extra=BY_CLIP)
    project.run()
    assert main(["bless", str(project.folder()), folder]) == 0
    project.write(answers or GOOD, references=REFERENCES, gates=GATES, extra=BY_CLIP)
    return project.path / folder / "baseline.json"


def release(project: Project, answers: list[str], *arguments: str) -> pytest.RunResult:
    (project.path / "said.json").write_text(json.dumps(dict(zip(project.ids, answers, strict=True))))
    return project.run(*arguments)


def gate(project: Project) -> dict[str, Any]:
    (found,) = project.document()["gates"]
    assert isinstance(found, dict)
    return found


def verified(project: Project, capfd: pytest.CaptureFixture[str]) -> list[str]:
    capfd.readouterr()
    status = main(["verify", str(project.folder())])
    lines = capfd.readouterr().out.splitlines()
    assert (status == 0) == lines[0].endswith(": holds")
    return [line for line in lines[1:] if "note:" not in line]


def test_a_better_run_passes_and_a_worse_one_fails(
    project: Project, distributed: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    blessed(project)
    assert release(project, BETTER, *distributed).ret == 0
    assert (gate(project)["verdict"], gate(project)["value"]) == ("pass", 0.1)
    assert verified(project, capfd) == []
    run = release(project, WORSE, *distributed)
    assert run.ret == 1
    assert gate(project)["value"] == -0.2
    run.stdout.fnmatch_lines([
        "gate no-regression of voice: FAIL: accuracy change -0.2 < -0.01, margin -0.19",
        "  how sure: 95% interval *",
        "  candidate 0.6000, baseline 0.8000, difference -0.2000",
        "  clips:    20 shared, 0 new, 0 gone, 0 relabelled*",
        "  clips won 0, lost 4",
    ])  # fmt: skip
    (found,) = project.document()["comparisons"]
    assert [swing["clip"] for swing in found["losses"]] == ["c12", "c13", "c14", "c15"]
    assert verified(project, capfd) == []


def test_changed_clips_are_told_apart_from_changed_answers(project: Project) -> None:
    blessed(project)
    ids = [f"c{number}" if number != 3 else "x3" for number in range(20)]
    references = ["no", *REFERENCES[1:]]
    project.write(GOOD, references=references, ids=ids, gates=GATES, extra=BY_CLIP)
    write_clip(project.path / "5.wav", 105)
    with (project.path / "5.wav").open("r+b") as file:
        file.seek(-2, 2)
        file.write(b"\1\1")
    run = project.run()
    assert run.ret == 0
    shares = "shares 17 of 20 clips, the others are not compared: 1 new, 1 gone, 1 relabelled, 1 altered"
    run.stdout.fnmatch_lines([f"voice: Baseline * {shares}"])
    assert shares in project.document()["notes"][0]
    (found,) = project.document()["comparisons"]
    assert found["changed"] == {"new": ["x3"], "gone": ["c3"], "relabelled": ["c0"], "altered": ["c5"]}
    assert found["clips"]["shared"] == 17
    assert found["metrics"]["accuracy"]["difference"] == 0
    assert found["wins"] == found["losses"] == []


def test_where_no_clip_is_the_same_the_gate_says_what_changed(project: Project) -> None:
    blessed(project)
    project.write(GOOD, references=REFERENCES, ids=[f"x{place}" for place in range(20)], gates=GATES, extra=BY_CLIP)
    run = project.run()
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*INVALID: no clip is shared with the baseline", "*clips:    0 shared, 20 new, 20 gone*"])


def test_other_labels_are_refused_with_the_field(project: Project) -> None:
    blessed(project)
    run = project.run("--speval-set", "voice.labels.fold_case=true")
    assert run.ret == 6
    assert "labels.fold_case: false in the baseline, true now" in gate(project)["reason"]
    assert gate(project)["verdict"] == "invalid"


def test_without_the_baseline_there_is_no_verdict(project: Project, distributed: tuple[str, ...]) -> None:
    blessed(project).unlink()
    run = release(project, BETTER, *distributed)
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*INVALID: ../baselines/voice holds no baseline.json*[[]baseline-missing]*"])


def test_a_damaged_baseline_is_no_baseline(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    file = blessed(project)
    file.write_bytes(file.read_bytes().replace(b'"answer":{"label":"yes"}', b'"answer":{"label":"no"}', 1))
    run = release(project, BETTER)
    assert run.ret == 6
    assert "../baselines/voice/baseline.json is not what was written" in gate(project)["reason"]
    assert verified(project, capfd) == []


def test_a_replay_is_compared_with_today_s_baseline(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    file = blessed(project)
    release(project, WORSE)
    stored = project.folder()
    run = project.run(f"--speval-replay={stored}")
    assert run.ret == 1
    first, again = project.documents()[-2:]
    assert timeless(first) == timeless(again)
    assert verified(project, capfd) == []
    file.unlink()
    run = project.run(f"--speval-replay={stored}")
    assert run.ret == 6, "the copy in the stored run is no answer to what is asked today"
    assert "../baselines/voice holds no baseline.json" in gate(project)["reason"]
    assert any("rules.gates[no-regression].baseline" in what for what in project.document()["plan"]["postHoc"])
    assert verified(project, capfd) == []


def test_a_lock_holds_its_baseline(project: Project) -> None:
    other = blessed(project, "baselines/other", WORSE)
    file = blessed(project)
    assert main(["freeze", "voice"]) == 0
    assert release(project, GOOD).ret == 0
    file.write_bytes(other.read_bytes())
    project.forget_calls()
    run = project.run()
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*rules.gates[[]no-regression].baseline.sha256: * in the lock, * now*"])
    assert project.calls == []


def test_a_copy_that_was_tampered_with_is_found(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    blessed(project)
    release(project, WORSE)
    (copy,) = (project.folder() / "baselines").iterdir()
    data = copy.read_bytes()
    copy.write_bytes(data.replace(b'"label":"yes"', b'"label":"no"', 1))
    assert any("baseline-damaged" in line for line in verified(project, capfd))
    copy.unlink()
    assert any("file-missing" in line for line in verified(project, capfd))
    copy.write_bytes(data)
    assert verified(project, capfd) == []


def test_a_gate_file_names_the_folder_from_where_it_lies(project: Project) -> None:
    blessed(project)
    project.write(BETTER, references=REFERENCES, gates="", extra=BY_CLIP)
    (project.path / "gates/deep").mkdir(parents=True)
    (project.path / "gates/deep/a.yaml").write_text(
        "gates: {g: {suite: voice, metric: accuracy, baseline: ../../baselines/voice, min_gain: 0.1, why: a}}\n"
    )
    assert project.run("-o", "speval_gates=gates/deep/*.yaml").ret == 0
    assert (gate(project)["verdict"], gate(project)["min"]) == ("pass", 0.1)


def test_a_variable_may_say_where_baselines_are(project: Project) -> None:
    blessed(project)
    gates = GATES.replace("../baselines/voice", "'${BASELINES}/voice'")
    project.write(BETTER, references=REFERENCES, gates=gates, extra=BY_CLIP)
    run = project.run(environment={"BASELINES": str(project.path / "baselines")})
    assert run.ret == 0, run.stdout.str()
    assert project.run().ret == 6
    assert "BASELINES is not set" in gate(project)["reason"]
    assert str(project.path) not in (project.folder() / "plan.json").read_text()


def test_a_partial_run_compares_nothing(project: Project) -> None:
    blessed(project)
    assert project.run("--speval-partial", "-k", "c1 or c2").ret == 0
    assert "comparisons" not in project.document()


@pytest.mark.parametrize("kind", ["failing", "invalid", "partial", "shard", "changed", "unfinished"])
def test_only_a_whole_run_that_passed_and_holds_is_blessed(
    project: Project, kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    project.write(WORSE if kind == "failing" else ["raise"] * 4 if kind == "invalid" else ["yes"] * 4,
                  references=REFERENCES if kind == "failing" else None,
                  gates="gates: {a: {metric: accuracy, min: 0.7, why: a}}")  # fmt: skip
    project.run(*{"partial": ["--speval-partial"], "shard": ["--speval-shard=1/2"]}.get(kind, []))
    if kind == "changed":
        report = project.folder() / "report.md"
        report.write_text(report.read_text().replace("voice", "choir", 1))
    if kind == "unfinished":
        (project.folder() / "receipt.json").unlink()
    assert main(["bless", str(project.folder()), "baselines/voice"]) == 2
    said = {"failing": "is fail", "changed": "does not hold: report.md", "unfinished": "does not hold: receipt.json"}
    assert said.get(kind, f"is {kind}") in capfd.readouterr().err
    assert not (project.path / "baselines").exists()


def test_another_baseline_is_not_overwritten_and_the_same_one_may_be_blessed_again(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    file = blessed(project)
    before = file.read_bytes()
    stored = sorted((project.path / ".speval/voice").iterdir())[0]
    assert main(["bless", str(stored), "baselines/voice"]) == 0
    assert file.read_bytes() == before
    release(project, BETTER)
    assert main(["bless", str(project.folder()), "baselines/voice"]) == 2
    assert "is another baseline; remove it to bless this run in its place" in capfd.readouterr().err
    assert file.read_bytes() == before
    assert main(["bless", str(project.folder()), str(stored)]) == 2
    assert "is the folder of a run" in capfd.readouterr().err
    assert main(["bless", "suites", "baselines/other"]) == 2
    assert "is no run folder" in capfd.readouterr().err
