"""How alike two fingerprints are where they overlap best.

Two measures, both Pearson correlations over the overlap: of the log-mel bands, each less its own mean, which survive
filters and small changes of speed, and of the waveforms, whose phase another take of a line does not share. A lag is
what has to be added to a place in the first sound to find the same place in the second.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_speval.corpus.fingerprint import HOP, Fingerprint, smooth_size

OVERLAP = 98  # frames: 1 s, less the edges that codecs and resampling move
AUDIBLE = 50  # frames of the overlap that must hold sound: two silences are always alike
AUDIBLE_LEVEL = 85  # of 255: within 30 dB of the clip's peak


def allowed_lags(first: Fingerprint, second: Fingerprint, lags: Iterable[int] | None = None) -> list[int]:
    """Those of `lags`, in frames of 10 ms, at which the sounds can be compared; of every lag if none are given.

    Both must overlap by 1 s, and half a second of it be within 30 dB of the peak in each of them.
    """
    if lags is None:
        lags = range(OVERLAP - len(first.logmel), len(second.logmel) - OVERLAP + 1)
    heard = [np.concatenate(([0], np.cumsum(each.logmel.max(axis=1) >= AUDIBLE_LEVEL))) for each in (first, second)]
    allowed = []
    for lag in lags:
        start, stop = overlap(len(first.logmel), len(second.logmel), lag)
        if stop - start >= OVERLAP:
            audible = (heard[0][stop] - heard[0][start], heard[1][stop + lag] - heard[1][start + lag])
            if min(audible) >= AUDIBLE:
                allowed.append(lag)
    return allowed


def overlap(first: int, second: int, lag: int) -> tuple[int, int]:
    """Start and stop, in the first of two sequences of these lengths, of what both have at the lag."""
    return max(0, -lag), min(first, second - lag)


def best_logmel(first: Fingerprint, second: Fingerprint, lags: list[int]) -> tuple[float, int]:
    """The best correlation of the log-mel bands over the allowed lags, and its lag in frames."""
    scores = []
    for lag in lags:
        start, stop = overlap(len(first.logmel), len(second.logmel), lag)
        scores.append(_bandwise(first.logmel[start:stop], second.logmel[start + lag : stop + lag]))
    place = int(np.argmax(scores))
    return scores[place], lags[place]


def best_waveform(first: Fingerprint, second: Fingerprint, lags: list[int]) -> tuple[float, int]:
    """The best magnitude of the waveforms' correlation within 10 ms of the allowed lags, and its lag in samples.

    The magnitude: an inverted copy is a copy.
    """
    low, high = (min(lags) - 1) * HOP, (max(lags) + 1) * HOP
    one, two = first.waveform, second.waveform
    tried = np.unique(np.asarray(lags)[:, None] * HOP + np.arange(-HOP, HOP + 1))
    starts, stops = np.maximum(0, -tried), np.minimum(len(one), len(two) - tried)
    energy = [np.concatenate(([0.0], np.cumsum(each.astype(np.float64) ** 2))) for each in (one, two)]
    power = (energy[0][stops] - energy[0][starts]) * (energy[1][stops + tried] - energy[1][starts + tried])
    scale = np.sqrt(power)
    start, stop = max(0, -high), min(len(one), len(two) - low)
    cut = max(0, start + low)
    products = _products(one[start:stop], two[cut : stop + high], high - low)
    scores = np.divide(products[tried + start - cut], scale, out=np.zeros(len(tried)), where=scale > 0)
    place = int(scores.argmax())
    return min(1.0, float(scores[place])), int(tried[place])


def _bandwise(one: npt.NDArray[np.uint8], two: npt.NDArray[np.uint8]) -> float:
    """Pearson's correlation with a mean for each band; the sums are of integers in doubles: exact in any order."""
    x, y = one.astype(np.float64), two.astype(np.float64)
    x_sums, y_sums = x.sum(axis=0), y.sum(axis=0)
    product, x_power, y_power = (
        np.vdot(left, right) - left_sums @ right_sums / len(x)
        for left, right, left_sums, right_sums in (
            (x, y, x_sums, y_sums),
            (x, x, x_sums, x_sums),
            (y, y, y_sums, y_sums),
        )
    )
    scale = x_power * y_power
    return float(product / np.sqrt(scale)) if scale > 0 else 0.0


def _products(one: npt.NDArray[np.int8], two: npt.NDArray[np.int8], last: int) -> npt.NDArray[Any]:
    """Magnitudes of the sums of products of `one` with `two` as much later as the index says, from 0 to `last`."""
    size = smooth_size(max(len(one) + last + 1, len(two)))
    spectra = [np.fft.rfft(each.astype(np.float32), size) for each in (one, two)]
    # A cut need not fall on one of our samples, and at 3 kHz half a sample is 67 degrees: look at half samples too.
    products = np.fft.irfft(spectra[1] * np.conj(spectra[0]), 2 * size).reshape(size, 2)
    return np.asarray(2 * np.abs(products).max(axis=1))
