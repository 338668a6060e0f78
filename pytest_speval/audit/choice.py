"""`audit[selection]`: which of the eligible clips are asked, and whether they fill what the suite wants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_speval.audit.finding import Audit, Finding
from pytest_speval.corpus.selection import Caps, Pool, feasible, select

CODES = {
    "selected": "How many of the eligible clips are selected.",
    "selection-short": "The selection cannot be filled: a class or the number of speakers falls short.",
    "selection-feasible": "Whether any selection exists that would fill what the suite wants.",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """The audit, and why each clip that is not chosen is not, by its place in the pool."""

    audit: Audit
    reasons: Mapping[int, str]


def audit_selection(pool: Pool, caps: Caps) -> Choice:
    """Select, and where that falls short say what is missing and whether another choice could have had it."""
    selection = select(pool, caps)
    chosen, eligible = len(selection.chosen), len(pool.digests)
    speakers = {pool.speakers[place] for place in selection.chosen} - {None}
    told = f"{chosen:,} of {eligible:,} eligible clips selected, {len(speakers):,} speakers"
    findings = [Finding("error", "selection-short", blocked) for blocked in selection.blocked]
    if selection.blocked:
        findings.append(Finding("notice", "selection-feasible", feasible(pool, caps).reason))
    findings.append(Finding("notice", "selected", told))
    return Choice(Audit("selection", tuple(findings)), selection.reasons)
