"""`speval prove` over the evidence of whole sessions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pytest_speval.command import main
from tests.plugin.conftest import Project

REFERENCES = ["yes", "no"] * 8
SOUND = "gates: {accuracy: {metric: accuracy, min: 0.9, why: a}}"
LOOSE = "gates: {accuracy: {metric: accuracy, min: 0.9, why: a}, loose: {metric: uar, min: 0, why: a}}"


def proven(capfd: pytest.CaptureFixture[str], place: str = "voice") -> tuple[int, str]:
    capfd.readouterr()
    status = main(["prove", place])
    said = capfd.readouterr()
    return status, said.out + said.err


def test_a_sound_gate_is_shown_to_fail(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    project.write(REFERENCES, references=REFERENCES, gates=SOUND)
    assert project.run().ret == 0
    calls = project.calls
    status, said = proven(capfd)
    assert status == 0
    assert "1 of 1 gates can fail" in said
    row = next(line for line in said.splitlines() if line.startswith("  accuracy"))
    assert row.split()[1:8] == ["pass", "fail", "fail", "fail", "invalid", "invalid", "pass"]
    assert "no verdict of the run: 16 of 16 clips failed where run.max_failed allows 0" in said
    assert "\n\n" in said
    assert project.calls == calls


def test_a_vacuous_gate_is_named_and_the_exit_code_says_so(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    project.write(REFERENCES, references=REFERENCES, gates=LOOSE)
    assert project.run().ret == 0
    for place in ("voice", "suites/voice.yaml", str(project.folder())):
        status, said = proven(capfd, place)
        assert status == 1
        assert "VACUOUS: nothing" in next(line for line in said.splitlines() if line.startswith("  loose"))
        assert "1 of 2 gates can fail" in said
        assert "not shown to fail: loose" in said


def test_a_suite_without_gates_proves_nothing(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    project.write(REFERENCES, references=REFERENCES, gates="")
    project.run()
    status, said = proven(capfd)
    assert (status, "no gates: nothing can fail" in said) == (1, True)


def test_the_newest_finished_run_of_a_suite_is_meant(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    project.write(REFERENCES, references=REFERENCES, gates=LOOSE)
    project.run()
    project.suite("voice", gates=SOUND)
    project.run()
    newest = project.folder()
    assert proven(capfd)[0] == 0
    unfinished = newest.with_name("99990101T000000.000Z-00000000")
    shutil.copytree(newest, unfinished)
    (unfinished / "receipt.json").unlink()
    assert newest.name in proven(capfd)[1]
    assert "is not finished: it has no receipt.json" in proven(capfd, str(unfinished))[1]


def test_every_adapter_of_a_suite_is_proven(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    project.write(REFERENCES, references=REFERENCES)
    file = project.path / "suites/voice.yaml"
    text = file.read_text().replace(
        "adapter: {use: counting}", "adapters: {one: {use: counting}, two: {use: counting}}"
    )
    file.write_text(text)
    project.run()
    said = proven(capfd)[1]
    assert ("voice[one]" in said, "voice[two]" in said) == (True, True)


@pytest.mark.parametrize("kind", ["invalid", "shard", "damaged", "none", "folder"])
def test_what_cannot_be_proven_is_refused(project: Project, kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    answers = ["raise"] * 16 if kind == "invalid" else REFERENCES
    project.write(answers, references=REFERENCES)
    project.run(*(["--speval-shard=1/2"] if kind == "shard" else []))
    place = str(project.folder())
    if kind == "damaged":
        plan = project.folder() / "plan.json"
        plan.write_bytes(plan.read_bytes().replace(b'"min":0.5', b'"min":0.0'))
    place = {"none": "choir", "folder": "suites"}.get(kind, place)
    status, said = proven(capfd, place)
    assert status == 2
    assert {
        "invalid": "gives no verdict itself: 16 of 16 clips failed",
        "shard": "is shard 1/2: put the shards together",
        "damaged": "plan.json",
        "none": "`choir` has no finished run",
        "folder": "suites is no run folder",
    }[kind] in said


def test_reports_have_what_random_answers_would_reach(project: Project) -> None:
    answers = ["yes"] * 12 + ["no"] * 4
    project.write(answers, references=REFERENCES)
    project.run()
    found = project.document()["reference"]
    assert (found["answers"], found["method"]) == ("shuffled", "exact expectation")
    assert found["metrics"]["recall.yes"] == 0.75
    assert found["metrics"]["precision.yes"] == found["metrics"]["accuracy"] == 0.5
    report = Path(project.folder() / "report.md").read_text()
    assert "recall by chance" in report
    assert main(["verify", str(project.folder())]) == 0
    assert json.dumps(found, sort_keys=True) == json.dumps(project.document()["reference"], sort_keys=True)
