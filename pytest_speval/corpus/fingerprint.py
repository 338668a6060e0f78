"""The fingerprint of one sound: what a search for near duplicates compares.

Two small arrays at a low rate, where codecs and telephones keep what speech there is: the waveform between 150 and
3,000 Hz, and 32 log-mel bands under 3.6 kHz every 10 ms. Both are integers, so that sums over them are exact and
the same in any order.
"""

from __future__ import annotations

import functools
import importlib
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_speval.corpus.levels import SILENT_PEAK
from pytest_speval.errors import MissingExtra

RATE = 8000  # Hz, of every fingerprint
HOP = 80  # samples between two frames: 10 ms
FRAMES_PER_SECOND = RATE // HOP
BANDS = 32
SHORTEST = 1.0  # seconds; less speech than that is like other speech by chance
RANGE_DB = 60  # levels farther under a clip's peak are not told apart
AUDIBLE_RANGE = 127  # 30 dB in steps of a level: what is farther under the peak is not heard beside it
FAINTEST = 85  # of 255: 40 dB under the clip's peak
LEAST_AUDIBLE = 30  # frames: 0.3 s, a word
VERSION = 1  # of the arrays: raise it with any change to what they hold

_BAND = (150.0, 3000.0)
_MEL_RANGE = (120.0, 3600.0)
_WINDOW, _FFT = 200, 256
_BLOCK = 4096  # frames transformed at once: a long recording needs no more memory than a short one


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprint:
    """What is kept of one sound.

    `seconds` is the length of the sound. `waveform` is int8 [samples] at 8 kHz, scaled to its own peak.
    `logmel` is uint8 [frames, 32]: 0 is 60 dB or more under the clip's peak, 255 the peak. Both are all zero where
    nothing between 150 and 3,000 Hz is louder than one step of 16 bits.
    """

    seconds: float
    waveform: npt.NDArray[np.int8]
    logmel: npt.NDArray[np.uint8]


def fingerprint(pcm: npt.NDArray[np.float32], rate: int) -> Fingerprint:
    """The fingerprint of a one-dimensional sound of finite samples, full scale 1, at `rate` Hz.

    Raises `MissingExtra` where the sound has to be resampled and soxr is absent.
    """
    sound = _resampled(pcm, rate)
    sound = sound - sound.mean() if len(sound) else sound  # an offset that ends makes a click
    waveform = _waveform(sound)
    logmel = _logmel(sound) if waveform.any() else np.zeros((math.ceil(len(sound) / HOP), BANDS), np.uint8)
    return Fingerprint(len(pcm) / rate, waveform, logmel)


def assessable(found: Fingerprint) -> bool:
    """Say whether a copy of the sound can be told from other speech: 1 s long, and 0.3 s of it audible."""
    return found.seconds >= SHORTEST and int(audible(found.logmel).sum()) >= LEAST_AUDIBLE


def audible(logmel: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Which frames of a stretch of sound are within 30 dB of its peak in some band, and 40 dB of the clip's."""
    highest = logmel.max(axis=1)
    return np.asarray(highest >= max(int(highest.max(initial=0)) - AUDIBLE_RANGE, FAINTEST))


def _resampled(pcm: npt.NDArray[np.float32], rate: int) -> npt.NDArray[np.float32]:
    if rate == RATE or not len(pcm):
        return pcm
    try:
        soxr: Any = importlib.import_module("soxr")
    except ImportError:
        raise MissingExtra("audio", f"resampling {rate} Hz to {RATE} Hz") from None
    return np.asarray(soxr.resample(pcm, rate, RATE), np.float32)


def _waveform(sound: npt.NDArray[np.float32]) -> npt.NDArray[np.int8]:
    if not len(sound):
        return np.zeros(0, np.int8)
    size = smooth_size(len(sound) + HOP)
    spectrum = np.fft.rfft(sound, size)
    low, high = (round(edge * size / RATE) for edge in _BAND)
    spectrum[:low] = 0
    spectrum[high:] = 0
    limited = np.fft.irfft(spectrum, size)[: len(sound)]
    peak = max(float(limited.max()), -float(limited.min()))
    if peak <= SILENT_PEAK:
        return np.zeros(len(sound), np.int8)
    return np.asarray(np.rint(limited * (127 / peak)), np.int8)


def _logmel(sound: npt.NDArray[np.float32]) -> npt.NDArray[np.uint8]:
    frames = math.ceil(len(sound) / HOP)
    padded = np.pad(sound, (0, _WINDOW + HOP))
    windows = np.lib.stride_tricks.sliding_window_view(padded, _WINDOW)[::HOP][:frames]
    shape, bank = np.hanning(_WINDOW).astype(np.float32), _mel_bank()
    power = np.empty((frames, BANDS), np.float32)
    for start in range(0, frames, _BLOCK):
        spectrum = np.fft.rfft(windows[start : start + _BLOCK] * shape, _FFT)
        power[start : start + _BLOCK] = (spectrum.real**2 + spectrum.imag**2) @ bank
    level = 10 * np.log10(power + np.float32(1e-12))
    return np.asarray(np.rint(np.maximum(level - level.max() + RANGE_DB, 0) * (255 / RANGE_DB)), np.uint8)


@functools.cache
def _mel_bank() -> npt.NDArray[np.float32]:
    """Triangles of equal width on the mel scale of O'Shaughnessy, [bins, bands]."""
    low, high = (1127 * math.log1p(edge / 700) for edge in _MEL_RANGE)
    edges = 700 * np.expm1(np.linspace(low, high, BANDS + 2) / 1127)
    bins = np.arange(_FFT // 2 + 1)[:, None] * (RATE / _FFT)
    rising = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    return np.asarray(np.maximum(0, np.minimum(rising, falling)), np.float32)


def smooth_size(least: int) -> int:
    """The smallest 2^a, 3 * 2^a or 5 * 2^a from `least` on: a length whose Fourier transform is fast."""
    return min(factor << max(0, math.ceil(math.log2(least / factor))) for factor in (1, 3, 5))
