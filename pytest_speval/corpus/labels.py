"""Labels: from a manifest's spelling and a model's answer to the closed set of a suite.

References go through strip, fold, `drop`, `reference`, a name projection, the set; answers through strip, fold,
`answers`, a name projection, the set. A name of the set stands for itself. A reference without a rule is a fault; an
answer without one abstains and is counted as `outside`. Nothing is matched by likeness.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pytest_speval.corpus.projections import AxesProjection, NameProjection, Projection
from pytest_speval.errors import AnswerFault

DROPPED: Final = "\0dropped"
ABSTAINED: Final = "\0abstained"
OUTSIDE: Final = "\0outside"
ABSTAIN_WORD: Final = "abstain"
"""What a suite writes in `answers` for a name that means no choice."""


@dataclass(frozen=True)
class LabelRules:
    """The section `labels` of a suite, ready to be applied."""

    set: tuple[str, ...]
    reference: Mapping[str, str] = field(default_factory=dict)
    drop: tuple[str, ...] = ()
    answers: Mapping[str, str] = field(default_factory=dict)
    projection: Projection | None = None
    absent: str | None = None
    abstain_below: float | None = None
    strip: bool = False
    fold_case: bool = False

    def __post_init__(self) -> None:
        names = self.projection.names if isinstance(self.projection, NameProjection) else {}
        own = {self._plain(name): name for name in self.set}
        through = {self._plain(name): own.get(self._plain(label)) for name, label in names.items()}
        finish = {**own, **{name: label for name, label in through.items() if label is not None}}
        references = {self._plain(name): finish.get(self._plain(to)) for name, to in self.reference.items()}
        known = {**finish, **{name: label for name, label in references.items() if label is not None}}
        known |= dict.fromkeys(map(self._plain, self.drop), DROPPED)
        answers = {
            self._plain(name): ABSTAINED if to == ABSTAIN_WORD else finish.get(self._plain(to), OUTSIDE)
            for name, to in self.answers.items()
        }
        object.__setattr__(self, "_references", known)
        object.__setattr__(self, "_answers", {**finish, **answers})

    _references: Mapping[str, str] = field(init=False, repr=False, compare=False)
    _answers: Mapping[str, str] = field(init=False, repr=False, compare=False)

    def _plain(self, name: str) -> str:
        if self.strip:
            name = name.strip()
        return name.casefold() if self.fold_case else name

    def reference_of(self, cell: str) -> str | None:
        """The label a manifest's cell stands for, `DROPPED`, or None where no rule covers it."""
        return self._references.get(self._plain(cell))

    def answer_of(self, name: str) -> str:
        """The label a model's name stands for, `ABSTAINED` or `OUTSIDE`."""
        return self._answers.get(self._plain(name), OUTSIDE)

    def reachable(self, names: tuple[str, ...]) -> frozenset[str]:
        """The labels of the set that a model with these names can ever answer."""
        return frozenset(map(self.answer_of, names)) - {ABSTAINED, OUTSIDE}

    def read(self, answer: Mapping[str, object]) -> str:
        """The label of one recorded emotion answer, `ABSTAINED` or `OUTSIDE`.

        The winner is found over all returned names before any map is applied.
        """
        if isinstance(self.projection, AxesProjection):
            vad = answer.get("vad")
            if not isinstance(vad, Mapping):
                return ABSTAINED
            label = self.projection.label(vad["valence"], vad["arousal"], vad["dominance"], self.abstain_below)
            return ABSTAINED if label is None else self.answer_of(label)
        scores = answer.get("scores")
        if isinstance(scores, Mapping):
            name = winner(scores)
            if name is None or (self.abstain_below is not None and scores[name] < self.abstain_below):
                return ABSTAINED
            return self.answer_of(name)
        named = answer.get("label")
        return self.answer_of(named) if isinstance(named, str) else ABSTAINED


def winner(scores: Mapping[str, float]) -> str | None:
    """The name with the highest score over all names, or None on a tie or without scores.

    Raises `AnswerFault` for a score that is not finite.
    """
    best: str | None = None
    high, tied = -math.inf, False
    for name, score in scores.items():
        if not math.isfinite(score):
            raise AnswerFault("invalid-answer", f"the score of `{name}` is {score}: scores must be finite")
        if score > high:
            best, high, tied = name, score, False
        elif score == high:
            tied = True
    return None if tied else best
