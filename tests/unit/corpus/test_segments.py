"""Timed words are put to segments as sclite does it, and none gets lost."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from pytest_speval.corpus.ctm import timed_words
from pytest_speval.corpus.manifest import Format, read_manifest
from pytest_speval.corpus.segments import read_words_by_segment, words_by_segment
from pytest_speval.corpus.stm import stm
from pytest_speval.errors import FaultyFile
from tests.unit.corpus.transcripts_written import TIMES

SEGMENTS = "call A Ann 1 2 a\ncall A Bob 2 3 b\ncall A Ann 5.5 6 c\ncall b Cy 0 9 d\nquiet 1 Di 0 1 e\n"


def placed(words: str, segments: str = SEGMENTS) -> dict[str, str]:
    read = words_by_segment(timed_words(words, "hyp.ctm"), stm(segments, "ref.stm"), "hyp.ctm", "ref.stm")
    assert [segments.split("\n")[line - 1].split()[2] for line in read.lines or ()] == [
        str(row[0]).split("_")[2] for row in read.rows
    ]
    return {str(row[0]): str(row[1]) for row in read.rows}


def refused(words: str, segments: str) -> str:
    with pytest.raises(FaultyFile) as caught:
        placed(words, segments)
    (fault,) = caught.value.faults
    return f"{fault.file}:{fault.line} {fault.code}"


def test_the_middle_of_a_word_decides_and_a_segment_ends_before_its_end() -> None:
    words = "Call a 1.8 0.38 in\nCall a 1.9 0.2 edge\nCall a 3.1 0.1 gap\nCall a 9 1 late\nCALL B 3 1 other\n"
    assert placed(words) == {
        "call_A_Ann_1_2": "in",
        "call_A_Bob_2_3": "edge",
        "call_A_Ann_5.5_6": "gap late",
        "call_b_Cy_0_9": "other",
    }


def test_a_segment_without_a_word_is_empty_and_a_channel_without_one_is_not_there() -> None:
    assert placed("call A 0.1 0.1 early\n") == {"call_A_Ann_1_2": "early", "call_A_Bob_2_3": "", "call_A_Ann_5.5_6": ""}
    assert placed("") == {}


@given(
    words=st.lists(st.tuples(TIMES, st.integers(0, 4000)), max_size=12),
    ends=st.lists(TIMES.filter(bool), min_size=1, max_size=6, unique=True),
    order=st.randoms(use_true_random=False),
)
def test_every_word_stands_once_in_the_first_segment_that_ends_after_its_middle(
    words: list[tuple[Decimal, int]], ends: list[Decimal], order: Random
) -> None:
    words.sort()
    ends.sort()
    lines = [f"s 1 x {begin} {end} a" for begin, end in zip([0, *ends], ends, strict=False)]
    order.shuffle(lines)
    said = "".join(f"s 1 {begin} {Decimal(length) / 1000} w{place}\n" for place, (begin, length) in enumerate(words))
    found = [text.split() for text in placed(said, "\n".join(lines)).values()]
    assert sorted(word for text in found for word in text) == sorted(f"w{place}" for place in range(len(words)))
    middles = [begin + Decimal(length) / 2000 for begin, length in words]
    if middles == sorted(middles):
        by_end: dict[Decimal, list[str]] = {end: [] for end in ends}
        for place, middle in enumerate(middles):
            by_end[next((end for end in ends if middle < end), ends[-1])].append(f"w{place}")
        order_of = {line: place for place, line in enumerate(lines)}
        sought = [by_end[Decimal(line.split()[4])] for line in sorted(lines, key=order_of.__getitem__)]
        assert found == (sought if words else [])


@pytest.mark.parametrize(
    ("words", "segments", "fault"),
    [
        ("x A 0 1 a\n", "x A s 0 2 a\nx A t 1 3 b\n", "ref.stm:2 segments-overlap"),
        ("x A 0 1 a\n", "x A s 1 1 a\nx A t 1 1 b\n", "ref.stm:2 segments-overlap"),
        ("x A 0 1 a\nx A 1 1 b\ny A 0 1 c\n", "x A s 0 2 a\n", "hyp.ctm:3 segments-missing"),
        ("x B 0 1 a\n", "x A s 0 2 a\n", "hyp.ctm:1 segments-missing"),
        ("x A 0 1 a\nX a 0 1 b\n", "x A s 0 2 a\n", "hyp.ctm:2 segments-names"),
        ("x A 0 1 a\n", "x A s 0 2 a\nx a s 0 2 b\n", "ref.stm:2 segments-names"),
    ],
)
def test_what_cannot_be_placed_for_certain_is_refused(words: str, segments: str, fault: str) -> None:
    assert refused(words, segments) == fault


@pytest.mark.realdata
def test_each_segment_of_nist_has_the_words_that_sclite_gave_it(shared: Path, tmp_path: Path) -> None:
    """Of 61 segments three have a word with alternatives, and one has words with tags of sclite's own."""
    folder = shared / "data/sclite-cases"
    segments, words = folder / "input/lvc_ref.stm", tmp_path / "lvc_hyp.ctm"
    with pytest.raises(FaultyFile, match=r"lvc_hyp\.ctm:466: alternatives cannot be counted"):
        read_words_by_segment(folder / "input/lvc_hyp.ctm", segments, Format())
    first = r"[^\n]*<ALT_BEGIN>\n(.*?)[^\n]*<ALT>\n.*?<ALT_END>[^\n]*\n"
    words.write_text(re.sub(first, r"\1", (folder / "input/lvc_hyp.ctm").read_text(), flags=re.DOTALL))
    heard = {str(row[0]): str(row[1]).lower().split() for row in read_words_by_segment(words, segments, Format()).rows}
    told = sclite(folder / "published/test3.pra")
    turns: dict[str, int] = {}
    same = errors = count = 0
    references = read_manifest(segments, "lvc_ref.stm", Format())
    for row in references.rows:
        speaker = str(row[3])
        turns[speaker] = turns.get(speaker, -1) + 1
        mine, (hypothesis, mistakes) = heard[str(row[0])], told[f"{speaker}-{turns[speaker]:03d}"]
        same += mine == hypothesis
        said = str(row[-1]).lower().split()
        if "{" not in said:
            errors += Levenshtein.distance(said, mine)
            assert Levenshtein.distance(said, mine) == mistakes
            count += len(said)
    assert (len(heard), same) == (61, 57)
    assert (errors, count) == (286, 470)


def sclite(path: Path) -> dict[str, tuple[list[str], int]]:
    """Utterance -> the words of its hypothesis and the number of errors, from sclite's alignments."""
    found = {}
    for block in path.read_text().split("\nid: (")[1:]:
        scores = re.search(r"Scores: \(#C #S #D #I\) \d+ (\d+) (\d+) (\d+)", block)
        assert scores is not None
        words = " ".join(re.findall(r"^HYP:(.*)$", block, re.MULTILINE)).lower().split()
        spoken = [word for word in words if word.strip("*")]
        found[block.partition(")")[0].lower()] = (spoken, sum(map(int, scores.groups())))
    return found
