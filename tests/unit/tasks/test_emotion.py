"""The task `emotion` against scikit-learn: what did not answer stays in the denominator."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from pytest_speval.corpus.labels import LabelRules
from pytest_speval.corpus.projections import VAD_7
from pytest_speval.evidence.ending import UNATTEMPTED, UNKNOWN, Ending
from pytest_speval.judge.result import Result
from pytest_speval.reports.document import out_document
from pytest_speval.tasks.base import Rules
from pytest_speval.tasks.emotion import Emotion
from tests.runs import FAILED, TIMES, Clip, gate, judged, question_of, said, values

LABELS = ("happy", "sad", "calm", "angry")
NO_LABEL = "(none)"


def random_clips(seed: int, labels: tuple[str, ...] = LABELS) -> list[Clip]:
    """Clips whose references lack some labels, and whose calls end in every way."""
    draw = np.random.default_rng(seed)
    present = [label for label in labels if draw.random() < 0.7] or [labels[0]]
    ways = [
        said("happy"),
        said("sad"),
        said("calm"),
        said("angry"),
        said("Happy"),
        said(),
        FAILED,
        UNKNOWN,
        UNATTEMPTED,
    ]
    return [
        Clip(
            f"c{number}",
            str(draw.choice(present)),
            ways[draw.integers(len(ways))],
            speaker=f"s{draw.integers(6)}",
        )
        for number in range(3 + 9 * seed)
    ]


def answer_of(ending: Ending, labels: tuple[str, ...] = LABELS) -> str:
    """What scikit-learn is told: a name outside the set for all that is no label of it."""
    label = (ending.answer or {}).get("label", NO_LABEL)
    return label if label in labels else NO_LABEL


def measured(result: Result, name: str) -> float:
    value = result.estimates[name].value
    assert value is not None
    return value


@pytest.mark.parametrize("absent", ["zero", "omit"])
@pytest.mark.parametrize("seed", range(12))
def test_estimates_are_those_of_scikit_learn(seed: int, absent: str) -> None:
    clips = random_clips(seed)
    references = [clip.label for clip in clips]
    answers = [answer_of(clip.ending) for clip in clips]
    supported = [label for label in LABELS if label in references]
    over = LABELS if absent == "zero" else supported

    def f1(labels: Any, average: str | None) -> Any:
        return metrics.f1_score(references, answers, labels=labels, average=average, zero_division=0)

    result = judged(clips, LABELS, absent=absent)
    assert measured(result, "macro_f1") == pytest.approx(f1(over, "macro"), abs=1e-12)
    assert measured(result, "macro_f1_supported") == pytest.approx(f1(supported, "macro"), abs=1e-12)
    assert measured(result, "weighted_f1") == pytest.approx(f1(supported, "weighted"), abs=1e-12)
    assert measured(result, "accuracy") == metrics.accuracy_score(references, answers)
    recalls = metrics.recall_score(references, answers, labels=supported, average=None, zero_division=0)
    assert measured(result, "uar") == pytest.approx(recalls.mean(), abs=1e-12)
    for label, expected in zip(supported, recalls, strict=True):
        recall = result.estimates[f"recall.{label}"]
        assert recall.value == pytest.approx(expected, abs=1e-12)
        assert recall.denominator == references.count(label)
    for label in LABELS:
        precision = result.estimates[f"precision.{label}"]
        if label in answers:
            expected = metrics.precision_score(references, answers, labels=[label], average="macro", zero_division=0)
            assert precision.value == pytest.approx(expected, abs=1e-12)
            assert (precision.numerator, precision.denominator) == (
                sum(a == b == label for a, b in zip(references, answers, strict=True)), answers.count(label)
            )  # fmt: skip
        else:
            assert (precision.value, precision.reason) == (None, f"`{label}` was never answered")
    confusion = np.array(result.published["confusion"])
    np.testing.assert_array_equal(
        confusion, metrics.confusion_matrix(references, answers, labels=[*LABELS, NO_LABEL])[:4, :4]
    )
    assert confusion.sum() + sum(map(sum, result.published["confusionOther"].values())) == len(clips)


@pytest.mark.parametrize("seed", range(1, 6))
def test_answered_only_is_scikit_learn_over_the_answered_alone(seed: int) -> None:
    clips = random_clips(seed)
    answered = [(clip.label, answer_of(clip.ending)) for clip in clips if answer_of(clip.ending) != NO_LABEL]
    result = judged(clips, LABELS)
    references, answers = zip(*answered, strict=True)
    found = result.estimates["answered_only.accuracy"]
    assert found.value == metrics.accuracy_score(references, answers)
    assert found.n == len(answered) == result.counts.answered
    expected = metrics.f1_score(references, answers, labels=sorted(set(references)), average="macro", zero_division=0)
    assert measured(result, "answered_only.macro_f1") == pytest.approx(expected, abs=1e-12)


def test_an_errored_clip_stays_in_the_denominator() -> None:
    right = [Clip(f"c{number}", "happy", said("happy")) for number in range(8)]  # H01
    clips = [*right, Clip("c8", "sad", said("happy")), Clip("c9", "sad", FAILED)]
    result = judged(clips, ("happy", "sad"), gate(min=0.85), max_failed=0)
    assert measured(result, "accuracy") == 0.8
    assert (result.estimates["accuracy"].numerator, result.estimates["accuracy"].denominator) == (8, 10)
    assert measured(result, "answered_only.accuracy") == pytest.approx(8 / 9)
    assert (result.counts.planned, result.counts.answered, result.counts.failed) == (10, 9, 1)
    assert result.verdicts[0].verdict == "invalid"
    assert "1 of 10 clips failed where run.max_failed allows 0" in (result.verdicts[0].reason or "")
    assert judged(clips, ("happy", "sad"), gate(min=0.85), max_failed=1).verdicts[0].verdict == "fail"


def test_a_perfect_system_is_perfect_over_the_labels_there_are() -> None:
    truth = ["ang", "ang", "neu"]  # H07
    clips = [Clip(f"c{number}", label, said(label)) for number, label in enumerate(truth)]
    assert values(judged(clips, ("ang", "neu", "sad")))["macro_f1"] == 1.0
    fixed = judged(clips, ("ang", "neu", "sad"), absent="zero")
    assert values(fixed)["macro_f1"] == pytest.approx(2 / 3)
    assert fixed.published["ceiling"] == pytest.approx(2 / 3)
    assert fixed.published["absentLabels"] == ["sad"]
    wrong = [*clips[:2], Clip("c2", "neu", said("ang"))]
    assert values(judged(wrong, ("ang", "neu", "sad")))["macro_f1"] == pytest.approx((4 / 5 + 0) / 2)


def test_a_label_that_is_only_predicted_changes_no_supported_mean() -> None:
    pairs = [("a", "a"), ("a", "c"), ("b", "b"), ("b", "b")]  # H08
    clips = [Clip(f"c{number}", reference, said(answer)) for number, (reference, answer) in enumerate(pairs)]
    found = values(judged(clips, ("a", "b", "c")))
    assert (found["accuracy"], found["uar"]) == (0.75, 0.75)
    assert found["macro_f1"] == found["macro_f1_supported"] == pytest.approx((2 / 3 + 1) / 2)
    fixed = values(judged(clips, ("a", "b", "c"), absent="zero"))
    assert fixed["macro_f1"] == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert fixed["uar"] == 0.75


def test_an_answer_outside_the_set_has_a_column_of_its_own() -> None:
    pairs = [("ang", "ang"), ("ang", "angry-ish"), ("neu", "neu"), ("neu", "neu")]  # H09
    clips = [Clip(f"c{number}", reference, said(answer)) for number, (reference, answer) in enumerate(pairs)]
    result = judged(clips, ("ang", "neu"))
    assert result.published["confusion"] == [[1, 0], [0, 2]]
    assert result.published["confusionOther"] == {"abstained": [0, 0], "outside": [1, 0], "failed": [0, 0]}
    assert values(result)["accuracy"] == 0.75
    assert (result.counts.answered, result.counts.abstained) == (3, 1)
    _, row, *_ = result.rows
    assert (row.status, row.answer, row.raw) == ("abstained", None, {"label": "angry-ish"})


def test_the_winner_is_found_over_all_names_before_any_map() -> None:
    names = ("neutral", "surprise", "fear", "sadness", "joy", "disgust", "anger")  # H11
    scores = {name: 0.9 if name == "joy" else 0.01 for name in names}
    rules = LabelRules(("joy", "anger"), absent="zero")
    (row,) = judged([Clip("c", "joy", said(scores=scores))], label_rules=rules).rows
    assert (row.answer, row.correct) == ("joy", True)
    unheard = {"joy": 0.4, "anger": 0.1, "neutral": 0.5}
    (row,) = judged([Clip("c", "joy", said(scores=unheard))], label_rules=rules).rows
    assert (row.status, row.answer, row.correct) == ("abstained", None, False)


@pytest.mark.parametrize(
    ("rules", "ending", "expected"),
    [
        ({}, said("Joy"), ("abstained", None)),
        ({}, said("joy "), ("abstained", None)),
        ({"fold_case": True}, said("Joy"), ("answered", "joy")),
        ({"strip": True}, said("joy "), ("answered", "joy")),
        ({"answers": {"glad": "joy"}}, said("glad"), ("answered", "joy")),
        ({"answers": {"none": "abstain"}}, said("none"), ("abstained", None)),
        ({}, said(scores={"joy": 0.5, "sad": 0.5}), ("abstained", None)),
        ({}, said("joy", scores={"joy": 0.5, "sad": 0.5}), ("abstained", None)),
        ({"abstain_below": 0.6}, said(scores={"joy": 0.59, "sad": 0.1}), ("abstained", None)),
        ({"abstain_below": 0.6}, said(scores={"joy": 0.6, "sad": 0.1}), ("answered", "joy")),
        ({}, said(), ("abstained", None)),
        ({}, said(vad={"valence": 0.9, "arousal": 0.9, "dominance": 0.5}), ("abstained", None)),
        ({}, FAILED, ("failed", None)),
        ({}, UNKNOWN, ("unknown", None)),
        ({}, UNATTEMPTED, ("unattempted", None)),
    ],
)
def test_where_an_ending_goes(rules: dict[str, Any], ending: Ending, expected: tuple[str, str | None]) -> None:
    (row,) = judged([Clip("c", "joy", ending)], label_rules=LabelRules(("joy", "sad"), absent="zero", **rules)).rows
    assert (row.status, row.answer) == expected
    assert row.correct == (row.answer == "joy")


def test_an_axes_projection_reads_vad_alone() -> None:
    rules = LabelRules(VAD_7.labels, projection=VAD_7, absent="zero")
    corners = {
        "happy": (0.8, 0.6, 0.5),
        "sad": (0.0, 0.0, 0.0),
        "whisper": (0.5, 0.1, 0.1),
        None: (0.5, 0.5, 0.5),
    }
    for expected, (valence, arousal, dominance) in corners.items():
        vad = {"valence": valence, "arousal": arousal, "dominance": dominance}
        (row,) = judged([Clip("c", "happy", said("angry", vad=vad))], label_rules=rules).rows
        assert row.answer == expected


@pytest.mark.parametrize("metric", ["accuracy", "macro_f1", "uar", "f1.happy", "recall.happy"])
def test_flips_of_a_gate_are_what_a_reader_can_try(metric: str) -> None:
    clips = [Clip(f"c{number}", "happy", said("happy" if number < 4 else "sad")) for number in range(10)]
    clips += [Clip(f"d{number}", "sad", said("sad")) for number in range(10)]
    (found,) = judged(clips, ("happy", "sad"), gate(metric, min=0.75)).verdicts
    assert found.flips is not None
    moved = [Clip(c.id, c.label, said(c.label)) if 4 <= n < 4 + found.flips else c for n, c in enumerate(clips)]
    (after,) = judged(moved if found.verdict == "fail" else clips, ("happy", "sad"), gate(metric, min=0.75)).verdicts
    assert after.verdict == "pass"
    if found.verdict == "fail":
        assert after.margin is not None
        fewer = [Clip(c.id, c.label, said(c.label)) if 4 <= n < 3 + found.flips else c for n, c in enumerate(clips)]
        assert judged(fewer, ("happy", "sad"), gate(metric, min=0.75)).verdicts[0].verdict == "fail"


def test_support_is_a_fact_of_the_references_that_no_clip_can_turn() -> None:
    clips = [Clip("c", "happy", said("happy"))]
    (found,) = judged(clips, ("happy", "sad"), gate("support.happy", min=2.0)).verdicts
    assert (found.verdict, found.flips) == ("fail", None)


def test_emotion_needs_labels() -> None:
    with pytest.raises(ValueError, match="scored against labels"):
        Emotion().read(question_of([]), Rules(None, {}, "worst"), [])


# MELD's test split, when everything is called neutral ---------------------------------------------------------------

NATIVE = ("anger", "disgust", "fear", "joy", "neutral", "sadness", "surprise")
TAGS = ("happy", "sad", "angry", "nervous", "calm", "excited", "whisper")
TO_TAGS = {
    "anger": "angry", "disgust": "angry", "fear": "nervous", "joy": "happy", "neutral": "calm", "sadness": "sad",
    "surprise": "excited",
}  # fmt: skip


def meld(shared: Path, answer: str) -> list[Clip]:
    with (shared / "data" / "meld" / "test_sent_emo.csv").open(newline="", encoding="utf-8") as file:
        return [
            Clip(f"{row['Dialogue_ID']}_{row['Utterance_ID']}", row["Emotion"], said(answer), row["Speaker"])
            for row in csv.DictReader(file)
        ]


@pytest.mark.realdata
def test_meld_called_neutral_throughout(shared: Path) -> None:
    result = judged(meld(shared, "neutral"), NATIVE, gate("macro_f1", min=0.35), absent=None)
    assert (result.counts.planned, result.counts.answered, result.counts.listed) == (2610, 2610, 2610)
    assert measured(result, "macro_f1") == pytest.approx(0.092824, abs=5e-7)
    assert measured(result, "macro_f1_supported") == measured(result, "macro_f1")
    assert measured(result, "accuracy") == 1256 / 2610 == pytest.approx(0.481226, abs=5e-7)
    assert measured(result, "weighted_f1") == pytest.approx(0.312685, abs=5e-7)
    assert measured(result, "uar") == pytest.approx(1 / 7, abs=1e-15)
    support = {
        "neutral": 1256,
        "joy": 402,
        "anger": 345,
        "surprise": 281,
        "sadness": 208,
        "disgust": 68,
        "fear": 50,
    }
    assert {name: measured(result, f"support.{name}") for name in support} == support
    assert (result.published["ceiling"], result.published["absentLabels"]) == (1.0, [])
    assert result.verdicts[0].verdict == "fail"


@pytest.mark.realdata
def test_meld_on_the_seven_tags(shared: Path) -> None:
    rules = LabelRules(TAGS, reference=TO_TAGS, answers={"neutral": "calm"}, absent="zero")
    clips = meld(shared, "neutral")
    result = judged(
        clips,
        (),
        gate("macro_f1", id="reachable", min=0.857),
        gate("macro_f1", id="beyond", min=0.858),
        label_rules=rules,
    )
    assert measured(result, "macro_f1") == pytest.approx(0.092824, abs=5e-7)
    assert measured(result, "macro_f1_supported") == pytest.approx(0.108295, abs=5e-7)
    assert measured(result, "accuracy") == pytest.approx(0.481226, abs=5e-7)
    assert measured(result, "uar") == pytest.approx(1 / 6, abs=1e-15)
    assert result.published["absentLabels"] == ["whisper"]
    assert result.published["ceiling"] == pytest.approx(6 / 7, abs=1e-15)
    assert [found.verdict for found in result.verdicts] == ["fail", "invalid"]
    assert measured(result, "support.angry") == 345 + 68

    sizes = np.array(list(Counter(clip.speaker for clip in clips).values()))
    assert measured(result, "speakers") == len(sizes) == 100
    assert measured(result, "effective_speakers") == pytest.approx(sizes.sum() ** 2 / (sizes**2).sum())
    assert f"{measured(result, 'effective_speakers'):.1f}" == "8.7"
    interval = result.estimates["macro_f1"].interval
    assert interval is not None
    assert interval.unreliable
    assert (interval.clusters, interval.excluded) == (100, 0)
    notes = out_document(result, TIMES)["notes"]
    assert "Intervals are unreliable: 8.7 effective clusters of unit speaker." in notes
    assert "No reference has whisper: it counts 0, so macro_f1 reaches at most 0.857143." in notes
