"""Projections: from what a model or a corpus says to the labels of a suite.

An axes projection reads valence, arousal and dominance (each 0..1) and scores every label; a name projection maps
names to names. The named tables are data; their source is the voice-emotion bench whose golden vectors the tests
hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

AXES = ("valence", "arousal", "dominance")
SHAPES: Mapping[str, Callable[[float], float]] = {
    "": lambda axis: axis,
    "positive": lambda axis: max(0.0, axis),
    "size": abs,
}
"""What a weight may multiply: the centred axis, the part of it above 0, its absolute value."""


@dataclass(frozen=True, slots=True)
class Term:
    """`weight` times one shape of one axis."""

    weight: float
    axis: str
    shape: str = ""


@dataclass(frozen=True, slots=True)
class AxesProjection:
    """Label -> weighted terms of the centred axes; the earlier label wins a tie."""

    name: str
    rows: Mapping[str, tuple[Term, ...]]
    abstain_below: float

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels it can yield."""
        return tuple(self.rows)

    def scores(self, valence: float, arousal: float, dominance: float) -> dict[str, float]:
        """The score of every label, 0..1. Axes are clamped to 0..1 first; a non-finite axis makes all scores 0."""
        axes = (valence, arousal, dominance)
        if not all(map(math.isfinite, axes)):
            return dict.fromkeys(self.rows, 0.0)
        centred = {name: min(1.0, max(0.0, axis)) - 0.5 for name, axis in zip(AXES, axes, strict=True)}
        return {
            label: min(1.0, max(0.0, sum(term.weight * SHAPES[term.shape](centred[term.axis]) for term in terms)))
            for label, terms in self.rows.items()
        }

    def label(self, valence: float, arousal: float, dominance: float, abstain_below: float | None = None) -> str | None:
        """The winning label, or None where the best score is below the limit."""
        scores = self.scores(valence, arousal, dominance)
        winner = max(scores, key=scores.__getitem__)
        limit = self.abstain_below if abstain_below is None else abstain_below
        return winner if scores[winner] >= limit else None


@dataclass(frozen=True, slots=True)
class NameProjection:
    """Name -> label; a name without an entry stands for itself."""

    name: str
    names: Mapping[str, str]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels it can yield."""
        return tuple(dict.fromkeys(self.names.values()))


Projection = AxesProjection | NameProjection

VAD_7 = AxesProjection(
    "vad-7",
    {
        "happy": (Term(1.4, "valence"), Term(0.6, "arousal", "positive"), Term(-0.4, "dominance", "size")),
        "sad": (Term(-1.4, "valence"), Term(-0.8, "arousal"), Term(-0.4, "dominance")),
        "angry": (Term(-1.1, "valence"), Term(1.2, "arousal"), Term(1.0, "dominance")),
        "nervous": (Term(-0.7, "valence"), Term(0.9, "arousal"), Term(-1.2, "dominance")),
        "calm": (Term(1.4, "valence", "positive"), Term(-1.2, "arousal"), Term(-0.3, "dominance", "size")),
        "excited": (Term(0.9, "valence"), Term(1.6, "arousal")),
        "whisper": (Term(-1.4, "arousal"), Term(-1.4, "dominance")),
    },
    abstain_below=0.35,
)

_GOEMOTIONS = {
    "happy": "admiration amusement gratitude joy love optimism pride",
    "sad": "disappointment grief remorse sadness",
    "angry": "anger annoyance disapproval disgust",
    "nervous": "confusion embarrassment fear nervousness",
    "calm": "approval caring realization relief neutral",
    "excited": "curiosity desire excitement surprise",
}
GOEMOTIONS_7 = NameProjection(
    "goemotions-7", {name: label for label, names in _GOEMOTIONS.items() for name in names.split()}
)

NAMED: Mapping[str, Projection] = {projection.name: projection for projection in (VAD_7, GOEMOTIONS_7)}


@dataclass(frozen=True, slots=True)
class Geometry:
    """What an axes projection does to the cube of axes: each label's share of it, abstentions, ties."""

    shares: Mapping[str, float]
    abstained: float
    tied: float
    corners: tuple[tuple[tuple[float, float, float], str | None], ...]


def geometry(projection: AxesProjection, steps: int = 41) -> Geometry:
    """Walk the centres of `steps` ** 3 equal cells of the cube.

    A share is the part of the points a label wins. A point is tied when two labels share the best score and it is not
    below the limit.
    """
    points = [(index + 0.5) / steps for index in range(steps)]
    wins = dict.fromkeys(projection.labels, 0)
    abstained = tied = 0
    for v in points:
        for a in points:
            for d in points:
                scores = projection.scores(v, a, d)
                best = max(scores.values())
                if best < projection.abstain_below:
                    abstained += 1
                    continue
                winners = [label for label, score in scores.items() if score == best]
                wins[winners[0]] += 1
                tied += len(winners) > 1
    total = steps**3
    corners = tuple(((v, a, d), projection.label(v, a, d)) for v in (0.0, 1.0) for a in (0.0, 1.0) for d in (0.0, 1.0))
    return Geometry({label: count / total for label, count in wins.items()}, abstained / total, tied / total, corners)
