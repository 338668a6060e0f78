"""A run against a baseline: both models on the clips they share, over the same drawn units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_speval.evidence.baseline import Baseline
from pytest_speval.evidence.plan import Plan
from pytest_speval.judge.bench import Bench
from pytest_speval.judge.estimation import STATUSES, withheld
from pytest_speval.judge.pairing import Pairing, incomparable, pair
from pytest_speval.judge.sample import Sample
from pytest_speval.scoring.counts import Counts
from pytest_speval.scoring.estimate import Estimate
from pytest_speval.scoring.paired import differences, smallest_detectable
from pytest_speval.scoring.second_opinion import Opinion, matched_pairs, mcnemar
from pytest_speval.suite.vocabulary import Direction
from pytest_speval.tasks.base import Aligned, Figures, Reading, Task

Floats = npt.NDArray[np.float64]
NOT_QUALITY = "support."
"""Counts of references: the shared clips have the same."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """The run that is compared: what it is about, how it was read, and its units."""

    plan: Plan
    reading: Reading
    sample: Sample
    missing: str


@dataclass(frozen=True, eq=False)
class Difference:
    """One estimate of both models on the shared clips.

    `estimate` is candidate minus baseline, `replicates` [R] its values over drawn units. `detectable` is the smallest
    true difference that such clips would show, see `smallest_detectable`.
    """

    better: Direction
    candidate: float | None
    baseline: float | None
    estimate: Estimate
    replicates: Floats
    detectable: float | None

    @property
    def change(self) -> str | None:
        """`better`, `worse` or `same`, whatever the interval says; None where there is no difference to speak of."""
        if self.estimate.value is None:
            return None
        if self.estimate.value == 0:
            return "same"
        return "better" if (self.estimate.value > 0) == (self.better == "higher") else "worse"

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as it stands in `out.json`."""
        interval = self.estimate.interval
        return {
            "candidate": self.candidate,
            "baseline": self.baseline,
            "difference": self.estimate.value,
            "better": self.better,
            "change": self.change,
            "interval": None if interval is None else interval.as_dict(),
            "interval_reason": self.estimate.interval_reason,
            "detectable": self.detectable,
            "reason": self.estimate.reason,
        }


