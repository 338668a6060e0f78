"""What the listeners of a suite say about its clips: every vote, and the reference that follows or why none does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_speval.corpus.ballots import read_ballots
from pytest_speval.corpus.manifest import Format
from pytest_speval.corpus.votes import VoteRules, reference, to_cell
from pytest_speval.suite.choice_keys import Votes
from pytest_speval.suite.corpus_keys import Format as FormatKeys

Identity = tuple[str, str]


@dataclass(frozen=True)
class Poll:
    """A cell of votes, a label or None, and a reason or None for each listed clip; notices about the file."""

    cells: list[str]
    labels: list[str | None]
    reasons: list[str | None]
    notices: tuple[tuple[str, str], ...]


Pollster = Callable[[Sequence[Identity], Collection[Identity]], Poll]
"""Given the listed and the unlisted identities, reads what listeners say; raises `FaultyFile`."""


def pollster(keys: Votes, path: Path) -> Pollster:
    """A reader of the votes at a path, under a suite's rules."""
    rules = VoteRules(keys.options, keys.targets, keys.listeners, keys.agree)

    def poll(listed: Sequence[Identity], unlisted: Collection[Identity]) -> Poll:
        ballots = read_ballots(path, path.name, form_of(keys.format), keys.columns, rules, listed, unlisted)
        decisions = [reference(tally, rules) for tally in ballots.tallies]
        notices = list(ballots.notices)
        if ballots.elsewhere:
            told = f"{ballots.votes_elsewhere:,} votes are on {ballots.elsewhere:,} clips that are not listed"
            notices.append(("votes-elsewhere", told))
        return Poll(
            [to_cell(tally) for tally in ballots.tallies],
            [decision.label for decision in decisions],
            [decision.reason for decision in decisions],
            tuple(notices),
        )

    return poll


def form_of(keys: FormatKeys) -> Format:
    """How a file is written, as its reader wants it."""
    return Format(
        style=keys.style,
        delimiter=keys.delimiter,
        quoting=keys.quoting,
        encoding=keys.encoding,
        na=keys.na,
        header=keys.header,
        names=keys.names or (),
    )
