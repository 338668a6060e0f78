"""One byte of a run folder altered, and where a verifier must then point, told by other means than its own."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OPEN_PARTS = ("question", "rules", "written")
"""Parts of a plan of which only the whole can be told."""


@dataclass(frozen=True)
class Change:
    """A byte of a file below a run folder, and its new value."""

    file: str
    offset: int
    value: int


def random_change(folder: Path, seed: int) -> Change:
    """Any file with the same chance, then any byte of it, then any other value."""
    chance = random.Random(seed)
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    name = chance.choice(names)
    data = (folder / name).read_bytes()
    offset = chance.randrange(len(data))
    return Change(name, offset, (data[offset] + chance.randrange(1, 256)) % 256)


def record_of(change: Change, original: bytes) -> str:
    """The record in which a byte stands: a line, a key path, or nothing for the receipt."""
    if change.file == "receipt.json":
        return ""
    if not change.file.endswith(".json"):
        return f"line {original.count(10, 0, change.offset) + 1}"
    text = original.decode("latin-1")
    path = [name for start, end, name in spans(text, 0, "") if start <= change.offset < end][-1:]
    whole = path[0] if path else ""
    top = whole.partition(".")[0].partition("[")[0]
    return top if change.file == "plan.json" and top in OPEN_PARTS else whole


def spans(text: str, at: int, path: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and path of every entry of a JSON text, outer ones first; a comma belongs to what follows it."""
    decoder = json.JSONDecoder()
    if text[at] not in "{[":
        return
    start, place = at + 1, 0
    while text[start] not in "}]":
        inner, name = start + (text[start] == ","), ""
        if text[at] == "{":
            key, inner = decoder.raw_decode(text, inner)
            inner += 1
            name = f"{path}.{key}" if path else key
        value, end = decoder.raw_decode(text, inner)
        if text[at] == "[":
            own = value.get("id") if isinstance(value, dict) else None
            name = f"{path}[{own if isinstance(own, str) else place}]"
        yield start, end, name
        yield from spans(text, inner, name)
        start, place = end, place + 1
