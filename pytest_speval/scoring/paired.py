"""Two models on the same clips: the difference of an estimate, how sure it is, and what could be seen at all.

Both models' sums are taken over the same drawn units, so that what is hard for both does not count as a difference
(Bisani and Ney, 2004, "Bootstrap estimates for confidence intervals in ASR performance evaluation").
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

DECIMALS = 12
POWER = 0.8
"""How often a true difference of the smallest detectable size would be found."""
DIGITS = 6
"""Significant digits of figures that need a logarithm or an error function, which machines round differently."""


def differences(candidate: npt.ArrayLike, baseline: npt.ArrayLike) -> Floats:
    """Candidate minus baseline [...], NaN where either has no value, rounded to twelve decimals.

    What lies behind them is the rounding of the two values: 0.49 - 0.5 is -0.01 so, and not a hair below.
    """
    return np.asarray(np.round(np.subtract(candidate, baseline), DECIMALS) + 0.0, dtype=np.float64)


def share_beyond(replicates: Floats, limit: float, *, below: bool) -> float:
    """How often the difference [R] misses a limit, as a one-sided p-value: (1 + misses) / (1 + R).

    Davison and Hinkley (1997), "Bootstrap Methods and their Application", 4.4: a p-value is never 0. `below` says on
    which side of the limit a difference misses it. Replicates without a value miss it too.
    """
    held = replicates >= limit if below else replicates <= limit
    return (1 + int(np.count_nonzero(~held))) / (1 + len(replicates))


def holm(values: Sequence[float]) -> list[float]:
    """Adjusted p-values of several claims, so that the chance of any false one stays what it was for a single claim.

    Holm (1979), "A simple sequentially rejective multiple test procedure": the k-th smallest of m is multiplied by
    m - k + 1, never falls below one before it, and ends at 1.
    """
    adjusted = [1.0] * len(values)
    reached = 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        reached = max(reached, min(1.0, (len(values) - rank) * values[place]))
        adjusted[place] = reached
    return adjusted


def smallest_detectable(replicates: Floats, level: float, power: float = POWER) -> float | None:
    """The smallest true difference that clips like these would show with the given power, as significant at `level`.

    (z of (1 + level) / 2 + z of power) times the standard error: Bloom (1995), "Minimum detectable effects",
    Evaluation Review 19(5). The standard error is the standard deviation of the replicated differences [R]. Given to
    six digits; None with fewer than 2 replicates.
    """
    values = replicates[np.isfinite(replicates)].tolist()
    if len(values) < 2:
        return None
    mean = fsum(values) / len(values)
    error = sqrt(fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
    normal = NormalDist()
    return rounded((normal.inv_cdf((1 + level) / 2) + normal.inv_cdf(power)) * error)


def rounded(value: float) -> float:
    """A figure to six significant digits."""
    return float(f"{value:.{DIGITS}g}")
