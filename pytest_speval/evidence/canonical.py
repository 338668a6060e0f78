"""Canonical JSON (RFC 8785): one text for one value, so that a digest means something.

A fast encoder writes the text. Floats that it could write differently (whole ones, and those that may need an
exponent) or that JSON lacks are written by the reference implementation, and so is a value with characters beyond the
basic plane, whose keys the two may sort differently.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

import orjson
import rfc8785

_ASTRAL = re.compile(rb"[\xf0-\xf4]")
OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER
PLAIN = frozenset({str, int, bool, type(None)})
"""Types that every encoder writes alike."""
EXACT = 2**53
"""Below it every integer is a double."""


def canonical(value: Any) -> bytes:
    """The RFC 8785 text of a value made of dicts with string keys, lists, strings, numbers, booleans and None.

    Raises `ValueError` for NaN and infinities, for integers beyond 2**53 and for text that is not Unicode.
    """
    try:
        text = orjson.dumps(value, option=OPTIONS)
    except TypeError as error:
        raise ValueError(f"not JSON: {error}") from error
    if not text.isascii() and _ASTRAL.search(text):
        return rfc8785.dumps(value)
    return orjson.dumps(_exact(value), option=OPTIONS) if _doubtful(value) else text


def _doubtful(value: Any) -> bool:
    """Say whether a value holds a float that the encoders may write differently, or that is no number of JSON."""
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    for item in items:
        kind = type(item)
        if kind is str or kind is int or item is None:
            continue
        if kind is float:
            if not 1e-4 <= abs(item) < 1e15 or item.is_integer():
                return True
        elif _doubtful(item):
            return True
    return isinstance(value, float)


def _exact(value: Any) -> Any:
    """A value with every float as the text that the standard gives it."""
    if isinstance(value, dict):
        return {key: item if type(item) in PLAIN else _exact(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [item if type(item) in PLAIN else _exact(item) for item in value]
    return orjson.Fragment(rfc8785.dumps(value)) if isinstance(value, float) else value


def value_of(text: bytes) -> Any:
    """The value of a canonical text. Raises `ValueError` for what is no JSON.

    Canonical text writes doubles such as 1e16 in whole digits; they come back as doubles.
    """
    value = orjson.loads(text)
    try:
        return _restored(value) if _great(value) else value
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _great(value: Any) -> bool:
    """Say whether a value holds an integer that must have been a double."""
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else (value,)
    for item in items:
        kind = type(item)
        if (kind is int and not -EXACT < item < EXACT) or ((kind is dict or kind is list) and _great(item)):
            return True
    return False


def _restored(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _restored(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_restored(item) for item in value]
    return float(value) if type(value) is int and not -EXACT < value < EXACT else value


def digest(value: Any) -> str:
    """The SHA-256 of a value's canonical text, as 64 hex digits."""
    return hashlib.sha256(canonical(value)).hexdigest()
