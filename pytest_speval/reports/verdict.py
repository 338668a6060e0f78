"""A verdict in words, the same in every report."""

from __future__ import annotations

from pytest_speval.gates import Member, Verdict, judged
from pytest_speval.judge.result import Result
from pytest_speval.reports.against import against_lines
from pytest_speval.reports.wording import spread, sums


def how_sure(verdict: Verdict) -> str:
    """The interval of the estimate that a gate is judged by."""
    return "no interval: nothing was judged" if verdict.estimate is None else spread(verdict.estimate)


def verdict_lines(result: Result, verdict: Verdict) -> list[str]:
    """A verdict for a release engineer: which gate, by how much, how sure, on what, and why it is there."""
    rule, suite = verdict.rule, result.plan.suite
    head = f"gate {rule.id} of {suite}: {verdict.verdict.upper()}"
    told = verdict.reason or judged(rule, verdict.value or 0.0) if verdict.spread is None else verdict.spread.told
    margin = "" if verdict.margin is None else f", margin {verdict.margin:+.4g}"
    lines = [f"{head}: {told}{margin}", f"  how sure: {how_sure(verdict)}"]
    lines += against_lines(result, verdict)
    lines += _spread_lines(verdict)
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


def left_out(result: Result) -> list[str]:
    """The passed gates that some groups or labels took no part in: a verdict that rests on the others alone."""
    spread = [(one.rule.id, one.spread) for one in result.verdicts if one.verdict == "pass" and one.spread is not None]
    return [f"gate {name} passes; not gated: {found.left}" for name, found in spread if found.ungated]


def _spread_lines(verdict: Verdict) -> list[str]:
    """Which group or label decided a gate on several."""
    found = verdict.spread
    if found is None:
        return []
    ends = {"worst": found.worst, "best": found.best}
    lines = [f"  {f'{end}:':<9} {_described(member)}" for end, member in ends.items() if member is not None]
    return lines + ([f"  not gated: {found.left}"] if found.ungated else [])


def _described(member: Member) -> str:
    if member.clips is None:
        return str(member)
    speakers = "" if member.speakers is None else f", {member.speakers:,} speakers"
    return f"{member}, {member.clips:,} clips{speakers}"
