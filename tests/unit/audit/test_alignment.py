"""Best fits of two sounds against correlations by definition, over every lag."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_speval.audit.alignment import allowed_lags, best_logmel, best_waveform
from pytest_speval.corpus.fingerprint import Fingerprint, fingerprint
from tests.unit.audit.voices import RATE, Pcm, talk


def printed(pcm: Pcm) -> Fingerprint:
    return fingerprint(pcm, RATE)


@settings(max_examples=5)
@given(st.integers(0, 1000), st.floats(1.1, 1.5), st.floats(1.1, 1.5))
def test_the_waveforms_fit_is_the_best_correlation_there_is(seed: int, one: float, two: float) -> None:
    first, second = printed(talk(seed, one)), printed(talk(seed + 1, two))
    lags = allowed_lags(first, second)
    found = best_waveform(first, second, lags)
    x, y = first.waveform.astype(np.float64), second.waveform.astype(np.float64)
    products = np.correlate(y, x, "full")

    def at(lag: int) -> float:
        start, stop = max(0, -lag), min(len(x), len(y) - lag)
        a, b = x[start:stop], y[start + lag : stop + lag]
        assert products[lag + len(x) - 1] == a @ b
        return float(abs(a @ b) / np.sqrt((a @ a) * (b @ b)))

    best = max(map(at, range(80 * lags[0] - 80, 80 * lags[-1] + 81, 23)))
    assert found.score >= best - 1e-6
    assert at(found.lag) - 1e-6 <= found.score <= at(found.lag) + 0.15  # half a sample farther


def test_the_bands_fit_is_pearsons_correlation_of_what_is_audible() -> None:
    first, second = printed(talk(3)), printed(talk(4))
    found = best_logmel(first, second, [17])
    one, two = first.logmel[: len(second.logmel) - 17].astype(float), second.logmel[17:].astype(float)
    one, two = np.maximum(one, one.max() - 191), np.maximum(two, two.max() - 191)
    heard = (one.max(axis=1) >= one.max() - 127) | (two.max(axis=1) >= two.max() - 127)
    one, two = one[heard], two[heard]
    expected = np.corrcoef((one - one.mean(axis=0)).ravel(), (two - two.mean(axis=0)).ravel())[0, 1]
    assert found.score == pytest.approx(expected, abs=1e-12)
    assert found.lag == 17 * 80
    assert found.overlap == len(second.waveform) - 17 * 80


@pytest.mark.parametrize("samples", [0, 1234, -4321])
def test_a_lag_leads_from_the_first_sound_to_the_second(samples: int) -> None:
    whole = talk(5, 3)
    first, second = printed(whole[max(0, samples) :]), printed(whole[max(0, -samples) :])
    lags = allowed_lags(first, second)
    for found in (best_waveform(first, second, lags), best_logmel(first, second, lags)):
        assert abs(found.lag - samples / 2) <= 40
        assert found.score > 0.95
    assert best_waveform(first, second, lags).score > 0.999  # also when the cut falls between two samples
    assert best_waveform(printed(-whole), printed(whole), [0]).score == pytest.approx(1)


def test_sounds_are_compared_only_where_a_second_is_shared_and_something_audible() -> None:
    first, second = printed(talk(6, 1.5)), printed(talk(7, 3))
    assert allowed_lags(first, second) == list(range(98 - 150, 300 - 98 + 1))
    assert allowed_lags(first, second, range(-60, -50)) == [-52, -51]
    speech, silence = talk(8, 1.5), np.zeros(3 * RATE, np.float32)
    before, after = printed(np.concatenate([silence, speech])), printed(np.concatenate([speech, silence]))
    assert allowed_lags(before, after, [-300]) == [-300]
    assert allowed_lags(before, after, range(130, 450)) == []  # the silence of the one with that of the other
    assert not allowed_lags(printed(talk(9, 0.9)), second)
