"""A clip's sound: one read, one decoder, two digests.

Plain 16-bit PCM WAVE files are read here, bit-equal to libsndfile; everything else goes through soundfile, from
the same bytes. Messages name no file: the caller says which clip.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_speval.corpus import containers, riff
from pytest_speval.errors import AudioFault, MissingExtra

CODES = {
    "missing": "A sound file is listed but not there.",
    "unreadable": "A sound file cannot be read: no permission, or no plain file.",
    "no-bytes": "A sound file has 0 bytes.",
    "lfs-pointer": "A Git LFS pointer stands in place of a sound file.",
    "html-page": "A web page stands in place of a sound file.",
    "not-audio": "A file is in no known sound format.",
    "no-frames": "A sound file is valid and holds no frames.",
    "non-finite-samples": "A sound file holds samples that are NaN or infinite.",
    "placeholder-header": "A header declares a placeholder for its length; the bytes that are there count.",
    "contradictory-header": "The rate, channels and sizes in a WAVE header contradict each other; the rate counts.",
    "over-full-scale": "A sound file of floats holds samples beyond full scale; they are kept.",
    **riff.CODES,
}
FULL_SCALE = 32768
_INTEGER_16 = frozenset({"PCM_16", "PCM_S8", "PCM_U8", "ALAC_16"})
_LONGEST = 1 << 62  # libsndfile counts a stream of unannounced length as 2**63 - 1 frames
_DENSEST = 8192  # frames a byte: a silent FLAC block holds 65,535 frames in a dozen bytes
_NOT_RECOGNISED = (
    1,
    7,
)  # libsndfile: SF_ERR_UNRECOGNISED_FORMAT, and what its MPEG guess says of other bytes


@dataclass(frozen=True, slots=True)
class Notice:
    """Something worth reporting that does not take a clip out."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, eq=False)
class Sound:
    """A decoded clip.

    `stored` is a read-only array [frames, channels]: int16 where the file stores integers of at most 16 bits,
    else float32 with full scale 1. `container` and `subtype` are libsndfile's names (`WAV`, `PCM_16`).
    """

    bytes_sha256: str
    rate: int
    container: str
    subtype: str
    stored: npt.NDArray[np.int16] | npt.NDArray[np.float32]
    notices: tuple[Notice, ...] = ()

    @property
    def frames(self) -> int:
        return int(self.stored.shape[0])

    @property
    def channels(self) -> int:
        return int(self.stored.shape[1])

    @property
    def seconds(self) -> float:
        return self.frames / self.rate

    @property
    def samples(self) -> npt.NDArray[np.float32]:
        """The samples as float32 [frames, channels], full scale 1; integers are converted at each call."""
        return as_float(self.stored)

    @property
    def samples_sha256(self) -> str:
        """SHA-256 of the decoded sound, the same whatever chunks, tags or lossless container surround it.

        Hashed are an ASCII line `<rate> <channels> <int16 or float32>` that ends in one newline (`16000 1 int16`),
        then the samples of `stored`, little-endian, channels interleaved. Computed at each call. Lossy formats
        (MP3, Opus, Vorbis) decode to other bits under other decoder versions, and so to another digest.
        """
        kind = self.stored.dtype.newbyteorder("<")
        digest = hashlib.sha256(f"{self.rate} {self.channels} {kind.name}\n".encode("ascii"))
        digest.update(np.ascontiguousarray(self.stored, dtype=kind).data)
        return digest.hexdigest()


