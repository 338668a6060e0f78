"""A run that asks a model: in this process, or in workers that `join` it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from pytest_speval.adapters.base import tamed
from pytest_speval.audit.finding import Audit, Finding
from pytest_speval.audit.fit import files_now
from pytest_speval.audit.storage import Storage, storage
from pytest_speval.corpus.staging import Staged, Unstaged
from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.arrays import FOLDER
from pytest_speval.evidence.ending import Ending, check_arrays, endings_of
from pytest_speval.evidence.folder import RunFolder
from pytest_speval.evidence.hold import Hold
from pytest_speval.evidence.journal import set_aside
from pytest_speval.evidence.plan import Plan
from pytest_speval.evidence.purse import Purse
from pytest_speval.evidence.receipt import withdraw_receipt
from pytest_speval.evidence.shard import Shard
from pytest_speval.evidence.store import StoredRun, again, another_question, known_endings
from pytest_speval.plugin.asking import Asking
from pytest_speval.plugin.paying import Bill, purse_record
from pytest_speval.plugin.preparation import Prepared, prepare
from pytest_speval.plugin.run import Orders, Run
from pytest_speval.plugin.subject import Subject
from pytest_speval.reports.summary import Entry

CODES = {
    "interrupted": "The audits of a suite were interrupted.",
    "model-changed": "A file of the model changed while its clips were asked.",
    "question-differs": "Stored evidence answers another question than the one that is asked now.",
}
FINGERPRINTS = ".fingerprints"
"""The folder beside the ledger that keeps what was heard of sound that clips are held against."""


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
        *,
        ledger: Path,
        authorised: bool = False,
        release: bool = False,
    ) -> None:
        super().__init__(subject, out)
        self._ledger = ledger
        self._authorised = authorised
        self._release = release
        self._afterwards: tuple[Audit, ...] = ()
        self.staged = staged
        self._environ = environ
        self._shard = shard
        self._resumed = resumed
        self._asking: Asking | None = None
        self._hold: Hold | None = None
        self._begun = False
        self._prepared: Prepared | None = None

    @property
    def origin(self) -> str | None:
        return None if self._resumed is None else "resumed"

    @property
    def prepared(self) -> Prepared | None:
        """The audited plan, made once; None where the corpus is not there, or an interrupt came between."""
        if not self._begun and isinstance(self.staged, Staged):
            self._begun = True
            store = self._ledger.parent / FINGERPRINTS
            self._prepared = prepare(self.subject, self.staged, self._environ, store)
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
            return (*self.prepared.audits, *self._own_audits, *self._afterwards)
        code, message = "interrupted", "the audits were interrupted"
        if isinstance(self.staged, Unstaged):
            code, message = self.staged.code, self.staged.message
        return (Audit("corpus", (Finding("error", code, message),)), Audit("adapter", ()))

    @cached_property
    def _own_audits(self) -> tuple[Audit, ...]:
        """What is audited once the plan is known: the lock, and whether clips may be paid for and arrays be kept."""
        assert self.prepared is not None
        required = self.subject.suite.keys.run.locked
        lock = self.subject.locking.audit(self.prepared.plan, required=required)
        budget = None if self._bill is None else self._bill.before(self._left(), self._resumed)
        stored = None if self._storage is None else self._storage.audit
        return tuple(audit.redacted(self.subject.secrets) for audit in (lock, budget, stored) if audit is not None)

    @cached_property
    def _storage(self) -> Storage | None:
        """What the arrays of this run may take, None where nothing limits them or the adapter is not fit to say."""
        prepared, most = self.prepared, self.subject.suite.keys.run.max_bytes
        if most is None or prepared is None or any(audit.failed for audit in prepared.audits):
            return None
        return storage(prepared.plan.question, prepared.adapter, most)

    @property
    def _room(self) -> Mapping[int, int] | None:
        return None if self._storage is None else self._storage.room

    @cached_property
    def _bill(self) -> Bill | None:
        """What the calls of this run cost, None where they cost nothing."""
        prepared, keys = self.prepared, self.subject.suite.keys.run
        if prepared is None or prepared.adapter is None:
            return None
        return Bill.of(prepared.plan.question, self.subject.name, prepared.adapter, keys.budget, self._ledger)

    @cached_property
    def _needs_authority(self) -> bool:
        """Say whether asking costs money, and nobody has given the go-ahead."""
        if self._authorised or not isinstance(self.staged, Staged):
            return False
        try:
            return bool(getattr(self.subject.build(self._environ), "billable", False))
        except BaseException as error:
            tamed(error)
            return False  # what is wrong with the adapter is the audit's to tell

    def _left(self) -> dict[int, int]:
        """Place of each clip that this session would ask -> the number of that attempt."""
        assert self.plan is not None
        question, shard = self.plan.question, self.plan.shard
        left = dict.fromkeys(question.planned if shard is None else Shard(*shard).places(question), 1)
        if self._resumed is None or self.refused is not None:
            return left
        with suppress(EvidenceFault):  # what is wrong with the journals is told when they are taken up
            known = known_endings(question, RunFolder(self._resumed))
            repeated = again(question, known)
            left = {place: repeated.get(place, 1) for place in left if place not in known or place in repeated}
        return left

    def conclude(self) -> None:
        """Hash the adapter's files once more: they must be those that the question names."""
        if self.prepared is None or self.folder is None or self.blocked is not None:
            return
        found = []
        before = self.prepared.plan.question.adapter["identity"]["files"]
        after = files_now(self.prepared.adapter)
        changed = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]
        if changed:
            message = f"{', '.join(sorted(changed))} changed while clips were asked"
            found.append(Audit("files", (Finding("error", "model-changed", message),)))
        owed = None if self._bill is None else self._bill.after(self._run_name, self.folder.journal_lines())
        self._afterwards = tuple(found if owed is None else [*found, owed])

    @property
    def _run_name(self) -> str:
        """How the ledger knows this run: by its place, so that a copy elsewhere is another run."""
        assert self.folder is not None
        return str(self.folder.path.resolve())

    def _purse(self) -> Purse | None:
        return None if self._bill is None else self._bill.purse(self._run_name)

    @property
    def skipped(self) -> str | None:
        if self._needs_authority:
            return None if self._release else self._unauthorised
        required = self.subject.suite.keys.required or self._release
        if isinstance(self.staged, Staged) or self.staged.code != "not-staged" or required:
            return None
        return self.staged.message

    @property
    def _unauthorised(self) -> str:
        return f"not authorised: it costs money to ask; --speval-spend {self.subject.suite.name} is the go-ahead"

    @property
    def refused(self) -> str | None:
        if self._needs_authority:
            return self._unauthorised
        earlier = self._earlier
        if earlier is None or self.prepared is None:
            return None
        if isinstance(earlier, EvidenceFault):
            return f"integrity: {earlier}"
        if self._release and earlier.shard is not None:
            return f"{earlier.folder.name} is about shard {earlier.shard}, and --speval-release asks for a verdict"
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
        withdraw_receipt(folder)
        for journal in folder.journal_files():
            set_aside(journal)
        if (folder.path / FOLDER).is_dir() and not plan.question.once:
            endings = endings_of(plan.question, folder.journal_lines())
            folder.sweep_arrays({record.file for ending in endings for record in (ending.arrays or {}).values()})
        return folder

    def orders(self) -> Orders:
        if self.skipped is not None:
            return Orders("", self.skipped)
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
            purse_record(self._purse()),
            self._room,
        )

    def _known(self) -> dict[int, Ending]:
        """How clips ended before this session, where it goes on with a run."""
        if self._resumed is None or self.folder is None or self.plan is None:
            return {}
        known = known_endings(self.plan.question, self.folder)
        check_arrays(self.folder.path, known.values())
        return known

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
                timeout=self.subject.suite.keys.run.timeout,
                secrets=self.subject.secrets,
                purse=self._purse(),
                room=self._room,
            )
            self._asking.remember(known, again(question, known))
        return self._asking.ask(places)

    def close(self) -> None:
        asking, self._asking = self._asking, None
        if asking is not None:
            asking.close()

    def finish(self, *, partial: bool) -> Entry:
        entry = super().finish(partial=partial)
        if self._hold is not None:
            self._hold.release()
            self._hold = None
        return entry
