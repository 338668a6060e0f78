"""What damage may never do to a suite file.

- A key that is misspelt, wherever keys are ours to name, is a fault at its own place.
- A line with a key that stands twice is a fault that names both lines.
- A file that was cut off either is at fault, or says nothing but what stood before the cut: no key, value or gate is
  invented or changed, except that the very last value may be shortened with the file. (That a whole gate is missing
  from the end cannot be seen in the rest: nothing tells the two files apart from a shorter one.)
- A limit is the number that is written, finite and in the metric's range, or a fault.
- Whatever the bytes are, the answer is a suite or a list of faults.
"""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from pydantic import BaseModel

from pytest_speval.errors import FaultyFile
from pytest_speval.suite.base_keys import Keys as KeyModel
from pytest_speval.suite.corpus_keys import Corpus
from pytest_speval.suite.document import read_file
from pytest_speval.suite.gate import GateRule
from pytest_speval.suite.gate_keys import GateFileKeys
from pytest_speval.suite.keys import SuiteKeys
from pytest_speval.suite.load import load_suite
from pytest_speval.suite.override import parse_override
from pytest_speval.suite.shape import key_names
from pytest_speval.suite.suite import Suite
from pytest_speval.suite.tree import Entry, Items, Keys, Node, Scalar, Table

from .words import GOOD, HERE, VOCABULARY, Fixed, VadKeys

FULL = HERE / "good" / "full.yaml"
BLOCK = (HERE / "mutations" / "limit_range.yaml").read_text("utf-8").replace("1.2", "0.52")
OPEN = re.compile(
    r"labels\.(reference|answers|projection)\.[^.]+|labels\.projection\.rows\.[^.]+|corpus\.(where|exclude)\..+"
    r"|gates\.[^.]+|adapters\.[^.]+|.*\.(requires|assets)\..+|adapter\.columns\..+|adapter\.(beam|deep.*)"
)
"""Paths of keys that are the user's to name."""


def load(data: str | bytes) -> Suite:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "suite.yaml"
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return load_suite(path, VOCABULARY, shown_as="suite.yaml")


def all_entries(node: Node, keys: Keys = ()) -> Iterator[tuple[Keys, Entry]]:
    if isinstance(node, Table):
        for key, entry in node.entries.items():
            yield (*keys, key), entry
            yield from all_entries(entry.value, (*keys, key))
    elif isinstance(node, Items):
        for place, item in enumerate(node.items):
            yield from all_entries(item, (*keys, place))


def read_root(path: Path) -> Node:
    root = read_file(path).root
    assert root is not None
    return root


def closed_keys(path: Path) -> list[tuple[Path, Scalar]]:
    found = []
    for keys, entry in all_entries(read_root(path)):
        closed = not OPEN.fullmatch(".".join(map(str, keys))) or keys[-1] in ("axes", "rows", "abstain_below")
        found += [(path, entry.key)] if closed else []
    return found


CLOSED = [pair for path in GOOD for pair in closed_keys(path)]


def subclasses(model: type[KeyModel]) -> Iterator[type[KeyModel]]:
    yield model
    for each in model.__subclasses__():
        yield from subclasses(each)


MODELS: list[type[BaseModel]] = [*subclasses(KeyModel), VadKeys, Fixed]
KNOWN = {name for model in MODELS for name in key_names(model)}


def test_the_laws_see_all_keys_of_this_version() -> None:
    assert {Corpus, SuiteKeys, GateFileKeys} <= {*subclasses(KeyModel)}
    assert len(CLOSED) > 120


@given(st.sampled_from(CLOSED), st.data())
def test_a_misspelt_key_is_a_fault_at_its_place(closed: tuple[Path, Scalar], data: st.DataObject) -> None:
    path, key = closed
    at = data.draw(st.integers(0, len(key.text) - 1))
    letter = data.draw(st.sampled_from("abcdefghijklmnopqrstuvwxyz_"))
    cut = data.draw(st.sampled_from([0, 1]))
    misspelt = key.text[:at] + data.draw(st.sampled_from(["", letter])) + key.text[at + cut :]
    assume(misspelt and misspelt not in KNOWN)
    lines = path.read_text("utf-8").split("\n")
    line = lines[key.line - 1]
    assert line[key.column - 1 :].startswith(key.text)
    lines[key.line - 1] = line[: key.column - 1] + misspelt + line[key.column - 1 + len(key.text) :]
    with pytest.raises(FaultyFile) as caught:
        load("\n".join(lines))
    if key.text != "use":  # without it nobody knows whose keys the others are
        assert (key.line, key.column) in [(fault.line, fault.column) for fault in caught.value.faults]


KEY_LINES = [
    number for number, line in enumerate(FULL.read_text("utf-8").split("\n")) if re.match(r"\s*[\w./-]+:( |$)", line)
]


@pytest.mark.parametrize("number", KEY_LINES)
def test_a_line_with_a_key_that_stands_twice_is_a_fault_that_names_both(number: int) -> None:
    lines = FULL.read_text("utf-8").split("\n")
    column = len(lines[number]) - len(lines[number].lstrip()) + 1
    with pytest.raises(FaultyFile) as caught:
        load("\n".join([*lines[: number + 1], *lines[number:]]))
    assert [
        (fault.line, fault.column, f"line {number + 1}, column {column}" in fault.message)
        for fault in caught.value.faults
        if fault.code == "duplicate-key"
    ] == [(number + 2, column, True)]


