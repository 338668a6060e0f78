"""One answer for all clips: it says what it should once the task has read it, whatever a suite's rules are."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_speval.corpus.labels import LabelRules
from pytest_speval.corpus.projections import GOEMOTIONS_7, VAD_7
from pytest_speval.tasks.base import Rules
from pytest_speval.tasks.registry import TASKS
from pytest_speval.tasks.stand_in import STAND_INS

SEVEN = ("happy", "sad", "angry", "nervous", "calm", "excited", "whisper")


def constant(labels: LabelRules, references: list[str]) -> Any:
    return STAND_INS["emotion"].constant(references, Rules(labels, {}, "worst"))


@pytest.mark.parametrize("projection", [None, VAD_7, GOEMOTIONS_7])
@pytest.mark.parametrize("label", SEVEN)
def test_the_most_frequent_label_is_answered_through_every_projection(projection: Any, label: str) -> None:
    labels = LabelRules(SEVEN, projection=projection)
    answer = constant(labels, ["sad", label, "calm", label, "calm", label])
    assert labels.read(answer) == label


def test_a_label_that_has_another_name_in_answers_is_said_by_that_name() -> None:
    labels = LabelRules(("calm", "sad"), answers={"calm": "abstain", "neutral": "calm"})
    assert constant(labels, ["calm", "calm", "sad"]) == {"label": "neutral"}


def test_a_label_that_nobody_can_answer_has_no_constant() -> None:
    labels = LabelRules(("calm", "sad"), answers={"calm": "abstain"})
    assert constant(labels, ["calm", "calm", "sad"]) is None


def test_of_equally_frequent_labels_the_first_of_the_set_is_answered() -> None:
    assert constant(LabelRules(("b", "a")), ["a", "b", "a", "b"]) == {"label": "b"}


def test_ratings_are_answered_by_their_mean() -> None:
    references = [{"valence": 0.2, "arousal": 1.0}, {"valence": 0.4, "arousal": 0.5}]
    answer = STAND_INS["affect"].constant(references, Rules(None, {}, "withhold"))
    assert answer == {"vad": {"valence": pytest.approx(0.3), "arousal": 0.75, "dominance": 0.5}}
    assert STAND_INS["affect"].constant([], Rules(None, {}, "withhold")) is None


def test_words_and_outcomes_are_answered_by_what_no_model_needs_to_hear() -> None:
    rules = Rules(None, {}, "worst")
    assert STAND_INS["asr"].constant(["hello"], rules) == {"text": ""}
    assert STAND_INS["outcome"].constant([None], rules) == {"outcome": "failed"}
    assert STAND_INS["outcome"].silence == {"outcome": "unknown"}


def test_only_tasks_that_exist_have_a_stand_in() -> None:
    assert STAND_INS.keys() <= TASKS.keys()
