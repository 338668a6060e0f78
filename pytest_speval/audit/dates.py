"""Whether the declared days of collection, freezing and review can be true together, and what they allow to say."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from pytest_speval.audit.finding import Finding
from pytest_speval.suite.audit_keys import AuditSection
from pytest_speval.suite.readiness_keys import ReadinessKeys

CODES = {
    "dates-contradict": "Two declared dates cannot both be true.",
    "dates-separate": "By the declared dates the corpus was collected after the model's last change.",
    "collection-before-freeze": "By the declared dates the corpus is not younger than the model.",
}


@dataclass(frozen=True, slots=True)
class _Declared:
    """A declared day and the key it stands under."""

    key: str
    day: datetime.date

    def __str__(self) -> str:
        return f"{self.key} is {self.day}"


def date_findings(readiness: ReadinessKeys | None, section: AuditSection) -> Iterator[Finding]:
    """What the days in a readiness file and in `audit.dates` say together."""
    period = None if section.dates is None else section.dates.corpus
    collection = None if readiness is None else readiness.collection
    begun = _days(
        ("collection.from", collection and collection.from_), ("audit.dates.corpus.from", period and period.from_)
    )
    ended = _days(("collection.to", collection and collection.to), ("audit.dates.corpus.to", period and period.to))
    parts = () if readiness is None else readiness.components
    frozen = _days(*((f"components[{place}].frozen", part.frozen) for place, part in enumerate(parts)))
    whole = len(frozen) == len(parts) > 0
    bound = _days(("audit.dates.model_frozen", section.dates and section.dates.model_frozen))
    review = _days(("reviewer.date", readiness and readiness.reviewer.date))

    for same in (begun, ended):
        yield from (_contradiction(*both, "not the same day") for both in pairwise(same) if both[0].day != both[1].day)
    yield from _late(begun[:1], ended[:1], "the last day is before the first")
    yield from _late(frozen, bound, "a component changed after the model was frozen")
    yield from _late([*ended[:1], *frozen], review, "nobody can have reviewed what was not there")
    if begun and (frozen or bound):
        yield from _separation(begun[0], max((*frozen, *bound), key=lambda one: one.day), whole=whole or bool(bound))


def _days(*declared: tuple[str, object]) -> list[_Declared]:
    """The days that are given."""
    return [_Declared(key, day) for key, day in declared if isinstance(day, datetime.date)]


def _late(earlier: list[_Declared], later: list[_Declared], why: str) -> Iterator[Finding]:
    for one in earlier:
        yield from (_contradiction(one, other, why) for other in later if one.day > other.day)


def _contradiction(one: _Declared, other: _Declared, why: str) -> Finding:
    return Finding("error", "dates-contradict", f"{one} and {other}: {why}")


def _separation(begun: _Declared, last: _Declared, *, whole: bool) -> Iterator[Finding]:
    """Days have no hours: a corpus of the very day of the freeze is not younger than the model."""
    if begun.day <= last.day:
        told = f"{begun} and {last}: the corpus is not younger than the model"
        yield Finding("warning", "collection-before-freeze", told)
    elif whole:
        told = f"declared, not verified: {begun}, after the model's last change: {last}"
        yield Finding("notice", "dates-separate", told)
