"""One clip, one call: an adapter, a clock and the journal turn a planned clip into an ending.

An adapter may fail in any way it likes: whatever it raises becomes a `failed` ending of that clip alone. What it
returns is checked by the task before it counts as an answer. Nothing is asked twice.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from pytest_speval.adapters.base import AskedByClip, ClipRequest, Recorded, tamed
from pytest_speval.adapters.deadline import deadline
from pytest_speval.errors import AdapterFault, AnswerFault, AudioFault, EvidenceFault
from pytest_speval.evidence.arrays import ArrayStore, checked
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.journal import Journal
from pytest_speval.evidence.ledger import Refusal
from pytest_speval.evidence.purse import Payment
from pytest_speval.evidence.response import response_record
from pytest_speval.suite.secrets import NO_SECRETS, Secrets

CODES = {
    "raised": "The adapter raised an exception.",
    "invalid-answer": "The adapter's answer breaks its task's contract.",
    "no-answer": "There is no answer for this clip.",
    "batch-size": "A batch came back with another number of answers than it had clips.",
    "batch-rates": "The clips of a batch have several sample rates, and a batch is heard at one.",
}
MESSAGE_LIMIT = 2000
Loan = AbstractContextManager[tuple[Path | None, int | None]]
"""A sound file that may be opened for a while, and its rate; both None where there is no sound."""


def no_sound() -> Loan:
    """The loan of a clip without sound."""
    return nullcontext((None, None))


@dataclass(frozen=True, slots=True)
class Asked:
    """One planned clip, ready to be asked for the so-manieth time.

    `hear` gives the samples and their rate; `lend` gives a file to an adapter that is asked by clip. `room` is how
    many bytes its arrays may take, None where nothing limits them.
    """

    split: str
    id: str
    hear: Callable[[], tuple[Any, int]]
    attempt: int = 1
    lend: Callable[[], Loan] = no_sound
    payment: Payment | None = None
    room: int | None = None


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
    """Asks one adapter, and remembers in the journal; what it remembers holds none of the secrets.

    `timeout` is in seconds for each call of the adapter.
    """

    def __init__(
        self,
        adapter: Any,
        task: Method,
        journal: Journal,
        batch: int = 1,
        timeout: float | None = None,
        secrets: Secrets = NO_SECRETS,
    ) -> None:
        self._adapter = adapter
        self._task = task
        self._journal = journal
        self._arrays = ArrayStore(journal.path)
        self._batch = batch
        self._timeout = timeout
        self._secrets = secrets
        self._call = self._call_by_clip if isinstance(adapter, AskedByClip) else self._call_by_samples

    def ask(self, clips: Sequence[Asked]) -> Iterator[Ending]:
        """Ask for each clip, in order, and give each ending as soon as it is known.

        A call that may not be made, because it was made before or because the budget is spent, leaves its clip
        `unattempted`.
        """
        try:
            if isinstance(self._adapter, Recorded):
                yield from (self._look_up(self._adapter, clip) for clip in clips)
            elif self._batch > 1:
                for start in range(0, len(clips), self._batch):
                    yield from self._ask_batch(clips[start : start + self._batch])
            else:
                yield from map(self._ask_one, clips)
        finally:
            self._journal.flush()

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
        refused = self._enter(clip)
        if refused is not None:
            return refused
        try:
            read, elapsed = self._call(clip)
        except BaseException as error:
            return self._fail(clip, tamed(error))
        return self._end(clip, read, elapsed)

    def _enter(self, clip: Asked) -> Ending | None:
        """Note that a call starts, and before that what it may cost; or why it may not be made."""
        if clip.payment is not None:
            try:
                clip.payment.reserve()
            except Refusal as refusal:
                return Ending("unattempted", None, refusal.code, refusal.message, attempts=clip.attempt - 1)
            self._journal.reserved(clip.split, clip.id, clip.attempt, asdict(clip.payment.bound))
        self._journal.entered(clip.split, clip.id, clip.attempt)
        return None

    def _call_by_samples(self, clip: Asked) -> tuple[object, int]:
        """What the method returned for one clip, and the microseconds it took."""
        pcm, rate = clip.hear()
        with deadline(self._timeout, f"{clip.split}/{clip.id}"):
            started = time.perf_counter_ns()
            read = getattr(self._adapter, self._task.method)(pcm, rate)
            return read, (time.perf_counter_ns() - started) // 1000

    def _call_by_clip(self, clip: Asked) -> tuple[object, int]:
        with clip.lend() as (audio, rate):
            request = ClipRequest(clip.split, clip.id, self._task.method, audio, rate, timeout=self._timeout)
            started = time.perf_counter_ns()
            read = self._adapter.answer_clip(request)
            return read, (time.perf_counter_ns() - started) // 1000

    def _ask_batch(self, clips: Sequence[Asked]) -> list[Ending]:
        refused = [self._enter(clip) for clip in clips]
        endings = iter(self._ask_together([clip for clip, why in zip(clips, refused, strict=True) if why is None]))
        return [next(endings) if why is None else why for why in refused]

    def _ask_together(self, clips: Sequence[Asked]) -> list[Ending]:
        if not clips:
            return []
        try:
            heard = [clip.hear() for clip in clips]
            rate = _one_rate([rate for _, rate in heard])
            with deadline(self._timeout, f"{clips[0].split}/{clips[0].id} and {len(clips) - 1} more"):
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
        response = None
        try:
            response = response_record(read, self._secrets)
            answer, reported = self._task.record(read)
            arrays = getattr(read, "arrays", None)
            kept = None if arrays is None else self._checked(arrays)
        except AnswerFault as fault:
            ending = Ending(
                "failed",
                {"raw": _shown(repr, read, self._secrets)},
                fault.code,
                legible(fault.message, self._secrets),
                elapsed,
                attempts=clip.attempt,
            )
            return self._note(clip, ending, response)
        except BaseException as error:
            return self._fail(clip, tamed(error))
        told = self._secrets.redact_data(answer)
        ending = Ending("returned", told, microseconds=elapsed, reported_ms=reported, attempts=clip.attempt)
        return self._keep(clip, ending, response, kept) if kept else self._note(clip, ending, response)

    def _checked(self, arrays: object) -> dict[str, Any]:
        """The arrays that came with an answer; raises `AnswerFault`."""
        found = checked(arrays)
        if self._secrets.redact_data(list(found)) != list(found):
            raise AnswerFault("invalid-answer", "the name of an array holds a secret")
        return found

    def _keep(
        self, clip: Asked, ending: Ending, response: Mapping[str, Any] | None, arrays: Mapping[str, Any]
    ) -> Ending:
        """Write down an answer whose arrays are on the disk by then; without them it is none."""
        try:
            records = self._arrays.save(clip.split, clip.id, arrays, clip.room)
        except EvidenceFault as fault:
            failed = replace(ending, state="failed", code=fault.code, message=fault.message, reported_ms=None)
            return self._note(clip, failed, response)
        return self._note(clip, ending, response, records)

    def _fail(self, clip: Asked, error: Exception) -> Ending:
        if isinstance(error, AnswerFault | AudioFault | AdapterFault):
            code, message = self._secrets.redact(error.code), legible(error.message, self._secrets)
        else:
            code, message = "raised", _told(error, self._secrets)
        return self._note(clip, Ending("failed", code=code, message=message, attempts=clip.attempt))

    def _note(
        self,
        clip: Asked,
        ending: Ending,
        response: Mapping[str, Any] | None = None,
        arrays: Sequence[Mapping[str, Any]] = (),
    ) -> Ending:
        """Write down how a call ended; one that was paid for is on the disk, and settled, before the next."""
        if ending.state == "returned":
            self._journal.returned(clip.split, clip.id, ending, response, arrays)
        else:
            self._journal.failed(clip.split, clip.id, ending, response)
        if clip.payment is not None:
            self._journal.sync()
            with suppress(EvidenceFault):  # it then stays reserved, and the run's last look at the ledger tells
                clip.payment.settle(ending, response)
        return ending


def legible(text: str, secrets: Secrets = NO_SECRETS) -> str:
    """Foreign text as Unicode that can be stored: without secrets, and cut at a length worth reading."""
    whole = secrets.redact_cut(text).encode("utf-8", "replace").decode()
    return whole if len(whole) <= MESSAGE_LIMIT else f"{whole[:MESSAGE_LIMIT]}… ({len(whole)} characters)"


def _told(error: Exception, secrets: Secrets) -> str:
    """The exception's class, its text, and the line of the adapter that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({frames[-1].name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {_shown(str, error, secrets)}{place}"


def _shown(describe: Callable[[object], str], foreign: object, secrets: Secrets) -> str:
    """What a foreign object says of itself, cut; its own code may fail even here."""
    try:
        return legible(describe(foreign), secrets)
    except Exception as error:
        return f"<a {type(foreign).__name__} whose text cannot be had: {type(error).__name__}>"


def _one_rate(rates: Sequence[int]) -> int:
    if len(set(rates)) > 1:
        found = ", ".join(map(str, sorted(set(rates))))
        raise AnswerFault("batch-rates", f"a batch of clips at {found} Hz: set corpus.audio.rate, or run.batch to 1")
    return rates[0]
