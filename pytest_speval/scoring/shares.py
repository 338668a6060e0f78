"""Shares that weigh every unit alike, as exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from pytest_speval.scoring.units import Units, held


def mean_share(hits: npt.NDArray[np.bool_], units: Units, unit_count: int) -> Fraction | None:
    """The mean over units of (clips of the unit that hit / clips of the unit); None without a unit.

    `hits` is bool [n]; `units` holds a code in 0..U-1 for each clip, or a negative one for clips to leave out.
    """
    kept = held(units, unit_count)
    sizes = np.bincount(units[kept], minlength=unit_count)
    hits_of = np.bincount(units[kept & hits], minlength=unit_count)
    count = int(np.count_nonzero(sizes))
    if not count:
        return None
    hits_by_size = np.bincount(sizes, weights=hits_of)  # units of one size have one denominator
    return sum((Fraction(int(found), size) for size, found in enumerate(hits_by_size) if found), Fraction(0)) / count
