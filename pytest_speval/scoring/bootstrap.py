"""Percentile intervals from a cluster bootstrap.

Whole units (speakers, sessions) are drawn with replacement, as many as there are, and all clips of a drawn unit
count as often as it was drawn (Davison and Hinkley, 1997). A replicate's estimate is a function of summed
per-unit statistics, so all replicates are one product, weights @ statistics, and no loop runs over clips.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_speval.scoring.units import Units, held

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.integer[Any]] | Floats
Rows = npt.NDArray[np.int64] | slice

CHUNK_BYTES = 8 * 1024 * 1024
"""Size of one block of weights: rows enough for a product of matrices, and a bound of memory for any replicates."""

FEWEST_CLUSTERS = 3
ENOUGH_CLUSTERS = 30
"""Fewer effective clusters, and an interval covers the true value less often than its level says."""
LOST_SHARE = 0.05
"""A label that more replicates than this have lost makes the interval of a mean over labels hard to read."""
EXACT_BITS = 53
ROUNDING = 1e-12
"""Replicates that differ by no more than this share of their size are alike."""


def draw_weights(units: int, replicates: int, seed: int, chunk_bytes: int = CHUNK_BYTES) -> Iterator[Floats]:
    """Yield how often each unit was drawn, in blocks float64 [b, U] of consecutive replicates; rows sum to U.

    The draws are a function of `units`, `replicates` and `seed` alone. Each 64-bit output of PCG64 gives two draws,
    the low half first: the unit is (half * U) >> 32. A unit's chance so differs from 1/U by less than 2^-32.
    A replicate takes ceil(U / 2) outputs, so blocks of any size see the same draws. Raw outputs are used because
    they, unlike `Generator.integers`, stay the same in every numpy version.

    Raises ValueError where there is no unit, or more than 2^31.
    """
    if not 1 <= units <= 2**31:
        raise ValueError(f"cannot draw from {units} units: between 1 and 2^31 are needed")
    source = np.random.PCG64(seed)
    outputs = (units + 1) // 2
    block = max(1, chunk_bytes // (8 * units))
    for start in range(0, replicates, block):
        rows = min(block, replicates - start)
        raw = source.random_raw(rows * outputs).astype("<u8", copy=False)
        halves = raw.view("<u4").reshape(rows, 2 * outputs)[:, :units]
        drawn = np.multiply(halves, units, dtype=np.int64)
        drawn >>= 32
        drawn += np.arange(0, rows * units, units)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * units).reshape(rows, units).astype(np.float64)


def replicate_sums(statistics: Numbers, replicates: int, seed: int, chunk_bytes: int = CHUNK_BYTES) -> Floats:
    """Sum per-unit statistics [U, C] over the units drawn in each replicate: float64 [R, C]; see `replicate_parts`."""
    (sums,) = replicate_parts([(slice(None), statistics)], len(statistics), replicates, seed, chunk_bytes)
    return sums


def replicate_parts(
    parts: Sequence[tuple[Rows, Numbers]], units: int, replicates: int, seed: int, chunk_bytes: int = CHUNK_BYTES
) -> list[Floats]:
    """Sum the statistics [U_i, C_i] of each part over the units drawn in each replicate: float64 [R, C_i].

    A part names those of the `units` that it has statistics of, as an int64 array [U_i] or a slice. All parts share
    every draw from all units.

    The result has the same bits for any block size, thread count and linear algebra library: each column is scaled by
    a power of two to integers whose greatest possible sum stays below 2^53, so no addition rounds. Integers (also
    as floats) are exact. Other values are rounded to a multiple of at most U * 2^-51 of the column's greatest
    value: with 1,000 units, to 12 digits.

    Raises ValueError for values that are not finite and for integers too great to be exact.
    """
    scaled = [(rows, *whole_numbers(statistics, units)) for rows, statistics in parts]
    sums = [np.empty((replicates, values.shape[1])) for _, values, _ in scaled]
    start = 0
    for weights in draw_weights(units, replicates, seed, chunk_bytes):
        for (rows, values, _), out in zip(scaled, sums, strict=True):
            own = weights[:, rows] if isinstance(rows, slice) else weights.take(rows, axis=1)
            np.matmul(own, values, out=out[start : start + len(weights)])
        start += len(weights)
    return [np.ldexp(out, -shifts, out=out) for (_, _, shifts), out in zip(scaled, sums, strict=True)]


def whole_numbers(statistics: Numbers, units: int) -> tuple[Floats, npt.NDArray[np.int32]]:
    """Statistics [K, C] as integers, and by how many powers of two each column was multiplied for that.

    No sum of so many `units` rounds. Raises as `replicate_parts` does.
    """
    values = np.asarray(statistics, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError("a statistic is not a finite number")
    _, exponents = np.frexp(units * np.abs(values).max(axis=0, initial=0.0))
    shifts = EXACT_BITS - 1 - exponents
    if np.issubdtype(statistics.dtype, np.integer) and (shifts < 0).any():
        raise ValueError(f"statistics reach {np.abs(values).max():.0f}: their sums would not be exact")
    return np.rint(np.ldexp(values, shifts)), shifts


def interval(values: Floats, level: float) -> tuple[float, float] | None:
    """Central percentiles (linear) of the finite values [R], or None where no value is finite."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return None
    low, high = np.quantile(finite, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def effective_clusters(sizes: Numbers) -> float:
    """1 / sum of squared shares: the number of equal clusters that would be as unequal as these; 0 without clips."""
    total = float(np.sum(sizes))
    return total * total / float(np.sum(np.square(sizes, dtype=np.float64))) if total else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Clips per unit, int64 [U], and the number of clips without a unit."""

    sizes: npt.NDArray[np.int64]
    excluded: int

    @classmethod
    def of(cls, units: Units, unit_count: int) -> Clusters:
        """Count unit codes in 0..U-1; a negative code is a clip without a unit."""
        owners = units[held(units, unit_count)].astype(np.int64)
        return cls(np.bincount(owners, minlength=unit_count), len(units) - len(owners))

    @property
    def occupied(self) -> npt.NDArray[np.int64]:
        """Units that have clips, ascending. Only these may be drawn: `replicate_sums(statistics[occupied], ..)`."""
        return np.flatnonzero(self.sizes)

    @property
    def clusters(self) -> int:
        """The number of units that have clips."""
        return int(np.count_nonzero(self.sizes))

    @property
    def effective(self) -> float:
        """The effective number of clusters."""
        return effective_clusters(self.sizes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A confidence interval and how it was made.

    `excluded` counts clips without a unit. `degenerate`: all replicates are alike. `unreliable`: too few effective
    clusters. `replicates_without_class`: label -> share of replicates that lost it.
    """

    low: float | None
    high: float | None
    level: float
    unit: str
    method: str = "percentile"
    replicates: int
    seed: int
    clusters: int
    effective_clusters: float
    excluded: int
    degenerate: bool
    unreliable: bool
    replicates_without_class: dict[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Field name -> value, in the order of the fields."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {**fields, "replicates_without_class": dict(self.replicates_without_class)}


def estimate_interval(
    values: Floats,
    clusters: Clusters,
    level: float,
    unit: str,
    replicates: int,
    seed: int,
    few_clusters: float,
    replicates_without_class: Mapping[str, float],
) -> tuple[Interval | None, str | None]:
    """Turn the replicates' estimates [R] into an interval, or into the reason why there is none.

    With fewer than 3 clusters `values` is not looked at and may be empty.
    """
    if clusters.clusters < FEWEST_CLUSTERS:
        plural = "" if clusters.clusters == 1 else "s"
        return None, f"{clusters.clusters} cluster{plural}: an interval needs {FEWEST_CLUSTERS}"
    bounds = interval(values, level)
    if bounds is None:
        return None, f"none of {replicates} replicates has a value"
    finite = values[np.isfinite(values)]
    low, high = bounds
    made = Interval(
        low=low,
        high=high,
        level=level,
        unit=unit,
        replicates=replicates,
        seed=seed,
        clusters=clusters.clusters,
        effective_clusters=clusters.effective,
        excluded=clusters.excluded,
        degenerate=bool(np.ptp(finite) <= ROUNDING * np.abs(finite).max()),
        unreliable=clusters.effective < few_clusters,
        replicates_without_class=dict(replicates_without_class),
    )
    return made, None
