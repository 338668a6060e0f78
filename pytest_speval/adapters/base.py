"""What an adapter is and what it may answer.

An adapter is any object with the method of its task, such as `classify(pcm, sample_rate) -> EmotionRead`. It is built
as `Mine(**keys)` from the suite's keys. `__init__` opens no model; `warm_up()` loads it. Everything else here is
optional and read through `traits`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from pytest_speval.errors import AdapterFault

if TYPE_CHECKING:
    import numpy.typing as npt

CODES = {"adapter-left": "An adapter's code raised what ends a program or a test, such as sys.exit or pytest.skip."}


ARRAY_HEADER = 128
"""Bytes of a kept array's file before the array's own."""


class Vad(NamedTuple):
    """Valence, arousal and dominance, each 0..1."""

    valence: float
    arousal: float
    dominance: float


@dataclass(frozen=True, slots=True)
class Usage:
    """What calls cost, or at most may cost; seconds of sound are rounded up per clip, so sums stay whole."""

    requests: int = 1
    audio_seconds: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.requests + other.requests,
            self.audio_seconds + other.audio_seconds,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )


@dataclass(frozen=True, slots=True)
class Response:
    """What a remote model sent beside its answer; the journal keeps it.

    `body` is the whole response as JSON data, without headers. `revision` is the model revision that the response
    names, None where it names none. `usage` is what was really used.
    """

    body: Any = None
    request_id: str | None = None
    revision: str | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class EmotionRead:
    """One answer to an emotion question; with neither label, scores nor vad it abstains.

    `scores` maps every name the model knows to a finite score. A `label` beside them must be their winner. `latency_ms`
    is the adapter's own figure and is only reported.
    """

    label: str | None = None
    scores: Mapping[str, float] | None = None
    vad: Vad | None = None
    latency_ms: float | None = None
    response: Response | None = None


@dataclass(frozen=True, slots=True)
class Transcript:
    """One answer to what is said in a clip; where nothing is heard the text is empty, and that is an answer.

    `arrays` are kept with the evidence, each by its name. `latency_ms` is the adapter's own figure and is only
    reported.
    """

    text: str
    latency_ms: float | None = None
    response: Response | None = None
    arrays: Mapping[str, npt.NDArray[Any]] | None = None


@dataclass(frozen=True, slots=True)
class Rating:
    """One answer to how good a clip sounds: a finite number on the scorer's own scale.

    `scores` are further finite figures of the same call, which are only reported. `arrays` are kept with the evidence.
    `observation` is what was seen of the scorer meanwhile, see `adapters/observation`.
    """

    value: float
    scores: Mapping[str, float] | None = None
    latency_ms: float | None = None
    response: Response | None = None
    arrays: Mapping[str, npt.NDArray[Any]] | None = None
    observation: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Identity:
    """Which model answers: enters the question a run asks.

    `files` are hashed before the first call and again after the last; their digests, not their paths, are evidence.
    """

    name: str
    version: str | None = None
    revision: str | None = None
    files: tuple[Path, ...] = ()
    components: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Roll:
    """The identities (split, id) of a manifest's rows, of the listed and of the planned clips.

    `manifest` is its file, `references` are the columns of it that answers are held against, by their role.
    """

    every: Collection[tuple[str, str]]
    listed: Sequence[tuple[str, str]]
    planned: Sequence[tuple[str, str]]
    manifest: Path | None = None
    manifest_sha256: str = ""
    references: Mapping[str, str] = field(default_factory=dict)


@runtime_checkable
class Recorded(Protocol):
    """An adapter whose answers were made elsewhere: it is asked by identity and hears nothing."""

    def recall(self, split: str, id: str) -> object:  # noqa: A002
        """The recorded answer for one clip; raises `AnswerFault("no-answer", …)` where there is none."""

    def compare(self, roll: Roll) -> list[tuple[str, str]]:
        """Hold the recorded rows against the manifest; returns notices, raises `AdapterFault`."""


@dataclass(frozen=True, slots=True)
class ClipRequest:
    """One clip, asked of an adapter that opens the sound itself.

    `method` is the task's method whose answer is wanted. `audio` is an absolute path, `sample_rate` in Hz what that
    file has; both are None for a task without sound. `timeout` is in seconds.
    """

    split: str
    id: str
    method: str
    audio: Path | None = None
    sample_rate: int | None = None
    text: str | None = None
    timeout: float | None = None


@runtime_checkable
class AskedByClip(Protocol):
    """An adapter that gets clips rather than samples, such as a process of its own; it keeps the deadline itself."""

    def answers(self, method: str) -> bool:
        """Whether it can give what the method of a task returns."""

    def answer_clip(self, request: ClipRequest) -> object:
        """What the task's method would return; raises `AnswerFault("timeout", …)` where that takes too long."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What an adapter says of itself."""

    identity: Identity
    labels: tuple[str, ...] | None
    sample_rate: int | None
    recorded: bool
    billable: bool = False


def traits(adapter: object, use: str) -> Traits:
    """Read an adapter's optional attributes; without `identity()` its name is `use`."""
    identity = adapter.identity() if hasattr(adapter, "identity") else Identity(use)
    labels = getattr(adapter, "labels", None)
    return Traits(
        identity,
        None if labels is None else tuple(labels),
        getattr(adapter, "sample_rate", None),
        isinstance(adapter, Recorded),
        bool(getattr(adapter, "billable", False)),
    )


def can_answer(adapter: object, method: str) -> bool:
    """Whether an adapter can be asked what a task's method asks."""
    if isinstance(adapter, AskedByClip):
        return adapter.answers(method)
    return isinstance(adapter, Recorded) or callable(getattr(adapter, method, None))


def tamed(error: BaseException) -> Exception:
    """What an adapter's own code raised, as an error that costs the clip or the suite and not the session.

    `sys.exit`, `pytest.skip` and their like would end more than that; only a keyboard interrupt passes.
    """
    if isinstance(error, KeyboardInterrupt):
        raise error
    if isinstance(error, Exception):
        return error
    return AdapterFault("adapter-left", f"the adapter's code raised {type(error).__name__}: {error}")


def warm_up(adapter: Any) -> dict[str, Any]:
    """Load the model; returns what is known only now, such as providers and threads, and how long it took."""
    started = perf_counter_ns()
    facts = adapter.warm_up() if hasattr(adapter, "warm_up") else None
    told = dict(facts) if isinstance(facts, Mapping) else {}
    return told | {"warm_up_microseconds": (perf_counter_ns() - started) // 1000}


def close(adapter: Any) -> None:
    """End an adapter that wants to be ended."""
    if hasattr(adapter, "close"):
        adapter.close()
