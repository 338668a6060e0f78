"""How many clips would have to change to turn a verdict.

For a ratio of counts the number is exact. For a mean over labels it is found by changing one clip after another, each
time the one that moves the estimate most: never fewer than the truth, and the same in every run.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Holds = Callable[[float], bool]


def ratio_flips(numerator: int, denominator: int, holds: Holds) -> int | None:
    """The smallest change of `numerator`, within 0..`denominator`, that turns `holds(numerator / denominator)`.

    None where no change does. `holds` must be monotone.
    """
    before = holds(numerator / denominator)
    found = [
        abs(edge - numerator)
        for edge in (
            _edge(numerator, 0, denominator, holds),
            _edge(numerator, denominator, denominator, holds),
        )
        if holds(edge / denominator) != before
    ]
    return min(found, default=None)


def _edge(near: int, far: int, denominator: int, holds: Holds) -> int:
    """The first count on the way from `near` to `far` with another verdict, else `far`."""
    before = holds(near / denominator)
    while abs(far - near) > 1:
        middle = (near + far) // 2
        if holds(middle / denominator) == before:
            near = middle
        else:
            far = middle
    return far


def confusion_flips(matrix: npt.NDArray[np.int64], value_of: Callable[[Floats], Floats], holds: Holds) -> int | None:
    """Clips to put right, or to spoil, until `holds(value_of(matrix))` turns; None where nothing turns it.

    No change that leaves the estimate undefined is among them: without a value there is no verdict to turn to.
    `matrix` is [K, K + 3]; `value_of` maps matrices [M, K, K + 3] to values [M] and rises with right answers. `holds`
    must be true of high values.
    """
    counts = matrix.astype(np.float64)
    (start,) = value_of(counts[np.newaxis])
    if math.isnan(start):
        return None
    repair = not holds(float(start))
    moves = _moves(len(counts), repair)
    changed, block, growing = 0, 1, True
    while possible := [(source, target) for source, target in moves if counts[source] > 0]:
        steepest = _steepest(counts, possible, value_of, repair)
        if steepest is None:
            break
        source, target = steepest
        step = min(block, int(counts[source]))
        after = counts.copy()
        after[source] -= step
        after[target] += step
        (value,) = value_of(after[np.newaxis])
        if math.isnan(value) or holds(float(value)) == repair:
            if step == 1:
                return changed + 1
            block, growing = step // 2, False
            continue
        counts, changed = after, changed + step
        block = block * 2 if growing else block
    return None


def error_flips(errors: npt.NDArray[np.int64], units: npt.NDArray[np.int64], holds: Holds) -> int | None:
    """Clips to put right, or to lose, until `holds(sum of errors / sum of units)` turns; None where nothing turns it.

    A clip put right has no errors, a lost one as many as it has units. `holds` must be true of low values.
    """
    whole, found = int(units.sum()), int(errors.sum())
    if not whole:
        return None
    repair = not holds(found / whole)
    steps = -np.sort(-errors) if repair else np.sort(errors - units)
    reached = (found - np.cumsum(steps[steps != 0] if repair else steps[steps < 0])).tolist()
    turned = bisect_left(reached, True, key=lambda count: holds(count / whole) == repair)
    return turned + 1 if turned < len(reached) else None


Cell = tuple[int, int]


def _moves(labels: int, repair: bool) -> list[tuple[Cell, Cell]]:
    """From every wrong cell to the right one of its row, or the other way."""
    pairs = [((row, column), (row, row)) for row in range(labels) for column in range(labels + 3) if column != row]
    return pairs if repair else [(right, wrong) for wrong, right in pairs]


def _steepest(
    counts: Floats, moves: list[tuple[Cell, Cell]], value_of: Callable[[Floats], Floats], rising: bool
) -> tuple[Cell, Cell] | None:
    """The move of one clip that moves the estimate most, or None where each would leave it undefined."""
    candidates = np.repeat(counts[np.newaxis], len(moves), axis=0)
    for row, (source, target) in enumerate(moves):
        candidates[row][source] -= 1
        candidates[row][target] += 1
    values = value_of(candidates)
    if np.isnan(values).all():
        return None
    return moves[int(np.nanargmax(values) if rising else np.nanargmin(values))]
