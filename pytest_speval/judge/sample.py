"""The units of a run and the replicates drawn over them, shared by all its estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pytest_speval.corpus.cohorts import CohortRule, clips_in_several, in_several
from pytest_speval.corpus.listing import COHORT
from pytest_speval.evidence.plan import Question
from pytest_speval.scoring.bootstrap import (
    FEWEST_CLUSTERS,
    Clusters,
    Interval,
    Rows,
    estimate_interval,
    replicate_parts,
)
from pytest_speval.scoring.units import unit_codes as code_keys

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
OWN_UNITS = ("clip", "speaker", "session", "family")
"""Units that are no cohort, also where a cohort has such a name."""


@dataclass(frozen=True, slots=True)
class IntervalRule:
    """How intervals are made: the unit that is drawn, how often, from which seed.

    Where the unit is a cohort, `cohort` says how its cells are read.
    """

    unit: str = "speaker"
    replicates: int = 2000
    seed: int = 20260817
    level: float = 0.95
    null_unit: Literal["exclude", "singleton"] = "exclude"
    few_clusters: float = 10
    cohort: CohortRule | None = None


@dataclass(frozen=True)
class Sample:
    """Each clip's unit as a code; `absent` says why there are no units at all.

    Of a part, `rows` are the places of its units among all that are drawn.
    """

    rule: IntervalRule
    codes: Codes
    count: int
    clusters: Clusters
    absent: str | None
    rows: Rows = field(default_factory=lambda: slice(None))

    @classmethod
    def of(cls, question: Question, rule: IntervalRule) -> Sample:
        """The units of a question's planned clips."""
        absent = _no_units(question, rule)
        if absent is not None:
            none = np.full(len(question.planned), -1, dtype=np.int64)
            return cls(rule, none, 0, Clusters.of(none, 0), absent)
        singleton = rule.null_unit == "singleton"
        codes, count = unit_codes(question, rule.unit, singleton=singleton, cohort=rule.cohort)
        return cls(rule, codes, count, Clusters.of(codes, count), None)

    def replicate(self, statistics: npt.NDArray[Any]) -> Floats | None:
        """Sums [R, C] over drawn units of per-unit statistics [U, C], or None where no interval is to be had."""
        (sums,) = self.replicate_parts([(self, statistics)])
        return sums

    def part(self, clips: Codes) -> Sample:
        """The units of some of the clips, coded anew; their draws are those of the whole."""
        codes = self.codes[clips]
        units, own = np.unique(codes[codes >= 0], return_inverse=True)
        codes[codes >= 0] = own
        rows = np.searchsorted(self.clusters.occupied, units)
        return Sample(self.rule, codes, len(units), Clusters.of(codes, len(units)), self.absent, rows)

    def replicate_parts(self, parts: Sequence[tuple[Sample, npt.NDArray[Any]]]) -> list[Floats | None]:
        """As `replicate` for several parts of this sample, over the same draws, made once."""
        drawn = {
            place: (part.rows, statistics[part.clusters.occupied])
            for place, (part, statistics) in enumerate(parts)
            if self.absent is None and part.clusters.clusters >= FEWEST_CLUSTERS
        }
        if not drawn:
            return [None] * len(parts)
        sums = replicate_parts([*drawn.values()], self.clusters.clusters, self.rule.replicates, self.rule.seed)
        found = dict(zip(drawn, sums, strict=True))
        return [found.get(place) for place in range(len(parts))]

    def interval(self, values: Floats | None, lost: Mapping[str, float]) -> tuple[Interval | None, str | None]:
        """The interval of one estimate from its replicates [R], or why there is none."""
        if self.absent is not None:
            return None, self.absent
        return estimate_interval(
            np.empty(0) if values is None else values,
            self.clusters,
            self.rule.level,
            self.rule.unit,
            self.rule.replicates,
            self.rule.seed,
            self.rule.few_clusters,
            lost,
        )


def _no_units(question: Question, rule: IntervalRule) -> str | None:
    """Why there are no units to draw, or None: no column, or a cohort some of whose groups share a clip."""
    if rule.cohort is not None:
        cells = question.cells.get(f"{COHORT}{rule.unit}")
        if cells is None:
            return f"no cohort {rule.unit}"
        shared = len(in_several(rule.cohort, cells, question.planned))
        return f"{clips_in_several(shared, rule.unit)}: they cannot be drawn whole" if shared else None
    return None if rule.unit == "clip" or rule.unit in question.cells else f"no {rule.unit} column"


def unit_codes(
    question: Question, unit: str, *, singleton: bool = False, cohort: CohortRule | None = None
) -> tuple[Codes, int]:
    """Code each planned clip's unit in the order of the units' names, so that the order of rows leaves no trace.

    A clip without a unit has -1, or with `singleton` a unit of its own behind the named ones, unless its speaker is
    quarantined. The units of a cohort are its groups; a clip of which no group is known has none.
    """
    identities = [(question.splits[place], question.ids[place]) for place in question.planned]
    keys: list[Any] = list(identities)
    if cohort is not None:
        cells = question.cells[f"{COHORT}{unit}"]
        keys = [cohort.groups(cells[place])[0].value for place in question.planned]
    elif unit != "clip":
        keys = [question.cells[unit][place] for place in question.planned]
    codes, named = code_keys(keys)
    if not singleton:
        return codes, named
    quarantined = {question.identity(place) for place in question.quarantined} if unit == "speaker" else set()
    alone = sorted(identity for identity, key in zip(identities, keys, strict=True) if key is None)
    alone = [identity for identity in alone if identity not in quarantined]
    own = {identity: named + code for code, identity in enumerate(alone)}
    for number in np.flatnonzero(codes < 0):
        codes[number] = own.get(identities[number], -1)
    return codes, named + len(alone)
