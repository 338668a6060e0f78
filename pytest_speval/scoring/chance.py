"""What answers would be worth if they were dealt to the clips at random: the reference that any listening must beat."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def dealt_confusion(matrix: npt.NDArray[np.integer[Any]]) -> Floats:
    """The expected confusion [K, K + 3] when the answers are shuffled over the clips, all orders being equally likely.

    Every clip's answer, or the lack of one, stays an answer; only whose it is changes. So both margins stand, and a
    cell is row sum times column sum over all clips, the mean of the hypergeometric distribution. Accuracy, recall,
    precision and F1, and all means of these, are linear in the cells while the margins stand: of this matrix they are
    exactly their expected values. Without clips it is all zeros.
    """
    counts = np.asarray(matrix, dtype=np.float64)
    total = counts.sum()
    dealt: Floats = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / (total or 1.0)
    return dealt


def shuffled(count: int, seed: int) -> npt.NDArray[np.int64]:
    """An order of 0..count-1, int64 [n]: the ranks of 64-bit outputs of PCG64, the same in every numpy version."""
    drawn = np.random.PCG64(seed).random_raw(count)
    order: npt.NDArray[np.int64] = np.argsort(drawn, kind="stable").astype(np.int64)
    return order
