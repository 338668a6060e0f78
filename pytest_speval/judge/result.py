"""What a run amounts to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_speval.audit.finding import Audit
from pytest_speval.evidence.plan import Plan
from pytest_speval.gates import Verdict
from pytest_speval.judge.against import Comparison
from pytest_speval.judge.bench import Bench
from pytest_speval.judge.group import CohortResult
from pytest_speval.judge.rows import Rows
from pytest_speval.scoring.counts import Counts
from pytest_speval.scoring.estimate import Estimate
from pytest_speval.suite.gate import GateRule


@dataclass(frozen=True)
class Result:
    """Counts, estimates and verdicts of one run, with the rows they rest on.

    `checks` says by name what a second count finds otherwise, None where it finds the same.
    """

    plan: Plan
    bench: Bench
    audits: tuple[Audit, ...]
    counts: Counts
    estimates: Mapping[str, Estimate]
    verdicts: tuple[Verdict, ...]
    rows: Rows
    published: Mapping[str, Any]
    exclusions: Mapping[str, int]
    refused: str | None
    partial: bool
    cohorts: tuple[CohortResult, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    checks: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Say whether every planned clip was asked."""
        return not self.counts.unattempted

    def comparison(self, rule: GateRule) -> Comparison | None:
        """The comparison that a gate on a baseline is judged by, None where there is none."""
        wanted = rule.against and rule.against.sha256
        return next((one for one in self.comparisons if one.baseline.sha256 == wanted), None)

    @property
    def invalid(self) -> str | None:
        """Why this run gives no verdict, or None."""
        return self.refused or next((v.reason for v in self.verdicts if v.verdict == "invalid"), None)

    @property
    def blocked(self) -> bool:
        """Say whether a gate stops the release."""
        return any(verdict.blocks for verdict in self.verdicts)

    @property
    def verdict(self) -> str:
        """The run in a word: pass, fail, invalid, no gates, partial, or which shard it is about."""
        if self.invalid and not self.partial:
            return "invalid"
        if self.plan.shard is not None:
            return "shard"
        if self.partial:
            return "partial"
        if not self.verdicts:
            return "no gates"
        return "fail" if self.blocked else "pass"

    @property
    def told(self) -> str | None:
        """What goes with the verdict, or None."""
        if self.verdict == "fail":
            stopped = [verdict.rule.id for verdict in self.verdicts if verdict.blocks]
            return f"{'gate' if len(stopped) == 1 else 'gates'} {', '.join(stopped)}"
        if self.verdict != "shard":
            return self.invalid
        return "{}/{}: nothing is judged before all shards are together".format(*self.plan.shard or ())


def no_verdict(counts: Counts) -> str:
    """Say that clips are missing, and how many of how many are there."""
    return f"{counts.planned - counts.unattempted:,} of {counts.planned:,} clips: no verdict"
