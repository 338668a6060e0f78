"""Reference transcripts of a manifest: each must be a text whose words can be counted."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_speval.corpus.roles import Cell
from pytest_speval.corpus.text import text_rules
from pytest_speval.errors import Fault, FaultyFile, MissingExtra
from pytest_speval.suite.text_keys import Text

CODES = {
    "transcript-empty": "A reference transcript has no word, and the suite does not allow that.",
    "transcript-alternatives": "A reference transcript offers alternatives, which would be counted as words.",
}
ALTERNATIVES = re.compile(r"\{[^{}]*\s/\s[^{}]*\}")
"""A choice of readings in the notation of NIST's scorers: { um / uh / @ }."""


def require_transcripts(
    keys: Text, cells: Sequence[Cell], planned: Sequence[int], entry: str, lines: Sequence[int] = ()
) -> None:
    """Every planned reference must be one text, with a word unless the suite says otherwise.

    `lines` are the lines of the manifest `entry`, where it has any. Raises `FaultyFile`, also where the normaliser is
    not installed.
    """
    try:
        text_rules(keys)
    except MissingExtra as missing:
        raise FaultyFile([Fault(entry, 0, 0, missing.code, missing.message, ("text", "normalizer"))]) from None
    faults = [
        Fault(entry, lines[place] if lines else 0, 0, code, message)
        for place in planned
        for code, message in _complaints(str(cells[place]), allow_empty=keys.empty == "reference")
    ]
    if faults:
        raise FaultyFile(faults)


def _complaints(text: str, *, allow_empty: bool) -> list[tuple[str, str]]:
    if not allow_empty and not text.split():
        return [("transcript-empty", "the transcript has no word: exclude the clip, or say `text.empty: reference`")]
    found = ALTERNATIVES.search(text)
    if found is None:
        return []
    told = f"the transcript offers alternatives, `{found[0]}`, which cannot be counted: write the words that were said"
    return [("transcript-alternatives", f"{told}, or exclude the clip")]
