"""Differences of two models: what scipy, statsmodels and a plain loop say of the same numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pytest_speval.scoring.paired import differences, holm, share_beyond, smallest_detectable

SHARES = st.floats(0, 1)


@pytest.mark.parametrize(("now", "then", "found"), [(49, 50, -0.01), (50, 49, 0.01), (7, 100, -0.93), (30, 37, -0.07)])
def test_a_difference_of_counts_is_the_number_that_people_write(now: int, then: int, found: float) -> None:
    assert float(differences(now / 100, then / 100)) == found


def test_without_a_value_there_is_no_difference() -> None:
    found = differences(np.array([0.5, math.nan, 0.25]), np.array([math.nan, 0.5, 0.25]))
    np.testing.assert_array_equal(found, [math.nan, math.nan, 0.0])


@given(SHARES, SHARES)
def test_the_other_way_round_a_difference_has_the_other_sign(one: float, other: float) -> None:
    assert float(differences(one, other)) == -float(differences(other, one))


@given(st.lists(SHARES, max_size=12))
def test_holm_is_that_of_statsmodels(values: list[float]) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    expected = multitest.multipletests(values, method="holm")[1] if values else []
    np.testing.assert_allclose(holm(values), expected, rtol=1e-12)


def test_a_single_claim_needs_no_correction() -> None:
    assert holm([0.02]) == [0.02]
    assert holm([]) == []
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_a_share_counts_misses_on_its_side_and_is_never_zero() -> None:
    values = np.array([-0.02, -0.01, 0.0, 0.01, math.nan])
    assert share_beyond(values, -0.01, below=True) == 3 / 6  # -0.02, the one without a value, and one for the run
    assert share_beyond(values, 0.0, below=False) == 3 / 6
    assert share_beyond(np.zeros(9), -1.0, below=True) == 1 / 10


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=50), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_the_smallest_detectable_difference_is_that_of_the_textbook(values: list[float], level: float) -> None:
    found = smallest_detectable(np.array(values), level)
    error = np.std(values, ddof=1)
    factor = stats.norm.ppf((1 + level) / 2) + stats.norm.ppf(0.8)
    assert found == pytest.approx(factor * error, rel=1e-5, abs=1e-12)


def test_at_95_percent_it_is_2_8_standard_errors() -> None:
    assert smallest_detectable(np.array([-1.0, 0.0, 1.0]), 0.95) == 2.80159
    assert smallest_detectable(np.array([0.5, math.nan]), 0.95) is None
