from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from pytest_speval.errors import FaultyFile
from pytest_speval.suite.gate import GateFile, merge_gates
from pytest_speval.suite.load import load_gates, load_suite

from .words import HERE, VOCABULARY

SUITES = {name: load_suite(HERE / "good" / f"{name}.yaml", VOCABULARY) for name in ("smallest", "affect", "named")}
GATES = """\
gates:
  f1: {suite: smallest, metric: f1.sad, min: 0.5, why: "a", owner: me, level: warn}
  lost: {suite: affect, metric: failure_rate, max: 0, bound: high, why: "b"}
"""


def load(folder: Path, text: str, name: str = "gates.yaml") -> GateFile:
    (folder / name).write_text(text, "utf-8")
    return load_gates(folder / name, SUITES, VOCABULARY, name)


def faults(folder: Path, text: str) -> list[str]:
    with pytest.raises(FaultyFile) as caught:
        load(folder, text)
    return str(caught.value).splitlines()


def test_gates_and_waivers_are_read(tmp_path: Path) -> None:
    found = load(tmp_path, GATES + "waivers:\n  f1: {reason: known, owner: me, until: 2026-12-31}\n")
    first, second = found.gates
    assert (first.id, first.suite, first.metric, first.min, first.max) == ("f1", "smallest", "f1.sad", 0.5, None)
    assert (first.bound, first.why, first.owner, first.level) == ("point", "a", "me", "warn")
    assert (second.min, second.max, second.bound, second.owner) == (None, 0.0, "high", None)
    assert str(second.place) == "gates.yaml:3:3"
    (key,) = found.waivers
    assert key == ("smallest", "f1")
    waiver = found.waivers[key]
    assert (waiver.reason, waiver.owner, waiver.until) == ("known", "me", datetime.date(2026, 12, 31))


def test_a_file_may_hold_waivers_alone(tmp_path: Path) -> None:
    found = load(tmp_path, "waivers:\n  macro-f1: {reason: known}\n")
    assert found.gates == ()
    assert [*found.waivers] == [("smallest", "macro-f1")]


def test_a_waiver_means_the_gate_of_its_own_file_first(tmp_path: Path) -> None:
    text = "gates: {macro-f1: {suite: named, metric: uar, min: 0, why: a}}\nwaivers: {macro-f1: {reason: b}}\n"
    assert [*load(tmp_path, text).waivers] == [("named", "macro-f1")]


def test_a_waiver_that_could_mean_two_gates_is_refused(tmp_path: Path) -> None:
    text = (HERE / "good" / "smallest.yaml").read_text("utf-8")
    (tmp_path / "twin.yaml").write_text(text, "utf-8")
    suites = SUITES | {"twin": load_suite(tmp_path / "twin.yaml", VOCABULARY)}
    (tmp_path / "gates.yaml").write_text("waivers: {macro-f1: {reason: b}}\n", "utf-8")
    with pytest.raises(
        FaultyFile, match=r"1:11: waivers\.macro-f1: several suites .*: smallest, twin.*\[unknown-gate\]"
    ):
        load_gates(tmp_path / "gates.yaml", suites, VOCABULARY)


@pytest.mark.parametrize("limit", ["min: 1.0", "min: 0", "min: 0.0", "min: 1"])
def test_the_ends_of_the_range_are_allowed(tmp_path: Path, limit: str) -> None:
    load(tmp_path, f"gates: {{a: {{suite: smallest, metric: uar, {limit}, why: a}}}}\n")


def test_a_metric_without_upper_end_takes_any_finite_limit(tmp_path: Path) -> None:
    (tmp_path / "words.yaml").write_text(
        "task: asr\ncorpus: {manifest: a.csv}\nadapter: {use: mine}\ngates: {wer: {metric: wer, max: 1e300, why: a}}\n",
        "utf-8",
    )
    assert load_suite(tmp_path / "words.yaml", VOCABULARY).gates[0].max == 1e300
    text = (tmp_path / "words.yaml").read_text("utf-8")
    wrong = {"max: -0.1": "limit-out-of-range", "max: .inf": "not-finite", "min: 0.1": "wrong-direction"}
    for bad, code in wrong.items():
        (tmp_path / "words.yaml").write_text(text.replace("max: 1e300", bad), "utf-8")
        with pytest.raises(FaultyFile) as caught:
            load_suite(tmp_path / "words.yaml", VOCABULARY)
        assert [fault.code for fault in caught.value.faults] == [code]


def test_gates_of_all_files_come_together_with_their_waivers(tmp_path: Path) -> None:
    files = [
        load(tmp_path, GATES, "a.yaml"),
        load(tmp_path, "gates: {f1: {suite: named, metric: uar, min: 0, why: a}}\n", "b.yaml"),
        load(tmp_path, "waivers: {macro-f1: {reason: known}}\n", "c.yaml"),
    ]
    merged = merge_gates(SUITES["smallest"].gates, files)
    assert [(rule.suite, rule.id) for rule in merged] == [
        ("smallest", "macro-f1"),
        ("smallest", "f1"),
        ("affect", "lost"),
        ("named", "f1"),
    ]
    assert [rule.waiver is not None for rule in merged] == [True, False, False, False]


def test_one_gate_in_two_files_is_refused_with_both_places(tmp_path: Path) -> None:
    again = "gates:\n  macro-f1: {suite: smallest, metric: uar, min: 0, why: a}\nwaivers:\n  macro-f1: {reason: b}\n"
    files = [load(tmp_path, again, "a.yaml"), load(tmp_path, again, "b.yaml")]
    with pytest.raises(FaultyFile) as caught:
        merge_gates(SUITES["smallest"].gates, files)
    own = SUITES["smallest"].gates[0].place
    what = "suite smallest has a {} of this name already, at {} [duplicate-{}]"
    assert str(caught.value).splitlines() == [
        f"a.yaml:2:3: gates.macro-f1: {what.format('gate', own, 'gate')}",
        f"b.yaml:2:3: gates.macro-f1: {what.format('gate', own, 'gate')}",
        f"b.yaml:4:3: waivers.macro-f1: {what.format('waiver', 'a.yaml:4:3', 'waiver')}",
    ]


def test_the_place_of_a_gate_is_no_part_of_what_it_says(tmp_path: Path) -> None:
    assert load(tmp_path, GATES, "a.yaml").gates == load(tmp_path, f"# moved\n{GATES}", "b.yaml").gates


def test_all_faults_of_a_file_are_listed(tmp_path: Path) -> None:
    text = GATES.replace("f1.sad", "f1.sat").replace("suite: affect", "suite: affects") + "waivers: {x: {owner: y}}\n"
    assert faults(tmp_path, text) == [
        "gates.yaml:2:33: gates.f1.metric: no metric `f1.sat`, did you mean `f1.sad`? [unknown-metric]",
        "gates.yaml:3:17: gates.lost.suite: no suite `affects`, did you mean `affect`? [unknown-suite]",
        "gates.yaml:4:11: waivers.x.reason: a required key is missing [missing-key]",
        "gates.yaml:4:11: waivers.x: no gate `x`; known: f1, lost, macro-f1, negative [unknown-gate]",
    ]
