"""Levels against slow, plain counting."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus import levels

extremes = st.sampled_from([32767, 32766, -32767, -32768, 0, 5])


@given(st.lists(st.tuples(extremes, extremes), min_size=1, max_size=40))
def test_clipped_runs_equal_a_plain_count(rows: list[tuple[int, int]]) -> None:
    stored = np.array(rows, np.int16)
    lengths = []
    for column in zip(*rows, strict=True):
        for value, run in itertools.groupby(column):
            length = len(list(run))
            if abs(value) >= 32767 and length >= 3:
                lengths.append(length)
    assert levels.clipping(stored, "PCM_16") == (len(lengths), sum(lengths))
    assert levels.clipping((stored / 32768).astype(np.float32), "PCM_24") == (len(lengths), sum(lengths))


def test_full_scale_depends_on_the_subtype() -> None:
    eight = np.full((3, 1), 127 * 256, np.int16)
    assert levels.clipping(eight, "PCM_U8") == (1, 3)
    assert levels.clipping(eight, "PCM_16") == (0, 0)
    law = np.full((4, 1), 32124 / 32768, np.float32)
    assert levels.clipping(law, "ULAW") == (1, 4)
    assert levels.clipping(law, "FLOAT") == (0, 0)


@given(st.lists(st.tuples(st.integers(-32768, 32767), st.integers(-32768, 32767)), min_size=1, max_size=40))
def test_peak_and_offset_agree_between_integers_and_floats(rows: list[tuple[int, int]]) -> None:
    stored = np.array(rows, np.int16)
    floats = (stored / 32768).astype(np.float32)
    assert levels.peak(stored) == levels.peak(floats) == max(abs(value) for row in rows for value in row) / 32768
    means = [sum(column) / len(rows) / 32768 for column in zip(*rows, strict=True)]
    assert abs(levels.dc_offset(stored)) == pytest.approx(max(map(abs, means)))
    assert levels.dc_offset(floats) == pytest.approx(levels.dc_offset(stored))


def test_lowest_correlation_is_pearsons() -> None:
    stored = np.random.default_rng(3).integers(-3000, 3000, (500, 3), np.int16)
    stored[:, 2] = -stored[:, 0] + 700
    assert levels.lowest_correlation(stored) == pytest.approx(-1)
    expected = np.corrcoef(stored[:, :2].T.astype(float))[0, 1]
    assert levels.lowest_correlation(stored[:, :2]) == pytest.approx(min(expected, 1.0))


def test_a_constant_channel_correlates_with_none() -> None:
    stored = np.array([[5, 1], [5, 2], [5, 9]], np.int16)
    assert levels.lowest_correlation(stored) == 0


def test_channels_that_repeat_another_are_counted() -> None:
    stored = np.random.default_rng(4).integers(-3000, 3000, (300, 4), np.int16)
    assert levels.repeated_channels(stored) == 0
    stored[:, 3] = stored[:, 1]
    assert levels.repeated_channels(stored) == 1
    stored[:, 2] = stored[:, 1]
    assert levels.repeated_channels(stored) == 2
    stored[-1, 2] += 1
    assert levels.repeated_channels(stored) == 1
    assert levels.repeated_channels(stored[:, :1]) == 0
