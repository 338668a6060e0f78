"""Gates and waivers as the loader hands them over, and how those of several files come together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Literal

from pytest_speval.errors import Fault, FaultyFile
from pytest_speval.suite.gate_keys import GateKeys, WaiverKeys
from pytest_speval.suite.tree import Node


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
class GateRule:
    """A rule on one estimate of one suite. Exactly one of `min` and `max` is given; both are inclusive."""

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

    @property
    def limit(self) -> float:
        """The number to reach, or not to exceed."""
        return self.min if self.max is None else self.max  # type: ignore[return-value]

    def holds(self, value: float) -> bool:
        """Whether a value keeps the limit; the limit itself does."""
        return value >= self.limit if self.max is None else value <= self.limit

    @classmethod
    def of(cls, name: str, suite: str, keys: GateKeys, place: Place) -> GateRule:
        return cls(
            id=name,
            suite=suite,
            metric=keys.metric,
            min=keys.min,
            max=keys.max,
            bound=keys.bound,
            why=keys.why,
            owner=keys.owner,
            level=keys.level,
            place=place,
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
