"""A run against a baseline in each of its groups, and what got worse anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_speval.corpus.cohorts import CohortRule
from pytest_speval.judge.against import Comparison
from pytest_speval.judge.difference import Difference
from pytest_speval.judge.group import SmallGroups
from pytest_speval.judge.result import Result
from pytest_speval.judge.sample import IntervalRule
from pytest_speval.judge.shared_groups import SharedGroup
from pytest_speval.reports.against import worsened
from pytest_speval.reports.document import out_document
from pytest_speval.reports.markdown import markdown_report
from pytest_speval.reports.verdict import verdict_lines
from pytest_speval.scoring.bootstrap import draw_weights
from tests.against import BY_CLIP, LABELS, against, baseline_of, compared
from tests.runs import FAILED, TIMES, Clip, said

ACCENT = CohortRule("accent", separator="|")
BY_SPEAKER = IntervalRule(replicates=200)


def clip(name: str, reference: str, answer: str | None, accent: str | None, speaker: str | None = "s") -> Clip:
    ending = said(answer) if answer else FAILED
    return Clip(name, reference, ending, speaker, cells={"cohort.accent": accent})


def release(now: Sequence[Clip], then: Sequence[Clip], **keys: Any) -> Result:
    given: dict[str, Any] = {"cohorts": [ACCENT], "interval": BY_CLIP}
    return compared(now, baseline_of(then), **(given | keys))


def only(result: Result) -> Comparison:
    (found,) = result.comparisons
    return found


def named(result: Result) -> dict[str, SharedGroup]:
    return {str(group.group): group for group in only(result).groups}


def values(differences: Mapping[str, Difference]) -> dict[str, Any]:
    return {
        name: (found.candidate, found.baseline, found.estimate.value, found.change, found.estimate.reason)
        for name, found in differences.items()
    }


@st.composite
def releases(draw: st.DrawFn) -> tuple[list[Clip], list[Clip]]:
    """Two models on the same clips of groups that overlap; a model may fail."""
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from(LABELS),
                st.sampled_from([*LABELS, None]),
                st.sampled_from([*LABELS, None]),
                st.sampled_from(["us", "gb", "us|gb", None]),
                st.integers(0, 4),
            ),
            min_size=3,
            max_size=24,
        )
    )
    sides = [
        [
            clip(f"c{place:02}", reference, answers[which], accent, f"s{speaker}")
            for place, (reference, *answers, accent, speaker) in enumerate(rows)
        ]
        for which in (0, 1)
    ]
    return sides[0], sides[1]


@settings(max_examples=40)
@given(releases())
def test_a_groups_difference_is_that_of_a_run_of_its_clips_alone(pair: tuple[list[Clip], list[Clip]]) -> None:
    now, then = pair
    result = release(now, then[::-1], interval=BY_SPEAKER)
    for group in only(result).groups:
        own = [place for place, one in enumerate(now) if group.group in ACCENT.groups(one.cells["cohort.accent"])]
        alone = compared([now[place] for place in own], baseline_of([then[place] for place in own]))
        assert values(group.differences) == values(only(alone).differences or {})
        assert group.speakers == len({now[place].speaker for place in own})
        assert [f"c{place:02}" for place in own] == [now[place].id for place in group.clips]


@settings(max_examples=20)
@given(releases())
def test_groups_change_nothing_of_the_whole(pair: tuple[list[Clip], list[Clip]]) -> None:
    with_groups, without = (only(release(*pair, cohorts=rules)).as_dict() for rules in ([ACCENT], []))
    assert without["cohorts"] == {}
    assert with_groups["metrics"] == without["metrics"]
    assert [one for one in with_groups["worse"] if one["cohort"] is None] == without["worse"]


def test_a_groups_interval_is_over_the_draws_of_all_shared_clips() -> None:
    random = np.random.default_rng(7)
    accents = ["us", "gb"] * 20
    right = {which: random.random(40) < share for which, share in (("now", 0.5), ("then", 0.8))}
    sides = {
        which: [clip(f"c{place:02}", "sad", "sad" if hit else "calm", accents[place], f"s{place % 9}")
                for place, hit in enumerate(hits)]
        for which, hits in right.items()
    }  # fmt: skip
    found = named(release(sides["now"], sides["then"], interval=BY_SPEAKER))["“gb”"].differences["accuracy"]
    inside, speakers = np.array(accents) == "gb", np.arange(40) % 9
    change = right["now"].astype(float) - right["then"]
    expected = [
        (weights[speakers] * inside * change).sum() / (weights[speakers] * inside).sum()
        for weights in np.vstack([*draw_weights(9, 200, BY_SPEAKER.seed)])
    ]
    np.testing.assert_allclose(found.replicates, expected, atol=1e-9)
    interval = found.estimate.interval
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx(np.quantile(expected, [0.025, 0.975]).tolist(), abs=1e-9)


def spread_out(good: int, bad: int, accent: str, was: str | None = "sad", now: str | None = "sad") -> tuple[Any, Any]:
    """Clips of a group, `bad` of which changed from one answer to another."""
    names = [f"{accent}{place:03}" for place in range(good + bad)]
    before = [clip(name, "sad", "sad" if place < good else was, accent, name) for place, name in enumerate(names)]
    after = [clip(name, "sad", "sad" if place < good else now, accent, name) for place, name in enumerate(names)]
    return after, before


def mixed() -> Result:
    """Better as a whole, and surely; worse in `gb` surely, in `ie` perhaps; `nz` is too small to be shown."""
    parts = [
        spread_out(60, 60, "us", was="calm"),
        spread_out(20, 20, "gb", now="calm"),
        spread_out(29, 1, "ie", now="calm"),
        spread_out(0, 2, "nz", now="calm"),
    ]
    baseline = baseline_of([one for _, before in parts for one in before])
    return compared(
        [one for after, _ in parts for one in after],
        baseline,
        against(baseline, "accuracy", min_gain=0, bound="low"),
        against(baseline, "accuracy", id="much", min_gain=0.5),
        cohorts=[ACCENT],
        small_groups=SmallGroups(5),
    )


def test_what_got_worse_is_named_though_the_gate_passes() -> None:
    result = mixed()
    assert [verdict.verdict for verdict in result.verdicts] == ["pass", "fail"]
    told = {(one["group"] or {}).get("value"): one["sure"] for one in only(result).as_dict()["worse"]
            if one["metric"] == "accuracy"}  # fmt: skip
    assert told == {"gb": True, "ie": False}
    (line,) = worsened(result)
    sure, _, rest = line.partition("; by value alone: ")
    assert "interval excludes 0: " in sure
    assert "accuracy of accent “gb” -0.5000" in sure
    assert "accuracy of accent “ie” -0.0333" in rest
    assert f"{line}." in out_document(result, TIMES)["notes"]
    report = markdown_report(result, TIMES)
    assert "| accent “gb” | accuracy | 0.5000 | 1.0000 | -0.5000 | yes | 95% interval -0.6" in report
    assert "| accent “gb” | recall.sad | 0.5000 | 1.0000 | -0.5000 | yes |" in report, "sure, though nobody asked"
    assert "| accent “ie” | recall.sad |" not in report
    assert "| accent “ie” | accuracy | 0.9667 | 1.0000 | -0.0333 | no | 95% interval -0." in report
    assert "A difference between groups is not a cause" in report.partition("## Against")[2]


def test_a_small_group_says_nothing_anywhere() -> None:
    result = mixed()
    small = named(result)["“nz”"]
    assert small.as_dict() == {
        "group": {"kind": "named", "value": "nz", "why": None}, "clips": 2, "speakers": 2,
        "suppressed": "2 of 5 clips that score.small_groups asks for", "metrics": {},
    }  # fmt: skip
    assert all((one["group"] or {}).get("value") != "nz" for one in only(result).as_dict()["worse"])
    (row,) = (line for line in markdown_report(result, TIMES).partition("## Against")[2].splitlines() if "“nz”" in line)
    assert row == "| “nz” | 2 | 2 | — | — | — | — | — | suppressed: 2 of 5 clips that score.small\\_groups asks for |"


def test_a_group_whose_shared_clips_are_few_is_not_compared() -> None:
    now, then = spread_out(8, 0, "gb")
    result = release(now, then[:3], small_groups=SmallGroups(5))
    assert result.cohorts[0].groups[0].suppressed is None
    assert named(result)["“gb”"].suppressed == "3 of 5 clips that score.small_groups asks for"


def test_a_group_without_a_shared_clip_has_no_row() -> None:
    now, then = spread_out(8, 0, "gb")
    result = release([*now, clip("n", "sad", "sad", "ie")], then)
    assert [str(one.group) for one in result.cohorts[0].groups] == ["“gb”", "“ie”"]
    assert [*named(result)] == ["“gb”"]


def test_groups_stand_by_name_and_the_terminal_has_them_in_a_line() -> None:
    result = mixed()
    assert [*named(result)] == ["“gb”", "“ie”", "“nz”", "“us”"]
    (line,) = (line for line in verdict_lines(result, result.verdicts[1]) if line.startswith("  by accent: "))
    parts = line.removeprefix("  by accent: ").split("; ")
    assert [part.split(" (")[0] for part in parts] == [
        "“gb” -0.5000", "“ie” -0.0333", "“us” +0.5000", "1 suppressed"
    ]  # fmt: skip
    assert line.endswith("(a difference is not a cause)")


def test_clips_without_a_speaker_that_are_quarantined_are_in_no_group() -> None:
    now = [clip("a", "sad", "calm", "gb", None), clip("b", "sad", "sad", "gb", "s")]
    then = [clip("a", "sad", "sad", "gb", None), clip("b", "sad", "sad", "gb", "s")]
    group = named(release(now, then, sections={"audit": {"unknown_speakers": "quarantine"}}))["“gb”"]
    assert (len(group.clips), group.speakers) == (1, 1)
    assert group.differences["accuracy"].estimate.value == 0


def test_clips_without_a_group_are_compared_under_why_they_have_none() -> None:
    now, then = [clip("a", "sad", "sad", None)], [clip("a", "sad", "calm", None)]
    group = named(release(now, then))["no group: unavailable"]
    assert group.differences["accuracy"].change == "better"
    assert group.as_dict()["group"] == {"kind": "missing", "value": None, "why": "unavailable"}


def test_where_nothing_got_worse_the_report_says_so() -> None:
    result = release(*spread_out(5, 3, "us", was="calm"))
    assert [*worsened(result)] == []
    assert "Nothing got worse: no estimate, and no group that is shown." in markdown_report(result, TIMES)


def test_a_degenerate_interval_shows_nothing() -> None:
    result = release(*spread_out(0, 8, "us", now="calm"))
    found = named(result)["“us”"].differences["accuracy"]
    assert found.estimate.interval is not None
    assert found.estimate.interval.degenerate
    assert (found.change, found.sure) == ("worse", False)


def test_a_group_of_which_nothing_came_back_has_no_difference() -> None:
    now, then = [clip("a", "sad", None, "gb"), clip("b", "sad", "sad", "us")], [
        clip("a", "sad", "sad", "gb"), clip("b", "sad", "sad", "us")
    ]  # fmt: skip
    found = named(release(now, then))["“gb”"].differences["accuracy"]
    assert (found.estimate.value, found.estimate.reason) == (None, "no clip came back")
