"""The cluster bootstrap against a second generator, a loop over clips, and known cases."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from pytest_speval.scoring.bootstrap import (
    Clusters,
    Interval,
    draw_weights,
    effective_clusters,
    estimate_interval,
    interval,
    replicate_parts,
    replicate_sums,
)
from pytest_speval.scoring.confusion import estimates, lost_share, per_unit

SEED = 20260817
Array = np.ndarray[Any, Any]


def all_weights(units: int, replicates: int, seed: int = SEED, **chunk: int) -> Array:
    return np.concatenate(list(draw_weights(units, replicates, seed, **chunk)))


def pcg64(seed: int) -> Any:
    """PCG XSL RR 128/64 (O'Neill 2014), one output after another, from numpy's seeding."""
    state = np.random.PCG64(seed).state["state"]
    now, step = state["state"], state["inc"]
    while True:
        now = (now * 0x2360ED051FC65DA44385DF649FCCF645 + step) % 2**128
        folded, turn = (now >> 64) ^ (now % 2**64), now >> 122
        yield (folded >> turn | folded << (64 - turn)) % 2**64


@pytest.mark.parametrize("units", [1, 2, 3, 7, 1000])
def test_draws_follow_the_documented_rule(units: int) -> None:
    outputs = pcg64(SEED)
    weights = all_weights(units, 5)
    for row in weights:
        halves = [half for _ in range((units + 1) // 2) for raw in [next(outputs)] for half in (raw % 2**32, raw >> 32)]
        drawn = [half * units >> 32 for half in halves[:units]]
        assert row.tolist() == [drawn.count(unit) for unit in range(units)]


def test_every_replicate_draws_as_many_units_as_there_are() -> None:
    weights = all_weights(11, 3000)
    assert weights.shape == (3000, 11)
    assert (weights.sum(axis=1) == 11).all()
    np.testing.assert_allclose(weights.mean(axis=0), 1.0, atol=0.08)
    np.testing.assert_allclose(weights.var(axis=0), 1 - 1 / 11, atol=0.12)


@pytest.mark.parametrize("units", [1, 4, 9, 333])
def test_blocks_of_any_size_see_the_same_draws(units: int) -> None:
    whole = all_weights(units, 50, chunk_bytes=2**30)
    for chunk_bytes in (1, 8 * units * 7, 4096):
        np.testing.assert_array_equal(all_weights(units, 50, chunk_bytes=chunk_bytes), whole)


def test_fewer_replicates_are_the_first_of_more() -> None:
    np.testing.assert_array_equal(all_weights(5, 10), all_weights(5, 30)[:10])


def test_another_seed_draws_otherwise() -> None:
    assert (all_weights(9, 20, seed=1) != all_weights(9, 20, seed=2)).any()


def test_nothing_can_be_drawn_from_no_units() -> None:
    with pytest.raises(ValueError, match="cannot draw from 0 units"):
        next(draw_weights(0, 10, SEED))


def test_sums_of_integers_are_exact() -> None:
    statistics = np.random.default_rng(0).integers(-(2**40), 2**40, size=(30, 4))
    sums = replicate_sums(statistics, 100, SEED)
    exact = all_weights(30, 100).astype(np.int64) @ statistics
    np.testing.assert_array_equal(sums, exact)
    np.testing.assert_array_equal(replicate_sums(statistics.astype(np.float64), 100, SEED), exact)


def test_sums_of_floats_keep_the_documented_digits() -> None:
    statistics = np.random.default_rng(0).normal(size=(1000, 3)) * [1e-200, 1.0, 1e200]
    sums = replicate_sums(statistics, 20, SEED)
    np.testing.assert_allclose(
        sums / [1e-200, 1.0, 1e200], all_weights(1000, 20) @ (statistics / [1e-200, 1.0, 1e200]), atol=1e-9
    )
    assert np.abs(sums[:, 1] - all_weights(1000, 20) @ statistics[:, 1]).max() < 1e-10


def test_a_column_of_zeros_stays_zero() -> None:
    assert (replicate_sums(np.zeros((4, 2)), 5, SEED) == 0).all()


def test_integers_too_great_to_be_exact_are_refused() -> None:
    with pytest.raises(ValueError, match="would not be exact"):
        replicate_sums(np.full((8, 1), 2**50), 5, SEED)


def test_statistics_that_are_not_finite_are_refused() -> None:
    with pytest.raises(ValueError, match="not a finite number"):
        replicate_sums(np.array([[1.0], [np.nan]]), 5, SEED)


DIGEST = """
import hashlib, sys
import numpy as np
from pytest_speval.scoring.bootstrap import replicate_sums
floats = np.random.default_rng(0).normal(size=(700, 77))
digest = hashlib.sha256()
for statistics in (floats, (floats * 1000).astype(np.int64)):
    digest.update(replicate_sums(statistics, 300, 20260817, int(sys.argv[1])).tobytes())
print(digest.hexdigest())
"""


def test_block_size_and_thread_count_change_no_bit() -> None:
    found = set()
    for threads, chunk_bytes in (("1", 2**18), ("2", 2**18), ("1", 8 * 700 * 13), ("2", 2**30)):
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
        command = [sys.executable, "-c", DIGEST, str(chunk_bytes)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        found.add(done.stdout)
    assert len(found) == 1


def clips_of_the_draw(weights: Array, units: Array) -> Array:
    """Indices of all clips of the drawn units, each as often as its unit was drawn."""
    return np.repeat(np.arange(len(units)), weights.astype(int)[units])


@pytest.mark.parametrize("absent", ["zero", "omit"])
def test_replicates_agree_with_scikit_learn_on_the_drawn_clips(absent: str) -> None:
    draw = np.random.default_rng(8)
    labels, unit_count, n, replicates = 5, 7, 90, 60
    units = draw.integers(0, unit_count, n)
    references = draw.integers(0, 3, n)
    references[units == 2] = 3
    answers = np.where(draw.random(n) < 0.6, references, draw.integers(0, labels + 3, n))
    answers[(answers == 3) & (units != 2)] = 1
    answers[answers == 4] = 0
    supported = np.bincount(references, minlength=labels) > 0
    assert supported.tolist() == [True, True, True, True, False]

    statistics = per_unit(references, answers, units, unit_count, labels)
    sums = replicate_sums(statistics, replicates, SEED).reshape(replicates, labels, labels + 3)
    found = estimates(sums, "zero" if absent == "zero" else "omit", supported)

    lost = 0
    for row, weights in enumerate(all_weights(unit_count, replicates)):
        clips = clips_of_the_draw(weights, units)
        truth, answered = references[clips], answers[clips]
        seen = sorted(set(truth.tolist()))
        kept = [k for k in range(labels) if supported[k] and (k in truth or k in answered)]
        lost += 3 not in kept
        per_class = metrics.f1_score(truth, answered, labels=kept, average=None, zero_division=0)
        macro = per_class.mean()
        assert found["macro_f1_supported"][row] == pytest.approx(macro, abs=1e-12)
        expected = macro if absent == "omit" else per_class.sum() / (len(per_class) + 1)
        assert found["macro_f1"][row] == pytest.approx(expected, abs=1e-12)
        uar = metrics.recall_score(truth, answered, labels=seen, average="macro")
        assert found["uar"][row] == pytest.approx(uar, abs=1e-12)
        weighted = metrics.f1_score(truth, answered, labels=seen, average="weighted")
        assert found["weighted_f1"][row] == pytest.approx(weighted, abs=1e-12)
        assert found["accuracy"][row] == pytest.approx(metrics.accuracy_score(truth, answered), abs=1e-12)
    assert 0 < lost < replicates
    assert lost_share(sums, supported).tolist() == [0, 0, 0, lost / replicates, 0]


def accuracy_interval(right: Array, units: Array, few_clusters: float = 10) -> tuple[Array, Interval]:
    """Replicates of accuracy, and the 95 % interval, of clips that are right or wrong."""
    clusters = Clusters.of(units, int(units.max()) + 1)
    statistics = per_unit(np.zeros_like(units), 1 - right, units, len(clusters.sizes), 2)
    sums = replicate_sums(statistics[clusters.occupied], 2000, SEED).reshape(2000, 2, 5)
    values = estimates(sums, "omit", np.array([True, False]))["accuracy"]
    made, reason = estimate_interval(values, clusters, 0.95, "speaker", 2000, SEED, few_clusters, {})
    assert made is not None
    assert reason is None
    return values, made


def test_clips_of_one_speaker_are_not_independent() -> None:
    """H73: 4 speakers with 25 clips each, two all right, two all wrong."""
    right, speakers = np.repeat([1, 1, 0, 0], 25), np.repeat(np.arange(4), 25)
    values, made = accuracy_interval(right, speakers)
    assert (made.low, made.high) == (0.0, 1.0)
    assert values.std() == pytest.approx(0.246, abs=0.01)
    assert (made.clusters, made.effective_clusters, made.excluded) == (4, 4.0, 0)
    assert made.unreliable
    assert not made.degenerate

    values, made = accuracy_interval(right, np.arange(100))
    assert made.low == pytest.approx(0.40, abs=0.011)
    assert made.high == pytest.approx(0.60, abs=0.011)
    assert values.std() == pytest.approx(0.050, abs=0.002)
    assert not made.unreliable


def test_an_interval_without_spread_is_degenerate() -> None:
    """H74: 20 clips of 5 speakers, all right."""
    values, made = accuracy_interval(np.ones(20, dtype=int), np.repeat(np.arange(5), 4))
    assert (values == 1.0).all()
    assert (made.low, made.high, made.degenerate) == (1.0, 1.0, True)


def test_replicates_that_differ_by_rounding_alone_are_degenerate() -> None:
    clusters = Clusters.of(np.arange(5), 5)
    third = np.array([1 / 3, np.nextafter(1 / 3, 1), np.nan])
    made, _ = estimate_interval(third, clusters, 0.95, "speaker", 3, SEED, 10, {})
    assert made is not None
    assert made.degenerate
    made, _ = estimate_interval(third * [1, 1 + 1e-9, 1], clusters, 0.95, "speaker", 3, SEED, 10, {})
    assert made is not None
    assert not made.degenerate


def test_a_class_that_is_missing_in_some_replicates() -> None:
    """H75: 3 speakers, `fear` (2) only from one, all answers right."""
    references = np.array([0, 1, 2, 0, 1, 0, 1])
    speakers = np.array([0, 0, 0, 1, 1, 2, 2])
    sums = replicate_sums(per_unit(references, references, speakers, 3, 3), 2000, SEED).reshape(2000, 3, 6)
    supported = np.ones(3, dtype=bool)
    for absent in ("zero", "omit"):
        found = estimates(sums, "zero" if absent == "zero" else "omit", supported)
        for name in ("macro_f1", "macro_f1_supported", "weighted_f1", "uar", "accuracy"):
            assert (found[name] == 1.0).all(), name
    without_fear = float((all_weights(3, 2000)[:, 0] == 0).mean())
    assert without_fear == pytest.approx((2 / 3) ** 3, abs=0.03)
    assert lost_share(sums, supported).tolist() == [0.0, 0.0, without_fear]

    made, _ = estimate_interval(
        found["macro_f1"], Clusters.of(speakers, 3), 0.95, "speaker", 2000, SEED, 10, {"fear": without_fear}
    )
    assert made is not None
    assert (made.low, made.high) == (1.0, 1.0)
    assert made.replicates_without_class == {"fear": without_fear}


@pytest.mark.parametrize(
    ("units", "reason"),
    [
        ([0, 0, 1, -1], "2 clusters: an interval needs 3"),
        ([4, 4], "1 cluster: an interval needs 3"),
        ([-1, -1], "0 clusters: an interval needs 3"),
    ],
)
def test_too_few_clusters_have_no_interval(units: list[int], reason: str) -> None:
    found = estimate_interval(np.zeros(0), Clusters.of(np.array(units), 5), 0.95, "speaker", 2000, SEED, 10, {})
    assert found == (None, reason)


def test_replicates_without_a_value_have_no_interval() -> None:
    values = np.full(20, np.nan)
    found = estimate_interval(values, Clusters.of(np.arange(5), 5), 0.95, "speaker", 20, SEED, 10, {})
    assert found == (None, "none of 20 replicates has a value")


def test_percentiles_are_linear_and_over_finite_values() -> None:
    values = np.array([np.nan, *range(101), np.inf])
    assert interval(values, 0.95) == pytest.approx((2.5, 97.5))
    assert interval(values, 0.5) == pytest.approx((25, 75))
    assert interval(np.array([np.nan]), 0.95) is None
    assert interval(np.array([0.0, 1.0]), 0.9) == pytest.approx((0.05, 0.95))


def test_effective_clusters_of_equal_and_unequal_units() -> None:
    assert effective_clusters(np.array([5, 5, 5, 5])) == 4.0
    assert effective_clusters(np.array([97, 1, 1, 1])) == pytest.approx(1 / (0.97**2 + 3 * 0.01**2))
    assert effective_clusters(np.array([3, 0, 3])) == 2.0
    assert effective_clusters(np.zeros(0)) == 0.0


def test_clusters_count_units_with_clips_and_clips_without_a_unit() -> None:
    clusters = Clusters.of(np.array([2, 2, -1, 0, 2, -1], dtype=np.int16), 4)
    assert clusters.sizes.tolist() == [1, 0, 3, 0]
    assert clusters.occupied.tolist() == [0, 2]
    assert (clusters.clusters, clusters.excluded) == (2, 2)
    assert clusters.effective == 1.6
    with pytest.raises(ValueError, match="unit code 4 is not below the number of units, 4"):
        Clusters.of(np.array([4]), 4)


def test_the_mark_of_few_clusters_uses_effective_ones() -> None:
    units = np.repeat(np.arange(12), [89] + [1] * 11)
    clusters = Clusters.of(units, 12)
    made, _ = estimate_interval(np.array([0.0, 1.0]), clusters, 0.95, "speaker", 2, SEED, 10, {})
    assert made is not None
    assert made.clusters == 12
    assert made.effective_clusters < 10
    assert made.unreliable
    made, _ = estimate_interval(np.array([0.0, 1.0]), clusters, 0.95, "speaker", 2, SEED, 1, {})
    assert made is not None
    assert not made.unreliable


def test_an_interval_lists_how_it_was_made() -> None:
    made, _ = estimate_interval(
        np.array([0.0, 0.5, 1.0]),
        Clusters.of(np.array([0, 1, 2, -1]), 3),
        0.5,
        "session",
        3,
        7,
        2,
        {"sad": 0.5},
    )
    assert made is not None
    assert list(made.as_dict().items()) == [
        ("low", 0.25),
        ("high", 0.75),
        ("level", 0.5),
        ("unit", "session"),
        ("method", "percentile"),
        ("replicates", 3),
        ("seed", 7),
        ("clusters", 3),
        ("effective_clusters", pytest.approx(3.0)),
        ("excluded", 1),
        ("degenerate", False),
        ("unreliable", False),
        ("replicates_without_class", {"sad": 0.5}),
    ]


def test_draws_of_this_seed_have_not_changed() -> None:
    """Evidence is re-derived years later: these bytes may never change."""
    digest = hashlib.sha256(all_weights(40, 2000).astype("<f8").tobytes()).hexdigest()
    assert digest == "9311764d885253922eed1df911f49359fdd55466127f995f0bb54d1df41fdfb0"


def test_parts_share_the_draws_of_all_units() -> None:
    statistics = np.random.default_rng(2).integers(0, 9, (40, 3))
    rows = np.array([1, 5, 6, 30])
    others = np.delete(np.arange(40), rows)
    parts: list[tuple[Any, Any]] = [(slice(None), statistics), (rows, statistics[rows]), (others, statistics[others])]
    whole, part, rest = replicate_parts(parts, 40, 200, SEED, chunk_bytes=8 * 40 * 7)
    np.testing.assert_array_equal(whole, replicate_sums(statistics, 200, SEED))
    np.testing.assert_array_equal(part, all_weights(40, 200)[:, rows] @ statistics[rows])
    np.testing.assert_array_equal(part + rest, whole)
