"""`speval freeze` and `speval plan`: what would be asked, written down or shown before anything is asked."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_speval.adapters.base import close
from pytest_speval.audit.budget import bounds, budget_lines
from pytest_speval.errors import EvidenceFault, UsageFault
from pytest_speval.evidence.folder import write_whole
from pytest_speval.evidence.ledger import Ledger
from pytest_speval.evidence.lock import Lock
from pytest_speval.plugin.campaign import Campaign
from pytest_speval.plugin.live import LiveRun
from pytest_speval.plugin.subject import Subject
from pytest_speval.suite.keys import Budget

CODES = {
    "freeze-refused": "A suite cannot be frozen: an audit fails, or its lock holds another plan.",
}
FAULTY = 1


def freeze(campaign: Campaign, subjects: Sequence[Subject]) -> int:
    """Write the lock of one suite; returns 0, or 1 where an audit fails.

    Raises `UsageFault` where the lock exists and holds another plan: what is frozen is not overwritten.
    """
    plans = []
    for subject in subjects:
        run = _run(campaign, subject)
        prepared = run.prepared
        failed = [audit for audit in run.audits if audit.failed and audit.name != "lock"]
        if prepared is None or failed:
            for audit in failed:
                _say("\n".join([f"audit[{audit.name}] of {subject.name}: FAIL", *map(str, audit.findings)]))
            return FAULTY
        close(prepared.adapter)
        plans.append((subject.title, prepared.plan))
    suite = subjects[0].suite
    locking, lock = subjects[0].locking, Lock.of(suite.name, plans)
    if locking.exists and locking.lock.read_bytes() != lock.as_bytes():
        known = Lock.read(locking.lock)
        found = [what for title, plan in plans if (one := known.titled(title)) for what in one.differences(plan)]
        message = f"{_shown(locking.lock)} holds another plan: {found[0] if found else 'other adapters'}"
        raise UsageFault("freeze-refused", f"{message}; remove it to freeze anew")
    write_whole(locking.lock, lock.as_bytes())
    for title, plan in plans:
        who = suite.name if title is None else f"{suite.name}[{title}]"
        _say(f"{who}: frozen, plan {plan.digest}")
    _say(f"lock: {_shown(locking.lock)}")
    _say(f"an authority's RFC 3161 token over it goes to {_shown(locking.token)}, its root to {_shown(locking.roots)}")
    return 0


def show_plan(campaign: Campaign, subjects: Sequence[Subject]) -> int:
    """Print what one suite would ask, and what that may cost at most; returns 0, or 1 where an audit fails."""
    status = 0
    for subject in subjects:
        run = _run(campaign, subject)
        if run.prepared is not None:
            for line in _plan_lines(campaign, subject, run):
                _say(line)
            close(run.prepared.adapter)
        for audit in run.audits:
            _say(f"audit[{audit.name}]: {'FAIL' if audit.failed else 'pass'}: {audit.headline}")
            status = FAULTY if audit.failed else status
    return status


def _run(campaign: Campaign, subject: Subject) -> LiveRun:
    """A run that is only looked at."""
    settings = campaign.settings
    return LiveRun(subject, campaign.staged(subject), settings.out, settings.environ, ledger=settings.ledger)


def _plan_lines(campaign: Campaign, subject: Subject, run: LiveRun) -> list[str]:
    assert run.prepared is not None
    plan, adapter = run.prepared.plan, run.prepared.adapter
    question = plan.question
    counts = f"{len(question.ids):,} listed, {len(question.planned):,} planned"
    try:
        status: str = subject.locking.status(subject.suite.name, campaign.settings.out)
    except EvidenceFault as fault:
        status = f"unclear: {fault}"
    once = "once, for ever" if question.once else "once in a run"
    lines = [
        f"suite: {subject.name} ({question.task}), {question.adapter['name']}",
        f"status: {status}",
        f"clips: {counts}; each is asked {once}",
        f"question: {question.digest}",
        f"plan: {plan.digest}",
    ]
    budget = subject.suite.keys.run.budget
    if adapter is None or not (question.adapter["billable"] or budget):
        return lines
    held = Ledger(campaign.settings.ledger).spent(question.digest)
    return lines + budget_lines(bounds(question, adapter), budget or Budget(), held)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _shown(path: Path) -> str:
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else str(path)
