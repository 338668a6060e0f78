"""Levels of stored samples: peak, clipping, offset, and channels that cancel.

Arrays are [frames, channels], int16 or float32 with full scale 1; levels are fractions of full scale.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Stored = npt.NDArray[np.int16] | npt.NDArray[np.float32]

SILENT_PEAK = 1 / 32768  # one step of 16 bits: digital silence, dithered or not
CLIPPED_RUN = 3  # equal full-scale samples in a row
DC_LIMIT = 0.01
_HIGHEST = {"PCM_S8": 127 / 128, "PCM_U8": 127 / 128, "ULAW": 32124 / 32768, "ALAW": 32256 / 32768}


def peak(stored: Stored) -> float:
    """The largest magnitude."""
    return max(float(stored.max()), -float(stored.min())) / _unit(stored)


def clipping(stored: Stored, subtype: str) -> tuple[int, int]:
    """Runs of at least three equal samples at full scale in one channel, and the samples in them.

    Full scale is the highest positive value of the subtype (32767/32768 unless it has fewer steps), or above.
    """
    limit = _HIGHEST.get(subtype, 32767 / 32768) * _unit(stored)
    if max(float(stored.max()), -float(stored.min())) < limit:
        return 0, 0
    lengths = np.concatenate([_runs(column, limit) for column in stored.T])
    return len(lengths), int(lengths.sum())


def dc_offset(stored: Stored) -> float:
    """The mean of the channel whose mean is farthest from 0."""
    kind = np.int64 if stored.dtype == np.int16 else np.float64
    means = stored.sum(axis=0, dtype=kind) / (len(stored) * _unit(stored))
    return float(means[np.abs(means).argmax()])


def lowest_correlation(stored: Stored) -> float:
    """The lowest Pearson correlation between two channels; a constant channel correlates with none (0)."""
    centred = stored - stored.mean(axis=0, dtype=np.float64)
    products = centred.T @ centred
    norms = np.sqrt(np.diag(products))
    scale = np.outer(norms, norms)
    return float(np.divide(products, scale, out=np.zeros_like(products), where=scale > 0).min())


def repeated_channels(stored: Stored) -> int:
    """How many channels hold exactly the samples of an earlier one."""
    channels = list(stored.T)
    return sum(
        any(np.array_equal(channel, earlier) for earlier in channels[:place]) for place, channel in enumerate(channels)
    )


def _unit(stored: Stored) -> int:
    return 32768 if stored.dtype == np.int16 else 1


def _runs(column: npt.NDArray[Any], limit: float) -> npt.NDArray[np.intp]:
    loud = (column >= limit) | (column <= -limit)
    repeats = np.zeros(len(column) + 1, np.int8)
    repeats[1:-1] = loud[1:] & (column[1:] == column[:-1])
    edges = np.flatnonzero(np.diff(repeats, append=0))
    lengths = edges[1::2] - edges[::2] + 1
    return lengths[lengths >= CLIPPED_RUN]
