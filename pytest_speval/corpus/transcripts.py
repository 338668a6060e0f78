"""Reference transcripts of a manifest: each must be a text whose words can be counted."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_speval.corpus.roles import Cell
from pytest_speval.corpus.text import TextRules, text_rules
from pytest_speval.errors import Fault, FaultyFile, MissingExtra, UsageFault
from pytest_speval.suite.text_keys import Text

CODES = {
    "transcript-empty": "A reference transcript has no word, and the suite does not allow that.",
    "transcript-ignored": "A reference transcript is the mark of a segment that is not to be scored.",
    "transcript-alternatives": "A reference transcript offers alternatives, which would be counted as words.",
}
ALTERNATIVES = re.compile(r"\{[^{}]*\s/\s[^{}]*\}|(?ai:<ALT(?:_BEGIN|_END)?>)")
"""A choice of readings as NIST's scorers write it, { um / uh / @ }, or one of the tags that stand around one."""

IGNORED = "IGNORE_TIME_SEGMENT_IN_SCORING"
"""What stands in place of the words of a segment that NIST's scorers leave out, in any case."""


def require_transcripts(
    keys: Text, cells: Sequence[Cell], planned: Sequence[int], entry: str, lines: Sequence[int] = ()
) -> None:
    """Every planned reference must be one text, with a word unless the suite says otherwise.

    `lines` are the lines of the manifest `entry`, where it has any. Raises `FaultyFile`, also where the normaliser is
    not installed, or where one of a user's own fails.
    """
    try:
        rules = text_rules(keys)
    except MissingExtra as missing:
        raise FaultyFile([Fault(entry, 0, 0, missing.code, missing.message, ("text", "normalizer"))]) from None
    faults = [
        Fault(entry, lines[place] if lines else 0, 0, code, message)
        for place in planned
        for code, message in _complaints(str(cells[place]), rules, allow_empty=keys.empty == "reference")
    ]
    if faults:
        raise FaultyFile(faults)


def _complaints(text: str, rules: TextRules, *, allow_empty: bool) -> list[tuple[str, str]]:
    try:
        worded = allow_empty or bool(rules.words(text))
    except UsageFault as fault:  # a normaliser of the user's own
        return [(fault.code, fault.message)]
    if not worded:
        left = "" if not text.split() else f" left by the normaliser {rules.normalizer.name}: `{text}`"
        what = f"the transcript has no word{left}; exclude the clip, or say `text.empty: reference`"
        return [("transcript-empty", what)]
    if IGNORED in text.upper():
        rule = f"exclude_where: [{{column: transcript, is: [{text}], reason: …}}]"
        return [("transcript-ignored", f"the segment is marked `{text}`: exclude such clips with a reason, `{rule}`")]
    found = ALTERNATIVES.search(text)
    if found is None:
        return []
    told = f"the transcript offers alternatives, `{found[0]}`, which cannot be counted: write the words that were said"
    return [("transcript-alternatives", f"{told}, or exclude the clip")]
