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
from pytest_speval.judge.difference import Difference, Sides
from pytest_speval.judge.estimation import STATUSES, withheld
from pytest_speval.judge.pairing import Pairing, incomparable, pair
from pytest_speval.judge.sample import Sample
from pytest_speval.judge.shared_groups import SharedGroup, Worse, by_cohort, shared_groups
from pytest_speval.scoring.counts import Counts
from pytest_speval.scoring.second_opinion import Opinion, matched_pairs, mcnemar
from pytest_speval.tasks.base import Aligned, Figures, Reading, Task

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Candidate:
    """The run that is compared: what it is about, how it was read, and its units."""

    plan: Plan
    reading: Reading
    sample: Sample
    missing: str


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
    change first. `candidate` holds the figures of the shared clips, `groups` those of each cohort that the run shows.
    """

    baseline: Baseline
    refused: str | None
    pairing: Pairing | None = None
    candidate: Figures | None = None
    differences: Mapping[str, Difference] | None = None
    opinion: Opinion | None = None
    wins: tuple[Swing, ...] = ()
    losses: tuple[Swing, ...] = ()
    groups: tuple[SharedGroup, ...] = ()

    @property
    def worse(self) -> tuple[Worse, ...]:
        """Every estimate that got worse, whatever its interval says: of all shared clips, then of each group."""
        named = [(None, self.differences or {}), *((group, group.differences) for group in self.groups)]
        return tuple(
            Worse(group, name, found)
            for group, all_of in named
            for name, found in all_of.items()
            if found.change == "worse"
        )

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
            "cohorts": by_cohort(self.groups),
            "worse": [one.as_dict() for one in self.worse],
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
    whole, groups = _differences(candidate, then, pairing, task, bench)
    swings = _swings(candidate, then, pairing)
    return Comparison(
        baseline,
        None,
        pairing,
        candidate.reading.part(pairing.candidate),
        whole,
        _opinion(candidate.reading, then, pairing),
        tuple(swing for swing in swings if swing.errors_after < swing.errors_before),
        tuple(swing for swing in swings if swing.errors_after > swing.errors_before),
        groups,
    )


def _differences(
    candidate: Candidate, then: Reading, pairing: Pairing, task: Task, bench: Bench
) -> tuple[dict[str, Difference], tuple[SharedGroup, ...]]:
    """The differences over all shared clips and in each of their groups, over one set of draws."""
    sample = replace(candidate.sample.part(pairing.candidate), rows=slice(None))
    labels = bench.scoring.labels.set if bench.scoring.labels else ()
    directions = {name: word.better for name, word in task.word.words(labels).items()}

    def sides(drawn: Sample, now: Codes, before: Codes) -> Sides:
        reason = _withheld(candidate.missing, candidate.reading, now)
        reason = reason or _withheld(candidate.missing, then, before, " in the baseline")
        return Sides(candidate.reading.part(now), then.part(before), drawn, reason)

    groups = [*shared_groups(candidate.plan.question, pairing.candidate, bench.cohorts, bench.small_groups)]
    shown = [group.clips for group in groups if group.suppressed is None]
    parts = [sides(sample, pairing.candidate, pairing.baseline)]
    parts += [sides(sample.part(clips), pairing.candidate[clips], pairing.baseline[clips]) for clips in shown]
    drawn = sample.replicate_parts([(one.sample, one.statistics) for one in parts])
    whole, *found = (one.differences(sums, directions) for one, sums in zip(parts, drawn, strict=True))
    of_shown = iter(found)
    return whole, tuple(group if group.suppressed else replace(group, differences=next(of_shown)) for group in groups)


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
