"""Ratings that were recorded elsewhere, and ratings that a process writes line by line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_speval.adapters.base import ClipRequest, EmotionRead, Rating, Transcript, can_answer
from pytest_speval.adapters.clip_answer import read_of
from pytest_speval.adapters.command import Command
from pytest_speval.adapters.predictions import PredictionColumns, Predictions
from pytest_speval.errors import AdapterFault, AnswerFault
from pytest_speval.tasks.mos import Mos


def recorded(folder: Path, text: str, name: str = "ratings.csv", /, **columns: Any) -> Predictions:
    (folder / name).write_text(text, encoding="utf-8")
    adapter = Predictions(folder / name, PredictionColumns(**columns) if columns else None)
    adapter.warm_up()
    return adapter


def test_a_column_of_values_holds_ratings(tmp_path: Path) -> None:
    adapter = recorded(tmp_path, "id,value,note\na,3.25,x\nb,-1e-1,y\n")
    assert adapter.recall("test", "a") == Rating(3.25)
    assert Mos().record(adapter.recall("test", "b")) == ({"value": -0.1}, None)


def test_numbers_of_json_lines_are_ratings(tmp_path: Path) -> None:
    lines = [{"id": "a", "split": "test", "value": 3.5}, {"id": "b", "split": "test", "value": "4"}]
    adapter = recorded(tmp_path, "\n".join(map(json.dumps, lines)), "ratings.jsonl")
    assert [adapter.recall("test", name) for name in "ab"] == [Rating(3.5), Rating(4.0)]


def test_a_named_column_wins_over_all_others_and_scores_stand_beside_it(tmp_path: Path) -> None:
    text = "id,label,text,ovrl,sig\na,happy,hello,3.0,3.5\nb,sad,hi,2.0,\n"
    adapter = recorded(tmp_path, text, value="ovrl", scores={"SIG": "sig"})
    assert adapter.recall("test", "a") == Rating(3.0, {"SIG": 3.5})
    assert adapter.recall("test", "b") == Rating(2.0)


def test_without_a_name_a_value_yields_to_what_other_tasks_ask_for(tmp_path: Path) -> None:
    assert recorded(tmp_path, "id,label,value\na,happy,1\n").recall("test", "a") == EmotionRead("happy")
    assert recorded(tmp_path, "id,text,value\na,hello,1\n").recall("test", "a") == Transcript("hello")


@pytest.mark.parametrize(("cell", "code"), [("", "no-answer"), ("good", "invalid-answer"), ("3,5", "invalid-answer")])
def test_a_cell_that_is_no_number_fails_its_clip_alone(tmp_path: Path, cell: str, code: str) -> None:
    adapter = recorded(tmp_path, f'id,value\na,"{cell}"\nb,4\n')
    with pytest.raises(AnswerFault) as caught:
        adapter.recall("test", "a")
    assert caught.value.code == code
    assert adapter.recall("test", "b") == Rating(4.0)


def test_a_rating_that_is_not_finite_is_refused_by_the_task(tmp_path: Path) -> None:
    adapter = recorded(tmp_path, "id,value\na,nan\n")
    with pytest.raises(AnswerFault, match="invalid-answer"):
        Mos().record(adapter.recall("test", "a"))


def test_a_named_column_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(AdapterFault, match="no column `mos`; its columns are id, value"):
        recorded(tmp_path, "id,value\na,3\n", value="mos")


def test_a_process_may_write_ratings() -> None:
    assert can_answer(Command(argv=("true",)), "rate")
    said = {"value": 3.5, "scores": {"SIG": 3.0}, "latency_ms": 4.0}
    assert read_of(said, "rate") == Rating(3.5, {"SIG": 3.0}, 4.0)
    for wrong, told in (
        ({"scores": {}}, "the answer has no value"),
        ({"value": 3.5, "text": "hello"}, "unknown key `text`"),
    ):
        with pytest.raises(AnswerFault, match=told):
            read_of(wrong, "rate")
    with pytest.raises(AnswerFault, match="the value is str"):
        Mos().record(read_of({"value": "3.5"}, "rate"))
    assert ClipRequest("test", "a", "rate").method == Mos.method
