"""One pytest session with suites: who is selected, when gates are judged, what the exit status is."""

from __future__ import annotations

import gc
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pytest

from pytest_speval.adapters.watchdog import WATCHDOG
from pytest_speval.errors import EvidenceFault, FaultyFile, SpevalError, UsageFault
from pytest_speval.plugin.campaign import Campaign
from pytest_speval.plugin.collect import CAMPAIGN, WITHOUT_CLIPS, SuiteFile, ordered, subjects_of
from pytest_speval.plugin.options import Settings, read_settings
from pytest_speval.plugin.subject import Subject
from pytest_speval.plugin.words import UNUSABLE, Words, offered, session_words
from pytest_speval.suite.secrets import Secrets

if TYPE_CHECKING:
    from pytest_speval.plugin.distribute import Distribution

CODES = {"dist-each": "`--dist each` would ask every clip once per worker."}


class SuiteSession:
    """Registered as a plugin of its own, so that its order of items is the last word."""

    def __init__(self, config: pytest.Config, campaign: Campaign) -> None:
        self._config = config
        self._campaign = campaign
        self._subjects: list[Subject] = []
        self._distribution: Distribution | None = None

    @classmethod
    def start(cls, config: pytest.Config) -> Self:
        """Read settings, suites and gates; what makes the session unusable is a usage error."""
        try:
            settings = read_settings(config)
            campaign = Campaign(settings, _words(config, settings))
            if campaign.settings.worker is None:
                campaign.check()
                _refuse_each(config)
        except (UsageFault, FaultyFile, EvidenceFault) as fault:
            raise pytest.UsageError(str(fault)) from fault
        config.stash[CAMPAIGN] = campaign
        WATCHDOG.keep_stderr()  # capturing pauses now
        if campaign.secrets:
            from pytest_speval.plugin.redaction import Redaction

            config.pluginmanager.register(Redaction(campaign.secrets), "speval-redaction")
        started = cls(config, campaign)
        started._distribute()
        config.pluginmanager.register(started, "speval-session")
        return started

    def _distribute(self) -> None:
        if self._config.pluginmanager.hasplugin("dsession"):
            from pytest_speval.plugin.distribute import Distribution

            self._distribution = Distribution(self._config, self._campaign)
            self._config.pluginmanager.register(self._distribution, "speval-distribution")

    def collector(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """The collector of a suite file, None for any other file."""
        if path not in self._campaign.settings.suites:
            return None
        collector: SuiteFile = SuiteFile.from_parent(parent, path=path)
        return collector

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None, None, None]:
        """Put items into their order after every other plugin has had its say."""
        yield
        items[:] = ordered(items, audits_first=self._campaign.settings.worker is None)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """A suite is in the run as soon as one of its items is selected."""
        if not self._config.stash.get(WITHOUT_CLIPS, False):
            self._subjects = subjects_of(session.items)
            gc.freeze()  # items and manifests stay to the end: the cycle collector need not walk them again

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """After errors of collection nothing runs, so there is nothing to judge."""
        if session.testsfailed and not self._config.getoption("continue_on_collection_errors"):
            self._subjects = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Judge what is left, write the summary, and give the exit status its meaning."""
        if self._campaign.settings.worker is not None:
            self._campaign.close()
            return
        if self._config.getoption("collectonly"):
            return
        subjects = self._subjects if self._distribution is None else self._distribution.subjects
        if self._distribution is not None and session.exitstatus == pytest.ExitCode.INTERRUPTED:
            self._distribution.end_workers()
        try:
            self._campaign.finish(subjects)
        except SpevalError as fault:
            self._campaign.problem = str(fault)
        session.exitstatus = self._campaign.exit_status(int(session.exitstatus))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Tell the verdicts."""
        if self._campaign.problem:
            terminalreporter.write_line(f"speval: {self._campaign.problem}", red=True)
        if self._campaign.entries and not self._config.getoption("no_summary", False):
            from pytest_speval.reports.terminal import write_summary

            results = [run.result for run in self._campaign.results() if run.result is not None]
            shown = self._campaign.shown(self._campaign.settings.out)
            sign = self._campaign.settings.sign
            keyid = None if sign is None else sign.keyid
            notices = self._campaign.notices()
            write_summary(terminalreporter, self._campaign.entries, results, shown, keyid, notices)


def _words(config: pytest.Config, settings: Settings) -> Words:
    """The session's words; what a hook or a package says of itself is told without secrets."""
    try:
        hook = config.hook
        return session_words(*(offered(name, getattr(hook, name)) for name in UNUSABLE))
    except UsageFault as fault:
        secrets = Secrets.suspected(settings.suites, settings.environ)
        raise UsageFault(fault.code, secrets.redact_cut(fault.message)) from fault


def _refuse_each(config: pytest.Config) -> None:
    if config.pluginmanager.hasplugin("dsession") and config.getoption("dist", "no") == "each":
        raise UsageFault("dist-each", "--dist each would ask every clip once per worker; use --dist load")
