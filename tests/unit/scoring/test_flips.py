"""How many clips would have to change, against an exhaustive search over all changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from pytest_speval.scoring.confusion import estimates
from pytest_speval.scoring.flips import confusion_flips, ratio_flips

Array = np.ndarray[Any, Any]
Clips = list[tuple[int, int]]
MEANS = ("accuracy", "macro_f1", "macro_f1_supported", "weighted_f1", "uar", "f1", "recall", "precision")


def matrix_of(clips: Clips, labels: int) -> Array:
    matrix = np.zeros((labels, labels + 3), dtype=np.int64)
    for reference, answer in clips:
        matrix[reference, answer] += 1
    return matrix


def value_of(metric: str, clips: Clips, labels: int, absent: Literal["zero", "omit"] = "omit") -> Callable[..., Array]:
    """The estimate of many matrices; of per-label metrics that of label 0."""
    supported = matrix_of(clips, labels).sum(axis=1) > 0

    def value(matrices: Array) -> Array:
        found = estimates(matrices, absent, supported)[metric]
        return found[..., 0] if metric in ("f1", "recall", "precision") else found

    return value


def changes(clips: Clips, labels: int) -> Iterator[tuple[int, Array]]:
    """Every way to answer otherwise, with the number of clips that changed."""
    for answers in product(range(labels + 3), repeat=len(clips)):
        count = sum(new != old for new, (_, old) in zip(answers, clips, strict=True))
        yield (
            count,
            matrix_of([(reference, new) for (reference, _), new in zip(clips, answers, strict=True)], labels),
        )


def fewest(clips: Clips, labels: int, value: Callable[..., Array], holds: Callable[[float], bool]) -> int | None:
    """The truth: the fewest changed clips that turn the verdict and leave a value."""
    before = holds(float(value(matrix_of(clips, labels)[np.newaxis])[0]))
    counts, matrices = zip(*changes(clips, labels), strict=True)
    found = value(np.array(matrices, dtype=np.float64))
    return min(
        (count for count, after in zip(counts, found, strict=True) if after == after and holds(after) != before),
        default=None,
    )


@st.composite
def runs(draw: st.DrawFn) -> tuple[Clips, int]:
    labels = draw(st.integers(1, 3))
    size = {1: 6, 2: 5, 3: 4}[labels]
    clip = st.tuples(st.integers(0, labels - 1), st.integers(0, labels + 2))
    return draw(st.lists(clip, min_size=1, max_size=size)), labels


LIMITS = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 1.0]))


@given(runs(), LIMITS)
@settings(max_examples=150, deadline=None)
def test_for_accuracy_the_number_is_the_truth(run: tuple[Clips, int], limit: float) -> None:
    clips, labels = run
    value = value_of("accuracy", clips, labels)
    holds = limit.__le__
    assert confusion_flips(matrix_of(clips, labels), value, holds) == fewest(clips, labels, value, holds)


@given(runs(), LIMITS, st.sampled_from(MEANS), st.sampled_from(["zero", "omit"]))
@settings(max_examples=300, deadline=None)
def test_the_number_is_never_below_the_truth(run: tuple[Clips, int], limit: float, metric: str, absent: Any) -> None:
    clips, labels = run
    value, holds = value_of(metric, clips, labels, absent), limit.__le__
    matrix = matrix_of(clips, labels)
    if value(matrix[np.newaxis])[0] != value(matrix[np.newaxis])[0]:
        assert confusion_flips(matrix, value, holds) is None
        return
    found, truth = confusion_flips(matrix, value, holds), fewest(clips, labels, value, holds)
    if found is not None:
        assert truth is not None
        assert found >= truth
    elif metric in ("accuracy", "uar", "recall", "macro_f1_supported"):
        assert truth is None


@given(st.integers(2, 4), st.integers(0, 2**32), st.integers(1, 400), LIMITS)
@settings(max_examples=60, deadline=None)
def test_accuracy_of_many_clips_is_exact(labels: int, seed: int, n: int, limit: float) -> None:
    draw = np.random.default_rng(seed)
    clips = [
        (int(a), int(b)) for a, b in zip(draw.integers(0, labels, n), draw.integers(0, labels + 3, n), strict=True)
    ]
    right = sum(reference == answer for reference, answer in clips)
    holds = limit.__le__
    counts = [abs(other - right) for other in range(n + 1) if holds(other / n) != holds(right / n)]
    found = confusion_flips(matrix_of(clips, labels), value_of("accuracy", clips, labels), holds)
    assert found == min(counts, default=None)
    assert ratio_flips(right, n, holds) == found


def test_so_many_changes_really_turn_macro_f1() -> None:
    draw = np.random.default_rng(5)
    references = draw.integers(0, 4, 300)
    answers = np.where(draw.random(300) < 0.4, references, draw.integers(0, 7, 300))
    clips = [(int(a), int(b)) for a, b in zip(references, answers, strict=True)]
    before = metrics.f1_score(references, answers, labels=range(4), average="macro", zero_division=0)
    limit = before + 0.05
    found = confusion_flips(matrix_of(clips, 4), value_of("macro_f1", clips, 4), limit.__le__)
    assert found is not None
    wrong = np.flatnonzero(references != answers)
    best = 0.0
    for seed in range(200):
        mended = answers.copy()
        chosen = np.random.default_rng(seed).choice(wrong, found, replace=False)
        mended[chosen] = references[chosen]
        best = max(best, metrics.f1_score(references, mended, labels=range(4), average="macro", zero_division=0))
    assert 8 <= found <= 20
    assert best > limit - 0.01


def test_nothing_turns_what_no_answer_reaches() -> None:
    clips = [(0, 0), (0, 1)]
    assert confusion_flips(matrix_of(clips, 2), value_of("macro_f1", clips, 2, "zero"), (0.6).__le__) is None
    assert confusion_flips(matrix_of(clips, 2), value_of("accuracy", clips, 2), (0.0).__le__) is None
    assert confusion_flips(np.zeros((2, 5), dtype=np.int64), value_of("accuracy", [], 2), (0.5).__le__) is None


@pytest.mark.parametrize(
    ("right", "limit", "flips"),
    [(8, 0.85, 1), (8, 0.8, 1), (8, 0.81, 1), (2, 0.8, 6), (10, 0.8, 3), (0, 0.0, None), (3, 1.1, None)],
)
def test_changes_of_a_ratio_of_ten(right: int, limit: float, flips: int | None) -> None:
    assert ratio_flips(right, 10, limit.__le__) == flips


@given(st.integers(1, 60), st.data(), LIMITS, st.booleans())
def test_a_ratio_is_turned_by_the_smallest_change(whole: int, data: st.DataObject, limit: float, least: bool) -> None:
    part = data.draw(st.integers(0, whole))
    holds = limit.__le__ if least else limit.__ge__
    counts = [abs(other - part) for other in range(whole + 1) if holds(other / whole) != holds(part / whole)]
    assert ratio_flips(part, whole, holds) == min(counts, default=None)
