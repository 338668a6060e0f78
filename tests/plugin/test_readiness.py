"""`speval readiness` in a real project, and the file it writes beside a suite in real sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_speval.command import main
from pytest_speval.suite.readiness import load_readiness
from tests.plugin.conftest import Project

RUN = ("-p", "no:cacheprovider")


def readiness(project: Project) -> Path:
    return project.path / "suites/voice.readiness.yaml"


@pytest.fixture
def voiced(project: Project) -> Project:
    """A project with a suite that can run."""
    project.write(["yes"] * 3)
    return project


@pytest.mark.parametrize("named", ["voice", "suites/voice.yaml"])
def test_the_template_is_written_once(voiced: Project, named: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["readiness", named]) == 0
    assert capfd.readouterr().out == "readiness: suites/voice.readiness.yaml, 28 of 29 fields to fill in\n"
    assert load_readiness(readiness(voiced)).sources[0].records == "clips.csv"
    readiness(voiced).write_text("mine\n")
    assert main(["readiness", named]) == 2
    told = capfd.readouterr().err
    assert "suites/voice.readiness.yaml exists and is not written over" in told
    assert "[readiness-exists]" in told
    assert readiness(voiced).read_text() == "mine\n"


def test_a_link_to_nowhere_is_not_written_through(voiced: Project) -> None:
    readiness(voiced).symlink_to(voiced.path / "elsewhere.yaml")
    assert main(["readiness", "voice"]) == 2
    assert not (voiced.path / "elsewhere.yaml").exists()


def test_no_template_without_a_suite(voiced: Project, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["readiness", "vioce"]) == 2
    assert "no suite `vioce`: there is voice" in capfd.readouterr().err
    voiced.suite("faulty", extra="tusk: emotion")
    assert main(["readiness", "faulty"]) == 2
    assert "faulty.yaml:5:1: tusk: unknown key" in capfd.readouterr().err
    assert not readiness(voiced).exists()
    assert not (voiced.path / "suites/faulty.readiness.yaml").exists()


def test_a_readiness_file_is_no_suite(voiced: Project, distributed: tuple[str, ...]) -> None:
    assert main(["readiness", "voice"]) == 0
    run = voiced.run(*RUN, *distributed)
    assert run.ret == 0, run.stdout
    assert len(voiced.calls) == 3
    assert [path.name for path in (voiced.path / ".speval").iterdir() if path.is_dir()] == ["voice"]
    collected = voiced.run(*RUN, "--collect-only", "-q")
    assert "voice.readiness" not in collected.stdout.str()


def test_commands_take_it_for_no_suite(voiced: Project, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["readiness", "voice"]) == 0
    capfd.readouterr()
    assert main(["freeze", "nothing"]) == 2
    assert "there is voice;" in capfd.readouterr().err
    assert main(["check", "suites/voice.yaml", "suites/voice.readiness.yaml"]) == 0
    assert "2 of 2 files are good" in capfd.readouterr().out
    readiness(voiced).write_text(readiness(voiced).read_text().replace("blinded:", "blind:"))
    assert main(["check", "suites/voice.yaml", "suites/voice.readiness.yaml"]) == 1
    out = capfd.readouterr().out
    assert "voice.readiness.yaml:47:3: listeners.blind: unknown key, did you mean `blinded`?" in out
    assert "1 of 2 files are good" in out


def test_one_without_its_suite_is_not_passed_over(voiced: Project) -> None:
    assert main(["readiness", "voice"]) == 0
    readiness(voiced).rename(voiced.path / "suites/voise.readiness.yaml")
    run = voiced.run(*RUN)
    assert run.ret == 4
    assert "suites/voise.readiness.yaml" in run.stderr.str() + run.stdout.str()


def test_patterns_that_fit_only_readiness_files_fit_nothing(voiced: Project) -> None:
    assert main(["readiness", "voice"]) == 0
    run = voiced.run(*RUN, "-o", "speval_suites=suites/*.readiness.yaml")
    assert run.ret == 4
    assert "pattern-empty" in run.stderr.str() + run.stdout.str()
