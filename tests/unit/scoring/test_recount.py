"""The second count of word errors, against rapidfuzz, and what it finds wrong with an alignment."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from pytest_speval.scoring import recount
from pytest_speval.scoring.alignment import align
from pytest_speval.scoring.recount import fewest_errors, replayed

WORDS = st.lists(st.sampled_from("abcde"), max_size=40)


@pytest.mark.parametrize("large", [0, 10**6])
@given(reference=WORDS, hypothesis=WORDS)
def test_it_finds_as_few_errors_as_rapidfuzz(large: int, reference: list[str], hypothesis: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recount, "LARGE", large)
        assert fewest_errors(reference, hypothesis) == Levenshtein.distance(reference, hypothesis)


@given(WORDS, WORDS)
def test_an_alignment_leads_from_the_reference_to_the_hypothesis(reference: list[str], hypothesis: list[str]) -> None:
    ops = align(reference, hypothesis)
    assert replayed(ops, reference, hypothesis) == tuple(ops.count(kind) for kind in "MSDI")


@pytest.mark.parametrize("ops", ["", "M", "MMM", "MS", "SM", "MD", "MI", "DDII M", "MMD", "MMI", "MX"])
def test_operations_that_lead_elsewhere_are_refused(ops: str) -> None:
    assert replayed(ops, ["a", "b"], ["a", "b"]) is None
