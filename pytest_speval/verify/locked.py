"""Whether a plan that is said to be frozen before the run really is the one that the lock in the folder seals."""

from __future__ import annotations

from pytest_speval.errors import EvidenceFault, MissingExtra
from pytest_speval.evidence.lock import Lock
from pytest_speval.evidence.store import StoredRun
from pytest_speval.evidence.timestamp import verify_timestamp
from pytest_speval.verify.contents import Contents
from pytest_speval.verify.finding import Finding

CODES = {
    "lock-unproven": "A run says that its plan was frozen or time-stamped, and the files in its folder do not show it.",
    "lock-proven": "The plan of a run is the one in its lock; says whether an authority stamped the lock's time.",
}
LOCK, TOKEN, ROOTS = "lock.json", "lock.tsr", "lock.tsa.pem"


def lock_findings(contents: Contents, run: StoredRun) -> list[Finding]:
    """Nothing where the audits do not speak of a lock, or say that it differs."""
    said = [found.message for audit in run.audits for found in audit.findings if found.code == "locked"]
    if not said:
        return []
    try:
        told = _proven(contents, run, stamped=any("; time-stamped" in message for message in said))
    except EvidenceFault as fault:
        return [Finding("error", "lock-unproven", fault.message, LOCK)]
    return [Finding("notice", "lock-proven", told, LOCK)]


def _proven(contents: Contents, run: StoredRun, *, stamped: bool) -> str:
    """What lock, token and certificates show; raises `EvidenceFault` where that is less than what was said."""
    if LOCK not in contents.files:
        raise EvidenceFault("lock-unproven", "the audits speak of a lock, and there is none")
    sealed = Lock.read(contents.files[LOCK]).titled(run.plan.title)
    if sealed is None or sealed.plan_sha256 != run.plan.digest:
        raise EvidenceFault("lock-unproven", "the audits say that the plan was frozen, and the lock seals another")
    if TOKEN not in contents.files:
        if stamped:
            raise EvidenceFault("lock-unproven", "the audits speak of a time stamp, and there is none")
        return "seals this plan; not independently time-stamped"
    try:
        roots = contents.text(ROOTS) if ROOTS in contents.files else None
        stamp = verify_timestamp(contents.text(LOCK), contents.text(TOKEN), roots)
    except MissingExtra as fault:
        return f"seals this plan; its time stamp was not checked: {fault.message}"
    return f"seals this plan; time-stamped {stamp.time.isoformat()} by {stamp.authority}, trusted through {ROOTS}"
