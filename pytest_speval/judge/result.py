"""What a run amounts to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from pytest_speval.audit.finding import Audit
from pytest_speval.evidence.plan import Plan
from pytest_speval.gates import Verdict
from pytest_speval.judge.rows import Rows
from pytest_speval.judge.sample import IntervalRule
from pytest_speval.scoring.counts import Counts
from pytest_speval.scoring.estimate import Estimate
from pytest_speval.suite.gate import GateRule
from pytest_speval.tasks.base import Rules


@dataclass(frozen=True, slots=True)
class Bench:
    """Everything a run is judged by, beside its question; `on` is the day it started."""

    scoring: Rules
    interval: IntervalRule
    headline: str
    max_failed: int
    gates: tuple[GateRule, ...]
    on: date


@dataclass(frozen=True)
class Result:
    """Counts, estimates and verdicts of one run, with the rows they rest on."""

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

    @property
    def complete(self) -> bool:
        """Say whether every planned clip was asked."""
        return not self.counts.unattempted

    @property
    def invalid(self) -> str | None:
        """Why this run gives no verdict, or None."""
        return self.refused or next((v.reason for v in self.verdicts if v.verdict == "invalid"), None)

    @property
    def blocked(self) -> bool:
        """Say whether a gate stops the release."""
        return any(verdict.blocks for verdict in self.verdicts)


def no_verdict(counts: Counts) -> str:
    """Say that clips are missing, and how many of how many are there."""
    return f"{counts.planned - counts.unattempted:,} of {counts.planned:,} clips: no verdict"
