"""The laws of counting: nothing leaves the denominator, failures never help, order decides nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from math import isfinite, nextafter
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pytest_speval.corpus.labels import LabelRules
from pytest_speval.evidence.canonical import canonical
from pytest_speval.evidence.ending import UNATTEMPTED, UNKNOWN, Ending
from pytest_speval.judge.result import Result
from pytest_speval.judge.sample import IntervalRule
from pytest_speval.reports.document import out_document
from pytest_speval.suite.gate import GateRule
from pytest_speval.tasks.registry import TASKS
from tests.runs import FAILED, TIMES, TODAY, Clip, gate, judged, said, waiver

LABELS = ("happy", "sad", "calm")
STATUSES = ("answered", "abstained", "failed", "unknown", "unattempted")
QUALITIES = {
    "macro_f1",
    "macro_f1_supported",
    "weighted_f1",
    "uar",
    "accuracy",
    "f1",
    "precision",
    "recall",
    "support",
}
LOWER = {"failure_rate", "abstention_rate"}
QUICK = IntervalRule(replicates=40)

SCORES = st.dictionaries(
    st.sampled_from([*LABELS, "joy"]), st.sampled_from([0.0, 0.25, 0.5, 1.0, -3.0]), min_size=1, max_size=4
)
ANSWERS = st.one_of(
    st.sampled_from(LABELS).map(said),
    st.sampled_from(["joy", "Happy", "", "happy "]).map(said),
    st.just(said()),
    SCORES.map(lambda scores: said(scores=scores)),
)
LOST = st.sampled_from([FAILED, UNKNOWN, Ending("failed", {"raw": "3"}, "invalid-answer", "not EmotionRead", 5)])
ENDINGS = st.one_of(ANSWERS, ANSWERS, ANSWERS, LOST, st.just(UNATTEMPTED))


@st.composite
def runs(draw: st.DrawFn, endings: st.SearchStrategy[Ending] = ENDINGS, least: int = 0) -> list[Clip]:
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from(LABELS),
                endings,
                st.sampled_from(["ann", "bob", "cid", "dan", None]),
                st.sampled_from([None, None, None, None, "mis-cut", "label xxx is dropped"]),
            ),
            min_size=least,
            max_size=16,
        )
    )
    return [
        Clip(f"c{number}", label, ending, speaker, excluded=excluded, split="test" if number % 3 else "dev")
        for number, (label, ending, speaker, excluded) in enumerate(rows)
    ]


RULES = st.builds(
    LabelRules,
    set=st.just((*LABELS, "angry")),
    absent=st.sampled_from(["zero", "omit"]),
    abstain_below=st.sampled_from([None, None, 0.5]),
    fold_case=st.booleans(),
    strip=st.booleans(),
)
MISSING = st.sampled_from(["worst", "worst", "withhold"])


@st.composite
def gates(draw: st.DrawFn, labels: Sequence[str] = LABELS) -> GateRule:
    word = draw(st.sampled_from(list(TASKS["emotion"].word.words(labels).items())))
    metric, better = word[0], word[1].better
    limit = draw(st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 1.0, 3.0]) if word[1].high is None else
                 st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 1.0]))  # fmt: skip
    return gate(
        metric,
        **{"min" if better == "higher" else "max": limit},
        bound=draw(st.sampled_from(["point", "point", "low", "high"])),
        level=draw(st.sampled_from(["block", "warn"])),
        waiver=draw(st.sampled_from([None, waiver(), waiver(TODAY), waiver(TODAY - timedelta(1))])),
    )


def run(clips: Sequence[Clip], *rules: GateRule, labels: LabelRules | None = None, **keys: Any) -> Result:
    return judged(list(clips), LABELS, *rules, label_rules=labels, **({"interval": QUICK} | keys))


def planned_of(clips: Sequence[Clip]) -> list[Clip]:
    return [clip for clip in clips if clip.excluded is None]


@given(runs(), RULES, MISSING)
@settings(max_examples=200, deadline=None)
def test_counts_add_up_for_the_suite_and_for_every_label(clips: list[Clip], labels: LabelRules, missing: str) -> None:
    result = run(clips, labels=labels, missing=missing)
    counts = result.counts
    assert counts.listed == counts.planned + counts.excluded == len(clips)
    assert counts.planned == sum(getattr(counts, status) for status in STATUSES) == len(planned_of(clips))
    assert sum(result.exclusions.values()) == counts.excluded

    confusion, other = result.published["confusion"], result.published["confusionOther"]
    for place, label in enumerate(labels.set):
        ends = [row.status for row in result.rows if row.reference == label]
        assert len(ends) == sum(clip.label == label for clip in planned_of(clips))
        assert sum(confusion[place]) == ends.count("answered")
        assert other["abstained"][place] + other["outside"][place] == ends.count("abstained")
        assert other["failed"][place] == sum(ends.count(status) for status in ("failed", "unknown", "unattempted"))
        assert sum(confusion[place]) + sum(column[place] for column in other.values()) == len(ends)
    assert sum(map(sum, confusion)) + sum(map(sum, other.values())) == counts.planned

    rates = ("coverage", "abstention_rate", "failure_rate")
    if counts.planned:
        assert sum(result.estimates[name].numerator or 0 for name in rates) == counts.planned
        assert sum(result.estimates[name].value or 0 for name in rates) == pytest.approx(1)


@given(runs(), RULES)
@settings(max_examples=100, deadline=None)
def test_every_listed_clip_has_exactly_one_row_that_says_where_it_ended(clips: list[Clip], labels: LabelRules) -> None:
    result = run(clips, labels=labels)
    assert [(row.split, row.id) for row in result.rows] == [(clip.split, clip.id) for clip in clips]
    for status in STATUSES:
        assert sum(row.status == status for row in result.rows) == getattr(result.counts, status)
    for row, clip in zip(result.rows, clips, strict=True):
        assert (row.status == "excluded") == (clip.excluded is not None)
        assert (row.answer is not None) == (row.status == "answered")
        if row.status != "excluded":
            assert row.reference == clip.label
            assert row.correct == (row.answer == clip.label)
            if clip.ending.state != "returned":
                assert row.status == clip.ending.state
    assert (result.estimates["accuracy"].numerator or 0) in (
        0,
        sum(row.correct is True for row in result.rows),
    )


def helped(before: Result, after: Result, name: str) -> bool:
    """Whether an estimate improved; what is undefined is no improvement, and none over it."""
    old, new = before.estimates[name].value, after.estimates[name].value
    if new is None:
        return False
    if old is None:
        return True
    return new < old - 1e-12 if name in LOWER else new > old + 1e-12


@given(runs(least=1), RULES, LOST, st.data())
@settings(max_examples=300, deadline=None)
def test_a_failure_in_place_of_an_answer_never_helps(
    clips: list[Clip], labels: LabelRules, lost: Ending, data: st.DataObject
) -> None:
    returned = [place for place, clip in enumerate(clips) if clip.excluded is None and clip.ending.state == "returned"]
    assume(returned)
    place = data.draw(st.sampled_from(returned), "clip")
    broken = [replace(clip, ending=lost) if number == place else clip for number, clip in enumerate(clips)]
    before, after = run(clips, labels=labels), run(broken, labels=labels)
    assert after.counts.planned == before.counts.planned
    for name in ("accuracy", "uar", "coverage", *(f"recall.{label}" for label in labels.set)):
        assert not helped(before, after, name), name
    if list(before.rows)[place].correct:
        for name in before.estimates:
            if not name.startswith(("answered_only.", "latency_ms.", "rtf")):
                assert not helped(before, after, name), name


@given(runs(st.one_of(ANSWERS, LOST)), gates(), LOST, st.integers(0, 16))
@settings(max_examples=200, deadline=None)
def test_a_failure_in_place_of_a_right_answer_turns_no_gate_to_pass(
    clips: list[Clip], rule: GateRule, lost: Ending, place: int
) -> None:
    point = replace(rule, bound="point")
    clips.insert(min(place, len(clips)), Clip("right", "happy", said("happy"), "ann"))
    broken = [replace(clip, ending=lost) if clip.id == "right" else clip for clip in clips]
    (before,), (after,) = run(clips, point).verdicts, run(broken, point).verdicts
    if after.verdict == "pass" and not rule.metric.startswith(("latency_ms.", "rtf")):
        assert before.verdict == "pass"


@given(runs(), RULES, MISSING, st.lists(gates((*LABELS, "angry")), max_size=4), st.randoms(use_true_random=False),
       st.sampled_from(["speaker", "clip"]), st.sampled_from(["exclude", "singleton"]))  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_the_order_of_rows_changes_no_count_estimate_or_verdict(
    clips: list[Clip],
    labels: LabelRules,
    missing: str,
    rules: list[GateRule],
    random: Any,
    unit: str,
    null_unit: Any,
) -> None:
    timed = [
        replace(clip, ending=replace(clip.ending, microseconds=(7919 * number) % 1009))
        if clip.ending.state == "returned"
        else clip
        for number, clip in enumerate(clips)
    ]
    moved = list(timed)
    random.shuffle(moved)
    keys: dict[str, Any] = {"missing": missing, "interval": IntervalRule(unit, 40, null_unit=null_unit)}
    one, other = run(timed, *rules, labels=labels, **keys), run(moved, *rules, labels=labels, **keys)
    assert one.counts == other.counts
    documents = [out_document(result, TIMES) for result in (one, other)]
    for document in documents:
        document.pop("plan")
    assert documents[0] == documents[1]
    assert {row.id: row for row in one.rows} == {row.id: row for row in other.rows}


AXES = ("valence", "arousal", "dominance")
UNIT = st.integers(0, 1000).map(lambda thousandth: thousandth / 1000)


@given(
    st.lists(st.tuples(UNIT, UNIT, UNIT, st.sampled_from("abcd")), max_size=20),
    st.randoms(use_true_random=False),
)
@settings(max_examples=60, deadline=None)
def test_the_order_of_rows_changes_no_bit_of_affect(rows: list[tuple[float, float, float, str]], random: Any) -> None:
    clips = [
        Clip(f"c{number}", "", said(vad=dict.fromkeys(AXES, answer)), speaker,
             cells={"valence": repr(valence), "arousal": repr(arousal)})
        for number, (valence, arousal, answer, speaker) in enumerate(rows)
    ]  # fmt: skip
    moved = list(clips)
    random.shuffle(moved)
    keys: dict[str, Any] = {
        "task": "affect",
        "missing": "withhold",
        "ranges": dict.fromkeys(AXES, (0.0, 1.0)),
    }
    if clips:
        one, other = run(clips, **keys), run(moved, **keys)
        for name, estimate in one.estimates.items():
            assert canonical(estimate.as_dict()) == canonical(other.estimates[name].as_dict()), name


@given(runs(), RULES, MISSING, gates((*LABELS, "angry")))
@settings(max_examples=250, deadline=None)
def test_what_is_undefined_is_null_with_a_reason_and_its_gate_invalid(
    clips: list[Clip], labels: LabelRules, missing: str, rule: GateRule
) -> None:
    result = run(clips, rule, labels=labels, missing=missing)
    for name, estimate in result.estimates.items():
        assert (estimate.value is None) == (estimate.reason is not None), name
        assert (estimate.interval is None) == (estimate.interval_reason is not None), name
        assert estimate.value is None or isfinite(estimate.value), name
    (verdict,) = result.verdicts
    estimate = result.estimates[rule.metric]
    if estimate.value is None or result.counts.unattempted:
        assert verdict.verdict == "invalid"
        assert verdict.reason
    if rule.bound != "point" and (estimate.interval is None or estimate.interval.degenerate):
        assert verdict.verdict == "invalid"
    if verdict.verdict != "invalid":
        assert verdict.value is not None
        least = rule.min is not None
        assert (verdict.verdict == "pass") == (verdict.value >= rule.limit if least else verdict.value <= rule.limit)


@given(runs(st.one_of(LOST, st.just(UNATTEMPTED))), RULES, MISSING)
@settings(max_examples=80, deadline=None)
def test_where_no_clip_came_back_no_quality_is_known(clips: list[Clip], labels: LabelRules, missing: str) -> None:
    result = run(clips, labels=labels, missing=missing)
    told = f"0 of {result.counts.planned} answered" if missing == "withhold" and result.counts.planned else None
    for name, estimate in result.estimates.items():
        if name.partition(".")[0] in QUALITIES:
            assert (estimate.value, estimate.reason) == (None, told or "no clip came back"), name


@given(runs(st.one_of(ANSWERS, LOST)), st.integers(0, 4), st.lists(gates(), min_size=1, max_size=3))
@settings(max_examples=150, deadline=None)
def test_too_many_lost_clips_make_every_gate_invalid(clips: list[Clip], max_failed: int, rules: list[GateRule]) -> None:
    result = run(clips, *rules, max_failed=max_failed)
    lost = result.counts.failed + result.counts.unknown
    refused = lost > max_failed or not result.counts.planned
    assert (result.refused is not None) == refused
    if refused:
        assert {verdict.verdict for verdict in result.verdicts} == {"invalid"}
        assert result.invalid
        assert not result.blocked


@given(runs(st.one_of(ANSWERS, LOST)), gates(), st.integers(0, 3))
@settings(max_examples=200, deadline=None)
def test_no_waiver_and_no_level_turns_a_verdict(clips: list[Clip], rule: GateRule, max_failed: int) -> None:
    bare = replace(rule, level="block", waiver=None)
    (found,), (plain,) = (run(clips, one, max_failed=max_failed).verdicts for one in (rule, bare))
    assert (found.verdict, found.value, found.reason) == (plain.verdict, plain.value, plain.reason)
    assert (found.margin, found.flips) == (plain.margin, plain.flips)
    in_force = rule.waiver is not None and (rule.waiver.until is None or rule.waiver.until >= TODAY)
    assert plain.blocks == (plain.verdict == "fail")
    assert found.blocks == (plain.blocks and not in_force and rule.level == "block")
    assert (found.waived is not None) == (found.verdict == "fail" and in_force)
    assert (found.lapsed is not None) == (found.verdict == "fail" and rule.waiver is not None and not in_force)


@given(
    runs(st.one_of(ANSWERS, LOST)),
    st.sampled_from(["accuracy", "macro_f1", "uar", "coverage", "recall.happy"]),
)
@settings(max_examples=100, deadline=None)
def test_a_gate_at_exactly_the_value_passes(clips: list[Clip], metric: str) -> None:
    value = run(clips).estimates[metric].value
    if value is None:
        return
    (found,) = run(clips, gate(metric, min=value)).verdicts
    assert (found.verdict, found.margin) == ("pass", 0.0)
    (found,) = run(clips, gate(metric, min=nextafter(value, 2.0))).verdicts
    assert found.verdict == ("invalid" if metric == "macro_f1" and value == 1.0 else "fail")


@given(runs(), RULES, MISSING, st.lists(gates((*LABELS, "angry")), max_size=3), st.booleans())
@settings(max_examples=100, deadline=None)
def test_every_report_is_strict_json(
    clips: list[Clip], labels: LabelRules, missing: str, rules: list[GateRule], partial: bool
) -> None:
    def refuse(word: str) -> Any:
        raise AssertionError(f"{word} is not JSON")

    result = run(clips, *rules, labels=labels, missing=missing, partial=partial)
    document = out_document(result, TIMES)
    read = json.loads(canonical(document), parse_constant=refuse)
    assert read["counts"] == result.counts.as_dict()
    for row in result.rows:
        json.loads(canonical(row.as_dict()), parse_constant=refuse)
