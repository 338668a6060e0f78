"""Canonical JSON (RFC 8785): one text for one value, so that a digest means something.

A fast encoder writes the text. Where its output could differ from the standard (floats that are whole or need an
exponent, integers that no double holds, keys beyond the basic plane) or could hide a number that JSON lacks, the
value goes through the reference implementation instead.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import orjson
import rfc8785

_ASTRAL = re.compile(rb"[\xf0-\xf4]")
_GREAT = re.compile(rb"[0-9]{16}")
EXACT = 2**53
"""Below it every integer is a double."""


def canonical(value: Any) -> bytes:
    """The RFC 8785 text of a value made of dicts with string keys, lists, strings, numbers, booleans and None.

    Raises `ValueError` for NaN and infinities, for integers beyond 2**53 and for text that is not Unicode.
    """
    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER)
    except TypeError as error:
        raise ValueError(f"not JSON: {error}") from error
    if (text.isascii() or not _ASTRAL.search(text)) and not _doubtful(value):
        return text
    return rfc8785.dumps(value)


def _doubtful(value: Any) -> bool:
    """Say whether a value holds a float that the encoders may write differently, or that is no number of JSON."""
    if isinstance(value, float):
        return not 1e-4 <= abs(value) < 1e15 or value.is_integer()
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    for item in items:
        kind = type(item)
        if kind is not str and kind is not int and item is not None and _doubtful(item):
            return True
    return False


def value_of(text: bytes) -> Any:
    """The value of a canonical text. Raises `ValueError` for what is no JSON.

    Canonical text writes doubles such as 1e16 in whole digits; they come back as doubles.
    """
    value = orjson.loads(text)
    return json.loads(text, parse_int=_whole) if _GREAT.search(text) else value


def _whole(digits: str) -> int | float:
    number = int(digits)
    return number if abs(number) < EXACT else float(digits)


def digest(value: Any) -> str:
    """The SHA-256 of a value's canonical text, as 64 hex digits."""
    return hashlib.sha256(canonical(value)).hexdigest()
