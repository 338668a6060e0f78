"""A run against a baseline: shared clips, differences over common draws, clips won and lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from pytest_speval.judge.against import Comparison
from pytest_speval.judge.result import Result
from pytest_speval.judge.sample import IntervalRule
from pytest_speval.reports.document import out_document
from pytest_speval.scoring.bootstrap import draw_weights
from tests.against import BY_CLIP, LABELS, RULES, against, baseline_of, compared
from tests.runs import FAILED, TIMES, UNATTEMPTED, Clip, said

BY_SPEAKER = IntervalRule(replicates=200)


def clips_of(references: Sequence[str], answers: Sequence[str | None], speakers: int = 4) -> list[Clip]:
    return [
        Clip(f"c{place:02}", reference, said(answer) if answer else FAILED, f"s{place % speakers}")
        for place, (reference, answer) in enumerate(zip(references, answers, strict=True))
    ]


def only(result: Result) -> Comparison:
    (found,) = result.comparisons
    return found


def plain(result: Result) -> dict[str, Any]:
    """The comparison as it stands in `out.json`."""
    (found,) = out_document(result, TIMES)["comparisons"]
    assert isinstance(found, dict)
    return found


@st.composite
def releases(draw: st.DrawFn) -> tuple[list[Clip], list[Clip]]:
    """Two models on the same clips; a model may fail."""
    size = draw(st.integers(4, 24))
    references = draw(st.lists(st.sampled_from(LABELS), min_size=size, max_size=size))
    answers = st.lists(st.sampled_from([*LABELS, None]), min_size=size, max_size=size)
    speakers = draw(st.integers(3, 6))
    return clips_of(references, draw(answers), speakers), clips_of(references, draw(answers), speakers)


def test_the_interval_is_that_of_a_plain_loop_over_common_draws() -> None:
    random = np.random.default_rng(5)
    references = random.choice(LABELS, 60).tolist()
    now, then = (
        [reference if random.random() < right else str(random.choice(LABELS)) for reference in references]
        for right in (0.7, 0.5)
    )
    speakers = np.arange(60) % 7
    result = compared(clips_of(references, now, 7), baseline_of(clips_of(references, then, 7)), interval=BY_SPEAKER)
    expected: dict[str, list[float]] = {"accuracy": [], "macro_f1": []}
    for weights in np.vstack([*draw_weights(7, 200, BY_SPEAKER.seed)]):
        drawn = weights[speakers]
        for name, score in (("accuracy", accuracy_score), ("macro_f1", f1_score)):
            more = {"average": "macro", "labels": list(LABELS), "zero_division": 0} if name == "macro_f1" else {}
            one, other = (score(references, said, sample_weight=drawn, **more) for said in (now, then))
            expected[name].append(one - other)
    assert only(result).differences is not None
    for name, values in expected.items():
        found = (only(result).differences or {})[name]
        np.testing.assert_allclose(found.replicates, values, atol=1e-9)
        interval = found.estimate.interval
        assert interval is not None
        assert (interval.low, interval.high) == pytest.approx(np.quantile(values, [0.025, 0.975]).tolist(), abs=1e-9)
        assert interval.clusters == 7


@settings(max_examples=40)
@given(releases())
def test_the_other_way_round_everything_is_mirrored(pair: tuple[list[Clip], list[Clip]]) -> None:
    one, other = pair
    there = only(compared(one, baseline_of(other), interval=BY_SPEAKER))
    back = only(compared(other, baseline_of(one), interval=BY_SPEAKER))
    assert [swing.clip for swing in there.wins] == [swing.clip for swing in back.losses]
    for name, found in (there.differences or {}).items():
        mirrored = (back.differences or {})[name]
        assert (found.candidate, found.baseline) == (mirrored.baseline, mirrored.candidate)
        if found.estimate.value is None:
            assert mirrored.estimate.value is None
            continue
        assert found.estimate.value == -(mirrored.estimate.value or 0.0)
        now, then = found.estimate.interval, mirrored.estimate.interval
        if now is not None and now.low is not None and now.high is not None:
            assert then is not None
            np.testing.assert_allclose([now.low, now.high], [-(then.high or 0.0), -(then.low or 0.0)], atol=1e-12)
            assert now.degenerate == then.degenerate


@settings(max_examples=40)
@given(releases(), st.randoms())
def test_the_order_of_rows_changes_nothing(pair: tuple[list[Clip], list[Clip]], random: Any) -> None:
    one, other = pair
    calmer = [replace(clip, label="calm") for clip in other[:3]]  # some of them relabelled by this
    other = [*calmer, *other[3:]]
    expected = plain(compared(one, baseline_of(other), interval=BY_SPEAKER))
    mixed, former = random.sample(one, len(one)), random.sample(other, len(other))
    found = plain(compared(mixed, baseline_of(former), interval=BY_SPEAKER))
    for told in (expected, found):
        told.pop("baseline")
    assert found == expected


@settings(max_examples=40)
@given(releases())
def test_a_run_does_not_differ_from_itself_and_no_bound_can_show_it(pair: tuple[list[Clip], list[Clip]]) -> None:
    clips, _ = pair
    baseline = baseline_of(clips)
    gates = [against(baseline, max_drop=0, id=bound, bound=bound) for bound in ("point", "low", "high")]
    result = compared(clips, baseline, *gates, interval=BY_SPEAKER)
    for found in (only(result).differences or {}).values():
        if found.estimate.value is not None:
            assert found.estimate.value == 0
            assert found.change == "same"
            assert found.estimate.interval is None or found.estimate.interval.degenerate
    if all(clip.ending is FAILED for clip in clips):
        assert {verdict.verdict for verdict in result.verdicts} == {"invalid"}
        return
    assert [verdict.verdict for verdict in result.verdicts] == ["pass", "invalid", "invalid"]
    assert "degenerate" in (result.verdicts[1].reason or "")
    assert (only(result).wins, only(result).losses) == ((), ())


def test_only_clips_with_one_reference_and_one_sound_are_shared_and_all_others_are_told() -> None:
    then = [
        Clip("same", "happy", said("happy"), "s1"),
        Clip("relabelled", "happy", said("happy"), "s1"),
        Clip("resung", "happy", said("happy"), "s1"),
        Clip("gone", "sad", said("sad"), "s1"),
        Clip("moved", "sad", said("sad"), "s1", split="dev"),
        Clip("dropped", "sad", said("sad"), "s1"),
    ]
    now = [
        replace(then[0], ending=said("sad")),
        replace(then[1], label="sad"),
        then[2],
        replace(then[4], split="test"),
        replace(then[5], excluded="mis-cut"),
        Clip("new", "calm", said("calm"), "s2"),
    ]
    sounds = {"same": "a", "resung": "b"}
    result = compared(
        now,
        baseline_of(then, samples_sha256=[sounds.get(clip.id) for clip in then]),
        samples_sha256=[sounds.get(clip.id) if clip.id == "same" else "c" for clip in now],
    )
    found = plain(result)
    assert found["clips"] == {
        "shared": 1,
        "new": 2,
        "gone": 3,
        "relabelled": 1,
        "altered": 1,
        "moved": 1,
        "new_speakers": 1,
    }
    assert found["changed"] == {
        "new": ["test/moved", "test/new"],
        "gone": ["dev/moved", "test/dropped", "test/gone"],
        "relabelled": ["test/relabelled"],
        "altered": ["test/resung"],
        "moved": ["test/moved"],
    }
    assert found["metrics"]["accuracy"]["candidate"] == 0
    assert found["metrics"]["accuracy"]["baseline"] == 1
    assert [swing["clip"] for swing in found["losses"]] == ["test/same"]


def test_without_a_shared_clip_nothing_is_judged() -> None:
    result = compared([Clip("a", "happy", said("happy"))], baseline_of([Clip("b", "happy", said("happy"))]))
    assert [(verdict.verdict, verdict.reason) for verdict in result.verdicts] == [
        ("invalid", "no clip is shared with the baseline")
    ]


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"labels": {"set": [*LABELS, "tired"]}}, "labels.set"),
        ({"labels": {"set": list(LABELS), "answers": {"joy": "happy"}}}, "labels.answers"),
        ({"labels": {"set": list(LABELS), "projection": "vad-7"}}, "labels.projection: vad-7 in the baseline"),
        ({"run": {"missing": "withhold"}}, "run.missing: withhold in the baseline, worst now"),
        ({"text": {"normalizer": "basic", "version": "1"}}, "text"),
        ({"rubric": {"sha256": "0" * 64}}, "rubric"),
    ],
)
def test_what_was_judged_by_other_rules_is_refused_with_the_field(changed: dict[str, Any], field: str) -> None:
    clips = clips_of(["happy"] * 4, ["happy"] * 4)
    result = compared(clips, baseline_of(clips, rules={**RULES, **changed}))
    (verdict,) = result.verdicts
    assert verdict.verdict == "invalid"
    assert f"judged by other rules: {field}" in (verdict.reason or "")
    assert only(result).refused == verdict.reason


def test_what_changes_no_right_answer_is_not_refused() -> None:
    clips = clips_of(["happy"] * 4, ["happy"] * 4)
    rules = {**RULES, "claim": {"level": "diagnostic"}, "gates": [], "run": {"missing": "worst", "max_failed": 3}}
    assert compared(clips, baseline_of(clips, rules=rules)).verdicts[0].verdict == "pass"


def test_a_failure_is_an_error_like_any_other() -> None:
    then = clips_of(["happy"] * 6, ["happy"] * 6)
    now = clips_of(["happy"] * 6, ["happy"] * 5 + [None])
    found = only(compared(now, baseline_of(then)))
    (loss,) = found.losses
    assert (loss.clip, loss.before, loss.after, loss.errors_after) == ("test/c05", "happy", None, 1)
    assert (found.differences or {})["accuracy"].estimate.value == pytest.approx(-1 / 6)


def test_a_baseline_in_which_no_clip_came_back_measures_nothing() -> None:
    clips = clips_of(["happy"] * 4, ["happy"] * 4)
    never = [replace(clip, ending=UNATTEMPTED) for clip in clips]
    (verdict,) = compared(clips, baseline_of(never)).verdicts
    assert (verdict.verdict, verdict.reason) == (
        "invalid",
        "macro_f1 is undefined: no clip came back in the baseline",
    )


def test_numbers_are_compared_clip_by_clip_only_where_errors_are_counted() -> None:
    def rated(value: float, told: float) -> Clip:
        vad = {"valence": told, "arousal": 0.5, "dominance": 0.5}
        return Clip(f"c{value}", "", said(vad=vad), cells={"valence": str(value)})

    values = [0.1, 0.4, 0.5, 0.9]
    rules = {"run": {"missing": "withhold"}}
    now, then = ([rated(value, value * by) for value in values] for by in (1.0, 0.5))
    baseline = baseline_of(then, "affect", rules)
    gate = against(baseline, "mae.valence", min_gain=0.1)
    ranges = {"valence": (0.0, 1.0)}
    result = compared(now, baseline, gate, task="affect", rules=rules, missing="withhold", ranges=ranges)
    found = (only(result).differences or {})["mae.valence"]
    assert found.estimate.value == pytest.approx(-0.2375)
    assert (found.change, result.verdicts[0].verdict) == ("better", "pass")
    assert only(result).opinion is None
    lacking = [*now[:3], replace(now[3], ending=FAILED)]
    (verdict,) = compared(
        lacking, baseline, gate, task="affect", rules=rules, missing="withhold", ranges=ranges
    ).verdicts
    assert (verdict.verdict, verdict.reason) == ("invalid", "mae.valence is undefined: 3 of 4 answered")


def test_without_speakers_there_is_a_difference_and_no_interval() -> None:
    clips = [Clip(f"c{place}", "happy", said("happy")) for place in range(4)]
    baseline = baseline_of(clips)
    gates = against(baseline, max_drop=0, id="point"), against(baseline, max_drop=0, id="low", bound="low")
    result = compared(clips, baseline, *gates, interval=BY_SPEAKER)
    assert [verdict.verdict for verdict in result.verdicts] == ["pass", "invalid"]
    assert "no speaker column" in (result.verdicts[1].reason or "")


def test_draws_are_those_of_the_shared_units_alone() -> None:
    """Clips that only the candidate has change no difference."""
    then = clips_of(list(LABELS) * 4, [LABELS[0]] * 12)
    now = clips_of(list(LABELS) * 4, list(LABELS) * 4)
    extra = [Clip(f"x{place}", "sad", said("calm"), f"a{place}") for place in range(5)]
    one = only(compared(now, baseline_of(then), interval=BY_SPEAKER)).differences or {}
    other = only(compared([*extra, *now], baseline_of(then), interval=BY_SPEAKER)).differences or {}
    assert {name: found.as_dict() for name, found in one.items()} == {
        name: found.as_dict() for name, found in other.items()
    }


def test_the_sample_rule_of_the_run_decides() -> None:
    clips = clips_of(list(LABELS) * 4, [LABELS[0]] * 12)
    found = only(compared(clips, baseline_of(clips_of(list(LABELS) * 4, list(LABELS) * 4)), interval=BY_CLIP))
    interval = (found.differences or {})["accuracy"].estimate.interval
    assert interval is not None
    assert (interval.unit, interval.clusters, interval.replicates) == ("clip", 12, 200)
