"""The listed clips of a judged run, one row each, made when they are looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.plan import Question
from pytest_speval.tasks.base import Reading

UNITS = ("speaker", "session", "family")


@dataclass(frozen=True, slots=True)
class ClipRow:
    """One listed clip as `clips.jsonl` shows it; `answer` is what counts, `raw` what the adapter said."""

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
        }


class Rows:
    """All rows in manifest order; they can be walked again and again, and none is kept."""

    def __init__(self, question: Question, reading: Reading, endings: Sequence[Ending]) -> None:
        self._question = question
        self._reading = reading
        self._endings = endings

    def __len__(self) -> int:
        return len(self._question.ids)

    def __iter__(self) -> Iterator[ClipRow]:
        question, reading = self._question, self._reading
        units = [unit for unit in UNITS if unit in question.cells]
        told = iter(
            zip(reading.statuses, reading.references, reading.answers, reading.correct, self._endings, strict=True)
        )
        for place, excluded in enumerate(question.excluded):
            keys = {unit: question.cells[unit][place] for unit in units}
            split, name = question.splits[place], question.ids[place]
            if excluded is not None:
                yield ClipRow(split, name, "excluded", excluded, None, None, None, keys, None, 0)
                continue
            status, reference, answer, correct, ending = next(told)
            reason = None if ending.code is None else f"{ending.code}: {ending.message}"
            yield ClipRow(split, name, status, reason, reference, answer, correct, keys, ending.answer, ending.attempts)
