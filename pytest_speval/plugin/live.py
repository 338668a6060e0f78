"""A run that asks a model: in this process, or in workers that `join` it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from pytest_speval.adapters.base import warm_up
from pytest_speval.audit.finding import Audit, Finding
from pytest_speval.corpus.staging import Staged, Unstaged, contract
from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.difference import differences
from pytest_speval.evidence.ending import UNATTEMPTED, Ending, endings_of
from pytest_speval.evidence.folder import RunFolder
from pytest_speval.evidence.hold import Hold
from pytest_speval.evidence.journal import set_aside
from pytest_speval.evidence.plan import Plan, Question
from pytest_speval.evidence.shard import Shard
from pytest_speval.evidence.store import StoredRun
from pytest_speval.plugin.asking import Asking
from pytest_speval.plugin.hearing import Hearing
from pytest_speval.plugin.preparation import Prepared, prepare
from pytest_speval.plugin.run import Orders, Run
from pytest_speval.plugin.subject import Subject
from pytest_speval.reports.summary import Entry

CODES = {
    "interrupted": "The audits of a suite were interrupted.",
    "question-differs": "Stored evidence answers another question than the one that is asked now.",
}


class LiveRun(Run):
    """A run whose answers come from an adapter; `resumed` is a folder that it goes on with."""

    def __init__(
        self,
        subject: Subject,
        staged: Staged | Unstaged,
        out: Path,
        environ: Mapping[str, str],
        shard: Shard | None = None,
        resumed: Path | None = None,
    ) -> None:
        super().__init__(subject, out)
        self.staged = staged
        self._environ = environ
        self._shard = shard
        self._resumed = resumed
        self._asking: Asking | None = None
        self._hold: Hold | None = None
        self._begun = False
        self._prepared: Prepared | None = None

    @property
    def prepared(self) -> Prepared | None:
        """The audited plan, made once; None where the corpus is not there, or an interrupt came between."""
        if not self._begun and isinstance(self.staged, Staged):
            self._begun = True
            self._prepared = prepare(self.subject, self.staged, self._environ)
        return self._prepared

    @cached_property
    def _earlier(self) -> StoredRun | EvidenceFault | None:
        """The run to go on with, or why that cannot be."""
        try:
            return None if self._resumed is None else StoredRun.read(self._resumed)
        except EvidenceFault as fault:
            return fault

    @property
    def plan(self) -> Plan | None:
        if self.prepared is None:
            return None
        plan, earlier = self.prepared.plan, self._earlier
        return (
            plan.after(earlier.plan)
            if isinstance(earlier, StoredRun)
            else plan.of_shard(None if self._shard is None else (self._shard.number, self._shard.of))
        )

    @property
    def audits(self) -> tuple[Audit, ...]:
        if self.prepared is not None:
            return self.prepared.audits
        code, message = "interrupted", "the audits were interrupted"
        if isinstance(self.staged, Unstaged):
            code, message = self.staged.code, self.staged.message
        return (Audit("corpus", (Finding("error", code, message),)), Audit("adapter", ()))

    @property
    def skipped(self) -> str | None:
        if isinstance(self.staged, Staged) or self.staged.code != "not-staged" or self.subject.suite.keys.required:
            return None
        return self.staged.message

    @property
    def refused(self) -> str | None:
        earlier = self._earlier
        if earlier is None or self.prepared is None:
            return None
        if isinstance(earlier, EvidenceFault):
            return f"integrity: {earlier}"
        if self._shard is not None and self._shard != earlier.shard:
            return f"{earlier.folder.name} is about {earlier.shard or 'all clips'}, not about shard {self._shard}"
        return another_question(earlier.plan.question, self.prepared.plan.question, earlier.folder.name)

    def open_folder(self, plan: Plan) -> RunFolder:
        if self._resumed is None:
            folder = RunFolder.create(self.out, plan.suite, self.started, plan.question.digest)
            self._hold = Hold.take(folder.path, str(folder.path))
            return folder
        folder = RunFolder(self._resumed)
        self._hold = Hold.take(folder.path, str(folder.path))
        for journal in folder.journal_files():
            set_aside(journal)
        return folder

    def orders(self) -> Orders:
        try:
            self.begin()
            known = self._known()
        except EvidenceFault as fault:
            return Orders("", str(fault))
        plan = self.plan
        if plan is None or self.folder is None or not isinstance(self.staged, Staged):
            return Orders("", self.blocked)
        question = plan.question
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
            None if plan.shard is None else tuple(sorted(Shard(*plan.shard).places(question))),
            again(question, known),
        )

    def _known(self) -> dict[int, Ending]:
        """How clips ended before this session, where it goes on with a run."""
        if self._resumed is None or self.folder is None or self.plan is None:
            return {}
        return known_endings(self.plan.question, self.folder)

    def ask(self, places: Sequence[int]) -> dict[int, Ending]:
        if self._asking is None:
            self.begin()
            assert self.prepared is not None
            assert self.folder is not None
            assert self.plan is not None
            prepared, question = self.prepared, self.plan.question
            known = self._known()
            shard = self.plan.shard
            self._asking = Asking(
                question,
                self.subject.task,
                prepared.adapter,
                prepared.hearing,
                self.folder.new_journal("main"),
                prepared.facts,
                asked=None if shard is None else Shard(*shard).places(question),
            )
            self._asking.remember(known, again(question, known))
        return self._asking.ask(places)

    def close(self) -> None:
        if self._asking is not None:
            self._asking.close()
            self._asking = None

    def finish(self, *, partial: bool) -> Entry:
        entry = super().finish(partial=partial)
        if self._hold is not None:
            self._hold.release()
            self._hold = None
        return entry


def another_question(stored: Question, asked: Question, where: str) -> str | None:
    """How the question that is asked now differs from the one that was answered, or None."""
    if stored.digest == asked.digest:
        return None
    first, *more = differences(stored.as_dict(), asked.as_dict())
    others = f" (and {len(more)} more)" if more else ""
    return f"{where} answers another question: {first.told('then')}{others} [question-differs]"


def known_endings(question: Question, folder: RunFolder) -> dict[int, Ending]:
    """How the clips of a folder ended that were asked at all, by place."""
    endings = zip(question.planned, endings_of(question, folder.journal_lines()), strict=True)
    return {place: ending for place, ending in endings if ending is not UNATTEMPTED}


def again(question: Question, known: Mapping[int, Ending]) -> dict[int, int]:
    """Place of each clip whose call never came back and may be made once more -> the number of that attempt."""
    if question.once:
        return {}
    return {place: ending.attempts + 1 for place, ending in known.items() if ending.state == "unknown"}


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
    known = known_endings(question, folder)
    adapter = subject.build(environ)
    bound = contract(subject.suite.keys.corpus.audio, getattr(adapter, "sample_rate", None)) if orders.heard else None
    hearing = Hearing(staged.root, clips.audio, bound, orders.bytes_sha256)
    facts = warm_up(adapter)
    asking = Asking(
        question,
        subject.task,
        adapter,
        hearing,
        folder.new_journal(worker),
        facts,
        asked=None if orders.asked is None else frozenset(orders.asked),
    )
    asking.remember(known, orders.again)
    return asking
