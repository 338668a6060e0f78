"""Ratios keep both numbers and add up as sums."""

from __future__ import annotations

from pytest_speval.scoring.ratio import Ratio


def test_a_ratio_of_nothing_has_no_value() -> None:
    assert Ratio.zero().value is None
    assert Ratio(3, 0).value is None


def test_missing_and_empty_texts_are_deleted_words() -> None:
    """H02: 0 of 3, 2 of 2 and 1 of 1 words are wrong."""
    total = Ratio(0, 3) + Ratio(2, 2) + Ratio(1, 1)
    assert total == Ratio(3, 6)
    assert total.value == 0.5


def test_the_sum_is_not_the_mean_of_rates() -> None:
    assert (Ratio(1, 1) + Ratio(0, 9)).value == 0.1


def test_a_value_above_one_is_not_cut() -> None:
    assert Ratio(3, 1).value == 3.0
