"""The pytest edge: hooks become calls on our own objects. A session without suites imports nothing heavy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_speval.plugin.session import SuiteSession

SESSION: pytest.StashKey[SuiteSession] = pytest.StashKey()
MARK = "speval(suite, task, split, kind): set on the items of a suite; select with -m \"speval(suite='meld')\""


def pytest_addoption(parser: pytest.Parser) -> None:
    from pytest_speval.plugin.options import add_options

    add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    from pytest_speval.plugin import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARK)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    from pytest_speval.errors import UsageFault
    from pytest_speval.plugin.options import refuse_lost_options, wanted_suites

    try:
        refuse_lost_options(session.config)
    except UsageFault as fault:
        raise pytest.UsageError(str(fault)) from fault
    if wanted_suites(session.config):
        from pytest_speval.plugin.session import SuiteSession

        session.config.stash[SESSION] = SuiteSession.start(session.config)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    suites = parent.config.stash.get(SESSION, None)
    return None if suites is None else suites.collector(file_path, parent)
