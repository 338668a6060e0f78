"""The fingerprints of one inventory in one file, under the digest of what they were made from.

The file is a plain `.npz` archive, whose checksums cover every array. A file that is torn, foreign, or of another
inventory or version counts as absent: fingerprints can always be made again.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_speval.corpus.fingerprint import BANDS, VERSION, Fingerprint

_Sounds = tuple[Fingerprint | None, ...]


def save(path: Path, digest: str, fingerprints: Sequence[Fingerprint | None]) -> None:
    """Write the fingerprints (None for a sound that is not there) to `path`, whole or not at all.

    Raises `OSError` where the folder cannot be written.
    """
    held = [each for each in fingerprints if each is not None]
    arrays = {
        "key": np.array(_key(digest)),
        "seconds": np.array([np.nan if each is None else each.seconds for each in fingerprints], np.float64),
        "samples": np.array([len(each.waveform) for each in held], np.int64),
        "frames": np.array([len(each.logmel) for each in held], np.int64),
        "waveform": np.concatenate([np.zeros(0, np.int8), *(each.waveform for each in held)]),
        "logmel": np.concatenate([np.zeros((0, BANDS), np.uint8), *(each.logmel for each in held)]),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def load(path: Path, digest: str) -> _Sounds | None:
    """The fingerprints that `save` wrote under the same digest and version, or None."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            if str(arrays["key"]) != _key(digest):
                return None
            return _parted({name: arrays[name] for name in ("seconds", "samples", "frames", "waveform", "logmel")})
    except Exception:  # whatever a file that is not ours makes the reader raise
        return None


def _key(digest: str) -> str:
    return f"speval fingerprints {VERSION} {digest}"


def _parted(arrays: dict[str, npt.NDArray[Any]]) -> _Sounds:
    waveforms = iter(np.split(arrays["waveform"], np.cumsum(arrays["samples"])[:-1]))
    logmels = iter(np.split(arrays["logmel"], np.cumsum(arrays["frames"])[:-1]))
    return tuple(
        None if np.isnan(seconds) else Fingerprint(seconds, next(waveforms), next(logmels))
        for seconds in arrays["seconds"].tolist()
    )
