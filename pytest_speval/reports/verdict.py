"""A verdict in words, the same in every report."""

from __future__ import annotations

from pytest_speval.gates import Verdict, judged
from pytest_speval.judge.result import Result
from pytest_speval.reports.against import against_lines
from pytest_speval.reports.wording import spread, sums
from pytest_speval.suite.gate import GateRule


def how_sure(result: Result, rule: GateRule) -> str:
    """The interval of the estimate that a gate is judged by."""
    estimate = result.judged_estimate(rule)
    return "no interval: nothing was compared" if estimate is None else spread(estimate)


def verdict_lines(result: Result, verdict: Verdict) -> list[str]:
    """A verdict for a release engineer: which gate, by how much, how sure, on what, and why it is there."""
    rule, suite = verdict.rule, result.plan.suite
    head = f"gate {rule.id} of {suite}: {verdict.verdict.upper()}"
    if verdict.verdict == "invalid":
        lines = [f"{head}: {verdict.reason}"]
    else:
        told = verdict.reason or judged(rule, verdict.value or 0.0)
        lines = [f"{head}: {told}, margin {verdict.margin:+.4g}"]
    lines.append(f"  how sure: {how_sure(result, rule)}")
    lines += against_lines(result, verdict)
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
