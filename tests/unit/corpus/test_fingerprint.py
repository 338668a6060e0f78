"""The fingerprint of a sound: its arrays against plain definitions, and what leaves it unchanged."""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus.fingerprint import assessable, fingerprint, smooth_size
from pytest_speval.errors import MissingExtra
from tests.unit.audit.voices import RATE, talk

TALK = talk(1)


def mel_levels(sound: npt.NDArray[np.float64], start: int) -> npt.NDArray[np.float64]:
    """32 bands of one frame, in dB, by the discrete Fourier transform's definition."""
    frame = np.zeros(256)
    piece = sound[start : start + 200]
    frame[: len(piece)] = piece
    frame[:200] *= np.hanning(200)
    bins = np.arange(129)
    spectrum = np.exp(-2j * np.pi * np.outer(bins, np.arange(256)) / 256) @ frame
    mels = np.linspace(1127 * np.log(1 + 120 / 700), 1127 * np.log(1 + 3600 / 700), 34)
    edges = 700 * (np.exp(mels / 1127) - 1)
    bands = [
        sum(abs(spectrum[k]) ** 2 * np.interp(k * 8000 / 256, edges[band : band + 3], [0, 1, 0]) for k in bins)
        for band in range(32)
    ]
    return 10 * np.log10(np.array(bands) + 1e-12)


def test_the_log_mel_bands_are_those_of_the_definition() -> None:
    sound = TALK[::2].copy()  # some sound at 8 kHz
    found = fingerprint(sound, 8000)
    frames = [*np.flatnonzero(found.logmel.max(axis=1) == 255), 0, 1, 100, 101, len(found.logmel) - 1]
    levels = np.array([mel_levels(sound - sound.mean(dtype=np.float64), 80 * frame) for frame in frames])
    expected = np.clip(levels - levels.max() + 60, 0, None) * 255 / 60
    assert found.logmel.shape == (len(sound) // 80, 32)
    assert np.abs(found.logmel[frames] - expected).max() <= 0.51


def test_the_waveform_is_the_band_of_speech_at_its_own_peak() -> None:
    time = np.arange(16000) / 8000
    inside, outside = np.sin(2 * np.pi * 1000 * time), np.sin(2 * np.pi * 50 * time) + np.sin(2 * np.pi * 3500 * time)
    found = fingerprint((0.01 * inside + 0.2 * outside).astype(np.float32), 8000)
    middle = slice(2000, 14000)
    assert np.abs(found.waveform[middle] - found.waveform[middle].max() * inside[middle]).max() <= 2


@pytest.mark.parametrize("factor", [2.0, 0.25, -1.0])
def test_gain_and_polarity_change_nothing_but_the_sign(factor: float) -> None:
    one, two = fingerprint(TALK, RATE), fingerprint(TALK * np.float32(factor), RATE)
    assert np.array_equal(two.waveform, np.sign(factor) * one.waveform)
    assert np.array_equal(one.logmel, two.logmel)


def test_the_rate_of_a_sound_hardly_matters() -> None:
    soxr = pytest.importorskip("soxr")
    one, two = fingerprint(TALK, RATE), fingerprint(soxr.resample(TALK, RATE, 44100), 44100)
    assert abs(len(one.waveform) - len(two.waveform)) <= 1
    shared = min(len(one.logmel), len(two.logmel))
    heard = np.corrcoef(one.logmel[:shared].ravel(), two.logmel[:shared].ravel())[0, 1]
    assert heard > 0.999
    assert two.seconds == pytest.approx(one.seconds, abs=1e-4)


@given(st.integers(0, 3000), st.sampled_from([8000, 11025, 16000, 48000]))
def test_any_length_has_a_fingerprint(samples: int, rate: int) -> None:
    found = fingerprint(np.resize(TALK, samples), rate)
    assert found.seconds == samples / rate
    assert abs(len(found.waveform) - samples * 8000 / rate) <= 1
    assert found.logmel.shape == (-(-len(found.waveform) // 80), 32)
    assert not assessable(found)


@pytest.mark.parametrize(
    ("pcm", "expected"),
    [
        (TALK[:16000], True),
        (TALK[:15999], False),
        (TALK * np.float32(0.001), True),
        (np.zeros(32000, np.float32), False),
        (np.full(32000, 0.3, np.float32), False),  # an offset is no sound
        (np.random.default_rng(0).integers(-1, 2, 32000).astype(np.float32) / 65536, False),  # dither
        (np.concatenate([TALK[:4000], np.zeros(32000, np.float32)]), False),  # a quarter of a second of sound
    ],
)
def test_short_and_silent_sounds_are_not_assessable(pcm: npt.NDArray[np.float32], expected: bool) -> None:
    assert assessable(fingerprint(pcm, RATE)) is expected


def test_resampling_needs_the_audio_extra_and_8_khz_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "soxr", None)
    with pytest.raises(MissingExtra, match="16000 Hz"):
        fingerprint(TALK, RATE)
    assert assessable(fingerprint(TALK, 8000))


@given(st.integers(1, 1 << 20))
def test_a_smooth_size_is_the_next_of_its_kind(least: int) -> None:
    kinds = sorted(factor << power for factor in (1, 3, 5) for power in range(22))
    assert smooth_size(least) == next(size for size in kinds if size >= least)
