"""The course of one run: audits, plan, calls, judgement, reports.

The process that collects the results (the controller) holds a `Run`; it may ask the clips itself. A worker `joins` a
run that the controller has begun.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

import orjson

from pytest_speval.adapters.base import warm_up
from pytest_speval.audit.finding import Audit, Finding
from pytest_speval.corpus.collector import collector_paused
from pytest_speval.corpus.staging import Staged, Unstaged, contract
from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.canonical import canonical
from pytest_speval.evidence.ending import UNATTEMPTED, Ending, endings_of
from pytest_speval.evidence.folder import RunFolder, write_whole
from pytest_speval.evidence.plan import Question
from pytest_speval.judge.judgement import judge
from pytest_speval.judge.result import Result
from pytest_speval.plugin.asking import Asking
from pytest_speval.plugin.hearing import Hearing
from pytest_speval.plugin.preparation import Prepared, prepare
from pytest_speval.plugin.subject import Subject
from pytest_speval.reports.document import Times, out_document
from pytest_speval.reports.markdown import markdown_report
from pytest_speval.reports.summary import Entry

CODES = {"interrupted": "The audits of a suite were interrupted."}


@dataclass(frozen=True, slots=True)
class Orders:
    """What a worker must know of a run: its folder, why its clips may not be asked, if so, and what the audit found.

    The audit's findings are those of `Question`, by place; digests are those of the audited files. `manifest` is the
    digest of the manifest that the places count in.
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

    def write(self, path: Path) -> None:
        """Leave the orders for workers; they appear whole."""
        write_whole(path, orjson.dumps(self, option=orjson.OPT_NON_STR_KEYS))

    @classmethod
    def read(cls, path: Path) -> Orders:
        """The orders that the controller left."""
        told = orjson.loads(path.read_bytes())
        told["excluded"] = {int(place): reason for place, reason in told["excluded"].items()}
        told["condemned"] = {int(place): tuple(finding) for place, finding in told["condemned"].items()}
        return cls(**told)