def scalars(node: Node, keys: Keys = ()) -> Iterator[tuple[Keys, str]]:
    if isinstance(node, Scalar):
        yield keys, node.text
    elif isinstance(node, Items):
        for place, item in enumerate(node.items):
            yield from scalars(item, (*keys, place))
    else:
        for key, entry in node.entries.items():
            yield from scalars(entry.value, (*keys, key))


def check_cut(data: bytes, length: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        whole, part = Path(folder) / "whole.yaml", Path(folder) / "part.yaml"
        whole.write_bytes(data)
        part.write_bytes(data[:length])
        try:
            cut = load_suite(part, VOCABULARY)
        except FaultyFile:
            return
        full = load_suite(whole, VOCABULARY)
        before, after = read_root(whole), read_root(part)
    everything, kept = [*scalars(before)], [*scalars(after)]
    assert kept[:-1] == everything[: len(kept) - 1]
    assert kept[-1][0] == everything[len(kept) - 1][0]
    assert everything[len(kept) - 1][1].startswith(kept[-1][1])
    complete = max(0, len(cut.gates) - 1)
    assert [*map(said, cut.gates[:complete])] == [*map(said, full.gates[:complete])]


def said(gate: GateRule) -> tuple[object, ...]:
    return gate.id, gate.metric, gate.min, gate.max, gate.bound, gate.why, gate.level


@pytest.mark.parametrize("length", range(len(BLOCK)))
def test_a_suite_cut_off_anywhere_says_nothing_new(length: int) -> None:
    check_cut(BLOCK.encode(), length)


@given(st.sampled_from(GOOD), st.floats(0, 1))
def test_a_good_suite_cut_off_anywhere_says_nothing_new(path: Path, share: float) -> None:
    data = path.read_bytes()
    check_cut(data, int(share * len(data)))


@given(st.text("0123456789.+-eE_:xoinfa ", min_size=1, max_size=8) | st.floats().map(str))
@example("0.5e0")
@example(".5")
@example("1e-3")
@example("01")
@example("0_1")
def test_a_limit_is_the_number_that_is_written_or_a_fault(text: str) -> None:
    try:
        (gate,) = load(BLOCK.replace("0.52", text)).gates
    except FaultyFile:
        return
    assert gate.min == float(text)
    assert math.isfinite(gate.min)
    assert 0 <= gate.min <= 1


@given(st.sampled_from(GOOD), st.data())
def test_damaged_bytes_give_a_suite_or_faults(path: Path, data: st.DataObject) -> None:
    original = path.read_bytes()
    start = data.draw(st.integers(0, len(original)))
    end = data.draw(st.integers(start, min(len(original), start + 20)))
    patch = data.draw(st.binary(max_size=4) | st.text("[]{}:,-?!&*'\"|>#%@` \n\t~01.", max_size=6).map(str.encode))
    try:
        load(original[:start] + patch + original[end:])
    except FaultyFile:
        return


@given(st.sampled_from(GOOD), st.data())
def test_lost_lines_give_a_suite_or_faults(path: Path, data: st.DataObject) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    lost = data.draw(st.sets(st.integers(0, len(lines) - 1), min_size=1))
    try:
        load(b"".join(line for number, line in enumerate(lines) if number not in lost))
    except FaultyFile:
        return


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_any_bytes_at_all_give_faults(data: bytes) -> None:
    with pytest.raises(FaultyFile):
        load(data)


PATHS = [
    (path, ".".join(map(str, keys)))
    for path in GOOD
    for keys, _ in all_entries(read_root(path))
    if not any(isinstance(key, int) for key in keys)
]
VALUES = ["", "[]", "{}", "x", "3", "-1", "2.5", "true", "on", "~", "2026-01-01", '""', "012", "*a", "!t x", "[x, x]"]
VALUES += ["[1]", "[[1]]", "[on]", "{a: b}", "{is: 3}", "[{a: 1}]", "{axes: x}", "{axes: [valence], rows: {a: x}}"]
VALUES += ["{rows: [a]}", "{axes: on}", "{use: mine, x: on}", "{a: {use: mine}}", "{f: {metric: uar}}", "${A", "9" * 20]
VALUES += ["{fixed: x}", "[valence, 1]", "{column: a, range: [x, 1]}", "[{column: a, is: on}]", "{1: a}", "{<<: a}"]


@given(st.sampled_from(PATHS), st.sampled_from(VALUES) | st.text("[]{}:,-?!&*'\"|>#%@` \n\t~01.onyes\\u$", max_size=12))
def test_any_value_anywhere_gives_a_suite_or_faults(place: tuple[Path, str], text: str) -> None:
    path, keys = place
    _, override = parse_override(f"suite.{keys}={text}", Path("/"))
    try:
        load_suite(path, VOCABULARY, [override])
    except FaultyFile:
        return
