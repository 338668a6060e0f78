from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.errors import SpevalError
from pytest_speval.suite.variables import expand, malformed, variables


def test_variables_are_named_once_in_order() -> None:
    assert variables("${B}/${A}/${B}") == ("B", "A")
    assert variables(Path("${ROOT}/x")) == ("ROOT",)
    assert variables("$A {B} ${}") == ()


def test_a_value_is_not_looked_through_again() -> None:
    assert expand("${A}/${B}", {"A": "${B}", "B": "\\1"}) == "${B}/\\1"


@pytest.mark.parametrize("environ", [{}, {"A": ""}])
def test_an_unset_or_empty_variable_is_named(environ: dict[str, str]) -> None:
    with pytest.raises(SpevalError, match=r"variable A is not set .*\[unset-variable\]"):
        expand("${A}/x", environ)


def test_a_broken_reference_is_seen() -> None:
    texts = ("${A}", "$A", "{a}", "${1}", "${A", "${a b}", "${}")
    assert [text for text in texts if malformed(text)] == ["${1}", "${A", "${a b}", "${}"]


@given(st.text().filter(lambda text: "${" not in text))
def test_a_text_without_references_stays_as_it_is(text: str) -> None:
    assert expand(text, {}) == text
    assert not malformed(text)
