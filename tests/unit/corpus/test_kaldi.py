"""Kaldi's file `text` is read line by line, and a line says what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus.kaldi import kaldi_text
from tests.unit.corpus.transcripts_written import NAMES, TEXTS, faults, table


@given(said=st.dictionaries(NAMES, TEXTS, min_size=1, max_size=5), gap=st.sampled_from([" ", "\t", "  "]))
def test_what_is_written_is_read(said: dict[str, str], gap: str) -> None:
    text = "\n".join(f"{name}{gap}{words}" for name, words in said.items())
    assert {row[0]: row[1] for row in kaldi_text(text, "text").rows} == said


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_file_that_no_ending_tells_with_any_line_ends(tmp_path: Path, ends: str) -> None:
    read = table(tmp_path, "\ufeff" + ends.join(["b two  words", "a", "", "c\tx\ty", ""]), "text", "kaldi")
    assert read.names == ("id", "transcript")
    assert [tuple(row) for row in read.rows] == [("b", "two  words"), ("a", ""), ("c", "x\ty")]
    assert [read.line(row) for row in range(3)] == [1, 2, 4]


@pytest.mark.parametrize("gap", ["\u2028", "\u0085", "\f", "\u00a0"])
def test_h51_what_ends_no_line_stays_between_words(tmp_path: Path, gap: str) -> None:
    read = table(tmp_path, f"a{gap}1 red{gap}bus\n", "text", "kaldi")
    assert [tuple(row) for row in read.rows] == [(f"a{gap}1", f"red{gap}bus")]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"a one\n two\n\tthree\n", ["text:2 kaldi-syntax", "text:3 kaldi-syntax"]),
        (b"a one\nb tw\xff\n", ["text:2 manifest-encoding"]),
        (b"a one\nb t\0wo\n", ["text:2 manifest-encoding"]),
        ("a one\n\ufeffb two\n".encode(), ["text:2 manifest-encoding"]),
        (b"a one\rb two\r", ["text:1 line-ends"]),
        (b"a one\r\nb two\rc three\r\n", ["text:2 line-ends"]),
        (b"", ["text:0 no-rows"]),
    ],
)
def test_faults_have_their_lines(tmp_path: Path, content: bytes, found: list[str]) -> None:
    assert faults(tmp_path, content, "text", "kaldi") == found
