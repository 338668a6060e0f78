"""Laws of the arithmetic: everything adds up, order changes nothing, failures never help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.scoring.bootstrap import Clusters, draw_weights, interval, replicate_sums
from pytest_speval.scoring.confusion import FAILED, Confusion, ceiling, estimates, per_unit
from pytest_speval.scoring.counts import Counts
from pytest_speval.scoring.moments import Moments
from pytest_speval.scoring.moments import per_unit as moments_per_unit

Array = np.ndarray[Any, Any]
NUMBER = st.integers(0, 10**9)
MEANS = ("accuracy", "macro_f1", "macro_f1_supported", "weighted_f1", "uar")
ABSENT = st.sampled_from(["zero", "omit"])


@st.composite
def counts(draw: st.DrawFn) -> Counts:
    excluded, quarantined, *ended = (draw(NUMBER) for _ in range(7))
    planned = sum(ended)
    answered, abstained, failed, unknown, unattempted = ended
    return Counts(planned + excluded, planned, excluded, answered, abstained, failed, unknown, unattempted, quarantined)


@dataclass(frozen=True)
class Run:
    """Coded clips of a run: label count, references, answers, unit codes."""

    labels: int
    references: Array
    answers: Array
    units: Array
    unit_count: int

    @property
    def confusion(self) -> Confusion:
        return Confusion.from_codes(self.references, self.answers, self.labels)

    @property
    def statistics(self) -> Array:
        return per_unit(self.references, self.answers, self.units, self.unit_count, self.labels)


@st.composite
def runs(draw: st.DrawFn, least: int = 0) -> Run:
    labels, unit_count = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    clip = st.tuples(st.integers(0, labels - 1), st.integers(0, labels + 2), st.integers(-1, unit_count - 1))
    clips = np.array(draw(st.lists(clip, min_size=least, max_size=40)), dtype=np.int64).reshape(-1, 3)
    return Run(labels, clips[:, 0], clips[:, 1], clips[:, 2], unit_count)


def point(run: Run, absent: Any) -> dict[str, Any]:
    return estimates(run.confusion.matrix, absent, run.confusion.support > 0)


@given(counts(), counts(), counts())
def test_counts_add_up(a: Counts, b: Counts, c: Counts) -> None:
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert a + Counts.zero() == a == Counts.zero() + a
    assert (a + b).planned == a.planned + b.planned


@given(st.tuples(*[st.integers(-3, 20)] * 8))
def test_counts_exist_only_where_both_sums_hold(numbers: tuple[int, ...]) -> None:
    listed, planned, excluded, *ended = numbers
    holds = min(numbers) >= 0 and listed == planned + excluded and planned == sum(ended)
    if holds:
        assert Counts(*numbers).planned == planned
    else:
        with pytest.raises(ValueError, match=r"negative|!="):
            Counts(*numbers)


@given(runs(), st.data())
def test_confusions_of_shards_add_up_to_the_whole(run: Run, data: st.DataObject) -> None:
    shards = np.array([data.draw(st.integers(0, 2)) for _ in run.references], dtype=np.int64)
    a, b, c = (
        Confusion.from_codes(run.references[shards == i], run.answers[shards == i], run.labels) for i in range(3)
    )
    assert (a + b) + c == a + (b + c) == run.confusion
    assert a + Confusion.zero(run.labels) == a == Confusion.zero(run.labels) + a


@given(runs())
def test_a_confusion_sums_to_planned(run: Run) -> None:
    confusion = run.confusion
    assert confusion.planned == len(run.references) == confusion.matrix.sum() == confusion.support.sum()
    assert confusion.correct == sum(run.references == run.answers)


@given(runs())
def test_units_partition_the_whole(run: Run) -> None:
    held = run.units >= 0
    whole = Confusion.from_codes(run.references[held], run.answers[held], run.labels)
    np.testing.assert_array_equal(run.statistics.sum(axis=0), whole.matrix.ravel())
    clusters = Clusters.of(run.units, run.unit_count)
    np.testing.assert_array_equal(run.statistics.sum(axis=1), clusters.sizes)
    assert clusters.sizes.sum() + clusters.excluded == len(run.units)
    if held.any():
        assert 1 <= clusters.effective <= clusters.clusters + 1e-9


@given(runs(), ABSENT, st.randoms(use_true_random=False))
def test_the_order_of_clips_changes_no_bit(run: Run, absent: str, random: Any) -> None:
    order = list(range(len(run.references)))
    random.shuffle(order)
    moved = Run(run.labels, run.references[order], run.answers[order], run.units[order], run.unit_count)
    assert moved.confusion == run.confusion
    assert moved.statistics.tobytes() == run.statistics.tobytes()
    for name, value in point(run, absent).items():
        assert value.tobytes() == point(moved, absent)[name].tobytes()
    x, y = run.references / 7, run.answers / 9
    assert Moments.of(x, y) == Moments.of(x[order], y[order])
    sums = moments_per_unit(x, y, run.units, run.unit_count)
    assert sums.tobytes() == moments_per_unit(x[order], y[order], moved.units, run.unit_count).tobytes()


@given(runs(least=1), ABSENT)
def test_means_lie_between_zero_and_what_can_be_reached(run: Run, absent: Any) -> None:
    found = point(run, absent)
    supported = run.confusion.support > 0
    for name in MEANS:
        assert 0 <= found[name] <= 1, name
    assert found["macro_f1"] <= ceiling(supported, absent) + 1e-12
    perfect = estimates(Confusion.from_codes(run.references, run.references, run.labels).matrix, absent, supported)
    assert perfect["macro_f1"] == pytest.approx(ceiling(supported, absent), abs=1e-12)
    for name in ("accuracy", "macro_f1_supported", "weighted_f1", "uar"):
        assert perfect[name] == 1.0


@given(runs(least=1), ABSENT, st.data())
def test_a_failure_in_place_of_an_answer_never_helps(run: Run, absent: str, data: st.DataObject) -> None:
    clip = data.draw(st.integers(0, len(run.answers) - 1))
    answers = run.answers.copy()
    answers[clip] = run.labels + FAILED
    failed = Run(run.labels, run.references, answers, run.units, run.unit_count)
    before, after = point(run, absent), point(failed, absent)
    was_right = run.answers[clip] == run.references[clip]
    for name in MEANS if was_right else ("accuracy", "uar"):
        assert after[name] <= before[name] + 1e-12, name
    assert failed.confusion.planned == run.confusion.planned


@given(st.integers(1, 40), st.integers(0, 12), st.integers(0, 2**63), st.integers(1, 2000))
def test_draws_do_not_depend_on_the_block(units: int, replicates: int, seed: int, chunk_bytes: int) -> None:
    blocks = list(draw_weights(units, replicates, seed, chunk_bytes))
    weights = np.concatenate([np.zeros((0, units)), *blocks])
    whole = np.concatenate([np.zeros((0, units)), *draw_weights(units, replicates, seed)])
    np.testing.assert_array_equal(weights, whole)
    assert (weights.sum(axis=1) == units).all()
    statistics = np.random.default_rng(seed).normal(size=(units, 3))
    sums = replicate_sums(statistics, replicates, seed, chunk_bytes)
    assert sums.tobytes() == replicate_sums(statistics, replicates, seed).tobytes()
    np.testing.assert_allclose(sums, whole @ statistics, atol=1e-11)


@given(st.lists(st.floats(allow_subnormal=False), max_size=30), st.floats(0.01, 0.99))
def test_an_interval_lies_within_the_finite_values(values: list[float], level: float) -> None:
    held = [value / 4 for value in values if np.isfinite(value)]
    found = interval(np.array([value / 4 for value in values], dtype=np.float64), level)
    if found is None:
        assert not held
    else:
        assert min(held) <= found[0] <= found[1] <= max(held)
