"""An errand: suites collected as pytest collects them, for one act instead of a run. Nothing is asked."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_speval.errors import UsageFault
from pytest_speval.plugin.campaign import Campaign
from pytest_speval.plugin.collect import CAMPAIGN, subjects_of
from pytest_speval.plugin.subject import Subject
from pytest_speval.suite.load import suite_name
from pytest_speval.suite.readiness_file import is_readiness

CODES = {
    "suite-unknown": "A command names a suite that no file in `suites/` defines.",
    "suite-unusable": "A suite that a command is about cannot be collected.",
}
Act = Callable[[Campaign, Sequence[Subject]], int]
ARGUMENTS = ("--collect-only", "--assert=plain", "-q", "-p", "no:cacheprovider", "-o", "addopts=")
"""Plain assertions: what is imported here already cannot be rewritten, and pytest would warn of that."""


class Errand:
    """Keeps what was collected; pytest runs no item afterwards."""

    def __init__(self) -> None:
        self.campaign: Campaign | None = None
        self.subjects: Sequence[Subject] = ()
        self.faults: list[str] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep what collection complains of."""
        if report.failed:
            self.faults.append(report.longreprtext)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Keep the subjects, once everything is collected."""
        self.campaign = session.config.stash.get(CAMPAIGN, None)
        self.subjects = subjects_of(session.items)


def run_errand(suite: str, act: Act, overrides: Sequence[str] = ()) -> int:
    """Collect one suite, named or given as a file, and then act on its subjects; returns what the act returns.

    Raises `UsageFault` where the suite does not exist or cannot be collected.
    """
    file = suite_file(suite)
    errand = Errand()
    said: Any = io.StringIO()
    added = os.environ.pop("PYTEST_ADDOPTS", None)
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            pytest.main([str(file), *ARGUMENTS, *(f"--speval-set={text}" for text in overrides)], plugins=[errand])
    except SystemExit as left:
        raise UsageFault("suite-unusable", f"something that was collected ended the program ({left.code})") from left
    finally:
        if added is not None:
            os.environ["PYTEST_ADDOPTS"] = added
    if errand.faults or errand.campaign is None or not errand.subjects:
        raise UsageFault("suite-unusable", "\n".join(errand.faults) or said.getvalue().strip())
    return act(errand.campaign, errand.subjects)


def suite_file(suite: str) -> Path:
    """The file of a suite; raises `UsageFault`."""
    if Path(suite).is_file():
        return Path(suite)
    files = [path for path in sorted(Path("suites").glob("*.yaml")) if not is_readiness(path)]
    known = {suite_name(path): path for path in files}
    if suite not in known:
        there = f"there is {', '.join(known)}" if known else "there is no suites/*.yaml here"
        raise UsageFault("suite-unknown", f"no suite `{suite}`: {there}; give its name or its file")
    return known[suite]
