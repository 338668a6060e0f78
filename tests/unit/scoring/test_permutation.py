"""Dealing units over groups anew: sizes stay, sums add up, and every arrangement is as likely as any other."""

from __future__ import annotations

from itertools import permutations
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.scoring.permutation import arrangements, dealt_sums

APART = np.eye(3, dtype=bool)
OVERLAPPING = np.array([[True, False], [False, True], [True, True]])


@given(st.lists(st.integers(0, 2), min_size=1, max_size=12), st.integers(0, 2**31), st.booleans())
def test_groups_keep_their_units_and_no_unit_is_lost(patterns: list[int], seed: int, apart: bool) -> None:
    members = APART if apart else OVERLAPPING
    codes = np.array(patterns)
    statistics = np.column_stack([np.ones(len(codes)), 2.0 ** np.arange(len(codes))])
    sums = dealt_sums(codes, members, statistics, 20, seed)
    assert sums.shape == (20, members.shape[1], 2)
    assert (sums[:, :, 0] == members[codes].sum(axis=0)).all(), "each group has as many units as it had"
    if apart:
        assert (sums[:, :, 1].sum(axis=1) == 2.0 ** len(codes) - 1).all(), "each unit is in one group"
        return
    first, second = sums[:, 0, 1].astype(int), sums[:, 1, 1].astype(int)
    shared = [bin(one & other).count("1") for one, other in zip(first, second, strict=True)]
    assert shared == [patterns.count(2)] * 20, "groups share as many units as they shared"


@given(st.integers(1, 40), st.integers(1, 5), st.integers(0, 9))
def test_blocks_leave_no_trace(units: int, block: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    patterns, statistics = random.integers(0, 3, units), random.random((units, 3))
    whole = dealt_sums(patterns, APART, statistics, 15, seed)
    parts = dealt_sums(patterns, APART, statistics, 15, seed, chunk_bytes=block * 8 * units)
    assert (whole == parts).all()
    assert np.abs(whole.sum(axis=1) - statistics.sum(axis=0)).max() < 1e-12


def test_every_arrangement_is_as_likely() -> None:
    statistics = np.array([[1.0], [2.0], [4.0], [8.0]])
    sums = dealt_sums(np.array([0, 0, 1, 2]), APART, statistics, 24_000, 5)[:, :, 0]
    found, counts = np.unique(sums, axis=0, return_counts=True)
    expected = {
        tuple(sum(2.0**unit for unit, code in enumerate(dealt) if code == group) for group in range(3))
        for dealt in permutations([0, 0, 1, 2])
    }
    assert {tuple(row) for row in found.tolist()} == expected
    assert len(counts) == 12
    chi_squared = ((counts - 2000) ** 2 / 2000).sum()
    assert chi_squared < 31.3, "beyond this with 11 degrees of freedom in one of a thousand"


def test_another_seed_is_another_deal() -> None:
    patterns, statistics = np.arange(30) % 3, np.arange(30.0)[:, None]
    one, other = (dealt_sums(patterns, APART, statistics, 5, seed) for seed in (1, 2))
    assert (one != other).any()


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_arrangements_are_counted_as_by_hand(sizes: list[int]) -> None:
    codes = [group for group, size in enumerate(sizes) for _ in range(size)]
    ways = factorial(len(codes))
    for size in sizes:
        ways //= factorial(size)
    assert arrangements(sizes, alike=False) == pytest.approx(ways, rel=1e-9)
    if len(codes) > 8:
        return
    sets = {
        frozenset(frozenset(unit for unit, code in enumerate(dealt) if code == group) for group in set(codes))
        for dealt in set(permutations(codes))
    }
    assert arrangements(sizes, alike=True) == pytest.approx(len(sets), rel=1e-9)


def test_more_ways_than_a_double_holds_are_many() -> None:
    assert 1e300 < arrangements([100_000, 100_000], alike=True) < float("inf")
