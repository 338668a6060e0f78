"""Normalisers: what they do to texts of many scripts, and how a plan knows them again."""

from __future__ import annotations

import builtins
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus import text
from pytest_speval.corpus.text import NORMALIZERS, recorded_rules, text_record, text_rules
from pytest_speval.errors import MissingExtra
from pytest_speval.suite.text_keys import Text

try:
    import whisper_normalizer  # noqa: F401

    INSTALLED = ["none", "basic", "english"]
except ImportError:
    INSTALLED = ["none", "basic"]
english = pytest.mark.skipif("english" not in INSTALLED, reason="needs pytest-speval[english]")


def words(said: str, name: str = "none", case: str = "keep") -> list[str]:
    return text_rules(Text.model_validate({"normalizer": name, "case": case})).words(said)


def test_h19_any_white_space_parts_words() -> None:
    assert words(" red\tbus\n\u00a0a\u3000b\u2028c ") == ["red", "bus", "a", "b", "c"]


def test_none_changes_nothing_but_white_space_and_case() -> None:
    assert words("Don’t, cafe\u0301!") == ["Don’t,", "cafe\u0301!"]
    assert words("Don’t  stop", case="upper") == ["DON’T", "STOP"]
    assert words("Don’t  STOP", case="lower") == ["don’t", "stop"]


@pytest.mark.parametrize("name", ["basic", pytest.param("english", marks=english)])
@pytest.mark.parametrize("apostrophe", ["’", "ʼ", "\uff07"])
def test_h22_one_apostrophe_is_as_good_as_another(name: str, apostrophe: str) -> None:
    assert words(f"i don{apostrophe}t know", name) == words("i don't know", name)


@pytest.mark.parametrize("name", ["basic", pytest.param("english", marks=english)])
def test_h24_composed_letters_are_decomposed_ones(name: str) -> None:
    assert words("café noir", name) == words(unicodedata.normalize("NFD", "café noir"), name)


def test_basic_takes_punctuation_and_symbols_and_keeps_apostrophes_within_words() -> None:
    assert words("‘Well-known’: $5, it’s 50 % — ’tis O'Neill's!", "basic") == [
        "Well", "known", "5", "it's", "50", "tis", "O'Neill's"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "said",
    [
        "नमस्ते दुनिया",
        "สวัสดี ครับ",
        "வணக்கம் உலகம்",
        "שָׁלוֹם עוֹלָם",
        "مَرْحَبًا بِالعَالَم",
        "বাংলা ভাষা",
        "မင်္ဂလာပါ ကမ္ဘာ",
        "Việt Nam",
        "ɓaɗa ƙasa",
    ],
)
def test_h21_marks_belong_to_their_letters_in_every_script(said: str) -> None:
    assert words(f"{said}!", "basic") == unicodedata.normalize("NFC", said).split()
    assert len(words(said, "basic")) == 2


@english
def test_h20_numbers_are_alike_in_english() -> None:
    assert words("thirty six members", "english") == words("36 members", "english")
    assert words("The colour, and it isn't", "english") == words("the color and it is not", "english")


@english
def test_h23_english_may_leave_nothing() -> None:
    assert words("mhm", "english") == words("<unclear>", "english") == []


@pytest.mark.parametrize("name", ["none", "basic"])
@given(said=st.text())
def test_a_second_time_changes_nothing(name: str, said: str) -> None:
    once = words(said, name)
    assert words(" ".join(once), name) == once
    assert all(word and not word.isspace() for word in once)


@given(said=st.text())
def test_basic_leaves_no_punctuation_but_the_apostrophe(said: str) -> None:
    kept = "".join(words(said, "basic"))
    assert not [char for char in kept if unicodedata.category(char)[0] in "PS" and char != "'"]


@pytest.mark.parametrize("name", INSTALLED)
def test_a_plan_knows_its_normalizer_again(name: str) -> None:
    record = text_record(Text.model_validate({"normalizer": name, "case": "upper", "reference": "human"}))
    assert recorded_rules(record) == text_rules(
        Text.model_validate({"normalizer": name, "case": "upper", "reference": "human"})
    )
    with pytest.raises(ValueError, match=f"the plan counts words by {name} 0, and here is"):
        recorded_rules(record | {"version": "0", "sha256": "0" * 64})


def test_normalizers_have_digests_of_their_own() -> None:
    digests = {name: NORMALIZERS[name]().sha256 for name in INSTALLED}
    assert len(set(digests.values())) == len(INSTALLED)
    assert digests["none"] == "5acef923ee71bc5e25db9887343298cd16c035a802923db872c03dbf8a417caf"


def test_without_the_extra_english_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def absent(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("whisper_normalizer"):
            raise ImportError(name)
        return real(name, *rest, **more)

    text.english_normalizer.cache_clear()
    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(MissingExtra, match=r"pip install 'pytest-speval\[english\]'"):
        text_rules(Text(normalizer="english"))


def test_against_text_made_by_a_model_metrics_have_other_names() -> None:
    assert text_rules(Text(reference="model")).metric("wer") == "agreement.wer"
    assert text_rules(Text(reference="human")).metric("wer") == "wer"
