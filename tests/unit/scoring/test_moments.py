"""Concordance and mean absolute error against exact two-pass arithmetic on fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from pytest_speval.scoring.bootstrap import draw_weights, replicate_sums
from pytest_speval.scoring.moments import Moments, ccc, mae, per_unit

Array = np.ndarray[Any, Any]


def exact_ccc(x: Array, y: Array) -> float | None:
    xs, ys = [Fraction(v) for v in x.tolist()], [Fraction(v) for v in y.tolist()]
    n = len(xs)
    mean_x, mean_y = sum(xs) / n, sum(ys) / n
    covariance = sum((a - mean_x) * (b - mean_y) for a, b in zip(xs, ys, strict=True)) / n
    var_x = sum((a - mean_x) ** 2 for a in xs) / n
    var_y = sum((b - mean_y) ** 2 for b in ys) / n
    below = var_x + var_y + (mean_x - mean_y) ** 2
    return float(2 * covariance / below) if below else None


def exact_mae(x: Array, y: Array) -> float:
    return float(sum(abs(Fraction(a) - Fraction(b)) for a, b in zip(x.tolist(), y.tolist(), strict=True)) / len(x))


@pytest.mark.parametrize("seed", range(10))
def test_ccc_and_mae_agree_with_exact_arithmetic(seed: int) -> None:
    draw = np.random.default_rng(seed)
    x = draw.random(200)
    y = np.clip(x + draw.normal(0.1, 0.2, 200), 0, 1)
    moments = Moments.of(x, y)
    assert moments.ccc == pytest.approx(exact_ccc(x, y), abs=1e-14)
    assert moments.mae == pytest.approx(exact_mae(x, y), rel=1e-15)


@pytest.mark.parametrize(("spread", "tolerance"), [(1e-2, 1e-11), (1e-3, 1e-9), (1e-4, 1e-7), (1e-5, 1e-5)])
def test_narrow_values_far_from_the_centre_cancel_little(spread: float, tolerance: float) -> None:
    draw = np.random.default_rng(5)
    x = 0.95 + draw.normal(0, spread, 1000)
    y = x + draw.normal(0, spread, 1000)
    assert Moments.of(x, y).ccc == pytest.approx(exact_ccc(x, y), rel=tolerance)


def test_perfect_answers_have_concordance_one() -> None:
    x = np.random.default_rng(1).random(37)
    assert Moments.of(x, x).ccc == 1.0
    assert Moments.of(x, x).mae == 0.0


def test_answers_turned_around_the_mean_have_concordance_minus_one() -> None:
    assert Moments.of(np.array([0.25, 0.75]), np.array([0.75, 0.25])).ccc == -1.0


def test_without_pairs_nothing_is_defined() -> None:
    assert Moments.zero().ccc is None
    assert Moments.zero().mae is None
    assert Moments.of(np.zeros(0), np.zeros(0)) == Moments.zero()


@pytest.mark.parametrize("n", [1, 3, 7, 1000])
@pytest.mark.parametrize("value", [0.7, 0.1, 0.5, 1 / 3])
def test_one_and_the_same_value_everywhere_is_undefined(value: float, n: int) -> None:
    assert Moments.of(np.full(n, value), np.full(n, value)).ccc is None


def test_constant_answers_have_no_concordance() -> None:
    x = np.random.default_rng(1).random(50)
    assert Moments.of(x, np.full(50, 0.7)).ccc == 0.0
    assert Moments.of(np.full(50, 0.7), np.full(50, 0.8)).ccc == 0.0


def test_units_add_up_to_the_whole() -> None:
    draw = np.random.default_rng(2)
    x, y, units = draw.random(90), draw.random(90), draw.integers(-1, 6, 90)
    sums = per_unit(x, y, units, 6)
    assert sums.shape == (6, 7)
    whole = Moments.of(x[units >= 0], y[units >= 0])
    assert sums[:, 0].sum() == whole.n
    assert float(ccc(sums.sum(axis=0))) == pytest.approx(whole.ccc, abs=1e-13)
    assert float(mae(sums.sum(axis=0))) == pytest.approx(whole.mae, abs=1e-14)
    for unit in range(6):
        one = Moments.of(x[units == unit], y[units == unit])
        assert float(ccc(sums[unit])) == pytest.approx(one.ccc, abs=1e-13)


def test_the_order_of_clips_changes_no_bit() -> None:
    draw = np.random.default_rng(4)
    x, y, units = draw.random(500), draw.random(500), draw.integers(0, 3, 500)
    mixed = draw.permutation(500)
    assert Moments.of(x, y) == Moments.of(x[mixed], y[mixed])
    assert per_unit(x, y, units, 3).tobytes() == per_unit(x[mixed], y[mixed], units[mixed], 3).tobytes()


def test_replicates_agree_with_the_drawn_clips_themselves() -> None:
    draw = np.random.default_rng(6)
    x, units = draw.random(200), draw.integers(0, 12, 200)
    y = np.clip(x + draw.normal(0, 0.2, 200), 0, 1)
    replicates = replicate_sums(per_unit(x, y, units, 12), 40, seed=9)
    found_ccc, found_mae = ccc(replicates), mae(replicates)
    for row, weights in enumerate(next(draw_weights(12, 40, seed=9))):
        clips = np.repeat(np.arange(200), weights.astype(int)[units])
        assert found_ccc[row] == pytest.approx(exact_ccc(x[clips], y[clips]), abs=1e-12)
        assert found_mae[row] == pytest.approx(exact_mae(x[clips], y[clips]), abs=1e-13)


def test_single_precision_is_widened_before_it_is_summed() -> None:
    x = np.random.default_rng(7).random(100).astype(np.float32)
    y = np.random.default_rng(8).random(100).astype(np.float32)
    assert Moments.of(x, y).ccc == pytest.approx(exact_ccc(x, y), abs=1e-14)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="not a finite number"):
        Moments.of(np.array([0.5]), np.array([bad]))


def test_arrays_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="not one to one"):
        Moments.of(np.zeros(2), np.zeros(3))
