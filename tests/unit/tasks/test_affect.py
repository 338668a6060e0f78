"""The task `affect` against the textbook formula; a part of the clips is never passed off as the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_speval.evidence.ending import UNKNOWN, Ending
from pytest_speval.judge.result import Result
from tests.runs import FAILED, Clip, gate, judged, said

Array = np.ndarray[Any, Any]
RANGES = {"valence": (1.0, 7.0), "arousal": (1.0, 7.0), "dominance": (0.0, 1.0)}
AXES = tuple(RANGES)


def ccc(x: Array, y: Array) -> float:
    """Lin's concordance in two lines of numpy."""
    covariance = ((x - x.mean()) * (y - y.mean())).mean()
    return float(2 * covariance / (x.var() + y.var() + (x.mean() - y.mean()) ** 2))


def clips_of(cells: Array, answers: Array, endings: dict[int, Ending] | None = None, axes: int = 3) -> list[Clip]:
    """Clips rated as in `cells` [n, 3] (in their ranges) and answered as in `answers` [n, 3] (0..1)."""
    return [
        Clip(
            f"c{number}",
            "",
            (endings or {}).get(number) or said(vad=dict(zip(AXES, map(float, answer), strict=True))),
            speaker=f"s{number % 5}",
            cells=dict(zip(AXES[:axes], map(repr, map(float, cell)), strict=False)),
        )
        for number, (cell, answer) in enumerate(zip(cells, answers, strict=True))
    ]


def affect(clips: list[Clip], *gates: Any, **keys: Any) -> Result:
    return judged(clips, (), *gates, task="affect", **({"missing": "withhold", "ranges": RANGES} | keys))


def random_ratings(seed: int, n: int = 120) -> tuple[Array, Array]:
    draw = np.random.default_rng(seed)
    low, high = np.array([1, 1, 0]), np.array([7, 7, 1])
    truth = draw.random((n, 3))
    answers = np.clip(0.6 * truth + 0.4 * draw.random((n, 3)), 0, 1)
    return low + truth * (high - low), answers


@pytest.mark.parametrize("seed", range(5))
def test_ccc_and_mae_are_those_of_numpy(seed: int) -> None:
    cells, answers = random_ratings(seed)
    result = affect(clips_of(cells, answers))
    truth = (cells - [1, 1, 0]) / [6, 6, 1]
    for column, axis in enumerate(AXES):
        x, y = truth[:, column], answers[:, column]
        assert result.estimates[f"ccc.{axis}"].value == pytest.approx(ccc(x, y), abs=1e-12)
        mae = result.estimates[f"mae.{axis}"]
        assert mae.value == pytest.approx(np.abs(x - y).mean(), abs=1e-12)
        assert mae.denominator == 120
        assert mae.numerator == pytest.approx(np.abs(x - y).sum(), abs=1e-12)
        assert result.estimates[f"answered_only.ccc.{axis}"].value == result.estimates[f"ccc.{axis}"].value
    assert next(iter(result.estimates)) == "ccc.valence"


@given(st.lists(st.tuples(*[st.integers(0, 20)] * 2), min_size=2, max_size=30))
@settings(max_examples=60, deadline=None)
def test_ccc_of_coarse_ratings(pairs: list[tuple[int, int]]) -> None:
    grid = np.array(pairs) / 20
    cells = np.column_stack([1 + 6 * grid[:, 0], np.full(len(grid), 4.0), grid[:, 0]])
    answers = np.column_stack([grid[:, 1], np.full(len(grid), 0.5), grid[:, 1]])
    result = affect(clips_of(cells, answers))
    found = result.estimates["ccc.dominance"]
    if len({number for pair in pairs for number in pair}) == 1:
        assert (found.value, found.reason) == (None, "dominance does not vary")
    else:
        assert found.value == pytest.approx(ccc(grid[:, 0], grid[:, 1]), abs=1e-9)
    assert (result.estimates["ccc.arousal"].value, result.estimates["ccc.arousal"].reason) == (
        None,
        "arousal does not vary",
    )
    assert result.estimates["mae.arousal"].value == 0.0


@pytest.mark.parametrize("missing", ["withhold", "worst"])
@pytest.mark.parametrize("lost", [(FAILED, UNKNOWN), (said("happy"), said())])
def test_nothing_is_estimated_unless_all_answered(missing: str, lost: tuple[Ending, Ending]) -> None:
    cells, answers = random_ratings(1)
    clips = clips_of(cells, answers, {7: lost[0], 70: lost[1]})
    result = affect(clips, gate("ccc.valence", min=-1.0), gate("mae.valence", max=1e6), missing=missing)
    assert result.counts.answered == 118
    for axis in AXES:
        for name in (f"ccc.{axis}", f"mae.{axis}"):
            found = result.estimates[name]
            assert (found.value, found.reason) == (None, "118 of 120 answered")
            assert (found.interval, found.numerator, found.denominator) == (None, None, None)
    assert [found.verdict for found in result.verdicts] == ["invalid", "invalid"]
    assert result.verdicts[0].reason == "ccc.valence is undefined: 118 of 120 answered"
    kept = np.delete(np.arange(120), [7, 70])
    truth = (cells[kept, 0] - 1) / 6
    alone = result.estimates["answered_only.ccc.valence"]
    assert alone.value == pytest.approx(ccc(truth, answers[kept, 0]), abs=1e-12)
    assert alone.n == 118
    assert result.estimates["coverage"].value == 118 / 120


def test_what_gives_no_axes_abstains() -> None:
    cells, answers = random_ratings(2, 4)
    result = affect(clips_of(cells, answers, {0: said("happy"), 1: said(), 2: FAILED}))
    rows = list(result.rows)
    assert [row.status for row in rows] == ["abstained", "abstained", "failed", "answered"]
    assert [row.correct for row in rows] == [None] * 4
    assert rows[3].answer == {axis: pytest.approx(answers[3, column]) for column, axis in enumerate(AXES)}
    assert rows[0].reference["valence"] == pytest.approx((cells[0, 0] - 1) / 6)


def test_an_axis_without_a_column_says_so_everywhere() -> None:
    cells, answers = random_ratings(3)
    for endings in ({}, {3: FAILED}):
        result = affect(clips_of(cells, answers, endings, axes=2))
        alone = result.estimates["answered_only.ccc.dominance"]
        assert (alone.value, alone.reason) == (None, "the corpus has no column `dominance`")
        assert result.estimates["answered_only.mae.dominance"].reason == alone.reason
    assert affect(clips_of(cells, answers, axes=2)).estimates["ccc.dominance"].reason == alone.reason


def test_nobody_answered() -> None:
    cells, answers = random_ratings(4, 3)
    result = affect(clips_of(cells, answers, dict.fromkeys(range(3), FAILED)))
    assert result.estimates["ccc.valence"].reason == "0 of 3 answered"
    assert result.estimates["answered_only.ccc.valence"].reason == "no clip was answered"


def test_intervals_draw_whole_speakers() -> None:
    cells, answers = random_ratings(5)
    interval = affect(clips_of(cells, answers)).estimates["ccc.valence"].interval
    assert interval is not None
    assert (interval.clusters, interval.replicates_without_class) == (5, {})
    assert interval.low is not None
    assert interval.high is not None
    truth = (cells[:, 0] - 1) / 6
    assert interval.low < ccc(truth, answers[:, 0]) < interval.high


def test_no_number_of_clips_turns_a_concordance() -> None:
    cells, answers = random_ratings(6)
    (found,) = affect(clips_of(cells, answers), gate("ccc.valence", min=0.0)).verdicts
    assert (found.verdict, found.flips) == ("pass", None)
