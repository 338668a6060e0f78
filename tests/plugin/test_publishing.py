"""Published gate files and manifests in whole sessions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_speval.command import main
from tests.plugin.conftest import Project

REFERENCES = ["yes", "no"] * 10
PUBLISHED = """\
version: 2
gates:
  f1: {op: ">=", manifest_field: evals.emotionClassifier.macroF1Meld, description: "Macro-F1."}
  people: {op: ">=", manifest_field: null, needs_hardware: true}
tiers:
  2b: {f1: {threshold: 0.9, required: true, provisional: PROVISIONAL}}
  4b: {f1: {threshold: 0.9, required: true}, people: {threshold: 2, required: false}}
"""
TIED = """\
published:
  file: ../bench/published.yaml
  tier: TIER
  gates:
    f1: {suite: voice, metric: macro_f1}
"""


def release(project: Project, answers: list[str], tier: str = "2b", provisional: str = "false", more: str = "") -> int:
    """Run with the gates of a published file; returns the exit status."""
    project.write(answers, references=REFERENCES, gates="")
    for name, text in (("bench/published.yaml", PUBLISHED.replace("PROVISIONAL", provisional)),
                       ("gates/release.yaml", TIED.replace("TIER", tier) + more)):  # fmt: skip
        (project.path / name).parent.mkdir(exist_ok=True)
        (project.path / name).write_text(text)
    return int(project.run().ret)


def test_published_gates_are_judged_and_provisional_ones_only_warn(project: Project) -> None:
    wrong = ["yes"] * 20
    assert release(project, REFERENCES) == 0
    assert release(project, wrong) == 1
    assert project.document()["gates"][0]["why"] == "Macro-F1. (published.yaml, tier 2b)"
    assert release(project, wrong, provisional="true") == 0
    (verdict,) = project.document()["gates"]
    assert (verdict["verdict"], verdict["level"]) == ("fail", "warn")


def test_a_published_gate_that_was_not_measured_is_invalid_though_it_only_warns(project: Project) -> None:
    more = "    people: {suite: voice, metric: speakers}\n"
    assert release(project, REFERENCES, "4b", more=more) == 6
    verdicts = {found["id"]: (found["verdict"], found["level"]) for found in project.document()["gates"]}
    assert verdicts == {"f1": ("pass", "block"), "people": ("invalid", "warn")}


def test_a_gate_of_the_tier_that_nobody_measures_stops_the_session(project: Project) -> None:
    assert release(project, REFERENCES, "4b") == 4
    assert project.calls == []
    assert release(project, REFERENCES, "4b", more="  elsewhere: {people: the device lab}\n") == 0


def test_a_published_file_in_the_folder_of_gates_stops_the_session(project: Project) -> None:
    release(project, REFERENCES)
    (project.path / "gates/published.yaml").write_text(PUBLISHED.replace("PROVISIONAL", "false"))
    run = project.run()
    assert run.ret == 4
    run.stderr.fnmatch_lines(["*gates/published.yaml:1:1: this is a published gate file*published-alone*"])


def test_the_command_checks_a_gate_file_with_its_published_one(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    release(project, REFERENCES)
    assert main(["check", "gates/release.yaml", "suites/voice.yaml"]) == 0
    assert main(["check", "bench/published.yaml"]) == 1
    assert "published-alone" in capfd.readouterr().out
    published = project.path / "bench/published.yaml"
    published.write_text(published.read_text().replace("threshold: 0.9", "threshold: 9", 1))
    assert main(["check", "gates/release.yaml"]) == 1
    assert "bench/published.yaml:6:24: gates.f1.min: macro_f1 is between 0 and 1" in capfd.readouterr().out


def runs(project: Project, *, gates: str = "", other: str = "") -> list[str]:
    """One run of `meld` and one of `iemocap`."""
    project.write(REFERENCES, references=REFERENCES, gates="")
    (project.path / "suites/voice.yaml").unlink()
    project.suite("meld", gates=gates)
    project.suite("iemocap", extra=other)
    project.run()
    return [str(project.folder(suite)) for suite in ("meld", "iemocap")]


def test_the_block_is_written_from_two_runs_and_holds_against_them(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    folders = runs(project)
    capfd.readouterr()
    assert main(["manifest", *folders]) == 0
    written = capfd.readouterr().out
    block = json.loads(written)["evals"]["emotionClassifier"]
    assert (block["macroF1Meld"], block["macroF1Iemocap"], block["passed"]) == (1.0, 1.0, True)
    times = [project.document(suite)["metrics"]["latency_ms.mean"]["value"] for suite in ("meld", "iemocap")]
    assert block["meanLatencyMs"] == pytest.approx(sum(times) / 2)
    assert main(["manifest", *reversed(folders)]) == 0
    assert capfd.readouterr().out == written
    Path("manifest.json").write_text(written)
    agreeing = ["check-manifest", "manifest.json", "--strict", *(f"--run={folder}" for folder in folders)]
    assert main(agreeing) == 0
    Path("manifest.json").write_text(written.replace('"macroF1Meld": 1.0', '"macroF1Meld": 0.9'))
    assert main(["check-manifest", "manifest.json"]) == 0
    assert main(agreeing) == 1
    assert "macroF1Meld: is 0.9, and the evidence says 1.0" in capfd.readouterr().out


@pytest.mark.parametrize("kind", ["one", "twice", "changed", "foreign", "models", "partial"])
def test_runs_that_do_not_go_together_make_no_block(
    project: Project, kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    folders = runs(project)
    told = {
        "one": "give two runs, one of each, meld and iemocap",
        "twice": "is a run of `meld`; wanted is one of each",
        "changed": "does not hold",
        "foreign": "is a run of `ravdess`; wanted is one of each, meld and iemocap",
        "models": "the runs are of two models: counting and other",
        "partial": "is partial",
    }[kind]
    if kind == "one":
        folders.pop()
    if kind == "twice":
        folders[1] = folders[0]
    if kind == "changed":
        document = Path(folders[0]) / "out.json"
        document.write_text(document.read_text().replace('"macroF1":1,', '"macroF1":0.9,'))
    if kind == "foreign":
        project.suite("ravdess")
        project.run("suites/ravdess.yaml")
        folders[0] = str(project.folder("ravdess"))
    if kind == "models":
        file = project.path / "suites/iemocap.yaml"
        file.write_text(file.read_text().replace("{use: counting}", "{use: counting, name: other}"))
        project.run("suites/iemocap.yaml")
        folders[1] = str(project.folder("iemocap"))
    if kind == "partial":
        project.run("--speval-partial", "suites/meld.yaml")
        folders[0] = str(project.folder("meld"))
    capfd.readouterr()
    assert main(["manifest", *folders]) == 2
    assert told in capfd.readouterr().err


def test_a_manifest_that_is_not_there_is_wrong_usage(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["check-manifest", "nothing.json"]) == 2
    assert "cannot read nothing.json" in capfd.readouterr().err
