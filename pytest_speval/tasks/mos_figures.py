"""Ratings of clips: their means by clip and by speaker, and how they stand to human ratings by clip and by system."""

from __future__ import annotations

from collections.abc import Callable
from math import fsum

import numpy as np
import numpy.typing as npt

from pytest_speval.scoring import correlation
from pytest_speval.scoring.units import Units, held
from pytest_speval.tasks.base import Sums

Codes = npt.NDArray[np.int64]

COMPARISONS = ("pearson", "spearman", "mse")
BY_SYSTEM = ".system"
METRICS = ("mos", "mos_speaker_mean", *COMPARISONS, *(f"{name}{BY_SYSTEM}" for name in COMPARISONS))
CLIPS, RATINGS, SHARES, SPEAKERS = range(4)
"""Sums: answered clips and their ratings; shares that clips have in the mean of their speaker, and in one speaker."""
MEANS = 4
MOST_RANKED = 3000
"""Up to so many clips `spearman` has an interval: each replicate ranks anew, and needs every clip's own count."""


class MosFigures:
    """Ratings [n], NaN where a clip did not answer, with the speaker of each; a negative speaker is not known.

    `human` ratings [n] are None where the corpus has none, NaN for a clip without. `systems` [n] are None where clips
    have none, negative for a clip of which it is not known.
    """

    def __init__(self, ratings: Sums, speakers: Codes, human: Sums | None, systems: Codes | None) -> None:
        self._ratings = ratings
        self._speakers = speakers
        self._human = human
        self._systems = systems
        self._answered = np.isfinite(ratings)
        self._pairs = self._answered if self._uncompared() is None else np.zeros(len(ratings), dtype=bool)
        self._ranked = int(np.count_nonzero(self._pairs))
        self._columns = self._ranked if self._ranked <= MOST_RANKED else 0
        by_system = self._ranked and self._uncompared(by_system=True) is None
        known = systems[self._pairs] if systems is not None and by_system else np.empty(0, dtype=np.int64)
        names, self._system = np.unique(known, return_inverse=True)
        self._groups = len(names)

    def _uncompared(self, *, by_system: bool = False) -> str | None:
        """Why the ratings are not held against human ones, or None."""
        if self._human is None:
            return "the corpus has no column `rating`"
        clips, rated = len(self._human), int(np.count_nonzero(np.isfinite(self._human)))
        if rated < clips:
            return f"{rated:,} of {clips:,} clips have a human rating"
        if not by_system:
            return None
        if self._systems is None:
            return "no cohort is called `system`"
        known = int(np.count_nonzero(self._systems >= 0))
        return f"{known:,} of {clips:,} clips have one system" if known < clips else None

    @property
    def _both(self) -> tuple[Sums, Sums]:
        """Human ratings and answers of the clips that are compared."""
        human = self._ratings if self._human is None else self._human
        return human[self._pairs], self._ratings[self._pairs]

    def total(self) -> Sums:
        sums: Sums = self.per_unit(np.zeros(len(self._ratings), dtype=np.int64), 1)[0]
        sums[RATINGS] = fsum(self._ratings[self._answered].tolist())
        return sums

    def per_unit(self, units: Units, count: int) -> Sums:
        human, ratings = self._both
        paired = units[self._pairs]
        return np.hstack(
            [
                self._means(units, count),
                correlation.pair_sums(human, ratings, paired, count),
                self._cells(paired, count),
                self._own(paired, count),
            ]
        )

    def _cells(self, units: Units, count: int) -> Sums:
        """How many clips a unit has of each system, and the sums of their human ratings and of the answers."""
        if not self._groups:
            return np.zeros((count, 0))
        human, ratings = self._both
        places = np.where(units >= 0, units * self._groups + self._system, -1)
        cells = [_summed(places, values, count * self._groups) for values in (np.ones(len(units)), human, ratings)]
        return np.hstack([values.reshape(count, self._groups) for values in cells])

    def _means(self, units: Units, count: int) -> Sums:
        kept = held(units, count) & self._answered
        sums = np.zeros((count, MEANS))
        sums[:, CLIPS] = np.bincount(units[kept], minlength=count)
        sums[:, RATINGS] = _summed(units[kept], self._ratings[kept], count)
        known = self._answered & (self._speakers >= 0)
        kept &= known
        if kept.any():
            speakers = int(self._speakers.max()) + 1
            clips_of = np.bincount(self._speakers[known], minlength=speakers)
            pairs, pair = np.unique(units[kept].astype(np.int64) * speakers + self._speakers[kept], return_inverse=True)
            unit, speaker = np.divmod(pairs, speakers)
            shares = _summed(pair, self._ratings[kept], len(pairs)) / clips_of[speaker]
            sums[:, SHARES] = np.bincount(unit, weights=shares, minlength=count)
            sums[:, SPEAKERS] = np.bincount(unit, weights=np.bincount(pair) / clips_of[speaker], minlength=count)
        return sums

    def _own(self, units: Units, count: int) -> Sums:
        """A column for each clip that is ranked: 1 in the row of its unit."""
        own = np.zeros((count, self._columns))
        clips = np.flatnonzero(units >= 0) if self._columns else np.empty(0, dtype=np.int64)
        own[units[clips], clips] = 1
        return own

    def estimates(self, sums: Sums) -> dict[str, Sums]:
        means, rest = sums[..., :MEANS], sums[..., MEANS:]
        pairs, rest = rest[..., : correlation.WIDTH], rest[..., correlation.WIDTH :]
        cells, own = rest[..., : 3 * self._groups], rest[..., 3 * self._groups :]
        counts, human, ratings = (cells[..., part * self._groups : (part + 1) * self._groups] for part in range(3))
        x, y = _quotient(human, counts), _quotient(ratings, counts)
        return {
            "mos": _quotient(means[..., RATINGS], means[..., CLIPS]),
            "mos_speaker_mean": _quotient(means[..., SHARES], means[..., SPEAKERS]),
            "pearson": correlation.pearson(pairs),
            "spearman": self._spearman(own),
            "mse": correlation.mean_square(pairs),
            "pearson.system": correlation.group_pearson(x, y),
            "spearman.system": correlation.group_spearman(x, y),
            "mse.system": correlation.group_mean_square(x, y),
        }

    def _spearman(self, own: Sums) -> Sums:
        """Spearman's correlation of drawn clips; of more than can be drawn one by one it is that of all, once."""
        if self._columns == self._ranked:
            return correlation.spearman(*self._both, own)
        if own.ndim > 1:
            return np.full(own.shape[:-1], np.nan)
        return correlation.spearman(*self._both, np.ones(self._ranked))

    def lost(self, sums: Sums) -> dict[str, float]:  # noqa: ARG002
        return {}

    def answered_only(self) -> dict[str, float | None]:
        return {name: None if np.isnan(value) else float(value) for name, value in self.estimates(self.total()).items()}

    def fraction(self, metric: str) -> tuple[float, int] | None:
        sums = self.total()
        if metric == "mos":
            return float(sums[RATINGS]), int(sums[CLIPS])
        if metric == "mse" and self._ranked:
            return float(sums[MEANS + correlation.SQUARES]), self._ranked
        return None

    def n(self, metric: str) -> int:
        if metric == "mos_speaker_mean":
            return len(np.unique(self._speakers[self._answered & (self._speakers >= 0)]))
        return self._groups if metric.endswith(BY_SYSTEM) else len(self._ratings)

    def unit(self, metric: str) -> str:
        if metric == "mos_speaker_mean":
            return "speaker"
        return "system" if metric.endswith(BY_SYSTEM) else "clip"

    def undefined(self, metric: str) -> str:
        if metric.startswith(COMPARISONS):
            by_system = metric.endswith(BY_SYSTEM)
            why = self._uncompared(by_system=by_system)
            if why is not None:
                return why
            if self._ranked:
                return self._constant(by_system=by_system)
        elif self._answered.any():
            return "no speaker is known"
        return "no clip was answered"

    def _constant(self, *, by_system: bool) -> str:
        """Which side has no spread that a correlation could be of."""
        what = "by system" if by_system else "from clip to clip"
        sides = dict(zip(("human ratings", "answers"), self._both, strict=True))
        if by_system:
            sizes = np.bincount(self._system)
            sides = {name: np.bincount(self._system, weights=side) / sizes for name, side in sides.items()}
        still = [name for name, side in sides.items() if np.ptp(side) <= correlation.ALIKE]
        return f"the {' and the '.join(still or sides)} do not vary {what}"

    def ceiling(self, metric: str) -> float | None:  # noqa: ARG002
        return None

    def flips(self, metric: str, holds: Callable[[float], bool]) -> int | None:  # noqa: ARG002
        return None

    def tally(self) -> dict[str, int]:
        return {}


def _summed(places: Units, values: Sums, count: int) -> Sums:
    """Sums by place, those below 0 left out. Doubles are added in the order of their size, so that none of the clips'
    order is left."""
    order = np.argsort(values, kind="stable")
    order = order[places[order] >= 0]
    sums: Sums = np.bincount(places[order], weights=values[order], minlength=count).astype(np.float64)
    return sums


def _quotient(numerator: Sums, denominator: Sums) -> Sums:
    """Numerator over denominator, NaN where the denominator is 0."""
    undefined = np.full(np.shape(denominator), np.nan)
    quotient: Sums = np.divide(numerator, denominator, out=undefined, where=denominator > 0)
    return quotient
