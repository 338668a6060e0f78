"""Clips that fail stay in the denominator, and what is not measured does not pass."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Project


def test_a_raising_clip_counts_as_wrong(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(["yes"] * 8 + ["no", "raise"])
    result = project.run(*distributed)
    assert result.ret == 6
    document = project.document()
    assert document["metrics"]["accuracy"]["value"] == 0.8
    assert document["metrics"]["answered_only.accuracy"]["value"] == pytest.approx(8 / 9)
    assert document["counts"]["failed"] == 1
    assert document["gates"][0]["verdict"] == "invalid"
    result.stdout.fnmatch_lines(["*RuntimeError: no luck with c9*"])


def test_a_tolerated_failure_leaves_the_gate_judged(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(["yes"] * 8 + ["no", "raise"], extra="run: {max_failed: 1}")
    result = project.run(*distributed)
    assert result.ret == 0
    result.assert_outcomes(passed=12, xfailed=1)
    assert project.document()["metrics"]["accuracy"]["value"] == 0.8


def test_a_tolerated_failure_is_told_again_under_runxfail(project: Project) -> None:
    project.write(["yes"] * 8 + ["no", "raise"], extra="run: {max_failed: 1}")
    result = project.run("--runxfail")
    assert result.ret == 1
    result.assert_outcomes(passed=12, failed=1)


def test_all_clips_raising_leaves_estimates_null(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(["raise"] * 10)
    assert project.run(*distributed).ret == 6
    document = project.document()
    assert document["metrics"]["accuracy"]["value"] is None
    assert document["metrics"]["accuracy"]["reason"] == "no clip came back"
    assert document["macroF1"] is None
    assert document["gates"][0]["verdict"] == "invalid"


def test_a_suite_without_gates_says_so(project: Project) -> None:
    project.write(["yes"] * 3, gates="")
    result = project.run()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*voice*: no gates"])


def test_a_failing_gate_ends_in_1_with_both_numbers(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(["yes", "no", "no", "no"])
    result = project.run(*distributed, "--junitxml=junit.xml")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["gate accuracy of voice: FAIL: accuracy 0.25 < 0.5*", "*flips:*1 clip would*"])
    junit = (project.path / "junit.xml").read_text()
    assert "gate[accuracy]" in junit
    assert "0.25 &lt; 0.5" in junit


def test_a_warning_gate_leaves_the_exit_status_alone(project: Project, distributed: tuple[str, ...]) -> None:
    gates = "gates: {accuracy: {metric: accuracy, min: 0.5, why: chance, level: warn}}"
    project.write(["yes", "no", "no", "no"], gates=gates)
    result = project.run(*distributed)
    assert result.ret == 0
    result.assert_outcomes(passed=6, xfailed=1)
    assert project.document()["gates"][0]["verdict"] == "fail"


@pytest.mark.parametrize(
    ("until", "status", "told"), [("2999-01-01", 0, "waived:"), ("2001-01-01", 1, "waiver expired")]
)
def test_a_waiver_holds_until_its_day(project: Project, until: str, status: int, told: str) -> None:
    project.write(["yes", "no", "no", "no"], gates="")
    (project.path / "gates").mkdir()
    (project.path / "gates/all.yaml").write_text(
        "gates:\n  accuracy: {suite: voice, metric: accuracy, min: 0.5, why: chance}\n"
        f"waivers:\n  accuracy: {{reason: known, owner: me, until: {until}}}\n"
    )
    result = project.run()
    assert result.ret == status
    result.stdout.fnmatch_lines([f"*{told}*"])
    assert project.document()["gates"][0]["verdict"] == "fail"


def test_an_invalid_gate_cannot_be_waived(project: Project) -> None:
    project.write(["yes", "raise"], gates="")
    (project.path / "gates").mkdir()
    (project.path / "gates/all.yaml").write_text(
        "gates:\n  accuracy: {suite: voice, metric: accuracy, min: 0.5, why: chance}\n"
        "waivers:\n  accuracy: {reason: known, owner: me, until: 2999-01-01}\n"
    )
    assert project.run().ret == 6


def test_evidence_that_cannot_be_written_gives_no_verdict(project: Project) -> None:
    project.write(["yes"] * 4, gates="")
    conftest = project.path / "conftest.py"
    conftest.write_text(
        conftest.read_text().replace(
            "    def classify",
            "    def close(self):\n        import shutil\n        shutil.rmtree(HERE / '.speval')\n\n    def classify",
        )
    )
    result = project.run()
    assert result.ret == 6
    result.stdout.fnmatch_lines(["*folder-gone*"])


def test_a_summary_that_cannot_be_written_gives_no_verdict(project: Project) -> None:
    project.write(["yes"] * 4, gates="")
    (project.path / ".speval/summary.json").mkdir(parents=True)
    result = project.run()
    assert result.ret == 6
    result.stdout.fnmatch_lines(["*cannot write*summary.json*folder-unwritable*"])


def test_a_clip_that_changes_after_the_audit_is_not_asked(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(["yes"] * 6)
    conftest = project.path / "conftest.py"
    change = "(HERE / '5.wav').write_bytes((HERE / '4.wav').read_bytes())"
    conftest.write_text(
        conftest.read_text().replace(
            "    def __init__", f"    def warm_up(self):\n        {change}\n\n    def __init__"
        )
    )
    result = project.run(*distributed)
    assert result.ret == 6
    assert sorted(project.calls) == ["c0", "c1", "c2", "c3", "c4"]
    assert project.document()["counts"]["failed"] == 1
    result.stdout.fnmatch_lines(["*c5: failed: changed-since-audit: 5.wav is not the file that was audited*"])


def test_a_gate_above_the_ceiling_is_invalid(project: Project) -> None:
    project.write(["yes"] * 4, gates="gates: {f1: {metric: macro_f1, min: 0.9, why: high}}")
    result = project.run()
    assert result.ret == 6
    result.stdout.fnmatch_lines(["*macro_f1 reaches at most 0.5*"])
