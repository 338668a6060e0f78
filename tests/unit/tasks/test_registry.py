"""Tasks and their words: what a suite may gate is what a run estimates."""

from __future__ import annotations

import pytest

from pytest_speval.adapters.base import EmotionRead, Vad
from pytest_speval.errors import AnswerFault
from pytest_speval.judge.result import Result
from pytest_speval.suite.text_check import against
from pytest_speval.tasks.registry import TASKS
from tests.runs import Clip, judged, said

LABELS = ("happy", "sad")
HEARD = ("emotion", "affect")
VAD = {"valence": 0.25, "arousal": 0.5, "dominance": 0.75}


def run(task: str) -> Result:
    cells = {"valence": "0.5", "transcript": "yes we can", "rating": "4"}
    answer = said("happy", vad=VAD, text="yes we could do", value=3.5)
    clips = [Clip(f"c{number}", "happy", answer, cells=cells) for number in range(3)]
    return judged(clips, LABELS, task=task, ranges={"valence": (0.0, 1.0)})


@pytest.mark.parametrize("task", TASKS)
def test_every_word_has_an_estimate_and_every_estimate_a_word(task: str) -> None:
    estimates = run(task).estimates
    words = against(TASKS[task].word.words(LABELS), "distributed")
    assert {name for name in estimates if not name.startswith("answered_only.")} == set(words)
    assert next(iter(estimates)) == TASKS[task].word.headline


@pytest.mark.parametrize("task", TASKS)
def test_values_lie_within_the_ranges_of_their_words(task: str) -> None:
    estimates = run(task).estimates
    for name, word in against(TASKS[task].word.words(LABELS), "distributed").items():
        value = estimates[name].value
        if value is not None:
            assert word.low is None or value >= word.low, name
            assert word.high is None or value <= word.high, name


@pytest.mark.parametrize("task", TASKS)
def test_a_task_is_found_by_its_own_name(task: str) -> None:
    assert TASKS[task].word.name == task
    assert (TASKS[task].method == "classify") == (task in HEARD)


@pytest.mark.parametrize("task", HEARD)
def test_both_tasks_check_an_emotion_read(task: str) -> None:
    read = EmotionRead("happy", {"happy": 1.0}, Vad(0.25, 0.5, 0.75), latency_ms=2)
    assert TASKS[task].record(read) == ({"label": "happy", "scores": {"happy": 1.0}, "vad": VAD}, 2.0)
    assert TASKS[task].record(EmotionRead()) == ({}, None)
    with pytest.raises(AnswerFault, match="not EmotionRead") as caught:
        TASKS[task].record("happy")
    assert caught.value.code == "invalid-answer"
