"""The clips a suite lists, in the order of its manifest, as columns.

A clip's identity is the pair (split, id). Rows that `where` leaves out are not listed. A listed clip that a rule of
the suite takes out before any call keeps its place and says why: it is excluded, counted, never scored.
"""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pytest_speval.corpus.entries import entries_of
from pytest_speval.corpus.labels import DROPPED, LabelRules
from pytest_speval.corpus.listing import NUMBERS, Listing, check_columns, filtered
from pytest_speval.corpus.manifest import Manifest
from pytest_speval.corpus.numbers import number_of
from pytest_speval.corpus.poll import Pollster
from pytest_speval.corpus.roles import Cell, digest_faults, identities_of, ids_of, role_cells, splits_of
from pytest_speval.errors import Fault, FaultyFile

CODES = {
    "unknown-split": "`where` asks for a split that no row has.",
    "id-missing": "A listed row has no id.",
    "conflicting-identity": "Two unequal rows share one (split, id).",
    "cell-missing": "A listed row lacks a cell its task needs.",
    "label-unknown": "A reference label has no rule in `labels`.",
    "number-expected": "A cell that must be a number is not one, or lies outside its declared range.",
    "exclude-unknown": "`exclude` names a clip that is not listed.",
}
UNITS = ("speaker", "session", "family")


@dataclass(frozen=True)
class Clips:
    """Listed clips as equally long columns; `excluded` holds a reason or None, `lines` the manifest's lines.

    `cells` maps a role to its raw cells; a role of several columns has tuples, None where a part is missing.
    """

    splits: list[str]
    ids: list[str]
    split_given: bool
    cells: Mapping[str, list[Cell]]
    audio: list[str] | None
    excluded: list[str | None]
    unlisted: frozenset[tuple[str, str]] = frozenset()
    notices: tuple[tuple[str, str], ...] = ()
    manifest_sha256: str = ""
    lines: Sequence[int] = ()

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def identities(self) -> frozenset[tuple[str, str]]:
        """Every (split, id) of the manifest, listed or not."""
        return self.unlisted.union(zip(self.splits, self.ids, strict=True))

    def name(self, index: int) -> str:
        """`split/id`, or the id alone where the manifest has no split."""
        return f"{self.splits[index]}/{self.ids[index]}" if self.split_given else self.ids[index]

    @property
    def planned(self) -> list[int]:
        """The places of the clips that no rule takes out."""
        return [index for index, reason in enumerate(self.excluded) if reason is None]


def list_clips(
    manifest: Manifest,
    listing: Listing,
    labels: LabelRules | None,
    needed: Iterable[str],
    inside_root: Callable[[str], Path],
    poll: Pollster | None = None,
) -> Clips:
    """List the clips of a suite; with a `poll` their labels are what listeners say.

    `needed` are the roles that every planned clip must have; `inside_root` resolves an entry that looks unusual, or
    raises `AudioFault`. Raises `FaultyFile` with every fault found.
    """
    check_columns(manifest, listing)
    rows = _listed_rows(manifest, listing)
    faults: list[Fault] = []
    raw = role_cells(manifest, listing, rows)
    splits = splits_of(manifest, listing, rows, faults)
    ids = ids_of(manifest, raw.pop("id"), rows, faults)
    if faults:
        raise FaultyFile(faults)
    keep, notices = _unique_rows(manifest, rows, splits, ids, faults)
    if len(keep) < len(rows):
        rows = [rows[index] for index in keep]
        splits = [splits[index] for index in keep]
        ids = [ids[index] for index in keep]
        raw = {role: [cells[index] for index in keep] for role, cells in raw.items()}
    unlisted = identities_of(manifest, listing) if listing.where else frozenset()
    said = None if poll is None else poll(list(zip(splits, ids, strict=True)), unlisted)
    if said is not None:
        raw |= {"label": list(said.labels), "votes": list(said.cells)}
        notices += said.notices
    entries = entries_of(manifest, listing, raw.pop("audio", None), rows, inside_root, faults)
    given = "split" in listing.roles or listing.split_is is not None
    undecided = [None] * len(rows) if said is None else said.reasons
    excluded = _excluded(manifest, listing, labels, raw, rows, splits, ids, given, undecided, faults)
    faults += digest_faults(manifest, raw, rows)
    _check_cells(manifest, listing, labels, raw, rows, excluded, needed, faults)
    if entries is not None:
        _check_missing(manifest, "sound file", entries, rows, excluded, faults)
    if faults:
        raise FaultyFile(faults)
    audio = None if entries is None else [entry or "" for entry in entries]
    lines = [manifest.line(row) for row in rows]
    told = (*manifest.notices, *notices)
    return Clips(splits, ids, given, raw, audio, excluded, unlisted, told, manifest.sha256, lines)


