"""Spellings: keys and texts that look alike although they are not equal."""

from __future__ import annotations

import unicodedata


def folded(key: str) -> str:
    """A key without its case, blanks, invisible signs and Unicode form: keys with one result look alike."""
    return "".join(sign for sign in _caseless(key) if not sign.isspace() and unicodedata.category(sign) != "Cf")


def plain_text(text: str) -> str:
    """A text as leakage is looked for: NFC, folded, without punctuation and symbols, single blanks."""
    kept = "".join(letter for letter in _caseless(text) if unicodedata.category(letter)[0] not in "PS")
    return " ".join(kept.split())


def _caseless(text: str) -> str:
    """Canonical caseless form (Unicode 3.13, D145): folding alone may leave letters composed in one case only."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())
