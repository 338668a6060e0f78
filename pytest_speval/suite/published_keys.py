"""The keys of gate files as publishing pipelines write them: schema v2, the flat v1, and what ties them to suites."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from pytest_speval.suite.base_keys import ItemName, Keys, Said

EVERY_TIER = "all"
Operator = Literal[">=", "<=", "bool"]


class PublishedMeta(Keys):
    """What v2 says of a gate for all tiers. `op` is how a measurement is held against the threshold."""

    op: Operator
    unit: str | None = None
    manifest_field: str | None = None
    needs_hardware: bool = False
    description: str | None = None
    calibration: str | None = None


class PublishedRow(Keys):
    """What v2 says of a gate for one tier; `needs_hardware` here goes before that of the gate."""

    threshold: float | bool
    required: bool = True
    provisional: bool = False
    needs_hardware: bool | None = None


class PublishedBench(Keys):
    """The section `mtp`, which repeats thresholds for a bench of its own; nothing of it is judged here."""

    minAcceptanceRate: float | None = None  # noqa: N815
    minSpeedup: float | None = None  # noqa: N815
    provisional: bool = False
    benchReportGlob: str | None = None  # noqa: N815
    calibration: str | None = None


class PublishedV2(Keys):
    """Schema v2: what gates are, and which tier asks how much of them."""

    version: Literal[2]
    gates: Mapping[ItemName, PublishedMeta]
    tiers: Mapping[str, Mapping[ItemName, PublishedRow]]
    mtp: PublishedBench | None = None


class FlatGate(Keys):
    """A gate of v1 with everything in one place. `required_for` is a tier, several, or `all`, as where it is absent."""

    op: Operator
    threshold: float | bool
    metric: str | None = None
    unit: str | None = None
    manifest_field: str | None = None
    description: str | None = None
    calibration: str | None = None
    required_for: str | Annotated[tuple[str, ...], Field(min_length=1)] = EVERY_TIER
    required: bool | None = None
    provisional: bool = False
    needs_hardware: bool = False

    @property
    def tiers(self) -> tuple[str, ...]:
        """The tiers it is required for."""
        return (self.required_for,) if isinstance(self.required_for, str) else self.required_for


class FlatChange(Keys):
    """What a tier changes of a gate of v1."""

    op: Operator | None = None
    threshold: float | bool | None = None
    description: str | None = None
    calibration: str | None = None
    required: bool | None = None
    provisional: bool | None = None
    needs_hardware: bool | None = None


class PublishedV1(Keys):
    """The flat v1: every gate with its threshold, for all tiers alike, and what single tiers change."""

    version: Literal[1] = 1
    defaults: Mapping[ItemName, FlatGate]
    tiers: Mapping[str, Mapping[ItemName, FlatChange]] = {}


class Bearing(Keys):
    """Which estimate of which suite measures a published gate."""

    suite: str
    metric: str
    owner: Said | None = None


class Published(Keys):
    """A published gate file, the tier that is released, and who measures its gates.

    Every gate of the tier stands in `gates`, or in `elsewhere` with what measures it.
    """

    file: Path
    tier: Said
    gates: Mapping[ItemName, Bearing] = Field(min_length=1)
    elsewhere: Mapping[ItemName, Said] = {}
