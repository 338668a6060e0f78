"""The entries of a manifest: which sound file belongs to each row. Nothing is opened."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_speval.corpus.listing import FIELD, Listing
from pytest_speval.corpus.manifest import Manifest
from pytest_speval.errors import AudioFault, Fault

_UNUSUAL = re.compile(r"^[/~]|\.\.|[:\\\0]", re.MULTILINE)
"""An entry that may lead out of its root by its spelling alone; in many joined by line ends, any of them."""


def entries_of(
    manifest: Manifest,
    listing: Listing,
    cells: Sequence[object] | None,
    rows: Sequence[int],
    inside_root: Callable[[str], Path],
    faults: list[Fault],
) -> list[str | None] | None:
    """Each row's entry, None where a cell is missing; None for a manifest without sound.

    `inside_root` resolves an entry that looks unusual, or raises `AudioFault`, which becomes a fault at its row.
    """
    if listing.audio_from is not None:
        entries = _filled(manifest, listing.audio_from, rows)
    elif cells is not None:
        entries = [cell if isinstance(cell, str) else None for cell in cells]
    else:
        return None
    if not _UNUSUAL.search("\n".join(filter(None, entries))):
        return entries
    for row, entry in zip(rows, entries, strict=True):
        if entry and _UNUSUAL.search(entry):
            try:
                inside_root(entry)
            except AudioFault as fault:
                faults.append(manifest.fault(row, fault.code, fault.message))
    return entries


def _filled(manifest: Manifest, template: str, rows: Sequence[int]) -> list[str | None]:
    """The template with each row's cells put in, None where one is missing."""
    first, *pieces = FIELD.split(template)
    parts = [(manifest.column(name), text) for name, text in zip(pieces[::2], pieces[1::2], strict=True)]
    entries: list[str | None] = []
    for row in rows:
        cells = [column[row] for column, _ in parts]
        whole = [f"{cell}{text}" for cell, (_, text) in zip(cells, parts, strict=True) if cell is not None]
        entries.append("".join((first, *whole)) if len(whole) == len(cells) else None)
    return entries
