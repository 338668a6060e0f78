"""The coarse index: which pairs of sounds may share a second, and at what lag.

Every 0.72 s of sound get a code of 256 bits. A bit says whether a fixed half of the cells of the patch (18 steps of
40 ms by 16 bands) is louder than the other half; halves are balanced over steps and over bands, so that gain and
filters change little. One side is coded every 20 ms, the other every 120 ms: any second that both share holds a code
of both. Two codes with 16 equal bits in a row and at most 48 different ones give a lag; it is kept if the codes agree
over all that overlaps at that lag.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_speval.corpus.fingerprint import AUDIBLE_RANGE, BANDS, FAINTEST, Fingerprint

RADIUS = 48  # of 256 bits: codes so near give a lag
AGREEMENT = 64  # of 256 bits: codes of one lag may differ by so much on average
DENSE, SPARSE = 2, 12  # frames of 10 ms between two codes
LAGS = 3  # of one pair, at most
_STEPS, _POOLED = 18, 16
_JOINED = BANDS // _POOLED
_LEAST_AUDIBLE = 6  # of the 18 steps: all silences have one code
_WORDS, _BUCKETS = 16, 1 << 16
_BLOCK = 1 << 20  # pairs of codes compared at once

_Int = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair, by position, and the lags in frames of 10 ms where its codes agree, the best first."""

    first: int
    second: int
    lags: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Codes:
    """Codes of many sounds on one grid: a sound's rows follow each other, `hop` frames apart."""

    bits: npt.NDArray[np.uint64]  # [rows, 4]
    audible: npt.NDArray[np.bool_]
    owner: _Int  # [rows], the sound's position
    first: _Int  # [sounds], its first row
    count: _Int  # [sounds], its rows
    hop: int

    @property
    def frame(self) -> _Int:
        """The frame of its sound where each row starts."""
        return (np.arange(len(self.owner)) - self.first[self.owner]) * self.hop


def candidates(dense: Sequence[Fingerprint | None], sparse: Sequence[Fingerprint | None]) -> list[Candidate]:
    """Pairs of a sound of `dense` and one of `sparse` whose codes agree at some lag, ordered by position."""
    queries, index = _coded(dense, DENSE), _coded(sparse, SPARSE)
    first, second, lag = _proposed(queries, index)
    distance = _distances(queries, index, first, second, lag)
    order = np.lexsort((lag, distance, second, first))
    order = order[distance[order] <= AGREEMENT]
    found: dict[tuple[int, int], list[int]] = {}
    for one, two, each in zip(first[order].tolist(), second[order].tolist(), lag[order].tolist(), strict=True):
        lags = found.setdefault((one, two), [])
        if len(lags) < LAGS and all(abs(each - other) > DENSE for other in lags):
            lags.append(each)
    return [Candidate(*pair, tuple(lags)) for pair, lags in found.items()]


