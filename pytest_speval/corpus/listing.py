"""Which columns of a manifest play which role, and which of its rows are listed and taken out."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_speval.corpus.manifest import Manifest
from pytest_speval.corpus.projections import AXES
from pytest_speval.errors import FaultyFile

NUMBERS = frozenset({"seconds", *AXES})
"""Roles whose cells are numbers."""
RATING = "rating"
"""The role of human ratings: numbers too, and looked at only where a task holds answers against them."""
COHORT = "cohort."
"""How the role of a cohort's column begins; its cells may be lists."""
FIELD = re.compile(r"\{([^{}]+)\}")
"""A column in `audio_from`."""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A rule `exclude_where`: rows whose column holds one of these cells are taken out."""

    column: str
    cells: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Listing:
    """Which columns play which role, and which rows are listed and taken out.

    `roles` maps a role to its columns; a role of several columns is a tuple. `ranges` holds the range of each axis.
    `kept` holds, by role, words of `na` that mean something there.
    """

    roles: Mapping[str, tuple[str, ...]]
    audio_from: str | None = None
    split_is: str | None = None
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude: Mapping[str, str] = field(default_factory=dict)
    exclude_where: tuple[Exclusion, ...] = ()
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    kept: Mapping[str, frozenset[str]] = field(default_factory=dict)


def numeric_columns(listing: Listing) -> frozenset[str]:
    """The manifest's columns whose cells are numbers."""
    numbers = NUMBERS | {RATING}
    return frozenset(column for role, columns in listing.roles.items() if role in numbers for column in columns)


def text_columns(listing: Listing) -> frozenset[str]:
    """The manifest's columns whose cells must be strings."""
    return frozenset(column for _, column in asked(listing)) - numeric_columns(listing)


def list_columns(listing: Listing) -> frozenset[str]:
    """The manifest's columns that cohorts alone ask for: a list of groups may stand in their cells."""
    found = asked(listing)
    cohorts = {column for role, column in found if role.startswith(COHORT)}
    return frozenset(cohorts.difference(column for role, column in found if not role.startswith(COHORT)))


def asked(listing: Listing) -> list[tuple[str, str]]:
    """Every column that is read, with the role or key that asks for it."""
    found = [(role, column) for role, columns in listing.roles.items() for column in columns]
    found += [("exclude_where", rule.column) for rule in listing.exclude_where]
    found += [
        ("where", filtered(listing, name)) for name in listing.where if name != "split" or listing.split_is is None
    ]
    return found + [("audio_from", name) for name in FIELD.findall(listing.audio_from or "")]


def filtered(listing: Listing, name: str) -> str:
    """The column that a key of `where` means: a role's, if it has just one, else the column of that name."""
    columns = listing.roles.get(name, ())
    return columns[0] if len(columns) == 1 else name


def check_columns(manifest: Manifest, listing: Listing) -> None:
    """Raise `FaultyFile` with every column that is asked for and not there."""
    faults = []
    for role, column in asked(listing):
        if not manifest.has(column):
            near = difflib.get_close_matches(column, manifest.names, n=1)
            hint = f", did you mean `{near[0]}`?" if near else f"; its columns are {', '.join(manifest.names)}"
            faults.append(manifest.fault(None, "column-missing", f"no column `{column}` for `{role}`{hint}"))
    if faults:
        raise FaultyFile(faults)
