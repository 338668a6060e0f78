"""Places in JSON and text, against a walk over the text itself."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.evidence.canonical import canonical
from pytest_speval.verify.place import altered_key, altered_line, first_difference, key_path
from tests.damage import spans

NAMES = st.sampled_from(["a", "b.c", "é", "id", "ﬃ", "\U0001f600", "[0]", '"', "\\", "", "zz"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["x", '",{', "ü", ""]) | st.just(0.5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


def walked(value: Any, offset: int) -> str:
    """The path at a byte, by reading the text from its start."""
    text = canonical(value).decode("latin-1")
    inside = [name for start, end, name in spans(text, 0, "") if start <= offset < end]
    return inside[-1].encode("latin-1").decode() if inside else ""


@given(st.data())
def test_a_path_is_that_of_the_innermost_entry_around_a_byte(data: st.DataObject) -> None:
    value = data.draw(VALUES.filter(lambda value: isinstance(value, dict | list)))
    offset = data.draw(st.integers(0, len(canonical(value)) - 1))
    assert key_path(value, offset) == walked(value, offset)


def test_keys_stand_in_the_order_of_utf_16() -> None:
    value = {"ﬃ": 1, "\U0001f600": [2]}
    assert canonical(value) == '{"\U0001f600":[2],"ﬃ":1}'.encode()
    assert key_path(value, 3) == "\U0001f600"


@pytest.mark.parametrize(
    ("mark", "path"),
    [
        ("0.75", "gates[accuracy].value"),
        ('"value"', "gates[accuracy].value"),
        (',{"id":"b"', "gates[b]"),
        ("[[1", "m"),
        ("2]]", "m[0][1]"),
        ("]]", "m[0]"),
    ],
)
def test_paths_read_as_differences_write_them(mark: str, path: str) -> None:
    value = {"gates": [{"id": "accuracy", "value": 0.75}, {"id": "b"}], "m": [[1, 2]]}
    assert key_path(value, canonical(value).decode().index(mark)) == path


@given(st.binary(max_size=20), st.binary(max_size=20))
def test_the_first_difference_is_the_length_of_what_is_common(one: bytes, other: bytes) -> None:
    common = [ours == theirs for ours, theirs in zip(one, other, strict=False)]
    assert first_difference(one, other) == [*common, False].index(False)


def test_a_changed_value_is_told_with_both() -> None:
    value = {"a": 1, "b": {"c": 0.5, "d": "x"}, "e": 2}
    actual = canonical({"a": 1, "b": {"c": 0.75, "d": "x"}, "e": 3})
    assert altered_key(value, canonical(value), actual) == ("b.c", "0.5 recomputed, 0.75 now (and 1 more)")


@pytest.mark.parametrize("text", ['{"a":1,"b":{"c":0.5,"d":"x"},"e":2} ', '{"a":1,"b":{"c":0.5,"d":"x"},"e":02}'])
def test_text_that_says_the_same_or_nothing_is_told_by_its_place(text: str) -> None:
    value = {"a": 1, "b": {"c": 0.5, "d": "x"}, "e": 2}
    path, message = altered_key(value, canonical(value) + b"\n", text.encode())
    assert path == ("e" if "02" in text else "")
    assert message.startswith("not what was written")


def test_a_renamed_key_is_told_by_its_old_name() -> None:
    value = {"a": 1, "n": 2}
    path, message = altered_key(value, canonical(value), b'{"a":1,"m":2}')
    assert path == "n"
    assert "2 recomputed, absent now" in message


@given(st.lists(st.sampled_from([b"a", b"b", b""]), max_size=6), st.data())
def test_the_first_line_that_differs_is_named_with_the_expected_one(lines: list[bytes], data: st.DataObject) -> None:
    number = data.draw(st.integers(1, len(lines) + 1))
    expected = [line + b"\n" for line in lines]
    actual = [*expected[: number - 1], b"c\n", *expected[number:]]
    wanted = expected[number - 1] if number <= len(lines) else b""
    assert altered_line(expected, b"".join(actual)) == (number, wanted, 1)


def test_lines_that_are_missing_count_as_different() -> None:
    assert altered_line([b"a\nb\n", b"c\n"], b"a\n") == (2, b"b\n", 2)
    assert json.loads(altered_line([b'{"id":1}\n'], b"")[1]) == {"id": 1}
