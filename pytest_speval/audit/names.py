"""Label and speaker columns held against what files and folders are called; only what differs is reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeVar

from pytest_speval.audit.finding import Finding
from pytest_speval.audit.heard import Heard
from pytest_speval.corpus.clips import Clips
from pytest_speval.corpus.naming import NamingRule, Told, emotion_of, meaning, told_by, words_in
from pytest_speval.corpus.roles import Cell

CODES = {
    "label-differs-from-name": "A clip's label is another than the one in its file's or folder's name.",
    "speaker-differs-from-name": "A clip's speaker key is another than the one that its file's name speaks for.",
    "published-rate-differs": "A clip has another sampling rate than the corpus that its name belongs to.",
}
SHOWN = 6
VOTED = "votes"
"""The role of labels by listeners: they say what is heard, and names what was meant."""
T = TypeVar("T")


def odd_names(clips: Clips, planned: Sequence[int], heard: Sequence[Heard]) -> list[Finding]:
    """What the names of sound files, or ids where none are recognised, say otherwise than manifest and sound."""
    columns = [_of(names, planned) for names in (clips.audio, clips.ids) if names is not None]
    for names in columns:
        told = told_by(names)
        if told is not None:
            return _against_rule(clips, planned, told) + _rate(clips, heard, told.rule)
    return [] if VOTED in clips.cells else _against_words(clips, planned, columns)


def _against_rule(clips: Clips, planned: Sequence[int], told: Told) -> list[Finding]:
    if VOTED in clips.cells:
        return _speakers(clips, planned, told)
    findings = []
    cells = _labels_of(clips, planned)
    words = {cell.strip().casefold() for cell in set(cells) if cell is not None}
    # `A` alone may be any corpus's letter for anger; many codes together, and nothing else, are this corpus's own.
    coded = words <= told.rule.labels.keys() and 2 * len(words) >= len(told.rule.labels)
    codes = told.rule.labels if coded else {}
    means = {cell: emotion_of(cell, codes) for cell in set(cells) if cell is not None}
    wrong = _differing(told.labels, cells, means)
    if wrong:
        findings.append(_labels(clips, planned, told.labels, cells, wrong, f"by the names of {told.rule.corpus}"))
    return findings + _speakers(clips, planned, told)


def _against_words(clips: Clips, planned: Sequence[int], columns: Sequence[Sequence[str]]) -> list[Finding]:
    means = {cell: meaning(cell) for cell in set(clips.cells.get("label", ())) if isinstance(cell, str)}
    for names in columns if len(means) > 1 else ():
        words = words_in(names, means)
        if words is None:
            continue
        cells = _labels_of(clips, planned)
        wrong = _differing(words, cells, means)
        if wrong:
            return [_labels(clips, planned, words, cells, wrong, "by folder or file name")]
    return []


def _of(column: Sequence[T], planned: Sequence[int]) -> Sequence[T]:
    return column if len(planned) == len(column) else [column[place] for place in planned]


def _labels_of(clips: Clips, planned: Sequence[int]) -> list[str | None]:
    """The label cells of planned clips, None where they hold no single text; empty without a label column."""
    column = _of(clips.cells["label"], planned) if "label" in clips.cells else ()
    return [cell if isinstance(cell, str) else None for cell in column]


def _differing(told: Sequence[str | None], cells: Sequence[str | None], means: Mapping[str, str | None]) -> list[int]:
    """The positions where name and cell both mean something, and not the same."""
    return [
        at
        for at, (word, cell) in enumerate(zip(told, cells, strict=False))
        if word is not None and cell is not None and means[cell] not in (None, word)
    ]


def _labels(
    clips: Clips,
    planned: Sequence[int],
    told: Sequence[str | None],
    cells: Sequence[str | None],
    wrong: Sequence[int],
    source: str,
) -> Finding:
    pairs = Counter((str(told[at]), str(cells[at])) for at in wrong)
    ranked = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))
    text = _listed([f"{said} is labelled {cell} ({count:,})" for (said, cell), count in ranked])
    message = f"{len(wrong):,} of {len(planned):,} clips: {source}, {text}"
    return Finding("notice", "label-differs-from-name", message, tuple(clips.name(planned[at]) for at in wrong))


def _speakers(clips: Clips, planned: Sequence[int], told: Told) -> list[Finding]:
    """A column of speakers is a way to part the clips, whatever its keys look like: names must part them alike."""
    cells = _of(clips.cells["speaker"], planned) if "speaker" in clips.cells else ()
    pairs = Counter((name, key) for name, key in zip(told.speakers, cells, strict=False) if name and key is not None)
    key_of: dict[str | None, Cell] = {}
    name_of: dict[Cell, str | None] = {}
    for name, key in sorted(pairs, key=lambda pair: (-pairs[pair], str(pair))):
        key_of.setdefault(name, key)
        name_of.setdefault(key, name)
    odd = {pair: count for pair, count in pairs.items() if key_of[pair[0]] != pair[1] or name_of[pair[1]] != pair[0]}
    if not odd:
        return []
    ranked = sorted(odd.items(), key=lambda item: (-item[1], str(item[0])))
    text = _listed([f"speaker {name} has the key `{_shown(key)}` ({count:,})" for (name, key), count in ranked])
    wrong = [at for at, pair in enumerate(zip(told.speakers, cells, strict=False)) if pair in odd]
    message = f"{len(wrong):,} of {len(planned):,} clips: by the names of {told.rule.corpus}, {text}"
    return [Finding("notice", "speaker-differs-from-name", message, tuple(clips.name(planned[at]) for at in wrong))]


def _rate(clips: Clips, heard: Sequence[Heard], rule: NamingRule) -> list[Finding]:
    seen = [(one.place, one.inspection.rate) for one in heard if one.inspection is not None]
    odd = [(place, rate) for place, rate in seen if rate != rule.rate]
    if not odd:
        return []
    rates = ", ".join(f"{rate:,} Hz" for rate in sorted({rate for _, rate in odd}))
    message = (
        f"{len(odd):,} of {len(seen):,} clips: {rates}, and {rule.corpus}, which their names belong to, "
        f"is published at {rule.rate:,} Hz: resampled?"
    )
    return [Finding("notice", "published-rate-differs", message, tuple(clips.name(place) for place, _ in odd))]


def _shown(key: Cell) -> str:
    return key if isinstance(key, str) else "_".join(key or ())


def _listed(parts: Sequence[str]) -> str:
    more = f" and {len(parts) - SHOWN:,} other pairs" if len(parts) > SHOWN else ""
    return ", ".join(parts[:SHOWN]) + more
