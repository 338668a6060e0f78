"""The listed clips of a judged run, one row each, made when they are looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_speval.corpus.cohorts import CohortRule
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.plan import Question
from pytest_speval.judge.grouping import CONDITION, cohort_cells
from pytest_speval.tasks.base import Aligned, Reading, Watched

UNITS = ("speaker", "session", "family")


@dataclass(frozen=True, slots=True)
class ClipRow:
    """One listed clip as `clips.jsonl` shows it; `answer` is what counts, `raw` what the adapter said.

    `more` holds what only some runs have: the operations of an alignment; the digests of kept arrays; how much of a
    clip a scorer selected; where there are cohorts, in which groups the clip is and under which conditions.
    """

    split: str
    id: str
    status: str
    reason: str | None
    reference: Any
    answer: Any
    correct: bool | None
    units: Mapping[str, Any]
    raw: Any
    attempts: int
    more: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain data, ready for canonical JSON."""
        return {
            "split": self.split,
            "id": self.id,
            "status": self.status,
            "reason": self.reason,
            "reference": self.reference,
            "answer": self.answer,
            "correct": self.correct,
            "units": self.units,
            "raw": self.raw,
            "attempts": self.attempts,
            **self.more,
        }


class Rows:
    """All rows in manifest order; they can be walked again and again, and none is kept."""

    def __init__(
        self, question: Question, reading: Reading, endings: Sequence[Ending], cohorts: Sequence[CohortRule] = ()
    ) -> None:
        self._question = question
        self._reading = reading
        self._endings = endings
        self._cohorts = cohorts

    def __len__(self) -> int:
        return len(self._question.ids)

    def __iter__(self) -> Iterator[ClipRow]:
        question, reading = self._question, self._reading
        units = [unit for unit in UNITS if unit in question.cells]
        ops = [{"ops": said} for said in reading.ops] if isinstance(reading, Aligned) else [{}] * len(self._endings)
        told = iter(
            zip(
                reading.statuses,
                reading.references,
                reading.answers,
                reading.correct,
                ops,
                reading.selected if isinstance(reading, Watched) else [None] * len(self._endings),
                self._endings,
                strict=True,
            )
        )
        for place, excluded in enumerate(question.excluded):
            keys = {unit: question.cells[unit][place] for unit in units}
            split, name = question.splits[place], question.ids[place]
            placed = self._placed(place) if self._cohorts else {}
            if excluded is not None:
                yield ClipRow(split, name, "excluded", excluded, None, None, None, keys, None, 0, placed)
                continue
            status, reference, answer, correct, aligned, selected, ending = next(told)
            reason = None if ending.code is None else f"{ending.code}: {ending.message}"
            raw, attempts = ending.answer, ending.attempts
            more = aligned | placed
            if selected is not None:
                more |= {"selected": {"samples": selected[0], "of": selected[1]}}
            if ending.arrays:
                more |= {"arrays": {key: kept.sha256 for key, kept in ending.arrays.items()}}
            yield ClipRow(split, name, status, reason, reference, answer, correct, keys, raw, attempts, more)

    def _placed(self, place: int) -> dict[str, Any]:
        """The groups a clip belongs to, its conditions, and whether it is kept out of all groups."""
        question = self._question
        return {
            "cohorts": {
                rule.name: [group.as_dict() for group in rule.groups(cohort_cells(question, rule.name)[place])]
                for rule in self._cohorts
            },
            "conditions": {
                role.removeprefix(CONDITION): cells[place]
                for role, cells in question.cells.items()
                if role.startswith(CONDITION)
            },
            "quarantined": place in question.quarantined,
        }
