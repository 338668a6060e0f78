"""Codes that say which unit (speaker, session, cohort) a clip belongs to."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Units = npt.NDArray[np.integer[Any]]
"""A code in 0..U-1 for each clip, or a negative one for a clip without a unit."""


def held(units: Units, unit_count: int) -> npt.NDArray[np.bool_]:
    """Which clips have a unit, bool [n]. Raises ValueError for a code that is not below `unit_count`."""
    if len(units) and units.max() >= unit_count:
        raise ValueError(f"unit code {units.max()} is not below the number of units, {unit_count}")
    has_unit: npt.NDArray[np.bool_] = units >= 0
    return has_unit
