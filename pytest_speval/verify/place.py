"""Where in a file something differs: a key path of JSON, or a line."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, zip_longest
from typing import Any

from pytest_speval.evidence.canonical import canonical, value_of
from pytest_speval.evidence.difference import Difference, differences


def first_difference(one: bytes, other: bytes) -> int:
    """The first byte at which two texts differ; the length of the shorter one where it begins the other."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def key_path(value: Any, offset: int) -> str:
    """The path to what stands at a byte of a value's canonical text, written `gates[accuracy].value`.

    A comma belongs to what follows it, a bracket to what it surrounds.
    """
    path = ""
    while isinstance(value, dict | list) and offset > 0:
        end = 1
        for name, head, item in _entries(path, value):
            start = end + head
            end = start + len(canonical(item))
            if offset < end:
                path, value, offset = name, item, offset - start
                break
        else:
            break
    return path


def _entries(path: str, value: dict[str, Any] | list[Any]) -> Iterable[tuple[str, int, Any]]:
    """Path, bytes before it and value of everything in an object or array, in the order of the text."""
    if isinstance(value, dict):
        ordered = sorted(value.items(), key=lambda entry: entry[0].encode("utf-16-be"))
        for place, (key, item) in enumerate(ordered):
            yield f"{path}.{key}" if path else key, bool(place) + len(canonical(key)) + 1, item
    else:
        for place, item in enumerate(value):
            named = isinstance(item, dict) and isinstance(item.get("id"), str)
            yield f"{path}[{item['id'] if named else place}]", bool(place), item


def altered_key(value: Any, expected: bytes, actual: bytes) -> tuple[str, str]:
    """Where a JSON file differs from the canonical text that was expected, and a message; `value` is what it says."""
    path = key_path(value, first_difference(expected, actual))
    try:
        found = differences(value, value_of(actual))
    except ValueError:
        return path, "not what was written, and no JSON any more"
    told = next((both_values(one) for one in found if one.path == path), None)
    more = f" (and {len(found) - 1:,} more)" if told and len(found) > 1 else ""
    return path, f"{told}{more}" if told else "not what was written"


def both_values(found: Difference) -> str:
    """`0.5 recomputed, 0.75 now`, without the path."""
    return found.told("recomputed").removeprefix(found.path).lstrip(": ")


def altered_line(expected: Iterable[bytes], actual: bytes) -> tuple[int, bytes, int]:
    """The first line, from 1, that is not the expected one, that one (empty beyond the end), and how many differ."""
    lines = chain.from_iterable(piece.splitlines(keepends=True) for piece in expected)
    pairs = zip_longest(lines, actual.splitlines(keepends=True), fillvalue=b"")
    found = [(number, line) for number, (line, other) in enumerate(pairs, start=1) if line != other]
    return *found[0], len(found)
