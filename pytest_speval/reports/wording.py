"""How numbers, counts and verdicts read, the same in every report."""

from __future__ import annotations

from pytest_speval.gates import Verdict, judged
from pytest_speval.judge.result import Result
from pytest_speval.scoring.counts import Counts
from pytest_speval.scoring.estimate import Estimate

ENDINGS = ("answered", "abstained", "failed", "unknown", "unattempted")


def number(value: float | None) -> str:
    """A number as a reader wants it; a dash where there is none."""
    if value is None:
        return "—"
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) > 1 else f"{value:.4f}"


def spread(estimate: Estimate) -> str:
    """The interval and how sure it is, or why there is none."""
    interval = estimate.interval
    if interval is None:
        return f"no interval: {estimate.interval_reason}"
    marks = [mark for mark, on in (("degenerate", interval.degenerate), ("unreliable", interval.unreliable)) if on]
    sure = f"{100 * interval.level:g}% interval {number(interval.low)} to {number(interval.high)}"
    units = "families" if interval.unit == "family" else f"{interval.unit}s"
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


def verdict_lines(result: Result, verdict: Verdict) -> list[str]:
    """A verdict for a release engineer: which gate, by how much, how sure, on what, and why it is there."""
    rule, suite = verdict.rule, result.plan.suite
    estimate = result.estimates[rule.metric]
    head = f"gate {rule.id} of {suite}: {verdict.verdict.upper()}"
    if verdict.verdict == "invalid":
        lines = [f"{head}: {verdict.reason}"]
    else:
        lines = [f"{head}: {judged(rule, verdict.value or 0.0)}, margin {verdict.margin:+.4g}"]
    lines.append(f"  how sure: {spread(estimate)}")
    lines.append(f"  on what:  {sums(result.counts)}")
    if verdict.flips is not None:
        clips = "1 clip" if verdict.flips == 1 else f"{verdict.flips:,} clips"
        lines.append(f"  flips:    {clips} would have to change to turn the verdict")
    if verdict.waived:
        lines.append(f"  waived:   {verdict.waived}")
    if verdict.lapsed:
        lines.append(f"  waiver expired, ignored: {verdict.lapsed}")
    owner = f" (owner: {rule.owner})" if rule.owner else ""
    lines.append(f"  why:      {rule.why}{owner}")
    return lines
