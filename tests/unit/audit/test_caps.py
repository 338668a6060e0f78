"""Money and caps: exact sums, inclusive caps, sentences that name the cap and by how much it is passed."""

from __future__ import annotations

from dataclasses import fields
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.adapters.base import Usage
from pytest_speval.audit.caps import MOST, NOTHING, cost, dollars, exact, measures, overruns, usage_fault
from pytest_speval.suite.keys import Budget, Rates

LIST_PRICES = Rates(input=0.75, output=3.75, per=1_000_000, as_of=date(2026, 10, 11))


def test_the_published_review_cost_its_published_price() -> None:
    """334,502 tokens in and 49,577 out at 0.75 and 3.75 dollars a million: 0.43679025 dollars."""
    used = Usage(50, 0, 334_502, 49_577)
    assert cost(used, LIST_PRICES) == Fraction("0.43679025")
    assert dollars(cost(used, LIST_PRICES)) == "0.43679025"


def test_a_rate_is_the_decimal_that_was_written_not_the_double_nearest_to_it() -> None:
    dime = Rates(input=0.1, output=0.2, per=1, as_of=date(2026, 1, 1))
    assert cost(Usage(1, 0, 1, 1), dime) == Fraction(3, 10)
    assert 0.1 + 0.2 > 0.3, "what a sum of doubles would give"
    assert list(overruns(NOTHING, Usage(1, 0, 1, 1), Budget(usd=0.3, rates=dime), "this")) == []


@given(st.decimals(0, 1000, places=6), st.integers(0, 10**9), st.integers(0, 10**9), st.sampled_from([1, 1000, 10**6]))
def test_costs_are_those_of_decimal_arithmetic(rate: Decimal, tokens: int, more: int, per: int) -> None:
    rates = Rates(input=float(rate), output=float(rate * 2), per=per, as_of=date(2026, 1, 1))
    assert exact(float(rate)) == Fraction(rate)
    assert cost(Usage(1, 0, tokens, more), rates) == Fraction(rate * tokens + 2 * rate * more) / per


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), max_size=20))
def test_the_cost_of_a_sum_is_the_sum_of_costs(figures: list[tuple[int, int]]) -> None:
    calls = [Usage(1, 0, one, other) for one, other in figures]
    assert cost(sum(calls, NOTHING), LIST_PRICES) == sum(cost(call, LIST_PRICES) for call in calls)


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (Fraction(0), "0.00"),
        (Fraction(5), "5.00"),
        (Fraction(1, 10), "0.10"),
        (Fraction(123_456_789, 1000), "123,456.789"),
        (Fraction(1, 3), "0.333333333333"),
        (Fraction(10**15) + Fraction(1, 10**12), "1,000,000,000,000,000.000000000001"),
    ],
)
def test_dollars_show_every_decimal(amount: Fraction, text: str) -> None:
    assert dollars(amount) == text


def test_caps_are_inclusive() -> None:
    caps = Budget(requests=600, audio_seconds=7200, usd=0.43679025, rates=LIST_PRICES)
    held, more = Usage(599, 7188, 334_502, 49_576), Usage(1, 12, 0, 1)
    assert list(overruns(held, more, caps, "this call")) == []
    for part, name in (
        (Usage(2), "requests"),
        (Usage(1, 13), "audio_seconds"),
        (Usage(1, 0, 0, 2), "usd"),
    ):
        (sentence,) = overruns(held, part, caps, "this call")
        assert f"run.budget.{name} " in sentence


def test_a_sentence_names_the_cap_what_is_held_what_is_needed_and_by_how_much_it_is_passed() -> None:
    caps = Budget(requests=2, audio_seconds=7200, usd=5.0, rates=LIST_PRICES)
    assert list(overruns(Usage(2, 7195, 0, 0), Usage(1, 12, 0, 1_400_000), caps, "this call")) == [
        "run.budget.requests allows 2 requests; this call may need 1 request beside 2 requests spent or reserved"
        " already, 1 request over",
        "run.budget.audio_seconds allows 7,200 audio seconds; this call may need 12 audio seconds beside 7,195 audio"
        " seconds spent or reserved already, 7 audio seconds over",
        "run.budget.usd allows 5.00 USD; this call may need 5.25 USD, 0.25 USD over",
    ]


def test_what_is_over_already_needs_nothing_more() -> None:
    assert list(overruns(Usage(3, 1), NOTHING, Budget(requests=2, audio_seconds=1), "the run")) == [
        "run.budget.requests allows 2 requests; 3 requests spent or reserved already, 1 request over"
    ]


def test_without_a_cap_nothing_is_over() -> None:
    assert list(overruns(Usage(10**9, 10**9, 10**9, 10**9), Usage(), Budget(), "this call")) == []
    assert [(one.name, one.cap) for one in measures(Usage(3, 4, 5, 6), Budget())] == [
        ("requests", None),
        ("audio_seconds", None),
    ]


def test_a_cap_of_nought_allows_nothing() -> None:
    assert list(overruns(NOTHING, NOTHING, Budget(requests=0), "it")) == []
    assert len(list(overruns(NOTHING, Usage(1), Budget(requests=0), "it"))) == 1


def test_a_cap_on_money_without_rates_never_passes_in_silence() -> None:
    with pytest.raises(ValueError, match="needs rates"):
        measures(NOTHING, Budget(usd=5.0))


@pytest.mark.parametrize("figure", [-1, 1.0, True, None, "1", MOST])
def test_a_figure_that_is_no_whole_number_is_a_fault(figure: Any) -> None:
    for field in fields(Usage):
        wrong = usage_fault(Usage(**{field.name: figure}))
        assert wrong == f"{field.name} is {figure!r}, expected a whole number from 0"
    assert usage_fault({"requests": 1}) == "expected a Usage, got dict"
    assert usage_fault(Usage(0, 0, 0, MOST - 1)) is None
