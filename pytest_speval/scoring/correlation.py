"""Correlations and squared errors of pairs: a human score x and an answer y.

Everything is a function of sums over pairs, so whole units can be drawn. Ranks of pairs are no such sums; they follow
from how often each pair was drawn. Where a side does not vary, a correlation is undefined.
"""

from __future__ import annotations

from math import fsum

import numpy as np
import numpy.typing as npt

from pytest_speval.scoring.units import Units, held

Floats = npt.NDArray[np.float64]

PAIRS, X, Y, XX, YY, XY, SQUARES = range(7)
"""Sums over pairs, x and y each less its mean over all pairs; the last is of (x - y)^2."""
WIDTH = 7
CONSTANT = 1e-12
"""A side whose variance is at most this share of its mean square counts as constant: it could be rounding."""
ALIKE = 1e-9
"""Means that differ by less are one and the same: they tie in rank."""


def pair_sums(x: Floats, y: Floats, units: Units, count: int) -> Floats:
    """Sum up pairs [n] by unit: float64 [U, 7]; pairs with a negative code are left out.

    Doubles are added in the order of the pairs' values, so that the order of clips leaves no trace.
    """
    order = np.lexsort((y, x))
    order = order[held(units, count)[order]]
    dx, dy = _centred(x)[order], _centred(y)[order]
    errors = x[order] - y[order]
    terms = (np.ones(len(order)), dx, dy, dx * dx, dy * dy, dx * dy, errors * errors)
    sums = [np.bincount(units[order], weights=term, minlength=count) for term in terms]
    return np.stack(sums, axis=1).astype(np.float64)


def _centred(values: Floats) -> Floats:
    return values - fsum(values.tolist()) / len(values) if len(values) else values


def pearson(sums: Floats) -> Floats:
    """Pearson's correlation of sums [..., 7] -> [...], NaN where a side does not vary."""
    n, x, y, xx, yy, xy = (sums[..., column] for column in range(SQUARES))
    spread_x, spread_y = n * xx - x * x, n * yy - y * y
    varies = (spread_x > CONSTANT * n * xx) & (spread_y > CONSTANT * n * yy)
    return _correlation(n * xy - x * y, spread_x, spread_y, varies)


def mean_square(sums: Floats) -> Floats:
    """Mean squared error of sums [..., 7] -> [...], NaN without pairs."""
    return _quotient(sums[..., SQUARES], sums[..., PAIRS])


def spearman(x: Floats, y: Floats, times: Floats) -> Floats:
    """Spearman's correlation of pairs [n], each drawn so many `times` [..., n] -> [...]; ties share their mean rank.

    A pair that was drawn k times counts as k pairs that tie. Ranks are multiples of a half, so nothing rounds.
    """
    middle = (times.sum(axis=-1, keepdims=True) + 1) / 2
    dx, dy = _ranks(x, times) - middle, _ranks(y, times) - middle
    spread_x, spread_y = (times * dx * dx).sum(axis=-1), (times * dy * dy).sum(axis=-1)
    return _correlation((times * dx * dy).sum(axis=-1), spread_x, spread_y, (spread_x > 0) & (spread_y > 0))


def _ranks(values: Floats, times: Floats) -> Floats:
    """The mean rank [..., n] of each value among all draws, the first rank being 1."""
    if not len(values):
        return times
    _, starts, groups = np.unique(np.sort(values), return_index=True, return_inverse=True)
    order = np.argsort(values, kind="stable")
    sizes = np.add.reduceat(times[..., order], starts, axis=-1)
    ranks = np.cumsum(sizes, axis=-1) - (sizes - 1) / 2
    result = np.empty_like(times)
    result[..., order] = ranks[..., groups]
    return result


def group_pearson(x: Floats, y: Floats) -> Floats:
    """Pearson's correlation over groups with means x and y [..., S] -> [...]; a group that was not drawn has NaN."""
    dx, dy = _deviations(x), _deviations(y)
    varies = (np.abs(dx).max(axis=-1, initial=0) > ALIKE) & (np.abs(dy).max(axis=-1, initial=0) > ALIKE)
    return _correlation((dx * dy).sum(axis=-1), (dx * dx).sum(axis=-1), (dy * dy).sum(axis=-1), varies)


def group_spearman(x: Floats, y: Floats) -> Floats:
    """Spearman's correlation over groups, as `group_pearson`; means that are alike tie."""
    return group_pearson(_row_ranks(x), _row_ranks(y))


def group_mean_square(x: Floats, y: Floats) -> Floats:
    """Mean squared difference of the groups' means, NaN without groups."""
    return _quotient(np.nansum(np.square(x - y), axis=-1), np.isfinite(x).sum(axis=-1))


def _deviations(means: Floats) -> Floats:
    """Means less their mean over the groups that were drawn; 0 for the others."""
    present = np.isfinite(means)
    middle = np.nansum(means, axis=-1) / np.maximum(present.sum(axis=-1), 1)
    return np.where(present, means - middle[..., np.newaxis], 0.0)


def _row_ranks(means: Floats) -> Floats:
    """The rank of each mean in its row, ties at their mean rank, NaN kept."""
    places = np.broadcast_to(np.arange(means.shape[-1]), means.shape)
    order = np.argsort(means, axis=-1, kind="stable")  # NaN stands last
    ascending = np.take_along_axis(means, order, axis=-1)
    new = np.ones(means.shape, dtype=bool)
    new[..., 1:] = ascending[..., 1:] - ascending[..., :-1] > ALIKE
    last = np.ones(means.shape, dtype=bool)
    last[..., :-1] = new[..., 1:] | np.isnan(ascending[..., 1:])
    first = np.maximum.accumulate(np.where(new, places, 0), axis=-1)
    backwards = np.where(last, places, means.shape[-1])[..., ::-1]
    final = np.minimum.accumulate(backwards, axis=-1)[..., ::-1]
    ranks = np.empty(means.shape)
    np.put_along_axis(ranks, order, (first + final) / 2 + 1, axis=-1)
    return np.where(np.isnan(means), np.nan, ranks)


def _correlation(shared: Floats, spread_x: Floats, spread_y: Floats, varies: npt.NDArray[np.bool_]) -> Floats:
    spread = np.sqrt(np.maximum(spread_x, 0.0) * np.maximum(spread_y, 0.0))
    found = _quotient(shared, np.where(varies, spread, 0.0))
    return np.clip(found, -1.0, 1.0)


def _quotient(numerator: Floats, denominator: npt.ArrayLike) -> Floats:
    """Numerator over denominator, NaN where the denominator is 0."""
    whole = np.asarray(denominator, dtype=np.float64)
    undefined = np.full(np.shape(whole), np.nan)
    quotient: Floats = np.divide(numerator, whole, out=undefined, where=whole > 0)
    return quotient
