"""The journal: one line of canonical JSON per event, chained, written by one process per file.

`opened` says what answers; `entered` stands before a call, `returned` or `failed` after it. A call that entered and
never came back is `unknown` for ever. Each line holds the SHA-256 of the line before, so that none can be lost or
altered unseen.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.canonical import canonical, value_of
from pytest_speval.evidence.ending import Ending

CODES = {
    "journal-damaged": "A line of a journal is not what was written.",
}
KEYS = {
    "opened": {"prev"},
    "entered": {"id", "prev", "split"},
    "returned": {"answer", "id", "microseconds", "prev", "split"},
    "failed": {"code", "id", "message", "prev", "split"},
}
"""The keys that a line of each event has at least."""
START = "0" * 64
SYNC_SECONDS = 0.5


class Journal:
    """The writer of one file; what it was given is with the system before the next call starts."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        self._head = START
        self._pending = bytearray()
        self._synced = time.monotonic()

    def opened(self, facts: Mapping[str, Any]) -> None:
        """Note what is known once the model is loaded."""
        self._add({"event": "opened", **facts})
        self._flush()

    def entered(self, split: str, id: str) -> None:  # noqa: A002
        """Note that a call starts; it is on file when this returns."""
        self._add({"event": "entered", "id": id, "split": split})
        self._flush()

    def returned(self, split: str, id: str, ending: Ending) -> None:  # noqa: A002
        """Note an answer; it is on file at the next `entered`, `flush` or `close`."""
        line: dict[str, Any] = {"answer": ending.answer, "event": "returned", "id": id, "split": split}
        line["microseconds"] = ending.microseconds
        if ending.reported_ms is not None:
            line["reported_ms"] = ending.reported_ms
        self._add(line)

    def failed(self, split: str, id: str, ending: Ending) -> None:  # noqa: A002
        """Note a call that gave no usable answer."""
        line: dict[str, Any] = {
            "code": ending.code,
            "event": "failed",
            "id": id,
            "message": ending.message,
            "split": split,
        }
        if ending.answer is not None:
            line["answer"] = ending.answer
        if ending.microseconds is not None:
            line["microseconds"] = ending.microseconds
        self._add(line)

    def flush(self) -> None:
        """Hand everything noted so far to the system."""
        self._flush()

    def close(self) -> None:
        """Flush, force to disk and close."""
        self._flush()
        os.fsync(self._file)
        os.close(self._file)

    def _add(self, line: dict[str, Any]) -> None:
        line["prev"] = self._head
        text = canonical(line)
        self._head = hashlib.sha256(text).hexdigest()
        self._pending += text + b"\n"

    def _flush(self) -> None:
        while self._pending:
            del self._pending[: os.write(self._file, self._pending)]
        now = time.monotonic()
        if now - self._synced > SYNC_SECONDS:
            os.fdatasync(self._file)
            self._synced = now


def read_journal(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of one journal, checked against the chain.

    A torn last line, the mark of a killed process, ends it; damage elsewhere raises `EvidenceFault` with its number.
    What the last whole line says is vouched for by no other line; the receipt holds its digest.
    """
    head = START
    with path.open("rb") as file:
        for number, text in enumerate(file, start=1):
            if not text.endswith(b"\n"):
                return
            line = _parsed(text)
            if line is None or line["prev"] != head:
                where = str(number) if line is None or number == 1 else _altered(text, next(file, b""), number)
                raise EvidenceFault("journal-damaged", f"{path.name}, line {where}: not what was written")
            head = hashlib.sha256(text[:-1]).hexdigest()
            yield line


def _parsed(text: bytes) -> dict[str, Any] | None:
    """A line as written, or None for anything else."""
    try:
        line = value_of(text)
        return line if KEYS[line["event"]] <= line.keys() else None
    except (ValueError, KeyError, TypeError):
        return None


def _altered(text: bytes, following: bytes, number: int) -> str:
    """Which line was altered where line `number` does not follow from the one before: the next line is the witness."""
    if not following.endswith(b"\n"):
        return f"{number - 1} or {number}"
    witness = _parsed(following)
    vouches = witness is not None and witness["prev"] == hashlib.sha256(text[:-1]).hexdigest()
    return str(number - 1 if vouches else number)
