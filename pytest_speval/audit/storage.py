"""`audit[storage]`: could the arrays that a suite's answers bring take more bytes than `run.max_bytes` allows?

The adapter's own `stored_bytes(samples, sample_rate) -> int` bounds each clip. Nothing is asked while their sum passes
the limit, and no clip may take more than its own bound: so the sum holds for any number of processes and any order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_speval.adapters.base import tamed
from pytest_speval.audit.budget import Planned
from pytest_speval.audit.finding import Audit, Finding
from pytest_speval.corpus.contract import frames_at, resampled_frames

CODES = {
    "over-storage": "The arrays of a suite's answers could take more bytes than run.max_bytes allows.",
    "storage-unknown": "Nobody can say how many bytes the arrays of an answer take at most.",
    "storage-invalid": "An adapter's `stored_bytes` raised, or returned what is no number of bytes.",
    "storage-bound": "How many bytes the arrays of a suite's answers take at most.",
}


@dataclass(frozen=True)
class Storage:
    """`audit[storage]`, and how many bytes each clip's arrays may take by its place; a clip without may keep none."""

    audit: Audit
    room: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def failed(cls, code: str, message: str, clips: tuple[str, ...] = ()) -> Storage:
        """No clip may be asked."""
        return cls(Audit("storage", (Finding("error", code, message, clips),)))

    @classmethod
    def noted(cls, message: str, room: Mapping[int, int]) -> Storage:
        """Every clip may be asked."""
        return cls(Audit("storage", (Finding("notice", "storage-bound", message),)), room)


def storage(question: Planned, adapter: object, most: int) -> Storage:
    """Bound the arrays of every call that the question needs, and hold their sum against `most` bytes.

    An adapter that names its arrays in an attribute `arrays` must have `stored_bytes`. It is asked once it is warm.
    """
    tell = getattr(adapter, "stored_bytes", None)
    if tell is None:
        promised = getattr(adapter, "arrays", None)
        if not promised:
            return Storage.noted("the adapter promises no arrays", {})
        message = f"the adapter's answers bring {', '.join(promised)}, and it has no stored_bytes(samples, sample_rate)"
        return Storage.failed("storage-unknown", f"{message}; nobody can say whether run.max_bytes holds")
    room: dict[int, int] = {}
    for place in question.planned:
        if place in question.condemned or place in question.abstains:
            continue
        length = _heard(question, place)
        if length is None:
            message = "a clip has no known length, so nobody can say what its arrays take"
            return Storage.failed("storage-unknown", message, (question.name(place),))
        told = _told(tell, *length)
        if isinstance(told, str):
            message = f"the adapter's `stored_bytes`: {told}"
            return Storage.failed("storage-invalid", message, (question.name(place),))
        room[place] = told
    total = sum(room.values())
    said = f"the arrays of {len(room):,} clips take at most {total:,} bytes"
    if total > most:
        message = f"{said}, and run.max_bytes is {most:,}; ask fewer clips, or raise it"
        return Storage.failed("over-storage", message)
    return Storage.noted(f"{said} of {most:,}", room)


def _heard(question: Planned, place: int) -> tuple[int, int] | None:
    """Samples and rate of what the adapter hears of a clip: padded or cut, and resampled, as the contract says."""
    if not question.frames:
        return None
    frames, rate, audio = question.frames[place], question.rates[place], question.audio or {}
    if frames is None or not rate:
        return None
    if audio.get("seconds"):
        fewest, longest = (frames_at(seconds, rate) for seconds in audio["seconds"])
        frames = min(max(frames, fewest), longest)
    target = audio.get("rate") or rate
    return resampled_frames(frames, rate, target), target


def _told(tell: Callable[..., Any], samples: int, rate: int) -> int | str:
    """The bytes that the adapter says, or what is wrong with what it says."""
    try:
        told = tell(samples, rate)
    except BaseException as error:
        tame = tamed(error)
        return f"{type(tame).__name__}: {tame}"
    whole = hasattr(told, "__index__") and not isinstance(told, bool)
    return int(told) if whole and told >= 0 else f"returned {told!r}, not a whole number of bytes"
