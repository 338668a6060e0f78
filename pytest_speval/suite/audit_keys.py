"""The keys of the section `audit`: what a corpus must not share with what a model has seen."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field

from pytest_speval.suite.base_keys import ItemName, Keys, Said
from pytest_speval.suite.corpus_keys import Columns, Format

CHECKS = ("speakers", "sessions", "families", "texts", "sources", "bytes", "samples", "near")
"""The checks that hold splits and inventories against each other, in the order of their items."""


class Waived(Keys):
    """What a check finds is known and accepted; the reason stands at the top of every report."""

    waived: Said


Check = Literal["disjoint", "unchecked"] | Waived


class Inventory(Keys):
    """A list of what a model has seen, with columns as in a manifest; its rows take its name as split."""

    file: Path
    format: Format = Format()
    columns: Columns = Columns()


class Period(Keys):
    """The first and the last day."""

    from_: datetime.date = Field(alias="from")
    to: datetime.date


class Dates(Keys):
    """When the corpus was collected, and since when no component of the model has changed."""

    corpus: Period | None = None
    model_frozen: datetime.date | None = None


class AuditSection(Keys):
    """What is looked for before the first call. A check that is absent takes the default of its kind."""

    speakers: Check | None = None
    sessions: Check | None = None
    families: Check | None = None
    texts: Check | None = None
    sources: Check | None = None
    bytes: Check | None = None
    samples: Check | None = None
    near: Check | None = None
    duplicates: Literal["report", "forbid"] = "report"
    unknown_speakers: Literal["forbid", "quarantine"] = "forbid"
    against: Mapping[ItemName, Literal["unavailable"] | Path | Inventory] = {}
    needs: tuple[ItemName, ...] = ()
    dates: Dates | None = None
