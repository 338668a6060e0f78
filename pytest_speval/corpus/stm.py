"""NIST's segment time marks (STM): who said what, on which channel of which recording, and when.

A line is `recording channel speaker begin end [<labels>] words`, times in seconds. Labels stand in angle brackets,
divided by commas, and `<NA>` is a label like any other.
"""

from __future__ import annotations

import re

from pytest_speval.corpus.lines import BLANK, COMMENT, lines_of, plainly, seconds_of
from pytest_speval.corpus.records import Cell, Records
from pytest_speval.errors import Fault, FaultyFile

CODES = {
    "stm-syntax": "A line of an .stm file has fewer than five fields.",
    "stm-time": "A segment's begin or end is not a time in seconds, or it ends before it begins.",
}
COLUMNS = ("id", "recording", "channel", "speaker", "begin", "end", "labels", "transcript")
_LINE = re.compile(
    r"[ \t]*"
    + r"([^ \t]+)[ \t]+" * 4
    + r"([^ \t]+)(?:[ \t]+(<(?!(?i:ALT(?:_BEGIN|_END)?)>)[^<> \t]*>))?(?![^ \t])(.*)",
    re.DOTALL,
)


def stm(text: str, shown_as: str) -> Records:
    """A row a segment, under `COLUMNS`.

    The id joins recording, channel, speaker, begin and end with `_`; `labels` has no brackets and is missing where
    there are none. Raises `FaultyFile`.
    """
    rows: list[tuple[Cell, ...]] = []
    lines: list[int] = []
    faults: list[Fault] = []
    for number, line in lines_of(text, shown_as, COMMENT):
        found = _LINE.fullmatch(line)
        if found is None:
            message = f"`recording channel speaker begin end words` is wanted; the line is `{line.strip(BLANK)[:60]}`"
            faults.append(Fault(shown_as, number, 0, "stm-syntax", message))
            continue
        recording, channel, speaker, *times, labels, words = found.groups()
        begin, end = map(seconds_of, times)
        if begin is None or end is None or end < begin:
            message = f"a segment from `{times[0]}` to `{times[1]}`: begin and end are wanted, in seconds"
            faults.append(Fault(shown_as, number, 0, "stm-time", message))
            continue
        place = (recording, channel, speaker, plainly(begin), plainly(end))
        rows.append(("_".join(place), *place, labels[1:-1] if labels else None, words.strip(BLANK)))
        lines.append(number)
    if faults:
        raise FaultyFile(faults)
    return Records(COLUMNS, rows, lines)
