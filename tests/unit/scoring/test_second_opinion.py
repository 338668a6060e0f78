"""Classical tests, held against scipy and statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pytest_speval.scoring.second_opinion import EXACT_UP_TO, matched_pairs, mcnemar


@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_is_the_exact_binomial_test(wins: int, losses: int) -> None:
    found = mcnemar(wins, losses)
    if wins + losses == 0:
        assert (found.p, found.reason) == (None, "both models are right and wrong on the same clips")
        return
    assert found.p == pytest.approx(stats.binomtest(wins, wins + losses, 0.5).pvalue, rel=1e-5)
    assert (found.n, found.statistic) == (wins + losses, wins)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_that_of_statsmodels(wins: int, losses: int, both: int) -> None:
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    if wins + losses:
        expected = tables.mcnemar([[both, losses], [wins, 5]], exact=True).pvalue
        assert mcnemar(wins, losses).p == pytest.approx(min(1.0, expected), rel=1e-5)


@pytest.mark.parametrize("losses", [4_900, 5_100, 5_001])
def test_beyond_the_exact_range_mcnemar_is_corrected_for_continuity(losses: int) -> None:
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    wins = EXACT_UP_TO + 1 - losses
    expected = tables.mcnemar([[9, losses], [wins, 9]], exact=False, correction=True).pvalue
    assert mcnemar(wins, losses).p == pytest.approx(expected, rel=1e-5)


@given(st.lists(st.integers(-5, 5), max_size=60))
def test_matched_pairs_is_a_z_test_of_the_mean_difference(values: list[int]) -> None:
    found = matched_pairs(np.array(values, dtype=np.float64))
    if len(set(values)) < 2:
        assert (found.p, found.reason) == (None, "the errors of all clips differ alike")
        return
    z = np.mean(values) / stats.sem(values)
    assert found.statistic == pytest.approx(z, rel=1e-5, abs=1e-9)
    assert found.p == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-4)
