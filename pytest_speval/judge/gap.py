"""The gap between the groups of a cohort: worst minus best, how sure it is, and how wide chance alone makes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pytest_speval.gates import Chance, Spread, Standing, Subject, Verdict, decide, judged, told_apart
from pytest_speval.judge.cohorts import Run
from pytest_speval.judge.estimation import replicates_of, unit_statistics
from pytest_speval.judge.group import CohortResult, GroupResult
from pytest_speval.judge.sample import Sample
from pytest_speval.judge.worst import explained, group_subject, member_of, parted, refused
from pytest_speval.scoring.bootstrap import Clusters, Interval
from pytest_speval.scoring.estimate import Estimate
from pytest_speval.scoring.paired import differences
from pytest_speval.scoring.permutation import arrangements, dealt_sums
from pytest_speval.suite.gate import GateRule
from pytest_speval.suite.vocabulary import Direction

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
TWO_ENDS = "a gap turns with the clips of several groups"


def judge_gap(
    rule: GateRule, cohort: CohortResult | None, run: Run | None, better: Direction, standing: Standing
) -> Verdict:
    """Judge worst minus best among the groups that may be judged."""
    if run is None or cohort is None:
        return refused(rule, standing.refused or f"score.cohorts does not name `{rule.cohort}`")
    groups, left = parted(cohort)
    spread = Spread(ungated=left, flips_reason=TWO_ENDS)
    reason = standing.refused or _undefined(rule, groups)
    if reason is not None:
        return refused(rule, reason, spread)
    worst, best = _ends([_value(rule, group) for group in groups], better)
    spread = replace(spread, worst=member_of(groups[worst]), best=member_of(groups[best]))
    estimate = _estimate(rule, run, groups)
    if rule.chance:
        chance, reason = simulate(rule, run, groups)
        if chance is None:
            return refused(rule, reason, spread, estimate.value, estimate)
        rule, spread = replace(rule, max=chance.limit), replace(spread, chance=chance)
    subject = Subject(f"{rule.metric} gap of {rule.cohort}", estimate, None, lambda _: None)
    value, reason = subject.number(rule)
    if reason is not None or value is None:
        return refused(rule, reason or "no value", spread, value, estimate)
    verdict = decide(rule, subject, value, standing.on, None)
    return explained(verdict, f"{judged(rule, value, subject.name)}{_told(rule, spread, groups)}", spread)


def _undefined(rule: GateRule, groups: Sequence[GroupResult]) -> str | None:
    """Why there is no gap, or None."""
    for group in groups:
        _, reason = group_subject(rule, group).number(replace(rule, bound="point"))
        if reason is not None:
            return reason
    if len(groups) < 2:
        count = f"{len(groups)} group{'' if len(groups) == 1 else 's'}"
        return f"{count} of {rule.cohort} can be judged: a gap needs 2"
    return None


def _value(rule: GateRule, group: GroupResult) -> float:
    value = group.estimates[rule.metric].value
    assert value is not None
    return value


def _ends(values: Sequence[float], better: Direction) -> tuple[int, int]:
    """The places of the worst and of the best value, the first of equals."""
    least, most = values.index(min(values)), values.index(max(values))
    return (least, most) if better == "higher" else (most, least)


def _told(rule: GateRule, spread: Spread, groups: Sequence[GroupResult]) -> str:
    """Both ends with their values and clips, and what chance would give."""
    ends = {str(group.group): group for group in groups}
    named = [ends[str(member)] for member in (spread.worst, spread.best)]
    shown = told_apart(*(_value(rule, group) for group in named))
    told = [
        f"{group.group} {value} on {group.counts.planned:,} clips" for group, value in zip(named, shown, strict=True)
    ]
    if spread.chance is not None:
        chance = spread.chance
        drawn = f"{chance.units:,} {chance.unit}s dealt anew {chance.simulations:,} times"
        told.append(f"by chance alone up to {chance.limit:.5g} in {100 * chance.level:g}% of cases: {drawn}")
    return f" ({', '.join(told)})"


def gaps(values: Floats) -> Floats:
    """Greatest minus least of each row [N, G], of the groups that have a value: [N], NaN where fewer than two have."""
    several = np.isfinite(values).sum(axis=1) > 1
    found = np.full(len(values), np.nan)
    found[several] = differences(np.nanmax(values[several], axis=1), np.nanmin(values[several], axis=1))
    return found


def _estimate(rule: GateRule, run: Run, groups: Sequence[GroupResult]) -> Estimate:
    """The gap as an estimate; each replicate has the gap of its own worst and best group."""
    values = np.array([[_value(rule, group) for group in groups]])
    clips = _clips(groups)
    interval, reason = _interval(rule, run.sample.part(clips), groups)
    unit = groups[0].estimates[rule.metric].unit
    return Estimate(value=float(gaps(values)[0]), n=len(clips), unit=unit, interval=interval, interval_reason=reason)


def _interval(rule: GateRule, sample: Sample, groups: Sequence[GroupResult]) -> tuple[Interval | None, str | None]:
    """The interval of the gap; a group without replicates leaves it without one."""
    found = [group.basis.replicates.get(rule.metric) for group in groups]
    for group, values in zip(groups, found, strict=True):
        if values is None:
            return None, f"{group.group}: {group.estimates[rule.metric].interval_reason}"
    drawn = np.array(found, dtype=np.float64).T
    lost = np.isnan(drawn).mean(axis=0).tolist()
    return sample.interval(
        gaps(drawn), {str(group.group): share for group, share in zip(groups, lost, strict=True) if share}
    )


def _clips(groups: Sequence[GroupResult]) -> Codes:
    """The clips that are in any of the groups, ascending."""
    return np.unique(np.concatenate([group.basis.clips for group in groups]))


def simulate(rule: GateRule, run: Run, groups: Sequence[GroupResult]) -> tuple[Chance | None, str]:
    """The gap that no bias would give at these group sizes, or why that cannot be said.

    Speakers are dealt, or clips where there is no speaker column; a speaker whose clips are in different groups is
    dealt in as many parts. A label that a simulated group has lost is left out of its means, as in a replicate.
    """
    clips = _clips(groups)
    inside = np.array([np.isin(clips, group.basis.clips) for group in groups]).T
    members, pattern_of = np.unique(inside, axis=0, return_inverse=True)
    names = run.names[clips]
    if run.speakers is not None:
        names = np.where(run.speakers[clips] >= 0, run.speakers[clips], run.speaker_count + names)
    pieces, first, codes = np.unique(
        np.stack([names, pattern_of.reshape(-1)], axis=1), axis=0, return_index=True, return_inverse=True
    )
    patterns, codes = pattern_of.reshape(-1)[first], codes.reshape(-1)
    interval, unit = run.sample.rule, "clip" if run.speakers is None else "speaker"
    ways = arrangements(np.bincount(patterns).tolist(), alike=bool((members.sum(axis=1) == 1).all()))
    if ways * (1 - interval.level) <= 1 + 1e-9:
        dealt = f"{len(pieces):,} {unit}s can be dealt over these groups in {ways:,.0f} way{'' if ways < 1.5 else 's'}"
        return None, f"{dealt}: no gap of theirs would be beyond chance at {100 * interval.level:g}%"
    sample = Sample(interval, codes, len(pieces), Clusters.of(codes, len(pieces)), None)
    figures = run.reading.part(clips)
    statistics = unit_statistics(figures, run.ended[clips], sample)
    sums = dealt_sums(patterns, members, statistics, interval.replicates, interval.seed)
    values = replicates_of(figures, sums.reshape(-1, sums.shape[2])).values[rule.metric]
    found = gaps(values.reshape(sums.shape[:2]))
    finite = found[np.isfinite(found)]
    if not len(finite):
        return None, f"none of {interval.replicates:,} simulations has a gap"
    limit = float(differences(np.quantile(finite, interval.level), 0.0))
    return Chance(limit, interval.level, len(finite), interval.seed, unit, len(pieces)), ""
