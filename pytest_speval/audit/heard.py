"""Each planned clip's file, read once for its digests and its samples, and held against what the manifest says."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_speval.corpus.audio import decode, read_bytes
from pytest_speval.corpus.clips import Clips
from pytest_speval.corpus.contract import Contract
from pytest_speval.corpus.entry import resolve_entry
from pytest_speval.corpus.inspection import Inspection, inspect
from pytest_speval.errors import AudioFault, MissingExtra

CODES = {
    "length-differs": "The manifest declares another length than the decoded one.",
    "digest-differs": "The manifest declares another digest than the file's.",
}
LENGTH_TOLERANCE = 0.0015
"""Seconds by which a declared length may differ: manifests round to milliseconds."""
CHUNK = 50


@dataclass(frozen=True, slots=True)
class Heard:
    """One clip's inspection, None where a fault prevented it; `fault` is (code, message)."""

    place: int
    inspection: Inspection | None
    fault: tuple[str, str] | None


def listen(root: Path, clips: Clips, contract: Contract) -> list[Heard]:
    """Read, digest, decode and inspect all planned clips, on all cores, in order."""
    entries = clips.audio or []

    def some(places: Sequence[int]) -> list[Heard]:
        return [_declared(clips, _hear(root, place, entries[place], contract)) for place in places]

    planned = clips.planned
    chunks = [planned[start : start + CHUNK] for start in range(0, len(planned), CHUNK)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return [one for part in pool.map(some, chunks) for one in part]


def counted(messages: Sequence[str], total: int) -> str:
    """What a group of clips shows, with its share; the message of the first stands for those that say the same."""
    first = "" if len(set(messages)) == 1 else ", the first"
    return f"{len(messages):,} of {total:,} clips{first}: {messages[0]}"


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
            return replace(heard, fault=("digest-differs", f"the manifest says {role} {said}, the file has {found}"))
    said = clips.cells["seconds"][heard.place] if "seconds" in clips.cells else None
    if said is not None and abs(float(str(said)) - seen.seconds) > LENGTH_TOLERANCE:
        message = f"the manifest says {said} s, the file has {seen.seconds:.3f} s"
        return replace(heard, fault=("length-differs", message))
    return heard
