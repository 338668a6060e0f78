"""A rate that keeps its numerator and its denominator."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of sums, such as word errors over reference words.

    Ratios add up like the sums they are made of, so the sum weighs every unit of the denominator alike and is
    not a mean of rates. The value is not cut at 1.
    """

    numerator: int | float
    denominator: int | float

    @classmethod
    def zero(cls) -> Ratio:
        """Nothing counted yet: 0 of 0."""
        return cls(0, 0)

    @property
    def value(self) -> float | None:
        """Numerator over denominator, or None where the denominator is 0."""
        return self.numerator / self.denominator if self.denominator else None

    def __add__(self, other: Ratio) -> Ratio:
        return Ratio(self.numerator + other.numerator, self.denominator + other.denominator)
