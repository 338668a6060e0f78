"""Gates and waivers as the loader hands them over, and how those of several files come together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Literal

from pytest_speval.errors import Fault, FaultyFile
from pytest_speval.suite.gate_keys import CHANCE, GateKeys, WaiverKeys
from pytest_speval.suite.tree import Node
from pytest_speval.suite.vocabulary import Direction


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: a file as the user would type it, line and column from 1 (0 for an option)."""

    file: str
    line: int
    column: int

    @classmethod
    def of(cls, node: Node) -> Place:
        lines = node.origin.lines
        return cls(node.origin.shown_as, node.line if lines else 0, node.column if lines else 0)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Waiver:
    """Why a failing gate is let through, who answers for it, and the last day on which it holds."""

    reason: str
    owner: str | None
    until: date | None
    place: Place = field(compare=False)

    @classmethod
    def of(cls, keys: WaiverKeys, place: Place) -> Waiver:
        return cls(keys.reason, keys.owner, keys.until, place)


@dataclass(frozen=True, slots=True)
class Against:
    """What a gate allows against a baseline: exactly one of `max_drop` and `min_gain` is given, at least 0.

    A drop is a change for the worse, a gain one for the better, whichever way the metric goes. `folder` is that of the
    baseline, with variables unexpanded, and None for a gate that was read from a plan. `sha256` is the digest of what
    lies there; where it is None and `missing` says why, there is nothing to compare with. Gates of one
    `correction_group` answer together for their chance of a false pass.
    """

    max_drop: float | None
    min_gain: float | None
    correction_group: str | None = None
    folder: Path | None = field(default=None, compare=False)
    sha256: str | None = None
    missing: str | None = None


@dataclass(frozen=True, slots=True)
class GateRule:
    """A rule on one estimate of one suite. `min` and `max` are inclusive.

    Exactly one of them is given. A rule with `against` has neither until `on_difference` has turned it into one on the
    difference from the baseline, and one by `chance` none until that bound has been simulated.

    With `cohort` it holds for every group of that cohort, or with `gap` for the worst minus the best of them. With
    `per_class` the metric is a family, and the rule holds for every label.
    """

    id: str
    suite: str
    metric: str
    min: float | None
    max: float | None
    bound: Literal["point", "low", "high"]
    why: str
    owner: str | None
    level: Literal["block", "warn"]
    place: Place = field(compare=False)
    waiver: Waiver | None = None
    against: Against | None = None
    cohort: str | None = None
    gap: bool = False
    chance: bool = False
    per_class: bool = False

    @property
    def limit(self) -> float:
        """The number to reach, or not to exceed."""
        return self.min if self.max is None else self.max  # type: ignore[return-value]

    def holds(self, value: float) -> bool:
        """Whether a value keeps the limit; the limit itself does."""
        return value >= self.limit if self.max is None else value <= self.limit

    def on_difference(self, better: Direction) -> GateRule:
        """The rule as a limit on candidate minus baseline, of a metric that is better when `higher` or `lower`."""
        assert self.against is not None
        allowed = self.against
        gain = -(allowed.max_drop or 0.0) if allowed.min_gain is None else allowed.min_gain
        return replace(self, min=gain + 0.0) if better == "higher" else replace(self, max=0.0 - gain)

    @classmethod
    def of(cls, name: str, suite: str, keys: GateKeys, place: Place) -> GateRule:
        return cls(
            id=name,
            suite=suite,
            metric=keys.metric,
            min=keys.min,
            max=None if keys.max == CHANCE else keys.max,
            bound=keys.bound,
            why=keys.why,
            owner=keys.owner,
            level=keys.level,
            place=place,
            against=None
            if keys.baseline is None
            else Against(keys.max_drop, keys.min_gain, keys.correction_group, keys.baseline),
            cohort=keys.cohort,
            gap=keys.gap,
            chance=keys.max == CHANCE,
            per_class=keys.per_class,
        )


@dataclass(frozen=True, slots=True)
class GateFile:
    """One gate file. Waivers are keyed by (suite, gate id)."""

    file: Path
    gates: tuple[GateRule, ...]
    waivers: Mapping[tuple[str, str], Waiver]


def merge_gates(own: Iterable[GateRule], files: Iterable[GateFile]) -> tuple[GateRule, ...]:
    """All gates of a session, those of the suites first, each with its waiver.

    Raises FaultyFile `duplicate-gate` or `duplicate-waiver` where two files speak about one (suite, id).
    """
    files = tuple(files)
    rules: dict[tuple[str, str], GateRule] = {}
    waivers: dict[tuple[str, str], Waiver] = {}
    faults: list[Fault] = []
    for rule in (*own, *(rule for each in files for rule in each.gates)):
        first = rules.setdefault((rule.suite, rule.id), rule)
        if first is not rule:
            faults.append(_twice(rule.place, first.place, "gate", rule.suite, rule.id))
    for key, waiver in (pair for each in files for pair in each.waivers.items()):
        known = waivers.setdefault(key, waiver)
        if known is not waiver:
            faults.append(_twice(waiver.place, known.place, "waiver", *key))
    if faults:
        raise FaultyFile(faults)
    return tuple(replace(rule, waiver=waivers.get(key)) for key, rule in rules.items())


def _twice(second: Place, first: Place, what: str, suite: str, gate: str) -> Fault:
    message = f"suite {suite} has a {what} of this name already, at {first}"
    return Fault(second.file, second.line, second.column, f"duplicate-{what}", message, (f"{what}s", gate))
