"""What the groups of a cohort amount to, and which of them are too small to be shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_speval.corpus.cohorts import CohortRule, Group
from pytest_speval.scoring.counts import Counts
from pytest_speval.scoring.estimate import Estimate, written
from pytest_speval.tasks.base import Figures

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SmallGroups:
    """From how many planned clips and speakers on a group is shown; None: any number of speakers."""

    min_clips: int = 1
    min_speakers: int | None = None

    def refusal(self, clips: int, speakers: int | None) -> str | None:
        """Why a group is not shown, or None; without a speaker column there are no speakers."""
        short = [f"{clips:,} of {self.min_clips:,} clips"] if clips < self.min_clips else []
        if self.min_speakers is not None and speakers is None:
            short.append(f"no column of speakers for the {self.min_speakers:,}")
        elif self.min_speakers is not None and (speakers or 0) < self.min_speakers:
            short.append(f"{speakers:,} of {self.min_speakers:,} speakers")
        return f"{' and '.join(short)} that score.small_groups asks for" if short else None


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """What a group's figures rest on: the numbers of its clips, and replicates [R] of the metrics that gaps are of."""

    clips: Codes
    figures: Figures
    replicates: Mapping[str, Floats]


@dataclass(frozen=True, slots=True)
class GroupResult:
    """What a group amounts to. One that is `suppressed`, for this reason, has counts and nothing else.

    `tally` are the task's own counts. `rates` are the shares of right clips, weighed by `clip` and by `speaker`, where
    the task knows right from wrong. `conditions` maps a condition to its values among the group's planned clips.
    """

    group: Group
    counts: Counts
    speakers: int | None
    suppressed: str | None
    tally: Mapping[str, int]
    rates: Mapping[str, Fraction]
    estimates: Mapping[str, Estimate]
    conditions: Mapping[str, Sequence[tuple[Group, int]]]
    basis: Basis = field(compare=False, repr=False)

    @property
    def ungated(self) -> str | None:
        """Why no gate is judged on the group, or None: it is too small, or it is no group anybody belongs to."""
        if self.group.value is None:
            clips = self.counts.planned
            return f"{clips:,} clip{'' if clips == 1 else 's'} of which no group is known"
        return self.suppressed

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as it stands in `out.json`."""
        return {
            "group": self.group.as_dict(),
            "counts": self.counts.as_dict(),
            "speakers": self.speakers,
            "suppressed": self.suppressed,
            "tally": dict(self.tally),
            "rates": {weight: _rate(rate) for weight, rate in self.rates.items()},
            "metrics": {name: found.as_dict() for name, found in self.estimates.items()},
            "conditions": {
                name: [{"value": value.as_dict(), "clips": clips} for value, clips in values]
                for name, values in self.conditions.items()
            },
        }


@dataclass(frozen=True, slots=True)
class CohortResult:
    """A cohort's groups in the order of their names, and how many planned clips and speakers they have together.

    Every clip and every speaker counts once here. `shared_clips` and `shared_speakers` are in several groups.
    `quarantined` clips are in none.
    """

    rule: CohortRule
    clips: int
    speakers: int | None
    quarantined: int
    shared_clips: int
    shared_speakers: int | None
    groups: tuple[GroupResult, ...]

    @property
    def overlapping(self) -> bool:
        """Say whether the groups do not add up."""
        return bool(self.shared_clips or self.shared_speakers)

    def totals(self) -> dict[str, Any]:
        """Plain data, as it stands in `out.json` beside the groups."""
        return {
            "state": "recorded" if self.clips + self.quarantined else "empty",
            "clips": self.clips,
            "speakers": self.speakers,
            "quarantined": self.quarantined,
            "sharedClips": self.shared_clips,
            "sharedSpeakers": self.shared_speakers,
            "source": self.rule.source,
            "version": self.rule.version,
        }


def _rate(rate: Fraction) -> dict[str, Any]:
    parts = {"numerator": written(rate.numerator), "denominator": written(rate.denominator)}
    return {"value": rate.numerator / rate.denominator, **parts}
