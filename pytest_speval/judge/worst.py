"""The worst of several: a gate on a cohort holds when it holds for each of its groups, one by class for each label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pytest_speval.gates import Member, Spread, Standing, Subject, Verdict, decide, judged
from pytest_speval.judge.estimation import flips
from pytest_speval.judge.group import CohortResult, GroupResult
from pytest_speval.scoring.estimate import Estimate
from pytest_speval.suite.gate import GateRule
from pytest_speval.suite.vocabulary import MetricWord

NO_FLIPS = "no number of clips is known to turn it"
POINT_ALONE = "clips are counted for the point alone, not for a bound"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One that may be the worst, and what the rule is held against there."""

    member: Member
    subject: Subject


def judge_cohort(rule: GateRule, cohort: CohortResult | None, standing: Standing) -> Verdict:
    """Judge a rule on every group of a cohort that may be judged."""
    if cohort is None:
        return refused(rule, standing.refused or f"score.cohorts does not name `{rule.cohort}`")
    gated, left = parted(cohort)
    candidates = [Candidate(member_of(group), group_subject(rule, group)) for group in gated]
    return _judge_worst(rule, candidates, left, standing, f"no group of {rule.cohort} can be judged")


def judge_labels(
    rule: GateRule, estimates: Mapping[str, Estimate], words: Mapping[str, MetricWord], standing: Standing
) -> Verdict:
    """Judge a rule on every label that has references, by the metrics of the rule's family."""
    candidates, left = [], []
    for name, word in words.items():
        if word.family != rule.metric:
            continue
        label = name.removeprefix(f"{rule.metric}.")
        support = estimates.get(f"support.{label}")
        if support is not None and support.value == 0:
            left.append(Member(label=label, ungated="no clip has it as reference"))
        else:
            candidates.append(Candidate(Member(label=label), standing.subject(name, estimates[name])))
    return _judge_worst(rule, candidates, tuple(left), standing, f"no label can be judged by {rule.metric}")


def _judge_worst(
    rule: GateRule, candidates: Sequence[Candidate], left: tuple[Member, ...], standing: Standing, none: str
) -> Verdict:
    """The verdict on the one with the worst number; one that cannot be judged leaves the whole gate unjudged."""
    spread = Spread(ungated=left)
    if standing.refused is not None or not candidates:
        return refused(rule, standing.refused or none, spread)
    found: list[tuple[float, Candidate]] = []
    for candidate in candidates:
        value, reason = candidate.subject.number(rule)
        if reason is not None or value is None:
            about = replace(spread, worst=candidate.member)
            return refused(rule, reason or "no value", about, value, candidate.subject.estimate)
        found.append((value, candidate))
    value, worst = (min if rule.min is not None else max)(found, key=lambda each: each[0])
    turned = _flips(rule, found)
    because = None if turned is not None else NO_FLIPS if rule.bound == "point" else POINT_ALONE
    verdict = decide(rule, worst.subject, value, standing.on, turned)
    return explained(verdict, judged(rule, value, worst.subject.name), replace(
        spread, worst=worst.member, flips_reason=because
    ))  # fmt: skip


def _flips(rule: GateRule, found: Sequence[tuple[float, Candidate]]) -> int | None:
    """Clips to spoil in the one that falls first, or to put right in all that do not hold."""
    if rule.bound != "point":
        return None
    failing = [candidate for value, candidate in found if not rule.holds(value)]
    counts = [candidate.subject.flips(rule.holds) for candidate in failing or [candidate for _, candidate in found]]
    known = [count for count in counts if count is not None]
    if failing:
        return sum(known) if len(known) == len(counts) else None
    return min(known, default=None)


def parted(cohort: CohortResult) -> tuple[list[GroupResult], tuple[Member, ...]]:
    """The groups of a cohort that gates are judged on, and those that are left out."""
    gated = [group for group in cohort.groups if group.ungated is None]
    return gated, tuple(member_of(group) for group in cohort.groups if group.ungated is not None)


def member_of(group: GroupResult) -> Member:
    """A group as a verdict names it."""
    return Member(group.group, None, group.counts.planned, group.speakers, group.ungated)


def group_subject(rule: GateRule, group: GroupResult) -> Subject:
    """What a rule on a cohort is held against in one of its groups."""
    name, figures = f"{rule.metric} of {rule.cohort} {group.group}", group.basis.figures
    estimate = group.estimates.get(rule.metric)
    if estimate is None:
        none = Estimate(
            value=None,
            n=group.counts.planned,
            unit="clip",
            reason="it is not counted by group",
            interval_reason="no value",
        )
        return Subject(name, none, None, lambda _: None)
    return Subject(name, estimate, figures.ceiling(rule.metric), partial(flips, figures, group.estimates, rule.metric))


def refused(
    rule: GateRule, reason: str, spread: Spread | None = None, value: float | None = None,
    estimate: Estimate | None = None,
) -> Verdict:  # fmt: skip
    """A verdict on several that is none, and why."""
    verdict = Verdict(rule=rule, verdict="invalid", value=value, estimate=estimate)
    return explained(verdict, reason, spread or Spread())


def explained(verdict: Verdict, told: str, spread: Spread) -> Verdict:
    """A verdict on several, whose reason also names what was left out."""
    reason = f"{told}; not gated: {spread.left}" if spread.ungated else told
    return replace(verdict, reason=reason, spread=replace(spread, told=told))
