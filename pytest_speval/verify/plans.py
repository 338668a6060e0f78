"""Which part of a plan was altered, where others vouch for the rest of it."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

from pytest_speval.evidence.canonical import canonical, value_of
from pytest_speval.evidence.plan import plan_digest
from pytest_speval.verify.place import key_path

OPEN = "\0"
"""Stands for a part that nothing else holds: `question`, `rules` and `written`, of which two have a digest."""


def altered_part(data: bytes, known: Mapping[str, Any]) -> str:
    """The key of `plan.json` at which its text is not what was written, empty where that cannot be said.

    `known` are the values of all keys but the open ones. What lies between the open parts must be found as it is; the
    digests tell which open part was altered.
    """
    whole = {**known, "question": OPEN, "rules": OPEN, "written": OPEN}
    pieces = (canonical(whole) + b"\n").split(canonical(OPEN))
    parts, at = [], 0
    for number, piece in enumerate(pieces):
        found = data.find(piece, at)
        if found < 0 or (number == 0 and found > 0):
            before = sum(map(len, pieces[:number])) + number * len(canonical(OPEN))
            return key_path(whole, before + _difference(piece, data[at:]))
        parts.append(data[at:found])
        at = found + len(piece)
    _, question, rules, _ = parts
    if at != len(data):
        return ""
    if hashlib.sha256(question).hexdigest() != known["questionSha256"]:
        return "question"
    return "rules" if _rules_digest(rules, known) != known["planSha256"] else "written"


def _difference(piece: bytes, data: bytes) -> int:
    """Where a piece was altered: behind its longest beginning that is still there, or before its longest end."""
    size = len(piece)
    begin = bisect_left(range(size), True, key=lambda length: piece[: length + 1] not in data)
    end = bisect_left(range(size), True, key=lambda length: piece[size - length - 1 :] not in data)
    return begin if begin >= end else size - end - 1


def _rules_digest(rules: bytes, known: Mapping[str, Any]) -> str | None:
    try:
        value = value_of(rules)
        if canonical(value) != rules:
            return None
        return plan_digest(known["suite"], known["questionSha256"], value, known["versions"])
    except ValueError:
        return None
