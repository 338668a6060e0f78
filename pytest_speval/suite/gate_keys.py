"""The keys of gates and waivers, in a suite's section `gates` and in gate files."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict

from pytest_speval.suite.base_keys import ItemName, Keys, Said

_COMPARED = ("max_drop", "min_gain", "correction_group")
_ONE_LIMIT = ConfigDict(  # gate_check.py says it in words
    json_schema_extra={
        "oneOf": [{"required": [name]} for name in ("min", "max", "max_drop", "min_gain")],
        "dependentRequired": {name: ["baseline"] for name in _COMPARED},
        "dependentSchemas": {"baseline": {"oneOf": [{"required": [name]} for name in _COMPARED[:2]]}},
    }
)


class GateKeys(Keys):
    """A gate of the suite in whose section `gates` it stands. Limits are inclusive.

    With `baseline`, the folder of a blessed run, the limit is `max_drop` or `min_gain`.
    """

    model_config = _ONE_LIMIT

    metric: str
    min: float | None = None
    max: float | None = None
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
    """A gate file: gate id -> gate, and gate id -> waiver."""

    gates: Mapping[ItemName, SuiteGateKeys] = {}
    waivers: Mapping[ItemName, WaiverKeys] = {}
