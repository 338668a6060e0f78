"""Sums from which concordance (CCC) and mean absolute error follow, for one axis of affect.

Values lie in 0..1 and are centred by 0.5 before they are squared. Both measures are the same for shifted values,
and the sums cancel less. Every sum is the same for any order of the clips.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from math import fsum, isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_speval.scoring.units import Units, held

Floats = npt.NDArray[np.float64]
Values = npt.NDArray[np.floating[Any]]

CENTRE = 0.5
CONSTANT = 1e-12
"""Values whose variance is at most this share of their mean square about the centre count as constant.

Without it, the rounding of the sums would pass for a spread. It hides deviations up to a millionth of the distance
between the values and the centre.
"""


@dataclass(frozen=True, slots=True)
class Moments:
    """Sums over n pairs of reference x and answer y, both centred by 0.5; `sum_abs` is the sum of |x - y|.

    Adding is exact up to rounding. For results that may not depend on shards, build from all pairs at once.
    """

    n: int
    sum_x: float
    sum_y: float
    sum_xx: float
    sum_yy: float
    sum_xy: float
    sum_abs: float

    @classmethod
    def zero(cls) -> Moments:
        """No pairs yet."""
        return cls(0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    @classmethod
    def of(cls, references: Values, answers: Values) -> Moments:
        """Sum up two arrays [n] of values in 0..1; each sum is correctly rounded.

        Raises ValueError where a value is not finite or the lengths differ.
        """
        terms = _terms(references, answers)
        return cls(terms.shape[1], *(fsum(term.tolist()) for term in terms[1:]))

    def __add__(self, other: Moments) -> Moments:
        return Moments(*(mine + others for mine, others in zip(astuple(self), astuple(other), strict=True)))

    @property
    def ccc(self) -> float | None:
        """Concordance, or None where there are no pairs or all values are one and the same."""
        value = float(ccc(np.array(astuple(self), dtype=np.float64)))
        return None if isnan(value) else value

    @property
    def mae(self) -> float | None:
        """Mean absolute error, or None where there are no pairs."""
        return self.sum_abs / self.n if self.n else None


def per_unit(references: Values, answers: Values, units: Units, unit_count: int) -> Floats:
    """Sum up every unit: float64 [U, 7], columns in the order of the fields of `Moments`.

    `units` holds a code in 0..U-1 for each pair, or a negative one for pairs to leave out.
    """
    terms = _terms(references, answers)
    # Floats are added in the order of their values, so that the order of the clips leaves no trace.
    order = np.lexsort((answers, references, units))
    order = order[held(units, unit_count)[order]]
    owners = units[order].astype(np.int64)
    sums = [np.bincount(owners, weights=term[order], minlength=unit_count) for term in terms]
    return np.stack(sums, axis=1)


def _terms(references: Values, answers: Values) -> Floats:
    """What each pair adds to each of the seven sums, [7, n]."""
    if references.shape != answers.shape or references.ndim != 1:
        raise ValueError(f"{references.shape} references and {answers.shape} answers are not one to one")
    if not (np.isfinite(references).all() and np.isfinite(answers).all()):
        raise ValueError("a reference or an answer is not a finite number")
    x, y = references.astype(np.float64), answers.astype(np.float64)
    errors = np.abs(x - y)
    x -= CENTRE
    y -= CENTRE
    return np.stack([np.ones_like(x), x, y, x * x, y * y, x * y, errors])


def ccc(sums: Floats) -> Floats:
    """Concordance correlation coefficient of sums [..., 7] -> [...], NaN where undefined.

    2 cov / (var_x + var_y + (mean_x - mean_y)^2) with population moments (Lin, Biometrics 1989). Undefined without
    pairs, and where both variances are 0 and the means are equal; 0 where a side is constant otherwise.
    """
    n, sum_x, sum_y, sum_xx, sum_yy, sum_xy = np.moveaxis(np.asarray(sums, dtype=np.float64), -1, 0)[:6]
    spread_x, spread_y = n * sum_xx - sum_x * sum_x, n * sum_yy - sum_y * sum_y
    varies_x, varies_y = spread_x > CONSTANT * n * sum_xx, spread_y > CONSTANT * n * sum_yy
    shared = np.where(varies_x & varies_y, n * sum_xy - sum_x * sum_y, 0.0)
    shift = sum_x - sum_y
    total = np.where(varies_x, spread_x, 0.0) + np.where(varies_y, spread_y, 0.0) + shift * shift
    return _quotient(2 * shared, total)


def mae(sums: Floats) -> Floats:
    """Mean absolute error of sums [..., 7] -> [...], NaN without pairs."""
    return _quotient(sums[..., 6], sums[..., 0])


def _quotient(numerator: Floats, denominator: Floats) -> Floats:
    """Numerator over denominator, NaN where the denominator is 0."""
    undefined = np.full(np.shape(denominator), np.nan)
    quotient: Floats = np.divide(numerator, denominator, out=undefined, where=denominator > 0)
    return quotient
