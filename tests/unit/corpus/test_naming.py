"""The naming rules of published corpora, and words for labels in paths."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus.naming import RULES, emotion_of, told_by, words_in

EMODB = [f"{speaker}{text}{letter}a.wav" for speaker in ("03", "16") for text in ("a01", "b10") for letter in "WLEAFTN"]


def names_like(pattern: str, codes: Sequence[str], count: int = 28) -> list[str]:
    return [pattern.format(codes[place % len(codes)], place) for place in range(count)]


@pytest.mark.parametrize(
    ("corpus", "names", "first"),
    [
        ("EMO-DB", EMODB, ("anger", "03")),
        ("EMO-DB", [f"wav/{name.lower()}" for name in EMODB], ("anger", "03")),
        ("RAVDESS", names_like("A/03-01-{0}-01-02-02-{1:02}.wav", ["02", "05", "08", "01"], 24), ("calm", "00")),
        ("CREMA-D", names_like("AudioWAV/10{1:02}_IEO_{0}_XX.wav", ["FEA", "HAP", "SAD"]), ("fear", "1000")),
        ("TESS", names_like("OAF_{0}/OAF_back_{0}.wav", ["ps", "sad", "fear", "angry"]), ("surprise", "OA")),
        ("SAVEE", names_like("DC_{0}{1:02}", ["su", "sa", "a", "n"]), ("surprise", "DC")),
        ("SAVEE", names_like("AudioData/DC/{0}{1:02}.wav", ["su", "sa", "a", "n"]), ("surprise", "DC")),
        ("SAVEE", names_like("AudioData/{0}{1:02}.wav", ["su", "sa", "a", "n"]), ("surprise", None)),
    ],
)  # fmt: skip
def test_a_corpus_is_recognised_by_its_names(
    corpus: str, names: list[str], first: tuple[str | None, str | None]
) -> None:
    told = told_by(names)
    assert told is not None
    assert told.rule.corpus == corpus
    assert (told.labels[0], told.speakers[0]) == first
    assert len(told.labels) == len(told.speakers) == len(names)


def test_the_letters_of_emodb_are_german() -> None:
    told = told_by(EMODB)
    assert told is not None
    assert told.labels[:7] == ["anger", "boredom", "disgust", "fear", "happiness", "sadness", "neutral"]


def test_a_few_names_are_no_corpus() -> None:
    assert told_by(EMODB[:19]) is None
    assert told_by(EMODB[:20]) is not None
    assert told_by([]) is None


@pytest.mark.parametrize(("foreign", "recognised"), [(3, True), (4, False)])
def test_nine_of_ten_names_must_fit_and_the_others_tell_nothing(foreign: int, recognised: bool) -> None:
    told = told_by([*EMODB, *(f"take{place}.wav" for place in range(foreign))])
    assert (told is not None) is recognised
    if told is not None:
        assert told.labels[-foreign:] == told.speakers[-foreign:] == [None] * foreign


def test_foreign_names_are_seen_although_a_sample_fits() -> None:
    many = [EMODB[place % 28] for place in range(1000)]
    step = 5
    for place in range(1000):
        if place % step:
            many[place] = f"take{place}.wav"
    assert told_by(many[::step]) is not None
    assert told_by(many) is None


def test_at_least_half_of_the_emotions_must_occur() -> None:
    def of(letters: str) -> list[str]:
        return [f"03a01{letter}{take}.wav" for letter in letters for take in "abcdefghij"]

    assert told_by(of("WLE")) is None
    assert told_by(of("WLEA")) is not None


@pytest.mark.parametrize(
    "names",
    [
        [f"a{place:02}.wav" for place in range(60)],  # a letter of SAVEE, and a numbering
        [f"{letter}{place:02}.wav" for letter in "abcdefgh" for place in range(10)],
        [f"dia{place}_utt{place % 7}.mp4" for place in range(60)],
        [f"03-01-09-01-01-01-{place:02}.wav" for place in range(60)],
        [f"{speaker}a01{letter}a.wav" for speaker in ("01", "02", "07") for letter in "WLEAFTN"],
        [f"{place}_george_{place % 5}.wav" for place in range(60)],
    ],
)
def test_other_names_belong_to_no_corpus(names: list[str]) -> None:
    assert told_by(names) is None


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=12), min_size=20, max_size=60, unique=True))
def test_chance_makes_no_corpus(names: list[str]) -> None:
    assert told_by(names) is None


# --- words for emotions


@pytest.mark.parametrize(
    ("cell", "emotion"),
    [
        ("Happy", "happiness"),
        ("joy", "happiness"),
        ("anxiety", "fear"),
        (" FEA ", "fear"),
        ("pleasant surprise", "surprise"),
        ("Ärger", "anger"),
        ("calm", "calm"),
        ("neutral", "neutral"),
        ("excited", "excitement"),
        ("positive", None),
        ("w", None),
        ("", None),
    ],
)
def test_words_for_one_emotion_are_one_and_unknown_ones_none(cell: str, emotion: str | None) -> None:
    assert emotion_of(cell, {}) == emotion


def test_a_corpus_has_its_own_codes() -> None:
    codes = {rule.corpus: rule.labels for rule in RULES}
    assert emotion_of("W", codes["EMO-DB"]) == "anger"
    assert emotion_of("05", codes["RAVDESS"]) == "anger"
    assert emotion_of("su", codes["SAVEE"]) == "surprise"


def test_every_code_leads_to_an_emotion_that_has_words() -> None:
    for rule in RULES:
        for code, emotion in rule.labels.items():
            assert code == code.lower()
            assert emotion_of(emotion, {}) == emotion


# --- labels in paths


LABELS = ["angry", "happy", "sad"]


@pytest.mark.parametrize("pattern", ["{0}/clip{1}.wav", "x_{0}_{1}.wav", "{1}/{0}{1}.flac", "a b.{0}-{1}"])
def test_a_label_stands_as_a_word_in_folder_or_name(pattern: str) -> None:
    told = words_in(names_like(pattern, LABELS), LABELS)
    assert told is not None
    assert told[:4] == ["anger", "happiness", "sadness", "anger"]


def test_another_word_for_the_label_is_understood() -> None:
    told = words_in(names_like("{0}/{1}.wav", ["ANGER", "Joy", "trauer"]), LABELS)
    assert told is not None
    assert told[:3] == ["anger", "happiness", "sadness"]


def test_labels_of_several_words_are_not_looked_for() -> None:
    assert words_in(names_like("{0}/{1}.wav", LABELS), [*LABELS, "angry;sad", "so happy", "sad 2", "3"]) is not None


def test_labels_that_are_no_emotions_count_too() -> None:
    told = words_in(names_like("{0}/{1}.wav", ["Yes", "no_answer"], 30), ["yes", "answer"])
    assert told is not None
    assert told[:2] == ["yes", "answer"]


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (names_like("{0}/{1}.wav", LABELS, 19), LABELS),
        (names_like("{0}/{1}.wav", ["sad"]), LABELS),  # one folder
        (names_like("sad/{0}/{1}.wav", LABELS), LABELS),  # two labels in one path
        (names_like("{0}_{1}.wav", ["angry/happy", "happy/sad", "sad/angry"]), LABELS),
        (names_like("un{0}/{1}.wav", LABELS), LABELS),  # parts of words
        (names_like("{0}/{1}.wav", ["angry", "x"]), LABELS),  # half of the paths
        (names_like("{0}/{1}.wav", ["1", "2", "3"]), ["1", "2", "3"]),
        (names_like("{0}/{1}.wav", ["no", "go"]), ["no", "go"]),
        (names_like("{0}/{1}.wav", LABELS), ["very angry", "so sad"]),
        (names_like("{0}/{1}.wav", LABELS), []),
    ],
)
def test_what_is_not_clearly_a_label_tells_nothing(names: list[str], labels: list[str]) -> None:
    assert words_in(names, labels) is None


# --- real data


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("folder", "corpus", "speakers"),
    [
        ("emodb", "EMO-DB", 10),
        ("ravdess", "RAVDESS", 24),
        ("cremad", "CREMA-D", 91),
        ("tess", "TESS", 2),
        ("savee", "SAVEE", 4),
    ],
)
def test_the_names_in_emobox_tell_its_labels_and_rates(shared: Path, folder: str, corpus: str, speakers: int) -> None:
    rows: dict[str, Any] = {}
    for path in (shared / "data/emobox-splits" / folder).glob("*.jsonl"):
        rows |= {row["wav"]: row for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())}
    told = told_by(list(rows))
    assert told is not None
    assert told.rule.corpus == corpus
    assert told.labels == [emotion_of(row["emo"], told.rule.labels) for row in rows.values()]
    assert len(set(told.speakers)) == speakers
    assert Counter(row["sample_rate"] for row in rows.values()).most_common(1)[0][0] == told.rule.rate


@pytest.mark.realdata
def test_the_names_of_emodb_tell_its_labels_and_speakers(shared: Path) -> None:
    with (shared / "data/emodb-copy/labels_all_535.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    told = told_by([row["file"] for row in rows])
    assert told is not None
    assert told.labels == [row["emotion"] for row in rows]
    assert told.speakers == [row["speaker"] for row in rows]


@pytest.mark.realdata
def test_real_names_of_other_corpora_are_not_taken_for_one(shared: Path) -> None:
    for manifest in ("read-speech/manifest.csv", "fsdd-test/manifest.csv"):
        with (shared / "data" / manifest).open(encoding="utf-8") as file:
            assert told_by([row["path"] for row in csv.DictReader(file)]) is None
