"""Canonical JSON (RFC 8785): one text for one value, so that a digest means something.

A fast encoder writes the text. Where its output could differ from the standard (whole, tiny and huge floats, keys
beyond ASCII) or could hide a number that JSON lacks, the value goes through the reference implementation instead.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import orjson
import rfc8785

_DOUBTFUL = re.compile(rb"[0-9](?:\.0(?![0-9])|e)|[\xf0-\xf4]|null")
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
    if _DOUBTFUL.search(text) and not _plain(value):
        return rfc8785.dumps(value)
    return text


def _plain(value: Any) -> bool:
    """Say whether both encoders surely agree on a value."""
    if isinstance(value, dict):
        return all(key.isascii() and _plain(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return all(type(item) is str or _plain(item) for item in value)
    if isinstance(value, float):
        return 1e-4 <= abs(value) < 1e15 and value != int(value)
    return value is None or isinstance(value, str | bool | int)


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