class Run:
    """One subject in the process that judges it."""

    def __init__(self, subject: Subject, staged: Staged | Unstaged, out: Path, environ: Mapping[str, str]) -> None:
        self.subject = subject
        self.staged = staged
        self._out = out
        self._environ = environ
        self._asking: Asking | None = None
        self._begun = False
        self._prepared: Prepared | None = None
        self._clock = 0.0
        self.started = datetime.now(UTC)
        self.folder: RunFolder | None = None
        self.entry: Entry | None = None
        self.result: Result | None = None

    @property
    def prepared(self) -> Prepared | None:
        """The audited plan, made once; None where the corpus is not there, or an interrupt came between."""
        if not self._begun and isinstance(self.staged, Staged):
            self._begun = True
            self._prepared = prepare(self.subject, self.staged, self._environ)
        return self._prepared

    @property
    def audits(self) -> tuple[Audit, ...]:
        """Every audit, made once."""
        if self.prepared is not None:
            return self.prepared.audits
        code, message = "interrupted", "the audits were interrupted"
        if isinstance(self.staged, Unstaged):
            code, message = self.staged.code, self.staged.message
        return (Audit("corpus", (Finding("error", code, message),)), Audit("adapter", ()))

    @property
    def skipped(self) -> str | None:
        """Why the whole suite is passed over, or None."""
        if isinstance(self.staged, Staged) or self.staged.code != "not-staged" or self.subject.suite.keys.required:
            return None
        return self.staged.message

    @property
    def blocked(self) -> str | None:
        """Why no clip may be asked, or None."""
        failed = next((audit for audit in self.audits if audit.failed), None)
        return None if failed is None else f"audit[{failed.name}] failed: {failed.headline}"

    def begin(self) -> None:
        """Make the run folder and write down what is asked; does nothing the second time."""
        if self.folder is not None or self.prepared is None:
            return
        self._clock, self.started = monotonic(), datetime.now(UTC)
        plan = self.prepared.plan
        self.folder = RunFolder.create(self._out, plan.suite, self.started, plan.question.digest)
        self.folder.write_json("plan.json", plan.as_dict())
        self.folder.write_json("audits.json", [audit.as_dict() for audit in self.audits])

    def orders(self) -> Orders:
        """What workers must know; begins the run."""
        try:
            self.begin()
        except EvidenceFault as fault:
            return Orders("", str(fault))
        if self.prepared is None or self.folder is None or not isinstance(self.staged, Staged):
            return Orders("", self.blocked)
        question = self.prepared.plan.question
        return Orders(
            str(self.folder.path),
            self.blocked,
            self.staged.clips.manifest_sha256,
            {place: reason for place, reason in enumerate(question.excluded) if reason is not None},
            question.condemned,
            tuple(sorted(question.abstains)),
            question.bytes_sha256,
            question.audio is not None,
            bool(question.adapter["recorded"]),
        )

    def ask(self, places: Sequence[int]) -> dict[int, Ending]:
        """Ask clips in this process."""
        if self._asking is None:
            self.begin()
            assert self.prepared is not None
            assert self.folder is not None
            prepared = self.prepared
            journal = self.folder.journals / "main.jsonl"
            self._asking = Asking(
                prepared.plan.question, self.subject.task, prepared.adapter, prepared.hearing, journal, prepared.facts
            )
        return self._asking.ask(places)

    def finish(self, *, partial: bool) -> Entry:
        """Judge and report; does so once."""
        if self.entry is None:
            if self._asking is not None:
                self._asking.close()
            with collector_paused():
                self.entry = self._finish(partial=partial)
        return self.entry

    def _finish(self, *, partial: bool) -> Entry:
        name = self.subject.name
        if self.skipped is not None:
            return Entry(name, None, "skipped", self.skipped, None)
        if self.prepared is None:
            return Entry(name, None, "invalid", self.blocked, None)
        try:
            return self._report(self.prepared, partial=partial)
        except EvidenceFault as fault:
            self.result = None
            folder = None if self.folder is None else self._shown(self.folder)
            return Entry(name, folder, "invalid", f"integrity: {fault}", None)

    def _shown(self, folder: RunFolder) -> str:
        return folder.path.relative_to(self._out).as_posix()

    def _report(self, prepared: Prepared, *, partial: bool) -> Entry:
        self.begin()
        assert self.folder is not None
        folder = self.folder
        endings = endings_of(prepared.plan.question, folder.journal_lines())
        bench = self.subject.bench(self.started.date())
        self.result = judge(prepared.plan, self.subject.task, bench, endings, self.audits, partial=partial)
        times = Times(self.started, monotonic() - self._clock)
        document = out_document(self.result, times)
        folder.write_lines("clips.jsonl", (canonical(row.as_dict()) for row in self.result.rows))
        folder.write_json("out.json", document)
        folder.write_text("report.md", markdown_report(self.result, times))
        return Entry(self.subject.name, self._shown(folder), _verdict(self.result), self.result.invalid, document)


def _verdict(result: Result) -> str:
    if result.partial:
        return "partial"
    if result.invalid:
        return "invalid"
    if not result.verdicts:
        return "no gates"
    return "fail" if result.blocked else "pass"


def join(subject: Subject, staged: Staged, orders: Orders, worker: str, environ: Mapping[str, str]) -> Asking:
    """Enter a run that the controller began: the same clips, an adapter and a journal of this process."""
    clips = staged.clips
    if clips.manifest_sha256 != orders.manifest:
        raise EvidenceFault("manifest-changed", "the manifest is not the one that the controller read")
    question = Question(
        task=subject.task.word.name,
        corpus={},
        adapter={"recorded": orders.recorded},
        splits=clips.splits,
        ids=clips.ids,
        split_given=clips.split_given,
        cells={},
        excluded=[orders.excluded.get(place) for place in range(len(clips))],
        condemned=orders.condemned,
        abstains=frozenset(orders.abstains),
        batch=subject.suite.keys.run.batch,
    )
    folder = RunFolder(Path(orders.folder))
    known = dict(zip(question.planned, endings_of(question, folder.journal_lines()), strict=True))
    adapter = subject.build(environ)
    bound = contract(subject.suite.keys.corpus.audio, getattr(adapter, "sample_rate", None)) if orders.heard else None
    hearing = Hearing(staged.root, clips.audio, bound, orders.bytes_sha256)
    facts = warm_up(adapter)
    asking = Asking(question, subject.task, adapter, hearing, folder.journals / f"{worker}.jsonl", facts)
    asking.remember({place: ending for place, ending in known.items() if ending is not UNATTEMPTED})
    return asking
