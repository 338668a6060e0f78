"""What a run is judged by, made from the rules that stand in its plan: the only source, live or stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import orjson

from pytest_speval.corpus.cohorts import CohortRule
from pytest_speval.corpus.projections import AXES
from pytest_speval.corpus.staging import label_rules
from pytest_speval.corpus.text import recorded_rules
from pytest_speval.evidence.canonical import canonical, value_of
from pytest_speval.evidence.plan import Plan
from pytest_speval.judge.group import SmallGroups
from pytest_speval.judge.sample import OWN_UNITS, IntervalRule
from pytest_speval.suite.gate import Against, GateRule, Place, Waiver
from pytest_speval.suite.gate_keys import CHANCE
from pytest_speval.suite.keys import Labels, Score
from pytest_speval.tasks.base import Rules, Task

IN_PLAN = Place("plan.json", 0, 0)


@dataclass(frozen=True, slots=True)
class Bench:
    """Everything a run is judged by, beside its question; `on` is the day it is judged."""

    scoring: Rules
    interval: IntervalRule
    headline: str
    max_failed: int
    gates: tuple[GateRule, ...]
    on: date
    cohorts: tuple[CohortRule, ...] = ()
    small_groups: SmallGroups | None = None

    @classmethod
    def of(cls, plan: Plan, task: Task, on: date) -> Bench:
        """Read a plan's rules; raises `KeyError` or `ValueError` for what are no rules."""
        rules, columns = plan.rules, plan.question.corpus["columns"]
        labels = Labels.model_validate_json(_text(rules["labels"])) if "labels" in rules else None
        score = Score.model_validate_json(_text(rules["score"]))
        ranges = {axis: (low, high) for axis in AXES if axis in columns for low, high in [columns[axis]["range"]]}
        text = recorded_rules(rules["text"]) if "text" in rules else None
        first = task.word.headline if text is None else text.metric(task.word.headline)
        unit = score.interval
        return cls(
            scoring=Rules(label_rules(labels), ranges, rules["run"]["missing"], text),
            interval=IntervalRule(
                unit.unit,
                unit.replicates,
                unit.seed,
                unit.level,
                unit.null_unit,
                score.few_clusters,
                cohort=_unit_cohort(unit.unit, columns),
            ),
            headline=score.headline or first,
            max_failed=rules["run"]["max_failed"],
            gates=tuple(_gate(plan.suite, record) for record in rules["gates"]),
            on=on,
            cohorts=tuple(_cohort(name, columns["cohorts"][name]) for name in score.cohorts or ()),
            small_groups=None
            if score.small_groups is None
            else SmallGroups(score.small_groups.min_clips, score.small_groups.min_speakers),
        )


def _text(section: Mapping[str, Any]) -> bytes:
    """A section in the order of `plan.json`, whether it was read from there or not.

    Only the rows of a projection have an order that counts: they are pairs there.
    """
    section = value_of(canonical(section))
    projection = section.get("projection")
    if isinstance(projection, dict) and isinstance(projection.get("rows"), list):
        projection["rows"] = dict(projection["rows"])
    return orjson.dumps(section)


def _cohort(name: str, said: str | Mapping[str, Any]) -> CohortRule:
    if isinstance(said, str):
        return CohortRule(name)
    told = {key: said.get(key) for key in ("separator", "source", "version")}
    return CohortRule(name, missing=said.get("missing", {}), **told)


def _unit_cohort(unit: str, columns: Mapping[str, Any]) -> CohortRule | None:
    """How the cells of an interval's unit are read where it is a cohort, None where it is none."""
    said = columns.get("cohorts", {}).get(unit)
    return None if said is None or unit in OWN_UNITS else _cohort(unit, said)


def _gate(suite: str, record: Mapping[str, Any]) -> GateRule:
    limits: dict[str, Any] = {
        name: None if record[name] in (None, CHANCE) else float(record[name]) for name in ("min", "max")
    }
    spread: dict[str, Any] = {name: record[name] for name in ("cohort", "gap", "per_class") if name in record}
    waiver = None
    if "waiver" in record:
        said = record["waiver"]
        until = None if said["until"] is None else date.fromisoformat(said["until"])
        waiver = Waiver(said["reason"], said["owner"], until, IN_PLAN)
    told = {name: record[name] for name in ("id", "metric", "bound", "why", "owner", "level")}
    return GateRule(
        suite=suite,
        place=IN_PLAN,
        waiver=waiver,
        against=_against(record),
        chance=record["max"] == CHANCE,
        **limits,
        **told,
        **spread,
    )


def _against(record: Mapping[str, Any]) -> Against | None:
    if "baseline" not in record:
        return None
    drop, gain = (None if record[name] is None else float(record[name]) for name in ("max_drop", "min_gain"))
    there = record["baseline"]
    return Against(drop, gain, record["correction_group"], None, there["sha256"], there["missing"])
