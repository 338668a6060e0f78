"""The lock beside a suite: what was frozen before a run, and whether an authority has stamped its time."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from pytest_speval.audit.finding import Audit, Finding
from pytest_speval.errors import EvidenceFault, MissingExtra
from pytest_speval.evidence.folder import RunFolder, write_whole
from pytest_speval.evidence.lock import Lock
from pytest_speval.evidence.plan import Plan
from pytest_speval.evidence.timestamp import verify_timestamp

CODES = {
    "lock-missing": "A suite that must be locked has no lock.",
    "lock-differs": "The plan is not the one that was frozen.",
    "lock-title": "The lock knows no adapter of this name.",
    "locked": "The plan is the one that was frozen; says whether its time is stamped independently.",
}
NAMES = ("lock.json", "lock.tsr", "lock.tsa.pem")
"""The lock, the token over it, and the root certificates of the authority; beside a suite they begin with its stem."""
Status = Literal["design", "frozen", "executed"]


@dataclass(frozen=True, slots=True)
class Locking:
    """The lock files of one suite, whether they are there or not."""

    lock: Path
    token: Path
    roots: Path

    @classmethod
    def of(cls, suite: Path) -> Self:
        """The files beside a suite's."""
        return cls(*(suite.with_name(f"{suite.stem}.{name}") for name in NAMES))

    @property
    def exists(self) -> bool:
        """Say whether the suite was ever frozen."""
        return os.path.lexists(self.lock)  # a link that leads nowhere is no suite without a lock

    def audit(self, plan: Plan, *, required: bool) -> Audit | None:
        """Hold a plan against the lock; None where there is none and none is required."""
        if not self.exists and not required:
            return None
        try:
            return Audit("lock", tuple(self._findings(plan)))
        except (EvidenceFault, MissingExtra) as fault:
            return Audit("lock", (Finding("error", fault.code, fault.message),))

    def _findings(self, plan: Plan) -> list[Finding]:
        if not self.exists:
            message = f"run.locked is set and there is no {self.lock.name}: `speval freeze {plan.suite}` writes it"
            return [Finding("error", "lock-missing", message)]
        sealed = Lock.read(self.lock).titled(plan.title)
        if sealed is None:
            return [Finding("error", "lock-title", f"{self.lock.name} holds no plan of {plan.subject}")]
        if sealed.plan_sha256 == plan.digest:
            return [Finding("notice", "locked", f"the plan was frozen in {self.lock.name}; {self._stamped()}")]
        return [Finding("error", "lock-differs", found) for found in sealed.differences(plan)]

    def _stamped(self) -> str:
        if not self.token.exists():
            return "not independently time-stamped"
        roots = self.roots.read_bytes() if self.roots.exists() else None
        stamp = verify_timestamp(self.lock.read_bytes(), self.token.read_bytes(), roots)
        return f"time-stamped {stamp.time.isoformat()} by {stamp.authority}, trusted through {self.roots.name}"

    def copy_to(self, folder: RunFolder) -> None:
        """Make the lock part of a run's evidence."""
        for name, path in zip(NAMES, (self.lock, self.token, self.roots), strict=True):
            if path.exists():
                write_whole(folder.path / name, path.read_bytes())

    def status(self, suite: str, out: Path) -> Status:
        """What the files say: `frozen` with a lock, `executed` once a finished run of it lies below the output."""
        if not self.exists:
            return "design"
        sealed = {entry.plan_sha256 for entry in Lock.read(self.lock).entries}
        finished = (path.with_name("plan.json") for path in (out / suite).glob("*/receipt.json"))
        digests = (f'"planSha256":"{digest}"'.encode() for digest in sealed)
        wanted = tuple(digests)
        ran = any(path.is_file() and any(one in path.read_bytes() for one in wanted) for path in finished)
        return "executed" if ran else "frozen"
