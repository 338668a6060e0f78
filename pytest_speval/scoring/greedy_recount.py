"""A second greedy decoding, by a way that shares nothing with the first: one frame after the other, in plain Python."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

ARRAYS = ("logits", "argmax")
COMPONENTS = ("vocabulary", "blank", "delimiter")


def heard_in(
    rows: Iterable[Sequence[float]], tokens: Sequence[str], blank: str, delimiter: str
) -> tuple[list[int], str]:
    """The best token's number of every frame, the first of equals, and the text that they spell."""
    path: list[int] = []
    text = ""
    state = blank
    for row in rows:
        best = row.index(max(row))
        token = tokens[best]
        if token not in (state, blank):
            text += " " if token == delimiter else token
        state = token
        path.append(best)
    return path, text.strip()


def greedy_difference(text: str, arrays: Mapping[str, Any], components: Mapping[str, str]) -> str | None:
    """What differs when an answer is decoded again from its arrays, or None.

    `arrays` holds `logits` [T, V] and `argmax` [T]; `components` is the part of the adapter's identity that holds
    `vocabulary` (a JSON list of V tokens), `blank` and `delimiter`.
    """
    absent = [name for name in ARRAYS if name not in arrays] + [name for name in COMPONENTS if name not in components]
    if absent:
        return f"without {', '.join(absent)} it cannot be decoded again"
    tokens, logits = json.loads(components["vocabulary"]), arrays["logits"]
    if logits.ndim != 2 or logits.shape[1] != len(tokens):
        return f"its logits are {list(logits.shape)}, not one row of {len(tokens)} per frame"
    rows = logits.tolist()
    if not all(isfinite(sum(row)) for row in rows):
        return "its logits are not all finite numbers"
    path, spelt = heard_in(rows, tokens, components["blank"], components["delimiter"])
    kept = arrays["argmax"].tolist()
    if kept != path:
        return f"its argmax is not that of its logits: {_parting(kept, path)}"
    return None if text == spelt else f"its text is {text!r}, its logits spell {spelt!r}"


def _parting(kept: object, path: Sequence[int]) -> str:
    """Where two paths part."""
    if not isinstance(kept, list) or len(kept) != len(path):
        return f"there are {len(path)} frames of logits"
    frame = next(frame for frame, best in enumerate(path) if kept[frame] != best)
    return f"{kept[frame]} where frame {frame} has {path[frame]}"
