"""A file of listeners' votes: one vote a row, or one clip a row with a count for each option.

Every row is checked, also those of clips that are not listed: a file with a damaged row is a damaged file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_speval.corpus.manifest import Format, Manifest, read_manifest
from pytest_speval.corpus.votes import MAX_WEIGHT, NO_VOTES, Tally, Vote, VoteRules
from pytest_speval.errors import Fault, FaultyFile
from pytest_speval.suite.choice_keys import VoteColumns
from pytest_speval.suite.shape import nearest

CODES = {
    "vote-option-unknown": "A vote is for an option that `votes.options` does not have.",
    "vote-cell-missing": "A row of the votes lacks a cell: clip, split, listener, vote, weight or a count.",
    "vote-conflict": "One listener has two unequal rows for one clip, or one clip two unequal rows of counts.",
    "vote-count": "A count of votes is not a whole number from 0 to 999,999,999.",
    "vote-weight": "The weight of a vote is not a number above 0 and up to 1,000,000.",
    "repeated-vote": "Rows of the votes that repeat an earlier one, cell for cell, count once.",
    "vote-clip-ambiguous": "The votes have no split, and name an id that several splits have.",
}
TEXTS = ("clip", "split", "listener", "vote")
ROLES = (*TEXTS, "weight")
NEEDED = ("clip", "vote")
_COUNT = re.compile(r"([0-9]{1,9})(\.0+)?", re.ASCII)
_NUMBER = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_Key = tuple[str, str]


@dataclass(frozen=True)
class Ballots:
    """The votes of a file: a tally for each listed clip in its order, without votes where the file has none.

    `elsewhere` counts the clips that have votes and are not listed, `votes_elsewhere` their votes.
    """

    tallies: list[Tally]
    sha256: str
    elsewhere: int = 0
    votes_elsewhere: int = 0
    notices: tuple[tuple[str, str], ...] = ()


def read_ballots(
    path: Path,
    shown_as: str,
    form: Format,
    columns: VoteColumns,
    rules: VoteRules,
    listed: Sequence[_Key],
    unlisted: Collection[_Key] = frozenset(),
) -> Ballots:
    """Read the votes on the clips `listed`, each a (split, id).

    Clips are matched by split and id where the votes have a split, else by id alone; `unlisted` are the identities of
    the manifest that are not listed, for an id that they share would be ambiguous. Raises `FaultyFile` with every
    fault found.
    """
    counts = columns.counts or {}
    named = {role: getattr(columns, role) or role for role in ROLES}
    texts = {named[role] for role in (("clip", "split") if counts else TEXTS)}
    manifest = read_manifest(path, shown_as, form, texts=texts, empty=True)
    if not manifest.rows:
        raise FaultyFile([manifest.fault(None, "no-rows", "the file of votes has 0 rows")])
    roles = _roles(manifest, columns, named)
    faults: list[Fault] = []
    keys = _keys(manifest, roles, listed, unlisted, faults)
    tallies, repeats = (
        _counted(manifest, counts, keys, faults) if counts else _voted(manifest, roles, rules.options, keys, faults)
    )
    if faults:
        raise FaultyFile(faults)
    mine = [(split if "split" in roles else "", clip) for split, clip in listed]
    rest = tallies.keys() - set(mine)
    return Ballots(
        tallies=[tallies.get(key, NO_VOTES) for key in mine],
        sha256=manifest.sha256,
        elsewhere=len(rest),
        votes_elsewhere=sum(tallies[key].total for key in rest),
        notices=(*manifest.notices, *_repeated(manifest, repeats)),
    )


def _roles(manifest: Manifest, columns: VoteColumns, named: dict[str, str]) -> dict[str, str]:
    """Role -> column, for the roles that have one; raises `FaultyFile` for a column that is not there."""
    wanted = ROLES if columns.counts is None else ("clip", "split")
    asked = [(role, named[role], role in NEEDED or getattr(columns, role) is not None) for role in wanted]
    asked += [(f"counts.{option}", column, True) for option, column in (columns.counts or {}).items()]
    faults = [
        manifest.fault(None, "column-missing", f"no column `{column}` for `{role}`{nearest(column, manifest.names)}")
        for role, column, needed in asked
        if needed and not manifest.has(column)
    ]
    if faults:
        raise FaultyFile(faults)
    return {role: named[role] for role in wanted if manifest.has(named[role])}


def _keys(
    manifest: Manifest,
    roles: Mapping[str, str],
    listed: Sequence[_Key],
    unlisted: Collection[_Key],
    faults: list[Fault],
) -> list[_Key | None]:
    """The clip of each row, None where it is missing; without a split in the votes its split is empty."""
    clips = _cells(manifest, roles["clip"], "clip", faults)
    if "split" in roles:
        pairs = zip(_cells(manifest, roles["split"], "split", faults), clips, strict=True)
        return [pair if all(pair) else None for pair in pairs]
    splits: dict[str, set[str]] = {}
    for split, clip in (*listed, *unlisted):
        splits.setdefault(clip, set()).add(split)
    for clip, row in {clip: row for row, clip in reversed([*enumerate(clips)])}.items():
        if len(found := splits.get(clip, ())) > 1:
            message = f"`{clip}` is in the splits {', '.join(sorted(found))}: name a column in `votes.columns.split`"
            faults.append(manifest.fault(row, "vote-clip-ambiguous", message))
    return [("", clip) if clip else None for clip in clips]


def _cells(manifest: Manifest, column: str, what: str, faults: list[Fault]) -> list[str]:
    """The cells of a column, each of which must be there; a missing one is a fault and stands as ""."""
    cells = manifest.column(column)
    faults += [manifest.fault(row, "vote-cell-missing", f"no {what}") for row, cell in enumerate(cells) if not cell]
    return [cell or "" for cell in cells]


def _voted(
    manifest: Manifest,
    roles: Mapping[str, str],
    options: Sequence[str],
    keys: Sequence[_Key | None],
    faults: list[Fault],
) -> tuple[dict[_Key, Tally], list[int]]:
    """Tallies from one vote a row, and the rows that repeat an earlier one."""
    chosen = _cells(manifest, roles["vote"], "vote", faults)
    listeners: list[str] | None = None
    if "listener" in roles:
        listeners = _cells(manifest, roles["listener"], "listener", faults)
    weights = _weights(manifest, roles.get("weight"), faults)
    first: dict[tuple[_Key, str], int] = {}
    votes: dict[_Key, list[Vote]] = {}
    repeats: list[int] = []
    for row, (key, option) in enumerate(zip(keys, chosen, strict=True)):
        if option and option not in options:
            message = f"`{option}` is not in votes.options{nearest(option, options)}"
            faults.append(manifest.fault(row, "vote-option-unknown", message))
        listener = listeners[row] if listeners is not None else None
        if key is None or listener == "":
            continue
        if listener is not None and (earlier := first.setdefault((key, listener), row)) != row:
            _compare(manifest, earlier, row, f"the vote of `{listener}` on `{key[1]}`", repeats, faults)
            continue
        votes.setdefault(key, []).append(Vote(option, listener, weights[row]))
    return {key: Tally.of_votes(found) for key, found in votes.items()}, repeats


def _counted(
    manifest: Manifest, counts: Mapping[str, str], keys: Sequence[_Key | None], faults: list[Fault]
) -> tuple[dict[_Key, Tally], list[int]]:
    """Tallies from one clip a row, and the rows that repeat an earlier one."""
    columns = [_numbers(manifest, column, option, faults) for option, column in counts.items()]
    first: dict[_Key, int] = {}
    tallies: dict[_Key, Tally] = {}
    repeats: list[int] = []
    for row, (key, numbers) in enumerate(zip(keys, zip(*columns, strict=True), strict=True)):
        if key is None:
            continue
        if (earlier := first.setdefault(key, row)) != row:
            _compare(manifest, earlier, row, f"the clip `{key[1]}`", repeats, faults)
            continue
        tallies[key] = Tally.of_counts(dict(zip(counts, numbers, strict=True)))
    return tallies, repeats


def _compare(manifest: Manifest, earlier: int, row: int, what: str, repeats: list[int], faults: list[Fault]) -> None:
    if manifest.rows[earlier] == manifest.rows[row]:
        repeats.append(row)
    else:
        message = f"{what} also stands on line {manifest.line(earlier)}, with other cells"
        faults.append(manifest.fault(row, "vote-conflict", message))


def _numbers(manifest: Manifest, column: str, option: str, faults: list[Fault]) -> list[int]:
    found = []
    for row, cell in enumerate(_cells(manifest, column, f"count of {option}", faults)):
        number = _COUNT.fullmatch(cell)
        if cell and number is None:
            message = f"the count of {option} is `{cell}`: not a whole number from 0 to 999,999,999"
            faults.append(manifest.fault(row, "vote-count", message))
        found.append(int(number[1]) if number else 0)
    return found


def _weights(manifest: Manifest, column: str | None, faults: list[Fault]) -> list[float | None]:
    if column is None:
        return [None] * len(manifest.rows)
    found: list[float | None] = []
    for row, cell in enumerate(_cells(manifest, column, "weight", faults)):
        number = float(cell) if _NUMBER.fullmatch(cell) else 0.0
        if cell and not 0 < number <= MAX_WEIGHT:
            faults.append(
                manifest.fault(
                    row, "vote-weight", f"the weight `{cell}` is not a number above 0 and up to {MAX_WEIGHT:,.0f}"
                )
            )
        found.append(number)
    return found


def _repeated(manifest: Manifest, repeats: Sequence[int]) -> Iterator[tuple[str, str]]:
    if repeats:
        lines = ", ".join(str(manifest.line(row)) for row in repeats[:5])
        more = f" and {len(repeats) - 5:,} more" if len(repeats) > 5 else ""
        rows = "row repeats" if len(repeats) == 1 else "rows repeat"
        what = f"{len(repeats):,} {rows} an earlier one, cell for cell, and no vote is counted twice"
        yield "repeated-vote", f"{what}: {lines}{more}"
