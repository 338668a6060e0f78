"""A cell holds a number as a table writes it, or none."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus.numbers import number_of


@given(st.floats(), st.sampled_from(["{}", " {}", "{}\t"]))
def test_what_is_written_is_read(number: float, cell: str) -> None:
    found = number_of(cell.format(number))
    assert found is not None
    assert found == number or (math.isnan(found) and math.isnan(number))


@pytest.mark.parametrize(
    ("cell", "number"), [("+.5", 0.5), ("5.", 5), ("007", 7), ("1E3", 1000), ("-1e-2", -0.01), ("1e999", math.inf)]
)
def test_spellings(cell: str, number: float) -> None:
    assert number_of(cell) == number


@pytest.mark.parametrize(
    "cell", ["", ".", "1_0", "1,5", "٣", "３.5", "\u20031", "1\n", "0x10", "1e", "--1", "1 0", "infinite", "ınf"]
)
def test_what_is_no_number(cell: str) -> None:
    assert number_of(cell) is None


@given(st.text())
def test_no_text_is_read_otherwise_than_python_reads_it(cell: str) -> None:
    found = number_of(cell)
    if found is not None:
        assert found == float(cell) or (math.isnan(found) and math.isnan(float(cell)))
