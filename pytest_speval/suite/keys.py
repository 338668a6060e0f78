"""The keys of a suite file, with exactly the names that stand in the file."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag

from pytest_speval.suite.audit_keys import AuditSection
from pytest_speval.suite.base_keys import SUITE_NAME, ByteCount, ItemName, Keys, Said, Sha256
from pytest_speval.suite.choice_keys import Select, Votes
from pytest_speval.suite.corpus_keys import Corpus
from pytest_speval.suite.gate_keys import GateKeys
from pytest_speval.suite.observe_keys import Observe
from pytest_speval.suite.text_keys import Text


class Protocol(Keys):
    """Free text about the study, printed and kept in the plan."""

    version: str | None = None
    date: datetime.date | None = None
    decision: str | None = None
    population: str | None = None
    consent: str | None = None
    eligible: str | None = None


class Provenance(Keys):
    """One piece of evidence for what a claim rests on."""

    what: Said
    kind: Literal["third-party", "operator-assertion", "independent-verification"]
    evidence: Path | None = None


class Claim(Keys):
    """How much the result may be said to show."""

    level: Literal["diagnostic", "listener-labelled", "independent"] = "diagnostic"
    family: Literal["acted-intended", "listener", "natural", "synthetic"] | None = None
    limits: tuple[Said, ...] = ()
    provenance: tuple[Provenance, ...] = ()
    exploratory: bool = False


class AxesProjection(Keys):
    """Labels from points: the score of a label is the sum of `weight * (x - 0.5)` over the axes, cut to 0..1."""

    axes: Annotated[tuple[Literal["valence", "arousal", "dominance"], ...], Field(min_length=1)]
    rows: Annotated[Mapping[str, tuple[float, ...]], Field(min_length=1)]
    abstain_below: float | None = None


def _projection_form(value: object) -> str:
    if isinstance(value, AxesProjection):
        return "<axes>"
    if isinstance(value, Mapping):
        return "<axes>" if not isinstance(value.get("axes", value.get("rows", "")), str) else "<names>"
    return "<name>"


Projection = Annotated[
    Annotated[str, Tag("<name>")]
    | Annotated[AxesProjection, Tag("<axes>")]
    | Annotated[Mapping[str, str], Tag("<names>")],
    Discriminator(_projection_form),
]


class Labels(Keys):
    """The closed, ordered set of labels, and how references and answers get there."""

    set: Annotated[tuple[Said, ...], Field(min_length=1)]
    reference: Mapping[str, str] = {}
    drop: tuple[str, ...] = ()
    answers: Mapping[str, str] = {}
    projection: Projection | None = None
    absent: Literal["zero", "omit"] | None = None
    abstain_below: float | None = None
    strip: bool = False
    fold_case: bool = False


class AdapterSection(Keys):
    """The keys every adapter has; its own keys stand beside them and are checked by its own model."""

    model_config = ConfigDict(extra="allow")

    use: str
    name: Said | None = None
    requires: Mapping[str, str] = {}
    assets: Mapping[str, Sha256] = {}


class Rates(Keys):
    """US dollars for so many tokens (`per`) in and out, as published on a day."""

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]
    per: Annotated[int, Field(ge=1)] = 1_000_000
    as_of: datetime.date


class Budget(Keys):
    """Caps over all calls for one question; audio seconds are rounded up per clip."""

    requests: Annotated[int, Field(ge=0)] | None = None
    audio_seconds: Annotated[int, Field(ge=0)] | None = None
    usd: Annotated[float, Field(ge=0)] | None = None
    rates: Rates | None = None


class Blocks(Keys):
    """Fixed blocks of `size` units each, in lexical order; a block is asked in order by one process."""

    by: Literal["speaker", "session", "family", "source"]
    size: Annotated[int, Field(ge=1)]


class Run(Keys):
    """How the clips are asked. Without `per_item` and `blocks`: 1 up to 1,000 planned clips, else 64.

    `timeout` is in seconds per call. Without `once`, only a billable adapter is asked once for ever. Suites of one
    name `together` give no verdict and no overall estimate until all of them are complete. `max_bytes` bounds the
    files of all arrays that answers bring.
    """

    per_item: Annotated[int, Field(ge=1)] | Literal["all"] | None = None
    batch: Annotated[int, Field(ge=1)] = 1
    once: bool | None = None
    timeout: Annotated[float, Field(gt=0)] = 30.0
    max_failed: Annotated[int, Field(ge=0)] = 0
    missing: Literal["worst", "withhold"] | None = None
    blocks: Blocks | None = None
    together: ItemName | None = None
    max_bytes: ByteCount | None = None
    locked: bool = False
    budget: Budget | None = None


class Interval(Keys):
    """A bootstrap interval over whole units: clip, speaker, session, family, or a cohort by its name.

    The level is a share between 0 and 1, both excluded.
    """

    unit: ItemName = "speaker"
    replicates: Annotated[int, Field(ge=1, le=1_000_000)] = 2000
    seed: Annotated[int, Field(ge=0)] = 20260817
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    null_unit: Literal["exclude", "singleton"] = "exclude"


class SmallGroups(Keys):
    """A group of a cohort that is smaller is shown as suppressed."""

    min_clips: Annotated[int, Field(ge=1)]
    min_speakers: Annotated[int, Field(ge=1)] | None = None


class Score(Keys):
    """Which estimate is printed first, how sure it is, and for which cohorts all are given."""

    headline: str | None = None
    interval: Interval = Interval()
    few_clusters: Annotated[int, Field(ge=0)] = 10
    cohorts: Annotated[tuple[ItemName, ...], Field(min_length=1)] | None = None
    small_groups: SmallGroups | None = None


class SuiteKeys(Keys):
    """A whole suite file. Exactly one of `adapter` and `adapters` is given."""

    suite: Annotated[str, Field(pattern=SUITE_NAME)] | None = None
    describe: str | None = None
    task: str
    tags: tuple[Said, ...] = ()
    required: bool = False
    protocol: Protocol | None = None
    claim: Claim = Claim()
    corpus: Corpus
    labels: Labels | None = None
    votes: Votes | None = None
    select: Select | None = None
    audit: AuditSection = AuditSection()
    text: Text = Text()
    adapter: AdapterSection | None = None
    adapters: Annotated[Mapping[ItemName, AdapterSection], Field(min_length=1)] | None = None
    run: Run = Run()
    score: Score = Score()
    observe: Observe | None = None
    gates: Mapping[ItemName, GateKeys] = {}
