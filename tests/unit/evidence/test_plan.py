"""The question and the plan: what their digests hold, and that a stored one is the same again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

from pytest_speval.evidence.canonical import canonical, digest
from pytest_speval.evidence.ending import UNATTEMPTED
from pytest_speval.evidence.plan import Plan, Question
from tests.runs import Clip, question_of


def question(**more: Any) -> Question:
    clips = [
        Clip("c1", "sad", UNATTEMPTED, "ann", cells={"session": ("1", "2")}),
        Clip("c2", "happy", UNATTEMPTED, None, excluded="mis-cut", cells={"session": None}),
        Clip("c1", "sad", UNATTEMPTED, "bob", split="dev", cells={"session": ("1", "3")}),
    ]
    heard: dict[str, Any] = {
        "entries": ["a.flac", "b.flac", "c.flac"],
        "bytes_sha256": ["a" * 64, None, "b" * 64],
        "samples_sha256": ["c" * 64, None, "d" * 64],
        "frames": [16000, None, 8000],
        "rates": [16000, None, 16000],
        "condemned": {2: ("truncated", "cut")},
        "abstains": frozenset({0}),
        "audio": {"rate": 16000},
    }
    return question_of(clips, **(heard | more))


def stored(asked: Question) -> Question:
    return Question.from_dict(orjson.loads(canonical(asked.as_dict())))


def test_a_stored_question_is_the_same_question() -> None:
    for asked in (
        question(),
        question(audio=None, entries=(), bytes_sha256=(), samples_sha256=(), frames=(), rates=()),
    ):
        again = stored(asked)
        assert again == asked
        assert again.digest == asked.digest == digest(asked.as_dict())
        assert (again.planned, again.places) == (asked.planned, asked.places)


def test_clips_whose_names_look_alike_keep_their_own_findings() -> None:
    clips = [Clip("b/c", "sad", UNATTEMPTED, split="a"), Clip("c", "sad", UNATTEMPTED, split="a/b")]
    for place in (0, 1):
        asked = question_of(clips, condemned={place: ("truncated", "cut")}, abstains=frozenset({1 - place}))
        assert stored(asked) == asked
    first, second = (question_of(clips, condemned={place: ("truncated", "cut")}) for place in (0, 1))
    assert first.digest != second.digest


def test_only_clips_that_are_not_excluded_are_planned() -> None:
    asked = question()
    assert asked.planned == [0, 2]
    assert asked.places == {("test", "c1"): 0, ("dev", "c1"): 1}


def test_a_clip_is_named_by_split_and_id_or_by_id_alone() -> None:
    assert question().name(2) == "dev/c1"
    assert question(split_given=False).name(2) == "c1"
    assert question().identity(2) == ("dev", "c1")


def test_seconds_are_frames_over_the_rate() -> None:
    asked = question()
    assert [asked.seconds(place) for place in range(3)] == [1.0, None, 0.5]
    assert question(frames=(), rates=()).seconds(0) is None
    assert question(rates=[0, None, 0]).seconds(0) is None


CHANGES: list[dict[str, Any]] = [
    {"task": "affect"},
    {"corpus": {"manifest": "other.csv"}},
    {"adapter": {"name": "other"}},
    {"splits": ["test", "test", "train"]},
    {"ids": ["c1", "c2", "c3"]},
    {"split_given": False},
    {"cells": {"label": ["sad", "happy", "sad"]}},
    {"excluded": [None, "other reason", None]},
    {"entries": ["a.flac", "b.flac", "e.flac"]},
    {"bytes_sha256": ["a" * 64, None, "e" * 64]},
    {"samples_sha256": ["c" * 64, None, "e" * 64]},
    {"frames": [16000, None, 8001]},
    {"rates": [16000, None, 8000]},
    {"condemned": {2: ("truncated", "cut earlier")}},
    {"abstains": frozenset()},
    {"audio": {"rate": 8000}},
    {"batch": 2},
    {"once": True},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_whatever_can_change_an_answer_changes_the_question(change: dict[str, Any]) -> None:
    assert replace(question(), **change).digest != question().digest


def test_whatever_can_change_a_verdict_changes_the_plan_alone() -> None:
    plan = Plan("voice", question(), {"gates": []}, {"numpy": "2.0"})
    others = [
        replace(plan, suite="other"),
        replace(plan, rules={"gates": [{"id": "g"}]}),
        replace(plan, versions={"numpy": "2.1"}),
    ]
    assert len({plan.digest, *(other.digest for other in others)}) == 4
    assert {other.question.digest for other in others} == {plan.question.digest}
    assert replace(plan, question=question(batch=2)).digest != plan.digest
    assert replace(plan).digest == plan.digest


def test_a_plan_shows_both_digests() -> None:
    shown = Plan("voice", question(), {"gates": []}, {"numpy": "2.0"}).as_dict()
    assert shown["questionSha256"] == question().digest
    assert shown["planSha256"] == digest(
        {
            "suite": "voice",
            "question": question().digest,
            "rules": {"gates": []},
            "versions": {"numpy": "2.0"},
        }
    )
    assert shown["schemaVersion"] == 1
