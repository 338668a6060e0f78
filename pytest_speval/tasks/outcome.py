"""The task `outcome`: what became of each clip, as the manifest records it. No model is asked.

A clip is one eligible task that somebody tried. `unknown` stays among the attempts: it is neither matched nor failed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from pytest_speval.adapters.manifest_outcomes import OutcomeRead
from pytest_speval.corpus.outcomes import OUTCOMES
from pytest_speval.errors import AnswerFault
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.plan import Question
from pytest_speval.scoring.flips import ratio_flips
from pytest_speval.scoring.shares import mean_share
from pytest_speval.scoring.units import Units, held, unit_codes
from pytest_speval.suite.vocabulary import MetricWord, TaskWord
from pytest_speval.tasks.base import COMMON, Rules, Status, Sums

MATCHED, FAILED, UNKNOWN, NONE = range(4)
"""Codes of the outcomes, and of a clip whose outcome was not read."""
CLIPS, SHARES, SPEAKERS = range(4, 7)
"""Sums behind the counts of codes: clips, shares of the speakers' clips that matched, speakers."""
WIDTH = 7


class OutcomeFigures:
    """Clips by what became of them, and by who spoke; a negative speaker is not known."""

    def __init__(self, outcomes: npt.NDArray[np.int64], speakers: Units) -> None:
        self._outcomes = outcomes
        self._speakers = speakers
        self._speaker_count = int(speakers.max(initial=-1)) + 1
        self._counts = np.bincount(outcomes, minlength=4)

    def total(self) -> Sums:
        sums: Sums = self.per_unit(np.zeros(len(self._outcomes), dtype=np.int64), 1)[0]
        return sums

    def per_unit(self, units: Units, count: int) -> Sums:
        """Counts of the outcomes; and for each speaker the share of all their clips that matched in the unit.

        Over all clips of a speaker these shares are their matched clips by their clips, and weights of 1.
        """
        kept = held(units, count)
        sums = np.zeros((count, WIDTH))
        cells = units[kept].astype(np.int64) * 4 + self._outcomes[kept]
        sums[:, :4] = np.bincount(cells, minlength=count * 4).reshape(count, 4)
        sums[:, CLIPS] = sums[:, :4].sum(axis=1)
        kept &= self._speakers >= 0
        speakers = self._speakers[kept]
        pairs, pair = np.unique(units[kept].astype(np.int64) * self._speaker_count + speakers, return_inverse=True)
        if len(pairs):
            unit, speaker = np.divmod(pairs, self._speaker_count)
            clips_of = np.bincount(self._speakers[self._speakers >= 0], minlength=self._speaker_count)[speaker]
            matched = np.bincount(pair, weights=self._outcomes[kept] == MATCHED)
            sums[:, SHARES] = np.bincount(unit, weights=matched / clips_of, minlength=count)
            sums[:, SPEAKERS] = np.bincount(unit, weights=np.bincount(pair) / clips_of, minlength=count)
        return sums

    def estimates(self, sums: Sums) -> dict[str, Sums]:
        return {
            "completion": _quotient(sums[..., MATCHED], sums[..., CLIPS]),
            "completion_by_speaker": _quotient(sums[..., SHARES], sums[..., SPEAKERS]),
            "known_only.completion": _quotient(sums[..., MATCHED], sums[..., MATCHED] + sums[..., FAILED]),
        }

    def lost(self, sums: Sums) -> dict[str, float]:  # noqa: ARG002
        return {}

    def answered_only(self) -> dict[str, float | None]:
        matched, answered = int(self._counts[MATCHED]), int(self._counts[:NONE].sum())
        return {"completion": matched / answered if answered else None}

    def fraction(self, metric: str) -> tuple[int, int] | None:
        matched = int(self._counts[MATCHED])
        if metric != "completion_by_speaker":
            return matched, self.n(metric)
        share = self._share
        return None if share is None else (share.numerator, share.denominator)

    def n(self, metric: str) -> int:
        if metric == "known_only.completion":
            return int(self._counts[MATCHED] + self._counts[FAILED])
        if metric == "completion_by_speaker":
            return len(np.unique(self._speakers[self._speakers >= 0]))
        return len(self._outcomes)

    def unit(self, metric: str) -> str:
        return "speaker" if metric == "completion_by_speaker" else "clip"

    def undefined(self, metric: str) -> str:
        reasons = {"completion_by_speaker": "no speaker is known", "known_only.completion": "no outcome is known"}
        return reasons.get(metric, "no clip was planned")

    def ceiling(self, metric: str) -> float | None:  # noqa: ARG002
        return None

    def flips(self, metric: str, holds: Callable[[float], bool]) -> int | None:
        if metric == "completion_by_speaker":
            return None
        return ratio_flips(int(self._counts[MATCHED]), self.n(metric), holds)

    def tally(self) -> dict[str, int]:
        return {name: int(self._counts[code]) for code, name in enumerate(OUTCOMES)}

    @property
    def _share(self) -> Fraction | None:
        return mean_share(self._outcomes == MATCHED, self._speakers, self._speaker_count)


class OutcomeReading(OutcomeFigures):
    """The recorded outcomes of all planned clips."""

    def __init__(self, endings: Sequence[Ending], speakers: Units) -> None:
        self.answers: list[Any] = [(ending.answer or {}).get("outcome") for ending in endings]
        self.statuses: list[Status] = [
            "answered" if ending.state == "returned" else cast(Status, ending.state) for ending in endings
        ]
        self.references: list[Any] = [None] * len(endings)
        self.correct = [answer == OUTCOMES[MATCHED] for answer in self.answers]
        codes = {name: code for code, name in enumerate(OUTCOMES)}
        super().__init__(np.array([codes.get(answer, NONE) for answer in self.answers], dtype=np.int64), speakers)

    def part(self, clips: npt.NDArray[np.int64]) -> OutcomeFigures:
        return OutcomeFigures(self._outcomes[clips], self._speakers[clips])

    def published(self) -> dict[str, Any]:
        return {"outcomes": self.tally()}


class Outcome:
    """What became of the clip when somebody tried?"""

    word = TaskWord(
        "outcome",
        (
            MetricWord("completion", "higher"),
            MetricWord("completion_by_speaker", "higher"),
            MetricWord("known_only.completion", "higher"),
            *COMMON,
        ),
        headline="completion",
        required=(("outcome",),),
        forbidden=("adapter", "adapters"),
    )
    method = "outcome"

    def record(self, read: object) -> tuple[dict[str, Any], float | None]:
        if not isinstance(read, OutcomeRead) or read.outcome not in OUTCOMES:
            raise AnswerFault("invalid-answer", f"{read!r} is no outcome: it must be one of {', '.join(OUTCOMES)}")
        return {"outcome": read.outcome}, None

    def read(self, question: Question, rules: Rules, endings: Sequence[Ending]) -> OutcomeReading:  # noqa: ARG002
        cells = question.cells.get("speaker")
        keys = [None if cells is None else cells[place] for place in question.planned]
        return OutcomeReading(endings, unit_codes(keys)[0])


def _quotient(numerator: Sums, denominator: Sums) -> Sums:
    """Numerator over denominator, NaN where the denominator is 0."""
    quotient: Sums = np.divide(
        numerator, denominator, out=np.full(np.shape(denominator), np.nan), where=denominator > 0
    )
    return quotient
