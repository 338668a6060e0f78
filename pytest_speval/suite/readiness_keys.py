"""The keys of a readiness file. Every field may hold `""`, which counts as not filled in; none may be left out."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from pytest_speval.suite.base_keys import Keys, Sha256

INVENTORIES = ("training", "pretraining", "validation", "calibration", "selection")
"""What a model may have seen: all five must be known before a corpus is independent of it."""

Blank = Literal[""]
Day = Blank | datetime.date
File = Blank | Path
YesNo = Blank | bool
Seen = Literal["", "unavailable"] | Path


class Source(Keys):
    """Where some of the records come from, and what may be done with them."""

    records: str
    source: str
    revision: str
    license: str
    audio_redistribution: YesNo
    annotation_redistribution: YesNo
    permission: File


class Collection(Keys):
    """The first and the last day on which the corpus was collected."""

    from_: Day = Field(alias="from")
    to: Day


class Component(Keys):
    """A component of the model, or a checkpoint that it was made from, and the day since which it is unchanged."""

    name: str
    revision: str
    frozen: Day
    evidence: File


class Inventories(Keys):
    """What the model has seen: a list of it, or `unavailable`."""

    training: Seen
    pretraining: Seen
    validation: Seen
    calibration: Seen
    selection: Seen


class Evidence(Keys):
    """A file that speaks for something, by whom, and its digest."""

    what: str
    kind: Literal["", "third-party", "operator-assertion", "independent-verification"]
    file: File
    sha256: Blank | Sha256


class Listeners(Keys):
    """Who labelled the clips by listening."""

    number: Blank | Annotated[int, Field(ge=1)]
    adults: YesNo
    proficiency: str
    blinded: YesNo


class Reviewer(Keys):
    """Who looked at the evidence, when, and what they say of it."""

    name: str
    date: Day
    statement: str


class ReadinessKeys(Keys):
    """A whole readiness file. `listeners` is left out where nobody listened."""

    sources: Annotated[tuple[Source, ...], Field(min_length=1)]
    collection: Collection
    components: Annotated[tuple[Component, ...], Field(min_length=1)]
    inventories: Inventories
    evidence: Annotated[tuple[Evidence, ...], Field(min_length=1)]
    listeners: Listeners | None = None
    reviewer: Reviewer
