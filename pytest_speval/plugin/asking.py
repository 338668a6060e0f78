"""The clips of one run asked in one process, each at most once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_speval.adapters.base import close, tamed
from pytest_speval.ask import Asked, Inquiry
from pytest_speval.evidence.ending import UNKNOWN, Ending, settled
from pytest_speval.evidence.journal import Journal
from pytest_speval.evidence.plan import Question
from pytest_speval.evidence.purse import Purse
from pytest_speval.plugin.hearing import Hearing
from pytest_speval.suite.secrets import NO_SECRETS, Secrets
from pytest_speval.tasks.base import Task

RETURNED = Ending("returned")
"""What is remembered of a call that gave an answer: the answer itself is in the journal."""


class Asking:
    """Asks a warm adapter and remembers every ending, so that a repeated item costs no second call."""

    def __init__(
        self,
        question: Question,
        task: Task,
        adapter: Any,
        hearing: Hearing,
        journal: Path,
        facts: Mapping[str, Any],
        asked: frozenset[int] | None = None,
        timeout: float | None = None,
        secrets: Secrets = NO_SECRETS,
        purse: Purse | None = None,
        room: Mapping[int, int] | None = None,
        ended: Callable[[], Mapping[int, Ending] | None] = lambda: None,
    ) -> None:
        self.question = question
        self._only = asked
        self._recorded = bool(question.adapter["recorded"])
        self._adapter = adapter
        self._hearing = hearing
        self._journal = Journal(journal)
        self._secrets = secrets
        self._purse = purse
        self._room = room
        self._ended = ended
        self._journal.opened({"adapter": secrets.redact_data(dict(facts))})
        self._inquiry = Inquiry(adapter, task, self._journal, question.batch, timeout, secrets)
        self._endings: dict[int, Ending] = {}
        self._again: dict[int, int] = {}

    def remember(self, endings: Mapping[int, Ending], again: Mapping[int, int]) -> None:
        """Take over how clips ended elsewhere.

        What a worker that died has entered is not asked again, but for the places in `again`, which name the attempt
        that may still be made.
        """
        self._again = {
            place: attempt for place, attempt in again.items()
            if place in endings and endings[place].attempts == attempt - 1
        }  # fmt: skip
        told = {place: ending for place, ending in endings.items() if place not in self._again}
        self._endings = told | self._endings

    def ask(self, places: Sequence[int]) -> dict[int, Ending]:
        """The endings of clips by their place; excluded clips and those of other shards have none."""
        wanted = [place for place in places if self.question.excluded[place] is None and self._about(place)]
        for place in wanted:
            ending = settled(self.question, place)
            if ending is not None:
                self._endings[place] = ending
        died = self._ended()
        if died is not None:
            self.remember(died, self._again)
        fresh = [place for place in wanted if place not in self._endings]
        try:
            for place, ending in zip(fresh, self._inquiry.ask([*map(self._asked, fresh)]), strict=True):
                self._endings[place] = RETURNED if ending.state == "returned" else ending
        except BaseException:
            for place in fresh:  # nobody knows here how far it came: not to be asked again by this process
                self._endings.setdefault(place, UNKNOWN)
            raise
        return {place: self._endings[place] for place in wanted}

    def _asked(self, place: int) -> Asked:
        identity, attempt = self.question.identity(place), self._again.get(place, 1)
        room = None if self._room is None else self._room.get(place, 0)
        if self._recorded:
            return Asked(*identity, self._hearing.of(place), attempt, room=room)
        payment = None if self._purse is None else self._purse.payment(place, identity, attempt)
        return Asked(*identity, self._hearing.of(place), attempt, self._hearing.loan_of(place), payment, room)

    def _about(self, place: int) -> bool:
        """Say whether this run is about a clip; those that a rule settles belong to every shard."""
        return self._only is None or place in self._only or settled(self.question, place) is not None

    def close(self) -> None:
        """Close the adapter and the journal; the answers stand, whatever the adapter's own end brings.

        Raises `EvidenceFault` where the last answers cannot be written.
        """
        try:
            self._close_adapter()
        finally:
            self._journal.close()

    def _close_adapter(self) -> None:
        said = None
        try:
            close(self._adapter)
        except BaseException as error:
            said = self._secrets.redact_cut(f"the adapter was not closed: {type(tamed(error)).__name__}: {error}")
        if said is not None:  # outside of the handler: where warnings are errors, the other one must not come along
            warnings.warn(said, RuntimeWarning, stacklevel=2)
