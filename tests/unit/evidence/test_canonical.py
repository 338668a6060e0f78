"""Canonical JSON against the reference implementation, the standard's own vectors and a strict parser."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.evidence.canonical import canonical, digest, value_of

GREATEST = 2**53 - 1
NUMBERS = st.one_of(
    st.integers(-GREATEST, GREATEST),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 1.0, 1e15, 1e16, 1e20, 1e21, 1e-4, 1e-5, 1e-6, 1e-7, 5e-324, 123456789012345680.0]),
    st.integers(-30, 30).map(lambda exponent: float(f"1.5e{exponent}")),
)
TEXT = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.sampled_from(["null", "1.0", "5e3", "\U0001f600", "ﬃ", "€", "\0\x1f\x7f\x80", '"\\/', "\u2028"]),
)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXT, inner, max_size=5),
    max_leaves=20,
)


def strictly(text: bytes) -> Any:
    """Read JSON that may hold no NaN and no infinity, and whose numbers are all doubles."""

    def refuse(word: str) -> Any:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse, parse_int=float)


@given(VALUES)
def test_the_text_is_that_of_the_reference_implementation(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@given(VALUES)
def test_a_strict_parser_reads_the_value_back(value: Any) -> None:
    assert strictly(canonical(value)) == value


@given(VALUES)
def test_what_was_read_back_has_the_same_text_again(value: Any) -> None:
    text = canonical(value)
    assert canonical(value_of(text)) == text
    assert value_of(text) == value


@pytest.mark.parametrize("text", [b"NaN", b'{"a":Infinity}', b'{"a":1', b"", b'"\\ud800 1111111111111111"', b"\xff"])
def test_what_is_no_json_has_no_value(text: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        value_of(text)


@pytest.mark.parametrize(
    ("number", "text"),
    [  # RFC 8785, appendix B
        (0.0, "0"),
        (-0.0, "0"),
        (5e-324, "5e-324"),
        (-5e-324, "-5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (9007199254740992.0, "9007199254740992"),
        (295147905179352830000.0, "295147905179352830000"),
        (9.999999999999997e22, "9.999999999999997e+22"),
        (1e23, "1e+23"),
        (1.0000000000000001e23, "1.0000000000000001e+23"),
        (999999999999999700000.0, "999999999999999700000"),
        (1e21, "1e+21"),
        (9.999999999999997e-7, "9.999999999999997e-7"),
        (0.000001, "0.000001"),
        (333333333.3333332, "333333333.3333332"),
        (-0.0000033333333333333333, "-0.0000033333333333333333"),
        (1424953923781206.2, "1424953923781206.2"),
    ],
)
def test_numbers_read_as_the_standard_prints_them(number: float, text: str) -> None:
    assert canonical(number) == text.encode()
    assert canonical({"x": [number, "y"]}) == f'{{"x":[{text},"y"]}}'.encode()


def test_keys_are_sorted_by_utf_16_code_units() -> None:
    named = {  # RFC 8785, section 3.2.3
        "\u20ac": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\U0001f600": "Emoji: Grinning Face",
        "\u0080": "Control",
        "\u00f6": "Latin Small Letter O With Diaeresis",
    }
    order = [
        "Carriage Return",
        "One",
        "Control",
        "Latin Small Letter O With Diaeresis",
        "Euro Sign",
        "Emoji: Grinning Face",
        "Hebrew Letter Dalet With Dagesh",
    ]
    assert list(json.loads(canonical(named)).values()) == order


def nested(value: object) -> list[object]:
    return [value, [value], {"a": {"b": value}}, {"a": [1, "null", value]}]


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_json_lacks_raises_wherever_it_stands(number: float) -> None:
    for value in nested(number):
        with pytest.raises(ValueError, match="not representable"):
            canonical(value)


@pytest.mark.parametrize("number", [GREATEST + 1, -GREATEST - 1, 2**62, 2**64, -(2**70)])
def test_an_integer_that_a_double_cannot_hold_raises(number: int) -> None:
    for value in nested(number):
        with pytest.raises(ValueError, match=r"[Ii]nteger"):
            canonical(value)


@pytest.mark.parametrize("number", [GREATEST, -GREATEST])
def test_the_greatest_integers_stand(number: int) -> None:
    assert canonical({"n": number}) == f'{{"n":{number}}}'.encode()


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "null\udc80", "\udcff1.0"])
def test_a_lone_surrogate_raises_as_text_and_as_key(text: str) -> None:
    for value in [*nested(text), {text: 1}, [{"null": {text: 1.0}}]]:
        with pytest.raises(ValueError, match=r"UTF-8|utf-8"):
            canonical(value)


@pytest.mark.parametrize("value", [{1: 2}, {None: 1}, {"a", "b"}, object(), b"bytes", 1j, {"a": [object()]}])
def test_what_is_no_json_raises(value: object) -> None:
    with pytest.raises(ValueError, match="not JSON"):
        canonical(value)


def test_a_digest_is_that_of_the_text_and_knows_no_order_of_keys() -> None:
    one, other = {"b": 1.0, "a": ["é", None]}, {"a": ["é", None], "b": 1}
    assert digest(one) == digest(other) == hashlib.sha256('{"a":["é",null],"b":1}'.encode()).hexdigest()
    assert digest({"a": ["é", None], "b": 2}) != digest(one)
