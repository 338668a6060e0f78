"""The section `observe`: what it takes, and what its key model cannot see."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_speval.suite.observe_check import observe_faults
from pytest_speval.suite.observe_keys import Observe
from pytest_speval.suite.shape import shaped
from pytest_speval.suite.tree import find
from pytest_speval.suite.vocabulary import TaskWord
from tests.scorer import RULE
from tests.unit.suite.test_choice import ASR, tree

MOS = TaskWord("mos", (), headline="mos", observable=True)
GOOD = """observe:
  module: small_scorer
  aliases: [ssl.crop, spec.crop]
  kinds:
    - {alias: ssl.crop, count: 1}
    - {name: main, alias: spec.crop, count: 2, samples: 22400}
    - {name: mixing, alias: spec.crop, count: 8, samples: 22400, beta: 0.4}
"""


def told(folder: Path, text: str, task: TaskWord = MOS) -> list[str]:
    """Every fault of a file, its model's and those of its keys together."""
    root = tree(folder, text)
    node = find(root, "observe")
    assert node is not None
    _, faults = shaped(Observe, node, ("observe",))
    return [*map(str, faults), *map(str, observe_faults(root, task))]


def test_a_whole_section_is_good(tmp_path: Path) -> None:
    assert told(tmp_path, GOOD) == []


@pytest.mark.parametrize(
    ("old", "new", "code", "place"),
    [
        ("alias: ssl.crop", "alias: sll.crop", "unknown-alias", "5:7"),
        ("    - {alias: ssl.crop, count: 1}\n", "", "unknown-alias", "3:13"),
        ("[ssl.crop, spec.crop]", "[ssl.crop, spec.crop, ssl.crop]", "duplicate-value", "3:34"),
        ("  kinds:", "  seed: 7\n  kinds:", "missing-key", "6:7"),
        ("count: 2", "count: 0", "out-of-range", "6:45"),
        ("beta: 0.4", "beta: 0", "out-of-range", ""),
        ("module: small_scorer", "module: small-scorer", "bad-value", ""),
        ("[ssl.crop, spec.crop]", "[]", "bad-value", "3:12"),
    ],
)
def test_faults_have_their_place_and_code(tmp_path: Path, old: str, new: str, code: str, place: str) -> None:
    faults = told(tmp_path, GOOD.replace(old, new, 1))
    assert any(f"[{code}" in fault and f":{place}" in fault for fault in faults), faults


def test_only_a_scorer_is_watched(tmp_path: Path) -> None:
    assert [fault.rpartition("[")[2] for fault in told(tmp_path, GOOD, ASR)] == ["superfluous-section]"]


def test_kinds_of_one_alias_take_turns() -> None:
    names = [kind.name for kind in RULE.sequence]
    assert names == ["ssl", *["main", *["mixing"] * 4] * 2]
