"""Confusion counts of a closed label set, and the estimates that are functions of them.

Rows are references. Columns are answers: the K labels, then three columns for clips without a label of the
set, at K + ABSTAINED, K + OUTSIDE and K + FAILED. So every planned clip has a cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pytest_speval.scoring.units import Units, held

Absent = Literal["zero", "omit"]
Codes = npt.NDArray[np.integer[Any]]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

ABSTAINED, OUTSIDE, FAILED = range(3)
"""Offsets from K of the columns behind the labels."""

OTHER_COLUMNS = ("abstained", "outside", "failed")
"""Names of the columns behind the labels, in order."""


@dataclass(frozen=True, slots=True, eq=False)
class Confusion:
    """Counts of planned clips by reference and answer.

    `matrix` is an int64 array [K, K + 3] and cannot be written to.
    """

    matrix: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        matrix = np.array(self.matrix, dtype=np.int64)
        if matrix.ndim != 2 or matrix.shape[1] != matrix.shape[0] + len(OTHER_COLUMNS):
            raise ValueError(f"a confusion matrix has the shape [K, K + 3], not {list(matrix.shape)}")
        matrix.setflags(write=False)
        object.__setattr__(self, "matrix", matrix)

    @classmethod
    def zero(cls, labels: int) -> Confusion:
        """No clips yet, for a set of so many labels."""
        return cls(np.zeros((labels, labels + len(OTHER_COLUMNS)), dtype=np.int64))

    @classmethod
    def from_codes(cls, references: Codes, answers: Codes, labels: int) -> Confusion:
        """Count clips from two integer arrays of one length.

        References lie in 0..K-1, answers in 0..K+2, where K is `labels`. Raises ValueError for other codes.
        """
        size = labels * (labels + len(OTHER_COLUMNS))
        counts = np.bincount(_cells(references, answers, labels), minlength=size)
        return cls(counts.reshape(labels, labels + len(OTHER_COLUMNS)))

    def __add__(self, other: Confusion) -> Confusion:
        if self.matrix.shape != other.matrix.shape:
            raise ValueError(f"confusions of {len(self.matrix)} and of {len(other.matrix)} labels cannot be added")
        return Confusion(self.matrix + other.matrix)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Confusion) and np.array_equal(self.matrix, other.matrix)

    __hash__ = None  # type: ignore[assignment]

    @property
    def support(self) -> npt.NDArray[np.int64]:
        """Clips of each reference label, int64 [K], whatever was answered."""
        support: npt.NDArray[np.int64] = self.matrix.sum(axis=1)
        return support

    @property
    def planned(self) -> int:
        """All clips."""
        return int(self.matrix.sum())

    @property
    def correct(self) -> int:
        """Clips whose answer is their reference."""
        return int(np.trace(self.matrix))


def per_unit(references: Codes, answers: Codes, units: Units, unit_count: int, labels: int) -> npt.NDArray[np.int64]:
    """Count the confusion of every unit, flattened: int64 [U, K * (K + 3)].

    `units` holds a code in 0..U-1 for each clip, or a negative one for clips without a unit, which are left
    out. Raises ValueError for codes outside their range.
    """
    size = labels * (labels + len(OTHER_COLUMNS))
    kept = held(units, unit_count)
    cells = units.astype(np.int64) * size + _cells(references, answers, labels)
    counts = np.bincount(cells[kept], minlength=unit_count * size)
    return counts.reshape(unit_count, size)


def _cells(references: Codes, answers: Codes, labels: int) -> npt.NDArray[np.int64]:
    """Position of every clip in the flattened matrix."""
    columns = labels + len(OTHER_COLUMNS)
    if references.shape != answers.shape or references.ndim != 1:
        raise ValueError(f"{references.shape} references and {answers.shape} answers are not one to one")
    for name, codes, end in (("reference", references, labels), ("answer", answers, columns)):
        if len(codes) and (codes.min() < 0 or codes.max() >= end):
            raise ValueError(f"{name} codes reach from {codes.min()} to {codes.max()}, not within 0..{end - 1}")
    cells = references.astype(np.int64)
    cells *= columns
    cells += answers
    return cells


def estimates(matrix: npt.NDArray[np.integer[Any]] | Floats, absent: Absent, supported: Flags) -> dict[str, Floats]:
    """Every estimate of one or of many confusion matrices.

    `matrix` is [..., K, K + 3]; the leading axes are those of the result, for example bootstrap replicates.
    `supported` [K] says which labels have support in the whole set (for a point estimate: in this matrix).

    Returns `accuracy`, `macro_f1`, `macro_f1_supported`, `weighted_f1` and `uar` of shape [...], and `f1`,
    `precision`, `recall` and `support` of shape [..., K]. What is undefined is NaN.

    - precision = hits / answers within the set; recall = hits / support, which counts all columns;
      F1 = 2 hits / (support + answers), the harmonic mean of the two.
    - accuracy = hits / planned clips.
    - macro_f1 is the mean F1 of the labels. A label without support in the whole set counts 0 under `zero`
      and is left out under `omit`. A supported label that this matrix lost (no support, no answers) is left
      out. macro_f1_supported is the mean over supported labels only.
    - weighted_f1 weighs F1 by support; uar is the mean recall of the labels with support (unweighted average
      recall, Schuller et al., Interspeech 2009).
    """
    counts = np.asarray(matrix, dtype=np.float64)
    hits = np.diagonal(counts, axis1=-2, axis2=-1)
    support, answers = _margins(counts)
    planned = support.sum(axis=-1)
    f1 = _quotient(2 * hits, support + answers)
    recall = _quotient(hits, support)

    kept = supported & (support + answers > 0)
    macro_f1_supported = _mean(f1, kept)
    macro_f1 = macro_f1_supported
    if absent == "zero":
        counted = (kept | ~supported) & (planned > 0)[..., None]
        macro_f1 = _quotient(np.where(kept, f1, 0.0).sum(axis=-1), counted.sum(axis=-1))
    return {
        "accuracy": _quotient(hits.sum(axis=-1), planned),
        "macro_f1": macro_f1,
        "macro_f1_supported": macro_f1_supported,
        "weighted_f1": _quotient(np.where(support > 0, f1 * support, 0.0).sum(axis=-1), planned),
        "uar": _mean(recall, supported & (support > 0)),
        "f1": f1,
        "precision": _quotient(hits, answers),
        "recall": recall,
        "support": support,
    }


def ceiling(supported: Flags, absent: Absent) -> float:
    """The greatest macro_f1 that any answers can reach: supported / declared labels, 1 where absent are omitted."""
    return float(np.mean(supported)) if absent == "zero" else 1.0


def lost_share(matrices: Floats, supported: Flags) -> Floats:
    """Share of replicates [R, K, K + 3] without support and answers for a label, [K]; 0 for unsupported labels."""
    support, answers = _margins(matrices)
    return np.where(supported, (support + answers == 0).mean(axis=0), 0.0)


def _margins(counts: Floats) -> tuple[Floats, Floats]:
    """Support over all columns, and answers within the set, both [..., K]."""
    return counts.sum(axis=-1), counts[..., : counts.shape[-2]].sum(axis=-2)


def _quotient(numerator: Floats, denominator: npt.NDArray[Any]) -> Floats:
    """Numerator over denominator, NaN where the denominator is 0."""
    undefined = np.full(np.shape(denominator), np.nan)
    quotient: Floats = np.divide(numerator, denominator, out=undefined, where=denominator > 0)
    return quotient


def _mean(values: Floats, included: Flags) -> Floats:
    """Mean over the last axis of the included values, NaN where there is none."""
    return _quotient(np.where(included, values, 0.0).sum(axis=-1), included.sum(axis=-1))
