"""The sounds of a part as fingerprints: each file is read, those of other parts are decoded once and remembered."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from pytest_speval.corpus.audio import Sound, decode, read_bytes
from pytest_speval.corpus.contract import CANCELS
from pytest_speval.corpus.entry import resolve_entry
from pytest_speval.corpus.fingerprint import Fingerprint, fingerprint
from pytest_speval.corpus.fingerprint_store import load, save
from pytest_speval.corpus.levels import lowest_correlation
from pytest_speval.corpus.part import Part
from pytest_speval.errors import AudioFault

CHUNK = 25
T = TypeVar("T")


@dataclass(frozen=True)
class Soundings:
    """A fingerprint for each clip of a part, None for one that cannot be heard."""

    part: Part
    prints: Sequence[Fingerprint | None]

    @property
    def unheard(self) -> tuple[str, ...]:
        """The clips whose sound is not there or cannot be decoded."""
        return tuple(clip for clip, found in zip(self.part.clips, self.prints, strict=True) if found is None)


def soundings(part: Part, store: Path | None) -> Soundings:
    """Fingerprint the sound of a part; in the folder `store` the outcome is kept under the digest of all its bytes.

    Raises `MissingExtra` where soxr is absent.
    """
    entries = part.entries or ()
    if store is None:
        return Soundings(part, _each(part, entries, _printed))
    digests = _each(part, entries, lambda data, _: sha256(data).hexdigest())
    whole = sha256("\n".join(str(digest) for digest in digests).encode()).hexdigest()
    path = store / f"{whole}.npz"
    known = load(path, whole)
    if known is None:
        known = tuple(_each(part, entries, _printed))
        with suppress(OSError):  # what cannot be kept is made again the next time
            save(path, whole, known)
    return Soundings(part, known)


def _each(part: Part, entries: Sequence[str | None], made: Callable[[bytes, str], T]) -> list[T | None]:
    def some(places: Sequence[int]) -> list[T | None]:
        return [_made(part.root, entries[place], made) for place in places]

    chunks = [range(start, min(start + CHUNK, len(entries))) for start in range(0, len(entries), CHUNK)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return [one for found in pool.map(some, chunks) for one in found]


def _made(root: Path, entry: str | None, made: Callable[[bytes, str], T]) -> T | None:
    try:
        return None if entry is None else made(read_bytes(resolve_entry(root, entry)), entry)
    except AudioFault:
        return None


def _printed(data: bytes, entry: str) -> Fingerprint:
    sound = decode(data, entry)
    return fingerprint(_mono(sound), sound.rate)


def _mono(sound: Sound) -> npt.NDArray[np.float32]:
    """The mean of the channels, or the first where they would cancel."""
    if sound.channels > 1 and lowest_correlation(sound.stored) < CANCELS:
        return np.ascontiguousarray(sound.samples[:, 0])
    return np.ascontiguousarray(sound.samples.mean(axis=1, dtype=np.float32))
