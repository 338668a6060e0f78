"""Suites under pytest-xdist: workers ask, the controller audits before the first clip and judges after the last.

A worker's collection ends with its audits, recounts and gates. The proxy passes the scheduler only what stands before
them, so indices do not shift; the ids it holds back already reflect `-k`, `-m`, `--deselect` and `--lf`. The controller
collects those ids itself and runs the ordinary protocol on them.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_speval.plugin.campaign import Campaign
from pytest_speval.plugin.collect import WITHOUT_CLIPS
from pytest_speval.plugin.redaction import redacted_streams
from pytest_speval.plugin.subject import Subject

HELD = ("audit", "verify", "gate")
"""Kinds of items that run on the controller."""
CHUNK = 8
"""Items sent to a worker at once, unless the user says otherwise: a stop does not wait for long queues."""


class Distribution:
    """The controller's side of a distributed session."""

    def __init__(self, config: pytest.Config, campaign: Campaign) -> None:
        self._config = config
        self._campaign = campaign
        self._orders = Path(tempfile.mkdtemp(prefix="speval-"))
        self._collection: list[str] = []
        self._started = False
        self._broken = False
        self.subjects: list[Subject] = []

    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker where orders lie and which gates there are."""
        gates: dict[str, list[str]] = {}
        for rule in self._campaign.gates:
            gates.setdefault(rule.suite, []).append(rule.id)
        node.workerinput["speval"] = {"orders": str(self._orders), "gates": gates}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note that a collection failed anywhere."""
        self._broken = self._broken or bool(report.failed)

    @pytest.hookimpl(wrapper=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config) -> Generator[None, Any, Any]:
        """Put the proxy before whatever scheduler was chosen."""
        if config.getoption("maxschedchunk", None) is None:
            config.option.maxschedchunk = CHUNK
        return SchedulerProxy((yield), self)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Judge the gates once every worker has ended, before anyone sums up the loop."""
        result = yield
        self._run(session, [*self._ids("verify"), *self._ids("gate")])
        return result

    def pytest_unconfigure(self) -> None:
        """Take the orders away."""
        shutil.rmtree(self._orders, ignore_errors=True)

    def end_workers(self) -> None:
        """End workers that still ask: what they write after the judging would not be in the receipt.

        An interrupt that reaches this process alone leaves them at work; xdist ends them only after our own ending.
        """
        manager = getattr(self._config.pluginmanager.getplugin("dsession"), "nodemanager", None)
        if manager is not None:
            manager.teardown_nodes()

    def hold_back(self, collection: Sequence[str]) -> list[str]:
        """Remember a worker's collection; returns what the workers are to run."""
        self._collection = list(collection)
        ends = [place for place, node in enumerate(collection) if _kind(node) in HELD and self._ours(node)]
        return list(collection[: ends[0]] if ends else collection)

    def start(self, dsession: Any) -> None:
        """Once, before anything is sent: stop on collection errors, else audit and leave orders for the workers."""
        if self._started:
            return
        self._started = True
        if self._broken and not self._config.getoption("continue_on_collection_errors"):
            dsession.shouldstop = "errors during collection"
            return
        session = dsession._session
        self.subjects = self._asked_subjects()
        self._run(session, self._ids("audit"))
        with redacted_streams(self._campaign.secrets):  # an adapter whose audits were not selected starts here
            for subject in self.subjects:
                self._campaign.run(subject).orders().write(self._campaign.orders_path(subject, self._orders))
        if session.shouldfail:
            dsession.shouldstop = session.shouldfail

    def _ids(self, kind: str) -> list[str]:
        return [node for node in self._collection if _kind(node) == kind and self._ours(node)]

    def _ours(self, node: str) -> bool:
        return self._config.rootpath / node.partition("::")[0] in self._campaign.settings.suites

    def _asked_subjects(self) -> list[Subject]:
        """The subjects that any selected item of any worker belongs to."""
        asked = {tuple(node.partition("[")[0].split("::")[:-1]) for node in self._collection if self._ours(node)}
        found = []
        for path in self._campaign.settings.suites:
            shown = self._campaign.shown(path)
            if any(head[0] == shown for head in asked):
                found += [subject for subject in self._campaign.subjects(path)
                          if (shown, *([] if subject.title is None else [subject.title])) in asked]  # fmt: skip
        return found

    def _run(self, session: pytest.Session, ids: Sequence[str]) -> None:
        """Collect these ids here and run them as any item is run."""
        if not ids:
            return
        items = self._collect(session, [f"{self._config.rootpath / node}" for node in ids])
        for place, item in enumerate(items):
            following = items[place + 1] if place + 1 < len(items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)

    def _collect(self, session: pytest.Session, ids: list[str]) -> list[pytest.Item]:
        """Collect ids without their suites' clips, unseen: neither the count nor the screen may change."""
        option = self._config.option
        collected, verbose = session.testscollected, option.verbose
        self._config.stash[WITHOUT_CLIPS], option.verbose = True, -1
        try:
            return list(session.perform_collect(ids))
        finally:
            del self._config.stash[WITHOUT_CLIPS]
            session.testscollected, option.verbose = collected, verbose


class SchedulerProxy:
    """A scheduler that never hears of audits and gates."""

    def __init__(self, inner: Any, distribution: Distribution) -> None:
        self._inner = inner
        self._distribution = distribution

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        """Pass on the ids before the first audit or gate."""
        self._inner.add_node_collection(node, self._distribution.hold_back(collection))

    def schedule(self) -> None:
        """Audit, then let the inner scheduler send the first clips."""
        self._distribution.start(self._inner.config.pluginmanager.getplugin("dsession"))
        self._inner.schedule()


def _kind(node: str) -> str:
    return node.partition("[")[0].rpartition("::")[2]
