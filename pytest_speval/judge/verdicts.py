"""The verdicts of a run: on its own estimates, and on its differences from baselines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_speval.gates import Standing, Verdict, correct, judge_gate
from pytest_speval.judge.against import Comparison
from pytest_speval.judge.cohorts import Run
from pytest_speval.judge.difference import Difference
from pytest_speval.judge.gap import judge_gap
from pytest_speval.judge.group import CohortResult
from pytest_speval.judge.worst import judge_cohort, judge_labels
from pytest_speval.scoring.estimate import Estimate
from pytest_speval.scoring.paired import differences, holm, share_beyond
from pytest_speval.suite.gate import GateRule
from pytest_speval.suite.vocabulary import MetricWord


@dataclass(frozen=True)
class Groups:
    """The cohorts that gates may name, and the run they were taken from; None where there are none."""

    run: Run | None = None
    cohorts: Sequence[CohortResult] = ()

    def of(self, name: str | None) -> CohortResult | None:
        """The cohort of a name, None where score.cohorts has no such."""
        return next((cohort for cohort in self.cohorts if cohort.rule.name == name), None)


def judge_gates(
    gates: Sequence[GateRule],
    estimates: Mapping[str, Estimate],
    standing: Standing,
    comparisons: Mapping[str, Comparison],
    words: Mapping[str, MetricWord],
    level: float,
    groups: Groups,
) -> tuple[Verdict, ...]:
    """Judge all gates; `comparisons` are by the digest of their baseline, `level` is that of the intervals."""
    verdicts = [_judge(rule, estimates, standing, comparisons, words, groups) for rule in gates]
    return _corrected(verdicts, comparisons, (1 - level) / 2, standing)


def _judge(
    rule: GateRule,
    estimates: Mapping[str, Estimate],
    standing: Standing,
    comparisons: Mapping[str, Comparison],
    words: Mapping[str, MetricWord],
    groups: Groups,
) -> Verdict:
    """Judge a gate by what it is on: a difference, a gap, groups, labels, or one estimate."""
    if rule.against is not None:
        compared = rule.on_difference(words[rule.metric].better)
        return _on_difference(compared, comparisons.get(rule.against.sha256 or ""), standing)
    if rule.gap:
        return judge_gap(rule, groups.of(rule.cohort), groups.run, words[rule.metric].better, standing)
    if rule.cohort is not None:
        return judge_cohort(rule, groups.of(rule.cohort), standing)
    if rule.per_class:
        return judge_labels(rule, estimates, words, standing)
    return judge_gate(rule, estimates, standing)


def _on_difference(rule: GateRule, comparison: Comparison | None, standing: Standing) -> Verdict:
    """Judge a gate on a baseline; the rule is the one on the difference."""
    assert rule.against is not None
    if comparison is None:
        refused = standing.refused or rule.against.missing or "there is no baseline"
        return Verdict(rule=rule, verdict="invalid", reason=refused)
    found = (comparison.differences or {}).get(rule.metric)
    if found is None:
        refused = standing.refused or comparison.refused or f"{rule.metric} is not compared"
        return Verdict(rule=rule, verdict="invalid", reason=refused)
    about = replace(standing, ceiling=lambda _: None, flips=_flips(comparison, found))
    return judge_gate(rule, {rule.metric: found.estimate}, about)


def _flips(comparison: Comparison, found: Difference) -> Callable[[str, Callable[[float], bool]], int | None]:
    """How many shared clips of the candidate would have to change, while the baseline stays what it is."""

    def count(metric: str, holds: Callable[[float], bool]) -> int | None:
        if comparison.candidate is None or found.baseline is None:
            return None
        before = found.baseline
        return comparison.candidate.flips(metric, lambda value: holds(float(differences(value, before))))

    return count


def _corrected(
    verdicts: Sequence[Verdict], comparisons: Mapping[str, Comparison], allowed: float, standing: Standing
) -> tuple[Verdict, ...]:
    """The verdicts after Holm's correction of each group; what could not be judged counts in it as never shown.

    Every gate on an interval's careful side passes where its p-value is at most half of what the interval leaves out.
    """
    groups: dict[str, list[int]] = {}
    for place, verdict in enumerate(verdicts):
        if verdict.rule.against is not None and verdict.rule.against.correction_group is not None:
            groups.setdefault(verdict.rule.against.correction_group, []).append(place)
    found = list(verdicts)
    for places in groups.values():
        shares = [_share(verdicts[place], comparisons) for place in places]
        adjusted = holm([1.0 if share is None else share for share in shares])
        for place, share, corrected in zip(places, shares, adjusted, strict=True):
            if share is not None:
                found[place] = correct(found[place], share, corrected, allowed, standing.on)
    return tuple(found)


def _share(verdict: Verdict, comparisons: Mapping[str, Comparison]) -> float | None:
    """How often the replicated difference missed the gate's limit, None where the gate could not be judged."""
    rule = verdict.rule
    if verdict.verdict == "invalid" or rule.against is None:
        return None
    found = (comparisons[rule.against.sha256 or ""].differences or {})[rule.metric]
    return share_beyond(found.replicates, rule.limit, below=rule.min is not None)
