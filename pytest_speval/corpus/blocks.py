"""Fixed blocks of clips: so many speakers each, in lexical order, asked one after another by one process."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_speval.corpus.roles import Cell

Identity = tuple[str, str]


def blocks_of(
    planned: Sequence[int], units: Sequence[Cell], identity: Callable[[int], Identity], size: int
) -> list[tuple[int, ...]]:
    """The places of planned clips in blocks of `size` units; `units` has one for every listed clip.

    Units and, inside a unit, clips go by code point, so that the order of rows leaves no trace. Clips without a unit
    come last and count as one unit. Only the last block may have fewer units.
    """
    by_unit: dict[tuple[str, ...], list[int]] = {}
    for place in planned:
        by_unit.setdefault(_key(units[place]), []).append(place)
    named = sorted(key for key in by_unit if key)
    ordered = [*named, *([()] if () in by_unit else [])]
    return [
        tuple(place for key in ordered[first : first + size] for place in sorted(by_unit[key], key=identity))
        for first in range(0, len(ordered), size)
    ]


def _key(unit: Cell) -> tuple[str, ...]:
    if unit is None:
        return ()
    return (unit,) if isinstance(unit, str) else tuple(unit)
