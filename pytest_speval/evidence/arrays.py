"""Arrays that came with an answer, kept as evidence: one file each, named by a line `saved` of the journal.

Reading: `Ending.arrays` maps an array's name to its `ArrayRecord` and is None where the answer brought none; endings
come from `StoredRun.endings()`, one per planned clip. `record.load(folder)` reads the array back from a run folder, or
raises `EvidenceFault`. Writing: `checked(answer.arrays)`, then `ArrayStore.save`, before the line `returned`.

An adapter hands them over as `Transcript.arrays` or `Rating.arrays`. Under `run.max_bytes` it says what they take, as
`stored_bytes(samples, sample_rate) -> int`: per clip at most, for each array its own bytes and `ARRAY_HEADER` more.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_speval.adapters.base import ARRAY_HEADER
from pytest_speval.errors import AnswerFault, EvidenceFault

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

CODES = {
    "storage-failed": "The arrays of an answer could not be kept: the disk, the folder, or the bound of their bytes.",
    "array-missing": "An array of an answer is not there any more.",
    "array-damaged": "An array of an answer is not what was written.",
}
FOLDER = "answers"
MOST_AXES = 4
DTYPES = ("|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8")
_MAGIC = b"\x93NUMPY\x01\x00"
_NAME = re.compile("[a-z0-9][a-z0-9_-]{0,63}")
_LONGEST, _HEX = 120, 16


@dataclass(frozen=True, slots=True)
class ArrayRecord:
    """One kept array: its file below the run folder, the SHA-256 and size of that file, and what lies in it."""

    name: str
    file: str
    sha256: str
    bytes: int
    dtype: str
    shape: tuple[int, ...]

    def load(self, folder: Path) -> npt.NDArray[Any]:
        """The array, read-only and C-contiguous, from a run folder.

        Raises `EvidenceFault` `array-missing` or `array-damaged`. Nothing outside of the folder is opened.
        """
        import numpy as np

        data, header = _bytes_of(self, folder), _header(self.dtype, self.shape)
        dtype = np.dtype(self.dtype)
        if not data.startswith(header) or len(data) != len(header) + prod(self.shape) * dtype.itemsize:
            raise EvidenceFault("array-damaged", f"{self.file} is no array of {self.dtype} {self.shape}")
        return np.frombuffer(data, dtype, offset=len(header)).reshape(self.shape)

    def check(self, folder: Path) -> None:
        """See that the file holds what was written; raises as `load` does."""
        _bytes_of(self, folder)


def _bytes_of(record: ArrayRecord, folder: Path) -> bytes:
    path = folder / record.file
    try:
        if path.resolve() != folder.resolve() / record.file:
            raise EvidenceFault("array-damaged", f"{record.file} leads elsewhere")
        data = path.read_bytes() if path.stat().st_size == record.bytes else b""
    except OSError as error:
        raise EvidenceFault("array-missing", f"{record.file} cannot be read: {error.strerror}") from error
    if hashlib.sha256(data).hexdigest() != record.sha256:
        raise EvidenceFault("array-damaged", f"{record.file} is not what was written")
    return data


class ArrayStore:
    """The folder of one journal's arrays; it is made with its first file."""

    def __init__(self, journal: Path) -> None:
        self.path = journal.parent.parent / FOLDER / journal.stem

    def save(
        self,
        split: str,
        id: str,  # noqa: A002
        arrays: Mapping[str, npt.NDArray[Any]],
        room: int | None = None,
    ) -> list[dict[str, Any]]:
        """Keep the arrays of one clip, all or none, each on the disk when this returns; returns what `saved` says.

        `room` is how many bytes they may take. Raises `EvidenceFault` `storage-failed`.
        """
        files = {name: _header(array.dtype.str, array.shape) + array.tobytes() for name, array in arrays.items()}
        size = sum(map(len, files.values()))
        if room is not None and size > room:
            message = f"the arrays take {size:,} bytes, and the adapter's stored_bytes gives this clip {room:,}"
            raise EvidenceFault("storage-failed", message)
        records, written = [], list[Path]()
        try:
            for path in (self.path.parent, self.path):  # not the run folder: where that is gone, nothing is kept
                path.mkdir(exist_ok=True)
            for name, data in files.items():
                path = self.path / file_name(split, id, name)
                _write(path, data, written)
                records.append(
                    {
                        "name": name,
                        "file": path.name,
                        "sha256": hashlib.sha256(data).hexdigest(),
                        "bytes": len(data),
                        "dtype": arrays[name].dtype.str,
                        "shape": list(arrays[name].shape),
                    }
                )
        except OSError as error:
            _take_back(written)
            message = f"cannot keep {', '.join(files)} ({size:,} bytes): {error.strerror}"
            raise EvidenceFault("storage-failed", message) from error
        return records


