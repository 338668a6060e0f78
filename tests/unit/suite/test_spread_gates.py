"""Gates on groups, gaps and labels: their keys, and that editors are told the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
import yaml

from pytest_speval.errors import FaultyFile
from pytest_speval.judge.estimation import sizes
from pytest_speval.scoring.counts import Counts
from pytest_speval.suite.gate import GateRule
from pytest_speval.suite.load import load_gates, load_suite
from pytest_speval.suite.schema import gates_schema
from pytest_speval.suite.spread_check import CLOCK, SIZES, families_of
from pytest_speval.tasks.base import COMMON
from pytest_speval.tasks.registry import TASKS

from .words import VOCABULARY as MADE_UP

VOCABULARY = replace(MADE_UP, tasks={name: task.word for name, task in TASKS.items()})
GROUPED = """\
task: {task}
corpus: {{root: ., manifest: clips.csv, columns: {{id: id, audio: audio, {column}, cohorts: {{accent: a, age: b}}}}}}
{labels}
adapter: {{use: mine}}
score: {{cohorts: [accent], small_groups: {{min_clips: 2}}}}
"""
SUITES = {
    "voice": GROUPED.format(task="emotion", column="label: l", labels="labels: {set: [happy, sad]}"),
    "words": GROUPED.format(task="asr", column="transcript: t", labels=""),
    "plain": GROUPED.format(task="asr", column="transcript: t", labels="").partition("score")[0],
}


def load(folder: Path, keys: str, suite: str = "voice") -> GateRule:
    for name, text in SUITES.items():
        (folder / f"{name}.yaml").write_text(text)
    suites = {name: load_suite(folder / f"{name}.yaml", VOCABULARY) for name in SUITES}
    (folder / "gates.yml").write_text(f"gates: {{g: {{suite: {suite}, why: a, {keys}}}}}\n")
    (rule,) = load_gates(folder / "gates.yml", suites, VOCABULARY, "gates.yml").gates
    return rule


GOOD = {
    "metric: uar, cohort: accent, min: 0.5": ("accent", False, False, False, 0.5, None),
    "metric: uar, cohort: accent, gap: true, max: 0.1, bound: high": ("accent", True, False, False, None, 0.1),
    "metric: uar, cohort: accent, gap: true, max: chance": ("accent", True, True, False, None, None),
    "metric: recall, per_class: true, min: 0.05, bound: low": (None, False, False, True, 0.05, None),
    "metric: recall.sad, cohort: accent, min: 0.05": ("accent", False, False, False, 0.05, None),
    "metric: failure_rate, cohort: accent, max: 0.05": ("accent", False, False, False, None, 0.05),
    "metric: speakers, cohort: accent, min: 5": ("accent", False, False, False, 5.0, None),
    "metric: uar, gap: false, per_class: false, min: 0.5": (None, False, False, False, 0.5, None),
}


@pytest.mark.parametrize("keys", GOOD)
def test_good_gates(tmp_path: Path, keys: str) -> None:
    rule = load(tmp_path, keys)
    assert (rule.cohort, rule.gap, rule.chance, rule.per_class, rule.min, rule.max) == GOOD[keys]
    assert editors(keys)


def test_a_gap_of_a_metric_without_an_upper_end_may_be_any_size(tmp_path: Path) -> None:
    assert load(tmp_path, "metric: wer, cohort: accent, gap: true, max: 2.5", "words").max == 2.5


def editors(keys: str) -> bool:
    """Whether the JSON Schema accepts a gate."""
    found = yaml.safe_load(f"gates: {{g: {{suite: voice, why: a, {keys}}}}}")
    return jsonschema.Draft202012Validator(gates_schema()).is_valid(found)


BAD = {
    "metric: uar, cohort: acent, min: 0.5": ("unknown-cohort", "`acent`, did you mean `accent`?", True),
    "metric: uar, cohort: age, min: 0.5": ("unknown-cohort", "score.cohorts of the suite has no `age`", True),
    "metric: uar, gap: true, max: 0.1": ("contradiction", "add cohort", False),
    "metric: uar, cohort: accent, gap: true, min: 0.1": ("wrong-direction", "write max", False),
    "metric: uar, cohort: accent, gap: true, max: 1.1": ("limit-out-of-range", "the gap of uar is between", True),
    "metric: uar, cohort: accent, gap: true, max: -0.1": ("limit-out-of-range", "-0.1", True),
    "metric: uar, cohort: accent, gap: true": ("one-limit", "a gate needs one limit", False),
    "metric: uar, max: chance": ("contradiction", "add gap: true", False),
    "metric: uar, cohort: accent, max: chance": ("contradiction", "add gap: true", False),
    "metric: uar, cohort: accent, gap: false, max: chance": ("contradiction", "add gap: true", False),
    "metric: uar, cohort: accent, min: chance": ("wrong-type", "expected a number", False),
    "metric: uar, cohort: accent, gap: true, max: chance, bound: high": ("contradiction", "leave out bound", False),
    "metric: uar, cohort: accent, max: 0.5": ("wrong-direction", "write min", True),
    "metric: recall, min: 0.5": ("unknown-metric", "or add per_class: true", True),
    "metric: uar, per_class: true, min: 0.5": ("unknown-metric", "precision", True),
    "metric: support, per_class: true, min: 5": ("unknown-metric", "per_class needs", True),
    "metric: recall.sad, per_class: true, min: 0.5": ("unknown-metric", "did you mean `recall`?", True),
    "metric: recall, per_class: true, cohort: accent, min: 0.5": ("contradiction", "leave out cohort", False),
    "metric: recall, per_class: true, max: 0.5": ("wrong-direction", "write min", True),
    "metric: uar, cohort: accent, baseline: b, max_drop: 0.1": ("contradiction", "all clips that both runs", False),
    "metric: recall, per_class: true, baseline: b, max_drop: 0.1": ("contradiction", "all clips that", False),
    "metric: rtf, cohort: accent, max: 1": ("contradiction", "groups have none", True),
    "metric: latency_ms.p95, cohort: accent, max: 1": ("contradiction", "groups have none", True),
    "metric: clips, cohort: accent, gap: true, max: 1": ("contradiction", "says how much there is", True),
    "metric: support.sad, cohort: accent, gap: true, max: 1": ("contradiction", "says how much there is", True),
    "metric: uar, cohort: [accent], min: 0.5": ("wrong-type", "", False),
    "metric: uar, cohort: accent, gap: 1, max: 0.5": ("wrong-type", "", False),
}


@pytest.mark.parametrize("keys", BAD)
def test_what_makes_no_sense_is_refused_at_its_place(tmp_path: Path, keys: str) -> None:
    code, told, accepted = BAD[keys]
    with pytest.raises(FaultyFile) as caught:
        load(tmp_path, keys)
    first = caught.value.faults[0]
    assert first.line == 1
    assert code in [fault.code for fault in caught.value.faults]
    assert told in str(caught.value)
    assert editors(keys) == accepted, "an editor sees keys and types, not the other file"


def test_a_suite_without_cohorts_or_labels_has_neither(tmp_path: Path) -> None:
    with pytest.raises(FaultyFile, match=r"score\.cohorts of the suite has no `accent`"):
        load(tmp_path, "metric: wer, cohort: accent, max: 0.5", "plain")
    with pytest.raises(FaultyFile, match="per_class needs a metric that every label has: this task has none"):
        load(tmp_path, "metric: wer, per_class: true, max: 0.5", "words")


def test_the_metrics_that_groups_lack_are_the_clocks_and_those_without_a_gap_are_sizes() -> None:
    found = {*sizes(Counts(1, 1, 0, 1, 0, 0, 0, 0), None)}
    assert set(SIZES) == found
    rates = {"coverage", "failure_rate", "abstention_rate"}
    assert set(CLOCK) == {word.name for word in COMMON} - found - rates


def test_the_families_of_a_task_are_what_every_label_has() -> None:
    assert {*families_of(TASKS["emotion"].word.words(("a", "b")))} == {"f1", "precision", "recall"}
    assert families_of(TASKS["affect"].word.words(())) == {}, "an axis is no label"
