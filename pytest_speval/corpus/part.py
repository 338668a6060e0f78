"""A part of all the recordings there are: one split of a manifest, or one inventory of what a model has seen.

Parts are what audits hold against each other. A part need not be listed, and its sound need not be there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from pytest_speval.corpus.entries import entries_of
from pytest_speval.corpus.entry import resolve_entry
from pytest_speval.corpus.listing import Listing, check_columns
from pytest_speval.corpus.manifest import Manifest
from pytest_speval.corpus.roles import Cell, digest_faults, role_cells, splits_of
from pytest_speval.errors import Fault, FaultyFile


@dataclass(frozen=True)
class Part:
    """Rows of one name as equally long columns: the clip's name, the line it stands on, and cells by role.

    `entries` are sound files below `root`, None for a part without sound. `shown_as` is the file the
    rows are from, `sha256` the digest of its bytes.
    """

    name: str
    shown_as: str
    clips: Sequence[str]
    lines: Sequence[int]
    cells: Mapping[str, Sequence[Cell]]
    entries: Sequence[str | None] | None = None
    root: Path = field(default_factory=Path)
    sha256: str = ""

    def __len__(self) -> int:
        return len(self.clips)


def unlisted_parts(manifest: Manifest, listing: Listing, root: Path, listed: Set[int]) -> tuple[Part, ...]:
    """The rows that do not stand on the lines `listed`, by split in the order of names.

    Raises `FaultyFile`, also for a row without a split: it would serve no audit.
    """
    faults: list[Fault] = []
    by_split: dict[str, list[int]] = {}
    rows = range(len(manifest.rows))
    for row, split in zip(rows, splits_of(manifest, listing, rows, faults), strict=True):
        if manifest.line(row) not in listed:
            by_split.setdefault(split, []).append(row)
    if faults:
        raise FaultyFile(faults)
    return tuple(_part(name, manifest, listing, root, by_split[name], named=True) for name in sorted(by_split))


def whole_part(name: str, manifest: Manifest, listing: Listing, root: Path) -> Part:
    """All rows of an inventory; raises `FaultyFile` for columns that are not there."""
    check_columns(manifest, listing)
    return _part(name, manifest, listing, root, range(len(manifest.rows)), named=False)


def _part(name: str, manifest: Manifest, listing: Listing, root: Path, rows: Sequence[int], *, named: bool) -> Part:
    faults: list[Fault] = []
    inside: Callable[[str], Path] = lambda entry: resolve_entry(root, entry)  # noqa: E731
    cells = role_cells(manifest, listing, rows)
    ids = cells.pop("id", None)
    entries = entries_of(manifest, listing, cells.pop("audio", None), rows, inside, faults)
    faults += digest_faults(manifest, cells, rows)
    if faults:
        raise FaultyFile(faults)
    lines = [manifest.line(row) for row in rows]
    clips = [_name(cell, line) for cell, line in zip(ids or [None] * len(lines), lines, strict=True)]
    shown = [f"{name}/{clip}" for clip in clips] if named else clips
    return Part(name, manifest.shown_as, shown, lines, cells, entries, root, manifest.sha256)


def _name(cell: Cell, line: int) -> str:
    """A clip's id, or its line where an inventory has none."""
    if cell is None:
        return f"line {line}"
    return cell if isinstance(cell, str) else "_".join(cell)
