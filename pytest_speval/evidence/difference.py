"""Where two JSON values differ: the path of each difference with both values, so that a refusal can name it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from pytest_speval.evidence.canonical import canonical

LONGEST = 60
"""Characters of a value that a message shows."""
_DIGEST = re.compile(r"[0-9a-f]{64}")


class _Nothing(Enum):
    ABSENT = "absent"


ABSENT: Final = _Nothing.ABSENT
"""Stands for the value of a key or place that one side does not have; JSON's null is a value."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One place at which two values differ, written `rules.gates[macro-f1].min`; the path of whole values is empty."""

    path: str
    was: Any
    now: Any

    def __str__(self) -> str:
        return self.told("before")

    def told(self, where: str) -> str:
        """One line: `versions.numpy: 2.4.0 in the lock, 2.3.1 now`; `where` says where the former value stands.

        Two values that look alike once they are cut short are said to differ.
        """
        was, now = _short(self.was), _short(self.now)
        if was == now:
            was, now = _cut(_written(self.was)), _cut(_written(self.now))
        return f"{self.path} differs" if was == now else f"{self.path}: {was} {where}, {now} now"


def differences(one: Any, other: Any) -> list[Difference]:
    """The places at which two JSON values differ, keys in alphabetical order; none when their canonical text is one.

    Lists of objects that have an `id`, each another, are matched by it, and an other order of the same ids is a
    difference of its own. Other lists are matched by position where they are equally long, and are one difference
    where they are not.
    """
    return list(_differing("", one, other))


def _differing(path: str, one: Any, other: Any) -> Iterator[Difference]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        yield from _in_objects(path, one, other)
    elif _is_list(one) and _is_list(other):
        yield from _in_lists(path, one, other)
    elif _is_list(one) or _is_list(other) or not _same(one, other):
        yield Difference(path, one, other)


def _in_objects(path: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[Difference]:
    for key in sorted(one.keys() | other.keys()):
        yield from _differing(f"{path}.{key}" if path else key, one.get(key, ABSENT), other.get(key, ABSENT))


def _in_lists(path: str, one: Sequence[Any], other: Sequence[Any]) -> Iterator[Difference]:
    if one == other and canonical(one) == canonical(other):  # most columns of many clips are
        return
    was, now = _by_id(one), _by_id(other)
    if was is not None and now is not None:
        shared = [name for name in was if name in now]
        for name in [*was, *(name for name in now if name not in was)]:
            yield from _differing(f"{path}[{name}]", was.get(name, ABSENT), now.get(name, ABSENT))
        if shared != [name for name in now if name in was]:
            yield Difference(path, list(was), list(now))
    elif len(one) == len(other):
        for place, (before, after) in enumerate(zip(one, other, strict=True)):
            yield from _differing(f"{path}[{place}]", before, after)
    else:
        yield Difference(path, one, other)


def _by_id(items: Sequence[Any]) -> dict[str, Any] | None:
    """id -> item, or None where an item is no object with an `id` of its own."""
    named = {item["id"]: item for item in items if isinstance(item, Mapping) and isinstance(item.get("id"), str)}
    return named if len(named) == len(items) else None


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _same(one: Any, other: Any) -> bool:
    """Whether two plain values have one canonical text: 1 and 1.0 do, 1 and true do not."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _short(value: Any) -> str:
    """A value as a message shows it: digests by their beginning, other plain strings as they are, all else as JSON."""
    if isinstance(value, str) and _DIGEST.fullmatch(value):
        return f"{value[:12]}…"
    return _cut(value if isinstance(value, str) and value and value.isprintable() else _written(value))


def _written(value: Any) -> str:
    return ABSENT.value if value is ABSENT else canonical(value).decode()


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
