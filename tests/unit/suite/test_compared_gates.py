"""Gates on baselines: their keys, and what is wrong with them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
import yaml

from pytest_speval.errors import FaultyFile
from pytest_speval.suite.gate import GateRule
from pytest_speval.suite.gate_check import NOT_COMPARED
from pytest_speval.suite.load import load_gates, load_suite
from pytest_speval.suite.schema import gates_schema
from pytest_speval.tasks.base import COMMON
from pytest_speval.tasks.registry import TASKS

from .words import HERE
from .words import VOCABULARY as MADE_UP

VOCABULARY = replace(MADE_UP, tasks={name: task.word for name, task in TASKS.items()})
SUITES = {name: load_suite(HERE / "good" / f"{name}.yaml", VOCABULARY) for name in ("smallest", "affect")}


def load(folder: Path, keys: str, suite: str = "smallest") -> GateRule:
    (folder / "gates.yaml").write_text(f"gates: {{g: {{suite: {suite}, why: a, {keys}}}}}\n", "utf-8")
    (rule,) = load_gates(folder / "gates.yaml", SUITES, VOCABULARY, "gates.yaml").gates
    return rule


def test_a_gate_on_a_baseline_is_read_with_its_folder_beside_the_file(tmp_path: Path) -> None:
    rule = load(tmp_path, "metric: uar, baseline: ../baselines/b, max_drop: 0.01, bound: low, correction_group: all")
    assert rule.against is not None
    assert rule.against.folder == tmp_path / "../baselines/b"
    assert (rule.against.max_drop, rule.against.min_gain, rule.against.correction_group) == (0.01, None, "all")
    assert (rule.min, rule.max, rule.against.sha256) == (None, None, None)


def test_a_drop_is_a_change_for_the_worse(tmp_path: Path) -> None:
    drop = load(tmp_path, "metric: uar, baseline: b, max_drop: 0.01")
    gain = load(tmp_path, "metric: uar, baseline: b, min_gain: 0.01")
    assert (drop.on_difference("higher").min, drop.on_difference("higher").max) == (-0.01, None)
    assert (drop.on_difference("lower").min, drop.on_difference("lower").max) == (None, 0.01)
    assert (gain.on_difference("higher").min, gain.on_difference("lower").max) == (0.01, -0.01)


@pytest.mark.parametrize(
    "keys",
    [
        "metric: uar, baseline: b, max_drop: 0",
        "metric: uar, baseline: b, min_gain: 1",
        "metric: f1.sad, baseline: '${BASELINES}/b', max_drop: 0.5, bound: high",
    ],
)
def test_good_gates(tmp_path: Path, keys: str) -> None:
    assert load(tmp_path, keys).against is not None


@pytest.mark.parametrize(
    ("keys", "faults"),
    [
        ("metric: uar, baseline: b", [("one-limit", "give max_drop or min_gain: a gate needs one limit")]),
        ("metric: uar, baseline: b, max_drop: 0.1, min_gain: 0.1", [("one-limit", "not both")]),
        ("metric: uar, baseline: b, min: 0.5", [("contradiction", "against a baseline the limit is max_drop or")]),
        ("metric: uar, baseline: b, max_drop: 0.1, max: 0.5", [("contradiction", "against a baseline the limit is")]),
        ("metric: uar, min: 0.5, max_drop: 0.1", [("contradiction", "it acts only beside baseline")]),
        ("metric: uar, max_drop: 0.1", [("contradiction", "it acts only beside baseline")]),
        ("metric: uar, min: 0.5, correction_group: g", [("contradiction", "it acts only beside baseline")]),
        ("metric: uar, baseline: b, max_drop: -0.1", [("limit-out-of-range", "between 0 and 1: -0.1 is outside")]),
        ("metric: uar, baseline: b, max_drop: 1.5", [("limit-out-of-range", "between 0 and 1: 1.5 is outside")]),
        ("metric: uar, baseline: b, max_drop: .inf", [("not-finite", "")]),
        ("metric: uar, baseline: b, max_drop: .nan", [("not-finite", "")]),
        ("metric: uar, baseline: b, max_drop: '0.1'", [("wrong-type", "")]),
        ("metric: uar, baseline: [b], max_drop: 0.1", [("wrong-type", "")]),
        ("metric: coverage, baseline: b, max_drop: 0.1", [("contradiction", "coverage says nothing of how good")]),
        ("metric: rtf, baseline: b, max_drop: 0.1", [("contradiction", "rtf says nothing of how good")]),
        ("metric: support.sad, baseline: b, max_drop: 1", [("contradiction", "support.sad says nothing")]),
        ("metric: wer, baseline: b, max_drop: 0.1", [("unknown-metric", "no metric `wer`")]),
        ("metric: uar, baseline: b, max_drop: 0.1, correction_group: g", [("contradiction", "write bound: low")]),
        (
            "metric: uar, baseline: b, max_drop: 0.1, bound: high, correction_group: g",
            [("contradiction", "write bound: low")],
        ),
    ],
)
def test_what_makes_no_sense_is_refused_at_its_place(tmp_path: Path, keys: str, faults: list[tuple[str, str]]) -> None:
    with pytest.raises(FaultyFile) as caught:
        load(tmp_path, keys)
    assert [fault.code for fault in caught.value.faults] == [code for code, _ in faults]
    for found, (_, said) in zip(caught.value.faults, faults, strict=True):
        assert said in found.message
        assert found.line == 1


@pytest.mark.parametrize(
    ("keys", "good"),
    [
        ("metric: uar, baseline: b, max_drop: 0.1", True),
        ("metric: uar, baseline: b, min_gain: 0.1, bound: low, correction_group: g", True),
        ("metric: uar, min: 0.1", True),
        ("metric: uar, baseline: b", False),
        ("metric: uar, baseline: b, min: 0.1", False),
        ("metric: uar, baseline: b, min: 0.1, max_drop: 0.1", False),
        ("metric: uar, baseline: b, max_drop: 0.1, min_gain: 0.1", False),
        ("metric: uar, max_drop: 0.1", False),
        ("metric: uar, min: 0.1, correction_group: g", False),
    ],
)
def test_editors_are_told_the_same(tmp_path: Path, keys: str, good: bool) -> None:
    found = yaml.safe_load(f"gates: {{g: {{suite: smallest, why: a, {keys}}}}}")
    assert jsonschema.Draft202012Validator(gates_schema()).is_valid(found) == good
    if good:
        load(tmp_path, keys)
        return
    with pytest.raises(FaultyFile):
        load(tmp_path, keys)


def test_where_lower_is_better_the_careful_bound_is_the_high_one(tmp_path: Path) -> None:
    keys = "metric: mae.valence, baseline: b, max_drop: 0.1, correction_group: g, bound: {}"
    assert load(tmp_path, keys.format("high"), "affect").bound == "high"
    with pytest.raises(FaultyFile, match="write bound: high"):
        load(tmp_path, keys.format("low"), "affect")


def test_metrics_of_a_run_that_are_no_quality_are_those_that_every_task_has() -> None:
    assert {word.name for word in COMMON} == NOT_COMPARED
