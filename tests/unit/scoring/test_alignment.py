"""The one alignment that stands for all with the fewest errors, and its counts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import jiwer
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from pytest_speval.scoring import alignment
from pytest_speval.scoring.alignment import Errors, align, distance

SHORT = st.lists(st.sampled_from("abc"), max_size=7)
LONG = st.lists(st.sampled_from("abcdefgh"), max_size=60)
ORDER = "MSDI"


def every_path(reference: Sequence[str], hypothesis: Sequence[str]) -> list[str]:
    """All ways to make one sequence of the other, no matter how many errors they have."""

    @cache
    def rest(row: int, column: int) -> tuple[str, ...]:
        paths: list[str] = []
        if row < len(reference) and column < len(hypothesis):
            kind = "M" if reference[row] == hypothesis[column] else "S"
            paths += [kind + path for path in rest(row + 1, column + 1)]
        if row < len(reference):
            paths += ["D" + path for path in rest(row + 1, column)]
        if column < len(hypothesis):
            paths += ["I" + path for path in rest(row, column + 1)]
        return tuple(paths) or ("",)

    return list(rest(0, 0))


def errors(path: str) -> int:
    return len(path) - path.count("M")


@pytest.mark.parametrize(
    ("reference", "hypothesis", "ops"),
    [
        ("A A", "A", "MD"),
        ("A", "A A", "MI"),
        ("A B", "C D E", "SSI"),
        ("A", "X Y Z", "SII"),
        ("A B", "B C", "SS"),
        ("A B C", "A C B", "MSS"),
        ("A B C", "C", "DDM"),
        ("A", "B A", "IM"),
        ("A B C D", "B X D", "DMSM"),
        ("X Y", "", "DD"),
        ("", "X", "I"),
        ("", "", ""),
        ("A B C", "A B C", "MMM"),
    ],
)
def test_golden_alignments(reference: str, hypothesis: str, ops: str) -> None:
    assert align(reference.split(), hypothesis.split()) == ops


@settings(max_examples=300)
@given(SHORT.filter(lambda words: len(words) < 6), SHORT.filter(lambda words: len(words) < 6))
def test_it_is_the_first_of_all_with_the_fewest_errors(reference: list[str], hypothesis: list[str]) -> None:
    paths = every_path(reference, hypothesis)
    fewest = min(map(errors, paths))
    first = min(
        (path for path in paths if errors(path) == fewest), key=lambda path: [ORDER.index(kind) for kind in path]
    )
    assert align(reference, hypothesis) == first


@given(LONG, LONG)
def test_it_has_as_few_errors_as_rapidfuzz_finds(reference: list[str], hypothesis: list[str]) -> None:
    fewest = Levenshtein.distance(reference, hypothesis)
    assert errors(align(reference, hypothesis)) == distance(reference, hypothesis) == fewest


@given(LONG, LONG)
def test_the_operations_make_the_hypothesis_of_the_reference(reference: list[str], hypothesis: list[str]) -> None:
    row = column = 0
    for kind in align(reference, hypothesis):
        if kind in "MS":
            assert (reference[row] == hypothesis[column]) == (kind == "M")
        row += kind != "I"
        column += kind != "D"
    assert (row, column) == (len(reference), len(hypothesis))


@given(LONG, LONG, st.integers(1, 400))
def test_blocks_of_any_size_give_the_same(reference: list[str], hypothesis: list[str], size: int) -> None:
    whole, length = align(reference, hypothesis), distance(reference, hypothesis)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment, "BLOCK_BYTES", size)
        assert align(reference, hypothesis) == whole
        assert distance(reference, hypothesis) == length


@given(LONG, LONG)
def test_rates_are_not_cut_and_counts_add_up(reference: list[str], hypothesis: list[str]) -> None:
    found = Errors.of(align(reference, hypothesis))
    assert found.words == found.matches + found.substitutions + found.deletions == len(reference)
    assert found.matches + found.substitutions + found.insertions == len(hypothesis)
    assert found.total == Levenshtein.distance(reference, hypothesis)


@given(st.lists(st.tuples(LONG.filter(bool), LONG), min_size=1, max_size=6))
def test_jiwer_agrees_on_totals(pairs: list[tuple[list[str], list[str]]]) -> None:
    told = jiwer.process_words([" ".join(said) for said, _ in pairs], [" ".join(heard) for _, heard in pairs])
    found = sum((Errors.of(align(said, heard)) for said, heard in pairs), Errors())
    assert found.total == told.substitutions + told.deletions + told.insertions
    assert found.total / found.words == told.wer


@given(st.lists(st.text("MSDI"), max_size=8), st.randoms())
def test_errors_add_up_in_any_order_and_any_parts(runs: list[str], random: object) -> None:
    whole = sum(map(Errors.of, runs), Errors())
    assert whole == Errors.of("".join(runs))
    random.shuffle(runs)  # type: ignore[attr-defined]
    half = len(runs) // 2
    assert sum(map(Errors.of, runs[:half]), Errors()) + sum(map(Errors.of, runs[half:]), Errors()) == whole
