"""Where a worker's answers come from: a model that is asked, or stored evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pytest_speval.evidence.ending import Ending


class Blocked(Exception):
    """No clip of a suite may be asked."""


class Answering(Protocol):
    """What a worker asks of a run that it joined."""

    def ask(self, places: Sequence[int]) -> dict[int, Ending]:
        """The endings of clips by their place."""

    def close(self) -> None:
        """End whatever was started."""


@dataclass(frozen=True, slots=True)
class Recalling:
    """Stored endings by place."""

    endings: Mapping[int, Ending]

    def ask(self, places: Sequence[int]) -> dict[int, Ending]:
        """The stored endings of clips."""
        return {place: self.endings[place] for place in places if place in self.endings}

    def close(self) -> None:
        """Nothing was started."""
