"""Outcomes that stand in the manifest itself: what a suite without an adapter is answered by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_speval.adapters.base import Identity, Roll
from pytest_speval.corpus.clips import Clips
from pytest_speval.corpus.roles import Cell
from pytest_speval.errors import AnswerFault


@dataclass(frozen=True, slots=True)
class OutcomeRead:
    """What became of one clip: matched, failed or unknown."""

    outcome: str


class ManifestOutcomes:
    """Answers for each clip what its row records; `take` shows it the rows."""

    def __init__(self) -> None:
        self._outcomes: Mapping[tuple[str, str], Cell] = {}

    def identity(self) -> Identity:
        """The manifest, whose cells are part of the question."""
        return Identity("manifest")

    def take(self, clips: Clips) -> None:
        """Look at the clips of a manifest."""
        identities = zip(clips.splits, clips.ids, strict=True)
        self._outcomes = dict(zip(identities, clips.cells["outcome"], strict=True))

    def recall(self, split: str, id: str) -> OutcomeRead:  # noqa: A002
        """The outcome of one clip; raises `AnswerFault` where the manifest has none."""
        outcome = self._outcomes.get((split, id))
        if not isinstance(outcome, str):
            raise AnswerFault("no-answer", f"the manifest records no outcome of {split}/{id}")
        return OutcomeRead(outcome)

    def compare(self, roll: Roll) -> list[tuple[str, str]]:  # noqa: ARG002
        """Nothing to compare: rows and answers are the same."""
        return []
