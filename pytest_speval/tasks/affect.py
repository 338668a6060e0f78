"""The task `affect`: valence, arousal and dominance as numbers, scored by concordance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from pytest_speval.corpus.projections import AXES
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.plan import Question
from pytest_speval.scoring import moments
from pytest_speval.scoring.moments import Floats, Moments
from pytest_speval.scoring.units import Units
from pytest_speval.suite.vocabulary import MetricWord, TaskWord
from pytest_speval.tasks.base import COMMON, Rules, Status, Sums
from pytest_speval.tasks.emotion_answer import record_emotion

WIDTH = 7
"""Sums per axis, in the order of the fields of `Moments`."""


class AffectFigures:
    """Clips as moments of each axis that the corpus rates; `rated` maps an axis to references and answers.

    Both hold only the `answered` clips, which are marked among all.
    """

    def __init__(self, rated: Mapping[str, tuple[Floats, Floats]], answered: npt.NDArray[np.bool_]) -> None:
        self._axes = rated
        self._answered = answered

    def total(self) -> Sums:
        rows = [Moments.of(*self._axes[axis]) for axis in AXES if axis in self._axes]
        return np.array([[getattr(row, name) for name in Moments.__slots__] for row in rows], dtype=np.float64).ravel()

    def per_unit(self, units: Units, count: int) -> Sums:
        kept = units[self._answered]
        return np.hstack([moments.per_unit(*self._axes[axis], kept, count) for axis in AXES if axis in self._axes])

    def estimates(self, sums: Sums) -> dict[str, Sums]:
        rated = [axis for axis in AXES if axis in self._axes]
        parts = {axis: sums[..., place * WIDTH : (place + 1) * WIDTH] for place, axis in enumerate(rated)}
        undefined = np.full(sums.shape[:-1], np.nan)
        values: dict[str, Floats] = {}
        for name, function in (("ccc", moments.ccc), ("mae", moments.mae)):
            values |= {f"{name}.{axis}": function(parts[axis]) if axis in parts else undefined for axis in AXES}
        return values

    def lost(self, sums: Sums) -> dict[str, float]:  # noqa: ARG002
        return {}

    def answered_only(self) -> dict[str, float | None]:
        return {name: None if np.isnan(value) else float(value) for name, value in self.estimates(self.total()).items()}

    def fraction(self, metric: str) -> tuple[float, int] | None:
        name, _, axis = metric.partition(".")
        if name != "mae" or axis not in self._axes:
            return None
        sums = Moments.of(*self._axes[axis])
        return sums.sum_abs, sums.n

    def n(self, metric: str) -> int:  # noqa: ARG002
        return len(self._answered)

    def unit(self, metric: str) -> str:  # noqa: ARG002
        return "clip"

    def undefined(self, metric: str) -> str:
        axis = metric.partition(".")[2]
        if axis not in self._axes:
            return f"the corpus has no column `{axis}`"
        return "no clip was answered" if not self._answered.any() else f"{axis} does not vary"

    def ceiling(self, metric: str) -> float | None:  # noqa: ARG002
        return None

    def flips(self, metric: str, holds: Callable[[float], bool]) -> int | None:  # noqa: ARG002
        return None

    def tally(self) -> dict[str, int]:
        return {}


class AffectReading(AffectFigures):
    """The endings of all planned clips, and their moments."""

    def __init__(self, references: Mapping[str, Sequence[float]], endings: Sequence[Ending]) -> None:
        vads = [(ending.answer or {}).get("vad") if ending.state == "returned" else None for ending in endings]
        self.statuses: list[Status] = [
            ("abstained" if vad is None else "answered") if ending.state == "returned" else cast(Status, ending.state)
            for vad, ending in zip(vads, endings, strict=True)
        ]
        self.references: list[Any] = [
            dict(zip(references, row, strict=True)) for row in zip(*references.values(), strict=True)
        ]
        self.answers: list[Any] = vads
        self.correct: list[bool | None] = [None] * len(endings)
        answered = np.array([vad is not None for vad in vads], dtype=bool)
        rated = {
            axis: (
                np.array(values, dtype=np.float64)[answered],
                np.array([vad[axis] for vad in vads if vad is not None], dtype=np.float64),
            )
            for axis, values in references.items()
        }
        super().__init__(rated, answered)

    def part(self, clips: npt.NDArray[np.int64]) -> AffectFigures:
        kept = self._answered[clips]
        rows = (np.cumsum(self._answered) - 1)[clips[kept]]
        return AffectFigures({axis: (x[rows], y[rows]) for axis, (x, y) in self._axes.items()}, kept)

    def published(self) -> dict[str, Any]:
        return {}


class Affect:
    """How pleasant, how excited, how dominant does the clip sound?"""

    word = TaskWord(
        "affect",
        (
            MetricWord("ccc.<axis>", "higher", low=-1.0, members=AXES),
            MetricWord("mae.<axis>", "lower", members=AXES),
            *COMMON,
        ),
        headline="ccc.valence",
        required=(AXES,),
        missing="withhold",
    )
    method = "classify"

    def record(self, read: object) -> tuple[dict[str, Any], float | None]:
        return record_emotion(read)

    def read(self, question: Question, rules: Rules, endings: Sequence[Ending]) -> AffectReading:
        references = {
            axis: [_scaled(question.cells[axis][place], rules.ranges[axis]) for place in question.planned]
            for axis in AXES
            if axis in question.cells
        }
        return AffectReading(references, endings)


def _scaled(cell: object, bounds: tuple[float, float]) -> float:
    low, high = bounds
    return (float(str(cell)) - low) / (high - low)
