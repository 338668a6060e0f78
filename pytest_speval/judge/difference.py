"""The difference of every estimate between two models, on clips that both were asked about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_speval.judge.sample import Sample
from pytest_speval.scoring.estimate import Estimate
from pytest_speval.scoring.paired import differences, smallest_detectable
from pytest_speval.suite.vocabulary import Direction
from pytest_speval.tasks.base import Figures

Floats = npt.NDArray[np.float64]
NOT_QUALITY = "support."
"""Counts of references: the shared clips have the same."""


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

    @property
    def sure(self) -> bool:
        """Say whether the whole interval is on the side of the change; a degenerate one shows nothing."""
        interval, value = self.estimate.interval, self.estimate.value
        if interval is None or not value or interval.degenerate or interval.low is None or interval.high is None:
            return False
        return interval.low > 0 if value > 0 else interval.high < 0

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


@dataclass(frozen=True, eq=False)
class Sides:
    """The figures of both models on the same clips and their units; `withheld` says why no estimate is given."""

    candidate: Figures
    baseline: Figures
    sample: Sample
    withheld: str | None

    @property
    def statistics(self) -> Floats:
        """What each unit adds to the sums: both models side by side, so that one draw serves both."""
        return np.hstack(
            [side.per_unit(self.sample.codes, self.sample.count) for side in (self.candidate, self.baseline)]
        )

    def differences(self, sums: Floats | None, directions: Mapping[str, Direction]) -> dict[str, Difference]:
        """The difference of every estimate of quality; `sums` are the replicates' sums of `statistics`, if any."""
        figures = self.candidate
        now, then = (side.estimates(side.total()) for side in (figures, self.baseline))
        replicates, lost = self._replicates(sums)
        found = {}
        for name in now:
            if name.startswith(NOT_QUALITY):
                continue
            values = replicates.get(name, np.empty(0))
            reason = (
                self.withheld or _undefined(figures, name, now[name]) or _undefined(self.baseline, name, then[name])
            )
            interval, no_interval = (None, reason) if reason else self.sample.interval(replicates.get(name), lost)
            estimate = Estimate(
                value=None if reason else float(differences(now[name], then[name])),
                n=figures.n(name),
                unit=figures.unit(name),
                interval=interval,
                interval_reason=no_interval,
                reason=reason,
            )
            detectable = None if interval is None else smallest_detectable(values, self.sample.rule.level)
            values_of_both = self._known(now[name]), self._known(then[name])
            found[name] = Difference(directions[name], *values_of_both, estimate, values, detectable)
        return found

    def _replicates(self, sums: Floats | None) -> tuple[dict[str, Floats], dict[str, float]]:
        """The difference of each metric in every replicate, and the labels that were lost; empty without sums."""
        if sums is None:
            return {}, {}
        width = self.candidate.total().shape[-1]
        now, then = sums[:, :width], sums[:, width:]
        before = self.baseline.estimates(then)
        found = {name: differences(values, before[name]) for name, values in self.candidate.estimates(now).items()}
        return found, self.candidate.lost(now)

    def _known(self, value: Floats) -> float | None:
        return None if self.withheld or np.isnan(value) else float(value)


def _undefined(figures: Figures, metric: str, value: Floats) -> str | None:
    return figures.undefined(metric) if np.isnan(value) else None
