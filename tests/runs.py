"""Made-up runs, built in memory: listed clips and how their calls ended, judged without a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

from pytest_speval.audit.finding import Audit
from pytest_speval.corpus.cohorts import CohortRule
from pytest_speval.corpus.labels import LabelRules
from pytest_speval.corpus.text import TextRules, text_rules
from pytest_speval.evidence.ending import UNATTEMPTED, UNKNOWN, Ending
from pytest_speval.evidence.plan import Plan, Question
from pytest_speval.judge.bench import Bench
from pytest_speval.judge.group import SmallGroups
from pytest_speval.judge.judgement import judge
from pytest_speval.judge.result import Result
from pytest_speval.judge.sample import IntervalRule
from pytest_speval.reports.document import Times
from pytest_speval.suite.gate import GateRule, Place, Waiver
from pytest_speval.suite.text_keys import Text
from pytest_speval.tasks.base import Rules
from pytest_speval.tasks.registry import TASKS

TODAY = date(2026, 11, 29)
TIMES = Times(datetime(2026, 11, 29, 8, 30, 15, tzinfo=UTC), 12.5)
NOWHERE = Place("gates.yaml", 1, 1)
FAILED = Ending("failed", code="raised", message="RuntimeError: no luck (classify, line 7)")
MODEL = {
    "use": "mine",
    "name": "small-net",
    "keys": {},
    "identity": {"name": "small-net", "files": {}},
    "requires": {},
}

__all__ = ["FAILED", "NOWHERE", "TIMES", "TODAY", "UNATTEMPTED", "UNKNOWN", "Clip"]


def said(label: str | None = None, *, microseconds: int = 1500, **answer: Any) -> Ending:
    """A call that returned: a label, or scores or vad, or nothing at all."""
    named = {} if label is None else {"label": label}
    return Ending("returned", named | answer, microseconds=microseconds)


@dataclass(frozen=True)
class Clip:
    """One listed clip; `cells` are further columns of the manifest."""

    id: str
    label: str
    ending: Ending
    speaker: str | None = None
    split: str = "test"
    excluded: str | None = None
    cells: Mapping[str, Any] = field(default_factory=dict)


def question_of(clips: Sequence[Clip], *, task: str = "emotion", **more: Any) -> Question:
    """The question behind listed clips; columns that no clip has are left out."""
    cells = {"label": [clip.label for clip in clips]} if task == "emotion" else {}
    cells |= {name: [clip.cells[name] for clip in clips] for name in (clips[0].cells if clips else ())}
    if any(clip.speaker is not None for clip in clips):
        cells["speaker"] = [clip.speaker for clip in clips]  # type: ignore[misc]
    given: dict[str, Any] = {
        "corpus": {"manifest": "clips.csv"},
        "adapter": MODEL,
        "splits": [clip.split for clip in clips],
        "ids": [clip.id for clip in clips],
        "split_given": True,
        "cells": cells,
        "excluded": [clip.excluded for clip in clips],
    }
    return Question(task=task, **(given | more))


def gate(metric: str = "accuracy", **keys: Any) -> GateRule:
    """A gate; give `min` or `max`."""
    plain: dict[str, Any] = {
        "id": f"{metric.replace('.', '-')}-gate",
        "suite": "voice",
        "metric": metric,
        "min": None,
        "max": None,
        "bound": "point",
        "why": "made up",
        "owner": None,
        "level": "block",
        "place": NOWHERE,
    }
    return GateRule(**(plain | keys))


def waiver(until: date | None = None, reason: str = "known fault", owner: str | None = "release") -> Waiver:
    return Waiver(reason, owner, until, NOWHERE)


def judged(
    clips: Sequence[Clip],
    labels: Sequence[str] = ("happy", "sad", "calm"),
    *gates: GateRule,
    task: str = "emotion",
    absent: str | None = "omit",
    missing: str = "worst",
    ranges: Mapping[str, tuple[float, float]] | None = None,
    max_failed: int = 10**6,
    interval: IntervalRule | None = None,
    headline: str | None = None,
    audits: Sequence[Audit] = (),
    rules: Mapping[str, Any] | None = None,
    partial: bool = False,
    label_rules: LabelRules | None = None,
    text: TextRules | None = None,
    cohorts: Sequence[CohortRule] = (),
    small_groups: SmallGroups | None = None,
    **question: Any,
) -> Result:
    """The result of a run of these clips."""
    scored = label_rules or LabelRules(tuple(labels), absent=absent)
    bench = Bench(
        scoring=Rules(
            scored if task == "emotion" else None,
            ranges or {},
            missing,  # type: ignore[arg-type]
            text or text_rules(Text()),
        ),
        interval=interval or IntervalRule(replicates=100),
        headline=headline or TASKS[task].word.headline,
        max_failed=max_failed,
        gates=tuple(gates),
        on=TODAY,
        cohorts=tuple(cohorts),
        small_groups=small_groups,
    )
    plan = Plan("voice", question_of(clips, task=task, **question), rules or {}, {"pytest-speval": "0"})
    endings = [clip.ending for clip in clips if clip.excluded is None]
    return judge(plan, TASKS[task], bench, endings, audits, partial=partial)


def values(result: Result) -> dict[str, float | None]:
    """Every estimate's value."""
    return {name: estimate.value for name, estimate in result.estimates.items()}
