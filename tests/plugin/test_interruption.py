"""What a run leaves behind when it is stopped from outside."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from unittest.mock import Mock

import pytest

from pytest_speval.evidence.canonical import value_of
from pytest_speval.evidence.ending import endings_of
from pytest_speval.evidence.folder import RunFolder
from pytest_speval.evidence.plan import Question
from pytest_speval.plugin.session import SuiteSession
from tests.plugin.conftest import WITHOUT, Project

WAITING = """
    def __init__(self, said="said.json"):
        self.said = list(json.loads((HERE / said).read_text()).items())

    def classify(self, pcm, sample_rate):
        if self.said[round(float(pcm[0]) * 32768) - 100][1] == "wait":
            with open(HERE / "here", "w") as here:      # opens once the test reads the other end
                here.write("waiting")
            with open(HERE / "never") as never:         # never opens: nobody writes
                never.read()
        return EmotionRead(label="yes")
"""


def stopped(project: Project, how: signal.Signals) -> subprocess.CompletedProcess[str]:
    """Run until the fourth of ten clips is being asked, then send a signal."""
    project.write(["yes"] * 3 + ["wait"] + ["yes"] * 6)
    conftest = project.path / "conftest.py"
    head, _, tail = conftest.read_text().partition("    def __init__")
    conftest.write_text(
        head
        + WAITING.lstrip("\n")
        + "\n\n"
        + "def pytest_speval_adapters"
        + tail.partition("def pytest_speval_adapters")[2]
    )
    for pipe in ("here", "never"):
        os.mkfifo(project.path / pipe)
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", *WITHOUT],
        cwd=project.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as run:
        assert (project.path / "here").read_text() == "waiting"
        run.send_signal(how)
        output, _ = run.communicate()
    return subprocess.CompletedProcess(run.args, run.returncode, output)


def states(project: Project) -> Counter[str]:
    """How the clips of the newest run ended, from its evidence alone."""
    folder = RunFolder(project.folder())
    question = Question.from_dict(value_of((folder.path / "plan.json").read_bytes())["question"])
    return Counter(ending.state for ending in endings_of(question, folder.journal_lines()))


def test_a_killed_run_leaves_its_evidence(project: Project) -> None:
    assert stopped(project, signal.SIGKILL).returncode == -signal.SIGKILL
    assert states(project) == {"returned": 3, "unknown": 1, "unattempted": 6}
    assert not (project.folder() / "out.json").exists()


def test_an_interrupted_run_reports_what_it_has(project: Project) -> None:
    run = stopped(project, signal.SIGINT)
    assert run.returncode == pytest.ExitCode.INTERRUPTED, run.stdout
    assert states(project) == {"returned": 3, "unknown": 1, "unattempted": 6}
    document = project.document()
    assert document["complete"] is False
    assert document["gates"][0]["verdict"] == "invalid"
    assert "4 of 10 clips: no verdict" in run.stdout


@pytest.mark.parametrize(("status", "order"), [(2, ["workers end", "judged"]), (1, ["judged"])])
def test_workers_end_before_an_interrupted_session_is_judged(status: int, order: list[str]) -> None:
    """An interrupt of the controller alone leaves workers asking, and what they write would not be in the receipt."""
    seen: list[str] = []
    campaign = Mock(settings=Mock(worker=None), exit_status=lambda status: status)
    campaign.finish.side_effect = lambda _: seen.append("judged")
    session = SuiteSession(Mock(getoption=lambda _: False), campaign)
    session._distribution = Mock(subjects=[])
    session._distribution.end_workers.side_effect = lambda: seen.append("workers end")
    session.pytest_sessionfinish(Mock(exitstatus=pytest.ExitCode(status)))
    assert seen == order
