"""The course of one run: audits, plan, folder, endings, judgement, reports.

A `Run` is held by the process that judges. Where its answers come from is the matter of its two kinds: `live` asks a
model, `replay` reads stored evidence. From the run folder on, both are the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

import orjson

from pytest_speval.audit.finding import Audit
from pytest_speval.corpus.collector import collector_paused
from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.baseline import keep_baselines, kept_baselines
from pytest_speval.evidence.ending import Ending, check_arrays, endings_of
from pytest_speval.evidence.folder import RunFolder, write_whole
from pytest_speval.evidence.partner import Partner, keep_partners
from pytest_speval.evidence.plan import Plan
from pytest_speval.evidence.receipt import SigningKey, write_receipt
from pytest_speval.judge.bench import Bench
from pytest_speval.judge.judgement import judge
from pytest_speval.judge.kept_arrays import array_checks
from pytest_speval.judge.result import Result
from pytest_speval.plugin.subject import Subject
from pytest_speval.reports.document import Times, out_document
from pytest_speval.reports.files import result_files
from pytest_speval.reports.summary import Entry


@dataclass(frozen=True, slots=True)
class Orders:
    """What a worker must know of a run: its folder, why its clips may not be asked, if so, and what the audit found.

    The audit's findings are those of `Question`, by place; digests are those of the audited files. `manifest` is the
    digest of the manifest that the places count in. `asked` are the places of a shard, None for all; `again` those
    whose earlier call never came back and may be made once more. `purse` is a `Purse` as plain data, None where no
    call is paid. `room` is how many bytes each clip's arrays may take, None where nothing limits them.
    """

    folder: str
    blocked: str | None
    manifest: str = ""
    excluded: Mapping[int, str] = field(default_factory=dict)
    condemned: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    abstains: tuple[int, ...] = ()
    bytes_sha256: Sequence[str | None] = ()
    heard: bool = False
    recorded: bool = False
    asked: tuple[int, ...] | None = None
    again: Mapping[int, int] = field(default_factory=dict)
    purse: Mapping[str, Any] | None = None
    room: Mapping[int, int] | None = None

    def write(self, path: Path) -> None:
        """Leave the orders for workers; they appear whole."""
        write_whole(path, orjson.dumps(self, option=orjson.OPT_NON_STR_KEYS))

    @classmethod
    def read(cls, path: Path) -> Orders:
        """The orders that the controller left."""
        told = orjson.loads(path.read_bytes())
        told["excluded"] = {int(place): reason for place, reason in told["excluded"].items()}
        told["condemned"] = {int(place): tuple(finding) for place, finding in told["condemned"].items()}
        told["again"] = {int(place): attempt for place, attempt in told["again"].items()}
        told["room"] = None if told["room"] is None else {int(place): most for place, most in told["room"].items()}
        told["asked"] = None if told["asked"] is None else tuple(told["asked"])
        return cls(**told)


class Run(ABC):
    """One subject in the process that judges it."""

    def __init__(self, subject: Subject, out: Path) -> None:
        self.subject = subject
        self.out = out
        self.started = datetime.now(UTC)
        self.folder: RunFolder | None = None
        self.entry: Entry | None = None
        self.result: Result | None = None
        self.sign: SigningKey | None = None
        self.partners: Callable[[], Sequence[Partner]] = tuple
        self._clock = 0.0

    @property
    @abstractmethod
    def plan(self) -> Plan | None:
        """What is asked and how it is judged, made once; None where that cannot be said."""

    @property
    @abstractmethod
    def audits(self) -> tuple[Audit, ...]:
        """Every audit, made once."""

    @property
    def origin(self) -> str | None:
        """Where answers come from that are not asked for now: `replayed` or `resumed`."""
        return None

    @property
    def skipped(self) -> str | None:
        """Why the whole suite is passed over, or None."""
        return None

    @property
    def refused(self) -> str | None:
        """Why, beside the audits, no clip may be asked and no gate judged, or None."""
        return None

    @abstractmethod
    def open_folder(self, plan: Plan) -> RunFolder:
        """The run folder, made or taken up again, with the plan in it."""

    @abstractmethod
    def orders(self) -> Orders:
        """What workers must know; begins the run."""

    @abstractmethod
    def ask(self, places: Sequence[int]) -> dict[int, Ending]:
        """The endings of clips by their place; clips that this run is not about have none."""

    def close(self) -> None:  # noqa: B027
        """End whatever was started; a run that starts nothing has nothing to do."""

    def conclude(self) -> None:  # noqa: B027
        """Look once more at what must not have changed meanwhile; stored evidence has nothing that could."""

    @property
    def blocked(self) -> str | None:
        """Why no clip may be asked, or None."""
        failed = next((audit for audit in self.audits if audit.failed), None)
        return self.refused if failed is None else f"audit[{failed.name}] failed: {failed.headline}"

    def begin(self) -> None:
        """Make the run folder and write down what is asked; does nothing the second time."""
        if self.folder is not None or self.plan is None or self.refused is not None:
            return
        self._clock, self.started = monotonic(), datetime.now(UTC)
        folder = self.open_folder(self.plan)
        folder.write_json("plan.json", self.plan.as_dict())
        folder.write_json("audits.json", [audit.as_dict() for audit in self.audits])
        self.subject.locking.copy_to(folder)
        keep_baselines(folder, self.subject.baselines.values())
        self.folder = folder

    def finish(self, *, partial: bool) -> Entry:
        """Judge and report; does so once."""
        if self.entry is None:
            with collector_paused():
                self.entry = self._finish(partial=partial)
        return self.entry

    def _finish(self, *, partial: bool) -> Entry:
        name = self.subject.name
        try:
            self.close()
            if self.skipped is not None:
                return Entry(name, None, "skipped", self.skipped, None)
            if self.plan is None or self.refused is not None:
                return Entry(name, None, "invalid", self.blocked, None, self.origin)
            return self._report(self.plan, partial=partial)
        except EvidenceFault as fault:
            self.result = None
            folder = None if self.folder is None else self._shown(self.folder)
            return Entry(name, folder, "invalid", f"integrity: {fault}", None, self.origin)

    def as_partner(self) -> Partner:
        """How far this run came, for the suites that it belongs together with."""
        name = self.subject.name
        try:
            reason = self.skipped or self.blocked
            if reason is not None or self.plan is None or self.folder is None:
                return Partner(name, reason=reason or "not begun")
            question = self.plan.question
            endings = endings_of(question, self.folder.journal_lines())
            rules = Bench.of(self.plan, self.subject.task, self.started.date()).scoring
            statuses = self.subject.task.read(question, rules, endings).statuses
        except EvidenceFault as fault:
            return Partner(name, reason=f"integrity: {fault}")
        return Partner(name, question.digest, statuses.count("answered"), len(question.planned))

    def _kept_partners(self, folder: RunFolder) -> Sequence[Partner]:
        """The other suites of `run.together`, written down beside the run."""
        if self.subject.suite.keys.run.together is None:
            return ()
        partners = tuple(self.partners())
        keep_partners(folder, partners)
        return partners

    def _shown(self, folder: RunFolder) -> str:
        path = folder.path
        return path.relative_to(self.out).as_posix() if path.is_relative_to(self.out) else str(path)

    def _report(self, plan: Plan, *, partial: bool) -> Entry:
        self.begin()
        assert self.folder is not None
        folder, task = self.folder, self.subject.task
        endings = endings_of(plan.question, folder.journal_lines())
        check_arrays(folder.path, endings)
        self.conclude()
        folder.write_json("audits.json", [audit.as_dict() for audit in self.audits])
        bench = Bench.of(plan, task, self.started.date())
        baselines = kept_baselines(folder, plan.rules)
        partners = self._kept_partners(folder)
        self.result = judge(
            plan,
            task,
            bench,
            endings,
            self.audits,
            partial=partial,
            baselines=baselines,
            partners=partners,
            checks=array_checks(plan.question, task.word, endings, folder.path),
        )
        times = Times(self.started, monotonic() - self._clock)
        document = out_document(self.result, times)
        keyid = None if self.sign is None else self.sign.keyid
        for name, pieces in result_files(self.result, document, times, keyid).items():
            folder.write_pieces(name, pieces)
        write_receipt(folder, plan, self.result.verdict, self.result.told, self.sign)
        verdict, told = self.result.verdict, self.result.told
        return Entry(self.subject.name, self._shown(folder), verdict, told, document, self.origin)
