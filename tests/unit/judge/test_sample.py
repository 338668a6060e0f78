"""Units of clips and what is drawn over them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_speval.evidence.ending import UNATTEMPTED
from pytest_speval.judge.sample import IntervalRule, Sample, unit_codes
from tests.runs import Clip, question_of

SPEAKERS = ["zoe", "ann", None, "bob", "ann", "out"]


def question(speakers: list[str | None] = SPEAKERS, **cells: list[Any]) -> Any:
    clips = [
        Clip(f"c{place}", "sad", UNATTEMPTED, speaker, excluded="rule" if speaker == "out" else None,
             cells={name: column[place] for name, column in cells.items()})
        for place, speaker in enumerate(speakers)
    ]  # fmt: skip
    return question_of(clips)


def test_units_are_coded_by_name_over_planned_clips() -> None:
    codes, count = unit_codes(question(), "speaker")
    assert (codes.tolist(), count) == ([2, 0, -1, 1, 0], 3)


def test_a_clip_without_a_unit_may_be_one_of_its_own() -> None:
    codes, count = unit_codes(question(["b", None, "a", None]), "speaker", singleton=True)
    assert (codes.tolist(), count) == ([1, 2, 0, 3], 4)


def test_clips_themselves_are_units() -> None:
    codes, count = unit_codes(question(["x"] * 4), "clip")
    assert (codes.tolist(), count) == ([0, 1, 2, 3], 4)


def test_units_may_be_tuples() -> None:
    codes, count = unit_codes(question(["x"] * 3, session=[("2", "1"), ("1", "9"), ("2", "1")]), "session")
    assert (codes.tolist(), count) == ([1, 0, 1], 2)


@pytest.mark.parametrize("singleton", [False, True])
def test_the_order_of_rows_leaves_no_trace(singleton: bool) -> None:
    speakers = ["d", None, "b", "d", None, "a"]
    codes, _ = unit_codes(question(speakers), "speaker", singleton=singleton)
    order = [5, 2, 0, 4, 3, 1]
    clips = [Clip(f"c{place}", "sad", UNATTEMPTED, speakers[place]) for place in order]
    moved, _ = unit_codes(question_of(clips), "speaker", singleton=singleton)
    assert moved.tolist() == codes[order].tolist()


def test_without_the_column_there_is_nothing_to_draw() -> None:
    sample = Sample.of(question_of([Clip("c", "sad", UNATTEMPTED)]), IntervalRule())
    assert sample.absent == "no speaker column"
    assert sample.interval(np.array([0.1, 0.2]), {}) == (None, "no speaker column")
    assert sample.replicate(np.ones((0, 2))) is None


def test_clips_without_a_unit_are_left_out_and_counted() -> None:
    sample = Sample.of(question(), IntervalRule(replicates=50))
    assert (sample.clusters.clusters, sample.clusters.excluded) == (3, 1)
    assert sample.clusters.effective == pytest.approx(4**2 / (2**2 + 1 + 1))
    alone = Sample.of(question(), IntervalRule(replicates=50, null_unit="singleton"))
    assert (alone.clusters.clusters, alone.clusters.excluded) == (4, 0)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_fewer_than_three_clusters_have_no_interval(count: int) -> None:
    sample = Sample.of(question(["out", *[f"s{number}" for number in range(count)] * 3]), IntervalRule())
    interval, reason = sample.interval(None, {})
    assert interval is None
    assert reason == f"{count} cluster{'' if count == 1 else 's'}: an interval needs 3"
