"""The WAVE file: its header, checked against the bytes that are there, and a view of plain 16-bit samples.

RIFF (little-endian), RIFX (big-endian) and RF64 (64-bit sizes in a `ds64` chunk, EBU Tech 3306) share one layout:
chunks of a four-letter name, a size and a body that is padded to an even length.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_speval.errors import AudioFault

CODES = {
    "truncated": "A sound file holds less sound than its header declares.",
    "header-size-mismatch": "The sizes in a sound file's header contradict each other or the bytes.",
    "undecodable": "A sound file is damaged, or its encoding cannot be decoded.",
}
_FORMS = (b"RIFF", b"RIFX", b"RF64")
_PCM, _EXTENSIBLE = 1, 0xFFFE
_LINEAR = (1, 3, 6, 7)  # PCM, float, A-law, mu-law: one frame has a fixed number of bytes
_GUID_TAIL = bytes.fromhex("000000001000800000aa00389b71")


@dataclass(frozen=True, slots=True)
class Format:
    """The format chunk. `block` is the bytes of one frame over all channels, as declared.

    `tag` is the format code; for an extensible header it is the code inside. `bytes_per_second` is as declared.
    """

    tag: int
    channels: int
    rate: int
    bytes_per_second: int
    block: int
    bits: int
    extensible: bool

    def divides(self, size: int) -> bool:
        """Whether `size` bytes are whole frames, by the declared block or by the bits of one sample."""
        if self.tag not in _LINEAR:
            return True
        return any(step > 0 and size % step == 0 for step in (self.block, self.channels * -(-self.bits // 8)))

    @property
    def contradiction(self) -> str | None:
        """What the numbers say against each other, where one frame has a fixed size; None if they agree."""
        if self.tag not in _LINEAR:
            return None
        sample = -(-self.bits // 8)
        if self.block != self.channels * sample:
            return f"{self.channels} channels of {sample} bytes in frames of {self.block} bytes"
        if self.bytes_per_second != self.rate * self.block:
            return f"{self.rate:,} Hz in frames of {self.block} bytes, and {self.bytes_per_second:,} bytes a second"
        return None


@dataclass(frozen=True, slots=True)
class Wave:
    """A WAVE file's header.

    `start` and `size` give the sample bytes that are there, `placeholder` the size that was written in place of
    an unknown one, `size_field` where that stands (offset and struct format).
    """

    form: bytes
    format: Format
    start: int
    size: int
    placeholder: int | None
    size_field: tuple[int, str]

    @property
    def is_pcm16(self) -> bool:
        """Plain little-endian 16-bit PCM, which `pcm16` can read."""
        form = self.format
        plain = self.form == b"RIFF" and form.tag == _PCM and form.bits == 16
        return plain and form.rate > 0 and form.channels > 0 and form.block == 2 * form.channels


def is_wave(data: bytes) -> bool:
    """Whether the bytes begin as a WAVE file does, however short they are."""
    return data.startswith(_FORMS) and b"WAVE".startswith(data[8:12])


def parse(data: bytes) -> Wave:
    """Read the header of a WAVE file and check the declared length of the samples.

    Raises `AudioFault`: `truncated` (fewer bytes than declared), `header-size-mismatch` (the size is wrong in
    another way and no known placeholder), `undecodable` (no format or no data chunk).
    """
    if len(data) < 12:
        raise AudioFault("truncated", f"truncated: {len(data)} bytes are less than a WAVE header")
    order = ">" if data.startswith(b"RIFX") else "<"
    layout: Format | None = None
    wide: int | None = None
    for name, body, size in _chunks(data, order):
        if name == b"fmt " and body + 16 <= len(data):
            layout = _format(data, order, body, size)
        elif name == b"ds64" and data.startswith(b"RF64") and body + 16 <= len(data):
            wide = body + 8
        elif name == b"data":
            if layout is None:
                raise AudioFault("undecodable", "the WAVE file has no format chunk before its samples")
            field = (wide, "<Q") if wide is not None and size == 0xFFFFFFFF else (body - 4, order + "I")
            return _measured(data, order, layout, body, field)
    promised = _promised(data, order)
    if promised > len(data):
        raise AudioFault("truncated", f"truncated: {len(data)} of {promised} bytes, before any sample")
    raise AudioFault("undecodable", "the WAVE file has no data chunk")


def pcm16(data: bytes, wave: Wave) -> npt.NDArray[np.int16]:
    """The samples as a read-only view [frames, channels] of the file's bytes. Needs `wave.is_pcm16`."""
    channels = wave.format.channels
    frames = wave.size // wave.format.block
    return np.frombuffer(data, "<i2", frames * channels, wave.start).reshape(frames, channels)


