"""The check of an emotion answer: what is plain passes, what is doubtful is refused in words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import isfinite
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.adapters.base import EmotionRead, Vad
from pytest_speval.errors import AnswerFault
from pytest_speval.evidence.canonical import canonical
from pytest_speval.tasks.emotion_answer import record_emotion


class Tag(str, Enum):  # noqa: UP042
    """How many code bases name their emotions."""

    HAPPY = "happy"
    SAD = "sad"


class Twin(str):
    """Text that is no key of its like."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


@pytest.mark.parametrize(
    ("read", "told"),
    [
        (None, "classify returned NoneType, not EmotionRead"),
        ("happy", "classify returned str"),
        ({"label": "happy"}, "classify returned dict"),
        (EmotionRead, "classify returned type"),
        (EmotionRead(label=3), "a label is int, not a string"),  # type: ignore[arg-type]
        (EmotionRead(label=b"happy"), "a label is bytes"),  # type: ignore[arg-type]
        (EmotionRead(label="\ud800"), r"a label is not Unicode text: '\ud800'"),
        (EmotionRead(scores={}), "scores must map every label to a number"),
        (EmotionRead(scores=[0.1, 0.9]), "scores must map"),  # type: ignore[arg-type]
        (EmotionRead(scores={1: 0.5}), "a label is int"),  # type: ignore[dict-item]
        (EmotionRead(scores={"a": float("nan")}), "the score of `a` is nan"),
        (EmotionRead(scores={"a": np.float32("inf")}), "the score of `a` is inf"),  # type: ignore[dict-item]
        (EmotionRead(scores={"a": 10**400}), "the score of `a` is inf"),
        (EmotionRead(scores={"a": "0.5"}), "the score of `a` is '0.5', not a number"),  # type: ignore[dict-item]
        (EmotionRead(scores={"a": b"0.5"}), "the score of `a` is b'0.5', not a number"),  # type: ignore[dict-item]
        (EmotionRead(scores={"a": True}), "the score of `a` is True, not a number"),
        (EmotionRead(scores={"a": np.bool_(True)}), "not a number"),  # type: ignore[dict-item]
        (EmotionRead(scores={"a": np.array([0.5])}), "not a number"),  # type: ignore[dict-item]
        (EmotionRead(scores={"a": 1 + 0j}), "not a number"),  # type: ignore[dict-item]
        (EmotionRead(scores={"a": None}), "not a number"),  # type: ignore[dict-item]
        (EmotionRead("b", {"a": 0.6, "b": 0.4}), "the label `b` is not the winner of its scores, `a`"),
        (EmotionRead("c", {"a": 0.5, "b": 0.5}), "the label `c` is not the winner of its scores, `a tie`"),
        (EmotionRead("c", {"a": 0.6}), "the label `c` is not the winner"),
        (EmotionRead(vad=(0.1, 0.2)), "vad must be Vad(valence, arousal, dominance)"),  # type: ignore[arg-type]
        (EmotionRead(vad=[0.1, 0.2, 0.3]), "vad must be Vad"),  # type: ignore[arg-type]
        (EmotionRead(vad=Vad(0.1, float("nan"), 0.3)), "arousal is nan: it must be a finite number"),
        (EmotionRead("a", latency_ms=float("inf")), "latency_ms is inf"),
        (EmotionRead("a", latency_ms=-5), "latency_ms is -5: time does not run backwards"),
        (EmotionRead("a", latency_ms="fast"), "latency_ms is 'fast', not a number"),  # type: ignore[arg-type]
    ],
)
def test_an_answer_that_breaks_the_contract_is_refused(read: Any, told: str) -> None:
    with pytest.raises(AnswerFault) as caught:
        record_emotion(read)
    assert caught.value.code == "invalid-answer"
    assert told in caught.value.message


NUMBERS = st.one_of(
    st.floats(),
    st.integers(),
    st.floats(width=32).map(np.float32),
    st.floats(width=16).map(np.float16),
    st.integers(0, 255).map(np.uint8),
    st.booleans(),
    st.none(),
    st.text(max_size=3),
)
NAMES = st.one_of(st.sampled_from(["happy", "sad"]), st.text(max_size=3), st.integers())


@given(
    st.one_of(st.none(), NAMES),
    st.one_of(st.none(), st.dictionaries(NAMES, NUMBERS, max_size=3)),
    st.one_of(st.none(), st.lists(NUMBERS, max_size=4).map(tuple), st.builds(Vad, NUMBERS, NUMBERS, NUMBERS)),
    st.one_of(st.none(), NUMBERS),
)
def test_an_answer_is_refused_in_words_or_becomes_plain_finite_data(
    label: Any, scores: Any, vad: Any, latency: Any
) -> None:
    try:
        answer, reported = record_emotion(EmotionRead(label, scores, vad, latency))
    except AnswerFault:
        return
    canonical(answer)
    numbers = [*answer.get("scores", {}).values(), *answer.get("vad", {}).values()]
    assert all(type(number) is float and isfinite(number) for number in numbers)
    assert reported is None or (type(reported) is float and isfinite(reported))
    assert answer.get("label") == label
    assert set(answer.get("scores", {})) == set(scores or {})
    if label is not None and scores:
        assert answer["scores"][label] == max(answer["scores"].values())


def test_a_label_of_an_enumeration_is_its_text() -> None:
    answer, _ = record_emotion(EmotionRead(Tag.HAPPY, {Tag.HAPPY: 0.9, Tag.SAD: 0.1}))
    assert answer == {"label": "happy", "scores": {"happy": 0.9, "sad": 0.1}}
    assert type(answer["label"]) is str


def test_two_scores_of_one_name_are_refused() -> None:
    scores: Any = {Twin("happy"): 0.4, Twin("happy"): 0.6}
    assert len(scores) == 2
    with pytest.raises(AnswerFault, match="two scores have one name"):
        record_emotion(EmotionRead(scores=scores))


@dataclass(frozen=True)
class Richer(EmotionRead):
    """A subclass with a field of its own."""

    note: str = "kept to itself"


def test_a_subclass_of_the_answer_is_an_answer() -> None:
    assert record_emotion(Richer("happy")) == ({"label": "happy"}, None)


def test_an_answer_with_nothing_in_it_is_an_abstention() -> None:
    assert record_emotion(EmotionRead()) == ({}, None)


@pytest.mark.parametrize("label", ["a", "b"])
def test_a_tie_may_be_named_by_either_of_the_tied(label: str) -> None:
    answer, _ = record_emotion(EmotionRead(label, {"a": 0.5, "b": 0.5, "c": 0.1}))
    assert answer["label"] == label
