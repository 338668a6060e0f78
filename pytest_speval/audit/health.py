"""`audit[corpus]`: is every planned clip there, whole, and as the suite wants it?

Each file is read once, for its digests and its samples. What breaks the contract is an error, or, while the clips
are no more than `run.max_failed`, a warning and a failed clip. What is merely odd is reported.
"""

from __future__ import annotations

import os
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pytest_speval.audit.finding import Audit, Finding
from pytest_speval.corpus.audio import decode, read_bytes
from pytest_speval.corpus.clips import UNITS, Clips
from pytest_speval.corpus.contract import Contract
from pytest_speval.corpus.entry import resolve_entry
from pytest_speval.corpus.inspection import Inspection, inspect
from pytest_speval.errors import AudioFault, MissingExtra

CODES = {
    "length-differs": "The manifest declares another length than the decoded one.",
    "digest-differs": "The manifest declares another digest than the file's.",
    "duplicate-audio": "Two planned clips have the same decoded samples.",
    "equal-durations": "All clips have exactly one length, as if they were cut or padded.",
    "near-equal-keys": "Two keys differ only in case, blanks or Unicode form.",
    "repeated-row": "Equal rows with one identity are one clip.",
    "c1-control-characters": "The manifest holds C1 control characters.",
}
LENGTH_TOLERANCE = 0.0015
"""Seconds by which a declared length may differ: manifests round to milliseconds."""
FEWEST_FOR_EQUAL = 10
CHUNK = 50
TAKEN_OUT = {"short-excluded": "shorter than the suite allows", "long-excluded": "longer than the suite allows"}


@dataclass(frozen=True)
class Health:
    """The audit and what each listed clip's sound is; lists have an entry per listed clip, None where unheard."""

    audit: Audit
    bytes_sha256: list[str | None]
    samples_sha256: list[str | None]
    frames: list[int | None]
    rates: list[int | None]
    excluded: list[str | None]
    condemned: dict[int, tuple[str, str]]
    abstains: frozenset[int]


@dataclass(frozen=True, slots=True)
class Heard:
    """One clip's inspection, or the fault that prevented it."""

    place: int
    inspection: Inspection | None
    fault: tuple[str, str] | None


def audit_corpus(root: Path, clips: Clips, contract: Contract | None, max_failed: int) -> Health:
    """Look at every planned clip; a contract of None means that the suite has no sound."""
    size = len(clips)
    excluded = list(clips.excluded)
    sound = contract is not None and clips.audio is not None
    heard = _listen(root, clips, contract) if contract is not None and sound else []
    heard = [_declared(clips, one) for one in heard]
    columns = _columns(size, heard)
    faults: dict[int, tuple[str, str]] = {}
    abstains = set()
    for one in heard:
        if one.fault is None:
            continue
        if one.fault[0] in TAKEN_OUT:
            excluded[one.place] = TAKEN_OUT[one.fault[0]]
        elif one.fault[0] == "short-abstains":
            abstains.add(one.place)
        else:
            faults[one.place] = one.fault
    planned = [one for one in heard if excluded[one.place] is None]
    findings = [*_faulty(clips, faults, len(planned), max_failed), *_odd(clips, planned), *_near_keys(clips)]
    findings += [Finding("notice", code, message) for code, message in clips.notices]
    audit = Audit("corpus", tuple(findings))
    condemned = {} if audit.failed else faults
    return Health(audit, *columns, excluded, condemned, frozenset(abstains))


