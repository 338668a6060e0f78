"""The journal: one line of canonical JSON per event, chained, written by one process per file.

`opened` says what answers; `reserved` stands before a call that costs, `entered` before any call, `returned` or
`failed` after it. A call that entered and never came back is `unknown`, and so is one whose answer brought arrays and
no line `saved` says that they were kept. Each line holds the SHA-256 of the line before, so that none can be lost or
altered unseen.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.canonical import canonical, value_of
from pytest_speval.evidence.ending import Ending

CODES = {
    "journal-damaged": "A line of a journal is not what was written.",
    "journal-unwritable": "A journal cannot be written, because the disk is full or for another reason.",
}
KEYS = {
    "opened": {"prev"},
    "reserved": {"id", "prev", "split", "usage"},
    "entered": {"id", "prev", "split"},
    "returned": {"answer", "id", "microseconds", "prev", "split"},
    "failed": {"code", "id", "message", "prev", "split"},
    "saved": {"arrays", "id", "prev", "split"},
}
"""The keys that a line of each event has at least."""
START = "0" * 64
SYNC_SECONDS = 0.5
TAIL = 65536


class Journal:
    """The writer of one file; what it was given is with the system before the next call starts.

    Whatever cannot be written raises `EvidenceFault`, then and ever after: no call may follow that leaves no trace.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._head = START
        self._pending = bytearray()
        self._synced = time.monotonic()
        self._fault: EvidenceFault | None = None
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # held while its writer lives, see `is_written`
        except OSError as error:
            raise self._unwritable(error) from error

    def opened(self, facts: Mapping[str, Any]) -> None:
        """Note what is known once the model is loaded."""
        self._add({"event": "opened", **facts})
        self._flush()

    def reserved(self, split: str, id: str, attempt: int, usage: Mapping[str, Any]) -> None:  # noqa: A002
        """Note what a call may cost; it is on the disk when this returns."""
        self._add(_clip("reserved", split, id, attempt) | {"usage": usage})
        self.sync()

    def entered(self, split: str, id: str, attempt: int = 1) -> None:  # noqa: A002
        """Note that a call starts; it is on file when this returns."""
        self._add(_clip("entered", split, id, attempt))
        self._flush()

    def returned(
        self,
        split: str,
        id: str,  # noqa: A002
        ending: Ending,
        response: Mapping[str, Any] | None = None,
        arrays: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Note an answer and the response it came in; it is on file at the next `entered`, `flush` or `close`.

        `arrays` are the records of the arrays it brought, which are on the disk; they follow in a line of their own.
        """
        line = _clip("returned", split, id, ending.attempts)
        line |= {"answer": ending.answer, "microseconds": ending.microseconds}
        if ending.reported_ms is not None:
            line["reported_ms"] = ending.reported_ms
        if arrays:
            line["arrays"] = [record["name"] for record in arrays]
        self._add(line if response is None else line | {"response": response})
        if arrays:
            self._add(_clip("saved", split, id, ending.attempts) | {"arrays": list(arrays)})

    def failed(self, split: str, id: str, ending: Ending, response: Mapping[str, Any] | None = None) -> None:  # noqa: A002
        """Note a call that gave no usable answer."""
        line = _clip("failed", split, id, ending.attempts) | {"code": ending.code, "message": ending.message}
        if ending.answer is not None:
            line["answer"] = ending.answer
        if ending.microseconds is not None:
            line["microseconds"] = ending.microseconds
        self._add(line if response is None else line | {"response": response})

    def flush(self) -> None:
        """Hand everything noted so far to the system."""
        self._flush()

    def sync(self) -> None:
        """Force everything noted so far to the disk."""
        self._flush(now=True)

    def close(self) -> None:
        """Flush, force to disk and close; what could not be written earlier is tried once more."""
        self._fault = None
        try:
            self.sync()
        finally:
            os.close(self._file)

    def _add(self, line: dict[str, Any]) -> None:
        line["prev"] = self._head
        text = canonical(line)
        self._head = hashlib.sha256(text).hexdigest()
        self._pending += text + b"\n"

    def _flush(self, *, now: bool = False) -> None:
        if self._fault is not None:
            raise self._fault
        try:
            while self._pending:
                del self._pending[: os.write(self._file, self._pending)]
            if now or time.monotonic() - self._synced > SYNC_SECONDS:
                os.fdatasync(self._file)
                self._synced = time.monotonic()
        except OSError as error:
            self._fault = self._unwritable(error)
            raise self._fault from error

    def _unwritable(self, error: OSError) -> EvidenceFault:
        return EvidenceFault("journal-unwritable", f"cannot write {self.path}: {error.strerror}; no clip is asked")


def _clip(event: str, split: str, id: str, attempt: int) -> dict[str, Any]:  # noqa: A002
    """A line about a clip; a first attempt is not worth a word."""
    line: dict[str, Any] = {"event": event, "id": id, "split": split}
    return line if attempt == 1 else line | {"attempt": attempt}


@dataclass(frozen=True, slots=True)
class Head:
    """How far a journal goes: its whole lines, and the SHA-256 of the last."""

    lines: int
    sha256: str

    @classmethod
    def of(cls, data: bytes) -> Head:
        """The head of a journal's bytes; a torn end does not count."""
        whole = data[: data.rfind(b"\n") + 1]
        last = whole[:-1].rpartition(b"\n")[2]
        return cls(whole.count(b"\n"), hashlib.sha256(last).hexdigest() if whole else START)


def read_journal(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of one journal, checked against the chain.

    A torn last line, the mark of a killed process, ends it; damage elsewhere raises `EvidenceFault` with its number.
    A change that leaves a line's value as it is, such as a blank, breaks the chain too, or in the last line the
    canonical form. What else the last whole line says is vouched for by no other line; the receipt holds its digest.
    A line `saved` is given with the name of its `journal`, which that of its files' folder is.
    """
    head, number, line, last = START, 0, None, b""
    with path.open("rb") as file:
        for text in file:
            if not text.endswith(b"\n"):
                break
            number, line, last = number + 1, parsed(text), text
            if line is None or line["prev"] != head:
                where = str(number) if line is None or number == 1 else _altered(text, next(file, b""), number)
                raise EvidenceFault("journal-damaged", f"{path.name}, line {where}: not what was written")
            head = hashlib.sha256(text[:-1]).hexdigest()
            yield line if line["event"] != "saved" else line | {"journal": path.stem}
    if line is not None and canonical(line) + b"\n" != last:
        raise EvidenceFault("journal-damaged", f"{path.name}, line {number}: not what was written")


def parsed(text: bytes) -> dict[str, Any] | None:
    """The value of a line as some journal wrote it, or None for anything else."""
    try:
        line = value_of(text)
        return line if KEYS[line["event"]] <= line.keys() else None
    except (ValueError, KeyError, TypeError):
        return None


def _altered(text: bytes, following: bytes, number: int) -> str:
    """Which line was altered where line `number` does not follow from the one before: the next line is the witness."""
    if not following.endswith(b"\n"):
        return f"{number - 1} or {number}"
    witness = parsed(following)
    vouches = witness is not None and witness["prev"] == hashlib.sha256(text[:-1]).hexdigest()
    return str(number - 1 if vouches else number)


def torn_tail(path: Path) -> bytes:
    """What stands behind the last whole line of a journal: the mark of a killed process, or nothing."""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        tail = b""
        while end > 0 and b"\n" not in tail:
            start = max(0, end - TAIL)
            file.seek(start)
            tail = file.read(end - start) + tail
            end = start
    return tail.rpartition(b"\n")[2]


def set_aside(path: Path) -> None:
    """Move the torn tail of a journal to a file beside it, so that the journal ends with a whole line again."""
    tail = torn_tail(path)
    if not tail:
        return
    try:
        beside = path.with_suffix(".torn")
        beside.write_bytes((beside.read_bytes() if beside.exists() else b"") + tail + b"\n")
        os.truncate(path, path.stat().st_size - len(tail))
    except OSError as error:
        raise EvidenceFault("journal-unwritable", f"cannot set aside the torn end of {path}: {error}") from error


def is_written(path: Path) -> bool:
    """Say whether the writer of a journal lives and may still add to it."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
    return False
