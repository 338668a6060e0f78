"""The cells of a manifest by the role that their columns play."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pytest_speval.corpus.listing import Listing
from pytest_speval.corpus.manifest import Manifest
from pytest_speval.corpus.records import Cell as Cell
from pytest_speval.errors import Fault

CODES = {"digest-malformed": "A cell that should hold a SHA-256 does not hold 64 hexadecimal digits."}
ONE_SPLIT = "test"
TEXTS = frozenset({"text", "transcript"})
DIGESTS = ("bytes_sha256", "samples_sha256")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}", re.ASCII)


def role_cells(manifest: Manifest, listing: Listing, rows: Sequence[int]) -> dict[str, list[Cell]]:
    every = len(rows) == len(manifest.rows)
    raw: dict[str, list[Cell]] = {}
    for role, columns in listing.roles.items():
        if role == "split":
            continue
        keep = manifest.na if role in TEXTS else listing.kept.get(role, frozenset())
        parts = [manifest.cells(column, keep) for column in columns]
        if not every:
            parts = [[cells[row] for row in rows] for cells in parts]
        cells: list[Cell] = (
            list(parts[0]) if len(parts) == 1 else [_joined(cells) for cells in zip(*parts, strict=True)]
        )
        raw[role] = cells if role in ("id", "audio") else _shared(cells)
    return raw


def _shared(cells: list[Cell]) -> list[Cell]:
    """The same cells, with one object for equal ones: labels and speakers recur."""
    first: dict[Cell, Cell] = {}
    return [first.setdefault(cell, cell) for cell in cells]


def _joined(cells: tuple[Cell, ...]) -> tuple[str, ...] | None:
    whole = tuple(cell for cell in cells if isinstance(cell, str))
    return whole if len(whole) == len(cells) else None


def digest_faults(manifest: Manifest, cells: Mapping[str, Sequence[Cell]], rows: Sequence[int]) -> list[Fault]:
    """The cells of digests that are none: nothing could ever equal them, and so a copy would never be found."""
    return [
        manifest.fault(row, "digest-malformed", f"{role} `{cell}` is not 64 hexadecimal digits")
        for role in DIGESTS
        for row, cell in zip(rows, cells.get(role, ()), strict=False)
        if isinstance(cell, str) and not _SHA256.fullmatch(cell)
    ]


def splits_of(manifest: Manifest, listing: Listing, rows: Sequence[int], faults: list[Fault]) -> list[str]:
    if "split" not in listing.roles:
        return [listing.split_is or ONE_SPLIT] * len(rows)
    cells = manifest.column(listing.roles["split"][0])
    splits = [cells[row] for row in rows]
    faults += [
        manifest.fault(row, "cell-missing", "no split") for row, cell in zip(rows, splits, strict=True) if not cell
    ]
    return [cell or "" for cell in splits]


def ids_of(manifest: Manifest, cells: Sequence[Cell], rows: Sequence[int], faults: list[Fault]) -> list[str]:
    faults += [manifest.fault(row, "id-missing", "no id") for row, cell in zip(rows, cells, strict=True) if not cell]
    return [cell if isinstance(cell, str) else "_".join(cell or ()) for cell in cells]


def identities_of(manifest: Manifest, listing: Listing) -> frozenset[tuple[str, str]]:
    """Every (split, id) of the manifest, listed or not."""
    rows = range(len(manifest.rows))
    cells = role_cells(manifest, Listing({"id": listing.roles["id"]}), rows)["id"]
    split = (
        manifest.column(listing.roles["split"][0])
        if "split" in listing.roles
        else [listing.split_is or ONE_SPLIT] * len(rows)
    )
    return frozenset((part or "", name) for part, name in zip(split, ids_of(manifest, cells, rows, []), strict=True))
