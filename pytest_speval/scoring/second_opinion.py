"""Second opinions on two models that answered the same clips: classical tests, which take clips as independent.

They are worked out here, and held against scipy and statsmodels by tests: what a verifier recomputes elsewhere may
not depend on which version of a library is there. p-values are two-sided and given to six digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import erfc, fsum, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_speval.scoring.paired import rounded

EXACT_UP_TO = 10_000
"""Clips that only one model got right, up to which the exact test is worked out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """What a test says: `n` clips (or pairs that differ) went in; without a `p` there is a `reason`."""

    test: str
    n: int
    statistic: float | None = None
    p: float | None = None
    reason: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Field name -> value."""
        return {name: getattr(self, name) for name in self.__slots__}


def mcnemar(wins: int, losses: int) -> Opinion:
    """McNemar's test (1947) of right and wrong answers; `wins` and `losses` count clips that one model alone got right.

    Exact: under no difference each such clip is a fair coin, so p is the binomial probability of a split at least as
    uneven, twice the smaller tail and at most 1. Beyond 10,000 such clips: the normal approximation with a correction
    for continuity (Edwards, 1948). The statistic is the number of wins.
    """
    n = wins + losses
    if n == 0:
        return Opinion(test="mcnemar", n=0, reason="both models are right and wrong on the same clips")
    if n <= EXACT_UP_TO:
        term = tail = 1
        for place in range(min(wins, losses)):
            term = term * (n - place) // (place + 1)
            tail += term
        p = float(min(Fraction(1), Fraction(2 * tail, 2**n)))
    else:
        p = erfc(max(0.0, abs(wins - losses) - 1) / sqrt(n) / sqrt(2))
    return Opinion(test="mcnemar", n=n, statistic=float(wins), p=rounded(p))


def matched_pairs(differences: npt.NDArray[np.float64]) -> Opinion:
    """The matched-pairs test of Gillick and Cox (1989) on the difference of errors of each clip [n].

    Z = mean / (standard deviation / sqrt(n)), held against the normal distribution. A clip is a segment here, where
    sctk cuts clips at stretches that both models got right. At least 2 clips and some spread are needed.
    """
    values = differences.tolist()
    n = len(values)
    mean = fsum(values) / n if n else 0.0
    spread = sqrt(fsum((value - mean) ** 2 for value in values) / (n - 1)) if n > 1 else 0.0
    if not spread:
        return Opinion(test="matched_pairs", n=n, reason="the errors of all clips differ alike")
    z = mean * sqrt(n) / spread
    return Opinion(test="matched_pairs", n=n, statistic=rounded(z), p=rounded(erfc(abs(z) / sqrt(2))))
