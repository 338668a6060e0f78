"""The keys of gates and waivers, in a suite's section `gates` and in gate files."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, JsonValue

from pytest_speval.suite.base_keys import ItemName, Keys, Said
from pytest_speval.suite.published_keys import Published

Chance = Literal["chance"]
CHANCE: Chance = "chance"
"""The limit of a gap that chance alone would give."""
_COMPARED = ("max_drop", "min_gain", "correction_group")
_POINT: JsonValue = {"const": "point"}
_SPREAD = ("cohort", "gap", "per_class")


def _where(name: str, said: str | bool, then: JsonValue) -> JsonValue:
    return {"if": {"properties": {name: {"const": said}}, "required": [name]}, "then": then}


_ONE_LIMIT = ConfigDict(  # gate_check.py says it in words
    json_schema_extra={
        "oneOf": [{"required": [name]} for name in ("min", "max", "max_drop", "min_gain")],
        "dependentRequired": {name: ["baseline"] for name in _COMPARED},
        "dependentSchemas": {
            "baseline": {
                "oneOf": [{"required": [name]} for name in _COMPARED[:2]],
                "not": {"anyOf": [{"required": [name]} for name in _SPREAD]},
            }
        },
        "allOf": [
            _where("gap", True, {"required": ["cohort", "max"]}),
            _where("max", CHANCE, {"required": ["gap"], "properties": {"gap": {"const": True}, "bound": _POINT}}),
            _where("per_class", True, {"not": {"required": ["cohort"]}}),
        ],
    }
)


class GateKeys(Keys):
    """A gate of the suite in whose section `gates` it stands. Limits are inclusive.

    With `baseline`, the folder of a blessed run, the limit is `max_drop` or `min_gain`. With `cohort` the gate is on
    the worst group, and with `gap` on worst minus best; with `per_class` on the worst label.
    """

    model_config = _ONE_LIMIT

    metric: str
    min: float | None = None
    max: float | Chance | None = None
    cohort: str | None = None
    gap: bool = False
    per_class: bool = False
    baseline: Path | None = None
    max_drop: float | None = None
    min_gain: float | None = None
    correction_group: ItemName | None = None
    bound: Literal["point", "low", "high"] = "point"
    why: Said
    owner: Said | None = None
    level: Literal["block", "warn"] = "block"


class SuiteGateKeys(GateKeys):
    """A gate of a gate file, which has to say on which suite it stands."""

    model_config = _ONE_LIMIT

    suite: str


class WaiverKeys(Keys):
    """Why a failing gate is let through, who answers for it, and the last day on which it holds."""

    reason: Said
    owner: Said | None = None
    until: date | None = None


class GateFileKeys(Keys):
    """A gate file: gate id -> gate, gate id -> waiver, and the gates of a published file (published.py)."""

    gates: Mapping[ItemName, SuiteGateKeys] = {}
    waivers: Mapping[ItemName, WaiverKeys] = {}
    published: Published | None = None
