"""Human ratings of a manifest: each must be a finite number, within the range of the scale where one is given."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from pytest_speval.corpus.numbers import number_of
from pytest_speval.corpus.roles import Cell
from pytest_speval.errors import Fault, FaultyFile
from pytest_speval.suite.corpus_keys import Scale

LARGEST = 1e9
"""No rating is larger in size: squares and products of sums of such numbers stay numbers."""


def require_ratings(
    said: str | Scale | None, cells: Sequence[Cell], planned: Sequence[int], entry: str, lines: Sequence[int]
) -> None:
    """Every planned cell that is there must be a number of the scale; raises `FaultyFile`.

    `lines` are the lines of the manifest `entry`.
    """
    bounds = said.range if isinstance(said, Scale) else None
    low, high = bounds or (-LARGEST, LARGEST)
    wanted = f"a number from {low:g} to {high:g}"
    faults = [
        Fault(entry, lines[place], 0, "number-expected", f"rating `{cells[place]}` is not {wanted}")
        for place in planned
        if cells[place] is not None and not _on_scale(str(cells[place]), low, high)
    ]
    if faults:
        raise FaultyFile(faults)


def _on_scale(text: str, low: float, high: float) -> bool:
    number = number_of(text)
    return number is not None and isfinite(number) and low <= number <= high