def _listed_rows(manifest: Manifest, listing: Listing) -> list[int]:
    rows = list(range(len(manifest.rows)))
    for name, wanted in listing.where.items():
        if name == "split" and listing.split_is is not None:
            present: list[str | None] = [listing.split_is] * len(manifest.rows)
        else:
            present = manifest.column(filtered(listing, name), keep_na=True)
        unknown = sorted(set(wanted) - set(present))
        if unknown:
            known = ", ".join(sorted({str(cell) for cell in present})[:20])
            message = f"no row has {name} `{unknown[0]}`; there is {known}"
            raise FaultyFile([manifest.fault(None, "unknown-split", message)])
        kept = frozenset(wanted)
        rows = [row for row in rows if present[row] in kept]
    if not rows:
        raise FaultyFile([manifest.fault(None, "no-rows", "`where` leaves 0 rows")])
    return rows


def _unique_rows(
    manifest: Manifest, rows: Sequence[int], splits: Sequence[str], ids: Sequence[str], faults: list[Fault]
) -> tuple[list[int], list[tuple[str, str]]]:
    """The places to keep: equal rows of one identity are one clip and a notice, unequal ones a fault."""
    keys = list(zip(splits, ids, strict=True))
    if len(set(keys)) == len(keys):
        return list(range(len(keys))), []
    first: dict[tuple[str, str], int] = {}
    keep: list[int] = []
    repeated: Counter[tuple[str, str]] = Counter()
    for index, key in enumerate(keys):
        if key not in first:
            first[key] = index
            keep.append(index)
        elif manifest.rows[rows[first[key]]] == manifest.rows[rows[index]]:
            repeated[key] += 1
        else:
            earlier = manifest.line(rows[first[key]])
            message = f"`{key[0]}/{key[1]}` also stands on line {earlier}, with other cells"
            faults.append(manifest.fault(rows[index], "conflicting-identity", message))
    notices = [
        ("repeated-row", f"{split}/{name} stands {count + 1} times; it is one clip")
        for (split, name), count in repeated.items()
    ]
    return keep, notices


def _excluded(
    manifest: Manifest,
    listing: Listing,
    labels: LabelRules | None,
    raw: Mapping[str, list[Cell]],
    rows: Sequence[int],
    splits: Sequence[str],
    ids: Sequence[str],
    given: bool,
    undecided: Sequence[str | None],
    faults: list[Fault],
) -> list[str | None]:
    excluded = list(undecided)
    if labels is not None and labels.drop:
        dropped = {cell for cell in set(raw["label"]) if isinstance(cell, str) and labels.reference_of(cell) == DROPPED}
        excluded = [
            f"label {cell} is dropped" if cell in dropped else reason
            for cell, reason in zip(raw["label"], excluded, strict=True)
        ]
    for rule in listing.exclude_where:
        cells, wanted = manifest.column(rule.column, keep_na=True), frozenset(rule.cells)
        for index, row in enumerate(rows):
            if excluded[index] is None and cells[row] in wanted:
                excluded[index] = rule.reason
    if listing.exclude:
        places = {f"{split}/{name}": index for index, (split, name) in enumerate(zip(splits, ids, strict=True))}
        if not given:
            places |= {name: index for index, name in enumerate(ids)}
        for name, reason in listing.exclude.items():
            if name not in places:
                near = difflib.get_close_matches(name, places, n=1)
                hint = f", did you mean `{near[0]}`?" if near else ""
                faults.append(
                    manifest.fault(None, "exclude-unknown", f"`exclude` names `{name}`, which is not listed{hint}")
                )
            elif excluded[places[name]] is None:
                excluded[places[name]] = reason
    return excluded


def _check_cells(
    manifest: Manifest,
    listing: Listing,
    labels: LabelRules | None,
    raw: Mapping[str, list[Cell]],
    rows: Sequence[int],
    excluded: Sequence[str | None],
    needed: Iterable[str],
    faults: list[Fault],
) -> None:
    for role in needed:
        if role in raw:
            _check_missing(manifest, role, raw[role], rows, excluded, faults)
    if labels is not None:
        counts = Counter(
            cell
            for cell, reason in zip(raw["label"], excluded, strict=True)
            if reason is None and isinstance(cell, str)
        )
        for cell, count in sorted(counts.items()):
            if labels.reference_of(cell) is None:
                message = (
                    f"the label `{cell}` ({count} clips) has no rule: add it to `labels.reference` or `labels.drop`"
                )
                faults.append(manifest.fault(None, "label-unknown", message))
    for role in NUMBERS & raw.keys():
        low, high = listing.ranges.get(role, (0.0, math.inf))
        faults += [
            manifest.fault(rows[index], "number-expected", f"{role} `{cell}` is not a number from {low:g} to {high:g}")
            for index, cell in enumerate(raw[role])
            if cell is not None and excluded[index] is None and not _in_range(cell, low, high)
        ]


def _check_missing(
    manifest: Manifest,
    what: str,
    cells: Sequence[Cell],
    rows: Sequence[int],
    excluded: Sequence[str | None],
    faults: list[Fault],
) -> None:
    if None in cells:
        faults += [
            manifest.fault(row, "cell-missing", f"no {what}")
            for row, cell, reason in zip(rows, cells, excluded, strict=True)
            if cell is None and reason is None
        ]


def _in_range(cell: Cell, low: float, high: float) -> bool:
    number = number_of(str(cell))
    return number is not None and math.isfinite(number) and low <= number <= high
