"""Whether the keys of a corpus agree with one another: one speaker, one cohort set; one recording, one speaker."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from pytest_speval.audit.finding import Finding
from pytest_speval.corpus.cohorts import CohortRule
from pytest_speval.corpus.part import Part
from pytest_speval.corpus.roles import Cell

CODES = {
    "cohorts-differ": "One speaker has rows with different cohorts.",
    "conflicting-rows": "One clip of another split or inventory has rows that differ.",
    "recording-of-two-speakers": "One recording stands under two speakers.",
}
SHOWN = 5


def identity_findings(parts: Sequence[Part], cohorts: Mapping[str, CohortRule]) -> list[Finding]:
    """Look for keys that contradict each other, over all parts; nothing is corrected."""
    return [*_cohorts(parts, cohorts), *_recordings(parts), *_rows(parts)]


def _cohorts(parts: Sequence[Part], cohorts: Mapping[str, CohortRule]) -> Iterator[Finding]:
    for name, rule in sorted(cohorts.items()):
        cells, clips = _gathered(parts, "speaker", f"cohort.{name}")
        said = {key: {_named(rule, cell) for cell in found} for key, found in cells.items()}
        unlike = {key: groups for key, groups in said.items() if len(groups) > 1}
        if unlike:
            told = f"{len(unlike):,} speakers have rows with different cohorts {name}: {_shown(unlike)}"
            yield Finding(
                "notice", "cohorts-differ", told, tuple(clip for key in unlike for clip in sorted(clips[key]))
            )


def _named(rule: CohortRule, cell: Cell) -> Cell:
    """The groups of a cell, whatever their order in it; None where it names none."""
    return tuple(group.value for group in rule.groups(cell) if group.value is not None) or None


def _rows(parts: Sequence[Part]) -> Iterator[Finding]:
    """Among listed clips unequal rows of one clip are a fault of the manifest; elsewhere they are only told."""
    for part in parts:
        if len(set(part.clips)) == len(part.clips):
            continue
        rows: dict[str, set[tuple[Cell, ...]]] = defaultdict(set)
        for clip, cells in zip(part.clips, zip(*part.cells.values(), strict=True), strict=True):
            rows[clip].add(cells)
        unlike = tuple(sorted(clip for clip, cells in rows.items() if len(cells) > 1))
        if unlike:
            told = f"{len(unlike):,} clips of {part.name} stand on several rows that differ"
            yield Finding("notice", "conflicting-rows", told, unlike)


def _recordings(parts: Sequence[Part]) -> Iterator[Finding]:
    known: set[str] = set()
    for role, what in (("samples_sha256", "recordings"), ("bytes_sha256", "files")):
        said, clips = _gathered(parts, role, "speaker")
        # equal bytes are equal samples: telling it once is enough
        unlike = {
            key: cells for key, cells in said.items() if len(cells - {None}) > 1 and not known.issuperset(clips[key])
        }
        if unlike:
            told = f"{len(unlike):,} {what} stand under two speakers: {_shown(unlike, with_key=False)}"
            named = tuple(clip for key in unlike for clip in sorted(clips[key]))
            known |= set(named)
            yield Finding("warning", "recording-of-two-speakers", told, named)


def _gathered(
    parts: Sequence[Part], key_role: str, cell_role: str
) -> tuple[dict[Cell, set[Cell]], dict[Cell, list[str]]]:
    """For each key all cells that stand beside it, and its clips, in the order of the keys."""
    digest = key_role.endswith("_sha256")
    said: dict[Cell, set[Cell]] = defaultdict(set)
    clips: dict[Cell, list[str]] = defaultdict(list)
    for part in parts:
        if key_role not in part.cells or cell_role not in part.cells:
            continue
        for clip, key, cell in zip(part.clips, part.cells[key_role], part.cells[cell_role], strict=True):
            if key is not None:
                key = key.lower() if digest and isinstance(key, str) else key
                said[key].add(cell)
                clips[key].append(clip)
    return {key: said[key] for key in sorted(said, key=str)}, clips


def _shown(unlike: dict[Cell, set[Cell]], *, with_key: bool = True) -> str:
    pieces = []
    for key, cells in list(unlike.items())[:SHOWN]:
        spelt = " and ".join(sorted("none" if cell is None else f"`{_text(cell)}`" for cell in cells))
        pieces.append(f"`{_text(key)}` {spelt}" if with_key else spelt)
    more = f", and {len(unlike) - SHOWN:,} more" if len(unlike) > SHOWN else ""
    return ", ".join(pieces) + more


def _text(cell: Cell) -> str:
    return " ".join(cell) if isinstance(cell, tuple) else str(cell)
