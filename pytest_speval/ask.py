"""One clip, one call: an adapter, a clock and the journal turn a planned clip into an ending.

An adapter may fail in any way it likes: whatever it raises becomes a `failed` ending of that clip alone. What it
returns is checked by the task before it counts as an answer. Nothing is asked twice.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pytest_speval.adapters.base import Recorded, tamed
from pytest_speval.errors import AdapterFault, AnswerFault, AudioFault
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.journal import Journal

CODES = {
    "raised": "The adapter raised an exception.",
    "invalid-answer": "The adapter's answer breaks its task's contract.",
    "no-answer": "There is no answer for this clip.",
    "batch-size": "A batch came back with another number of answers than it had clips.",
    "batch-rates": "The clips of a batch have several sample rates, and a batch is heard at one.",
}
MESSAGE_LIMIT = 2000


@dataclass(frozen=True, slots=True)
class Asked:
    """One planned clip, ready to be asked for the so-manieth time; `hear` gives the samples and their rate."""

    split: str
    id: str
    hear: Callable[[], tuple[Any, int]]
    attempt: int = 1


class Method(Protocol):
    """What asking needs of a task."""

    @property
    def method(self) -> str:
        """The name of the adapter's method."""

    def record(self, read: object) -> tuple[Mapping[str, Any], float | None]:
        """Check what the method returned; returns the plain answer and the adapter's own latency in ms.

        Raises `AnswerFault` where it breaks the contract.
        """


class Inquiry:
    """Asks one adapter, and remembers in the journal."""

    def __init__(self, adapter: Any, task: Method, journal: Journal, batch: int = 1) -> None:
        self._adapter = adapter
        self._task = task
        self._journal = journal
        self._batch = batch

    def ask(self, clips: Sequence[Asked]) -> list[Ending]:
        """Ask for each clip, in order."""
        if isinstance(self._adapter, Recorded):
            endings = [self._look_up(self._adapter, clip) for clip in clips]
        elif self._batch > 1:
            endings = []
            for start in range(0, len(clips), self._batch):
                endings += self._ask_batch(clips[start : start + self._batch])
        else:
            endings = [self._ask_one(clip) for clip in clips]
        self._journal.flush()
        return endings

    def _look_up(self, adapter: Recorded, clip: Asked) -> Ending:
        """A recorded answer; nothing is asked, so nothing is entered."""
        started = time.perf_counter_ns()
        try:
            read = adapter.recall(clip.split, clip.id)
            elapsed = (time.perf_counter_ns() - started) // 1000
        except BaseException as error:
            return self._fail(clip, tamed(error))
        return self._end(clip, read, elapsed)

    def _ask_one(self, clip: Asked) -> Ending:
        self._journal.entered(clip.split, clip.id, clip.attempt)
        try:
            pcm, rate = clip.hear()
            started = time.perf_counter_ns()
            read = getattr(self._adapter, self._task.method)(pcm, rate)
            elapsed = (time.perf_counter_ns() - started) // 1000
        except BaseException as error:
            return self._fail(clip, tamed(error))
        return self._end(clip, read, elapsed)

    def _ask_batch(self, clips: Sequence[Asked]) -> list[Ending]:
        for clip in clips:
            self._journal.entered(clip.split, clip.id, clip.attempt)
        try:
            heard = [clip.hear() for clip in clips]
            rate = _one_rate([rate for _, rate in heard])
            started = time.perf_counter_ns()
            reads = list(getattr(self._adapter, f"{self._task.method}_batch")([pcm for pcm, _ in heard], rate))
            elapsed = (time.perf_counter_ns() - started) // 1000 // len(clips)
            if len(reads) != len(clips):
                raise AnswerFault("batch-size", f"{len(reads)} answers for a batch of {len(clips)} clips")
        except BaseException as error:
            fault = tamed(error)
            return [self._fail(clip, fault) for clip in clips]
        return [self._end(clip, read, elapsed) for clip, read in zip(clips, reads, strict=True)]

    def _end(self, clip: Asked, read: object, elapsed: int) -> Ending:
        try:
            answer, reported = self._task.record(read)
        except AnswerFault as fault:
            ending = Ending(
                "failed",
                {"raw": _shown(repr, read)},
                fault.code,
                legible(fault.message),
                elapsed,
                attempts=clip.attempt,
            )
            self._journal.failed(clip.split, clip.id, ending)
            return ending
        except BaseException as error:
            return self._fail(clip, tamed(error))
        ending = Ending("returned", answer, microseconds=elapsed, reported_ms=reported, attempts=clip.attempt)
        self._journal.returned(clip.split, clip.id, ending)
        return ending

    def _fail(self, clip: Asked, error: Exception) -> Ending:
        if isinstance(error, AnswerFault | AudioFault | AdapterFault):
            ending = Ending("failed", code=error.code, message=legible(error.message), attempts=clip.attempt)
        else:
            ending = Ending("failed", code="raised", message=_told(error), attempts=clip.attempt)
        self._journal.failed(clip.split, clip.id, ending)
        return ending


def legible(text: str) -> str:
    """Foreign text as Unicode that can be stored, cut at a length worth reading."""
    whole = text.encode("utf-8", "replace").decode()
    return whole if len(whole) <= MESSAGE_LIMIT else f"{whole[:MESSAGE_LIMIT]}… ({len(whole)} characters)"


def _told(error: Exception) -> str:
    """The exception's class, its text, and the line of the adapter that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({frames[-1].name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {_shown(str, error)}{place}"


def _shown(describe: Callable[[object], str], foreign: object) -> str:
    """What a foreign object says of itself, cut; its own code may fail even here."""
    try:
        return legible(describe(foreign))
    except Exception as error:
        return f"<a {type(foreign).__name__} whose text cannot be had: {type(error).__name__}>"


def _one_rate(rates: Sequence[int]) -> int:
    if len(set(rates)) > 1:
        found = ", ".join(map(str, sorted(set(rates))))
        raise AnswerFault("batch-rates", f"a batch of clips at {found} Hz: set corpus.audio.rate, or run.batch to 1")
    return rates[0]
