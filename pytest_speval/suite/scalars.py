"""What a plain scalar of a suite file means, and which ones mean different things to different readers.

Numbers follow the core schema of YAML 1.2, so `1e-3` is a number. What YAML 1.1 reads in another way (`no`, `on`,
`012`, `1:30`, `0x1F`, `1_000`, times) and the words for null get a kind of their own and no value: where one of them
stands, somebody has to decide, and it is not us.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Literal

Kind = Literal[
    "text",
    "boolean",
    "integer",
    "real",
    "date",
    "old-boolean",
    "null",
    "octal",
    "base-60",
    "radix",
    "underscored",
    "large",
    "time",
    "no-date",
]

Value = str | bool | int | float | date | None

AMBIGUOUS: frozenset[Kind] = frozenset(
    {"old-boolean", "null", "octal", "base-60", "radix", "underscored", "large", "time", "no-date"}
)
"""Kinds without a value: a fault wherever they stand."""

EXACT = 2**53 - 1
"""The largest integer that every reader of JSON keeps exactly (RFC 8785)."""

_BOOLEAN = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_OLD_BOOLEAN = {
    **dict.fromkeys(("yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("no", "No", "NO", "off", "Off", "OFF"), False),
}
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_REAL = re.compile(r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SPECIAL: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "time",
        re.compile(
            r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(\.[0-9]*)?"
            r"([ \t]*(Z|[-+][0-9]{1,2}(:?[0-9]{2})?))?"
        ),
    ),
    ("octal", re.compile(r"[-+]?(0o[0-7]+|0[0-9_]*[0-9](\.[0-9_]*)?([eE][-+]?[0-9]+)?)")),
    ("base-60", re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?")),
    ("radix", re.compile(r"[-+]?0(x[0-9a-fA-F_]+|b[01_]+)")),
    ("underscored", re.compile(r"[-+]?[0-9][0-9_]*(\.[0-9_]*)?([eE][-+]?[0-9]+)?|[-+]?\.[0-9][0-9_]*")),
)
_SHOWN = 60


def resolve(text: str) -> tuple[Kind, Value]:
    """Give the kind and the value of a plain (unquoted) scalar; ambiguous kinds have the value None."""
    if text in _BOOLEAN:
        return "boolean", _BOOLEAN[text]
    if text in _OLD_BOOLEAN:
        return "old-boolean", None
    if text in _NULL:
        return "null", None
    if text[0] not in "+-.0123456789":
        return "text", text
    if _INTEGER.fullmatch(text):
        small = len(text) < len(str(EXACT)) + 2 and abs(int(text)) <= EXACT
        return ("integer", int(text)) if small else ("large", None)
    if _REAL.fullmatch(text):
        return "real", float(re.sub(r"\.(?=inf|nan)", "", text.lower()))
    if _DATE.fullmatch(text):
        try:
            return "date", date.fromisoformat(text)
        except ValueError:
            return "no-date", None
    return next(((kind, None) for kind, form in _SPECIAL if form.fullmatch(text)), ("text", text))


def described(kind: Kind, text: str) -> str:
    """Say what a scalar is, as it goes after "is" and "got"."""
    shown = f"`{text if len(text) <= _SHOWN else text[: _SHOWN - 1] + '…'}`"
    match kind:
        case "text":
            return f"the text {shown}" if text else "an empty text"
        case "boolean":
            return f"the boolean {text.lower()}"
        case "old-boolean":
            return f"the boolean {str(_OLD_BOOLEAN[text]).lower()} (YAML reads {shown} so)"
        case "null":
            return f"null (YAML reads {shown} so)" if text else "nothing"
        case "integer" | "real":
            return f"the number {shown}"
        case "large":
            return f"the number {shown}, beyond ±(2^53 - 1) and so not exact in JSON"
        case "date":
            return f"the date {text}"
        case "no-date":
            return f"{shown}, which is no day of the calendar"
        case "time":
            return f"the time {shown}"
        case "octal":
            return f"{shown}, an octal number to some readers"
        case "base-60":
            return f"{shown}, a base-60 number to some readers"
        case "radix":
            return f"the hexadecimal or binary number {shown}"
        case "underscored":
            return f"{shown}, a number to some readers"
