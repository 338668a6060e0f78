"""Parts made for one test: rows in, what audits compare out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pytest_speval.audit.checks import CheckRule
from pytest_speval.audit.finding import Audit
from pytest_speval.audit.overlap import Parts, audit_overlap
from pytest_speval.corpus.part import Part
from pytest_speval.corpus.roles import Cell
from pytest_speval.strategies import PlantedManifest

Row = Mapping[str, Cell]


def part_of(name: str, rows: Sequence[Row], lines: Sequence[int] = ()) -> Part:
    """A part with a column for every cell but id and split, on the lines that follow a header."""
    columns = [column for column in (rows[0] if rows else ()) if column not in ("id", "split", "label")]
    return Part(
        name,
        f"{name}.csv",
        [f"{name}/{row['id']}" for row in rows],
        list(lines) or list(range(2, len(rows) + 2)),
        {column.replace("accent", "cohort.accent"): [row[column] for row in rows] for column in columns},
    )


def keyed(name: str, column: str, cells: Sequence[Cell]) -> Part:
    """A part of clips c0, c1, ... with one column."""
    return part_of(name, [{"id": f"c{place}", column: cell} for place, cell in enumerate(cells)])


def split_parts(manifest: PlantedManifest) -> dict[str, Part]:
    """A part for every split of a manifest, by name."""
    found = {}
    for split in manifest.splits:
        places = [place for place, row in enumerate(manifest.rows) if row["split"] == split]
        found[split] = part_of(split, [manifest.rows[place] for place in places], [place + 2 for place in places])
    return found


def parts_of(manifest: PlantedManifest, *, unlisted: Collection[str] = (), inventories: Collection[str] = ()) -> Parts:
    """The splits of a manifest as parts: evaluated ones, unlisted ones, and some that stand in inventories."""
    found = split_parts(manifest)
    evaluated = [found[name] for name in found if name not in unlisted and name not in inventories]
    return Parts(
        tuple(evaluated),
        tuple(found[name] for name in found if name in unlisted),
        tuple(found[name] for name in found if name in inventories),
    )


def audited(parts: Parts, check: str, *, named: bool = True, waived: str | None = None, **how: bool) -> Audit:
    """One check over parts."""
    return audit_overlap(CheckRule(check, named=named, waived=waived), parts, **how)
