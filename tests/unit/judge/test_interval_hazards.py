"""What people met in the field about intervals and their gates, from the clips of a run to its report."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_speval.corpus.cohorts import CohortRule
from pytest_speval.evidence.ending import UNATTEMPTED, Ending
from pytest_speval.judge.group import SmallGroups
from pytest_speval.judge.result import Result
from pytest_speval.judge.sample import IntervalRule
from pytest_speval.reports.document import notes, out_document
from pytest_speval.scoring.bootstrap import Interval
from tests.runs import TIMES, Clip, gate, judged, said

RIGHT, WRONG = said("happy"), said("sad")
LABELS = ("happy", "sad", "fear")


def interval_of(result: Result, metric: str = "accuracy") -> Interval:
    interval = result.estimates[metric].interval
    assert interval is not None
    return interval


def of_speakers(count: int, clips: int, right: Any = lambda _: True) -> list[Clip]:
    """So many clips of each speaker, all of them right or none."""
    return [
        Clip(f"c{speaker:03}-{clip}", "happy", RIGHT if right(speaker) else WRONG, f"s{speaker:03}")
        for speaker in range(count)
        for clip in range(clips)
    ]


def told(result: Result, word: str) -> list[str]:
    return [note for note in notes(result) if word in note]


def test_h73_two_speakers_right_and_two_wrong_say_nothing() -> None:
    result = judged(
        of_speakers(4, 25, lambda speaker: speaker < 2), LABELS[:2], gate(min=0.5, bound="low"), interval=IntervalRule()
    )
    found = interval_of(result)
    assert (found.low, found.high, found.clusters, found.unreliable) == (0.0, 1.0, 4, True)
    assert result.estimates["accuracy"].value == 0.5
    assert [verdict.verdict for verdict in result.verdicts] == ["fail"]
    assert told(result, "unreliable") == ["Intervals are unreliable: 4.0 effective clusters of unit speaker."]
    by_clip = judged(of_speakers(4, 25, lambda speaker: speaker < 2), interval=IntervalRule("clip"))
    assert [interval_of(by_clip).low, interval_of(by_clip).high] == pytest.approx([0.40, 0.60], abs=0.011)


def test_h74_all_right_is_certain_of_nothing() -> None:
    rules = gate(min=0.9), gate(min=0.9, bound="low", id="low")
    result = judged(of_speakers(5, 4), LABELS[:1], *rules)
    found = interval_of(result)
    assert (found.low, found.high, found.degenerate) == (1.0, 1.0, True)
    assert [verdict.verdict for verdict in result.verdicts] == ["pass", "invalid"]
    assert "degenerate" in (result.verdicts[1].reason or "")
    assert out_document(result, TIMES)["metrics"]["accuracy"]["interval"]["degenerate"] is True


def fearful(others: int) -> list[Clip]:
    """Everybody says happy and sad, `a` also fear; all answers are right."""
    spoken = [("a", "fear"), *((name, label) for name in ["a", *map(str, range(others))] for label in LABELS[:2])]
    return [Clip(f"{name}-{label}", label, said(label), name) for name, label in spoken]


def test_h75_a_label_that_replicates_lost_is_reported_and_above_5_percent_told() -> None:
    result = judged(fearful(2), LABELS, gate("macro_f1", min=0.9, bound="low"), interval=IntervalRule())
    found = interval_of(result, "macro_f1")
    assert (found.low, found.high, found.degenerate) == (1.0, 1.0, True)
    share = found.replicates_without_class["fear"]
    assert share == pytest.approx((2 / 3) ** 3, abs=0.03)
    assert found.replicates_without_class == {"fear": share}
    assert result.verdicts[0].verdict == "invalid"
    assert told(result, "fear") == [
        f"Labels that replicates lost, and that are left out of means over labels there: fear in {100 * share:.1f}%."
    ]


def test_h75_three_speakers_with_a_label_each() -> None:
    clips = [Clip(f"{name}{number}", label, said(label), name)
             for name, label in zip("abc", LABELS, strict=True) for number in range(4)]  # fmt: skip
    result = judged(clips, LABELS, interval=IntervalRule())
    for metric in ("macro_f1", "macro_f1_supported", "weighted_f1", "uar", "accuracy"):
        found = interval_of(result, metric)
        assert (found.low, found.high) == (1.0, 1.0), metric
        assert list(found.replicates_without_class) == list(LABELS)
        assert found.replicates_without_class["fear"] == pytest.approx(8 / 27, abs=0.03)


def test_a_label_that_hardly_any_replicate_lost_is_not_told() -> None:
    rare = [clip for number in range(4) for clip in (Clip(f"f{number}", "fear", said("fear"), str(number)),)]
    result = judged([*fearful(20), *rare], LABELS, interval=IntervalRule())
    assert 0 < interval_of(result, "macro_f1").replicates_without_class["fear"] < 0.05
    assert told(result, "Labels that replicates lost") == []


@pytest.mark.parametrize(
    ("speakers", "few", "expected"),
    [
        (9, 10, ["Intervals are unreliable: 9.0 effective clusters of unit speaker."]),
        (10, 10, ["Intervals are somewhat too narrow: 10.0 effective clusters of unit speaker; below 30 they hold the "
                  "true value less often than in 95% of cases."]),
        (29, 10, ["Intervals are somewhat too narrow: 29.0 effective clusters of unit speaker; below 30 they hold the "
                  "true value less often than in 95% of cases."]),
        (30, 10, []),
        (30, 31, ["Intervals are unreliable: 30.0 effective clusters of unit speaker."]),
    ],
)  # fmt: skip
def test_reports_warn_below_thirty_effective_speakers(speakers: int, few: float, expected: list[str]) -> None:
    rule = IntervalRule(replicates=50, few_clusters=few)
    result = judged(of_speakers(speakers, 2, lambda speaker: speaker % 2), LABELS[:2], interval=rule)
    assert told(result, "Intervals are") == expected
    assert [note for note in out_document(result, TIMES)["notes"] if "Intervals are" in note] == expected


def test_h03_no_planned_clip_is_no_value_and_passes_nothing() -> None:
    rules = [gate(min=0.0), gate(min=0.0, bound="low", id="low"), gate("failure_rate", max=1.0)]
    result = judged([Clip("a", "happy", UNATTEMPTED, "s", excluded="mis-cut")], LABELS[:1], *rules)
    assert out_document(result, TIMES)["metrics"]["accuracy"]["value"] is None
    assert {verdict.verdict for verdict in result.verdicts} == {"invalid"}


def test_h06_the_full_double_is_compared_and_enough_digits_are_shown() -> None:
    clips = [Clip(f"c{number}", "happy", RIGHT if number < 1265 else WRONG) for number in range(1816)]
    (found,) = judged(clips, LABELS[:2], gate(min=0.7)).verdicts
    assert (found.verdict, found.value) == ("fail", 1265 / 1816)
    assert found.reason == "accuracy 0.69659 < 0.7"


@pytest.mark.parametrize("absent", ["omit", "zero"])
def test_h07_and_h08_absent_and_only_answered_labels(absent: str) -> None:
    pairs = [("happy", "happy"), ("happy", "fear"), ("sad", "sad"), ("sad", "sad")]
    clips = [Clip(f"c{place}", label, said(answer)) for place, (label, answer) in enumerate(pairs)]
    values = judged(clips, LABELS, absent=absent).estimates
    assert (values["accuracy"].value, values["uar"].value) == (0.75, 0.75)
    assert values["macro_f1_supported"].value == pytest.approx((2 / 3 + 1) / 2)
    assert values["macro_f1"].value == pytest.approx((2 / 3 + 1) / (2 if absent == "omit" else 3))
    perfect = [Clip(f"c{place}", label, said(label)) for place, label in enumerate(["happy", "happy", "sad"])]
    result = judged(perfect, LABELS, absent=absent)
    assert result.estimates["macro_f1"].value == pytest.approx(1.0 if absent == "omit" else 2 / 3)
    assert result.published["absentLabels"] == ["fear"]


def test_every_estimate_of_a_run_stands_on_one_set_of_draws() -> None:
    """Errors that fall with the speaker alone: each rate and its complement have mirrored ends."""
    endings = {0: RIGHT, 1: Ending("failed", code="raised", message="no luck"), 2: said()}
    clips = [Clip(f"c{number}", "happy", endings[number % 3], f"s{number % 12:02}") for number in range(60)]
    result = judged(clips, LABELS[:2], interval=IntervalRule(replicates=300, level=0.9))
    found = {name: one.interval for name, one in result.estimates.items() if one.interval is not None}
    assert {(one.seed, one.replicates, one.clusters, one.excluded) for one in found.values()} == {
        (20260817, 300, 12, 0)
    }
    accuracy, coverage = found["accuracy"], found["coverage"]
    assert (accuracy.low, accuracy.high) == (coverage.low, coverage.high) == (found["recall.happy"].low,
                                                                              found["recall.happy"].high)  # fmt: skip


def test_a_cohort_of_one_group_has_the_intervals_of_the_run() -> None:
    """Estimates and cohorts share the draws: to the last bit."""
    clips = [
        Clip(f"c{number}", LABELS[number % 3], said(LABELS[number * number % 7 % 3]), f"s{number % 11:02}",
             cells={"cohort.accent": "gb"})
        for number in range(97)
    ]  # fmt: skip
    result = judged(clips, LABELS, cohorts=[CohortRule("accent")], small_groups=SmallGroups(1))
    (group,) = result.cohorts[0].groups
    compared = {name: one.interval for name, one in group.estimates.items() if one.interval is not None}
    assert len(compared) == 20
    assert compared == {name: result.estimates[name].interval for name in compared}
