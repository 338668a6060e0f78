"""Names of items: a safe and one-to-one form of what users call their clips."""

from __future__ import annotations

import hashlib

from pytest_speval.corpus.clips import Clips
from pytest_speval.evidence.plan import Question

LONGEST = 120
_HEX = 8


def safe(text: str) -> str:
    """Letters and digits of any script and `-_.` as they are, every other byte as %XX, at most 120 characters.

    A longer name is cut and ends in 8 hex digits of the SHA-256 of the whole.
    """
    name = "".join(sign if sign.isalnum() or sign in "-_." else _percent(sign) for sign in text)
    if len(name) <= LONGEST:
        return name
    return f"{name[: LONGEST - _HEX - 1]}-{hashlib.sha256(text.encode()).hexdigest()[:_HEX]}"


def _percent(sign: str) -> str:
    return "".join(f"%{byte:02X}" for byte in sign.encode("utf-8", "surrogatepass"))


def clip_name(clips: Clips | Question, place: int) -> str:
    """The name of the item of one clip."""
    name = safe(clips.ids[place])
    return f"clip[{safe(clips.splits[place])}/{name}]" if clips.split_given else f"clip[{name}]"
