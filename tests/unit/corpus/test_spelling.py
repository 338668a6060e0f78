"""Keys that look alike, and texts that read alike."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus.spelling import folded, plain_text

WORDS = st.text(st.characters(codec="utf-8"), max_size=8)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna", "anna"),
        ("Anna Lee", " annalee\t"),
        ("Zo\u00eb", "Zoe\u0308"),
        ("Straße", "STRASSE"),
        ("A\u00a0B", "a b"),
        ("\u0390", "\u0390".upper()),
        ("\u01f0", "\u01f0".upper()),
    ],
)
def test_keys_that_differ_in_case_blanks_or_unicode_form_look_alike(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@pytest.mark.parametrize(("one", "other"), [("Anna", "Ana"), ("e", "é"), ("S-1", "S1"), ("1", "１"), ("ı", "i")])
def test_other_keys_do_not(one: str, other: str) -> None:
    assert folded(one) != folded(other)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a!", "a"),
        ("  Oh,   my\tGod—he’s lost it.  ", "oh my godhes lost it"),
        ("¿Qué?", "qué"),
        ("Cafe\u0301", "caf\u00e9"),
        ("5 + 5 = 10 €", "5 5 10"),
        ("你好！", "你好"),
        ("...", ""),
        ("", ""),
    ],
)
def test_h43_texts_are_plain_without_case_punctuation_and_symbols(text: str, plain: str) -> None:
    assert plain_text(text) == plain


@given(WORDS)
def test_unicode_form_decides_nothing(text: str) -> None:
    for form in ("NFC", "NFD"):
        other = unicodedata.normalize(form, text)
        assert folded(other) == folded(text)
        assert plain_text(other) == plain_text(text)


@given(WORDS)
def test_folding_case_and_blanks_decide_nothing(text: str) -> None:
    assert folded(text.casefold()) == folded(text)
    assert folded(f" {text} ") == folded(text)
    assert plain_text(f"«{text}!»") == plain_text(text)
    assert plain_text(plain_text(text)) == plain_text(text)
