"""Containers other than WAVE: whether all the sound that they declare is there.

libsndfile reads a file that was cut short as a shorter good one; here the header is compared with the bytes first.
MP3 declares no length that could be relied on and is not judged; FLAC is judged by the decoder.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

from pytest_speval.errors import AudioFault

Measure = Callable[[bytes], tuple[int, int] | None]


def require_whole(data: bytes) -> None:
    """Raise `AudioFault` `truncated` or `header-size-mismatch` where a header and the bytes disagree."""
    for magic, measure in _MEASURES.items():
        if data.startswith(magic):
            sizes = measure(data)
            if sizes is not None and sizes[0] > sizes[1]:
                raise AudioFault("truncated", f"truncated: {sizes[1]} of {sizes[0]} data bytes")


def _aiff(data: bytes) -> tuple[int, int] | None:
    at, frames_size = 12, None
    while at + 16 <= len(data):
        name, size = struct.unpack_from(">4sI", data, at)
        if name == b"COMM" and data[8:12] == b"AIFF" and at + 16 <= len(data):
            channels, frames, bits = struct.unpack_from(">HIH", data, at + 8)
            frames_size = channels * frames * -(-bits // 8)
        if name == b"SSND":
            (offset,) = struct.unpack_from(">I", data, at + 8)
            declared, present = size - 8 - offset, len(data) - at - 16 - offset
            if declared <= present and frames_size not in (None, declared):
                raise AudioFault(
                    "header-size-mismatch",
                    f"the frame count asks for {frames_size} data bytes, the sound chunk declares {declared}",
                )
            return declared, present
        at += 8 + size + (size & 1)
    return None


def _au(data: bytes) -> tuple[int, int] | None:
    if len(data) < 24:
        return None
    order = ">" if data.startswith(b".snd") else "<"
    offset, size = struct.unpack_from(order + "II", data, 4)
    return None if size == 0xFFFFFFFF else (size, len(data) - offset)


def _sphere(data: bytes) -> tuple[int, int] | None:
    """NIST SPHERE: the header is text, its length stands in the second line."""
    length = re.match(rb"NIST_1A\s+(\d+)\s", data)
    if length is None:
        return None
    header = data[: int(length[1])]
    words = dict(re.findall(rb"^(\w+) -\w+ (\S+)", header, re.MULTILINE))
    if b"embedded" in words.get(b"sample_coding", b""):
        return None
    try:
        counts = [int(words[name]) for name in (b"sample_count", b"channel_count", b"sample_n_bytes")]
    except (KeyError, ValueError):
        return None
    return counts[0] * counts[1] * counts[2], len(data) - len(header)


def _w64(data: bytes) -> tuple[int, int] | None:
    """Sony Wave64: names of 16 bytes, sizes of 8 that count the header, chunks on multiples of 8."""
    at = 40
    while at + 24 <= len(data):
        (size,) = struct.unpack_from("<Q", data, at + 16)
        if data.startswith(b"data", at):
            return size - 24, len(data) - at - 24
        at += max(24, size + -size % 8)
    return None


def _caf(data: bytes) -> tuple[int, int] | None:
    """Core Audio Format: sizes of 8 bytes, signed; a data chunk of size -1 runs to the end."""
    at = 8
    while at + 12 <= len(data):
        (size,) = struct.unpack_from(">q", data, at + 4)
        if data.startswith(b"data", at) or size < 0:
            return None if size < 0 else (size, len(data) - at - 12)
        at += 12 + size
    return None


def _ogg(data: bytes) -> None:
    """The last page of a whole Ogg stream is complete and carries the end-of-stream flag (RFC 3533)."""
    page = data[data.rfind(b"OggS") :]
    lacing = page[27 : 27 + page[26]] if len(page) > 26 else b""
    complete = len(page) > 26 and len(page) >= 27 + page[26] + sum(lacing)
    if not (complete and page[5] & 4):
        raise AudioFault("truncated", "truncated: the last Ogg page does not end the stream")


_MEASURES: dict[bytes, Measure] = {
    b"FORM": _aiff,
    b".snd": _au,
    b"dns.": _au,
    b"NIST_1A": _sphere,
    b"riff\x2e\x91\xcf\x11": _w64,
    b"caff": _caf,
    b"OggS": _ogg,
}
