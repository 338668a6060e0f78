"""The task `emotion`: one label of a closed set for every clip."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from pytest_speval.corpus.labels import ABSTAINED, OUTSIDE, LabelRules
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.plan import Question
from pytest_speval.scoring import confusion
from pytest_speval.scoring.confusion import Absent, Codes, Confusion
from pytest_speval.scoring.flips import confusion_flips
from pytest_speval.scoring.units import Units
from pytest_speval.suite.vocabulary import MetricWord, TaskWord
from pytest_speval.tasks.base import COMMON, Rules, Status, Sums
from pytest_speval.tasks.emotion_answer import record_emotion

MEANS = ("macro_f1", "macro_f1_supported", "weighted_f1", "uar", "accuracy")
PER_LABEL = ("f1", "precision", "recall", "support")


class EmotionFigures:
    """Clips as a confusion of references and answers; `absent` says how a label without references counts.

    Where it is None, macro_f1 has no value as soon as a label has none.
    """

    def __init__(self, labels: LabelRules, references: Codes, answers: Codes, absent: Absent | None) -> None:
        self._labels = labels
        self._size = len(labels.set)
        self._absent = absent
        self._reference_codes = references
        self._answer_codes = answers
        self.confusion = Confusion.from_codes(references, answers, self._size)
        self._supported = self.confusion.support > 0

    def total(self) -> Sums:
        return self.confusion.matrix.astype(np.float64).ravel()

    def per_unit(self, units: Units, count: int) -> npt.NDArray[np.int64]:
        return confusion.per_unit(self._reference_codes, self._answer_codes, units, count, self._size)

    def estimates(self, sums: Sums) -> dict[str, Sums]:
        values = confusion.estimates(self._matrices(sums), self._absent or "zero", self._supported)
        if self._undeclared:
            values["macro_f1"] = np.full_like(values["macro_f1"], np.nan)
        flat = {name: values[name] for name in MEANS}
        for name in PER_LABEL:
            flat |= {f"{name}.{label}": values[name][..., place] for place, label in enumerate(self._labels.set)}
        return flat

    def lost(self, sums: Sums) -> dict[str, float]:
        shares = confusion.lost_share(self._matrices(sums), self._supported)
        return {label: float(share) for label, share in zip(self._labels.set, shares, strict=True) if share > 0}

    def answered_only(self) -> dict[str, float | None]:
        matrix = self.confusion.matrix.copy()
        matrix[:, self._size :] = 0
        values = confusion.estimates(matrix, self._absent or "zero", matrix.sum(axis=1) > 0)
        if self._undeclared:
            values["macro_f1"] = np.array(np.nan)
        return {name: None if np.isnan(values[name]) else float(values[name]) for name in MEANS}

    def fraction(self, metric: str) -> tuple[int, int] | None:
        matrix, stem, label = self.confusion.matrix, *self._parts(metric)
        if metric == "accuracy":
            return self.confusion.correct, self.confusion.planned
        if label is None or stem not in ("precision", "recall"):
            return None
        whole = matrix[:, label] if stem == "precision" else matrix[label]
        return int(matrix[label, label]), int(whole.sum())

    def n(self, metric: str) -> int:  # noqa: ARG002
        return self.confusion.planned

    def unit(self, metric: str) -> str:
        return "label" if metric in ("macro_f1", "macro_f1_supported", "uar") else "clip"

    def undefined(self, metric: str) -> str:
        stem, label = self._parts(metric)
        if label is None:
            return (
                f"no clip has {', '.join(self._undeclared)}: say `labels.absent`"
                if self._undeclared
                else "no clip was planned"
            )
        name = self._labels.set[label]
        return {"precision": f"`{name}` was never answered", "recall": f"`{name}` has no reference"}.get(
            stem, f"`{name}` has neither references nor answers"
        )

    def ceiling(self, metric: str) -> float | None:
        return confusion.ceiling(self._supported, self._absent or "zero") if metric == "macro_f1" else None

    def flips(self, metric: str, holds: Callable[[float], bool]) -> int | None:
        if metric.startswith("support."):
            return None
        return confusion_flips(
            self.confusion.matrix, lambda matrices: self.estimates(self._flat(matrices))[metric], holds
        )

    def tally(self) -> dict[str, int]:
        return {"correct": self.confusion.correct}

    @property
    def _undeclared(self) -> list[str]:
        """Labels without references of which nobody said how they count."""
        if self._absent is not None:
            return []
        return [label for label, present in zip(self._labels.set, self._supported, strict=True) if not present]

    def _matrices(self, sums: Sums) -> Sums:
        return sums.reshape(*sums.shape[:-1], self._size, self._size + len(confusion.OTHER_COLUMNS))

    def _flat(self, matrices: Sums) -> Sums:
        return matrices.reshape(len(matrices), -1)

    def _parts(self, metric: str) -> tuple[str, int | None]:
        stem, dot, label = metric.partition(".")
        return stem, self._labels.set.index(label) if dot else None


class EmotionReading(EmotionFigures):
    """The endings of all planned clips, and their confusion."""

    def __init__(self, labels: LabelRules, references: Sequence[str], endings: Sequence[Ending]) -> None:
        read = [labels.read(ending.answer or {}) if ending.state == "returned" else None for ending in endings]
        self.statuses: list[Status] = [
            _status(label) if label is not None else cast(Status, ending.state)
            for label, ending in zip(read, endings, strict=True)
        ]
        self.references = list(references)
        self.answers: list[Any] = [
            label if status == "answered" else None for label, status in zip(read, self.statuses, strict=True)
        ]
        self.correct = [answer == reference for answer, reference in zip(self.answers, references, strict=True)]
        size = len(labels.set)
        places: dict[str | None, int] = {label: place for place, label in enumerate(labels.set)}
        others: dict[str | None, int] = {ABSTAINED: size + confusion.ABSTAINED, OUTSIDE: size + confusion.OUTSIDE}
        columns = {**places, **others, None: size + confusion.FAILED}
        super().__init__(
            labels,
            np.array([places[label] for label in references], dtype=np.int64),
            np.array([columns[label] for label in read], dtype=np.int64),
            "omit" if labels.absent == "omit" else "zero",
        )

    def part(self, clips: npt.NDArray[np.int64]) -> EmotionFigures:
        absent = None if self._labels.absent is None else self._absent
        return EmotionFigures(self._labels, self._reference_codes[clips], self._answer_codes[clips], absent)

    def published(self) -> dict[str, Any]:
        names, matrix = self._labels.set, self.confusion.matrix.tolist()
        per_label = self.estimates(self.total())
        return {
            "macroF1": float(per_label["macro_f1"]),
            "perClassF1": {label: _number(per_label[f"f1.{label}"]) for label in names},
            "confusion": [row[: self._size] for row in matrix],
            "confusionOther": {
                name: [row[self._size + offset] for row in matrix]
                for offset, name in enumerate(confusion.OTHER_COLUMNS)
            },
            "labels": list(names),
            "absentLabels": [label for label, present in zip(names, self._supported, strict=True) if not present],
            "ceiling": self.ceiling("macro_f1"),
        }


class Emotion:
    """Which of these labels does the clip sound like?"""

    word = TaskWord(
        "emotion",
        (
            *(MetricWord(name, "higher") for name in MEANS),
            *(MetricWord(f"{name}.<label>", "higher") for name in PER_LABEL[:3]),
            MetricWord("support.<label>", "higher", high=None),
            *COMMON,
        ),
        headline="macro_f1",
        required=(("label",),),
        labelled=True,
    )
    method = "classify"

    def record(self, read: object) -> tuple[dict[str, Any], float | None]:
        return record_emotion(read)

    def read(self, question: Question, rules: Rules, endings: Sequence[Ending]) -> EmotionReading:
        if rules.labels is None:
            raise ValueError("emotion is scored against labels")
        cells = question.cells["label"]
        known = {cell: rules.labels.reference_of(cell) for cell in set(cells) if isinstance(cell, str)}
        references = [known[cells[place]] for place in question.planned]  # type: ignore[index]
        return EmotionReading(rules.labels, cast(list[str], references), endings)


def _status(label: str) -> Status:
    return "abstained" if label in (ABSTAINED, OUTSIDE) else "answered"


def _number(value: npt.NDArray[np.float64]) -> float | None:
    return None if np.isnan(value) else float(value)
