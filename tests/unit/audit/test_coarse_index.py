"""The coarse index against brute force over every pair of codes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_speval.audit import coarse_index
from pytest_speval.audit.coarse_index import AGREEMENT, DENSE, RADIUS, SPARSE, Candidate, candidates, codes
from pytest_speval.corpus.fingerprint import Fingerprint, fingerprint
from tests.unit.audit.voices import RATE, Pcm, talk

TALKS = [talk(seed, 2) for seed in range(4)]
SOUNDS: list[Fingerprint | None] = [fingerprint(each, RATE) for each in TALKS]


def by_brute_force(
    dense: list[Fingerprint | None], sparse: list[Fingerprint | None]
) -> dict[tuple[int, int], set[int]]:
    """Every lag of near codes whose codes agree on average."""
    found: dict[tuple[int, int], set[int]] = {}
    for (one, first), (two, second) in itertools.product(enumerate(dense), enumerate(sparse)):
        if first is None or second is None:
            continue
        asked, asked_audible = codes(first.logmel, DENSE)
        held, held_audible = codes(second.logmel, SPARSE)
        distances: dict[int, list[tuple[int, bool]]] = {}
        bits = [np.unpackbits(each.view(np.uint8), axis=1) for each in (asked, held)]
        for left, right in itertools.product(np.flatnonzero(asked_audible), np.flatnonzero(held_audible)):
            unlike = bits[0][left] != bits[1][right]
            near = unlike.sum() <= RADIUS and not unlike.reshape(16, 16).any(axis=1).all()
            distances.setdefault(int(SPARSE * right - DENSE * left), []).append((int(unlike.sum()), bool(near)))
        lags = {
            lag
            for lag, each in distances.items()
            if any(near for _, near in each) and np.mean([differing for differing, _ in each]) <= AGREEMENT
        }
        if lags:
            found[one, two] = lags
    return found


@pytest.mark.parametrize("block", [1 << 20, 3])
@settings(max_examples=3)
@given(order=st.permutations(range(4)))
def test_candidates_are_those_of_brute_force(order: list[int], block: int) -> None:
    dense: list[Fingerprint | None] = [SOUNDS[order[0]], None, SOUNDS[order[1]]]
    rough: Pcm = np.random.default_rng(0).normal(0, 0.02, len(TALKS[0])).astype(np.float32)
    sparse: list[Fingerprint | None] = [
        None,
        fingerprint(np.asarray(TALKS[order[0]] + rough, np.float32)[4000:], RATE),
        SOUNDS[order[2]],
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coarse_index, "_BLOCK", block)
        patch.setattr(coarse_index, "LAGS", 1000)
        found = candidates(dense, sparse)
    expected = by_brute_force(dense, sparse)
    assert [(each.first, each.second) for each in found] == sorted(expected)
    assert (0, 1) in expected
    for each in found:
        lags = expected[each.first, each.second]
        assert set(each.lags) <= lags
        assert all(min(abs(lag - kept) for kept in each.lags) <= DENSE for lag in lags)
        assert all(abs(one - two) > DENSE for one, two in itertools.combinations(each.lags, 2))
    assert abs(found[0].lags[0] + 25) <= 2  # 4,000 samples of 16 kHz


def test_a_bit_compares_two_halves_of_a_patch_no_deeper_than_30_db() -> None:
    logmel = np.random.default_rng(1).integers(60, 140, (120, 32), np.uint8)
    logmel[20:28] = 255
    found, audible = codes(logmel, SPARSE)
    assert len(audible) == 5
    for row, start in enumerate(range(0, 49, SPARSE)):
        heard = np.maximum(logmel[start : start + 74].astype(int), 85) - 85
        patch = np.array(
            [
                [heard[2 * step : 2 * step + 4, 2 * band : 2 * band + 2].sum() for band in range(16)]
                for step in range(0, 36, 2)
            ]
        )
        patch = np.maximum(patch, patch.max() - 8 * 127)
        expected = (patch.ravel() @ coarse_index._halves()) > 0
        assert np.array_equal(np.unpackbits(found[row].view(np.uint8)), expected)


def test_gain_changes_no_code_and_silence_is_not_audible() -> None:
    loud, _ = codes(fingerprint(TALKS[0], RATE).logmel, DENSE)
    soft, _ = codes(fingerprint(TALKS[0] * np.float32(0.25), RATE).logmel, DENSE)
    assert np.array_equal(loud, soft)
    _, audible = codes(np.zeros((200, 32), np.uint8), DENSE)
    assert not audible.any()


@pytest.mark.parametrize("frames", [0, 1, 2, 71, 72, 73, 74, 75])
def test_a_sound_has_codes_from_0_72_s_on(frames: int) -> None:
    found, audible = codes(np.full((frames, 32), 200, np.uint8), DENSE)
    assert found.shape == (max(0, (frames - 70) // 2), 4)
    assert len(audible) == len(found)


def test_nothing_among_nothing_is_no_candidate() -> None:
    assert candidates([], []) == []
    assert candidates([None], SOUNDS) == []
    assert candidates(SOUNDS, [None]) == []


def test_a_quiet_sound_inside_a_loud_file_is_proposed() -> None:
    file = np.concatenate([TALKS[1], TALKS[0] * np.float32(0.1), TALKS[2]])
    found = candidates(SOUNDS[:1], [fingerprint(file, RATE)])
    assert [(each.first, each.second) for each in found] == [(0, 0)]
    assert found[0] == Candidate(0, 0, found[0].lags)
    assert abs(found[0].lags[0] - 200) <= 2
