"""Who pays for the calls of a run: each clip's call, what it may cost, and the ledger where both are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_speval.adapters.base import Usage
from pytest_speval.evidence.call import Call, call_key
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.ledger import Ledger
from pytest_speval.evidence.plan import Question
from pytest_speval.suite.keys import Budget

GIVEN_UP = frozenset({"timeout", "process-died"})
"""Codes of calls whose request may still be under way."""


@dataclass(frozen=True, slots=True)
class Payment:
    """One call with its bound."""

    ledger: Ledger
    budget: Budget
    call: Call
    bound: Usage

    def reserve(self) -> None:
        """Reserve the call at its bound; raises `Refusal`.

        Whoever asks vouches that the journal has no trace of this attempt. A reservation without one is a process that
        died before its request left, and is taken up.
        """
        self.ledger.reserve(self.call, self.bound, self.budget, take_up=True)

    def settle(self, ending: Ending, response: Mapping[str, Any] | None) -> None:
        """Note what the call used, by the record of its response; its bound where nobody says.

        A call that was given up on stays reserved: nobody knows what became of its request.
        """
        settle(self.ledger, self.call, ending.code, response)


def settle(ledger: Ledger, call: Call, code: str | None, response: Mapping[str, Any] | None) -> None:
    """Settle a call that came back, by the code of its ending and the record of its response."""
    if code in GIVEN_UP:
        return
    told = response or {}
    usage = told.get("usage")
    ledger.settle(call, None if usage is None else Usage(**usage), told.get("request_id"))


@dataclass(frozen=True)
class Purse:
    """The payments of one run; `keys` and `bounds` are by place, and a clip without them may not be asked."""

    ledger: Ledger
    budget: Budget
    scope: str
    run: str
    suite: str
    once: bool
    keys: Mapping[int, str]
    bounds: Mapping[int, Usage]

    def payment(self, place: int, identity: tuple[str, str], attempt: int) -> Payment:
        """What to pay for one clip, and where."""
        split, name = identity
        call = Call(self.keys[place], self.scope, self.run, self.suite, split, name, self.once, attempt)
        return Payment(self.ledger, self.budget, call, self.bounds[place])


def call_keys(question: Question) -> dict[int, str]:
    """By place, what may be asked only once: the model's identity with what it is given, samples or text."""
    texts = question.cells.get("text") if question.audio is None else None
    found = {}
    for place in question.planned:
        samples = question.samples_sha256[place] if question.samples_sha256 else None
        text = None if texts is None else texts[place]
        if samples is not None or isinstance(text, str):
            found[place] = call_key(question.adapter["identity"], samples, text if isinstance(text, str) else None)
    return found