def mended(data: bytes, wave: Wave) -> bytes:
    """The file with its true data size in place of a placeholder."""
    if wave.placeholder is None:
        return data
    at, code = wave.size_field
    return data[:at] + struct.pack(code, wave.size) + data[at + struct.calcsize(code) :]


def _chunks(data: bytes, order: str) -> Iterator[tuple[bytes, int, int]]:
    header = struct.Struct(order + "4sI")
    at = 12
    while at + 8 <= len(data):
        name, size = header.unpack_from(data, at)
        yield name, at + 8, size
        at += 8 + size + (size & 1)


def _format(data: bytes, order: str, body: int, size: int) -> Format:
    if size < 16:
        raise AudioFault("undecodable", "the format chunk of the WAVE file is too short")
    tag, channels, rate, bytes_per_second, block, bits = struct.unpack_from(order + "HHIIHH", data, body)
    extensible = tag == _EXTENSIBLE
    if extensible and size >= 40 and data[body + 26 : body + 40] == _GUID_TAIL:
        valid, _, inner = struct.unpack_from(order + "HIH", data, body + 18)
        tag = inner if valid == bits else tag
    return Format(tag, channels, rate, bytes_per_second, block, bits, extensible)


def _measured(data: bytes, order: str, layout: Format, start: int, field: tuple[int, str]) -> Wave:
    (declared,) = struct.unpack_from(field[1], data, field[0])
    present = len(data) - start
    if _is_placeholder(declared) and _is_unknown(data, order, start, declared):
        whole = present - present % max(layout.block, 1)
        return Wave(data[:4], layout, start, whole, declared, field)
    if declared > present:
        raise _too_few(data, order, declared, present)
    if not _chained(data, order, start + declared + (declared & 1)):
        raise AudioFault(
            "header-size-mismatch",
            f"the data chunk declares {declared} bytes, {present} follow, and what comes after it is no chunk",
        )
    if not layout.divides(declared):
        raise AudioFault(
            "header-size-mismatch",
            f"the data chunk's {declared} bytes are no whole frames of {layout.block} bytes",
        )
    return Wave(data[:4], layout, start, declared, None, field)


def _is_placeholder(declared: int) -> bool:
    """A size that writers put down before they know it: 0, 2,000,000,000, or within 64 KiB of the largest number.

    Seen: 0xFFFFFFFF (ffmpeg), 0x7FFFFFFF, 0x7FFFF000 (sox, espeak), each also less a header of 36 or 44 bytes.
    """
    tops = (1 << 31, 1 << 32, 1 << 63, 1 << 64)
    return declared in (0, 2_000_000_000) or any(top - 0x10000 <= declared <= top for top in tops)


def _is_unknown(data: bytes, order: str, start: int, declared: int) -> bool:
    """Whether a placeholder stands for bytes that are there: an empty data chunk before other chunks is just empty."""
    if declared:
        return declared > len(data) - start
    return not _chained(data, order, start)


def _chained(data: bytes, order: str, at: int) -> bool:
    """Whether chunks alone follow, up to the end or, in a file that was cut after its samples, past it."""
    promised = _promised(data, order)
    while at < len(data):
        if at + 8 > len(data):
            return promised > len(data)
        name, size = struct.unpack_from(order + "4sI", data, at)
        end = at + 8 + size
        if name == b"data" or not all(0x20 <= letter < 0x7F for letter in name):
            return False
        if end > len(data):
            return bool(end <= promised)
        at = end + (size & 1)
    return True


def _promised(data: bytes, order: str) -> int:
    """The length of the whole file by the size in its first eight bytes."""
    return 8 + int(struct.unpack_from(order + "I", data, 4)[0])


def _too_few(data: bytes, order: str, declared: int, present: int) -> AudioFault:
    if _promised(data, order) == len(data):
        return AudioFault(
            "header-size-mismatch",
            f"the data chunk declares {declared} bytes, {present} follow, and by its first size the file is whole",
        )
    return AudioFault("truncated", f"truncated: {present} of {declared} data bytes")
