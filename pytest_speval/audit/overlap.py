"""What the evaluated clips share with other splits and with what the model has seen.

Every key that stands on two sides is a violation, and every violation is listed. Nothing is repaired or moved.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from pytest_speval.audit.checks import ROLES, CheckRule
from pytest_speval.audit.finding import Audit, Finding, Severity, Side, Violation
from pytest_speval.corpus.part import Part
from pytest_speval.corpus.spelling import folded, plain_text

CODES = {
    "speakers-shared": "A speaker of the evaluated clips stands in another split or inventory too.",
    "sessions-shared": "A session of the evaluated clips stands in another split or inventory too.",
    "families-shared": "A content family of the evaluated clips stands in another split or inventory too.",
    "texts-shared": "A text of the evaluated clips stands in another split or inventory too.",
    "sources-shared": "A recording that clips were derived from stands in another split or inventory too.",
    "bytes-shared": "A file of the evaluated clips stands in another split or inventory too, byte for byte.",
    "samples-shared": "A recording stands in another split or inventory too, sample for sample.",
    "key-unknown": "Clips without the key of a check: that they share nothing is not proven.",
    "not-compared": "Another split or inventory has nothing that a check could compare.",
    "inventory-unavailable": "The suite says that an inventory cannot be had.",
    "near-equal-keys": "Two keys differ only in case, blanks or Unicode form.",
}
NOUNS = {"bytes": "files", "samples": "recordings"}
Key = str | tuple[str, ...]


@dataclass(frozen=True)
class Parts:
    """All that is compared: the evaluated clips by split, the other splits of the manifest, the inventories.

    `rest` are rows of evaluated splits that are not evaluated themselves: `where` or a rule leaves them out. They count
    as seen by whoever was given their split. `unavailable` names the inventories that the suite says cannot be had.
    """

    evaluated: tuple[Part, ...]
    unlisted: tuple[Part, ...] = ()
    inventories: tuple[Part, ...] = ()
    unavailable: tuple[str, ...] = ()
    rest: tuple[Part, ...] = ()

    @property
    def pairs(self) -> Iterator[tuple[Part, Part]]:
        """Every two parts that must share nothing, those with evaluated clips first."""
        splits = (*self.evaluated, *self.unlisted)
        for one, other in combinations(splits, 2):
            yield one, other
        for one in self.evaluated:
            yield from ((one, other) for other in self.rest if other.name != one.name)
        for one in splits:
            for inventory in self.inventories:
                yield one, inventory

    @property
    def compared(self) -> tuple[str, ...]:
        """The names of what evaluated clips are held against, in their order."""
        names = {other.name for one, other in self.pairs if one in self.evaluated}
        return tuple(sorted(names | {one.name for one, other in self.pairs if other in self.evaluated}))

    @property
    def whole(self) -> tuple[Part, ...]:
        """Every part."""
        return (*self.evaluated, *self.unlisted, *self.rest, *self.inventories)


def audit_overlap(rule: CheckRule, parts: Parts, *, quarantine: bool = False) -> Audit:
    """Hold every part's keys against every other's; `quarantine` makes clips without a speaker a warning."""
    grave: Severity = "error" if rule.waived is None else "warning"
    keys = {id(part): keys_of(part, rule.name) for part in parts.whole}
    findings: list[Finding] = []
    violations: list[Violation] = []
    pairs = list(parts.pairs)
    involved = [part for part in parts.whole if any(part is side for pair in pairs for side in pair)]
    if not pairs:
        findings.append(Finding("warning", "not-compared", "nothing was compared: nothing is there to compare with"))
    for one, other in pairs:
        ours, theirs = keys[id(one)], keys[id(other)]
        if ours is None or theirs is None:
            continue
        if _widths(ours) and _widths(theirs) and _widths(ours).isdisjoint(_widths(theirs)):
            told = f"{_noun(rule.name)} is joined of more columns in one of {one.name} and {other.name}: not compared"
            findings.append(Finding(grave if rule.named else "warning", "not-compared", told))
            continue
        shared = _shared(rule.name, one, ours, other, theirs)
        violations += shared
        if shared:
            alone = len(parts.evaluated) == 1 and one in parts.evaluated
            findings.append(_told(rule, grave, shared, one, ours, other, alone=alone))
        findings += _alike(rule.name, one, ours, other, theirs)
    findings += [
        finding for part in involved for finding in _unknown(rule, grave, part, keys[id(part)], quarantine=quarantine)
    ]
    findings += [
        Finding("notice", "inventory-unavailable", f"{name} is unavailable: nothing was compared with it")
        for name in parts.unavailable
    ]
    findings.sort(key=lambda found: ("error", "warning", "notice").index(found.severity))
    blind = {part.name for part in parts.whole if not any(keys[id(part)] or ())}
    seen = tuple(name for name in parts.compared if name not in blind)
    return Audit(rule.name, tuple(findings), tuple(violations), seen, rule.waived)


def keys_of(part: Part, check: str) -> Sequence[Key | None] | None:
    """The keys a check compares, None for a clip without one; None where a part has no such column."""
    role = next((role for role in ROLES[check] if role in part.cells), None)
    if role is None:
        return None
    cells = part.cells[role]
    if check == "texts":
        return [plain_text(cell) or None if isinstance(cell, str) else None for cell in cells]
    if check in NOUNS:
        return [cell.lower() if isinstance(cell, str) else None for cell in cells]
    return cells


def _shared(
    kind: str, one: Part, ours: Sequence[Key | None], other: Part, theirs: Sequence[Key | None]
) -> list[Violation]:
    common = set(ours) & set(theirs) - {None}
    if not common:
        return []
    sides = [_places(part, keys, common) for part, keys in ((one, ours), (other, theirs))]
    return [Violation(kind, key, (sides[0][key], sides[1][key])) for key in sorted(sides[0], key=_order)]


def _places(part: Part, keys: Sequence[Key | None], wanted: set[Key | None]) -> dict[Key, Side]:
    found: dict[Key, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        if key is not None and key in wanted:
            found[key].append(place)
    return {key: _side(part, places) for key, places in found.items()}


def _side(part: Part, places: Sequence[int]) -> Side:
    """The clips by name: the order of rows means nothing."""
    names = sorted((part.clips[place], part.lines[place]) for place in places)
    return Side(part.name, tuple(clip for clip, _ in names), tuple(line for _, line in names))


def _widths(keys: Sequence[Key | None]) -> set[int]:
    """Of how many columns the keys are joined."""
    return {len(_order(key)) for key in set(keys) if key is not None}


def _order(key: Key) -> tuple[str, ...]:
    return (key,) if isinstance(key, str) else key


def _told(
    rule: CheckRule,
    severity: Severity,
    shared: Sequence[Violation],
    one: Part,
    ours: Sequence[Key | None],
    other: Part,
    *,
    alone: bool,
) -> Finding:
    common = {violation.key for violation in shared}
    clips = tuple(sorted(clip for clip, key in zip(one.clips, ours, strict=True) if key in common))
    noun = NOUNS.get(rule.name, rule.name)
    count = len({key for key in ours if key is not None})
    whose = "" if alone else f" of {one.name}"
    told = f"{len(shared):,} of {count:,} {noun}, {len(clips):,} of {len(one):,} clips{whose} also in {other.name}"
    if rule.name == "texts":
        told += f" ({_verbatim(one, ours, other):,} clips word for word)"
    told = told if rule.waived is None else f"{told}; waived: {rule.waived}"
    return Finding(severity, f"{rule.name}-shared", told, clips)


def _verbatim(one: Part, ours: Sequence[Key | None], other: Part) -> int:
    """The clips of `one` whose text stands in `other` exactly as it is written."""
    role = next(role for role in ROLES["texts"] if role in one.cells)
    theirs = {cell for role in ROLES["texts"] for cell in other.cells.get(role, ())}
    return sum(cell in theirs for cell, key in zip(one.cells[role], ours, strict=True) if key is not None)


def _alike(
    kind: str, one: Part, ours: Sequence[Key | None], other: Part, theirs: Sequence[Key | None]
) -> Iterator[Finding]:
    if kind in ("texts", *NOUNS):
        return
    spelt = _spellings(theirs)
    for fold, spellings in sorted(_spellings(ours).items()):
        rest = spelt.get(fold, set())
        if rest and len(spellings | rest) > 1:
            mine, yours = (", ".join(f"`{' '.join(_order(key))}`" for key in sorted(some, key=_order))
                           for some in (spellings, rest))  # fmt: skip
            told = f"{mine} of {one.name} and {yours} of {other.name} differ only in case, blanks or Unicode form"
            clips = tuple(sorted(clip for clip, key in zip(one.clips, ours, strict=True) if key in spellings))
            yield Finding("notice", "near-equal-keys", f"{kind}: {told}; they count apart", clips)


def _spellings(keys: Sequence[Key | None]) -> Mapping[tuple[str, ...], set[Key]]:
    found: dict[tuple[str, ...], set[Key]] = defaultdict(set)
    for key in set(keys):
        if key is not None:
            found[tuple(map(folded, _order(key)))].add(key)
    return found


def _unknown(
    rule: CheckRule, grave: Severity, part: Part, keys: Sequence[Key | None] | None, *, quarantine: bool
) -> Iterator[Finding]:
    missing = part.clips if keys is None else [clip for clip, key in zip(part.clips, keys, strict=True) if key is None]
    if len(missing) == len(part) and not (keys and rule.name == "speakers"):
        told = f"no {_noun(rule.name)} is known of {part.name}: nothing was compared with it"
        yield Finding(grave if rule.named else "warning", "not-compared", told)
    elif missing:
        told = f"{len(missing):,} of {len(part):,} clips of {part.name} have no {_noun(rule.name)}"
        if rule.name == "speakers":
            severity: Severity = "warning" if quarantine else grave
            yield Finding(severity, "key-unknown", f"{told}: disjointness is not proven", tuple(sorted(missing)))
        else:
            mild: Severity = "notice" if rule.name == "texts" else "warning"
            yield Finding(mild, "key-unknown", f"{told}: they were not compared", tuple(sorted(missing)))


def _noun(check: str) -> str:
    return {"bytes": "digest of bytes", "samples": "digest of samples"}.get(check, ROLES[check][0])


def audit_duplicates(parts: Parts) -> Audit:
    """Find recordings that stand more than once among the evaluated clips of one split."""
    violations = []
    for part in parts.evaluated:
        for kind in ("bytes", "samples"):
            keys = keys_of(part, kind) or ()
            counts = Counter(key for key in keys if key is not None)
            wanted: set[Key | None] = {key for key, count in counts.items() if count > 1}
            sides = _places(part, keys, wanted)
            violations += [Violation(kind, key, (sides[key],)) for key in sorted(sides, key=_order)]
    clips = tuple(dict.fromkeys(clip for violation in violations for clip in violation.sides[0].clips))
    told = f"{len(clips):,} clips stand more than once, and the suite forbids duplicates"
    findings = (Finding("error", "duplicate-audio", told, clips),) if violations else ()
    return Audit("duplicates", findings, tuple(violations))
