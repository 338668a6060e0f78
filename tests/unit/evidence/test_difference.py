"""Naming where two JSON values differ, against their canonical texts."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.evidence.canonical import canonical
from pytest_speval.evidence.difference import ABSENT, Difference, differences

SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0, -0.0, "", "1", "a", "b"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
        | st.lists(st.fixed_dictionaries({"id": st.sampled_from("xyz")}, optional={"min": inner}), max_size=3)
    ),
    max_leaves=15,
)


@given(VALUES, VALUES)
def test_values_differ_where_their_canonical_texts_do(one: Any, other: Any) -> None:
    assert bool(differences(one, other)) == (canonical(one) != canonical(other))


@given(VALUES)
def test_a_value_does_not_differ_from_its_copy(value: Any) -> None:
    assert differences(value, deepcopy(value)) == []


@given(VALUES, VALUES)
def test_the_other_way_round_the_same_places_differ(one: Any, other: Any) -> None:
    turned = {(found.path, repr(found.now), repr(found.was)) for found in differences(other, one)}
    assert {(found.path, repr(found.was), repr(found.now)) for found in differences(one, other)} == turned


CASES: list[tuple[Any, Any, list[Difference]]] = [
    (0.5, 0.4, [Difference("", 0.5, 0.4)]),
    (1, 1.0, []),
    (1, True, [Difference("", 1, True)]),
    ([0], [False], [Difference("[0]", 0, False)]),
    (("a", "b"), ["a", "b"], []),
    ({"a": None}, {}, [Difference("a", None, ABSENT)]),
    ({}, {"a": None}, [Difference("a", ABSENT, None)]),
    ({"a": {"b": 1}}, {"a": []}, [Difference("a", {"b": 1}, [])]),
    ({"b": 1, "a": 1}, {"a": 2, "b": 2}, [Difference("a", 1, 2), Difference("b", 1, 2)]),
    ({"set": ["x", "y"]}, {"set": ["x", "z"]}, [Difference("set[1]", "y", "z")]),
    ({"set": ["x", "y", "z"]}, {"set": ["y", "z"]}, [Difference("set", ["x", "y", "z"], ["y", "z"])]),
]


@pytest.mark.parametrize(("one", "other", "expected"), CASES)
def test_a_difference_has_its_path_and_both_values(one: Any, other: Any, expected: list[Difference]) -> None:
    assert differences(one, other) == expected


def test_objects_with_ids_are_matched_by_them() -> None:
    was = {"gates": [{"id": "a", "min": 0.5}, {"id": "b", "min": 0.1}]}
    now = {"gates": [{"id": "b", "min": 0.1}, {"id": "c", "min": 0.2}]}
    assert differences(was, now) == [
        Difference("gates[a]", {"id": "a", "min": 0.5}, ABSENT),
        Difference("gates[c]", ABSENT, {"id": "c", "min": 0.2}),
    ]
    now = {"gates": [{"id": "a", "min": 0.4}, {"id": "b", "min": 0.1}]}
    assert differences(was, now) == [Difference("gates[a].min", 0.5, 0.4)]


def test_another_order_of_the_same_ids_is_a_difference() -> None:
    was, now = [{"id": "a"}, {"id": "b"}], [{"id": "b"}, {"id": "a"}]
    assert differences(was, now) == [Difference("", ["a", "b"], ["b", "a"])]


def test_objects_that_share_an_id_are_matched_by_position() -> None:
    was = [{"id": "a", "min": 1}, {"id": "a", "min": 2}]
    now = [{"id": "a", "min": 1}, {"id": "a", "min": 3}]
    assert differences(was, now) == [Difference("[1].min", 2, 3)]


LINES = [
    (Difference("rules.gates[f1].min", 0.5, 0.4), "rules.gates[f1].min: 0.5 in the lock, 0.4 now"),
    (Difference("versions.numpy", "2.4.0", "2.3.1"), "versions.numpy: 2.4.0 in the lock, 2.3.1 now"),
    (Difference("versions.soxr", ABSENT, "1.0"), "versions.soxr: absent in the lock, 1.0 now"),
    (Difference("a", ABSENT, "absent"), 'a: absent in the lock, "absent" now'),
    (Difference("a", "1", 1), 'a: "1" in the lock, 1 now'),
    (Difference("a", None, ""), 'a: null in the lock, "" now'),
    (Difference("a", "one\ntwo", ["x"]), 'a: "one\\ntwo" in the lock, ["x"] now'),
    (Difference("a", "f" * 64, "0" * 64), "a: ffffffffffff… in the lock, 000000000000… now"),
    (Difference("a", "x" * 61, "y"), f"a: {'x' * 59}… in the lock, y now"),
    (Difference("why", "x" * 80 + "1", "x" * 80 + "2"), "why differs"),
]


@pytest.mark.parametrize(("found", "line"), LINES)
def test_a_difference_is_told_in_one_line(found: Difference, line: str) -> None:
    assert found.told("in the lock") == line


def test_where_nothing_else_is_said_the_former_value_was_before() -> None:
    assert str(Difference("batch", 1, 2)) == "batch: 1 before, 2 now"
