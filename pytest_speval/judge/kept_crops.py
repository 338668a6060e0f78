"""What a clip's kept samples say of the crops that were seen: every slice is cut, every place drawn once more."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from pytest_speval.scoring.crops import Draw, replayed
from pytest_speval.suite.observe_keys import Observe

DTYPES = ("<f4", "<f8")


def recorded_rule(section: Mapping[str, Any]) -> Observe:
    """The section `observe` as it stands in a question."""
    return Observe.model_validate_json(orjson.dumps(section))


def crops_difference(observation: Mapping[str, Any] | None, pcm: npt.NDArray[Any] | None, rule: Observe) -> str | None:
    """What differs when the crops of one clip are made again from its samples [N], or None.

    Slices are cut from the repeated clip. Where the observation is complete and the rule has a seed, the places are
    those that the seed gives; an incomplete one is only held against what it says itself.
    """
    if observation is None or pcm is None:
        return "there is no observation, or no samples beside it"
    if observation["samples"] != len(pcm):
        return f"{len(pcm)} samples are kept, and {observation['samples']} were observed"
    crops = observation["crops"]
    for number, crop in enumerate(crops, 1):
        if _sha256(pcm, crop) != crop["sha256"]:
            return f"crop {number} ({crop['kind']} at {crop['start']}) is not what the samples hold there"
    if not observation["complete"]:
        return None if observation["faults"] else "an observation without faults is called incomplete"
    return _unlike(crops, len(pcm), rule)


def _unlike(crops: Sequence[Mapping[str, Any]], samples: int, rule: Observe) -> str | None:
    """What a complete observation has otherwise than the rule, or None."""
    kinds = rule.sequence
    if [crop["kind"] for crop in crops] != [kind.name or kind.alias for kind in kinds]:
        return f"{len(crops)} crops are called complete, and they are not the {len(kinds)} that are expected"
    if rule.seed is None:
        return None
    again = replayed(samples, [Draw(kind.samples or 0, kind.beta) for kind in kinds], rule.seed)
    for crop, due in zip(crops, again, strict=True):
        if (crop["start"], crop["length"], crop["tiles"]) != (due.start, due.length, due.tiles):
            return f"a crop ({crop['kind']}) lies at {crop['start']}, and the seed puts it at {due.start}"
    return None


def _sha256(pcm: npt.NDArray[Any], crop: Mapping[str, Any]) -> str | None:
    """The digest of a crop that is cut again, None for one that cannot be."""
    start, length = crop["start"], crop["length"]
    if crop["dtype"] not in DTYPES or start < 0 or not 0 < start + length <= len(pcm) * crop["tiles"]:
        return None
    repeated = np.tile(pcm.astype(crop["dtype"]), crop["tiles"])
    return hashlib.sha256(repeated[start : start + length].tobytes()).hexdigest()