@dataclass(frozen=True, slots=True)
class Swing:
    """A clip on which one model made fewer errors than the other."""

    clip: str
    reference: Any
    before: Any
    after: Any
    errors_before: float
    errors_after: float

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as it stands in `out.json`."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, eq=False)
class Comparison:
    """What comes of a baseline; without a pairing it was `refused`.

    `wins` are the clips on which the candidate made fewer errors, `losses` those on which it made more, the greatest
    change first. `candidate` holds the figures of the shared clips.
    """

    baseline: Baseline
    refused: str | None
    pairing: Pairing | None = None
    candidate: Figures | None = None
    differences: Mapping[str, Difference] | None = None
    opinion: Opinion | None = None
    wins: tuple[Swing, ...] = ()
    losses: tuple[Swing, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as it stands in `out.json`."""
        plan, pairing = self.baseline.plan, self.pairing
        changed = {} if pairing is None else pairing.changes
        return {
            "baseline": {
                "sha256": self.baseline.sha256,
                "suite": plan.subject,
                "model": plan.question.adapter["name"],
                "planSha256": plan.digest,
            },
            "refused": self.refused,
            "clips": None if pairing is None else pairing.as_dict(),
            "changed": {name: list(clips) for name, clips in changed.items() if clips},
            "metrics": {name: found.as_dict() for name, found in (self.differences or {}).items()},
            "second_opinions": [] if self.opinion is None else [self.opinion.as_dict()],
            "wins": [swing.as_dict() for swing in self.wins],
            "losses": [swing.as_dict() for swing in self.losses],
        }


def compare(candidate: Candidate, task: Task, bench: Bench, baseline: Baseline) -> Comparison:
    """Compare a run with one baseline, which is read by the run's own rules: they must be those it was judged by."""
    refused = incomparable(candidate.plan, baseline.plan)
    if refused is not None:
        return Comparison(baseline, refused)
    then = task.read(baseline.plan.question, bench.scoring, baseline.endings)
    pairing = pair((candidate.plan.question, candidate.reading), (baseline.plan.question, then))
    if not len(pairing):
        return Comparison(baseline, "no clip is shared with the baseline", pairing)
    sides = _Sides(candidate.reading.part(pairing.candidate), then.part(pairing.baseline))
    answered = _withheld(candidate.missing, candidate.reading, pairing.candidate)
    reason = answered or _withheld(candidate.missing, then, pairing.baseline, " in the baseline")
    sample = replace(candidate.sample.part(pairing.candidate), rows=slice(None))
    labels = bench.scoring.labels.set if bench.scoring.labels else ()
    directions = {name: word.better for name, word in task.word.words(labels).items()}
    swings = _swings(candidate, then, pairing)
    return Comparison(
        baseline,
        None,
        pairing,
        sides.candidate,
        _differences(sides, sample, directions, reason),
        _opinion(candidate.reading, then, pairing),
        tuple(swing for swing in swings if swing.errors_after < swing.errors_before),
        tuple(swing for swing in swings if swing.errors_after > swing.errors_before),
    )


@dataclass(frozen=True, eq=False)
class _Sides:
    """The figures of both models on the shared clips."""

    candidate: Figures
    baseline: Figures

    def replicates(self, sample: Sample) -> tuple[dict[str, Floats], dict[str, float]]:
        """The difference of each metric in every replicate, and the labels that were lost; empty without intervals.

        Both models' sums stand side by side, so that one draw serves both.
        """
        own = self.candidate.per_unit(sample.codes, sample.count)
        other = self.baseline.per_unit(sample.codes, sample.count)
        sums = sample.replicate(np.hstack([own, other]))
        if sums is None:
            return {}, {}
        now, then = sums[:, : own.shape[1]], sums[:, own.shape[1] :]
        before = self.baseline.estimates(then)
        found = {name: differences(values, before[name]) for name, values in self.candidate.estimates(now).items()}
        return found, self.candidate.lost(now)


def _differences(
    sides: _Sides, sample: Sample, directions: Mapping[str, Direction], withheld: str | None
) -> dict[str, Difference]:
    """The difference of every estimate of quality."""
    figures = sides.candidate
    now, then = (side.estimates(side.total()) for side in (figures, sides.baseline))
    replicates, lost = sides.replicates(sample)
    found = {}
    for name in now:
        if name.startswith(NOT_QUALITY):
            continue
        values = replicates.get(name, np.empty(0))
        reason = withheld or _undefined(figures, name, now[name]) or _undefined(sides.baseline, name, then[name])
        interval, no_interval = (None, reason) if reason else sample.interval(replicates.get(name), lost)
        estimate = Estimate(
            value=None if reason else float(differences(now[name], then[name])),
            n=figures.n(name),
            unit=figures.unit(name),
            interval=interval,
            interval_reason=no_interval,
            reason=reason,
        )
        detectable = None if interval is None else smallest_detectable(values, sample.rule.level)
        sure = _known(now[name], withheld), _known(then[name], withheld)
        found[name] = Difference(directions[name], *sure, estimate, values, detectable)
    return found


def _undefined(figures: Figures, metric: str, value: Floats) -> str | None:
    return figures.undefined(metric) if np.isnan(value) else None


def _known(value: Floats, withheld: str | None) -> float | None:
    return None if withheld or np.isnan(value) else float(value)


def _withheld(missing: str, reading: Reading, clips: npt.NDArray[np.int64], where: str = "") -> str | None:
    """Why no estimate of the shared clips is given, or None."""
    found = Counter(reading.statuses[clip] for clip in clips)
    reason = withheld(missing, Counts(len(clips), len(clips), 0, *(found[status] for status in STATUSES)))
    return None if reason is None else f"{reason}{where}"


def clip_errors(reading: Reading) -> Floats | None:
    """Errors of each planned clip [n]: of words, or 0 and 1 for right and wrong; None where a task counts none.

    NaN where the errors of a clip were not counted, because nothing was answered and estimates are withheld.
    """
    if isinstance(reading, Aligned):
        return np.array([np.nan if ops is None else len(ops) - ops.count("M") for ops in reading.ops])
    if any(right is None for right in reading.correct):
        return None
    return np.array([not right for right in reading.correct], dtype=np.float64)


def _opinion(reading: Reading, then: Reading, pairing: Pairing) -> Opinion | None:
    """McNemar where clips are right or wrong, matched pairs where they hold several errors."""
    now, before = clip_errors(reading), clip_errors(then)
    if now is None or before is None:
        return None
    change = now[pairing.candidate] - before[pairing.baseline]
    if isinstance(reading, Aligned):
        return matched_pairs(change[~np.isnan(change)])
    return mcnemar(int((change < 0).sum()), int((change > 0).sum()))


def _swings(candidate: Candidate, then: Reading, pairing: Pairing) -> Sequence[Swing]:
    """The clips on which the models differ in errors, the greatest change first, then by name."""
    question, reading = candidate.plan.question, candidate.reading
    now, before = clip_errors(reading), clip_errors(then)
    if now is None or before is None:
        return ()
    swings = [
        Swing(
            question.name(question.planned[clip]),
            reading.references[clip],
            then.answers[former],
            reading.answers[clip],
            float(before[former]),
            float(now[clip]),
        )
        for clip, former in zip(pairing.candidate, pairing.baseline, strict=True)
        if now[clip] != before[former]
    ]
    return sorted(swings, key=lambda swing: (-abs(swing.errors_after - swing.errors_before), swing.clip))
