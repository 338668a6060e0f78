"""Which listed clips are in which groups of a cohort, and which values of a condition they have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_speval.corpus.cohorts import UNAVAILABLE, Group
from pytest_speval.corpus.listing import COHORT
from pytest_speval.corpus.records import Cell
from pytest_speval.evidence.plan import Question

CONDITION = "condition."
"""How the role of a condition's column begins."""
Codes = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Grouping:
    """Groups in their order, and whether each of the few different cells is in each: bool [cells, groups].

    `cells` is the code of each listed clip's cell.
    """

    groups: tuple[Group, ...]
    members: Flags
    cells: Codes

    @classmethod
    def of(cls, column: Sequence[Cell], groups_of: Callable[[Cell], tuple[Group, ...]]) -> Grouping:
        """Group the clips of a column of cells."""
        codes: dict[Cell, int] = {}
        cells = np.fromiter((codes.setdefault(cell, len(codes)) for cell in column), dtype=np.int64, count=len(column))
        said = [groups_of(cell) for cell in codes]
        groups = tuple(sorted({group for each in said for group in each}, key=lambda group: group.rank))
        members = np.array([[group in each for group in groups] for each in said], dtype=bool)
        return cls(groups, members.reshape(len(codes), len(groups)), cells)

    def within(self, group: int) -> Flags:
        """Whether each listed clip is in a group, bool [n]."""
        inside: Flags = self.members[:, group][self.cells]
        return inside

    def sizes(self, clips: Codes) -> Codes:
        """How many of some listed clips are in each group, int64 [groups]."""
        found = np.bincount(self.cells[clips], minlength=len(self.members))
        return found @ self.members.astype(np.int64)

    @property
    def several(self) -> Flags:
        """Whether each listed clip is in more than one group, bool [n]."""
        several: Flags = (self.members.sum(axis=1) > 1)[self.cells]
        return several


def cohort_cells(question: Question, name: str) -> Sequence[Cell]:
    """The cells of a cohort; raises `ValueError` where the question holds none."""
    if f"{COHORT}{name}" not in question.cells:
        known = ", ".join(role.removeprefix(COHORT) for role in question.cells if role.startswith(COHORT))
        raise ValueError(f"score.cohorts names `{name}`, and the clips have {known or 'no cohorts'}")
    return question.cells[f"{COHORT}{name}"]


def conditions(question: Question) -> dict[str, Grouping]:
    """Every condition that the clips have, by name; each cell is one value."""
    return {
        role.removeprefix(CONDITION): Grouping.of(cells, condition_groups)
        for role, cells in sorted(question.cells.items())
        if role.startswith(CONDITION)
    }


def condition_groups(cell: Cell) -> tuple[Group]:
    """The value of a condition, which is one."""
    return (Group(cell) if isinstance(cell, str) else Group(None, UNAVAILABLE),)
