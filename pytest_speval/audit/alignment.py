"""How alike two fingerprints are where they overlap best.

Two measures, both Pearson correlations over the overlap: of the log-mel bands, each less its own mean, which survive
filters and small changes of speed, and of the waveforms, whose phase another take of a line does not share. Frames
that are silent in both sounds do not count for the bands: words in silence are all alike. A lag is what has to be
added to a place in the first sound to find the same place in the second.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_speval.corpus.fingerprint import HOP, LEAST_AUDIBLE, Fingerprint, audible, smooth_size

_RANGE = 191  # 45 dB in steps of a level: the bands' correlation looks no farther under the peak of the overlap
OVERLAP = 98  # frames: 1 s, less the edges that codecs and resampling move


_Levels = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Fit:
    """A correlation, the lag where it was found and the length of the overlap, both in samples at 8 kHz.

    `audible` counts the frames of 10 ms in the overlap that are audible, in the sound that has fewer.
    """

    score: float
    lag: int
    overlap: int
    audible: int


def allowed_lags(first: Fingerprint, second: Fingerprint, lags: Iterable[int] | None = None) -> list[int]:
    """Those of `lags`, in frames of 10 ms, at which the sounds can be compared; of every lag if none are given.

    They must overlap by 1 s, and 0.3 s of that must be audible in each.
    """
    if lags is None:
        lags = range(OVERLAP - len(first.logmel), len(second.logmel) - OVERLAP + 1)
    return [lag for lag in lags if _audible(first, second, lag) >= LEAST_AUDIBLE]


def best_logmel(first: Fingerprint, second: Fingerprint, lags: list[int]) -> Fit:
    """The best correlation of the log-mel bands over the allowed lags."""
    scores = []
    for lag in lags:
        one, two = _shared(first, second, lag)
        either = audible(one) | audible(two)
        scores.append(_bandwise(one[either], two[either]))
    place = int(np.argmax(scores))
    return _fit(scores[place], first, second, lags[place] * HOP)


def best_waveform(first: Fingerprint, second: Fingerprint, lags: list[int]) -> Fit:
    """The best magnitude of the waveforms' correlation within 10 ms of the allowed lags: an inverted copy is a copy."""
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
    return _fit(min(1.0, float(scores[place])), first, second, int(tried[place]))


def _overlap(first: int, second: int, lag: int) -> tuple[int, int]:
    """Start and stop, in the first of two sequences of these lengths, of what both have at the lag."""
    return max(0, -lag), min(first, second - lag)


def _shared(first: Fingerprint, second: Fingerprint, lag: int) -> tuple[_Levels, _Levels]:
    """The levels of both sounds in their overlap, without what is far under its peak."""
    start, stop = _overlap(len(first.logmel), len(second.logmel), lag)
    one, two = first.logmel[start:stop], second.logmel[start + lag : stop + lag]
    return np.maximum(one, max(0, int(one.max()) - _RANGE)), np.maximum(two, max(0, int(two.max()) - _RANGE))


def _audible(first: Fingerprint, second: Fingerprint, lag: int) -> int:
    """Audible frames in the overlap, of the sound that has fewer; 0 where it is too short."""
    start, stop = _overlap(len(first.logmel), len(second.logmel), lag)
    if stop - start < OVERLAP:
        return 0
    return min(int(audible(each).sum()) for each in _shared(first, second, lag))


def _fit(score: float, first: Fingerprint, second: Fingerprint, lag: int) -> Fit:
    start, stop = _overlap(len(first.waveform), len(second.waveform), lag)
    return Fit(score, lag, stop - start, _audible(first, second, round(lag / HOP)))


def _bandwise(one: _Levels, two: _Levels) -> float:
    """Pearson's correlation with a mean for each band; the sums are of integers in doubles: exact in any order."""
    x, y = one.astype(np.float64), two.astype(np.float64)
    x_sums, y_sums = x.sum(axis=0), y.sum(axis=0)
    product, x_power, y_power = (
        np.einsum("ij,ij", left, right) - left_sums @ right_sums / len(x)  # not worth a thread each, as in `vdot`
        for left, right, left_sums, right_sums in (
            (x, y, x_sums, y_sums),
            (x, x, x_sums, x_sums),
            (y, y, y_sums, y_sums),
        )
    )
    scale = x_power * y_power
    return float(product / np.sqrt(scale)) if scale > 0 else 0.0


def _products(one: npt.NDArray[np.int8], two: npt.NDArray[np.int8], last: int) -> npt.NDArray[np.float32]:
    """Magnitudes of the sums of products of `one` with `two` as much later as the index says, from 0 to `last`."""
    size = smooth_size(max(len(one) + last + 1, len(two)))
    spectra = [np.fft.rfft(each.astype(np.float32), size) for each in (one, two)]
    # A cut need not fall on one of our samples, and at 3 kHz half a sample is 67 degrees: look at half samples too.
    products = np.fft.irfft(spectra[1] * np.conj(spectra[0]), 2 * size).reshape(size, 2)
    return np.asarray(2 * np.abs(products).max(axis=1))
