from __future__ import annotations

from pathlib import Path

import pytest

from pytest_speval.errors import FaultyFile, UsageFault
from pytest_speval.suite.load import load_suite
from pytest_speval.suite.override import parse_override
from pytest_speval.suite.suite import Suite

from .words import HERE, VOCABULARY

FOLDER = HERE / "good"
BASE = Path("/elsewhere")


def load(*texts: str, name: str = "smallest") -> Suite:
    overrides = [parse_override(text, BASE) for text in texts]
    assert {suite for suite, _ in overrides} <= {name if name != "full" else "meld"}
    return load_suite(FOLDER / f"{name}.yaml", VOCABULARY, [override for _, override in overrides])


def faults(*texts: str, name: str = "smallest") -> str:
    with pytest.raises(FaultyFile) as caught:
        load(*texts, name=name)
    return str(caught.value)


def test_an_override_replaces_a_value_and_is_remembered() -> None:
    suite = load("smallest.gates.macro-f1.min=0.25", "smallest.run.batch=8")
    assert suite.gates[0].min == 0.25
    assert suite.keys.run.batch == 8
    assert suite.overrides == ("smallest.gates.macro-f1.min=0.25", "smallest.run.batch=8")


def test_an_override_adds_a_key_with_the_tables_above_it() -> None:
    suite = load("smallest.score.interval.unit=clip", "smallest.corpus.columns.speaker=[a, b]")
    assert suite.keys.score.interval.unit == "clip"
    assert suite.keys.corpus.columns.speaker == ("a", "b")


def test_the_file_itself_stays_as_it_was() -> None:
    load("smallest.run.batch=8")
    assert load().keys.run.batch == 1
    assert load().overrides == ()


def test_the_later_of_two_overrides_counts() -> None:
    assert load("smallest.run.batch=8", "smallest.run.batch=4").keys.run.batch == 4


def test_a_path_of_an_override_begins_at_the_folder_given_for_it() -> None:
    ((_, adapter),) = load("smallest.adapter.file=new/answers.csv").adapters
    assert adapter.own["file"] == BASE / "new/answers.csv"
    assert adapter.raw["file"] == "new/answers.csv"
    assert load().adapters[0][1].own["file"] == FOLDER / "../answers.csv"
    assert load("smallest.corpus.root=${X}/y").root == Path("${X}/y")


def test_a_key_with_dots_is_found_where_it_stands() -> None:
    suite = load(f"meld.adapter.assets.model.onnx={'a1' * 32}", name="full")
    assert suite.adapters[0][1].assets == {"model.onnx": "a1" * 32}


def test_a_value_may_hold_an_equals_sign() -> None:
    assert load("smallest.describe=a=b").keys.describe == "a=b"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("run.per_item=0", "run.per_item: must be at least 1, got the number `0` [out-of-range]"),
        ("run.perr_item=0", "run.perr_item: unknown key, did you mean `per_item`? [unknown-key]"),
        ("gates.macro-f1.min=.nan", "gates.macro-f1.min: must be a finite number, got the number `.nan` [not-finite]"),
        (
            'gates.macro-f1.min="0.1"',
            "gates.macro-f1.min: expected a number, got the text `0.1`; remove the quotes [wrong-type]",
        ),
        ("describe=on", "describe: is the boolean true (YAML reads `on` so); quote it [ambiguous-value]"),
        ("describe=", "describe: is empty [empty-file]"),
        ("describe=!!str a", "describe: the tag !!str is not allowed [tag]"),
        ("run={batch: 1, batch: 2}", "run.batch: duplicate key, first given at line 1, column 2 [duplicate-key]"),
        ("run.batch=[1", "run.batch: is not YAML: did not find expected ',' or ']' "),
        ("task.name=asr", "task: is no table of keys; set it as a whole [override-path]"),
        ("labels.set.0=x", "labels.set: is no table of keys; set it as a whole [override-path]"),
        ("suite=other", "suite: a suite cannot be renamed here: its name is how the option finds it [override-path]"),
        ("gates.new=0.5", "gates.new: expected a table of keys and values, got the number `0.5`; a bare value"),
    ],
)
def test_a_fault_names_the_option(text: str, expected: str) -> None:
    assert faults(f"smallest.{text}").startswith(f"--speval-set smallest.{text}: {expected}")


def test_faults_of_file_and_option_are_listed_together(tmp_path: Path) -> None:
    path = tmp_path / "smallest.yaml"
    path.write_text((FOLDER / "smallest.yaml").read_text("utf-8").replace("min: 0.5", "min: 5"), "utf-8")
    override = parse_override("smallest.run.batch=none", BASE)[1]
    with pytest.raises(FaultyFile) as caught:
        load_suite(path, VOCABULARY, [override], shown_as="s.yaml")
    assert [(fault.file, fault.line, fault.code) for fault in caught.value.faults] == [
        ("--speval-set smallest.run.batch=none", 0, "wrong-type"),
        ("s.yaml", 5, "limit-out-of-range"),
    ]


@pytest.mark.parametrize("text", ["", "meld", "meld=1", "meld.=1", ".run=1", "meld.run", "meld..batch=1"])
def test_an_override_has_suite_key_and_value(text: str) -> None:
    with pytest.raises(UsageFault, match=r"expected SUITE\.KEY=VALUE.*\[override-form\]"):
        parse_override(text, BASE)
