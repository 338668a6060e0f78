"""Where the listed clips ended, counted so that shards add up."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Counts:
    """How many clips were listed, planned and excluded, and where each planned clip ended.

    Both sums hold for every instance: `listed = planned + excluded` and
    `planned = answered + abstained + failed + unknown + unattempted`. `quarantined` clips stay in these
    numbers; they are only kept out of speaker-based estimates.

    Raises ValueError with both sides when a sum does not hold, or when a count is negative.
    """

    listed: int
    planned: int
    excluded: int
    answered: int
    abstained: int
    failed: int
    unknown: int
    unattempted: int
    quarantined: int = 0

    def __post_init__(self) -> None:
        for name, count in self.as_dict().items():
            if count < 0:
                raise ValueError(f"{name} is {count}: a count cannot be negative")
        if self.listed != self.planned + self.excluded:
            raise ValueError(
                f"listed {self.listed} != planned {self.planned} + excluded {self.excluded}"
                f" = {self.planned + self.excluded}"
            )
        ended = self.answered + self.abstained + self.failed + self.unknown + self.unattempted
        if self.planned != ended:
            raise ValueError(
                f"planned {self.planned} != answered {self.answered} + abstained {self.abstained}"
                f" + failed {self.failed} + unknown {self.unknown} + unattempted {self.unattempted} = {ended}"
            )

    @classmethod
    def zero(cls) -> Counts:
        """No clips at all."""
        return cls(0, 0, 0, 0, 0, 0, 0, 0)

    def __add__(self, other: Counts) -> Counts:
        mine, others = self.as_dict(), other.as_dict()
        return Counts(**{name: mine[name] + others[name] for name in mine})

    def as_dict(self) -> dict[str, int]:
        """Name -> count, in the order of the fields."""
        return asdict(self)
