"""NIST's timed words: fields, times, order, and no alternatives."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus.ctm import timed_words
from tests.unit.corpus.transcripts_written import NAMES, TIMES, faults, table

WORDS = st.tuples(st.sampled_from(["A", "B"]), TIMES, TIMES, NAMES)
MORE = st.sampled_from(["", " 0.93", " NA", " 1.0 lex", " 0.5 lex unknown"])


@given(words=st.lists(WORDS, max_size=8), more=MORE)
def test_what_is_written_is_read(words: list[tuple[str, Decimal, Decimal, str]], more: str) -> None:
    words.sort(key=lambda each: each[1])
    lines = [f"call {channel} {begin} {duration} {word}{more}" for channel, begin, duration, word in words]
    read = timed_words("\n".join(lines), "a.ctm")
    for channel in ("A", "B"):
        assert [(each.begin, each.duration, each.word) for each in read.get(("call", channel), ())] == [
            tuple(rest) for each, *rest in words if each == channel
        ]


def test_without_segments_a_channel_is_one_text(tmp_path: Path) -> None:
    content = ";; words\ncall A 0.05 .24 THEY 0.9\ncall B 1 0.2 yes\ncall A 1.02 0.29 are\nother 1 0 0 hm\n"
    read = table(tmp_path, content, "hyp.ctm")
    assert read.names == ("id", "recording", "channel", "transcript")
    assert [tuple(row) for row in read.rows] == [
        ("call_A", "call", "A", "THEY are"),
        ("call_B", "call", "B", "yes"),
        ("other_1", "other", "1", "hm"),
    ]
    assert [read.line(row) for row in range(3)] == [2, 3, 5]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("call A 1.0 0.2", "ctm-syntax"),
        ("call A 1.0 0.2 two words are one field too many", "ctm-syntax"),
        ("call A 1.0 0.2 word 0.9 lex speaker more", "ctm-syntax"),
        ("call A 1.0 0.2 [laugh] 0.9 non-lex", "ctm-syntax"),
        ("call A 0.4 0.2 early", "ctm-time"),
        ("call A -1 0.2 word", "ctm-time"),
        ("call A 1.0 x word", "ctm-time"),
        ("call A * * <ALT_BEGIN>", "ctm-alternatives"),
        ("call A * * <alt>", "ctm-alternatives"),
        ("call A 1.0 0 <ALT_END>", "ctm-alternatives"),
    ],
)
def test_faults_have_their_lines(tmp_path: Path, line: str, code: str) -> None:
    content = f"call A 0.3 0.1 a\ncall A 0.5 0.1 a\n{line}\ncall B 0 0 b\n"
    assert faults(tmp_path, content, "hyp.ctm") == [f"hyp.ctm:3 {code}"]
