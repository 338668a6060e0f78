"""Which line of a journal was altered, and where the lines of all journals lead."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.canonical import canonical
from pytest_speval.evidence.ending import Ending, endings_of
from pytest_speval.evidence.journal import START, Head, parsed, read_journal
from pytest_speval.evidence.plan import Question
from pytest_speval.verify.finding import Finding

CODES = {
    "line-altered": "A line of a journal is not what was written.",
    "line-missing": "Lines of a journal are missing.",
    "line-unexpected": "A journal has a line that was not written with it.",
    "line-foreign": "A line of a journal does not fit the plan, or not the lines before it.",
}

_MESSAGES = {
    "line-altered": "not what was written",
    "line-missing": "lines are missing here",
    "line-unexpected": "was not there when the receipt was written",
}


def journal_fault(name: str, data: bytes, head: Head | None) -> Finding | None:
    """The first line of a journal that is not what was written, or None.

    `head` is where the journal ended according to the receipt: with it the line is exact, without it the last two
    lines have no witness.
    """
    *lines, tail = data.split(b"\n")
    prev = START
    for place, text in enumerate(lines):
        line = _line(text)
        if line is None:
            return _fault("line-altered", name, place, None)
        if line["prev"] != prev:
            return _broken(name, lines, place, head)
        prev = hashlib.sha256(text).hexdigest()
    if head is not None and len(lines) != head.lines:
        code = "line-missing" if len(lines) < head.lines else "line-unexpected"
        return _fault(code, name, min(len(lines), head.lines), None)
    if head is not None and prev != head.sha256:
        return _fault("line-altered", name, len(lines) - 1, _line(lines[-1]))
    return _fault("line-altered", name, len(lines), None) if head is not None and tail else None


def _broken(name: str, lines: list[bytes], place: int, head: Head | None) -> Finding:
    """The finding about a line that does not name the one before it: the line after it tells which of them is right."""
    text = lines[place]
    if place == 0:
        return _fault("line-altered", name, place, _line(text))
    witness = None if head is None else head.sha256
    if place + 1 < len(lines):
        following = _line(lines[place + 1])
        witness = None if following is None else following["prev"]
    if witness is None:
        return Finding("error", "line-altered", _MESSAGES["line-altered"], name, f"line {place} or {place + 1}")
    more = head is not None and len(lines) > head.lines
    code = "line-unexpected" if more else "line-altered"
    if witness != hashlib.sha256(text).hexdigest():
        return _fault(code, name, place, _line(text))
    if head is not None and len(lines) < head.lines:
        return _fault("line-missing", name, place, None)
    return _fault(code, name, place - 1, _line(lines[place - 1]))


def _line(text: bytes) -> dict[str, Any] | None:
    """The value of a line that is in the form in which lines are written."""
    line = parsed(text)
    return line if line is not None and canonical(line) == text else None


def _fault(code: str, name: str, place: int, line: Mapping[str, Any] | None) -> Finding:
    clip = f" ({line['split']}/{line['id']})" if line is not None and "id" in line else ""
    return Finding("error", code, _MESSAGES[code], name, f"line {place + 1}{clip}")


def endings(question: Question, journals: Mapping[str, Path]) -> list[Ending] | Finding:
    """Where each planned clip ended, or the first line that is damaged or does not fit."""
    at = ("journal", 0)

    def lines() -> Iterator[dict[str, Any]]:
        nonlocal at
        for name, path in journals.items():
            at = (name, 0)
            for number, line in enumerate(read_journal(path), start=1):
                at = (name, number)
                yield line
        at = ("journal", 0)

    try:
        return endings_of(question, lines())
    except EvidenceFault as fault:
        name, number = at
        found = journal_fault(name, journals[name].read_bytes(), None) if fault.code == "journal-damaged" else None
        return found or Finding("error", "line-foreign", fault.message, name, f"line {number}" if number else "")