def codes(logmel: npt.NDArray[np.uint8], hop: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    """Codes [n, 4] of the patches that start every `hop` frames (an even number), and whether they are audible."""
    pairs = len(logmel) // 2
    level = np.maximum(logmel[: 2 * pairs], FAINTEST) - FAINTEST
    cells = level.reshape(pairs, 2, _POOLED, _JOINED).sum(axis=(1, 3), dtype=np.float32)
    steps = cells[:-1] + cells[1:]  # 40 ms every 20 ms
    starts = np.arange(0, len(steps) - 2 * _STEPS + 2, hop // 2)
    patches = steps[starts[:, None] + 2 * np.arange(_STEPS)]
    # A quiet sound in a longer file is heard against its neighbourhood, not against the loudest of the file.
    floor = np.maximum(patches.max(axis=(1, 2), initial=0) - 4 * _JOINED * AUDIBLE_RANGE, 0)[:, None, None]
    audible = (patches > floor).any(axis=2).sum(axis=1) >= _LEAST_AUDIBLE
    # Sums of integers below 2**24: exact in single precision, in any order.
    louder = np.maximum(patches, floor).reshape(len(starts), _STEPS * _POOLED) @ _halves() > 0
    return np.packbits(louder, axis=1).view(np.uint64), audible


@functools.cache
def _halves() -> npt.NDArray[np.float32]:
    """The 256 ways to halve a patch, [cells, 256], +1 and -1: half of the steps against half of the bands."""
    draw = np.random.Generator(np.random.PCG64(20260817))
    steps = np.where(draw.random((256, _STEPS)).argsort(axis=1) < _STEPS // 2, 1, -1)
    bands = np.where(draw.random((256, _POOLED)).argsort(axis=1) < _POOLED // 2, 1, -1)
    return (steps[:, :, None] * bands[:, None, :]).reshape(256, -1).T.astype(np.float32)


def _coded(sounds: Sequence[Fingerprint | None], hop: int) -> _Codes:
    nothing = np.zeros((0, 4), np.uint64), np.zeros(0, np.bool_)
    parts = [nothing if sound is None else codes(sound.logmel, hop) for sound in sounds]
    count = np.array([len(bits) for bits, _ in parts], np.int64)
    bits, audible = (np.concatenate(arrays) for arrays in zip(nothing, *parts, strict=True))
    return _Codes(bits, audible, np.repeat(np.arange(len(parts)), count), np.cumsum(count) - count, count, hop)


def _proposed(queries: _Codes, index: _Codes) -> tuple[_Int, _Int, _Int]:
    """Pairs of sounds and lags of near codes, each once: first, second, lag."""
    reach = int(max(queries.frame.max(initial=0), index.frame.max(initial=0))) + 1
    shape = (len(queries.count), len(index.count), 2 * reach)
    found = [np.zeros(0, np.int64)]
    for query, entry in _near(queries, index):
        lag = index.frame[entry] - queries.frame[query]
        found.append(np.unique(np.ravel_multi_index((queries.owner[query], index.owner[entry], lag + reach), shape)))
    first, second, place = np.unravel_index(np.unique(np.concatenate(found)), shape)
    return first, second, place - reach


def _near(queries: _Codes, index: _Codes) -> Iterator[tuple[_Int, _Int]]:
    """Rows of audible codes with an equal 16-bit word and at most `RADIUS` differing bits.

    A pair comes once for each equal word. (Multi-index hashing: Norouzi, Punjani and Fleet, 2012.)
    """
    asked, held = np.flatnonzero(queries.audible), np.flatnonzero(index.audible)
    for word in range(_WORDS):
        wanted = queries.bits.view(np.uint16)[asked, word]
        words = index.bits.view(np.uint16)[held, word]
        bucket = held[np.argsort(words, kind="stable")]
        counts = np.bincount(words, minlength=_BUCKETS)
        for part, inside in _expanded(counts[wanted]):
            query = asked[part]
            entry = bucket[(np.cumsum(counts) - counts)[wanted[part]] + inside]
            near = _differing(queries.bits[query], index.bits[entry]) <= RADIUS
            yield query[near], entry[near]


def _distances(queries: _Codes, index: _Codes, first: _Int, second: _Int, lag: _Int) -> npt.NDArray[np.float64]:
    """Mean number of differing bits over all audible codes that both sounds have at the lag."""
    total, compared = np.zeros(len(first)), np.zeros(len(first))
    for part, inside in _expanded(index.count[second]):
        entry = index.first[second[part]] + inside
        place = (inside * index.hop - lag[part]) // queries.hop
        there = (place >= 0) & (place < queries.count[first[part]])
        part, entry = part[there], entry[there]
        query = queries.first[first[part]] + place[there]
        both = queries.audible[query] & index.audible[entry]
        part, differing = part[both], _differing(queries.bits[query[both]], index.bits[entry[both]])
        total += np.bincount(part, differing, len(total))
        compared += np.bincount(part, minlength=len(total))
    return np.where(compared > 0, total / np.maximum(compared, 1), np.inf)


def _expanded(counts: _Int) -> Iterator[tuple[_Int, _Int]]:
    """Each position as often as its count says, with a number from 0 on, in blocks of bounded size."""
    ends = np.cumsum(counts)
    start = 0
    while start < len(counts):
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _BLOCK, side="right")))
        part = np.repeat(np.arange(start, stop), counts[start:stop])
        yield part, np.arange(len(part)) - (ends - counts)[part] + before
        start = stop


def _differing(left: npt.NDArray[np.uint64], right: npt.NDArray[np.uint64]) -> _Int:
    return np.asarray(np.bitwise_count(left ^ right).sum(axis=1, dtype=np.int64))
