"""Shards: the clips of a question dealt out to several runs, as evenly as their seconds allow."""

from __future__ import annotations

import heapq
import re
from dataclasses import dataclass

from pytest_speval.errors import UsageFault
from pytest_speval.evidence.ending import settled
from pytest_speval.evidence.plan import Question

CODES = {"shard-form": "`--speval-shard` is not I/N with 1 <= I <= N."}


@dataclass(frozen=True, slots=True, order=True)
class Shard:
    """The `number`-th of `of` shards, counted from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read `I/N`; raises `UsageFault`."""
        found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
        shard = cls(int(found[1]), int(found[2])) if found else cls(0, 0)
        if not 1 <= shard.number <= shard.of:
            raise UsageFault("shard-form", f"--speval-shard {text}: expected I/N, for example 2/4")
        return shard

    def places(self, question: Question) -> frozenset[int]:
        """The places of the clips that this shard asks: a function of the question alone."""
        return frozenset(place for place, number in dealt(question, self.of).items() if number == self.number)


def dealt(question: Question, shards: int) -> dict[int, int]:
    """Place of each clip that will be asked -> number of its shard, from 1.

    The longest clip goes first, each to the shard with the fewest seconds so far (Graham's rule of longest processing
    time), so that shards differ by no more than one clip. Clips without a length weigh alike. Identities break ties,
    so the order of rows leaves no trace. A block goes to one shard whole.
    """
    asked = [place for place in question.planned if settled(question, place) is None]
    seconds = {place: question.seconds(place) for place in asked}
    known = [length for length in seconds.values() if length]
    usual = sum(known) / len(known) if known else 1.0
    blocks = [tuple(place for place in block if place in seconds) for block in question.in_blocks()]
    weights = {block: sum(seconds[place] or usual for place in block) for block in blocks if block}
    loads = [(0.0, number) for number in range(1, shards + 1)]
    numbers: dict[int, int] = {}
    for block in sorted(weights, key=lambda block: (-weights[block], question.identity(block[0]))):
        load, number = loads[0]
        numbers |= dict.fromkeys(block, number)
        heapq.heapreplace(loads, (load + weights[block], number))
    return numbers
