"""Answers that took no listening, task by task: what a gate must be able to tell from a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from math import fsum
from typing import Any

from pytest_speval.corpus.labels import LabelRules
from pytest_speval.corpus.projections import AXES, NameProjection
from pytest_speval.tasks.base import Rules

Answer = Mapping[str, Any]
STEPS = 10
"""The grid on which a point of the axes is looked for that reads as a label has so many steps to an axis."""


@dataclass(frozen=True, slots=True)
class StandIn:
    """Answers for one task, as an adapter would have given them.

    `constant` makes the one answer that is best for all clips without hearing any, from their references; None where
    no answer can say it. `silence` is the answer without a choice, None where the task has none; in mos it is
    the rating 0, in outcome `unknown`.
    """

    about: str
    constant: Callable[[Sequence[Any], Rules], Answer | None]
    silence: Answer | None = None


def _majority(references: Sequence[Any], rules: Rules) -> Answer | None:
    """An answer that is read as the most frequent reference; the label that stands first in the set wins a tie."""
    assert rules.labels is not None
    counts, labels = Counter(references), rules.labels
    majority = max(labels.set, key=lambda label: counts[label])
    return next((answer for answer in _answers(labels) if labels.read(answer) == majority), None)


def _answers(labels: LabelRules) -> Iterator[Answer]:
    """Answers that a model could give: names that the rules know, and points of the axes, corners first."""
    names = labels.projection.names if isinstance(labels.projection, NameProjection) else {}
    yield from ({"label": name} for name in (*labels.set, *labels.answers, *names))
    corners = product((0.0, 1.0), repeat=len(AXES))
    grid = product([step / STEPS for step in range(STEPS + 1)], repeat=len(AXES))
    yield from ({"vad": dict(zip(AXES, point, strict=True))} for point in chain(corners, grid))


def _mean(references: Sequence[Any], rules: Rules) -> Answer | None:  # noqa: ARG001
    """The mean reference on each axis, the middle on those that are not rated."""
    if not references:
        return None
    rated = references[0]
    return {
        "vad": {
            axis: fsum(row[axis] for row in references) / len(references) if axis in rated else 0.5 for axis in AXES
        }
    }


def _mean_rating(references: Sequence[Any], rules: Rules) -> Answer | None:  # noqa: ARG001
    """The mean human rating; without human ratings no answer is best."""
    rated = [rating for rating in references if rating is not None]
    return {"value": fsum(rated) / len(rated)} if rated else None


def _nothing_heard(references: Sequence[Any], rules: Rules) -> Answer | None:  # noqa: ARG001
    return {"text": ""}


def _failed(references: Sequence[Any], rules: Rules) -> Answer | None:  # noqa: ARG001
    return {"outcome": "failed"}


STAND_INS: Mapping[str, StandIn] = {
    "emotion": StandIn("the most frequent label", _majority, silence={}),
    "affect": StandIn("the mean rating", _mean, silence={}),
    "asr": StandIn("an empty text", _nothing_heard),
    "mos": StandIn("the mean human rating", _mean_rating, silence={"value": 0.0}),
    "outcome": StandIn("a failed outcome", _failed, silence={"outcome": "unknown"}),
}
"""Task -> its stand-in; a task without one is proven without."""
