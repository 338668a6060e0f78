"""Kaldi's file `text`: a line is an id, a blank and the words. An id alone has said nothing."""

from __future__ import annotations

from pytest_speval.corpus.lines import BLANK, lines_of
from pytest_speval.corpus.records import Records
from pytest_speval.errors import Fault, FaultyFile

CODES = {"kaldi-syntax": "A line of Kaldi's `text` does not begin with an id."}


def kaldi_text(text: str, shown_as: str) -> Records:
    """The columns `id` and `transcript`; what stands between two words is kept. Raises `FaultyFile`."""
    rows: list[tuple[str, str]] = []
    lines: list[int] = []
    faults: list[Fault] = []
    for number, line in lines_of(text, shown_as):
        if line[0] in BLANK:
            message = "the line begins with a blank where an id is wanted"
            faults.append(Fault(shown_as, number, 0, "kaldi-syntax", message))
            continue
        name = line.replace("\t", " ").partition(" ")[0]
        rows.append((name, line[len(name) :].strip(BLANK)))
        lines.append(number)
    if faults:
        raise FaultyFile(faults)
    return Records(("id", "transcript"), rows, lines)
