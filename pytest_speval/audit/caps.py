"""What calls cost, held against the caps of `run.budget`.

Requests, seconds and tokens are whole numbers. Money is the exact fraction that sums of tokens and list prices give:
adding up floats could pass a cap by less than a cent, unseen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Literal

from pytest_speval.adapters.base import Usage
from pytest_speval.suite.keys import Budget, Rates

NOTHING = Usage(requests=0)
MOST = 2**40
"""No figure of one call reaches it, so that sums over millions of calls stay below 2**63."""
CENTS, DIGITS = 2, 12
"""An amount of money is shown with at least so many decimals, and at most with so many."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One thing that a budget counts: an exact amount in its unit, and the cap, None where there is none."""

    name: Literal["requests", "audio_seconds", "usd"]
    amount: Fraction
    cap: Fraction | None

    @property
    def excess(self) -> Fraction:
        """By how much the amount passes the cap, which is inclusive; 0 where it does not."""
        return Fraction(0) if self.cap is None else max(Fraction(0), self.amount - self.cap)

    def say(self, amount: Fraction) -> str:
        """An amount of this measure, as people read it: `1 request`, `7,155 audio seconds`, `0.43679025 USD`."""
        if self.name == "usd":
            return f"{dollars(amount)} USD"
        unit = self.name.replace("_", " ")
        return f"{int(amount):,} {unit.removesuffix('s') if amount == 1 else unit}"


def cost(usage: Usage, rates: Rates) -> Fraction:
    """US dollars for tokens at list prices, exactly: (input * rate + output * rate) / per. No invoice.

    A rate counts as the decimal number that was written, not as the double nearest to it.
    """
    return (usage.input_tokens * exact(rates.input) + usage.output_tokens * exact(rates.output)) / rates.per


def exact(number: float) -> Fraction:
    """The shortest decimal that reads as this double: what somebody wrote in a file."""
    return Fraction(repr(number))


def measures(usage: Usage, budget: Budget) -> list[Measure]:
    """What a usage amounts to, each with its cap; money only where the budget has rates.

    Raises `ValueError` for a cap on money without rates, which no suite file can hold.
    """
    found = [
        Measure("requests", Fraction(usage.requests), _whole(budget.requests)),
        Measure("audio_seconds", Fraction(usage.audio_seconds), _whole(budget.audio_seconds)),
    ]
    if budget.rates is not None:
        found.append(Measure("usd", cost(usage, budget.rates), None if budget.usd is None else exact(budget.usd)))
    elif budget.usd is not None:
        raise ValueError("a cap in US dollars needs rates")
    return found


def overruns(held: Usage, more: Usage, budget: Budget, who: str) -> Iterator[str]:
    """A sentence for each cap that `who` could pass: `held` is spent or reserved already, `more` may be needed."""
    for own, whole in zip(measures(more, budget), measures(held + more, budget), strict=True):
        if whole.cap is not None and whole.excess:
            before = whole.amount - own.amount
            held_already = f"{whole.say(before)} spent or reserved already"
            needed = f"{who} may need {whole.say(own.amount)}" + (f" beside {held_already}" if before else "")
            yield (
                f"run.budget.{whole.name} allows {whole.say(whole.cap)}; {needed if own.amount else held_already},"
                f" {whole.say(whole.excess)} over"
            )


def usage_fault(usage: object) -> str | None:
    """What is wrong with a usage that an adapter handed over, or None."""
    if not isinstance(usage, Usage):
        return f"expected a Usage, got {type(usage).__name__}"
    for field, figure in zip(fields(usage), astuple(usage), strict=True):
        if type(figure) is not int or not 0 <= figure < MOST:
            return f"{field.name} is {figure!r}, expected a whole number from 0"
    return None


def dollars(amount: Fraction) -> str:
    """US dollars with all their decimals, at least two, rounded at the twelfth."""
    with localcontext() as context:
        context.prec = 60
        rounded = round(Decimal(amount.numerator) / Decimal(amount.denominator), DIGITS)
    whole, _, decimals = f"{rounded:,f}".partition(".")
    return f"{whole}.{decimals.rstrip('0').ljust(CENTS, '0')}"


def _whole(cap: int | None) -> Fraction | None:
    return None if cap is None else Fraction(cap)
