"""What groups would look like if chance alone had dealt the units over them.

Whole units (speakers) are dealt anew over groups of the same sizes, as in a permutation test (Good, 2005,
"Permutation, Parametric, and Bootstrap Tests of Hypotheses"). Whatever sets the groups apart is broken up so, and what
differs between them then is chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp, lgamma

import numpy as np
import numpy.typing as npt

from pytest_speval.scoring.bootstrap import CHUNK_BYTES, Floats, Numbers, whole_numbers

Codes = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def dealt_sums(
    patterns: Codes,
    members: Flags,
    statistics: Numbers,
    simulations: int,
    seed: int,
    chunk_bytes: int = CHUNK_BYTES,
) -> Floats:
    """Sum the statistics [U, C] of units over the groups that each simulation deals them to: float64 [S, G, C].

    `patterns` [U] says how each unit belongs to groups, `members` [P, G] which groups a pattern is in. A simulation
    deals the patterns anew over the units, so that groups keep their numbers of units and what units they share. It is
    a function of the arguments alone: units are ordered by raw outputs of PCG64, and no addition rounds. Raises
    ValueError as `replicate_parts` does.
    """
    kinds: Numbers
    kinds, kind_of = np.unique(statistics, axis=0, return_inverse=True)  # type: ignore[assignment]
    kind_of = kind_of.reshape(-1)
    values, shifts = whole_numbers(kinds, len(patterns))
    within = members.T.astype(np.float64)
    block = max(1, chunk_bytes // (8 * max(len(patterns), len(members) * len(kinds))))
    sums = np.empty((simulations, members.shape[1], values.shape[1]))
    start = 0
    for dealt in _dealt(patterns, simulations, seed, block):
        tables = dealt + len(members) * np.arange(len(dealt))[:, np.newaxis]
        cells = (tables * len(kinds) + kind_of).ravel()
        counts = np.bincount(cells, minlength=len(dealt) * len(members) * len(kinds))
        found = within @ counts.reshape(len(dealt), len(members), len(kinds)).astype(np.float64) @ values
        sums[start : start + len(dealt)] = found
        start += len(dealt)
    return np.ldexp(sums, -shifts)


def _dealt(patterns: Codes, simulations: int, seed: int, block: int) -> Iterator[Codes]:
    """The pattern of every unit [b, U] in blocks of simulations; blocks of any size see the same.

    Units are sorted by random numbers whose lowest bits are the unit's own number: so no two are equal, and a plain
    sort tells the order.
    """
    source, units = np.random.PCG64(seed), len(patterns)
    bits = np.uint64(units.bit_length())
    numbers = np.arange(units, dtype=np.uint64)
    for start in range(0, simulations, block):
        rows = min(block, simulations - start)
        keys = source.random_raw(rows * units).reshape(rows, units)
        keys = np.sort((keys >> bits << bits) | numbers, axis=1)
        yield patterns[(keys & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)]


def arrangements(sizes: Sequence[int], *, alike: bool) -> float:
    """In how many ways units can be dealt over patterns of these sizes, as far as a double goes.

    `alike`: patterns of one size may be swapped without any gap between them changing, and count once.
    """
    ways = lgamma(sum(sizes) + 1) - sum(lgamma(size + 1) for size in sizes)
    if alike:
        ways -= sum(lgamma(sizes.count(size) + 1) for size in set(sizes))
    return exp(min(ways, 700.0))
