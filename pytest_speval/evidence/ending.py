"""Where each planned clip ended: read back from the journals, or settled by a rule before any call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.plan import Question

CODES = {
    "journal-foreign": "A journal speaks of a clip that the plan does not hold, or twice of one.",
    "never-came-back": "A call was entered and never came back.",
    "not-asked": "A planned clip was not asked in this run.",
}


@dataclass(frozen=True, slots=True)
class Ending:
    """Where one planned clip's call ended; times are microseconds of our clock around the method."""

    state: Literal["returned", "failed", "unknown", "unattempted"]
    answer: Mapping[str, Any] | None = None
    code: str | None = None
    message: str | None = None
    microseconds: int | None = None
    reported_ms: float | None = None


UNKNOWN = Ending("unknown", code="never-came-back", message="the call was entered and never came back")
UNATTEMPTED = Ending("unattempted", code="not-asked", message="never asked in this run")


def settled(question: Question, place: int) -> Ending | None:
    """How a clip ended without a call: condemned by the audit, or answered with no choice by a rule."""
    if place in question.condemned:
        code, message = question.condemned[place]
        return Ending("failed", code=code, message=message)
    if place in question.abstains:
        return Ending("returned", {}, "short-abstains", "shorter than the suite's bound")
    return None


def endings_of(question: Question, lines: Iterable[Mapping[str, Any]]) -> list[Ending]:
    """Where each planned clip ended, from the lines of all journals.

    A clip that no line names is `unattempted`. A clip that is asked twice is a fault: no call is ever repeated.
    Recorded answers are looked up, not asked for: they end without having been entered.
    """
    endings = [settled(question, place) or UNATTEMPTED for place in question.planned]
    places, before_end = question.places, UNATTEMPTED if question.adapter.get("recorded") else UNKNOWN
    for line in lines:
        event = line["event"]
        if event == "opened":
            continue
        place = places.get((line["split"], line["id"]))
        if place is None or endings[place] is not (UNATTEMPTED if event == "entered" else before_end):
            raise EvidenceFault("journal-foreign", f"{event} {line['split']}/{line['id']} is out of place")
        endings[place] = UNKNOWN if event == "entered" else _ending(event, line)
    return endings


def _ending(event: str, line: Mapping[str, Any]) -> Ending:
    return Ending(
        "returned" if event == "returned" else "failed",
        line.get("answer"),
        line.get("code"),
        line.get("message"),
        line.get("microseconds"),
        line.get("reported_ms"),
    )
