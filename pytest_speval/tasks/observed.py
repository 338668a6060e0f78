"""What was seen of a scorer, clip by clip: which share of a clip its crops select, over complete observations only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

from pytest_speval.scoring.crops import Crop, selected

Selected = tuple[int, int]
"""How many samples of a clip at least one crop holds, and how many the clip has."""


def selected_of(answer: Mapping[str, Any] | None) -> Selected | None:
    """The union of an answer's crops; None without a complete observation."""
    observation = (answer or {}).get("observation")
    if observation is None or not observation["complete"]:
        return None
    crops = (Crop(crop["start"], crop["length"], crop["tiles"]) for crop in observation["crops"])
    return selected(observation["samples"], crops), observation["samples"]


def observed(answers: Sequence[Mapping[str, Any] | None], unions: Sequence[Selected | None]) -> dict[str, Any] | None:
    """All observations of a run as plain data, None where nothing was observed."""
    seen = [answer["observation"] for answer in answers if answer is not None and "observation" in answer]
    if not seen:
        return None
    shares = [samples / of for samples, of in filter(None, unions)]
    return {
        "complete": len(shares),
        "incomplete": len(seen) - len(shares),
        "unobserved": len(answers) - len(seen),
        "share": {"mean": fsum(shares) / len(shares), "min": min(shares), "max": max(shares)} if shares else None,
        "faults": dict(sorted(Counter(fault for one in seen for fault in one["faults"]).items())),
    }