def as_float(stored: npt.NDArray[np.int16] | npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Stored samples as float32 with full scale 1; exact, for 16 bits fit in float32."""
    if stored.dtype == np.float32:
        return stored.astype(np.float32, copy=False)
    return np.multiply(stored, np.float32(1 / FULL_SCALE), dtype=np.float32)


def to_int16(samples: npt.NDArray[np.float32]) -> npt.NDArray[np.int16]:
    """Samples of full scale 1 as int16: times 32768, rounded half to even as `numpy.rint` does, then clipped."""
    scaled = np.rint(samples * np.float32(FULL_SCALE))
    return np.asarray(np.clip(scaled, -FULL_SCALE, FULL_SCALE - 1), dtype=np.int16)


def read_bytes(path: Path) -> bytes:
    """The whole file, read once. Raises `AudioFault`: `missing`, or `unreadable` (no plain file, no permission)."""
    try:
        # A named pipe in place of a file would wait for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb", buffering=0) as file:  # noqa: PTH123 (a descriptor has no path)
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise AudioFault("unreadable", "the entry is no plain file")
            return file.readall()
    except FileNotFoundError:
        raise AudioFault("missing", "the file is listed but not there") from None
    except OSError as fault:
        raise AudioFault("unreadable", f"the file cannot be read: {fault.strerror}") from None


def decode(data: bytes, name: str) -> Sound:
    """Decode the bytes of one file; `name` stands in the message when the `audio` extra is missing.

    Raises `AudioFault`: `no-bytes`, `lfs-pointer`, `html-page`, `not-audio`, `undecodable`, `truncated`,
    `header-size-mismatch`, `no-frames`, `non-finite-samples`; `MissingExtra` where soundfile is needed and absent.
    A placeholder for the length (see `riff`) is a notice, and the bytes that are there count. An MP3 with fewer
    frames than announced is read as it is.
    """
    _refuse_stand_ins(data)
    digest = hashlib.sha256(data).hexdigest()
    wave = riff.parse(data) if riff.is_wave(data) else None
    if wave is not None and wave.is_pcm16:
        container = "WAVEX" if wave.format.extensible else "WAV"
        sound = Sound(digest, wave.format.rate, container, "PCM_16", riff.pcm16(data, wave), _header_notices(wave))
    else:
        if wave is None:
            containers.require_whole(data)
        sound = _by_soundfile(data if wave is None else riff.mended(data, wave), name, digest, wave)
    if not sound.frames:
        raise AudioFault("no-frames", "the file is valid and holds no frames")
    return sound


def _refuse_stand_ins(data: bytes) -> None:
    if not data:
        raise AudioFault("no-bytes", "the file has 0 bytes")
    if data.startswith(b"version https://git-lfs"):
        raise AudioFault("lfs-pointer", "the file is a Git LFS pointer: fetch the audio with `git lfs pull`")
    head = data[:256].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if head.startswith((b"<!doctype html", b"<html")):
        raise AudioFault("html-page", "the file is a web page: the download answered with HTML, fetch it again")


def _header_notices(wave: riff.Wave | None) -> tuple[Notice, ...]:
    if wave is None:
        return ()
    notices = []
    if wave.placeholder is not None:
        text = (
            f"the header declares {wave.placeholder} data bytes, a placeholder; the {wave.size} that follow were read"
        )
        notices.append(Notice("placeholder-header", text))
    if wave.format.contradiction is not None:
        notices.append(Notice("contradictory-header", f"the header says {wave.format.contradiction}"))
    return tuple(notices)


def _by_soundfile(data: bytes, name: str, digest: str, wave: riff.Wave | None) -> Sound:
    try:
        soundfile: Any = importlib.import_module("soundfile")
    except ImportError:
        raise MissingExtra("audio", f"decoding {name}") from None
    try:
        with soundfile.SoundFile(io.BytesIO(data)) as file:
            kind = "int16" if file.subtype in _INTEGER_16 else "float32"
            stored = _read_all(file, len(data), kind)
            rate, container, subtype, announced = file.samplerate, file.format, file.subtype, file.frames
    except soundfile.SoundFileError as fault:
        raise _refused(fault) from None
    if not subtype.startswith("MPEG") and len(stored) < announced:
        raise AudioFault("truncated", f"truncated: {len(stored)} of {announced} frames")
    notices = _header_notices(wave)
    if kind == "float32" and len(stored):
        notices += _level_notices(stored)
    stored.flags.writeable = False
    return Sound(digest, rate, container, subtype, stored, notices)


def _read_all(file: Any, size: int, kind: str) -> npt.NDArray[Any]:
    if file.frames > _LONGEST:
        raise AudioFault("undecodable", "the stream does not announce its length: encode it again, to a file")
    if file.frames > _DENSEST * size:
        raise AudioFault(
            "header-size-mismatch",
            f"the header announces {file.frames} frames, more than {size} bytes can hold",
        )
    # One read from a sought start is what `soundfile.read` does; MP3 decodes to other last bits otherwise.
    if file.seekable():
        file.seek(0)
    return np.asarray(file.read(file.frames, dtype=kind, always_2d=True))


def _refused(fault: Exception) -> AudioFault:
    said = str(getattr(fault, "error_string", fault))
    if getattr(fault, "code", None) in _NOT_RECOGNISED:
        return AudioFault("not-audio", "the bytes are no sound format that libsndfile knows")
    return AudioFault("undecodable", f"libsndfile: {said}")


def _level_notices(stored: npt.NDArray[np.float32]) -> tuple[Notice, ...]:
    peak = max(float(stored.max()), -float(stored.min()))
    if not np.isfinite(peak):
        broken = int(np.count_nonzero(~np.isfinite(stored)))
        raise AudioFault("non-finite-samples", f"{broken} of {stored.size} samples are NaN or infinite")
    if peak <= 1.0:
        return ()
    over = int(np.count_nonzero(np.abs(stored) > 1.0))
    return (Notice("over-full-scale", f"{over} samples beyond full scale, peak {peak:.6g}"),)
