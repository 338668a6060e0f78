"""Gates on the worst group, on gaps between groups and on every label, against plain recounts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_speval.corpus.cohorts import CohortRule
from pytest_speval.evidence.ending import Ending
from pytest_speval.gates import Verdict
from pytest_speval.judge.group import SmallGroups
from pytest_speval.judge.result import Result
from pytest_speval.judge.sample import IntervalRule
from pytest_speval.reports.markdown import markdown_report
from pytest_speval.reports.verdict import verdict_lines
from pytest_speval.scoring.bootstrap import draw_weights
from pytest_speval.suite.gate import GateRule
from tests.runs import FAILED, TIMES, TODAY, UNATTEMPTED, Clip, gate, judged, said, waiver

LABELS = ("happy", "sad")
RIGHT, WRONG = said("happy"), said("sad")


def clips_of(*groups: tuple[str | None, int, int], per_speaker: int = 1) -> list[Clip]:
    """Clips of groups, each given as its name, how many are right and of how many; its speakers are its own."""
    return [
        Clip(f"{name}{place:03}", "happy", RIGHT if place < right else WRONG, f"{name}-{place // per_speaker:03}",
             cells={"cohort.accent": name})
        for name, right, of in groups
        for place in range(of)
    ]  # fmt: skip


def run(clips: Sequence[Clip], *gates: GateRule, small: SmallGroups | None = None, **more: Any) -> Result:
    given: dict[str, Any] = {"cohorts": [CohortRule("accent")], "interval": IntervalRule(replicates=200)}
    return judged(clips, LABELS, *gates, small_groups=small, **(given | more))


def one(clips: Sequence[Clip], rule: GateRule, **more: Any) -> Verdict:
    (verdict,) = run(clips, rule, **more).verdicts
    return verdict


def by_accent(metric: str = "accuracy", **keys: Any) -> GateRule:
    return gate(metric, cohort="accent", **keys)


def gap(metric: str = "accuracy", **keys: Any) -> GateRule:
    return gate(metric, **({"cohort": "accent", "gap": True} | keys))


# the worst group


def test_the_worst_group_decides_and_is_named() -> None:
    clips = clips_of(("gb", 9, 10), ("in", 6, 10), ("us", 8, 10))
    found = one(clips, by_accent(min=0.7))
    assert (found.verdict, found.value, found.flips) == ("fail", 0.6, 1)
    assert found.margin == pytest.approx(-0.1)
    assert found.reason == "accuracy of accent “in” 0.6 < 0.7"
    record = found.as_dict()
    assert (record["cohort"], record["group"]) == ("accent", {"kind": "named", "value": "in", "why": None})
    assert record["not_gated"] == []
    held = one(clips, by_accent(min=0.6))
    assert (held.verdict, held.reason, held.margin) == ("pass", "accuracy of accent “in” 0.6 >= 0.6", 0.0)
    highest = one([*clips, *[Clip(f"f{n}", "happy", FAILED, "f", cells={"cohort.accent": "us"}) for n in range(5)]],
                  by_accent("failure_rate", max=0.3))  # fmt: skip
    assert (highest.verdict, highest.value) == ("fail", 5 / 15)
    assert highest.reason == "failure_rate of accent “us” 0.33333 > 0.3"


def test_groups_that_are_small_and_clips_without_a_group_are_not_gated_and_named() -> None:
    clips = clips_of(("gb", 9, 10), ("nz", 0, 2), (None, 0, 5))
    found = one(clips, by_accent(min=0.8), small=SmallGroups(3, 2))
    assert (found.verdict, found.value) == ("pass", 0.9)
    assert found.reason == (
        "accuracy of accent “gb” 0.9 >= 0.8; not gated: “nz” (2 of 3 clips that score.small_groups asks for), "
        "no group: unavailable (5 clips of which no group is known)"
    )
    assert [(left["group"], left["why"].partition(" clips")[0]) for left in found.as_dict()["not_gated"]] == [
        ({"kind": "named", "value": "nz", "why": None}, "2 of 3"),
        ({"kind": "missing", "value": None, "why": "unavailable"}, "5"),
    ]
    assert one(clips, by_accent(min=0.8)).verdict == "fail"


@pytest.mark.parametrize(
    ("clips", "small", "rule", "reason"),
    [
        (clips_of(("gb", 9, 9)), SmallGroups(10), by_accent(min=0.1), "no group of accent can be judged; not gated: “"),
        (clips_of((None, 9, 9)), None, by_accent(min=0.1), "no group of accent can be judged; not gated: no"),
        (clips_of(("gb", 9, 9)), None, gate(cohort="age", min=0.1), "score.cohorts does not name `age`"),
        (clips_of(("gb", 9, 9)), None, gap(cohort="age", max=0.1), "score.cohorts does not name `age`"),
        (clips_of(("gb", 9, 9)), None, by_accent("rtf", max=9.0), "rtf of accent “gb” is undefined: it is not counted"),
        (clips_of(("gb", 9, 9)), None, by_accent("recall.sad", min=0.1),
         "recall.sad of accent “gb” is undefined: `sad` has no reference"),
        (clips_of(("gb", 9, 9)), None, gap(max=0.1), "1 group of accent can be judged: a gap needs 2"),
        (clips_of(("gb", 9, 9), ("us", 1, 1)), SmallGroups(2), gap(max=0.1), "1 group of accent can be judged"),
        (clips_of((None, 9, 9)), None, gap(max=0.1), "0 groups of accent can be judged: a gap needs 2"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_is_invalid_and_cannot_be_waived(
    clips: list[Clip], small: SmallGroups | None, rule: GateRule, reason: str
) -> None:
    found = one(clips, gate(**{name: getattr(rule, name) for name in ("metric", "min", "max", "cohort", "gap")},
                            waiver=waiver()), small=small)  # fmt: skip
    assert (found.verdict, found.waived, found.margin) == ("invalid", None, None)
    assert (found.reason or "").startswith(reason)


def test_a_group_of_which_nothing_came_back_is_no_group_that_holds() -> None:
    lost = [Clip(f"l{n}", "happy", FAILED, "l", cells={"cohort.accent": "in"}) for n in range(4)]
    clips = clips_of(("gb", 9, 10), ("us", 8, 10)) + lost
    for rule in (by_accent(min=0.5), gap(max=0.5), gap(chance=True)):
        found = one(clips, rule)
        assert found.verdict == "invalid", "all of a group's clips failed: leaving it out would turn red into green"
        assert found.reason == "accuracy of accent “in” is undefined: no clip came back"
    withheld = one(clips_of(("gb", 9, 10)) + lost[:1] + clips_of(("in", 1, 9)), by_accent(min=0.1), missing="withhold")
    assert withheld.verdict == "invalid"


def test_a_refused_run_has_no_verdict_on_groups() -> None:
    clips = [
        *clips_of(("gb", 9, 10), ("us", 9, 10)),
        Clip("x", "happy", UNATTEMPTED, "x", cells={"cohort.accent": "us"}),
    ]
    rules = [by_accent(min=0.1), gap(max=0.9), gap(chance=True), gate("recall", per_class=True, min=0.1)]
    for verdict in run(clips, *rules).verdicts:
        assert (verdict.verdict, verdict.value) == ("invalid", None)
        assert (verdict.reason or "").startswith("20 of 21 clips: no verdict")


CELLS = st.sampled_from([None, "gb", "us", "in", ("gb", "us")])


@st.composite
def emotion_clips(draw: st.DrawFn, most: int = 20) -> list[Clip]:
    return [
        Clip(
            f"c{number:02}",
            draw(st.sampled_from(LABELS)),
            draw(st.sampled_from([RIGHT, WRONG, said(), FAILED])),
            cells={"cohort.accent": draw(CELLS), "speaker": draw(st.sampled_from("abcdefgh"))},
        )
        for number in range(draw(st.integers(1, most)))
    ]


def inside(clip: Clip, name: str) -> bool:
    cell = clip.cells["cohort.accent"]
    return name == cell or (isinstance(cell, tuple) and name in cell)


def parts(clips: Sequence[Clip]) -> dict[str, list[Clip]]:
    found = {name: [clip for clip in clips if inside(clip, name)] for name in ("gb", "in", "us")}
    return {name: group for name, group in found.items() if group}


METRICS = ["accuracy", "uar", "macro_f1", "recall.sad", "f1.happy", "precision.sad", "coverage"]


@given(emotion_clips(), st.sampled_from(METRICS), st.floats(0, 1), st.sampled_from(["omit", "zero"]))
@settings(max_examples=150)
def test_a_cohort_gate_is_that_gate_on_every_group_alone(
    clips: list[Clip], metric: str, limit: float, absent: str
) -> None:
    found = one(clips, by_accent(metric, min=limit), absent=absent)
    alone = [judged(group, LABELS, gate(metric, min=limit), absent=absent).verdicts[0]
             for group in parts(clips).values()]  # fmt: skip
    kinds = {verdict.verdict for verdict in alone}
    assert found.verdict == next((kind for kind in ("invalid", "fail", "pass") if kind in kinds), "invalid")
    if found.verdict != "invalid":
        assert found.value == min(verdict.value for verdict in alone if verdict.value is not None)


@given(emotion_clips(), st.sampled_from(["low", "high"]), st.floats(0, 1))
def test_a_bound_is_that_of_the_group_where_it_is_worst(clips: list[Clip], bound: str, limit: float) -> None:
    result = run(clips, by_accent(min=limit, bound=bound))
    (found,) = result.verdicts
    intervals = [
        group.estimates["accuracy"].interval for group in result.cohorts[0].groups if group.group.value is not None
    ]
    if found.verdict == "invalid":
        assert not intervals or any(one is None or one.degenerate for one in intervals)
        return
    bounds = [getattr(interval, bound) for interval in intervals]
    assert found.value == min(bounds)
    assert (found.verdict, found.flips) == ("pass" if min(bounds) >= limit else "fail", None)
    assert found.as_dict()["flips_reason"] == "clips are counted for the point alone, not for a bound"


def turned_by_hand(clips: Sequence[Clip], rule: GateRule) -> int | None:
    """The fewest clips whose answers, put right or spoilt, turn a verdict: all subsets are tried."""
    before = one(clips, rule).verdict
    for size in range(1, len(clips) + 1):
        for places in combinations(range(len(clips)), size):
            changed = [
                Clip(clip.id, clip.label, WRONG if clip.ending == RIGHT else RIGHT, clip.speaker, cells=clip.cells)
                if place in places else clip
                for place, clip in enumerate(clips)
            ]  # fmt: skip
            if one(changed, rule).verdict != before:
                return size
    return None


@given(
    st.lists(st.tuples(st.sampled_from(["gb", "us", ("gb", "us")]), st.booleans()), min_size=1, max_size=5),
    st.floats(0.05, 1),
)
@settings(max_examples=40)
def test_flips_are_the_fewest_clips_that_turn_the_verdict(said_of: list[tuple[Any, bool]], limit: float) -> None:
    clips = [Clip(f"c{n}", "happy", RIGHT if right else WRONG, cells={"cohort.accent": cell})
             for n, (cell, right) in enumerate(said_of)]  # fmt: skip
    rule = by_accent(min=limit)
    flips, truth = one(clips, rule).flips, turned_by_hand(clips, rule)
    if any(isinstance(cell, tuple) for cell, _ in said_of):
        assert (flips is None) == (truth is None)
        assert flips is None or (truth is not None and flips >= truth), "never fewer than the truth"
    else:
        assert flips == truth


def test_a_small_group_may_fall_before_the_worst_does() -> None:
    found = one(clips_of(("gb", 50, 100), ("us", 6, 10)), by_accent(min=0.45))
    assert found.spread is not None
    assert (found.verdict, str(found.spread.worst), found.flips) == ("pass", "“gb”", 2)
    both = one(clips_of(("gb", 40, 100), ("us", 4, 10)), by_accent(min=0.45))
    assert (both.verdict, both.flips) == ("fail", 5 + 1), "both have to be put right"
    never = one(clips_of(("gb", 1, 2)), by_accent(min=0.0))
    assert (never.flips, never.as_dict()["flips_reason"]) == (None, "no number of clips is known to turn it")


def test_a_gate_above_what_a_group_can_reach_is_invalid() -> None:
    clips = [*clips_of(("gb", 5, 5)), *[Clip(f"s{n}", "sad", WRONG, cells={"cohort.accent": "us"}) for n in range(5)]]
    clips = [Clip(clip.id, clip.label, clip.ending, cells=clip.cells) for clip in clips]
    found = one(clips, by_accent("macro_f1", min=0.6), absent="zero")
    assert found.reason == (
        "no answers could pass: macro_f1 of accent “gb” reaches at most 0.5 on these references, the gate asks 0.6"
    )


@pytest.mark.parametrize(("until", "holds"), [(TODAY, True), (TODAY - timedelta(1), False)])
def test_waivers_hold_for_groups_gaps_and_labels_until_their_day(until: Any, holds: bool) -> None:
    clips = clips_of(("gb", 9, 10), ("us", 1, 10))
    rules = [by_accent(min=0.5, waiver=waiver(until)), gap(max=0.1, waiver=waiver(until)),
             gap(chance=True, waiver=waiver(until)),
             gate("recall", per_class=True, min=0.9, waiver=waiver(until))]  # fmt: skip
    for verdict in run(clips, *rules).verdicts:
        assert (verdict.verdict, verdict.blocks) == ("fail", not holds)
        assert (verdict.waived is not None, verdict.lapsed is not None) == (holds, not holds)


# the gap


def test_a_gap_names_both_groups_and_their_clips() -> None:  # H76
    clips = clips_of(("gb", 18, 20), ("in", 7, 10), ("us", 8, 10))
    found = one(clips, gap(max=0.1))
    assert (found.verdict, found.value, found.flips) == ("fail", 0.2, None)
    assert found.reason == "accuracy gap of accent 0.2 > 0.1 (“in” 0.7 on 10 clips, “gb” 0.9 on 20 clips)"
    record = found.as_dict()
    assert (record["group"]["value"], record["best_group"]["value"], record["chance"]) == ("in", "gb", None)
    assert record["flips_reason"] == "a gap turns with the clips of several groups"
    assert one(clips, gap(max=0.2)).verdict == "pass", "0.9 - 0.7 is 0.2, and not a hair above"


def test_where_lower_is_better_the_worst_is_the_highest() -> None:
    lost = [Clip(f"f{n}", "happy", FAILED, cells={"cohort.accent": "us"}, speaker=f"f{n}") for n in range(5)]
    found = one(clips_of(("gb", 9, 10), ("us", 5, 5)) + lost, gap("failure_rate", max=0.1))
    assert found.spread is not None
    assert (found.value, str(found.spread.worst), str(found.spread.best)) == (0.5, "“us”", "“gb”")


@given(emotion_clips(), st.floats(0, 1), st.sampled_from(["accuracy", "recall.happy"]))
def test_a_gap_is_the_greatest_difference_of_any_two_groups(clips: list[Clip], limit: float, metric: str) -> None:
    found = one(clips, gap(metric, max=limit))
    values = [judged(group, LABELS).estimates[metric].value for group in parts(clips).values()]
    if found.verdict == "invalid":
        assert len(values) < 2 or None in values
        return
    known = [value for value in values if value is not None]
    widest = max(abs(one - other) for one, other in product(known, known))
    assert found.value == pytest.approx(widest, abs=1e-12)
    assert found.verdict == ("pass" if found.value is not None and found.value <= limit else "fail")


@given(emotion_clips(), st.sampled_from(["low", "high"]), st.booleans())
def test_the_interval_of_a_gap_is_over_the_draws_that_all_share(clips: list[Clip], bound: str, lenient: bool) -> None:
    rule = IntervalRule(replicates=50, seed=7)
    found = one(clips, gap(max=1.0 if lenient else 0.0, bound=bound), interval=rule)
    groups = parts(clips)
    speakers = sorted({clip.cells["speaker"] for clip in clips})
    if found.verdict == "invalid" and (found.estimate is None or found.estimate.interval is None):
        assert (
            len(groups) < 2
            or any(len({clip.cells["speaker"] for clip in group}) < 3 for group in groups.values())
            or any(all(clip.ending == FAILED for clip in group) for group in groups.values())
        )
        return
    draws = np.concatenate(list(draw_weights(len(speakers), 50, 7)))
    gaps = []
    for weights in draws:
        times = dict(zip(speakers, weights.tolist(), strict=True))
        shares = []
        for group in groups.values():
            whole = sum(times[clip.cells["speaker"]] for clip in group)
            right = sum(
                times[clip.cells["speaker"]]
                for clip in group
                if clip.ending.answer is not None and clip.ending.answer.get("label") == clip.label
            )
            shares += [right / whole] if whole else []
        if len(shares) > 1:
            gaps.append(max(shares) - min(shares))
    assert found.estimate is not None
    interval = found.estimate.interval
    assert interval is not None
    low, high = np.quantile(gaps, [0.025, 0.975])
    assert [interval.low, interval.high] == pytest.approx([low, high], abs=1e-9)
    drawn = {clip.cells["speaker"] for group in groups.values() for clip in group}
    assert interval.clusters == len(drawn)
    if found.verdict != "invalid":
        assert found.value == (interval.low if bound == "low" else interval.high)
    else:
        assert interval.degenerate


# chance


def exact_gaps(values: Sequence[float], size: int) -> list[float]:
    """The gap of every way to deal speakers of one clip over a group of this size and the rest."""
    gaps = []
    for places in combinations(range(len(values)), size):
        inside = [values[place] for place in places]
        rest = sum(values) - sum(inside)
        gaps.append(round(abs(sum(inside) / size - rest / (len(values) - size)), 12))
    return gaps


@pytest.mark.parametrize(("first", "second"), [((6, 6), (0, 6)), ((5, 6), (1, 6)), ((3, 5), (2, 7)), ((4, 4), (3, 9))])
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_chance_is_the_quantile_of_all_arrangements(
    first: tuple[int, int], second: tuple[int, int], level: float
) -> None:
    clips = clips_of(("gb", *first), ("us", *second))
    found = one(clips, gap(chance=True), interval=IntervalRule(replicates=4000, level=level))
    gaps = exact_gaps([float(clip.ending == RIGHT) for clip in clips], first[1])
    assert found.spread is not None
    chance = found.spread.chance
    assert chance is not None
    error = 4 * (level * (1 - level) / 4000) ** 0.5
    assert np.mean([one > chance.limit for one in gaps]) <= 1 - level + error
    assert np.mean([one >= chance.limit for one in gaps]) >= 1 - level - error
    assert (chance.simulations, chance.level, chance.unit, chance.units) == (4000, level, "speaker", len(clips))
    observed = gaps[0]
    assert found.value == observed
    assert found.verdict == ("pass" if observed <= chance.limit else "fail")
    record = found.as_dict()
    assert record["max"] == record["chance"]["limit"] == chance.limit
    assert record["chance"]["seed"] == 20260817
    assert f"by chance alone up to {chance.limit:.5g} in {100 * level:g}% of cases" in (found.reason or "")


def test_whole_speakers_are_dealt_and_not_their_clips() -> None:  # A-28
    clips = clips_of(("gb", 50, 100), ("us", 40, 100), per_speaker=10)  # every speaker is all right or all wrong
    by_speaker = one(clips, gap(chance=True))
    alone = one([Clip(clip.id, clip.label, clip.ending, cells=clip.cells) for clip in clips], gap(chance=True))
    assert by_speaker.spread is not None
    assert alone.spread is not None
    assert by_speaker.spread.chance is not None
    assert alone.spread.chance is not None
    assert (by_speaker.spread.chance.unit, by_speaker.spread.chance.units) == ("speaker", 20)
    assert (alone.spread.chance.unit, alone.spread.chance.units) == ("clip", 200)
    assert by_speaker.spread.chance.limit > 2 * alone.spread.chance.limit
    assert by_speaker.verdict == "pass"


def test_a_speaker_that_is_not_known_is_dealt_clip_by_clip() -> None:
    clips = clips_of(("gb", 5, 6), ("us", 4, 6)) + [
        Clip(f"x{n}", "happy", RIGHT, cells={"cohort.accent": "us"}) for n in range(3)
    ]
    found = one(clips, gap(chance=True))
    assert found.spread is not None
    assert found.spread.chance is not None
    assert found.spread.chance.units == 15


@pytest.mark.parametrize(("each", "ways"), [(1, "1 way"), (2, "3 ways"), (3, "10 ways"), (4, None)])
def test_too_few_units_to_be_beyond_chance_are_invalid(each: int, ways: str | None) -> None:
    found = one(clips_of(("gb", each, each), ("us", 0, each)), gap(chance=True))
    if ways is None:
        assert found.verdict == "fail", "70 ways, 35 unlike: this one is among the widest 5%"
        return
    assert found.verdict == "invalid", "no arrangement could ever fail"
    assert f"{2 * each} speakers can be dealt over these groups in {ways}: no gap" in (found.reason or "")


def test_a_perfect_model_is_within_chance() -> None:
    found = one(clips_of(("gb", 9, 9), ("us", 9, 9)), gap(chance=True))
    assert (found.verdict, found.value, found.rule.max) == ("pass", 0.0, 0.0)


def test_without_bias_chance_is_seldom_exceeded_and_bias_is_seen() -> None:
    random = np.random.default_rng(3)
    verdicts = []
    for _ in range(120):
        right = random.random(36) < 0.7
        clips = [
            Clip(f"c{n:02}", "happy", RIGHT if good else WRONG, f"s{n:02}", cells={"cohort.accent": "abc"[n % 3]})
            for n, good in enumerate(right)
        ]
        verdicts.append(one(clips, gap(chance=True)).verdict)
    share = verdicts.count("fail") / len(verdicts)
    assert share <= 0.05 + 3 * (0.05 * 0.95 / 120) ** 0.5
    assert one(clips_of(("a", 12, 12), ("b", 11, 12), ("c", 3, 12)), gap(chance=True)).verdict == "fail"


@given(emotion_clips(), st.randoms(use_true_random=False), st.booleans())
@settings(max_examples=60)
def test_the_order_of_rows_changes_no_verdict(clips: list[Clip], random: Any, by_speaker: bool) -> None:
    rules = [by_accent(min=0.5), gap(max=0.2), gap(max=0.2, bound="high"), gap(chance=True), gap("uar", chance=True)]
    if not by_speaker:
        clips = [Clip(clip.id, clip.label, clip.ending, cells={"cohort.accent": clip.cells["cohort.accent"]})
                 for clip in clips]  # fmt: skip
    shuffled = list(clips)
    random.shuffle(shuffled)
    one, other = ([verdict.as_dict() for verdict in run(rows, *rules).verdicts] for rows in (clips, shuffled))
    assert one == other


# every label


def test_every_label_with_references_must_hold() -> None:
    clips = [Clip(f"h{n}", "happy", RIGHT if n < 9 else WRONG) for n in range(10)]
    clips += [Clip(f"s{n}", "sad", WRONG if n < 2 else RIGHT) for n in range(10)]
    rule = gate("recall", per_class=True, min=0.25)
    (found,) = judged(clips, ("happy", "sad", "calm"), rule).verdicts
    assert (found.verdict, found.value, found.flips) == ("fail", 0.2, 1)
    assert found.reason == "recall.sad 0.2 < 0.25; not gated: calm (no clip has it as reference)"
    record = found.as_dict()
    assert (record["metric"], record["label"], record["group"]) == ("recall", "sad", None)
    assert record["not_gated"] == [{"label": "calm", "why": "no clip has it as reference"}]
    assert (
        judged(clips, ("happy", "sad", "calm"), gate("recall", per_class=True, min=0.2)).verdicts[0].verdict == "pass"
    )


@given(emotion_clips(), st.sampled_from(["recall", "precision", "f1"]), st.floats(0, 1))
@settings(max_examples=150)
def test_a_gate_by_class_is_that_gate_on_every_label_alone(clips: list[Clip], family: str, limit: float) -> None:
    labels = (*LABELS, "calm")
    found, *alone = judged(
        clips,
        labels,
        gate(family, per_class=True, min=limit),
        *[gate(f"{family}.{name}", min=limit) for name in labels],
    ).verdicts
    supported = {clip.label for clip in clips}
    kinds = {verdict.verdict for verdict in alone if verdict.rule.metric.partition(".")[2] in supported}
    assert found.verdict == next((kind for kind in ("invalid", "fail", "pass") if kind in kinds), "invalid")
    if found.verdict == "invalid":
        return
    flips = [verdict.flips for verdict in alone if verdict.rule.metric.partition(".")[2] in supported
             and verdict.verdict == found.verdict]  # fmt: skip
    known = [count for count in flips if count is not None]
    fewest = min(known, default=None) if found.verdict == "pass" else sum(known) if None not in flips else None
    assert found.flips == fewest


def test_a_label_that_was_never_answered_has_no_precision_and_does_not_pass() -> None:
    clips = [Clip("a", "happy", RIGHT), Clip("b", "sad", RIGHT)]
    (found,) = judged(clips, LABELS, gate("precision", per_class=True, min=0.0)).verdicts
    assert (found.verdict, found.reason) == ("invalid", "precision.sad is undefined: `sad` was never answered")


def test_without_labels_there_is_nothing_to_hold() -> None:
    clips = [Clip("a", "", Ending("returned", {"outcome": "matched"}, microseconds=1))]
    (found,) = judged(clips, (), gate("recall", per_class=True, min=0.0), task="outcome").verdicts
    assert (found.verdict, found.reason) == ("invalid", "no label can be judged by recall")


# the figures every run has


@pytest.mark.parametrize(
    ("metric", "value"),
    [("clips", 20.0), ("speakers", 10.0), ("effective_speakers", 10.0), ("coverage", 0.8), ("failure_rate", 0.15),
     ("abstention_rate", 0.05), ("latency_ms.mean", 1.5), ("latency_ms.p50", 1.5), ("latency_ms.p95", 1.5)],
)  # fmt: skip
def test_figures_of_a_run_are_gated_in_their_direction(metric: str, value: float) -> None:
    clips = clips_of(("gb", 16, 16), per_speaker=2)
    clips += [Clip(f"z{n}", "happy", ending, f"gb-{8 + n // 2:03}", cells={"cohort.accent": "gb"})
              for n, ending in enumerate([FAILED, FAILED, FAILED, said()])]  # fmt: skip
    at_least = metric in ("clips", "speakers", "effective_speakers", "coverage")
    for shift, verdict in ((0.0, "pass"), (1e-9, "fail"), (-1e-9, "pass")):
        rule = gate(metric, min=value + shift) if at_least else gate(metric, max=value - shift)
        found = one(clips, rule)
        assert found.value == pytest.approx(value, rel=1e-12)
        assert found.verdict == verdict, (metric, shift)
    if "latency" not in metric:
        rule = by_accent(metric, min=value) if at_least else by_accent(metric, max=value)
        assert one(clips, rule).verdict == "pass", "one group of all clips is as good as the run"


@pytest.mark.parametrize(
    ("metric", "reason"),
    [("speakers", "no speaker column"), ("effective_speakers", "no speaker column"),
     ("latency_ms.mean", "no call returned"), ("latency_ms.p50", "no call returned"),
     ("latency_ms.p95", "no call returned"), ("latency_ms.reported", "the adapter reports no latency"),
     ("rtf", "no sound was heard")],
)  # fmt: skip
def test_a_figure_that_is_not_there_is_invalid_and_not_0(metric: str, reason: str) -> None:
    clips = [Clip("a", "happy", FAILED, cells={"cohort.accent": "gb"})]
    rule = gate(metric, min=0.0) if "speakers" in metric else gate(metric, max=9.0)
    found = one(clips, rule)
    assert (found.verdict, found.reason) == ("invalid", f"{metric} is undefined: {reason}")
    if "speakers" in metric:
        grouped = one(clips, by_accent(metric, min=0.0))
        assert grouped.reason == f"{metric} of accent “gb” is undefined: {reason}"


def test_no_planned_clip_passes_no_gate() -> None:  # H03
    rules = [by_accent(min=0.0), gap(max=1.0), gap(chance=True), gate("recall", per_class=True, min=0.0)]
    excluded = [Clip("a", "happy", RIGHT, excluded="mis-cut", cells={"cohort.accent": "gb"})]
    assert {verdict.verdict for verdict in run(excluded, *rules).verdicts} == {"invalid"}


def test_clustered_degenerate_and_lost_classes_under_gates() -> None:
    speakers = [Clip(f"{name}{n}", "happy", RIGHT if name in "ab" else WRONG, name)
                for name in "abcd" for n in range(25)]  # fmt: skip
    low, high = judged(speakers, LABELS, gate(min=0.01, bound="low"), gate(id="h", min=1.0, bound="high"),
                       interval=IntervalRule()).verdicts  # fmt: skip
    assert (low.verdict, low.value, high.verdict, high.value) == ("fail", 0.0, "pass", 1.0)  # H73
    alike = [Clip(f"{name}{n}", "happy", RIGHT, name) for name in "abcde" for n in range(4)]
    (found,) = judged(alike, LABELS, gate(min=0.5, bound="low")).verdicts  # H74
    assert (found.verdict, found.value) == ("invalid", None)
    assert found.estimate is not None
    assert found.estimate.interval is not None
    assert (found.estimate.interval.low, found.estimate.interval.high) == (1.0, 1.0)
    assert found.estimate.interval.degenerate
    labels = ("happy", "sad", "fear")
    lost = [Clip(f"{name}{label}{n}", label, said(label), name)
            for name, known in (("a", labels[:2]), ("b", labels[:2]), ("c", labels)) for label in known
            for n in range(2)]  # fmt: skip
    found = judged(lost, labels, gate("macro_f1", min=0.5, bound="low")).verdicts[0]  # H75
    assert found.verdict == "invalid"
    assert found.estimate is not None
    assert found.estimate.interval is not None
    assert found.estimate.interval.replicates_without_class["fear"] == pytest.approx(8 / 27, abs=0.15)


# what is read


def test_reports_say_which_group_decided_and_which_were_left_out() -> None:
    clips = clips_of(("gb", 9, 10), ("us", 6, 10), ("nz", 0, 1))
    result = run(clips, by_accent(min=0.7, why="Nobody is left behind."), gap(max=0.1), gap(cohort="age", max=0.1),
                 small=SmallGroups(2))  # fmt: skip
    first, second, third = (verdict_lines(result, verdict) for verdict in result.verdicts)
    assert first[0] == "gate accuracy-gate of voice: FAIL: accuracy of accent “us” 0.6 < 0.7, margin -0.1"
    assert first[1].startswith("  how sure: 95% interval 0.")
    assert first[1].endswith("(10 speakers, 10.0 effective)")
    assert first[2:] == [
        "  worst:    “us”, 10 clips, 10 speakers",
        "  not gated: “nz” (1 of 2 clips that score.small_groups asks for)",
        "  on what:  21 listed = 21 planned + 0 excluded; planned = 21 answered",
        "  flips:    1 clip would have to change to turn the verdict",
        "  why:      Nobody is left behind.",
    ]
    assert second[2:4] == ["  worst:    “us”, 10 clips, 10 speakers", "  best:     “gb”, 10 clips, 10 speakers"]
    assert third[:2] == [
        "gate accuracy-gate of voice: INVALID: score.cohorts does not name `age`",
        "  how sure: no interval: nothing was judged",
    ]
    report = markdown_report(result, TIMES)
    assert "accuracy gap of accent 0.3 &gt; 0.1 (“us” 0.6 on 10 clips, “gb” 0.9 on 10 clips); not gated: “nz”" in report