def _write(path: Path, data: bytes, written: list[Path]) -> None:
    """Write a new file; what is begun is noted in `written`."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    written.append(path)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fdatasync(descriptor)
    finally:
        os.close(descriptor)


def _take_back(written: Iterable[Path]) -> None:
    for path in written:
        with suppress(OSError):
            path.unlink()


def checked(arrays: object) -> dict[str, npt.NDArray[Any]]:
    """The arrays of an answer by name, in C order and little-endian; raises `AnswerFault` `invalid-answer`.

    Kept are plain numpy arrays of finite real numbers or integers, of at most 8 bytes each, with at most `MOST_AXES`
    axes, under names of small letters, digits, `-` and `_`.
    """
    if not isinstance(arrays, Mapping):
        raise AnswerFault("invalid-answer", f"arrays is {type(arrays).__name__}, not a mapping of names to arrays")
    for name in arrays:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise AnswerFault("invalid-answer", f"{name!r} names no array: use 1 to 64 of a-z, 0-9, - and _")
    return {name: _checked(name, arrays[name]) for name in sorted(arrays)}


def _checked(name: str, array: object) -> npt.NDArray[Any]:
    import numpy as np

    if type(array) is not np.ndarray:
        raise AnswerFault("invalid-answer", f"array {name} is {type(array).__name__}, not a plain numpy array")
    plain: np.ndarray[Any, np.dtype[Any]] = array
    dtype = plain.dtype.newbyteorder("<")
    if dtype.str not in DTYPES:
        raise AnswerFault("invalid-answer", f"array {name} holds {plain.dtype}, not real numbers or integers")
    if plain.ndim > MOST_AXES:
        raise AnswerFault("invalid-answer", f"array {name} has {plain.ndim} axes; at most {MOST_AXES} are kept")
    if dtype.kind == "f" and not np.isfinite(plain).all():
        raise AnswerFault("invalid-answer", f"array {name} holds NaN or infinity")
    return np.asarray(plain, dtype, order="C")


def file_name(split: str, id: str, name: str) -> str:  # noqa: A002
    """The name of an array's file: ASCII, one-to-one, `<split>+<id>.<name>.npy`; a long clip's name is cut."""
    clip = f"{_safe(split)}+{_safe(id)}"
    if len(clip) > _LONGEST:
        whole = hashlib.sha256(clip.encode()).hexdigest()
        clip = f"{clip[: _LONGEST - _HEX - 1]}-{whole[:_HEX]}"
    return f"{clip}.{name}.npy"


def _safe(text: str) -> str:
    """ASCII letters and digits and `-_.` as they are, every other byte as %XX."""
    return "".join(sign if sign.isascii() and (sign.isalnum() or sign in "-_.") else _percent(sign) for sign in text)


def _percent(sign: str) -> str:
    return "".join(f"%{byte:02X}" for byte in sign.encode("utf-8", "surrogatepass"))


def _header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """The header of a .npy file, format 1.0; one of our own, so that it is the same under every version of numpy."""
    told = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {tuple(shape)!r}, }}".encode()
    space = -(len(_MAGIC) + 2 + len(told) + 1) % ARRAY_HEADER
    return _MAGIC + struct.pack("<H", len(told) + space + 1) + told + b" " * space + b"\n"


def records_of(line: Mapping[str, Any]) -> dict[str, ArrayRecord]:
    """The records of a line `saved`, by name; raises `EvidenceFault` `array-damaged` for what no run writes."""
    try:
        found = {said["name"]: _record(said, line) for said in line["arrays"]}
        if len(found) != len(line["arrays"]):
            raise ValueError("a name stands twice")
    except (KeyError, TypeError, ValueError) as error:
        message = f"saved {line['split']}/{line['id']} is not what a run writes: {error}"
        raise EvidenceFault("array-damaged", message) from error
    return found


def _record(said: Mapping[str, Any], line: Mapping[str, Any]) -> ArrayRecord:
    """One record, its file in the folder that belongs to the journal of its line."""
    name = said["name"]
    record = ArrayRecord(
        name,
        f"{FOLDER}/{line['journal']}/{file_name(line['split'], line['id'], name)}",
        said["sha256"],
        said["bytes"],
        said["dtype"],
        tuple(said["shape"]),
    )
    fits = _NAME.fullmatch(name) and record.dtype in DTYPES and len(record.shape) <= MOST_AXES
    if not fits or any(type(size) is not int or size < 0 for size in record.shape):
        raise ValueError(f"array {name!r}")
    if asdict(record) | {"file": record.file.rpartition("/")[2], "shape": list(record.shape)} != said:
        raise ValueError(f"array {name!r}")
    return record
