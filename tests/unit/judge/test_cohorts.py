"""Cohorts: the published fixtures, and every figure against a plain recount of the group's clips."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus.cohorts import CohortRule, Group
from pytest_speval.evidence.ending import UNATTEMPTED, Ending
from pytest_speval.judge.group import CohortResult, GroupResult, SmallGroups
from pytest_speval.judge.result import Result
from pytest_speval.judge.sample import IntervalRule
from pytest_speval.reports.document import out_document
from pytest_speval.scoring.bootstrap import draw_weights
from tests.runs import FAILED, TIMES, Clip, judged, said

QUARANTINE = {"audit": {"unknown_speakers": "quarantine"}}
ACCENT = CohortRule("accent")


def tried(outcome: str) -> Ending:
    return Ending("returned", {"outcome": outcome}, microseconds=1)


def clip(name: str, outcome: str, speaker: str | None, accent: Any = "us", **cells: Any) -> Clip:
    more = {f"condition.{key}": value for key, value in cells.items()}
    return Clip(name, "", tried(outcome), cells={"speaker": speaker, "cohort.accent": accent, **more})


def run(clips: Sequence[Clip], rule: CohortRule = ACCENT, small: SmallGroups | None = None, **more: Any) -> Result:
    return judged(clips, task="outcome", cohorts=[rule], small_groups=small, sections=QUARANTINE, **more)


def cohort(result: Result) -> CohortResult:
    (found,) = result.cohorts
    return found


def named(result: Result) -> dict[str, GroupResult]:
    return {str(group.group): group for group in cohort(result).groups}


def test_three_matched_clips_of_one_and_a_failed_one_of_another() -> None:
    clips = [clip(name, "matched", "A") for name in "abc"] + [clip("d", "failed", "B")]
    result = run(clips)
    (group,) = cohort(result).groups
    assert (group.speakers, group.counts.planned, group.counts.answered) == (2, 4, 4)
    assert group.rates == {"clip": Fraction(3, 4), "speaker": Fraction(1, 2)}
    assert group.tally == {"matched": 3, "failed": 1, "unknown": 0}
    for estimates in (result.estimates, group.estimates):
        whole, by_speaker = estimates["completion"], estimates["completion_by_speaker"]
        assert (whole.value, whole.numerator, whole.denominator, whole.n, whole.unit) == (0.75, 3, 4, 4, "clip")
        assert (by_speaker.value, by_speaker.numerator, by_speaker.denominator) == (0.5, 1, 2)
        assert (by_speaker.n, by_speaker.unit) == (2, "speaker")


def test_an_unknown_speaker_is_quarantined_and_counted() -> None:
    found = cohort(run([clip("a", "matched", None)]))
    assert (found.quarantined, found.groups, found.clips, found.speakers) == (1, (), 0, 0)
    assert found.totals()["state"] == "recorded"


def test_no_group_and_an_unknown_outcome() -> None:
    (group,) = cohort(run([clip("a", "unknown", "A", ())])).groups
    assert group.group == Group(None, "unavailable")
    assert group.tally == {"matched": 0, "failed": 0, "unknown": 1}
    assert group.counts.failed == 0
    assert group.estimates["completion"].value == 0.0
    assert group.estimates["known_only.completion"].value is None
    assert group.estimates["known_only.completion"].reason == "no outcome is known"


def test_no_group_is_not_a_group_of_any_name() -> None:
    names = ["(unknown label)", "null", "no group: unavailable", None]
    result = run([clip(f"c{place}", "matched", "A", name) for place, name in enumerate(names)])
    groups = [group.group for group in cohort(result).groups]
    assert [group.value for group in groups] == ["(unknown label)", "no group: unavailable", "null", None]
    assert len({str(group) for group in groups}) == 4
    records = out_document(result, TIMES)["cohorts"]["accent"]
    assert [record["group"] for record in records][-2:] == [
        {"kind": "named", "value": "null", "why": None},
        {"kind": "missing", "value": None, "why": "unavailable"},
    ]


def test_without_planned_clips_the_state_is_empty() -> None:
    found = cohort(run([Clip("a", "", UNATTEMPTED, excluded="mis-cut", cells={"speaker": "A", "cohort.accent": "us"})]))
    assert found.totals()["state"] == "empty"
    (group,) = found.groups
    assert (group.counts.listed, group.counts.excluded, group.counts.planned) == (1, 1, 0)
    assert group.suppressed
    assert group.estimates == {}  # no rate, and not 0


def test_why_a_group_is_missing_is_part_of_it() -> None:  # H76 in our words
    rule = CohortRule("accent", missing={"n/a": "not-asked", "-": "declined"})
    accents = ["scotland", None, "indian", None, "n/a", "-"]
    clips = [clip(f"c{place}", "matched", f"S{place}", accent) for place, accent in enumerate(accents)]
    found = {(group.group.value, group.group.why): group.counts.planned for group in cohort(run(clips, rule)).groups}
    assert found == {
        ("indian", None): 1, ("scotland", None): 1, (None, "declined"): 1, (None, "not-asked"): 1,
        (None, "unavailable"): 2,
    }  # fmt: skip


def test_groups_that_share_clips_do_not_add_up_and_say_so() -> None:
    clips = [
        clip("a", "matched", "A", ("us", "gb")),
        clip("b", "failed", "A", "us"),
        clip("c", "matched", "B", "gb"),
    ]
    found = cohort(run(clips))
    assert [(str(group.group), group.counts.planned, group.speakers) for group in found.groups] == [
        ("“gb”", 2, 2), ("“us”", 2, 1)
    ]  # fmt: skip
    assert (found.clips, found.speakers, found.shared_clips, found.shared_speakers) == (3, 2, 1, 1)
    assert found.overlapping


def test_a_speaker_of_two_groups_is_shared_though_no_clip_is() -> None:
    found = cohort(run([clip("a", "matched", "A", "us"), clip("b", "matched", "A", "gb")]))
    assert (found.shared_clips, found.shared_speakers, found.overlapping) == (0, 1, True)
    apart = cohort(run([clip("a", "matched", "A", "us"), clip("b", "matched", "B", "gb")]))
    assert (apart.shared_clips, apart.shared_speakers, apart.overlapping) == (0, 0, False)
    spelt = cohort(run([clip("a", "matched", "A", "us"), clip("b", "matched", "A", ("us",))]))
    assert (len(spelt.groups), spelt.shared_speakers) == (1, 0), "two cells, one group"


@pytest.mark.parametrize(
    ("small", "reason"),
    [
        (SmallGroups(4, 2), None),
        (SmallGroups(5, 2), "4 of 5 clips that score.small_groups asks for"),
        (SmallGroups(4, 3), "2 of 3 speakers that score.small_groups asks for"),
        (SmallGroups(5, 3), "4 of 5 clips and 2 of 3 speakers that score.small_groups asks for"),
        (SmallGroups(4), None),
    ],
)
def test_a_group_that_is_too_small_has_counts_and_no_figures(small: SmallGroups, reason: str | None) -> None:
    clips = [clip(name, "matched", "A", device="phone") for name in "abc"] + [clip("d", "failed", "B", device="desk")]
    (group,) = cohort(run(clips, small=small)).groups
    assert group.suppressed == reason
    assert (group.counts.planned, group.speakers) == (4, 2)
    told = [group.tally, group.rates, group.estimates, group.conditions]
    assert all(told) if reason is None else not any(told)


def test_without_a_speaker_column_no_group_has_enough_speakers() -> None:
    clips = [Clip("a", "", tried("matched"), cells={"cohort.accent": "us"})]
    (group,) = cohort(run(clips, small=SmallGroups(1, 1))).groups
    assert group.suppressed == "no column of speakers for the 1 that score.small_groups asks for"
    (group,) = cohort(run(clips, small=SmallGroups(1))).groups
    assert (group.speakers, group.rates) == (None, {"clip": Fraction(1)})
    assert group.estimates["completion_by_speaker"].reason == "no speaker is known"


def test_conditions_are_counted_for_each_group() -> None:
    clips = [
        clip("a", "matched", "A", "us", device="phone"),
        clip("b", "matched", "A", "us", device="phone"),
        clip("c", "failed", "B", "us", device=None),
        clip("d", "failed", "C", "gb", device="desk"),
        clip("e", "failed", None, "gb", device="desk"),
    ]
    found = {
        name: [(str(value), clips) for value, clips in group.conditions["device"]]
        for name, group in named(run(clips)).items()
    }
    assert found == {"“gb”": [("“desk”", 1)], "“us”": [("“phone”", 2), ("no group: unavailable", 1)]}


def test_fractions_beyond_a_double_stand_as_text() -> None:
    primes = [101, 103, 107, 109, 113, 127, 131, 137, 139]
    clips = [
        clip(f"{prime}-{number}", "matched" if number else "failed", f"S{prime:03}")
        for prime in primes
        for number in range(prime)
    ]
    found = run(clips).estimates["completion_by_speaker"]
    exact = sum((Fraction(prime - 1, prime) for prime in primes), Fraction(0)) / len(primes)
    assert (found.numerator, found.denominator) == (exact.numerator, exact.denominator)
    assert found.as_dict()["denominator"] == str(exact.denominator)
    assert found.value == float(exact)


def test_a_cohort_that_no_clip_has_is_refused() -> None:
    with pytest.raises(ValueError, match=r"score\.cohorts names `age`, and the clips have accent"):
        run([clip("a", "matched", "A")], CohortRule("age"))


# every figure against a recount

LABELS = ("happy", "sad", "calm")
ANSWERS = [*map(said, LABELS), said(), said("joy"), FAILED]
CELLS = st.sampled_from([None, "gb", "us", ("gb", "us"), ("in", "us", "us")])


@st.composite
def emotion_clips(draw: st.DrawFn) -> list[Clip]:
    size = draw(st.integers(1, 24))
    return [
        Clip(
            f"c{number:02}",
            draw(st.sampled_from(LABELS)),
            draw(st.sampled_from(ANSWERS)),
            cells={
                "speaker": draw(st.sampled_from(["ann", "bob", "cy", "di", None])),
                "cohort.accent": draw(CELLS),
                "condition.device": draw(st.sampled_from(["phone", "desk", None])),
            },
            excluded=draw(st.sampled_from([None, None, None, "mis-cut"])),
        )
        for number in range(size)
    ]


def groups_of(cell: Any) -> set[str | None]:
    return {None} if cell is None else {cell} if isinstance(cell, str) else set(cell)


def judged_by_accent(clips: Sequence[Clip], *, quarantine: bool = False, **more: Any) -> Result:
    sections = QUARANTINE if quarantine else {}
    return judged(clips, LABELS, cohorts=[ACCENT], sections=sections, **more)


@given(emotion_clips(), st.booleans())
def test_a_groups_figures_are_those_of_a_run_of_its_clips_alone(clips: list[Clip], quarantine: bool) -> None:
    result = judged_by_accent(clips, quarantine=quarantine)
    kept = [one for one in clips if one.excluded or not quarantine or one.cells["speaker"] is not None]
    for group in cohort(result).groups:
        own = [one for one in kept if group.group.value in groups_of(one.cells["cohort.accent"])]
        alone = judged(own, LABELS)
        assert group.counts == alone.counts
        if not group.counts.planned:
            continue
        expected = {name: found for name, found in alone.estimates.items() if not name.startswith(("latency", "rtf"))}
        assert group.estimates.keys() == expected.keys()
        for name, found in group.estimates.items():
            same = (found.value, found.numerator, found.denominator, found.n, found.unit, found.reason)
            other = expected[name]
            assert same == (other.value, other.numerator, other.denominator, other.n, other.unit, other.reason), name
    named_there = {group.group.value for group in cohort(result).groups}
    assert named_there == set().union(*[groups_of(one.cells["cohort.accent"]) for one in kept]) if kept else True


VADS = [dict.fromkeys(("valence", "arousal", "dominance"), value) for value in (0.0, 0.25, 0.75)]


@given(st.lists(st.tuples(st.sampled_from([*VADS, None]), st.sampled_from(["1", "3", "4"]), CELLS), min_size=1))
def test_numbers_are_summed_by_group_as_labels_are(said_of: list[tuple[dict[str, float] | None, str, Any]]) -> None:
    clips = [
        Clip(f"c{place}", "", FAILED if vad is None else said(vad=vad), f"s{place % 3}",
             cells={"valence": cell, "cohort.accent": accent})
        for place, (vad, cell, accent) in enumerate(said_of)
    ]  # fmt: skip
    kind: dict[str, Any] = {"task": "affect", "missing": "withhold", "ranges": {"valence": (1.0, 5.0)}}
    for group in cohort(judged(clips, cohorts=[ACCENT], **kind)).groups:
        alone = judged([one for one in clips if group.group.value in groups_of(one.cells["cohort.accent"])], **kind)
        assert group.rates == {}
        for name in ("ccc.valence", "mae.valence", "answered_only.ccc.valence", "answered_only.mae.valence"):
            found, other = group.estimates[name], alone.estimates[name]
            assert (found.value, found.numerator, found.denominator, found.reason) == (
                other.value, other.numerator, other.denominator, other.reason
            )  # fmt: skip


@given(emotion_clips())
def test_rates_are_those_of_a_plain_recount(clips: list[Clip]) -> None:
    for group in cohort(judged_by_accent(clips, quarantine=True)).groups:
        own = [
            one
            for one in clips
            if one.excluded is None
            and one.cells["speaker"] is not None
            and group.group.value in groups_of(one.cells["cohort.accent"])
        ]
        right = {one.id: (one.ending.answer or {}).get("label") == one.label for one in own}
        came_back = any(one.ending.state == "returned" for one in own)
        speakers = {one.cells["speaker"] for one in own}
        assert group.speakers == len(speakers)
        if not came_back:
            assert group.rates == {}
            continue
        shares = []
        for speaker in speakers:
            theirs = [right[one.id] for one in own if one.cells["speaker"] == speaker]
            shares.append(Fraction(sum(theirs), len(theirs)))
        assert group.rates == {
            "clip": Fraction(sum(right.values()), len(own)),
            "speaker": sum(shares, Fraction(0)) / len(shares),
        }
        for value, count in group.conditions["device"]:
            assert count == sum(one.cells["condition.device"] == value.value for one in own)
        assert sum(count for _, count in group.conditions["device"]) == len(own)


@given(emotion_clips(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_group(clips: list[Clip], random: Any) -> None:
    mixed = list(clips)
    random.shuffle(mixed)
    rule = IntervalRule(replicates=20)
    first, second = (judged_by_accent(order, interval=rule) for order in (clips, mixed))
    assert first.cohorts == second.cohorts


@given(emotion_clips())
def test_cohorts_change_no_figure_of_the_whole(clips: list[Clip]) -> None:
    bare = judged(clips, LABELS)
    result = judged_by_accent(clips)
    assert (result.estimates, result.counts) == (bare.estimates, bare.counts)


@given(emotion_clips())
def test_sums_hold_in_every_group(clips: list[Clip]) -> None:
    result = judged_by_accent(clips)
    for group in cohort(result).groups:
        counts = group.counts
        assert counts.listed == counts.planned + counts.excluded
        assert counts.planned <= result.counts.planned
        assert group.suppressed is not None or sum(
            int(group.estimates[f"support.{label}"].value or 0) for label in LABELS
        ) in (0, counts.planned)


def test_a_groups_interval_is_that_of_a_plain_loop_over_the_draws_of_the_whole() -> None:
    draw = np.random.default_rng(5)
    owners, right = draw.integers(0, 9, 90), draw.random(90) < 0.6
    accents = np.where(owners >= 5, "in", draw.choice(np.array(["us", "gb", "both"]), 90))
    clips = [
        Clip(
            f"c{number:02}",
            "happy",
            said("happy" if right[number] else "sad"),
            cells={
                "speaker": f"s{owners[number]}",
                "cohort.accent": ("gb", "us") if accents[number] == "both" else str(accents[number]),
            },
        )
        for number in range(90)
    ]
    result = judged_by_accent(clips, interval=IntervalRule(replicates=300, seed=42, level=0.9))
    drawn = np.vstack(list(draw_weights(9, 300, 42)))
    for name, group in named(result).items():
        inside = (accents == name.strip("“”")) | ((accents == "both") & (name != "“in”"))
        hits, sizes = (np.bincount(owners, weights=part, minlength=9) for part in (inside & right, inside))
        with np.errstate(invalid="ignore"):
            values = (drawn @ hits) / (drawn @ sizes)
        values = values[np.isfinite(values)]
        found = group.estimates["accuracy"].interval
        assert found is not None
        assert [found.low, found.high] == pytest.approx(np.quantile(values, [0.05, 0.95]))
        assert (found.clusters, found.excluded) == (len(set(owners[inside])), 0)


def test_an_interval_of_a_group_needs_three_of_its_own_speakers() -> None:
    clips = [clip(f"c{number}", "matched", f"S{number}", "us" if number < 2 else "gb") for number in range(6)]
    groups = named(run(clips))
    assert groups["“us”"].estimates["completion"].interval_reason == "2 clusters: an interval needs 3"
    assert groups["“gb”"].estimates["completion"].interval is not None


def test_speakers_weigh_alike_in_intervals_too() -> None:
    sizes = [1, 2, 5, 9, 3, 4]
    draw = np.random.default_rng(8)
    clips, shares = [], []
    for speaker, size in enumerate(sizes):
        right = draw.random(size) < 0.5
        shares.append(right.mean())
        clips += [
            clip(f"{speaker}-{number}", "matched" if hit else "unknown", f"S{speaker}")
            for number, hit in enumerate(right)
        ]
    found = run(clips, interval=IntervalRule(replicates=200, seed=3)).estimates["completion_by_speaker"]
    values = np.vstack(list(draw_weights(6, 200, 3))) @ np.array(shares) / 6
    assert found.interval is not None
    assert [found.interval.low, found.interval.high] == pytest.approx(np.quantile(values, [0.025, 0.975]))


def test_a_label_that_a_group_lacks_needs_a_rule() -> None:
    clips = [
        Clip("a", "happy", said("happy"), cells={"speaker": "A", "cohort.accent": "us"}),
        Clip("b", "sad", said("sad"), cells={"speaker": "B", "cohort.accent": "gb"}),
    ]
    for absent, value in (("zero", 0.5), ("omit", 1.0), (None, None)):
        result = judged(clips, ("happy", "sad"), absent=absent, cohorts=[ACCENT])
        found = named(result)["“us”"].estimates["macro_f1"]
        assert found.value == value
        assert found.reason == (None if value else "no clip has sad: say `labels.absent`")
        assert result.estimates["macro_f1"].value == 1.0


def test_a_reviewer_can_rebuild_a_participant_a_quarantined_clip_and_one_of_several_groups() -> None:
    rule = CohortRule("accent", separator="|")
    clips = [
        clip("a", "matched", "A", "us", device="phone"),
        clip("b", "failed", "A", "us", device="desk"),
        clip("c", "matched", "B", "us|gb", device="phone"),
        clip("d", "unknown", None, "gb", device="phone"),
        clip("e", "unknown", "C", None, device=None),
    ]
    result = run(clips, rule)
    rows = [row.as_dict() for row in result.rows]

    def of(name: str) -> set[str]:
        return {row["id"] for row in rows if not row["quarantined"]
                and {"kind": "named", "value": name, "why": None} in row["cohorts"]["accent"]}  # fmt: skip

    assert (of("us"), of("gb")) == ({"a", "b", "c"}, {"c"})
    theirs = [row for row in rows if row["units"]["speaker"] == "A"]
    assert Fraction(sum(row["correct"] for row in theirs), len(theirs)) == Fraction(1, 2)
    (kept_out,) = [row for row in rows if row["quarantined"]]
    assert (kept_out["id"], kept_out["answer"]) == ("d", "unknown")
    assert kept_out["cohorts"] == {"accent": [{"kind": "named", "value": "gb", "why": None}]}
    assert rows[4]["cohorts"] == {"accent": [{"kind": "missing", "value": None, "why": "unavailable"}]}
    assert [row["conditions"]["device"] for row in rows] == ["phone", "desk", "phone", "phone", None]
    for group in cohort(result).groups:
        name = group.group.value
        if name is not None:
            own = [row for row in rows if row["id"] in of(name)]
            assert group.rates["clip"] == Fraction(sum(row["correct"] for row in own), len(own))
