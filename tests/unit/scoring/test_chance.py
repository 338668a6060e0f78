"""The worth of shuffled answers: held against every order there is, and against scikit-learn."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score, recall_score

from pytest_speval.scoring import confusion
from pytest_speval.scoring.chance import dealt_confusion, shuffled
from pytest_speval.scoring.confusion import Confusion

LABELS = 3
COLUMNS = LABELS + len(confusion.OTHER_COLUMNS)


def codes(references: list[int], answers: list[int]) -> np.ndarray:
    return Confusion.from_codes(np.array(references), np.array(answers), LABELS).matrix


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, LABELS - 1), st.integers(0, COLUMNS - 1)), min_size=1, max_size=5))
def test_it_is_the_mean_over_every_order_of_the_answers(pairs: list[tuple[int, int]]) -> None:
    references, answers = [one for one, _ in pairs], [other for _, other in pairs]
    matrices = np.array([codes(references, list(order)) for order in permutations(answers)])
    supported = matrices[0].sum(axis=1) > 0
    dealt = dealt_confusion(matrices[0])
    assert dealt == pytest.approx(matrices.mean(axis=0))
    absences: tuple[confusion.Absent, ...] = ("zero", "omit")
    for absent in absences:
        exact = confusion.estimates(dealt, absent, supported)
        every = confusion.estimates(matrices, absent, supported)
        for name, values in every.items():
            assert exact[name] == pytest.approx(values.mean(axis=0), nan_ok=True), name


def test_it_is_what_scikit_learn_gives_on_average() -> None:
    rng = np.random.default_rng(7)
    references, answers = rng.integers(0, LABELS, 60), rng.choice(LABELS, 60, p=[0.6, 0.3, 0.1])
    exact = confusion.estimates(
        dealt_confusion(codes(references.tolist(), answers.tolist())), "zero", np.ones(LABELS, dtype=bool)
    )
    orders = [rng.permutation(answers) for _ in range(2000)]
    for name, score in (("macro_f1", f1_score), ("uar", recall_score)):
        mean = np.mean([score(references, order, average="macro", zero_division=0) for order in orders])
        assert exact[name] == pytest.approx(mean, abs=0.005)


def test_without_clips_nothing_is_expected() -> None:
    assert not dealt_confusion(np.zeros((LABELS, COLUMNS), dtype=np.int64)).any()


@given(st.integers(0, 200), st.integers(0, 2**32))
def test_a_shuffle_is_an_order_and_a_function_of_its_seed(count: int, seed: int) -> None:
    order = shuffled(count, seed)
    assert sorted(order.tolist()) == list(range(count))
    assert order.tolist() == shuffled(count, seed).tolist()


def test_the_shuffle_of_a_seed_never_changes() -> None:
    assert shuffled(8, 20260817).tolist() == [4, 7, 3, 0, 6, 1, 5, 2]
