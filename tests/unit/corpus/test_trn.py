"""Transcripts with the id at the end of the line, as NIST and as Sphinx write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus.trn import sphinx, trn
from pytest_speval.errors import FaultyFile
from tests.unit.corpus.transcripts_written import NAMES, TEXTS, faults, table


@given(said=st.dictionaries(NAMES, TEXTS, min_size=1, max_size=5), gap=st.sampled_from(["", " ", "\t"]))
def test_what_is_written_is_read(said: dict[str, str], gap: str) -> None:
    text = "\n".join(f"{words}{gap}({name})" for name, words in said.items())
    assert {row[0]: row[1] for row in trn(text, "a.trn").rows} == said


@given(said=st.dictionaries(NAMES, TEXTS, min_size=1, max_size=5), score=st.integers(-(10**6), 10**6))
def test_sphinx_puts_marks_around_the_words_and_a_score_after_the_id(said: dict[str, str], score: int) -> None:
    heard = "\n".join(f"<s> {words} </s> ({name} {score})" for name, words in said.items())
    bare = "\n".join(f"{words} ({name})" for name, words in said.items())
    assert sphinx(heard, "a").rows == sphinx(bare, "a").rows == trn(bare, "a").rows


def test_a_line_is_its_words_then_its_id(tmp_path: Path) -> None:
    lines = [
        ";; made by hand",
        "red  bus\there (spk1-u1)",
        "",
        "(spk1-u2)",
        "uh (laughs) no(spk2_u1)",
        " <s> a </s> (x)",
    ]
    read = table(tmp_path, "\r\n".join(lines), "ref.trn")
    assert [tuple(row) for row in read.rows] == [
        ("spk1-u1", "red  bus\there"),
        ("spk1-u2", ""),
        ("spk2_u1", "uh (laughs) no"),
        ("x", "<s> a </s>"),
    ]
    assert [read.line(row) for row in range(4)] == [2, 4, 5, 6]
    assert read.names == ("id", "transcript"), "no speaker is made of an id"


def test_marks_of_sphinx_within_the_words_are_words(tmp_path: Path) -> None:
    read = table(tmp_path, "<s> a <s> b </s> c (x)\n<s> </s> (y 0)\n<s>d <s> (z)\n", "a.match", "sphinx")
    assert [tuple(row) for row in read.rows] == [("x", "a <s> b </s> c"), ("y", ""), ("z", "<s>d <s>")]


@pytest.mark.parametrize(
    "line", ["no id at all", "words (id", "words id)", "words ()", "words ( )", "words (a b)", "words (a -3)", "w (a))"]
)
def test_a_line_without_an_id_in_parentheses_is_a_fault(tmp_path: Path, line: str) -> None:
    assert faults(tmp_path, f"a (x)\n{line}\nb (y)\n", "ref.trn") == ["ref.trn:2 trn-syntax"]


def test_every_fault_is_listed(tmp_path: Path) -> None:
    assert faults(tmp_path, "a\nb (y)\nc\n", "ref.trn") == ["ref.trn:1 trn-syntax", "ref.trn:3 trn-syntax"]
    assert faults(tmp_path, "a (x 1 2)\nb (y z)\n", "a.hyp", "sphinx") == ["a.hyp:1 trn-syntax", "a.hyp:2 trn-syntax"]


def test_what_may_follow_an_id_is_told_by_the_style() -> None:
    for line in ("red (u2 -123 45)", "red (u2 x)"):
        with pytest.raises(FaultyFile, match="; one score may follow it, a whole number") as caught:
            sphinx(line, "a")
        assert "say" not in str(caught.value)
        with pytest.raises(FaultyFile, match=r"if a score follows it, say `format: \{style: sphinx\}`"):
            trn(line, "a")
