from __future__ import annotations

import math
from datetime import date
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.suite.scalars import AMBIGUOUS, EXACT, described, resolve


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 1e-3),
        ("1.0e-3", 1e-3),
        ("1E5", 1e5),
        ("-.5", -0.5),
        ("1.", 1.0),
        ("0", 0),
        ("-7", -7),
        ("true", True),
        ("FALSE", False),
        ("2026-12-31", date(2026, 12, 31)),
        ("y", "y"),
        ("N", "N"),
        ("nan", "nan"),
        ("1.2.3", "1.2.3"),
        ("0a", "0a"),
        ("2026-1-1", "2026-1-1"),
    ],
)
def test_plain_scalars_are_read_as_yaml_1_2_reads_them(text: str, value: object) -> None:
    found = resolve(text)[1]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("text", [".nan", ".NaN", ".NAN"])
def test_not_a_number_is_a_number_that_the_models_refuse(text: str) -> None:
    kind, value = resolve(text)
    assert kind == "real"
    assert isinstance(value, float)
    assert math.isnan(value)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *((word, "old-boolean") for word in ("yes", "No", "on", "OFF")),
        *((word, "null") for word in ("", "~", "null", "Null", "NULL")),
        *((word, "octal") for word in ("007", "08", "-012", "0o17", "00.5", "01e3")),
        *((word, "base-60") for word in ("1:30", "190:20:30", "12:30.5")),
        *((word, "radix") for word in ("0x1F", "0b101", "-0xff")),
        *((word, "underscored") for word in ("1_000", "1_0.5")),
        *((word, "large") for word in (str(EXACT + 1), "-" + "9" * 5000)),
        *((word, "time") for word in ("2026-01-01T10:00:00Z", "2026-1-1 10:00:00 +01:00")),
        ("2026-02-30", "no-date"),
    ],
)
def test_what_readers_take_in_different_ways_has_no_value(text: str, kind: str) -> None:
    assert resolve(text) == (kind, None)
    assert kind in AMBIGUOUS


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_python_writes_is_read_back(number: float) -> None:
    assert resolve(repr(number)) == ("real", number)


@given(st.integers(-EXACT, EXACT))
def test_every_integer_that_json_keeps_is_read_back(number: int) -> None:
    assert resolve(str(number)) == ("integer", number)


NUMBER_LIKE = st.text("0123456789+-.:_eExXobfTZ ~", min_size=1, max_size=12)
WORD_LIKE = st.sampled_from(["yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "y", "n"]).flatmap(
    lambda word: st.sampled_from([word, word.title(), word.upper(), f".{word}", f"-.{word}"])
)


@given(NUMBER_LIKE | WORD_LIKE)
def test_text_is_text_to_readers_of_yaml_1_1_too(text: str) -> None:
    """PyYAML's resolver is the oracle: nothing that it takes for anything else passes as text."""
    loader: Any = yaml.SafeLoader("")
    tag = loader.resolve(yaml.ScalarNode, text, (True, False)).rpartition(":")[2]
    kind = resolve(text)[0]
    if kind == "text":
        assert tag == "str"
    elif kind in ("boolean", "integer", "real", "date"):
        expected = {"boolean": "bool", "integer": "int", "real": "float", "date": "timestamp"}[kind]
        assert tag in (expected, "str")


def test_a_long_text_is_shown_short() -> None:
    assert described("text", "x" * 100) == f"the text `{'x' * 59}…`"
