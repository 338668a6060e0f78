"""Suites that belong together: no overall estimate of one before every clip of all is answered."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pytest_speval.evidence.partner import Partner
from pytest_speval.scoring.counts import Counts
from pytest_speval.scoring.estimate import Estimate

ANSWERED_ONLY = "answered_only."


def unfinished(rules: Mapping[str, Any], counts: Counts, partners: Sequence[Partner]) -> str | None:
    """Why suites that belong together give no verdict yet, or None; `rules` are those of the plan."""
    name = rules.get("run", {}).get("together")
    if name is None:
        return None
    if not partners:
        return f"nothing is known of the other suites of run.together: {name}"
    if counts.answered < counts.planned:
        return f"{counts.answered:,} of {counts.planned:,} answered, and nothing is told of a part"
    waiting = next((partner for partner in partners if not partner.complete), None)
    return None if waiting is None else f"it belongs together with {waiting}"


def withhold(estimates: Mapping[str, Estimate], names: Collection[str], reason: str) -> dict[str, Estimate]:
    """The same estimates, those of `names` without their value, over answered clips too."""
    return {
        name: Estimate(value=None, n=found.n, unit=found.unit, reason=reason, interval_reason="no value")
        if name.removeprefix(ANSWERED_ONLY) in names
        else found
        for name, found in estimates.items()
    }
