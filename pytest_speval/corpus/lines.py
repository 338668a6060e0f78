"""The lines of the text formats that recognisers and their scorers write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from pytest_speval.errors import Fault, FaultyFile

CODES = {
    "line-ends": "A carriage return stands inside a line of a text format: the file has the line ends of no system.",
}
BLANK = " \t"
"""What separates fields. Other white space belongs to the words it stands between."""
COMMENT = ";;"
"""How a comment begins in the formats of NIST."""
_SECONDS = re.compile(r"(?:[0-9]{1,9}(?:\.[0-9]{0,18})?|\.[0-9]{1,18})(?:[eE]-[0-9]{1,2})?")


def lines_of(text: str, shown_as: str, comment: str | None = None) -> Iterator[tuple[int, str]]:
    """Number, from 1, and content of every line that is neither blank nor a comment; only line feeds end a line.

    Raises `FaultyFile` for a carriage return that ends no line, which would hide where lines end.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.removesuffix("\r")
        if "\r" in line:
            message = "a carriage return inside the line: save the file with line feeds"
            raise FaultyFile([Fault(shown_as, number, 0, "line-ends", message)])
        if line.strip(BLANK) and not (comment and line.lstrip(BLANK).startswith(comment)):
            yield number, line


def seconds_of(field: str) -> Decimal | None:
    """A time in seconds, from 0, exactly as written; None where the field holds none."""
    return Decimal(field) if _SECONDS.fullmatch(field) else None


def plainly(time: Decimal) -> str:
    """One spelling for one time: 109.90 is 109.9."""
    return f"{time.normalize():f}"
