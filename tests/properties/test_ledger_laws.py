"""The laws of the ledger: whatever order processes reserve, settle, fail and die in, no cap is passed."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
)

from pytest_speval.adapters.base import Usage
from pytest_speval.evidence.call import Call
from pytest_speval.evidence.ledger import Ledger, Refusal
from pytest_speval.suite.keys import Budget, Rates

FIGURES = st.integers(0, 4)
BOUNDS = st.builds(Usage, st.integers(1, 3), FIGURES, FIGURES, FIGURES)
USAGES = st.builds(Usage, FIGURES, FIGURES, FIGURES, FIGURES)
CAPS = st.none() | st.integers(0, 12)
PENCE = st.sampled_from([None, 0.0, 0.1, 0.3, 0.7, 2.5])
CALLS = st.builds(
    lambda scope, clip, twin, run, once: Call(
        f"samples {clip - twin}", scope, f"{scope} {run}", "voice", "test", f"c{clip}", once=once
    ),
    st.sampled_from(["q1", "q2"]),
    st.integers(1, 4),
    st.integers(0, 1),
    st.integers(1, 2),
    st.booleans(),
)


@dataclass
class Row:
    """What a call counts in the model, whether its request left and whether it is known to have come back."""

    call: Call
    usage: Usage
    left: bool
    back: bool = False


def same(one: Call, other: Call) -> bool:
    """Whether two calls are one: by one run, for one clip."""
    return (one.key, one.scope, one.run, one.id) == (other.key, other.scope, other.run, other.id)


def forbids(one: Call, other: Call) -> bool:
    """Whether two calls may not both be made: the same samples under whatever name, or a run that repeats itself."""
    about_one_clip = one.key == other.key and (one.scope != other.scope or one.id == other.id)
    return about_one_clip and (one.once or other.once or one.run == other.run)


def dollars(usages: list[Usage]) -> Fraction:
    """Ten cents for a token in, twenty for a token out."""
    return sum((Fraction(usage.input_tokens + 2 * usage.output_tokens, 10) for usage in usages), Fraction(0))


class LedgerLaws(RuleBasedStateMachine):
    """Several processes on one file, each with a `Ledger` of its own, against a list in memory."""

    open_calls = Bundle("open_calls")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.ledgers = [Ledger(self.folder / "ledger.sqlite") for _ in range(3)]
        self.rows: list[Row] = []
        self.overshot: set[str] = set()

    @initialize(requests=CAPS, seconds=CAPS, usd=PENCE)
    def cap(self, requests: int | None, seconds: int | None, usd: float | None) -> None:
        rates = Rates(input=0.1, output=0.2, per=1, as_of=date(2026, 1, 1))
        self.caps = Budget(requests=requests, audio_seconds=seconds, usd=usd, rates=None if usd is None else rates)

    @rule(
        target=open_calls,
        call=CALLS,
        bound=BOUNDS,
        process=st.integers(0, 2),
        leaves=st.booleans(),
        resumes=st.booleans(),
    )
    def reserve(
        self, call: Call, bound: Usage, process: int, leaves: bool, resumes: bool
    ) -> Call | MultipleResults[Call]:
        """A process reserves and, unless it dies, sends the request; one that resumes knows whether one had left."""
        mine = [row for row in self.rows if resumes and same(row.call, call) and not row.left]
        take_up = bool(mine)
        others = [row for row in self.rows if row not in mine]
        expected = "asked-before" if any(forbids(row.call, call) for row in others) else None
        held = [row.usage for row in others if row.call.scope == call.scope]
        if expected is None and not self.fits([*held, bound]):
            expected = "budget-spent"
        if expected is not None:
            with pytest.raises(Refusal) as caught:
                self.ledgers[process].reserve(call, bound, self.caps, take_up=take_up)
            assert caught.value.code == expected
            return multiple()
        self.ledgers[process].reserve(call, bound, self.caps, take_up=take_up)
        self.rows = [*others, Row(call, bound, leaves)]
        return call

    @rule(call=consumes(open_calls), told=st.none() | USAGES, process=st.integers(0, 2))
    def settle(self, call: Call, told: Usage | None, process: int) -> None:
        (row,) = [row for row in self.rows if same(row.call, call)]
        if row.back or not row.left:
            return
        counts = self.ledgers[process].settle(call, told)
        pairs = [(getattr(told, name), getattr(row.usage, name)) for name in Usage.__slots__] if told else []
        assert counts == (Usage(*(said if said else most for said, most in pairs)) if told else row.usage)
        if any(said > most for said, most in pairs):
            self.overshot.add(call.scope)
        row.usage, row.back = counts, True

    @rule(process=st.integers(0, 2))
    def die(self, process: int) -> None:
        """A process that starts again knows nothing but the file."""
        self.ledgers[process] = Ledger(self.folder / "ledger.sqlite")

    @invariant()
    def the_ledger_holds_what_was_reserved_and_settled(self) -> None:
        for scope in ("q1", "q2"):
            rows = [row for row in self.rows if row.call.scope == scope]
            spent = self.ledgers[0].spent(scope)
            assert spent == sum((row.usage for row in rows), Usage(0))
            assert spent.requests >= sum(row.left for row in rows), "the ledger is never below the calls really made"
            found = self.ledgers[1].entries(scope)
            assert {(entry.call, entry.usage is not None) for entry in found} == {(row.call, row.back) for row in rows}

    @invariant()
    def no_cap_is_passed_but_by_a_usage_beyond_its_bound(self) -> None:
        for scope in {"q1", "q2"} - self.overshot:
            assert self.fits([row.usage for row in self.rows if row.call.scope == scope])

    @invariant()
    def no_two_requests_left_for_what_is_asked_once(self) -> None:
        for place, row in enumerate(self.rows):
            assert not any(forbids(row.call, later.call) for later in self.rows[place + 1 :])

    def fits(self, usages: list[Usage]) -> bool:
        caps = self.caps
        return (
            (caps.requests is None or sum(usage.requests for usage in usages) <= caps.requests)
            and (caps.audio_seconds is None or sum(usage.audio_seconds for usage in usages) <= caps.audio_seconds)
            and (caps.usd is None or dollars(usages) <= Fraction(str(caps.usd)))
        )

    def teardown(self) -> None:
        shutil.rmtree(self.folder)


TestLedgerLaws = LedgerLaws.TestCase
TestLedgerLaws.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
