"""The digests of sound that is compared with and not evaluated."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256

from pytest_speval.audit.finding import Finding
from pytest_speval.corpus.audio import decode, read_bytes
from pytest_speval.corpus.entry import resolve_entry
from pytest_speval.corpus.part import Part
from pytest_speval.errors import AudioFault, MissingExtra

CODES = {"not-heard": "Sound files of another split or inventory are not there or cannot be decoded."}
ROLES = {"bytes": "bytes_sha256", "samples": "samples_sha256"}
CHUNK = 50


def with_digests(part: Part, checks: Collection[str]) -> tuple[Part, list[Finding]]:
    """The part with the digests that these checks compare, as far as its manifest says none and its sound is there.

    What cannot be heard stays without a digest and is counted.
    """
    wanted = [role for check, role in ROLES.items() if check in checks and None in part.cells.get(role, (None,))]
    if not wanted or part.entries is None:
        return part, []
    entries, samples = part.entries, "samples_sha256" in wanted

    def some(places: Sequence[int]) -> list[tuple[str | None, str | None]]:
        return [_digests(part, entries[place], samples=samples) for place in places]

    chunks = [range(start, min(start + CHUNK, len(part))) for start in range(0, len(part), CHUNK)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        pairs = [pair for found in pool.map(some, chunks) for pair in found]
    heard = dict(zip(ROLES.values(), zip(*pairs, strict=True), strict=True))
    silent = [None] * len(part)
    columns = {
        role: [said or found for said, found in zip(part.cells.get(role, silent), heard[role], strict=True)]
        for role in wanted
    }
    cells = {**part.cells, **columns}
    lost = tuple(clip for place, clip in enumerate(part.clips) if any(cells[role][place] is None for role in wanted))
    told = f"{len(lost):,} of {len(part):,} sound files of {part.name} cannot be heard: no copy of them can be found"
    return replace(part, cells=cells), [Finding("notice", "not-heard", told, lost)] if lost else []


def _digests(part: Part, entry: str | None, *, samples: bool) -> tuple[str | None, str | None]:
    """The digests of a file's bytes and of its samples, None for what cannot be had."""
    if entry is None:
        return None, None
    try:
        data = read_bytes(resolve_entry(part.root, entry))
    except AudioFault:
        return None, None
    try:
        return sha256(data).hexdigest(), decode(data, entry).samples_sha256 if samples else None
    except (AudioFault, MissingExtra):
        return sha256(data).hexdigest(), None
