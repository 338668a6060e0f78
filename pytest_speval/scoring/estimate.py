"""An estimate: a metric's value with its counts, its interval, or the reason why it is undefined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_speval.scoring.bootstrap import Interval

EXACT = 2**53
"""Below it every whole number is a double."""


def written(number: int | float | None) -> int | float | str | None:
    """A number as JSON may hold it: a whole one that readers would round stands as text."""
    return str(number) if isinstance(number, int) and abs(number) >= EXACT else number


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """`n` is what the estimate is over and `unit` what each of them weighs: clip, label, speaker, ms.

    A `value` of None has a `reason`; an `interval` of None has an `interval_reason`.
    """

    value: float | None
    n: int
    unit: str
    numerator: int | float | None = None
    denominator: int | float | None = None
    interval: Interval | None = None
    interval_reason: str | None = None
    reason: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as it stands in `out.json`."""
        return {
            "value": self.value,
            "numerator": written(self.numerator),
            "denominator": written(self.denominator),
            "n": self.n,
            "unit": self.unit,
            "interval": None if self.interval is None else self.interval.as_dict(),
            "interval_reason": self.interval_reason,
            "reason": self.reason,
        }
