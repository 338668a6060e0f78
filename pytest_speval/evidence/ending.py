"""Where each planned clip ended: read back from the journals, or settled by a rule before any call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.arrays import ArrayRecord, records_of
from pytest_speval.evidence.plan import Question

CODES = {
    "journal-foreign": "A journal speaks of a clip that the plan does not hold, or twice of one.",
    "never-came-back": "A call was entered and never came back.",
    "never-saved": "An answer came back, and its arrays were not noted as kept.",
    "not-asked": "A planned clip was not asked in this run.",
}


@dataclass(frozen=True, slots=True)
class Ending:
    """Where one planned clip's call ended; times are microseconds of our clock around the method.

    `arrays` are the kept arrays of an answer by name, None where it brought none.
    """

    state: Literal["returned", "failed", "unknown", "unattempted"]
    answer: Mapping[str, Any] | None = None
    code: str | None = None
    message: str | None = None
    microseconds: int | None = None
    reported_ms: float | None = None
    attempts: int = 1
    arrays: Mapping[str, ArrayRecord] | None = None


UNKNOWN = Ending("unknown", code="never-came-back", message="the call was entered and never came back")
RESERVED = Ending("unknown", code="never-came-back", message="the call was paid for and never came back")
UNSAVED = Ending("unknown", code="never-saved", message="the answer came back and its arrays were not kept")
UNATTEMPTED = Ending("unattempted", code="not-asked", message="never asked in this run", attempts=0)

BEGINNINGS = {"reserved": RESERVED, "entered": UNKNOWN}


def settled(question: Question, place: int) -> Ending | None:
    """How a clip ended without a call: condemned by the audit, or answered with no choice by a rule."""
    if place in question.condemned:
        code, message = question.condemned[place]
        return Ending("failed", code=code, message=message)
    if place in question.abstains:
        return Ending("returned", {}, "short-abstains", "shorter than the suite's bound")
    return None


def endings_of(question: Question, lines: Iterable[Mapping[str, Any]]) -> list[Ending]:
    """Where each planned clip ended, from the lines of all journals, in whatever order these are read.

    A clip that no line names is `unattempted`. A call that never came back may be followed by another attempt, which
    then counts; anything else that is told twice is a fault. Recorded answers are looked up, not asked for: they end
    without having been entered. An answer that brought arrays counts once a line says that they were kept.
    """
    places, later = question.places, dict[tuple[int, int], Ending]()
    unsaved = dict[tuple[int, int], Mapping[str, Any]]()
    first: list[Ending] = [UNATTEMPTED] * len(places)
    expected = UNATTEMPTED if question.adapter.get("recorded") else UNKNOWN
    for line in lines:
        event = line["event"]
        if event == "opened":
            continue
        place, attempt = places.get((line["split"], line["id"])), line.get("attempt", 1)
        if place is None:
            raise EvidenceFault("journal-foreign", f"{event} {line['split']}/{line['id']}: no such clip is planned")
        known = first[place] if attempt == 1 else later.get((place, attempt), UNATTEMPTED)
        ending = BEGINNINGS.get(event)
        fits = known is expected or known is RESERVED if ending is None else known is UNATTEMPTED
        if event == "saved":
            ending = _saved(unsaved.pop((place, attempt), {}), line)
            fits = ending is not None
        if not fits and (event != "entered" or known is not RESERVED):
            raise EvidenceFault("journal-foreign", f"{event} {line['split']}/{line['id']} is out of place")
        if event == "returned" and "arrays" in line:
            ending, unsaved[place, attempt] = UNSAVED, line
        ending = ending or _ending(event, line)
        if attempt == 1:
            first[place] = ending
        else:
            later[place, attempt] = ending
    return _settled(question, _latest(question, first, later))


def _latest(question: Question, first: list[Ending], later: Mapping[tuple[int, int], Ending]) -> list[Ending]:
    """The last attempt of each clip; only what never came back may have been asked again."""
    for place, attempt in sorted(later):
        if first[place].state != "unknown" or first[place].attempts != attempt - 1:
            split, name = question.identity(question.planned[place])
            raise EvidenceFault("journal-foreign", f"attempt {attempt} of {split}/{name} is out of place")
        first[place] = replace(later[place, attempt], attempts=attempt)
    return first


def _settled(question: Question, endings: list[Ending]) -> list[Ending]:
    """The endings with those that a rule settled; no call may stand beside them."""
    for number, place in enumerate(question.planned if question.condemned or question.abstains else ()):
        ending = settled(question, place)
        if ending is not None:
            if endings[number] is not UNATTEMPTED:
                split, name = question.identity(place)
                raise EvidenceFault("journal-foreign", f"{split}/{name} was asked, though a rule had settled it")
            endings[number] = ending
    return endings


def _saved(returned: Mapping[str, Any], line: Mapping[str, Any]) -> Ending | None:
    """The answer whose arrays a line says are kept, None where these are not the ones it brought."""
    if not returned:
        return None
    arrays = records_of(line)
    return replace(_ending("returned", returned), arrays=arrays) if list(arrays) == returned["arrays"] else None


def check_arrays(folder: Path, endings: Iterable[Ending]) -> None:
    """Hold every kept array against its record; raises `EvidenceFault` for the first that is not what was written."""
    for ending in endings:
        for record in (ending.arrays or {}).values():
            record.check(folder)


def _ending(event: str, line: Mapping[str, Any]) -> Ending:
    return Ending(
        "returned" if event == "returned" else "failed",
        line.get("answer"),
        line.get("code"),
        line.get("message"),
        line.get("microseconds"),
        line.get("reported_ms"),
    )
