"""How far listeners agree with one another about the same clips."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_speval.corpus.votes import Tally

NO_PAIRS = "no clip has two votes"
ONE_OPTION = "all votes on clips with two or more are for one option"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement over all options, with what it was counted on.

    `listeners` is None where they are not told. `least` and `most` are votes per clip, `ties` the clips on which two or
    more options share the most votes, `paired` those with at least two votes: only these enter the two coefficients.
    `pairwise` lies in 0..1, `alpha` in -1..1; each is None where its reason says why.
    """

    clips: int
    votes: int
    listeners: int | None
    least: int
    most: int
    ties: int
    paired: int
    pairwise: float | None
    pairwise_reason: str | None
    alpha: float | None
    alpha_reason: str | None


def agreement(tallies: Sequence[Tally], options: Sequence[str]) -> Agreement:
    """Count the votes on clips and measure how far they agree; each vote counts one, whatever its weight."""
    totals = [tally.total for tally in tallies]
    told = {vote.listener for tally in tallies for vote in tally.votes if vote.listener is not None}
    pairs = [tally for tally in tallies if tally.total > 1]
    alpha, why = _alpha(pairs, options)
    return Agreement(
        clips=len(tallies),
        votes=sum(totals),
        listeners=len(told) or None,
        least=min(totals, default=0),
        most=max(totals, default=0),
        ties=sum(map(tied, tallies)),
        paired=len(pairs),
        pairwise=math.fsum(map(_pairwise, pairs)) / len(pairs) if pairs else None,
        pairwise_reason=None if pairs else NO_PAIRS,
        alpha=alpha,
        alpha_reason=why,
    )


def tied(tally: Tally) -> bool:
    """Say whether two or more options share the most votes."""
    votes = list(tally.counts.values())
    return bool(votes) and votes.count(max(votes)) > 1


def _pairwise(tally: Tally) -> float:
    """The share of pairs of listeners of one clip who chose the same option (Fleiss 1971, P_i)."""
    return sum(count * (count - 1) for count in tally.counts.values()) / (tally.total * (tally.total - 1))


def _alpha(pairs: Sequence[Tally], options: Sequence[str]) -> tuple[float | None, str | None]:
    """Krippendorff's alpha for names, by the package of that name, or None with the reason.

    It takes any number of votes per clip. Where all votes are for one option it is 0/0.
    """
    if not pairs:
        return None, NO_PAIRS
    if len({option for tally in pairs for option in tally.counts}) == 1:
        return None, ONE_OPTION
    try:
        import krippendorff
    except ImportError:
        return None, "needs pytest-speval[votes]"
    counts = [[tally.counts.get(option, 0) for option in options] for tally in pairs]
    return float(krippendorff.alpha(value_counts=counts, level_of_measurement="nominal")), None
