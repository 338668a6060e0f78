"""Timed words put to the segments of a reference, as NIST's sclite does it.

A word belongs to the first segment of its channel that ends after the middle of the word. A word between two segments
so goes to the later one, a word after the last to the last: no word gets lost. Names of recordings and channels are
compared without case.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from pytest_speval.corpus.ctm import TimedWord, Track, timed_words
from pytest_speval.corpus.manifest import Format, Manifest, decoded
from pytest_speval.corpus.records import Records
from pytest_speval.corpus.stm import stm
from pytest_speval.errors import Fault, FaultyFile

CODES = {
    "segments-overlap": "Two segments of one channel overlap: a word in both would belong to neither for certain.",
    "segments-missing": "Words stand on a channel of a recording for which there are no segments.",
    "segments-names": "Two names of recordings or channels differ in nothing but case.",
}
Of = TypeVar("Of")
Segment = tuple[str, Decimal, Decimal, int]
"""Id, begin and end in seconds, line."""


def read_words_by_segment(words: Path, segments: Path, form: Format) -> Manifest:
    """The words of a CTM for each segment of an STM; both are in the encoding of `form`. Raises `FaultyFile`."""
    data = words.read_bytes()
    timed = timed_words(decoded(data, words.name, form.encoding), words.name)
    parts = stm(decoded(segments.read_bytes(), segments.name, form.encoding), segments.name)
    read = words_by_segment(timed, parts, words.name, segments.name)
    digest = hashlib.sha256(data).hexdigest()
    return Manifest(words.name, digest, read.names, read.rows, frozenset(), 1, read.lines)


def words_by_segment(
    words: Mapping[Track, Sequence[TimedWord]], segments: Records, words_file: str, segments_file: str
) -> Records:
    """The words of each segment, under the columns `id` and `transcript`, in the order of the segments.

    `segments` are the rows of an STM. A segment without a word has an empty text; segments of a channel that has no
    word at all have no row, for nobody has heard it. Raises `FaultyFile`.
    """
    parted = _by_track(segments, segments_file)
    heard = _folded(words, {track: said[0].line for track, said in words.items()}, words_file)
    strange = [said[0] for track, said in heard.items() if track not in parted]
    if strange:
        what = f"`{strange[0].word}` stands on a channel for which {segments_file} has no segments"
        raise FaultyFile([Fault(words_file, strange[0].line, 0, "segments-missing", what)])
    texts: dict[str, str] = {}
    for track, said in heard.items():
        texts |= _parted(said, parted[track])
    rows = [(name, texts[name]) for row in segments.rows if (name := str(row[0])) in texts]
    lines = [line for row, line in zip(segments.rows, segments.lines or (), strict=True) if str(row[0]) in texts]
    return Records(("id", "transcript"), rows, lines)


def _parted(words: Sequence[TimedWord], segments: Sequence[Segment]) -> dict[str, str]:
    found: dict[str, list[str]] = {name: [] for name, *_ in segments}
    place = 0
    for word in words:
        while place < len(segments) - 1 and word.middle >= segments[place][2]:
            place += 1
        found[segments[place][0]].append(word.word)
    return {name: " ".join(said) for name, said in found.items()}


def _by_track(segments: Records, shown_as: str) -> Mapping[Track, Sequence[Segment]]:
    tracks: dict[Track, list[Segment]] = {}
    places = [segments.names.index(name) for name in ("id", "recording", "channel", "begin", "end")]
    for row, line in zip(segments.rows, segments.lines or (), strict=True):
        name, recording, channel, begin, end = (str(row[place]) for place in places)
        tracks.setdefault((recording, channel), []).append((name, Decimal(begin), Decimal(end), line))
    for found in tracks.values():
        found.sort(key=lambda segment: segment[1:3])
    faults = [
        Fault(
            shown_as, later[3], 0, "segments-overlap",
            f"the segment begins at {later[1]}, before that of line {earlier[3]} ends: no word can be put to either",
        )
        for found in tracks.values()
        for earlier, later in pairwise(found)
        if later[1] < earlier[2] or later[1:3] == earlier[1:3]
    ]  # fmt: skip
    if faults:
        raise FaultyFile(faults)
    return _folded(tracks, {track: found[0][3] for track, found in tracks.items()}, shown_as)


def _folded(tracks: Mapping[Track, Of], lines: Mapping[Track, int], shown_as: str) -> dict[Track, Of]:
    folded: dict[Track, Of] = {}
    for track, found in tracks.items():
        key = (track[0].lower(), track[1].lower())
        if key in folded:
            message = f"recording `{track[0]}`, channel `{track[1]}` stands elsewhere in another case"
            raise FaultyFile([Fault(shown_as, lines[track], 0, "segments-names", message)])
        folded[key] = found
    return folded
