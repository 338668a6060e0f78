"""Every figure of a run can be gated, from a gate file and through a whole session."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_speval.command import main
from pytest_speval.verify.verification import verify
from tests.plugin import groups
from tests.plugin.conftest import Project

ANSWERS = [*groups.REFERENCES[:6], "", "raise"]
"""Six right, one without a choice, one that raises: coverage 6/8, abstention rate and failure rate 1/8."""
FIGURES = {
    "clips": ("min", 8, 8.5),
    "speakers": ("min", 8, 9),
    "effective_speakers": ("min", 8, 8.000001),
    "coverage": ("min", 0.75, 0.750001),
    "failure_rate": ("max", 0.125, 0.124999),
    "abstention_rate": ("max", 0.125, 0.124999),
    "accuracy": ("min", 0.75, 0.750001),
    "latency_ms.mean": ("max", 60_000, 0),
    "latency_ms.p50": ("max", 60_000, 0),
    "latency_ms.p95": ("max", 60_000, 0),
    "rtf": ("max", 60_000, 0),
}
"""Metric: the side of its limit, a limit that holds and one that does not, for whoever counts by hand."""


def run(project: Project, place: int) -> dict[str, tuple[str, Any]]:
    """A session with one gate a figure; returns its verdict and value by metric."""
    lines = [
        f"  {metric.replace('.', '-').replace('_', '-')}: "
        f"{{suite: voice, metric: {metric}, {limits[0]}: {limits[place]}, why: x}}\n"
        for metric, limits in FIGURES.items()
    ]
    groups.write(project, f"gates:\n{''.join(lines)}", ANSWERS, score=f"{groups.SCORE}\nrun: {{max_failed: 1}}")
    result = project.run()
    found = {gate["metric"]: (gate["verdict"], gate["value"]) for gate in project.document()["gates"]}
    assert found.keys() == FIGURES.keys()
    assert result.ret == (0 if place == 1 else 1)
    assert [finding.code for finding in verify(project.folder())] == ["unsigned", "verified"]
    return found


def test_limits_that_hold_are_inclusive(project: Project) -> None:
    found = run(project, 1)
    assert {verdict for verdict, _ in found.values()} == {"pass"}
    counted = {metric: value for metric, (_, value) in found.items() if not metric.startswith(("latency", "rtf"))}
    assert counted == {
        "clips": 8, "speakers": 8, "effective_speakers": 8, "coverage": 0.75, "failure_rate": 0.125,
        "abstention_rate": 0.125, "accuracy": 0.75,
    }  # fmt: skip


def test_limits_beside_them_fail(project: Project) -> None:
    assert {verdict for verdict, _ in run(project, 2).values()} == {"fail"}


@pytest.mark.parametrize(
    ("metric", "side"), [("coverage", "max"), ("failure_rate", "min"), ("rtf", "min"), ("clips", "max")]
)
def test_a_limit_on_the_wrong_side_stops_the_session(project: Project, metric: str, side: str) -> None:
    groups.write(project, f"gates: {{g: {{suite: voice, metric: {metric}, {side}: 0.5, why: x}}}}\n")
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*gates/voice.yaml:1:*gates.g.{side}: * is better for {metric}*wrong-direction*"])
    assert project.calls == []


@pytest.mark.parametrize("name", ["speakers", "effective-speakers"])
def test_sizes_that_cannot_be_told_are_invalid(project: Project, name: str) -> None:
    gate = f"gates: {{g: {{metric: {name.replace('-', '_')}, min: 0, why: x}}}}"
    project.write(["yes"] * 2, gates=gate)
    assert project.run().ret == 6
    (found,) = project.document()["gates"]
    assert (found["verdict"], found["value"]) == ("invalid", None)
    assert "no speaker column" in found["reason"]


def test_a_gate_is_on_the_suite_that_it_names_and_needs_it(project: Project) -> None:
    groups.write(project, "gates: {g: {suite: other, metric: accuracy, min: 0.1, why: x}}\n")
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*gates/voice.yaml:1:*no suite `other`*unknown-suite*"])


def test_a_waiver_that_expired_is_ignored_and_both_reports_say_so(project: Project) -> None:
    groups.write(
        project,
        "gates: {g: {suite: voice, metric: accuracy, min: 0.9, why: x}}\n"
        "waivers: {g: {reason: known fault, owner: speech, until: 2001-01-01}}\n",
    )
    result = project.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*gate g of voice: FAIL*", "*waiver expired, ignored: known fault*speech*2001-01-01*"])
    assert "Waiver expired and ignored: g: known fault" in (project.folder() / "report.md").read_text()


def test_the_command_lists_every_error_of_a_manifest(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    (project.path / "manifest.json").write_text(
        '{"files": {"emotion": ["a.onnx"]}, "evals": {"emotionClassifier":'
        ' {"macroF1Meld": 0.2, "macroF1Iemocap": 1.6, "meanLatencyMs": "5", "passd": true, "passed": true}}}'
    )
    assert main(["check-manifest", "manifest.json", "--strict"]) == 1
    told = capfd.readouterr().out.splitlines()
    assert [line.removeprefix("manifest.json: evals.emotionClassifier") for line in told] == [
        ".macroF1Iemocap: must be between 0 and 1, got 1.6",
        '.meanLatencyMs: must be a finite number, got "5"',
        ": unknown key 'passd'",
        "manifest.json: 3 errors",
    ]


@pytest.mark.parametrize("metric", ["latency_ms.mean", "latency_ms.p50", "latency_ms.p95", "rtf"])
def test_answers_that_were_recorded_elsewhere_have_no_time(project: Project, metric: str) -> None:
    project.write(["yes"] * 4, gates=f"gates: {{fast: {{metric: {metric}, max: 30, why: a}}}}")
    (project.path / "answers.csv").write_text("id,label\n" + "".join(f"c{place},yes\n" for place in range(4)))
    suite = project.path / "suites/voice.yaml"
    suite.write_text(suite.read_text().replace("{use: counting}", "{use: predictions, file: ../answers.csv}"))
    assert project.run().ret == 6, "looking an answer up times no model"
    assert project.document()["metrics"][metric]["value"] is None
    assert project.document()["meanLatencyMs"] is None
