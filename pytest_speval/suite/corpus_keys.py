"""The keys of the section `corpus`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from pytest_speval.suite.base_keys import ColumnNames, ItemName, Keys, Said, Sha256

Style = Literal["csv", "tsv", "jsonl", "parquet", "kaldi", "trn", "sphinx", "stm", "ctm"]
TABLES = ("csv", "tsv")
TRANSCRIPTS = ("trn", "stm", "ctm")
ENDINGS = (*TABLES, "jsonl", "parquet", *TRANSCRIPTS)
"""Endings that tell how a manifest is written."""
AXES = ("valence", "arousal", "dominance")


class Format(Keys):
    """How a manifest is written. Without `style` the suffix decides; all keys but `style` and `encoding` are for CSV
    and TSV, where without `delimiter` the suffix decides: comma or tab.
    """

    style: Style | None = None
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    quoting: Literal["csv", "none"] = "csv"
    encoding: str = "utf-8"
    na: tuple[str, ...] = ("",)
    header: bool = True
    names: Annotated[tuple[str, ...], Field(min_length=1)] | None = None


class Constant(Keys):
    """A role that has one value for every row."""

    is_: str = Field(alias="is")


class Axis(Keys):
    """A column of numbers with its declared range, mapped to 0..1."""

    column: str
    range: tuple[float, float]


class Scale(Keys):
    """A column of numbers that keep their scale; within `range`, where one is given."""

    column: str
    range: tuple[float, float] | None = None


class Cohort(Keys):
    """A grouping of clips: its column, how several groups share a cell, and what an empty cell means.

    `missing` maps a cell to why there is no group. `source` and `version` say where the groups come from.
    """

    column: str
    separator: Annotated[str, Field(min_length=1)] | None = None
    source: Said | None = None
    version: Said | None = None
    missing: Mapping[str, Literal["not-asked", "declined", "unavailable", "invalid"]] = {}


class Identity(Keys):
    """What the column `speaker` holds: a person, or an account, which caps what may be claimed."""

    key: Literal["speaker", "account"] = "speaker"
    map_revision: Said | None = None


class Columns(Keys):
    """Role -> column. A role that is absent takes the column of its own name, where there is one."""

    id: str | None = None
    id_from: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    audio: str | None = None
    audio_from: str | None = None
    text: str | None = None
    transcript: str | None = None
    label: str | None = None
    split: str | Constant | None = None
    speaker: ColumnNames | None = None
    session: ColumnNames | None = None
    family: ColumnNames | None = None
    source: ColumnNames | None = None
    seconds: str | None = None
    bytes_sha256: str | None = None
    samples_sha256: str | None = None
    valence: Axis | None = None
    arousal: Axis | None = None
    dominance: Axis | None = None
    rating: str | Scale | None = None
    outcome: str | None = None
    attempt: str | None = None
    cohorts: Mapping[ItemName, str | Cohort] = {}
    conditions: Mapping[ItemName, str] = {}


class ExcludedRows(Keys):
    """Rows whose cell in `column` is one of `is` are excluded before any call."""

    column: str
    is_: Annotated[tuple[str, ...], Field(alias="is", min_length=1)]
    reason: Said


class License(Keys):
    """Under which terms the corpus may be used, and how to get it."""

    name: str | None = None
    source: str | None = None
    revision: str | None = None
    audio_redistribution: bool | None = None
    annotation_redistribution: bool | None = None
    obtain: str | None = None


class AudioContract(Keys):
    """What every sound file must be like. `rate` is in Hz, `seconds` are the inclusive bounds of the length."""

    rate: Annotated[int, Field(ge=1)] | None = None
    resample: bool = False
    channels: Annotated[int, Field(ge=1)] = 1
    channel: Annotated[int, Field(ge=0, le=1)] | Literal["mean"] | None = None
    container: str | None = None
    subtype: str | None = None
    seconds: tuple[Annotated[float, Field(ge=0)], Annotated[float, Field(ge=0)]] | None = None
    short: Literal["reject", "exclude", "pad", "abstain"] = "reject"
    long: Literal["reject", "exclude", "tail", "head"] = "reject"
    clipping: Literal["report", "reject"] = "report"


class Corpus(Keys):
    """Which clips: a manifest below a root, how to read it, and which of its rows are evaluated.

    `sampling` says why clips are tried several times.
    """

    root: Path | None = None
    manifest: Annotated[str, Field(min_length=1)]
    sha256: Sha256 | None = None
    format: Format = Format()
    columns: Columns = Columns()
    where: Mapping[str, Annotated[tuple[str, ...], Field(min_length=1)]] = {}
    exclude: Mapping[str, Said] = {}
    exclude_where: tuple[ExcludedRows, ...] = ()
    sampling: Said | None = None
    identity: Identity | None = None
    license: License | None = None
    audio: AudioContract = AudioContract()
