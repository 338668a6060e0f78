"""Transcripts with the id at the end of the line: `words (id)`, as NIST's scorers and CMU Sphinx read and write them.

The speaker that some ids begin with is a habit of their makers, not of the format: no speaker is read from an id.
"""

from __future__ import annotations

from pytest_speval.corpus.lines import BLANK, COMMENT, lines_of
from pytest_speval.corpus.records import Records
from pytest_speval.errors import Fault, FaultyFile

CODES = {"trn-syntax": "A line of a .trn file does not end in an id in parentheses."}
SILENCE = ("<s>", "</s>")
"""How Sphinx marks where an utterance begins and ends."""


def trn(text: str, shown_as: str) -> Records:
    """NIST's form: the columns `id` and `transcript`, what stands between two words is kept. Raises `FaultyFile`."""
    return _read(text, shown_as, scored=False)


def sphinx(text: str, shown_as: str) -> Records:
    """As `trn`, but a score may follow the id, and `<s>` and `</s>` around the words are no words."""
    return _read(text, shown_as, scored=True)


def _read(text: str, shown_as: str, *, scored: bool) -> Records:
    rows: list[tuple[str, str]] = []
    lines: list[int] = []
    faults: list[Fault] = []
    for number, line in lines_of(text, shown_as, COMMENT):
        try:
            words, name = _parted(line.strip(BLANK), scored=scored)
        except ValueError as error:
            faults.append(Fault(shown_as, number, 0, "trn-syntax", str(error)))
            continue
        rows.append((name, _unmarked(words) if scored else words))
        lines.append(number)
    if faults:
        raise FaultyFile(faults)
    return Records(("id", "transcript"), rows, lines)


def _parted(line: str, *, scored: bool) -> tuple[str, str]:
    words, opened, rest = line.rpartition("(")
    if not opened or not rest.endswith(")"):
        raise ValueError("the line does not end in an id in parentheses, such as `(spk1-utt1)`")
    name = rest[:-1]
    if scored and len(parts := name.split()) == 2 and _is_whole(parts[1]):
        name = parts[0]
    if not name or name != "".join(name.split()) or ")" in name:
        raise ValueError(f"the id `({rest}` is empty or holds a blank or a parenthesis{_told(name, scored=scored)}")
    return words.strip(BLANK), name


def _told(name: str, *, scored: bool) -> str:
    if scored:
        return "; one score may follow it, a whole number"
    return "; if a score follows it, say `format: {style: sphinx}`" if name.split() else ""


def _is_whole(score: str) -> bool:
    return score.isascii() and score.removeprefix("-").isdecimal()


def _unmarked(words: str) -> str:
    first, last = SILENCE
    pieces = words.split()
    if pieces and pieces[0] == first:
        words = words.removeprefix(first)
    if pieces and pieces[-1] == last:
        words = words.removesuffix(last)
    return words.strip(BLANK)
