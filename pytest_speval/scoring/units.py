"""Codes that say which unit (speaker, session, cohort) a clip belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Units = npt.NDArray[np.integer[Any]]
"""A code in 0..U-1 for each clip, or a negative one for a clip without a unit."""


def unit_codes(keys: Sequence[Any]) -> tuple[npt.NDArray[np.int64], int]:
    """Code keys in their own order, so that the order of clips leaves no trace; None is -1. Returns codes and count."""
    named = {key: code for code, key in enumerate(sorted({key for key in keys if key is not None}))}
    return np.array([-1 if key is None else named[key] for key in keys], dtype=np.int64), len(named)


def held(units: Units, unit_count: int) -> npt.NDArray[np.bool_]:
    """Which clips have a unit, bool [n]. Raises ValueError for a code that is not below `unit_count`."""
    if len(units) and units.max() >= unit_count:
        raise ValueError(f"unit code {units.max()} is not below the number of units, {unit_count}")
    has_unit: npt.NDArray[np.bool_] = units >= 0
    return has_unit
