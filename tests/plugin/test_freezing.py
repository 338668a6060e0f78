"""The lock of a suite: what is frozen, what is refused, what an authority's stamp adds, and the status from files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_speval.command import main
from tests.authority import Authority
from tests.plugin.conftest import Project

RUN = ("-p", "no:cacheprovider")


@pytest.fixture
def frozen(project: Project, capfd: pytest.CaptureFixture[str]) -> Project:
    """A project whose suite is frozen."""
    project.write(["yes"] * 4)
    assert main(["freeze", "voice"]) == 0
    assert "voice: frozen, plan " in capfd.readouterr().out
    return project


def lock(project: Project) -> Path:
    return project.path / "suites/voice.lock.json"


def test_a_frozen_suite_runs_as_it_was_frozen(frozen: Project, distributed: tuple[str, ...]) -> None:
    run = frozen.run(*RUN, "-v", *distributed)
    assert run.ret == 0, run.stdout
    run.stdout.fnmatch_lines(["*audit[[]lock]*PASSED*"])
    assert json.loads(lock(frozen).read_text())["sealed"][0]["planSha256"] == frozen.document()["plan"]["planSha256"]
    (audit,) = [audit for audit in frozen.document()["audits"] if audit["name"] == "lock"]
    assert "not independently time-stamped" in audit["findings"][0]["message"]
    assert "not independently time-stamped" in (frozen.folder() / "report.md").read_text()
    assert (frozen.folder() / "lock.json").read_bytes() == lock(frozen).read_bytes()


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("gates.accuracy.min=0.4", "rules.gates[[]accuracy].min: 0.5 in the lock, 0.4 now"),
        ("score.interval.seed=1", "rules.score.interval.seed: 20260817 in the lock, 1 now"),
        ("labels.answers={maybe: 'yes'}", "rules.labels.answers*"),
        ("claim.limits=['one room']", "rules.claim.limits*"),
        ("run.max_failed=1", "rules.run.max_failed: 0 in the lock, 1 now"),
        ("corpus.audio.clipping=reject", "question.audio.clipping: report in the lock, reject now"),
    ],
)
def test_another_plan_is_refused_with_the_field_that_differs(frozen: Project, change: str, found: str) -> None:
    run = frozen.run(*RUN, "--speval-set", f"voice.{change}")
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*audit lock of voice: FAIL*", f"error: {found}*lock-differs*"])
    assert frozen.calls == []


def test_another_sound_or_reference_is_refused(frozen: Project) -> None:
    sound = frozen.path / "1.wav"
    sound.write_bytes(sound.read_bytes()[:-1] + b"\x07")
    frozen.run(*RUN).stdout.fnmatch_lines(["*question.clips.bytes_sha256 differs*"])
    assert main(["freeze", "voice"]) == 2, "what is frozen is not frozen over"
    manifest = frozen.path / "clips.csv"
    manifest.write_text(manifest.read_text().replace("c0,yes", "c0,no"))
    assert frozen.run(*RUN).ret == 6
    assert frozen.calls == []


def test_a_lock_holds_for_a_replay_too(frozen: Project) -> None:
    assert frozen.run(*RUN).ret == 0
    stored = frozen.folder()
    assert frozen.run(*RUN, f"--speval-replay={stored}").ret == 0
    run = frozen.run(*RUN, f"--speval-replay={stored}", "--speval-set", "voice.gates.accuracy.min=0.4")
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*rules.gates[[]accuracy].min: 0.5 in the lock, 0.4 now*"])


@pytest.mark.parametrize("damage", [b"", b"{}\n", b"[1]\n", b"\xff", b'{"a":1}'])
def test_a_damaged_lock_is_no_lock(frozen: Project, damage: bytes) -> None:
    lock(frozen).write_bytes(damage)
    run = frozen.run(*RUN)
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*audit lock of voice: FAIL*"])
    assert frozen.calls == []


def test_a_suite_that_must_be_locked_is_not_asked_without(project: Project) -> None:
    project.write(["yes"] * 2, extra="run: {locked: true}")
    run = project.run(*RUN)
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*`speval freeze voice` writes it*lock-missing*"])
    assert project.calls == []
    assert main(["freeze", "voice"]) == 0
    assert project.run(*RUN).ret == 0


def test_freezing_again_changes_nothing_and_never_another_plan(
    frozen: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    before = lock(frozen).read_bytes()
    assert main(["freeze", "voice"]) == 0
    assert main(["freeze", "voice", "--speval-set", "voice.gates.accuracy.min=0.1"]) == 2
    said = capfd.readouterr().err
    assert said.count("\n") == 1, "one line, no traceback"
    assert "rules.gates[accuracy].min: 0.5 in the lock, 0.1 now" in said
    assert lock(frozen).read_bytes() == before


def test_what_fails_its_audit_is_not_frozen(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    project.write(["yes"] * 2)
    (project.path / "1.wav").write_bytes(b"RIFF")
    assert main(["freeze", "voice"]) == 1
    assert "audit[corpus] of voice: FAIL" in capfd.readouterr().out
    assert not lock(project).exists()


def test_the_status_follows_from_files(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    def status() -> str:
        assert main(["plan", "voice"]) == 0
        out = capfd.readouterr().out
        return next(line for line in out.splitlines() if line.startswith("status: "))

    project.write(["yes"] * 3)
    assert status() == "status: design"
    assert project.run(*RUN).ret == 0
    assert status() == "status: design", "a run without a lock executes no frozen plan"
    assert main(["freeze", "voice"]) == 0
    assert status() == "status: executed", "the run before was of this very plan"
    for receipt in (project.path / ".speval").rglob("receipt.json"):
        receipt.unlink()
    assert status() == "status: frozen", "a run without a receipt never ended"
    assert project.calls == ["c0", "c1", "c2"], "neither command asks anybody"


def test_a_suite_is_found_by_its_name_or_its_file(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    project.write(["yes"])
    for name in ("voice", "suites/voice.yaml"):
        assert main(["plan", name]) == 0
    capfd.readouterr()
    assert main(["plan", "vioce"]) == 2
    assert "no suite `vioce`: there is voice" in capfd.readouterr().err
    (project.path / "suites/voice.yaml").write_text("task: emotoin\n")
    assert main(["plan", "suites/voice.yaml"]) == 2
    assert "suites/voice.yaml:1:7: task: no task `emotoin`" in capfd.readouterr().err


def test_a_plan_says_what_a_billable_suite_may_cost(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    from tests.plugin.test_spending import BUDGET, paid

    paid(project, ["yes"] * 3, BUDGET)
    assert main(["plan", "voice"]) == 0
    out = capfd.readouterr().out
    assert "at most 3 requests, cap 9 requests" in out
    assert "at most 0.006 USD, cap 0.01 USD" in out
    assert "not an invoice" in out
    assert project.calls == []


def stamped(project: Project, authority: Authority, data: bytes | None = None) -> None:
    token = authority.stamp(data=lock(project).read_bytes() if data is None else data)
    (project.path / "suites/voice.lock.tsr").write_bytes(token)
    (project.path / "suites/voice.lock.tsa.pem").write_bytes(authority.roots)


def test_a_stamped_lock_is_said_to_be_independently_stamped(frozen: Project, authority: Authority) -> None:
    stamped(frozen, authority)
    assert frozen.run(*RUN).ret == 0
    report = (frozen.folder() / "report.md").read_text()
    assert "CN=tsa, trusted through voice.lock.tsa.pem" in report
    assert {"lock.json", "lock.tsr", "lock.tsa.pem"} <= {path.name for path in frozen.folder().iterdir()}


@pytest.mark.parametrize("fault", ["other bytes", "no roots", "cut"])
def test_a_stamp_that_does_not_hold_is_refused(frozen: Project, authority: Authority, fault: str) -> None:
    stamped(frozen, authority, b"another lock" if fault == "other bytes" else None)
    if fault == "no roots":
        (frozen.path / "suites/voice.lock.tsa.pem").unlink()
    if fault == "cut":
        token = frozen.path / "suites/voice.lock.tsr"
        token.write_bytes(token.read_bytes()[:-9])
    run = frozen.run(*RUN)
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*audit lock of voice: FAIL*", "error: *timestamp-*"])
    assert frozen.calls == []


def test_every_adapter_of_a_suite_has_its_plan(project: Project) -> None:
    project.write(["yes"] * 2)
    suite = project.path / "suites/voice.yaml"
    both = "adapters: {a: {use: counting}, b: {use: counting, name: other}}"
    suite.write_text(suite.read_text().replace("adapter: {use: counting}", both))
    assert main(["freeze", "voice"]) == 0
    assert {plan["title"] for plan in json.loads(lock(project).read_text())["sealed"]} == {"a", "b"}
    assert project.run(*RUN).ret == 0
    suite.write_text(suite.read_text().replace("b: {use", "c: {use"))
    run = project.run(*RUN)
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*voice.lock.json holds no plan of voice[[]c]*lock-title*"])


def test_a_lock_that_leads_nowhere_is_not_as_good_as_none(frozen: Project) -> None:
    lock(frozen).unlink()
    lock(frozen).symlink_to("nowhere.json")
    assert frozen.run(*RUN).ret == 6
    assert frozen.calls == []


def test_an_installed_package_is_looked_at_where_warnings_are_errors(project: Project, tmp_path: Path) -> None:
    """Pytest would warn that what the command has imported can no longer be rewritten."""
    project.write(["yes"])
    (project.path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    record = tmp_path / "site/pytest_speval_copy-1.dist-info"
    record.mkdir(parents=True)
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: pytest-speval-copy\nVersion: 1\n")
    (record / "RECORD").write_text("pytest_speval/__init__.py,,\npytest_speval/command.py,,\n")
    (record / "entry_points.txt").write_text("[pytest11]\ncopy = pytest_speval.plugin.words\n")
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from pytest_speval.command import main; sys.exit(main())", "plan", "voice"],
        cwd=project.path, env=os.environ | {"PYTHONPATH": str(tmp_path / "site")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("act", ["plan", "freeze"])
def test_a_reader_that_goes_away_ends_a_command_quietly(project: Project, act: str) -> None:
    project.write(["yes"])
    reading, writing = os.pipe()
    os.close(reading)
    words = "import sys; from pytest_speval.command import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", words, act, "voice"], cwd=project.path, stdout=writing,
                          stderr=subprocess.PIPE, text=True, check=False)  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("act", ["freeze", "plan"])
def test_a_conftest_that_ends_the_program_is_told(
    project: Project, act: str, capfd: pytest.CaptureFixture[str]
) -> None:
    project.write(["yes"] * 4)
    (project.path / "conftest.py").write_text("import sys\n\nsys.exit(0)\n")
    assert main([act, "voice"]) == 2
    assert "ended the program (0)" in capfd.readouterr().err
    assert not (project.path / "suites/voice.lock.json").exists()
