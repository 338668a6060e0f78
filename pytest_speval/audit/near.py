"""Near duplicates: sounds that are copies of others, after whatever was done to them.

A coarse index proposes pairs, exact alignment judges them. A pair is a duplicate if its waveforms correlate by 0.75
or its log-mel bands by 0.955 over at least 1 s; log-mel from 0.80 on is worth a look (another take of the same words,
reverberation, another speed). Where less than 1 s of the overlap is audible, a word in silence, two takes are too much
alike for that: only waveforms that correlate by 0.90 make a duplicate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_speval.audit.alignment import OVERLAP, Fit, allowed_lags, best_logmel, best_waveform
from pytest_speval.audit.coarse_index import Candidate, candidates
from pytest_speval.corpus.fingerprint import RATE, Fingerprint, assessable

Kind = Literal["duplicate", "look"]
WAVEFORM = 0.75
WAVEFORM_OF_LITTLE = 0.90
LOGMEL = 0.955
LOOK = 0.80
_PLAUSIBLE = 0.5  # log-mel; every copy in the benchmark has more, and the waveforms of the others need not be compared
_AROUND = 3  # frames beside a candidate's lag


@dataclass(frozen=True, slots=True)
class Match:
    """Two sounds, by position, that are copies of each other (`duplicate`) or may be (`look`).

    `waveform` and `logmel` are correlations over an overlap of `overlap_seconds`. What the evaluated sound has at t,
    the other has at t + `lag_seconds`.
    """

    evaluated: int
    other: int
    kind: Kind
    waveform: float
    logmel: float
    overlap_seconds: float
    lag_seconds: float


def near_duplicates(evaluated: Sequence[Fingerprint | None], others: Sequence[Fingerprint | None]) -> list[Match]:
    """Matches between the evaluated sounds and others, ordered by position.

    None stands for a sound that is not there; it matches nothing, nor does one that is not assessable.
    """
    first, second = _assessable(evaluated), _assessable(others)
    found = (match(first, second, candidate) for candidate in candidates(first, second))
    return [each for each in found if each is not None]


def within(evaluated: Sequence[Fingerprint | None]) -> list[Match]:
    """Matches among the evaluated sounds themselves, each pair once, the earlier sound first."""
    sounds = _assessable(evaluated)
    best: dict[tuple[int, int], Match] = {}
    for candidate in candidates(sounds, sounds):
        if candidate.first != candidate.second:
            low, high = sorted((candidate.first, candidate.second))
            sign = 1 if low == candidate.first else -1
            turned = Candidate(low, high, tuple(sign * lag for lag in candidate.lags))
            found = match(sounds, sounds, turned)
            if found is not None and ((low, high) not in best or _grade(found) > _grade(best[low, high])):
                best[low, high] = found
    return [best[pair] for pair in sorted(best)]


def match(
    evaluated: Sequence[Fingerprint | None], others: Sequence[Fingerprint | None], candidate: Candidate
) -> Match | None:
    """The match at the first of a candidate's lags that makes a duplicate, else the best look, or None."""
    first, second = evaluated[candidate.first], others[candidate.second]
    assert first is not None
    assert second is not None
    best: Match | None = None
    for lag in candidate.lags:
        found = _judged(first, second, candidate, lag)
        if found is not None and (best is None or _grade(found) > _grade(best)):
            best = found
        if best is not None and best.kind == "duplicate":
            break  # the codes agree best at the first lags
    return best


def verdict(waveform: Fit, logmel: Fit) -> Kind | None:
    """What two sounds with these best fits are to each other; None: nothing."""
    if waveform.score >= (WAVEFORM if waveform.audible >= OVERLAP else WAVEFORM_OF_LITTLE):
        return "duplicate"
    if logmel.score < LOOK or logmel.audible < OVERLAP:
        return None
    return "duplicate" if logmel.score >= LOGMEL else "look"


def _judged(first: Fingerprint, second: Fingerprint, candidate: Candidate, lag: int) -> Match | None:
    lags = allowed_lags(first, second, range(lag - _AROUND, lag + _AROUND + 1))
    if not lags:
        return None
    logmel = best_logmel(first, second, lags)
    if logmel.score < _PLAUSIBLE:
        return None
    waveform = best_waveform(first, second, lags)
    kind = verdict(waveform, logmel)
    if kind is None:
        return None
    fit = waveform if waveform.score >= WAVEFORM else logmel
    return Match(
        candidate.first,
        candidate.second,
        kind,
        waveform.score,
        logmel.score,
        fit.overlap / RATE,
        fit.lag / RATE,
    )


def _grade(found: Match) -> tuple[bool, float]:
    return found.kind == "duplicate", max(found.waveform, found.logmel)


def _assessable(sounds: Sequence[Fingerprint | None]) -> list[Fingerprint | None]:
    return [sound if sound is not None and assessable(sound) else None for sound in sounds]
