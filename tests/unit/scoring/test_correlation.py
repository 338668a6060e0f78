"""Correlations from sums and from draws, against scipy on the drawn pairs themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pytest_speval.scoring import correlation
from pytest_speval.scoring.correlation import Floats

PAIRS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 9)), min_size=1, max_size=25)
TIMES = st.lists(st.integers(0, 3), min_size=25, max_size=25)


def apart(pairs: list[tuple[int, int]]) -> tuple[Floats, Floats]:
    x, y = np.array(pairs, dtype=np.float64).T
    return x, y


def defined(x: Floats, y: Floats) -> bool:
    return len(x) > 1 and bool(np.ptp(x) and np.ptp(y))


def close(found: Any, wanted: float) -> bool:
    return bool(found == pytest.approx(wanted, abs=1e-9))


@given(PAIRS, TIMES)
def test_ranks_of_draws_are_those_of_the_pairs_drawn(pairs: list[tuple[int, int]], times: list[int]) -> None:
    x, y = apart(pairs)
    counts = np.array(times[: len(x)])
    found = correlation.spearman(x, y, np.stack([counts, np.ones(len(x))]).astype(np.float64))
    for value, (a, b) in zip(found, ((np.repeat(x, counts), np.repeat(y, counts)), (x, y)), strict=True):
        if defined(a, b):
            assert close(value, stats.spearmanr(a, b).statistic)
        else:
            assert np.isnan(value)


@given(PAIRS, st.lists(st.integers(-1, 3), min_size=25, max_size=25))
def test_sums_of_units_give_the_correlation_and_error_of_their_pairs(
    pairs: list[tuple[int, int]], units: list[int]
) -> None:
    x, y = apart(pairs)
    codes = np.array(units[: len(x)])
    sums = correlation.pair_sums(x, y, codes, 4)
    for unit in range(4):
        a, b = x[codes == unit], y[codes == unit]
        assert sums[unit, correlation.PAIRS] == len(a)
        r, mse = correlation.pearson(sums[unit]), correlation.mean_square(sums[unit])
        assert close(r, stats.pearsonr(a, b).statistic) if defined(a, b) else np.isnan(r)
        assert close(mse, np.mean((a - b) ** 2)) if len(a) else np.isnan(mse)
    whole = correlation.pearson(sums.sum(axis=0))
    kept = codes >= 0
    assert np.isnan(whole) or close(whole, stats.pearsonr(x[kept], y[kept]).statistic)


@given(PAIRS, st.integers(0, 3))
def test_the_order_of_pairs_leaves_no_trace_in_a_bit(pairs: list[tuple[int, int]], seed: int) -> None:
    x, y = (values / 7 for values in apart(pairs))
    order = np.random.default_rng(seed).permutation(len(x))
    codes = np.arange(len(x)) % 3
    one = correlation.pair_sums(x, y, codes, 3)
    assert one.tobytes() == correlation.pair_sums(x[order], y[order], codes[order], 3).tobytes()


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 9), st.booleans()), min_size=1, max_size=12))
def test_groups_that_were_not_drawn_are_left_out(groups: list[tuple[int, int, bool]]) -> None:
    x, y = apart([(a, b) for a, b, _ in groups])
    drawn = np.array([here for *_, here in groups])
    rows = [np.stack([np.where(drawn, side, np.nan), side]) for side in (x, y)]
    for place, (a, b) in enumerate(((x[drawn], y[drawn]), (x, y))):
        found = [
            function(*rows)[place]
            for function in (correlation.group_pearson, correlation.group_spearman, correlation.group_mean_square)
        ]
        if defined(a, b):
            assert close(found[0], stats.pearsonr(a, b).statistic)
            assert close(found[1], stats.spearmanr(a, b).statistic)
        else:
            assert np.isnan(found[:2]).all()
        assert close(found[2], np.mean((a - b) ** 2)) if len(a) else np.isnan(found[2])


def test_means_apart_by_rounding_alone_tie() -> None:
    x, y = np.array([0.1 + 0.2, 0.3, 1.0]), np.array([2.0, 3.0, 4.0])
    assert correlation.group_spearman(x, y) == pytest.approx(stats.spearmanr([0, 0, 1], y).statistic)
    assert np.isnan(correlation.group_pearson(x[:2], y[:2]))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_neither_scale_nor_shift_changes_a_correlation(scale: float, shift: float) -> None:
    draw = np.random.default_rng(7)
    x = draw.normal(size=200)
    y = x + draw.normal(size=200)
    sums = correlation.pair_sums(x * scale + shift * scale, y, np.zeros(200, dtype=np.int64), 1)
    assert close(correlation.pearson(sums[0]), stats.pearsonr(x, y).statistic)


def test_no_pairs_and_no_groups_have_no_value() -> None:
    none = np.empty(0)
    assert np.isnan(correlation.pearson(correlation.pair_sums(none, none, none.astype(np.int64), 1))).all()
    assert np.isnan(correlation.spearman(none, none, np.empty((2, 0)))).all()
    for function in (correlation.group_pearson, correlation.group_spearman, correlation.group_mean_square):
        assert np.isnan(function(np.empty((2, 0)), np.empty((2, 0)))).all()
