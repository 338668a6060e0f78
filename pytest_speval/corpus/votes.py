"""Votes of listeners on one clip, and the reference they amount to.

A vote counts one, whoever gave it: how many listeners there are and how many agree are counts of people. A weight says
how far a listener's answers are trusted, or how probable they are, and enters the soft counts alone: "two listeners
agree" cannot hold or fail because of a weight.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pytest_speval.errors import EvidenceFault

MAX_WEIGHT = 1_000_000.0
"""Above this a weight is a slip, and sums of weights could leave the range of numbers."""

CODES = {"votes-damaged": "The votes of a clip, as a plan holds them, are not what was written."}


@dataclass(frozen=True, slots=True)
class VoteRules:
    """What a vote can be, which of that can be a reference, and how many listeners it takes.

    `targets` are among `options`. `listeners` is the least number of votes, `agree` that of votes for one target.
    """

    options: tuple[str, ...]
    targets: tuple[str, ...]
    listeners: int = 3
    agree: int = 2


@dataclass(frozen=True, slots=True)
class Vote:
    """One vote: the option, who gave it (None: not told), and its weight (None: there are none).

    A weight lies above 0 and is at most `MAX_WEIGHT`.
    """

    option: str
    listener: str | None = None
    weight: float | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """All votes on one clip. `counts` maps an option to its votes, of which there is at least one.

    `votes` holds each vote where listeners or weights are told; it is empty where the counts say all there is.
    """

    counts: Mapping[str, int]
    votes: tuple[Vote, ...] = ()

    @classmethod
    def of_votes(cls, votes: Iterable[Vote]) -> Tally:
        """Tally single votes; their order does not matter."""
        kept = sorted(votes, key=lambda vote: (vote.listener or "", vote.option, vote.weight or 0.0))
        told = any(vote.listener is not None or vote.weight is not None for vote in kept)
        counts = Counter(vote.option for vote in kept)
        return cls(dict(sorted(counts.items())), tuple(kept) if told else ())

    @classmethod
    def of_counts(cls, counts: Mapping[str, int]) -> Tally:
        """Tally counts per option, each at least 0; an option without votes is left out."""
        return cls({option: count for option, count in sorted(counts.items()) if count})

    @property
    def total(self) -> int:
        """How many votes there are, whatever their weight."""
        return sum(self.counts.values())

    @property
    def soft(self) -> dict[str, float]:
        """Option -> sum of the weights of its votes; a vote without a weight counts 1."""
        if not self.votes:
            return {option: float(count) for option, count in self.counts.items()}
        weights: dict[str, list[float]] = {option: [] for option in self.counts}
        for vote in self.votes:
            weights[vote.option].append(1.0 if vote.weight is None else vote.weight)
        return {option: math.fsum(found) for option, found in weights.items()}


NO_VOTES = Tally({})


@dataclass(frozen=True, slots=True)
class Decision:
    """The reference of a clip, or the reason why it has none: exactly one of both is None."""

    label: str | None
    reason: str | None


def reference(tally: Tally, rules: VoteRules) -> Decision:
    """The target with at least `rules.agree` votes, where no other target has as many votes as it.

    Votes for an option that is no target count as listeners. They never make a reference and never unmake one. With
    `listeners` and `agree` at 1 this is the plurality among the targets. The reason names the first rule that was not
    met: too few listeners, most votes for an option that is no target, too few that agree, a tie.
    """
    if tally.total < rules.listeners:
        return Decision(None, f"votes: {tally.total} of {rules.listeners} listeners")
    votes = [tally.counts.get(target, 0) for target in rules.targets]
    most = max(votes)
    if most < rules.agree:
        others = [option for option in rules.options if option not in rules.targets]
        beyond = max((tally.counts.get(option, 0) for option in others), default=0)
        if beyond > most:
            winners = [option for option in others if tally.counts.get(option, 0) == beyond]
            return Decision(None, f"votes: most for {_and(winners)}, no target")
        return Decision(None, f"votes: no {rules.agree} agree on a target")
    leading = [target for target, count in zip(rules.targets, votes, strict=True) if count == most]
    if len(leading) > 1:
        return Decision(None, "votes: targets tie")
    return Decision(leading[0], None)


def to_cell(tally: Tally) -> str:
    """Write a tally as one line of JSON, the same for equal tallies.

    Counts are an object, option -> votes: `{"anger":3,"fear":1}`. Single votes are a list of [listener, option] or
    [listener, option, weight], a listener who is not told being null. No votes are `{}`.
    """
    if not tally.votes:
        return _json(dict(tally.counts))
    return _json(
        [[vote.listener, vote.option, *([] if vote.weight is None else [vote.weight])] for vote in tally.votes]
    )


def from_cell(cell: str) -> Tally:
    """The tally that `to_cell` wrote. Raises `EvidenceFault` for anything that it cannot have written."""
    try:
        tally = _tally(json.loads(cell))
    except (ValueError, RecursionError):
        tally = None
    if tally is None or to_cell(tally) != cell:
        raise EvidenceFault("votes-damaged", f"the votes of a clip are not as they were written: {cell[:80]}")
    return tally


def _tally(data: object) -> Tally | None:
    if isinstance(data, dict):
        whole = all(type(count) is int and count > 0 for count in data.values())
        return Tally.of_counts(data) if whole else None
    votes = [_vote(entry) for entry in data] if isinstance(data, list) else [None]
    kept = [vote for vote in votes if vote is not None]
    told = [vote.listener for vote in kept if vote.listener is not None]
    return Tally.of_votes(kept) if len(kept) == len(votes) and len(set(told)) == len(told) else None


def _vote(entry: object) -> Vote | None:
    match entry:
        case [str() | None as listener, str(option)]:
            return Vote(option, listener)
        case [str() | None as listener, str(option), float(weight)] if 0 < weight <= MAX_WEIGHT:
            return Vote(option, listener, weight)
    return None


def _json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
