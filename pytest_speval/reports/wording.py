"""How numbers, counts and verdicts read, the same in every report."""

from __future__ import annotations

from pytest_speval.scoring.counts import Counts
from pytest_speval.scoring.estimate import Estimate

ENDINGS = ("answered", "abstained", "failed", "unknown", "unattempted")


def number(value: float | None) -> str:
    """A number as a reader wants it; a dash where there is none."""
    if value is None:
        return "—"
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) > 1 else f"{value:.4f}"


PLURALS = {"clip": "clips", "speaker": "speakers", "session": "sessions", "family": "families"}
"""Units of an interval in words; the groups of a cohort have no name of their own."""


def spread(estimate: Estimate) -> str:
    """The interval and how sure it is, or why there is none."""
    interval = estimate.interval
    if interval is None:
        return f"no interval: {estimate.interval_reason}"
    marks = [mark for mark, on in (("degenerate", interval.degenerate), ("unreliable", interval.unreliable)) if on]
    sure = f"{100 * interval.level:g}% interval {number(interval.low)} to {number(interval.high)}"
    units = PLURALS.get(interval.unit, f"groups of {interval.unit}")
    drawn = f"{interval.clusters:,} {units}, {interval.effective_clusters:,.1f} effective"
    return f"{sure} ({drawn}{', ' + ', '.join(marks) if marks else ''})"


def receipt_line(keyid: str | None) -> str:
    """Whether a run's receipt is signed, and with which key."""
    return "unsigned receipt" if keyid is None else f"receipt: signed by {keyid}"


def sums(counts: Counts) -> str:
    """Both sums of the counts, written out."""
    parts = " + ".join(
        f"{getattr(counts, name):,} {name}" for name in ENDINGS if getattr(counts, name) or name == "answered"
    )
    return f"{counts.listed:,} listed = {counts.planned:,} planned + {counts.excluded:,} excluded; planned = {parts}"
