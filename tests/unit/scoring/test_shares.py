"""Shares that weigh every unit alike."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.scoring.shares import mean_share


@given(st.lists(st.tuples(st.booleans(), st.integers(-1, 6)), max_size=40))
def test_a_mean_share_is_that_of_a_plain_loop(clips: list[tuple[bool, int]]) -> None:
    units = {unit for _, unit in clips if unit >= 0}
    shares = []
    for unit in units:
        own = [hit for hit, owner in clips if owner == unit]
        shares.append(Fraction(sum(own), len(own)))
    expected = sum(shares, Fraction(0)) / len(shares) if shares else None
    found = mean_share(np.array([hit for hit, _ in clips], dtype=bool), np.array([u for _, u in clips], dtype=int), 7)
    assert found == expected


def test_a_share_is_exact_where_floats_are_not() -> None:
    hits = np.arange(30) % 10 < np.repeat([1, 2, 3], 10)
    assert mean_share(hits, np.repeat([0, 1, 2], 10), 3) == Fraction(1, 5)
