"""Groups of clips: what a cell of a cohort's column says, and why it says nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_speval.corpus.records import Cell
from pytest_speval.errors import Fault, FaultyFile

CODES = {"units-overlap": "The interval draws whole groups of a cohort, and a clip is in several of them."}
UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Group:
    """A group by its name, or why there is none: then `value` is None, which no name of a group equals."""

    value: str | None
    why: str | None = None

    @property
    def rank(self) -> tuple[bool, str, str]:
        """Where the group stands among others: in the order of the names, those without a name last."""
        return self.value is None, self.value or "", self.why or ""

    def as_dict(self) -> dict[str, Any]:
        """Plain data: kind `named` with a value, or kind `missing` with a why."""
        return {"kind": "missing" if self.value is None else "named", "value": self.value, "why": self.why}

    def __str__(self) -> str:
        return f"no group: {self.why}" if self.value is None else f"“{self.value}”"


@dataclass(frozen=True, slots=True)
class CohortRule:
    """How a cohort's cells are read.

    `missing` maps a cell to why it names no group; what is simply not there is under `""`, else unavailable. `source`
    and `version` say where the groups come from.
    """

    name: str
    separator: str | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    source: str | None = None
    version: str | None = None

    def groups(self, cell: Cell) -> tuple[Group, ...]:
        """The groups that a cell names, each once, in their order; the typed missing group where it names none.

        A separator splits the cell, and blanks around its parts belong to the list and not to a name. Without one the
        cell is a name as it stands. A part that means missing counts only where no other part names a group.
        """
        parts = self._parts(cell)
        names = sorted({part for part in parts if part and part not in self.missing})
        if names:
            return tuple(map(Group, names))
        why = next((self.missing[part] for part in parts if part and part in self.missing), None)
        return (Group(None, why or self.missing.get("", UNAVAILABLE)),)

    def _parts(self, cell: Cell) -> tuple[str, ...]:
        if cell is None:
            return ()
        if isinstance(cell, tuple):
            return cell
        if self.separator is None or cell in self.missing:
            return (cell,)
        return tuple(part.strip() for part in cell.split(self.separator))


def in_several(rule: CohortRule, cells: Sequence[Cell], planned: Sequence[int]) -> list[int]:
    """The places of the planned clips that are in more than one group of a cohort."""
    found = {cell: len(rule.groups(cell)) > 1 for cell in {cells[place] for place in planned}}
    return [place for place in planned if found[cells[place]]]


def clips_in_several(clips: int, name: str) -> str:
    """What is wrong with so many clips of a cohort whose groups are drawn."""
    return f"{clips:,} clip{' is' if clips == 1 else 's are'} in several groups of {name}"


def require_one_group(
    rule: CohortRule, cells: Sequence[Cell], planned: Sequence[int], entry: str, lines: Sequence[int]
) -> None:
    """Whole groups are drawn, so each planned clip must be in at most one; raises `FaultyFile`."""
    shared = in_several(rule, cells, planned)
    if shared:
        message = f"{clips_in_several(len(shared), rule.name)}: they cannot be the unit of `score.interval`"
        raise FaultyFile([Fault(entry, lines[shared[0]], 0, "units-overlap", message)])
