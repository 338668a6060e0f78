"""Judging: endings of calls become counts, estimates, verdicts and rows."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_speval.audit.finding import Audit
from pytest_speval.evidence.baseline import Baseline
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.partner import Partner
from pytest_speval.evidence.plan import Plan, Question
from pytest_speval.evidence.shard import Shard, dealt
from pytest_speval.gates import Standing
from pytest_speval.judge.against import Candidate, Comparison, compare
from pytest_speval.judge.bench import Bench
from pytest_speval.judge.cohorts import Run, judge_cohorts
from pytest_speval.judge.estimation import estimate_all, flips
from pytest_speval.judge.group import SmallGroups
from pytest_speval.judge.result import Result, no_verdict
from pytest_speval.judge.rows import Rows
from pytest_speval.judge.sample import Sample
from pytest_speval.judge.together import unfinished, withhold
from pytest_speval.judge.verdicts import Groups, judge_gates
from pytest_speval.scoring.counts import Counts
from pytest_speval.suite.vocabulary import MetricWord
from pytest_speval.tasks.base import Reading, Recounted, Status, Task

TOLD_APART = ("labels", "observation")
"""What is published of a run that waits for others: nothing that overall estimates could be told from."""
STATUSES: tuple[Status, ...] = ("answered", "abstained", "failed", "unknown", "unattempted")


def judge(
    plan: Plan,
    task: Task,
    bench: Bench,
    endings: Sequence[Ending],
    audits: Sequence[Audit],
    *,
    partial: bool = False,
    baselines: Mapping[str, Baseline] | None = None,
    partners: Sequence[Partner] = (),
    checks: Mapping[str, str | None] | None = None,
) -> Result:
    """Judge the endings of a question's planned clips; a partial result and a shard have no verdicts.

    `baselines` has those that the gates name, by digest; `partners` say how far the suites came that this one gives
    its overall estimates together with. `checks` are those made from kept arrays.
    """
    question = plan.question
    reading = task.read(question, bench.scoring, endings)
    counts = _counts(question, reading)
    sample = Sample.of(question, bench.interval)
    # A task that withholds knows no worst answer, whatever the suite says.
    missing = "withhold" if task.word.missing == "withhold" else bench.scoring.missing
    estimates = estimate_all(question, missing, sample, reading, counts, endings)
    waiting = unfinished(plan.rules, counts, partners)
    if waiting is not None:
        estimates = withhold(estimates, reading.estimates(reading.total()).keys(), waiting)
    checks = {**(checks or {}), **(reading.recount() if isinstance(reading, Recounted) else {})}
    refused = _refused(_asked(plan, counts, reading), audits, bench.max_failed) or _differing(checks)
    refused = refused or (waiting if plan.shard is None else None)
    standing = Standing(refused, reading.ceiling, functools.partial(flips, reading, estimates), bench.on)
    gates = () if partial or plan.shard is not None else bench.gates
    told = replace(bench, gates=gates) if waiting is None else replace(bench, gates=(), cohorts=())
    groups = _groups(plan, told, missing, sample, reading)
    comparisons = _comparisons(Candidate(plan, reading, sample, missing), task, told, baselines)
    published = reading.published()
    return Result(
        plan,
        bench,
        tuple(audits),
        counts,
        estimates,
        judge_gates(gates, estimates, standing, comparisons, _words(task, bench), bench.interval.level, groups),
        Rows(question, reading, endings, bench.cohorts),
        published if waiting is None else {name: published[name] for name in TOLD_APART if name in published},
        dict(sorted(Counter(reason for reason in question.excluded if reason is not None).items())),
        refused,
        partial,
        tuple(groups.cohorts),
        tuple(comparisons.values()),
        checks,
    )


def _comparisons(
    candidate: Candidate, task: Task, bench: Bench, baselines: Mapping[str, Baseline] | None
) -> dict[str, Comparison]:
    """The run against each baseline that a gate names, by the baseline's digest."""
    named = [rule.against.sha256 for rule in bench.gates if rule.against is not None and rule.against.sha256]
    return {sha256: compare(candidate, task, bench, (baselines or {})[sha256]) for sha256 in dict.fromkeys(named)}


def _words(task: Task, bench: Bench) -> Mapping[str, MetricWord]:
    return task.word.words(bench.scoring.labels.set if bench.scoring.labels else ())


def _groups(plan: Plan, bench: Bench, missing: str, sample: Sample, reading: Reading) -> Groups:
    """The cohorts that are asked for, and what gates on gaps need of them."""
    if not bench.cohorts:
        return Groups()
    gaps = frozenset(rule.metric for rule in bench.gates if rule.gap)
    run = Run.of(plan.question, missing, sample, reading, bench.small_groups or SmallGroups(), gaps)
    return Groups(run, judge_cohorts(plan.question, run, bench.cohorts))


def _counts(question: Question, reading: Reading) -> Counts:
    found = Counter(reading.statuses)
    planned = len(question.planned)
    return Counts(
        listed=len(question.ids),
        planned=planned,
        excluded=len(question.ids) - planned,
        answered=found["answered"],
        abstained=found["abstained"],
        failed=found["failed"],
        unknown=found["unknown"],
        unattempted=found["unattempted"],
        quarantined=len(question.quarantined),
    )


def _asked(plan: Plan, counts: Counts, reading: Reading) -> Counts:
    """The counts of the clips that a run is about: all, or those of its shard and those settled by a rule."""
    if plan.shard is None:
        return counts
    shard, question = Shard(*plan.shard), plan.question
    others = dealt(question, shard.of)
    own = [
        status
        for place, status in zip(question.planned, reading.statuses, strict=True)
        if others.get(place, shard.number) == shard.number
    ]
    found = Counter(own)
    return replace(
        counts, listed=len(own), planned=len(own), excluded=0, **{status: found[status] for status in STATUSES}
    )


def _refused(counts: Counts, audits: Sequence[Audit], max_failed: int) -> str | None:
    """Why no gate of this run can be judged, or None."""
    for audit in audits:
        if audit.failed:
            return f"audit[{audit.name}] failed: {audit.headline}"
    if not counts.planned:
        return f"none of {counts.listed:,} listed clips is planned: there is nothing to measure"
    if counts.unattempted:
        return no_verdict(counts)
    lost = counts.failed + counts.unknown
    if lost > max_failed:
        return f"{lost:,} of {counts.planned:,} clips failed where run.max_failed allows {max_failed:,}"
    return None


def _differing(checks: Mapping[str, str | None]) -> str | None:
    """Why figures that differ from a second count give no verdict, or None."""
    return next((f"verify[{name}] failed: {found}" for name, found in checks.items() if found is not None), None)
