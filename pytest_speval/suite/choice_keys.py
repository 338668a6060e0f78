"""The keys of the sections `votes` and `select`: which label a clip has, and which clips are taken."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from pytest_speval.suite.base_keys import Keys, Said
from pytest_speval.suite.corpus_keys import Format

Number = Annotated[int, Field(ge=1)]
CAPS = ("per_class", "per_speaker", "speakers")
"""What `select` must give at least one of."""


class VoteColumns(Keys):
    """Role -> column of the votes. A role that is absent takes the column of its own name, where there is one.

    Without `counts` a row is one vote. With `counts` (option -> column) a row is a clip, and each option has a column.
    """

    clip: str | None = None
    split: str | None = None
    listener: str | None = None
    vote: str | None = None
    weight: str | None = None
    counts: Annotated[Mapping[str, str], Field(min_length=1)] | None = None


class Votes(Keys):
    """References from listeners: so many of them at least, and so many votes for one target and for no other."""

    file: Path
    format: Format = Format()
    columns: VoteColumns = VoteColumns()
    options: Annotated[tuple[Said, ...], Field(min_length=2)]
    targets: Annotated[tuple[Said, ...], Field(min_length=1)]
    listeners: Number = 3
    agree: Number = 2


class Select(Keys):
    """A part of the eligible clips, the same on every machine: by hash, under caps. At least one cap is given."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": [cap]} for cap in CAPS]})

    per_class: Number | None = None
    per_speaker: Number | None = None
    speakers: Number | None = None
    order: Literal["sha256"] = "sha256"