def _listen(root: Path, clips: Clips, contract: Contract) -> list[Heard]:
    """Read, digest, decode and inspect all planned clips, on all cores, in order."""
    entries = clips.audio or []

    def some(places: Sequence[int]) -> list[Heard]:
        return [_hear(root, place, entries[place], contract) for place in places]

    planned = clips.planned
    chunks = [planned[start : start + CHUNK] for start in range(0, len(planned), CHUNK)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return [one for part in pool.map(some, chunks) for one in part]


def _hear(root: Path, place: int, entry: str, contract: Contract) -> Heard:
    try:
        inspection = inspect(decode(read_bytes(resolve_entry(root, entry)), entry), contract)
    except (AudioFault, MissingExtra) as fault:
        return Heard(place, None, (fault.code, fault.message))
    return Heard(place, inspection, inspection.fault)


def _declared(clips: Clips, heard: Heard) -> Heard:
    """Hold what the manifest says of a clip against what was heard."""
    seen = heard.inspection
    if seen is None or heard.fault is not None:
        return heard
    for role, found in (("bytes_sha256", seen.bytes_sha256), ("samples_sha256", seen.samples_sha256)):
        said = clips.cells[role][heard.place] if role in clips.cells else None
        if isinstance(said, str) and said.lower() != found:
            return Heard(
                heard.place, seen, ("digest-differs", f"the manifest says {role} {said}, the file has {found}")
            )
    said = clips.cells["seconds"][heard.place] if "seconds" in clips.cells else None
    if said is not None and abs(float(str(said)) - seen.seconds) > LENGTH_TOLERANCE:
        return Heard(
            heard.place, seen, ("length-differs", f"the manifest says {said} s, the file has {seen.seconds:.3f} s")
        )
    return heard


def _columns(
    size: int, heard: Iterable[Heard]
) -> tuple[list[str | None], list[str | None], list[int | None], list[int | None]]:
    of_bytes: list[str | None] = [None] * size
    of_samples: list[str | None] = [None] * size
    frames: list[int | None] = [None] * size
    rates: list[int | None] = [None] * size
    for one in heard:
        if one.inspection is not None:
            of_bytes[one.place] = one.inspection.bytes_sha256
            of_samples[one.place] = one.inspection.samples_sha256
            frames[one.place] = one.inspection.frames
            rates[one.place] = one.inspection.rate
    return of_bytes, of_samples, frames, rates


def _faulty(clips: Clips, faults: Mapping[int, tuple[str, str]], heard: int, max_failed: int) -> list[Finding]:
    by_code: dict[str, list[int]] = defaultdict(list)
    for place, (code, _) in faults.items():
        by_code[code].append(place)
    severity = "error" if len(faults) > max_failed else "warning"
    return [
        Finding(
            "error" if severity == "error" else "warning",
            code,
            f"{len(places):,} of {heard:,} clips: {faults[places[0]][1]}",
            tuple(clips.name(place) for place in places),
        )
        for code, places in sorted(by_code.items())
    ]


def _odd(clips: Clips, heard: Sequence[Heard]) -> list[Finding]:
    places: dict[str, list[int]] = defaultdict(list)
    first: dict[str, str] = {}
    for one in heard:
        for notice in one.inspection.notices if one.inspection is not None else ():
            places[notice.code].append(one.place)
            first.setdefault(notice.code, notice.message)
    found = [
        Finding("notice", code, f"{len(where):,} of {len(heard):,} clips: {first[code]}", tuple(map(clips.name, where)))
        for code, where in sorted(places.items())
    ]
    return found + _twins(clips, heard) + _one_length(heard)


def _twins(clips: Clips, heard: Sequence[Heard]) -> list[Finding]:
    groups: dict[str, list[int]] = defaultdict(list)
    for one in heard:
        if one.inspection is not None:
            groups[one.inspection.samples_sha256].append(one.place)
    twins = [places for places in groups.values() if len(places) > 1]
    if not twins:
        return []
    message = f"{sum(map(len, twins)):,} clips share their samples with another planned clip, in {len(twins):,} groups"
    return [
        Finding("notice", "duplicate-audio", message, tuple(clips.name(place) for places in twins for place in places))
    ]


def _one_length(heard: Sequence[Heard]) -> list[Finding]:
    lengths = Counter(one.inspection.frames for one in heard if one.inspection is not None)
    if len(lengths) != 1 or sum(lengths.values()) < FEWEST_FOR_EQUAL:
        return []
    (frames,) = lengths
    return [Finding("notice", "equal-durations", f"all {sum(lengths.values()):,} clips have exactly {frames:,} frames")]


def _near_keys(clips: Clips) -> list[Finding]:
    findings = []
    for role in UNITS:
        spellings: dict[str, set[str]] = defaultdict(set)
        for cell in set(clips.cells.get(role, ())):
            if isinstance(cell, str):
                spellings["".join(unicodedata.normalize("NFC", cell).casefold().split())].add(cell)
        for alike in spellings.values():
            if len(alike) > 1:
                shown = ", ".join(f"`{key}`" for key in sorted(alike))
                message = f"{role}s that differ only in case, blanks or Unicode form: {shown}; they count apart"
                findings.append(Finding("notice", "near-equal-keys", message))
    return findings
