"""Confusion counts and what follows from them, against scikit-learn and published cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from pytest_speval.scoring.confusion import (
    ABSTAINED,
    FAILED,
    OTHER_COLUMNS,
    OUTSIDE,
    Confusion,
    ceiling,
    estimates,
    lost_share,
    per_unit,
)

Array = np.ndarray[Any, Any]


def codes(*values: int) -> Array:
    return np.array(values, dtype=np.int64)


def point(confusion: Confusion, absent: str = "omit") -> dict[str, Any]:
    matrix = confusion.matrix
    return estimates(matrix, "zero" if absent == "zero" else "omit", confusion.support > 0)


def random_answers(seed: int, labels: int, n: int) -> tuple[Array, Array, list[int]]:
    """References that lack some labels, answers over all columns; and the labels with support."""
    draw = np.random.default_rng(seed)
    present = np.flatnonzero(draw.random(labels) < 0.7)
    if not len(present):
        present = codes(0)
    references = draw.choice(present, n)
    answers = np.where(draw.random(n) < 0.5, references, draw.integers(0, labels + 3, n))
    return references, answers, sorted(set(references.tolist()))


@pytest.mark.parametrize("seed", range(25))
def test_estimates_agree_with_scikit_learn(seed: int) -> None:
    labels, n = 2 + seed % 7, 5 + 7 * seed
    references, answers, supported = random_answers(seed, labels, n)
    confusion = Confusion.from_codes(references, answers, labels)
    declared = list(range(labels))

    expected = metrics.confusion_matrix(references, answers, labels=list(range(labels + 3)))
    np.testing.assert_array_equal(confusion.matrix, expected[:labels])
    assert confusion.planned == n
    assert confusion.correct == metrics.accuracy_score(references, answers, normalize=False)

    def score(function: Any, over: list[int], average: str | None, nothing: float = 0.0) -> Any:
        return function(references, answers, labels=over, average=average, zero_division=nothing)

    for absent in ("zero", "omit"):
        found = point(confusion, absent)
        macro = score(metrics.f1_score, declared if absent == "zero" else supported, "macro")
        assert found["macro_f1"] == pytest.approx(macro, abs=1e-12)
        assert found["macro_f1_supported"] == pytest.approx(score(metrics.f1_score, supported, "macro"), abs=1e-12)
        assert found["weighted_f1"] == pytest.approx(score(metrics.f1_score, declared, "weighted"), abs=1e-12)
        assert found["uar"] == pytest.approx(score(metrics.recall_score, supported, "macro"), abs=1e-12)
        assert found["accuracy"] == pytest.approx(metrics.accuracy_score(references, answers), abs=1e-12)
        for name in ("f1", "precision", "recall"):
            function = getattr(metrics, f"{name}_score")
            np.testing.assert_allclose(found[name], score(function, declared, None, np.nan), atol=1e-12, err_msg=name)
        np.testing.assert_array_equal(found["support"], np.bincount(references, minlength=labels))


def test_many_matrices_at_once_give_the_bits_of_each_alone() -> None:
    draw = np.random.default_rng(3)
    matrices = draw.integers(0, 4, size=(6, 5, 9, 12))
    matrices[0, 0] = 0
    supported = matrices.sum(axis=(0, 1, 3)) > 0
    together = estimates(matrices, "zero", supported)
    for i in range(6):
        for j in range(5):
            alone = estimates(matrices[i, j].astype(np.float64), "zero", supported)
            for name, values in together.items():
                assert values[i, j].tobytes() == alone[name].tobytes(), name


@pytest.mark.parametrize("absent", ["zero", "omit"])
def test_no_clips_leave_every_mean_undefined(absent: str) -> None:
    found = point(Confusion.zero(3), absent)
    for name in ("accuracy", "macro_f1", "macro_f1_supported", "weighted_f1", "uar"):
        assert np.isnan(found[name]), name
    assert np.isnan(found["f1"]).all()


def test_an_errored_clip_stays_in_the_denominator() -> None:
    """H01: 10 clips, 8 right, 1 wrong, 1 failed."""
    answers = codes(0, 0, 0, 0, 1, 1, 1, 1, 0, 2 + FAILED)
    confusion = Confusion.from_codes(codes(0, 0, 0, 0, 1, 1, 1, 1, 1, 1), answers, 2)
    assert confusion.planned == 10
    assert point(confusion)["accuracy"] == 0.8


def test_a_perfect_system_scores_one_over_the_supported_labels() -> None:
    """H07: declared [ang, neu, sad], sad absent; and codes {0, 2} of three."""
    truth = codes(0, 0, 1)
    perfect = Confusion.from_codes(truth, truth, 3)
    assert point(perfect, "omit")["macro_f1"] == 1.0
    assert point(perfect, "zero")["macro_f1"] == pytest.approx(2 / 3, abs=1e-15)
    truth = codes(0, 2, 0, 2)
    assert point(Confusion.from_codes(truth, truth, 3))["macro_f1"] == 1.0


def test_an_absent_label_is_not_filled_in_with_one() -> None:
    """H07 with one error added: F1 of ang 4/5, of neu 0; filling in 1 for sad would give 0.6."""
    confusion = Confusion.from_codes(codes(0, 0, 1), codes(0, 0, 0), 3)
    assert point(confusion, "omit")["macro_f1"] == pytest.approx(0.4, abs=1e-15)
    assert point(confusion, "zero")["macro_f1"] == pytest.approx(0.8 / 3, abs=1e-15)


def test_a_label_that_is_only_predicted() -> None:
    """H08: truth [a, a, b, b], predictions [a, c, b, b], declared [a, b, c]."""
    confusion = Confusion.from_codes(codes(0, 0, 1, 1), codes(0, 2, 1, 1), 3)
    found = point(confusion, "omit")
    assert confusion.planned == 4
    assert found["accuracy"] == 0.75
    assert found["uar"] == 0.75
    assert found["macro_f1_supported"] == pytest.approx((2 / 3 + 1) / 2, abs=1e-15)
    assert found["macro_f1"] == found["macro_f1_supported"]
    assert point(confusion, "zero")["macro_f1"] == pytest.approx((2 / 3 + 1) / 3, abs=1e-15)
    assert found["precision"][2] == 0.0
    assert np.isnan(found["recall"][2])


def test_an_answer_outside_the_set_keeps_its_cell() -> None:
    """H09: declared [ang, neu]; one answer is "angry-ish"."""
    confusion = Confusion.from_codes(codes(0, 0, 1, 1), codes(0, 2 + OUTSIDE, 1, 1), 2)
    assert confusion.matrix.tolist() == [[1, 0, 0, 1, 0], [0, 2, 0, 0, 0]]
    assert confusion.planned == 4
    found = point(confusion)
    assert found["accuracy"] == 0.75
    assert found["precision"].tolist() == [1.0, 1.0]


def test_columns_behind_the_labels_have_names_and_offsets() -> None:
    assert [OTHER_COLUMNS[offset] for offset in (ABSTAINED, OUTSIDE, FAILED)] == [
        "abstained",
        "outside",
        "failed",
    ]


def test_the_commonest_label_of_meld() -> None:
    """All-neutral answers on the MELD test split."""
    support = codes(1256, 402, 345, 281, 208, 68, 50)
    truth = np.repeat(np.arange(7), support)
    found = point(Confusion.from_codes(truth, np.zeros_like(truth), 7))
    assert found["accuracy"] == pytest.approx(0.481226, abs=5e-7)
    assert found["macro_f1"] == pytest.approx(0.092824, abs=5e-7)
    assert found["weighted_f1"] == pytest.approx(0.312685, abs=5e-7)
    assert found["uar"] == pytest.approx(1 / 7, abs=1e-15)


def test_a_replicate_leaves_out_a_label_it_lost() -> None:
    matrix = np.zeros((3, 6))
    matrix[0, 0], matrix[1, 1] = 3, 2
    whole = np.array([True, True, True])
    assert estimates(matrix, "omit", whole)["macro_f1"] == 1.0
    assert estimates(matrix, "zero", whole)["macro_f1"] == 1.0
    assert estimates(matrix, "zero", np.array([True, True, False]))["macro_f1"] == pytest.approx(2 / 3)


def test_a_replicate_counts_a_label_that_it_lost_and_still_answered() -> None:
    matrix = np.zeros((2, 5))
    matrix[0, 0], matrix[0, 1] = 3, 1
    found = estimates(matrix, "omit", np.array([True, True]))
    assert found["macro_f1"] == pytest.approx((6 / 7 + 0) / 2)
    assert found["uar"] == 0.75


def test_lost_share_counts_replicates_without_support_and_answers() -> None:
    matrices = np.zeros((4, 3, 6))
    matrices[:, 0, 0] = 1
    matrices[0, 1, 1] = 1
    matrices[1, 0, 1] = 1
    shares = lost_share(matrices, np.array([True, True, False]))
    assert shares.tolist() == [0.0, 0.5, 0.0]


def test_the_ceiling_is_reached_by_perfect_answers() -> None:
    truth = codes(0, 0, 1, 3)
    perfect = Confusion.from_codes(truth, truth, 5)
    supported = perfect.support > 0
    assert ceiling(supported, "zero") == point(perfect, "zero")["macro_f1"] == 0.6
    assert ceiling(supported, "omit") == point(perfect, "omit")["macro_f1"] == 1.0


@pytest.mark.parametrize(
    ("references", "answers", "message"),
    [
        (codes(0, 2), codes(0, 0), r"reference codes reach from 0 to 2, not within 0\.\.1"),
        (codes(-1, 1), codes(0, 0), "reference codes reach from -1"),
        (codes(0, 1), codes(0, 5), r"answer codes reach from 0 to 5, not within 0\.\.4"),
        (codes(0, 1), codes(-1, 0), "answer codes reach from -1"),
        (codes(0, 1), codes(0), "not one to one"),
    ],
)
def test_codes_out_of_range_are_refused(references: Array, answers: Array, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Confusion.from_codes(references, answers, 2)


def test_confusions_of_different_sets_cannot_be_added() -> None:
    with pytest.raises(ValueError, match="confusions of 2 and of 3 labels"):
        Confusion.zero(2) + Confusion.zero(3)


def test_a_matrix_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\[K, K \+ 3\], not \[3, 3\]"):
        Confusion(np.zeros((3, 3), dtype=np.int64))


def test_a_confusion_does_not_change_with_the_array_it_was_made_of() -> None:
    source = np.zeros((2, 5), dtype=np.int64)
    confusion = Confusion(source)
    source[0, 0] = 9
    assert confusion == Confusion.zero(2)
    with pytest.raises(ValueError, match="read-only"):
        confusion.matrix[0, 0] = 1


def test_small_code_types_do_not_overflow() -> None:
    references = np.full(300, 19, dtype=np.uint8)
    answers = np.full(300, 22, dtype=np.int8)
    assert Confusion.from_codes(references, answers, 20).matrix[19, 22] == 300
    units = np.full(300, 100, dtype=np.int8)
    assert per_unit(references, answers, units, 101, 20)[100, 19 * 23 + 22] == 300


def test_clips_without_a_unit_are_left_out() -> None:
    counts = per_unit(codes(0, 1, 1), codes(0, 1, 0), codes(1, -1, 1), 3, 2)
    assert counts.shape == (3, 10)
    assert counts.sum(axis=1).tolist() == [0, 2, 0]
    assert counts[1].reshape(2, 5).tolist() == [[1, 0, 0, 0, 0], [1, 0, 0, 0, 0]]


def test_a_unit_code_above_the_count_is_refused() -> None:
    with pytest.raises(ValueError, match="unit code 3 is not below the number of units, 3"):
        per_unit(codes(0), codes(0), codes(3), 3, 2)
