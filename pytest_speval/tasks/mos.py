"""The task `mos`: how good a clip sounds, as a number on the scorer's own scale.

The number is what a model predicts. Where the corpus has human ratings, answers are held against them, clip by clip and
by the means of systems; which system made a clip is said by a cohort called `system`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum, isfinite
from numbers import Real
from typing import Any, cast

import numpy as np

from pytest_speval.adapters.base import Rating
from pytest_speval.corpus.cohorts import CohortRule
from pytest_speval.corpus.listing import COHORT
from pytest_speval.corpus.ratings import LARGEST
from pytest_speval.errors import AnswerFault
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.plan import Question
from pytest_speval.scoring.units import unit_codes
from pytest_speval.suite.vocabulary import MetricWord, TaskWord
from pytest_speval.tasks.base import COMMON, Rules, Status, Sums
from pytest_speval.tasks.emotion_answer import reported_latency
from pytest_speval.tasks.mos_figures import BY_SYSTEM, Codes, MosFigures
from pytest_speval.tasks.observed import observed, selected_of

SYSTEM = "system"


class MosReading(MosFigures):
    """The endings of all planned clips, with what people and the scorer think of each."""

    def __init__(
        self, endings: Sequence[Ending], speakers: Codes, human: Sums | None, systems: Codes | None, systems_count: int
    ) -> None:
        said = [ending.answer if ending.state == "returned" else None for ending in endings]
        self.statuses: list[Status] = [
            "answered" if ending.state == "returned" else cast(Status, ending.state) for ending in endings
        ]
        self.answers: list[Any] = [None if answer is None else answer["value"] for answer in said]
        self.references: list[Any] = (
            [None] * len(endings) if human is None else [None if np.isnan(x) else x for x in human.tolist()]
        )
        self.correct: list[bool | None] = [None] * len(endings)
        self._said = said
        self.selected = [selected_of(answer) for answer in said]
        self._systems_count = systems_count
        ratings = np.array([np.nan if value is None else value for value in self.answers], dtype=np.float64)
        super().__init__(ratings, speakers, human, systems)

    def part(self, clips: Codes) -> MosFigures:
        human, systems = self._human, self._systems
        return MosFigures(
            self._ratings[clips],
            self._speakers[clips],
            None if human is None else human[clips],
            None if systems is None else systems[clips],
        )

    def published(self) -> dict[str, Any]:
        human = [rating for rating in self.references if rating is not None]
        seen = observed(self._said, self.selected)
        return ({} if seen is None else {"observation": seen}) | {
            "ratings": {
                "rated": len(human),
                "humanMean": _mean(human),
                "systems": None if self._systems is None else self._systems_count,
                "scores": self._scores(),
            }
        }

    def _scores(self) -> dict[str, dict[str, Any]]:
        """The means of the further scores, by name, and over how many clips each is."""
        found: dict[str, list[float]] = {}
        for answer in self._said:
            for name, score in (answer or {}).get("scores", {}).items():
                found.setdefault(name, []).append(score)
        return {name: {"mean": _mean(scores), "clips": len(scores)} for name, scores in sorted(found.items())}


class Mos:
    """How good does the clip sound?"""

    word = TaskWord(
        "mos",
        (
            MetricWord("mos", "higher", low=None, high=None),
            MetricWord("mos_speaker_mean", "higher", low=None, high=None),
            *(
                word
                for by in ("", BY_SYSTEM)
                for word in (
                    MetricWord(f"pearson{by}", "higher", low=-1.0),
                    MetricWord(f"spearman{by}", "higher", low=-1.0),
                    MetricWord(f"mse{by}", "lower", high=None),
                )
            ),
            *COMMON,
        ),
        headline="mos",
        missing="withhold",
        observable=True,
    )
    method = "rate"

    def record(self, read: object) -> tuple[dict[str, Any], float | None]:
        if not isinstance(read, Rating):
            raise AnswerFault("invalid-answer", f"rate returned {type(read).__name__}, not Rating")
        answer: dict[str, Any] = {"value": _finite("the value", read.value)}
        if read.scores is not None:
            answer["scores"] = _scores(read.scores)
        if read.observation is not None:
            answer["observation"] = dict(read.observation)
        return answer, reported_latency(read.latency_ms)

    def read(self, question: Question, rules: Rules, endings: Sequence[Ending]) -> MosReading:  # noqa: ARG002
        cells, planned = question.cells, question.planned
        speakers, _ = unit_codes([cells["speaker"][place] if "speaker" in cells else None for place in planned])
        human = None
        if "rating" in cells:
            said = [cells["rating"][place] for place in planned]
            human = np.array([np.nan if cell is None else float(str(cell)) for cell in said], dtype=np.float64)
        systems = _systems(question)
        codes, count = (None, 0) if systems is None else unit_codes(systems)
        return MosReading(endings, speakers, human, codes, count)


def _systems(question: Question) -> list[str | None] | None:
    """The system of each planned clip, None for one that has none or several; None without such a cohort."""
    cells = question.cells.get(f"{COHORT}{SYSTEM}")
    if cells is None:
        return None
    said = question.corpus.get("columns", {}).get("cohorts", {}).get(SYSTEM)
    keys = said if isinstance(said, Mapping) else {}
    rule = CohortRule(SYSTEM, keys.get("separator"), keys.get("missing") or {})
    groups = [rule.groups(cells[place]) for place in question.planned]
    return [named[0].value if len(named) == 1 else None for named in groups]


def _mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if values else None


def _scores(scores: object) -> dict[str, float]:
    if not isinstance(scores, Mapping):
        raise AnswerFault("invalid-answer", f"scores is {type(scores).__name__}: it must map names to numbers")
    plain: dict[str, float] = {}
    for name, score in scores.items():
        if not isinstance(name, str) or not name.isprintable():
            raise AnswerFault("invalid-answer", f"a score is named {name!r}: a name must be a printable text")
        plain[str.__str__(name)] = _finite(f"the score `{name}`", score)
    return plain


def _finite(what: str, number: object) -> float:
    """A plain double; numbers of numpy are numbers, truth values are not."""
    if isinstance(number, bool | np.bool_) or not isinstance(number, Real):
        raise AnswerFault("invalid-answer", f"{what} is {type(number).__name__}, not a number")
    try:
        plain = float(number)
    except OverflowError:
        raise AnswerFault("invalid-answer", f"{what} is too great for a number of 64 bits") from None
    if not isfinite(plain) or abs(plain) > LARGEST:
        found = f"{what} is {plain}, which is no rating: give a finite number of at most {LARGEST:,.0f} in size"
        raise AnswerFault("invalid-answer", found)
    return plain
