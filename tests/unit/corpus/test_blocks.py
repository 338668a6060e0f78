"""Fixed blocks of clips, each with so many speakers in lexical order."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus.blocks import blocks_of

CLIPS = st.lists(st.sampled_from(["a", "b", "B", "é", "10", "9", None]), max_size=40)


def named(place: int) -> tuple[str, str]:
    return "test", f"c{place:02}"


def test_forty_speakers_of_three_make_five_blocks_of_twenty_four() -> None:
    speakers = [f"s{number:02}" for number in range(40) for _ in range(3)]
    places = random.Random(1).sample(range(120), 120)
    units = [speakers[place] for place in places]
    blocks = blocks_of(range(120), units, lambda place: ("test", f"c{places[place]:03}"), 8)
    assert [len(block) for block in blocks] == [24] * 5
    assert [[places[place] for place in block] for block in blocks] == [
        list(range(24 * n, 24 * n + 24)) for n in range(5)
    ]


@given(CLIPS, st.integers(1, 8))
def test_every_clip_is_in_one_block_and_every_unit_whole(units: list[str | None], size: int) -> None:
    blocks = blocks_of(range(len(units)), units, named, size)
    assert sorted(place for block in blocks for place in block) == list(range(len(units)))
    held = [{units[place] for place in block} for block in blocks]
    assert sum(map(len, held)) == len(set(units))
    assert all(len(block) == size for block in held[:-1])


@given(CLIPS, st.integers(1, 8))
def test_blocks_go_by_code_point_and_end_with_clips_of_no_unit(units: list[str | None], size: int) -> None:
    blocks = blocks_of(range(len(units)), units, named, size)
    order = [place for block in blocks for place in block]
    assert order == sorted(order, key=lambda place: (units[place] is None, units[place] or "", place))


@given(CLIPS, st.integers(1, 8), st.randoms(use_true_random=False))
def test_the_order_of_rows_leaves_no_trace(units: list[str | None], size: int, order: random.Random) -> None:
    rows = order.sample(range(len(units)), len(units))
    here = blocks_of(range(len(units)), units, named, size)
    there = blocks_of(range(len(units)), [units[row] for row in rows], lambda place: named(rows[place]), size)
    assert here == [tuple(rows[place] for place in block) for block in there]


def test_units_of_several_columns_go_column_by_column() -> None:
    units = [("2", "1"), ("1", "9"), None, ("1", "10")]
    assert blocks_of(range(4), units, named, 1) == [(3,), (1,), (0,), (2,)]


def test_excluded_clips_are_in_no_block() -> None:
    assert blocks_of([0, 2], ["b", "a", "a"], named, 1) == [(2,), (0,)]
