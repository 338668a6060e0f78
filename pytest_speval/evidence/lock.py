"""What was sealed before a run: one plan per adapter of a suite, small enough to be kept with the suite.

Clips stand in it as one digest per column, so that a lock grows with no corpus and still says which column differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.canonical import canonical, digest, value_of
from pytest_speval.evidence.difference import Difference, differences
from pytest_speval.evidence.plan import Plan, plan_digest

SCHEMA = 1
CODES = {
    "lock-unreadable": "A lock file cannot be read.",
    "lock-damaged": "A lock file is not what `speval freeze` wrote.",
    "lock-foreign": "A file that stands for a lock is none, or one that another version wrote.",
    "lock-inconsistent": "What a lock says of a plan is not what its digest stands for.",
}
COLUMN = "question.clips."
DIGESTS = frozenset({"questionSha256", "planSha256"})


@dataclass(frozen=True, slots=True)
class Sealed:
    """The plan of one adapter. `title` is its name under `adapters`, None where the suite has one adapter.

    `question` is plain data in which each column of clips is `{sha256, count}`: the SHA-256 of its canonical JSON and
    how many of its cells are not null.
    """

    suite: str
    title: str | None
    question_sha256: str
    plan_sha256: str
    question: Mapping[str, Any]
    rules: Mapping[str, Any]
    versions: Mapping[str, str]

    @classmethod
    def of(cls, title: str | None, plan: Plan) -> Sealed:
        """Seal a plan."""
        question = plan.question
        return cls(
            plan.suite,
            title,
            question.digest,
            plan.digest,
            _sketch(question.as_dict()),
            plan.rules,
            plan.versions,
        )

    @classmethod
    def from_dict(cls, suite: str, data: Mapping[str, Any]) -> Sealed:
        """The sealed plan that a dict was made from. Raises `KeyError`, `TypeError`, `ValueError` for other data."""
        title = data["title"]
        return cls(
            _text(suite),
            title if title is None else _text(title),
            _text(data["questionSha256"]),
            _text(data["planSha256"]),
            dict(data["question"]),
            dict(data["rules"]),
            dict(data["versions"]),
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as it stands in a lock; the suite's name stands there once for all."""
        return {
            "title": self.title,
            "questionSha256": self.question_sha256,
            "planSha256": self.plan_sha256,
            "question": dict(self.question),
            "rules": dict(self.rules),
            "versions": dict(self.versions),
        }

    @property
    def name(self) -> str:
        """The suite's name, with the adapter's where there are several."""
        return self.suite if self.title is None else f"{self.suite}[{self.title}]"

    def differences(self, plan: Plan) -> list[str]:
        """How a plan differs from this one, a line for each field; none where it is the same.

        `rules.gates[macro-f1].min: 0.5 in the lock, 0.4 now`, `question.clips.cells.label differs`. The two digests
        are named only where nothing else explains them.
        """
        now = Sealed.of(self.title, plan)
        found = differences({"suite": self.suite, **self.as_dict()}, {"suite": now.suite, **now.as_dict()})
        explained = [difference for difference in found if difference.path not in DIGESTS]
        return [_line(difference) for difference in explained or found]


@dataclass(frozen=True, slots=True)
class Lock:
    """The content of `suites/x.lock.json`."""

    suite: str
    entries: tuple[Sealed, ...]

    @classmethod
    def of(cls, suite: str, plans: Sequence[tuple[str | None, Plan]]) -> Lock:
        """Seal the plans of a suite's adapters, each with its title."""
        assert plans, "a suite has an adapter"
        assert all(plan.suite == suite for _, plan in plans), "plans of another suite"
        return cls(suite, tuple(Sealed.of(title, plan) for title, plan in plans))

    @classmethod
    def read(cls, path: Path) -> Lock:
        """Read a lock back.

        Raises `EvidenceFault` `lock-unreadable`, `lock-foreign`, `lock-damaged` (any byte differs from what was
        written) or `lock-inconsistent` (a plan's digest does not follow from its suite, question digest, rules and
        versions).
        """
        try:
            data = path.read_bytes()
        except OSError as error:
            raise EvidenceFault("lock-unreadable", f"cannot read {path}: {error.strerror}") from error
        lock = cls._parsed(data, path.name)
        titles = [entry.title for entry in lock.entries]
        if not titles or len(set(titles)) < len(titles) or (None in titles and len(titles) > 1):
            message = f"{path.name} does not seal one plan per adapter"
            raise EvidenceFault("lock-inconsistent", f"{message}; freeze the suite again")
        for entry in lock.entries:
            if plan_digest(entry.suite, entry.question_sha256, entry.rules, entry.versions) != entry.plan_sha256:
                message = f"{path.name}: what it says of {entry.name} is not the plan {entry.plan_sha256[:12]}"
                raise EvidenceFault("lock-inconsistent", f"{message}; freeze the suite again")
        return lock

    @classmethod
    def _parsed(cls, data: bytes, name: str) -> Lock:
        damaged = EvidenceFault("lock-damaged", f"{name} is not what was written; restore it or freeze the suite again")
        try:
            value = value_of(data)
        except ValueError as error:
            raise damaged from error
        try:
            if value["schemaVersion"] != SCHEMA:
                message = f"{name} has schema {value['schemaVersion']}, and this version reads {SCHEMA}"
                raise EvidenceFault("lock-foreign", message)
            lock = cls(value["suite"], tuple(Sealed.from_dict(value["suite"], entry) for entry in value["sealed"]))
            again = lock.as_bytes()
        except (KeyError, TypeError, ValueError) as error:
            raise EvidenceFault("lock-foreign", f"{name} is no lock of a suite") from error
        if again != data:
            raise damaged
        return lock

    def as_bytes(self) -> bytes:
        """Canonical JSON and a line end; `lockSha256` is the SHA-256 of the canonical JSON of all else."""
        content = {
            "schemaVersion": SCHEMA,
            "suite": self.suite,
            "sealed": [entry.as_dict() for entry in self.entries],
        }
        return canonical(content | {"lockSha256": digest(content)}) + b"\n"

    def titled(self, title: str | None) -> Sealed | None:
        """The plan of the adapter with this title, None where none was sealed."""
        return next((entry for entry in self.entries if entry.title == title), None)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _line(found: Difference) -> str:
    """Name a column, rather than show its digests."""
    if found.path.startswith(COLUMN) and found.path.endswith(".sha256"):
        return f"{found.path.removesuffix('.sha256')} differs"
    return Difference(found.path, _counted(found.was), _counted(found.now)).told("in the lock")


def _counted(value: Any) -> Any:
    """How many values a column has, for one that only one side has."""
    return f"{value['count']} values" if isinstance(value, Mapping) and value.keys() == {"sha256", "count"} else value


def _sketch(question: dict[str, Any]) -> dict[str, Any]:
    """A question in which each column of clips is its digest and the number of its values."""
    clips = question["clips"]
    cells = {role: _column(column) for role, column in clips["cells"].items()}
    columns = {name: _column(column) for name, column in clips.items() if name != "cells"}
    return question | {"clips": columns | {"cells": cells}}


def _column(values: Sequence[Any]) -> dict[str, Any]:
    return {"sha256": digest(values), "count": sum(value is not None for value in values)}
