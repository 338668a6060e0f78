"""NIST's conversation time marks (CTM): one word a line, with its recording, channel, begin and duration.

A line is `recording channel begin duration word [confidence [type [speaker]]]`, times in seconds. What follows the
word is not read, but for a type: only words of the type `lex` count as words everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from pytest_speval.corpus.lines import COMMENT, lines_of, seconds_of
from pytest_speval.corpus.records import Records
from pytest_speval.errors import Fault, FaultyFile

CODES = {
    "ctm-syntax": "A line of a .ctm file has too few or too many fields, or a type of word that is not `lex`.",
    "ctm-time": "A word's begin or duration is not a time in seconds, or words of one channel do not follow in time.",
    "ctm-alternatives": "A .ctm file offers alternatives, which would be counted as words.",
}
ALTERNATIVES = ("<ALT_BEGIN>", "<ALT>", "<ALT_END>")
LEXICAL = ("lex", "na")

Track = tuple[str, str]
"""A recording and one of its channels."""


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word, when it begins and how long it lasts in seconds, and its line."""

    word: str
    begin: Decimal
    duration: Decimal
    line: int

    @property
    def middle(self) -> Decimal:
        """The time halfway through the word."""
        return self.begin + self.duration / 2


def ctm(text: str, shown_as: str) -> Records:
    """A row for each channel of each recording, with all of its words.

    Columns: `id` (recording and channel, joined with `_`), `recording`, `channel`, `transcript`. Raises `FaultyFile`.
    """
    tracks = timed_words(text, shown_as)
    rows = [("_".join(track), *track, " ".join(each.word for each in words)) for track, words in tracks.items()]
    return Records(("id", "recording", "channel", "transcript"), rows, [words[0].line for words in tracks.values()])


def timed_words(text: str, shown_as: str) -> Mapping[Track, Sequence[TimedWord]]:
    """The words of each channel in their order; raises `FaultyFile` with every fault found."""
    tracks: dict[Track, list[TimedWord]] = {}
    faults: list[Fault] = []
    for number, line in lines_of(text, shown_as, COMMENT):
        fields = line.split()
        found = list(_complaints(fields, tracks))
        faults += [Fault(shown_as, number, 0, code, message) for code, message in found]
        if not found:
            begin, duration = Decimal(fields[2]), Decimal(fields[3])
            track = (fields[0], fields[1])
            tracks.setdefault(track, []).append(TimedWord(fields[4], begin, duration, number))
    if faults:
        raise FaultyFile(faults)
    return tracks


def _complaints(fields: Sequence[str], tracks: Mapping[Track, Sequence[TimedWord]]) -> Iterator[tuple[str, str]]:
    if any(field.upper() in ALTERNATIVES for field in fields[2:5]):
        yield "ctm-alternatives", "alternatives cannot be counted: write the words of the one best answer"
        return
    if not 5 <= len(fields) <= 8:
        yield "ctm-syntax", f"`recording channel begin duration word` is wanted; the line has {len(fields)} fields"
        return
    if len(fields) > 6 and fields[6].lower() not in LEXICAL:
        what = "only `lex` is read: leave the line out, or write the word that counts"
        yield "ctm-syntax", f"`{fields[4]}` is of the type `{fields[6]}`, and {what}"
    begin, duration = seconds_of(fields[2]), seconds_of(fields[3])
    if begin is None or duration is None:
        found = f"`{fields[4]}` at `{fields[2]}` for `{fields[3]}`"
        yield "ctm-time", f"{found}: begin and duration are wanted, in seconds"
        return
    earlier = tracks.get((fields[0], fields[1]))
    if earlier and begin < earlier[-1].begin:
        found = f"`{fields[4]}` begins at {begin}, before the word of line {earlier[-1].line}"
        yield "ctm-time", f"{found}: sort the words of each channel by time"
