"""Shards: every clip in one, seconds shared out evenly, a function of the question alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.errors import UsageFault
from pytest_speval.evidence.plan import Question
from pytest_speval.evidence.shard import Shard, dealt
from tests.unit.evidence.test_plan import question

RATE = 16_000


def heard(frames: list[int | None], **more: Any) -> Question:
    count = len(frames)
    return replace(
        question(),
        splits=["test"] * count,
        ids=[f"c{number:05d}" for number in range(count)],
        cells={},
        excluded=[None] * count,
        frames=frames,
        rates=[None if length is None else RATE for length in frames],
        condemned={},
        abstains=frozenset(),
        **more,
    )


LENGTHS = st.lists(st.none() | st.integers(1, 30 * RATE), min_size=1, max_size=80)


@given(LENGTHS, st.integers(1, 16))
def test_every_clip_is_in_exactly_one_shard(frames: list[int | None], count: int) -> None:
    asked = heard(frames)
    parts = [Shard(number, count).places(asked) for number in range(1, count + 1)]
    assert sorted(place for part in parts for place in part) == asked.planned


@given(LENGTHS, st.integers(1, 16))
def test_no_shard_is_heavier_than_another_by_more_than_one_clip(frames: list[int | None], count: int) -> None:
    lengths = [length for length in frames if length]
    usual = sum(lengths) / len(lengths) if lengths else 1
    loads: dict[int, float] = dict.fromkeys(range(1, count + 1), 0.0)
    for place, number in dealt(heard(frames), count).items():
        loads[number] += frames[place] or usual
    longest = max([length or usual for length in frames])
    assert max(loads.values()) - min(loads.values()) <= longest + 1e-6


@given(LENGTHS, st.integers(1, 8), st.randoms(use_true_random=False))
def test_the_order_of_rows_decides_nothing(frames: list[int | None], count: int, random: Any) -> None:
    asked = heard(frames)
    order = list(range(len(frames)))
    random.shuffle(order)
    shuffled = replace(
        asked,
        ids=[asked.ids[place] for place in order],
        frames=[frames[place] for place in order],
        rates=[asked.rates[place] for place in order],
    )
    one = {asked.ids[place]: number for place, number in dealt(asked, count).items()}
    other = {shuffled.ids[place]: number for place, number in dealt(shuffled, count).items()}
    assert one == other


@pytest.mark.parametrize("count", [2, 5, 16])
def test_a_corpus_is_balanced_within_five_percent(count: int) -> None:
    frames = [round(RATE * (0.4 + (number * 7919 % 997) / 100)) for number in range(2_610)]
    shards = dealt(heard([*frames]), count)
    loads = [sum(frames[place] for place, dealt_to in shards.items() if dealt_to == number)
             for number in range(1, count + 1)]  # fmt: skip
    assert all(abs(load * count / sum(frames) - 1) < 0.05 for load in loads)


def test_clips_that_a_rule_settles_are_dealt_to_nobody() -> None:
    asked = replace(heard([RATE] * 4), condemned={1: ("truncated", "cut")}, abstains=frozenset({2}))
    assert dealt(asked, 2).keys() == {0, 3}


@pytest.mark.parametrize("text", ["0/1", "2/1", "1/", "x", "1/2/3", " 1/2", "1/2\n", "٣/٤"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(UsageFault, match="expected I/N"):
        Shard.parse(text)


def test_a_shard_reads_as_it_is_written() -> None:
    assert str(Shard.parse("3/16")) == "3/16"
