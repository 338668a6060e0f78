"""What a run pays for: which calls go through the ledger, and what the ledger says before and after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from pytest_speval.adapters.base import Usage
from pytest_speval.audit.budget import Bounds, audit_budget, bounds
from pytest_speval.audit.caps import NOTHING, overruns
from pytest_speval.audit.finding import Audit, Finding
from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.call import Call, Entry
from pytest_speval.evidence.ledger import Ledger
from pytest_speval.evidence.plan import Question
from pytest_speval.evidence.purse import Purse, call_keys, settle
from pytest_speval.suite.keys import Budget

CODES = {
    "budget-unsettled": "Calls were paid for and never came back; what they cost stays reserved.",
    "budget-exceeded": "Calls cost more than their bounds, and more than a cap of run.budget.",
}


@dataclass(frozen=True)
class Bill:
    """The paid calls of one question: their keys and bounds by place, and the ledger they are written to."""

    question: Question
    suite: str
    budget: Budget | None
    ledger: Ledger
    limits: Bounds

    @classmethod
    def of(cls, question: Question, suite: str, adapter: Any, budget: Budget | None, ledger: Path) -> Bill | None:
        """The bill of a question, or None where its calls cost nothing and may be repeated."""
        paid = question.once or question.adapter["billable"] or budget is not None
        if question.adapter["recorded"] or not paid:
            return None
        return cls(question, suite, budget, Ledger(ledger), bounds(question, adapter))

    @property
    def counted(self) -> bool:
        """Say whether money or a cap is at stake, not only that no clip is asked twice."""
        return self.budget is not None or bool(self.question.adapter["billable"])

    def purse(self, run: str) -> Purse:
        """The payments of a run folder."""
        return Purse(
            self.ledger,
            self.budget or Budget(),
            self.question.digest,
            run,
            self.suite,
            self.question.once,
            call_keys(self.question),
            self.limits.by_place,
        )

    def before(self, left: Mapping[int, int], resumed: Path | None) -> Audit | None:
        """`audit[budget]`: may the clips that are left, each with its attempt, be asked?

        What a resumed run reserved for one of these attempts never left, and is taken up: it does not count twice.
        """
        if not self.counted:
            return Audit("budget", self.limits.findings) if self.limits.findings else None
        try:
            entries = self.ledger.entries(self.question.digest)
        except EvidenceFault as fault:
            return Audit("budget", (Finding("error", fault.code, fault.message),))
        run = None if resumed is None else str(resumed.resolve())
        waiting = {(*self.question.identity(place), attempt) for place, attempt in left.items()}
        counted = (one for one in entries if one.usage or one.call.run != run or _which(one) not in waiting)
        held = reduce(add, (one.usage or one.bound for one in counted), NOTHING)
        return audit_budget(self.limits, self.budget or Budget(), held, left)

    def after(self, run: str, lines: Iterable[Mapping[str, Any]]) -> Audit | None:
        """What is wrong once a run has ended: calls that never came back, caps that were passed; or None.

        `lines` are those of the run's journals: a call whose answer stands there is settled first, where a process
        died before it could.
        """
        if not self.counted:
            return None
        try:
            self._settle(run, lines)
            open_calls = self._unsettled(run)
            spent = self.ledger.spent(self.question.digest)
        except EvidenceFault as fault:
            return Audit("ledger", (Finding("error", fault.code, fault.message),))
        findings = []
        if open_calls:
            clips = tuple(entry.call.clip for entry in open_calls)
            calls = "1 call was" if len(clips) == 1 else f"{len(clips):,} calls were"
            message = f"{calls} paid for and never came back"
            findings.append(Finding("error", "budget-unsettled", message, clips))
        over = overruns(spent, NOTHING, self.budget or Budget(), "the run")
        findings += [Finding("error", "budget-exceeded", sentence) for sentence in over]
        return Audit("ledger", tuple(findings)) if findings else None

    def _unsettled(self, run: str) -> list[Entry]:
        """The calls of a run that nobody knows the end of, also where its folder lay elsewhere and was moved here."""
        return [entry for entry in self.ledger.unsettled(self.question.digest) if _is_of(entry.call.run, run)]

    def _settle(self, run: str, lines: Iterable[Mapping[str, Any]]) -> None:
        """Settle the run's calls that its journals know the end of."""
        waiting: dict[Any, Call] = {_which(entry): entry.call for entry in self._unsettled(run)}
        for line in lines if waiting else ():
            call = waiting.get((line.get("split"), line.get("id"), line.get("attempt", 1)))
            if call is not None and line["event"] in ("returned", "failed"):
                settle(self.ledger, call, line.get("code"), line.get("response"))


def _is_of(reserved: str, run: str) -> bool:
    """Say whether a reservation is a run's: from its folder, or from one of that name that is there no more."""
    then, now = Path(reserved), Path(run)
    return then == now or (then.name == now.name and not then.exists())


def _which(entry: Entry) -> tuple[str, str, int]:
    return entry.call.split, entry.call.id, entry.call.attempt


def purse_record(purse: Purse | None) -> Mapping[str, Any] | None:
    """A purse as plain data, for workers."""
    if purse is None:
        return None
    return {
        "ledger": str(purse.ledger.path),
        "scope": purse.scope,
        "run": purse.run,
        "suite": purse.suite,
        "once": purse.once,
        "keys": purse.keys,
        "bounds": purse.bounds,
    }


def purse_from(record: Mapping[str, Any] | None, budget: Budget | None) -> Purse | None:
    """The purse that a record was made from."""
    if record is None:
        return None
    return Purse(
        Ledger(Path(record["ledger"])),
        budget or Budget(),
        record["scope"],
        record["run"],
        record["suite"],
        record["once"],
        {int(place): key for place, key in record["keys"].items()},
        {int(place): Usage(**bound) for place, bound in record["bounds"].items()},
    )
