"""Gates on baselines: how much worse a run may be, how much better it must be, and how sure that is."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.gates import judged
from pytest_speval.judge.result import Result
from pytest_speval.reports.markdown import markdown_report
from pytest_speval.reports.verdict import verdict_lines
from tests.against import against, baseline_of, compared
from tests.runs import FAILED, TIMES, TODAY, Clip, said, waiver


def release(right: int, of: int = 100) -> list[Clip]:
    """Clips of which the first so many are answered rightly."""
    return [Clip(f"c{place:03}", "happy", said("happy" if place < right else "sad")) for place in range(of)]


def spoken(errors: int, words: int = 10) -> list[Clip]:
    """Ten clips of ten words; the first so many hold one error each."""
    text = " ".join("abcdefghij"[:words])
    told = [text.replace("a", "x", 1) if place < errors else text for place in range(10)]
    return [Clip(f"c{place}", "", said(text=said_), cells={"transcript": text}) for place, said_ in enumerate(told)]


@pytest.mark.parametrize(
    ("right", "keys", "verdict"),
    [
        (49, {"max_drop": 0.01}, "pass"),  # the limit itself holds, to the last digit
        (48, {"max_drop": 0.01}, "fail"),
        (50, {"max_drop": 0}, "pass"),
        (49, {"max_drop": 0}, "fail"),
        (80, {"max_drop": 0}, "pass"),
        (57, {"min_gain": 0.07}, "pass"),
        (56, {"min_gain": 0.07}, "fail"),
        (50, {"min_gain": 0}, "pass"),
    ],
)
def test_the_point_decides_where_nothing_else_is_said(right: int, keys: dict[str, float], verdict: str) -> None:
    baseline = baseline_of(release(50))
    (found,) = compared(
        release(right), baseline, against(baseline, max_drop=keys.get("max_drop"), min_gain=keys.get("min_gain"))
    ).verdicts
    assert found.verdict == verdict
    assert found.value == (right - 50) / 100
    assert found.margin == pytest.approx((right - 50) / 100 + keys.get("max_drop", 0) - keys.get("min_gain", 0))


@pytest.mark.parametrize(
    ("errors", "keys", "verdict"),
    [(6, {"max_drop": 0.01}, "pass"), (7, {"max_drop": 0.01}, "fail"), (4, {"min_gain": 0.01}, "pass"),
     (5, {"min_gain": 0.01}, "fail")],
)  # fmt: skip
def test_where_lower_is_better_a_drop_is_a_rise(errors: int, keys: dict[str, float], verdict: str) -> None:
    rules = {"run": {"missing": "worst"}, "text": {"normalizer": "none"}}
    baseline = baseline_of(spoken(5), "asr", rules)
    result = compared(
        spoken(errors),
        baseline,
        against(baseline, "wer", max_drop=keys.get("max_drop"), min_gain=keys.get("min_gain")),
        task="asr",
        rules=rules,
    )
    (found,) = result.verdicts
    assert (found.verdict, found.value) == (verdict, (errors - 5) / 100)
    assert result.comparisons[0].opinion is not None
    assert result.comparisons[0].opinion.test == "matched_pairs"
    assert len(result.comparisons[0].losses) == max(0, errors - 5)


def test_a_clip_whose_errors_were_not_counted_is_neither_won_nor_lost() -> None:
    rules = {"run": {"missing": "withhold"}, "text": {"normalizer": "none"}}
    baseline = baseline_of(spoken(5), "asr", rules)
    now = [replace(clip, ending=FAILED) if clip.id == "c0" else clip for clip in spoken(3)]
    gate = against(baseline, "wer", max_drop=1)
    result = compared(now, baseline, gate, task="asr", rules=rules, missing="withhold")
    assert result.verdicts[0].reason == "wer is undefined: 9 of 10 answered"
    (found,) = result.comparisons
    assert found.opinion is not None
    assert (len(found.wins), len(found.losses), found.opinion.n) == (2, 0, 9)


@given(st.integers(0, 40), st.integers(0, 40), st.floats(0, 0.5), st.sampled_from(["max_drop", "min_gain"]))
def test_a_verdict_follows_from_the_difference_alone(now: int, then: int, size: float, key: str) -> None:
    baseline = baseline_of(release(then, 40))
    gates = [
        against(baseline, id=bound, bound=bound, max_drop=size if key == "max_drop" else None,
                min_gain=size if key == "min_gain" else None)
        for bound in ("point", "low", "high")
    ]  # fmt: skip
    result = compared(release(now, 40), baseline, *gates)
    found = (result.comparisons[0].differences or {})["accuracy"].estimate
    limit = size if key == "min_gain" else -size
    interval = found.interval
    assert interval is not None
    values = {"point": found.value, "low": interval.low, "high": interval.high}
    for verdict in result.verdicts:
        value = values[verdict.rule.bound]
        assert value is not None
        if interval.degenerate and verdict.rule.bound != "point":
            assert verdict.verdict == "invalid"
        else:
            assert verdict.verdict == ("pass" if value >= limit else "fail")
            assert verdict.value == value


def test_flips_say_how_many_clips_of_the_candidate_would_turn_the_verdict() -> None:
    baseline = baseline_of(release(50))
    short, spare = (compared(release(right), baseline, against(baseline, max_drop=0.02)).verdicts for right in (45, 50))
    assert (short[0].flips, spare[0].flips) == (3, 3)


def test_a_gate_without_its_baseline_is_invalid_and_says_where_it_looked() -> None:
    baseline = baseline_of(release(50))
    found = compared(release(60), baseline, against(None, max_drop=0.1), against(baseline, id="b", max_drop=0.1))
    assert [(verdict.verdict, verdict.reason) for verdict in found.verdicts] == [
        ("invalid", "there is none"), ("pass", None),
    ]  # fmt: skip


def grouped(now: int, sizes: list[float], level: str | None = "g") -> Result:
    baseline = baseline_of(release(50))
    gates = [
        against(baseline, id=f"g{place}", bound="low", group=level, max_drop=size) for place, size in enumerate(sizes)
    ]
    return compared(release(now), baseline, *gates)


def test_a_correction_only_ever_makes_a_pass_harder() -> None:
    alone, together = grouped(48, [0.055], None), grouped(48, [0.055] * 5)
    assert alone.verdicts[0].verdict == "pass"
    assert [verdict.verdict for verdict in together.verdicts] == ["fail"] * 5
    verdict = together.verdicts[0]
    replicates = (together.comparisons[0].differences or {})["accuracy"].replicates
    share = (1 + np.count_nonzero(replicates < -0.055)) / (1 + len(replicates))
    assert verdict.p == pytest.approx(share)
    assert verdict.p_adjusted == pytest.approx(min(1.0, 5 * share))
    assert "in the group g, above 0.025" in (verdict.reason or "")
    assert (verdict.reason or "").startswith(judged(verdict.rule, verdict.value or 0.0))


def test_a_claim_that_is_plain_survives_the_correction() -> None:
    result = grouped(48, [0.2, 0.2, 0.01])
    assert [verdict.verdict for verdict in result.verdicts] == ["pass", "pass", "fail"]
    assert all(verdict.p_adjusted is not None for verdict in result.verdicts)


def test_what_could_not_be_judged_stays_in_its_group() -> None:
    baseline = baseline_of(release(50))
    gates = [against(baseline, id="a", bound="low", group="g", max_drop=0.2)]
    gates += [against(None, id=f"n{place}", bound="low", group="g", max_drop=0.2) for place in range(9)]
    result = compared(release(48), baseline, *gates)
    assert result.verdicts[0].p_adjusted == pytest.approx(10 * (result.verdicts[0].p or 0))
    assert result.verdicts[0].verdict == "fail"


def test_a_waiver_holds_for_a_pass_that_was_corrected_away() -> None:
    baseline = baseline_of(release(50))
    gates = [
        against(baseline, id=f"g{place}", bound="low", group="g", max_drop=0.055,
                waiver=waiver(TODAY - timedelta(days=place)))
        for place in range(2)
    ] + [against(baseline, id=f"m{place}", bound="low", group="g", max_drop=0.055) for place in range(3)]  # fmt: skip
    first, second, *_ = compared(release(48), baseline, *gates).verdicts
    assert (first.verdict, first.waived is None, first.blocks) == ("fail", False, False)
    assert (second.verdict, second.lapsed is None, second.blocks) == ("fail", False, True)


def test_reports_say_both_values_the_difference_and_the_clips() -> None:
    baseline = baseline_of(release(50))
    result = compared(release(40), baseline, against(baseline, max_drop=0.05, owner="speech"))
    lines = verdict_lines(result, result.verdicts[0])
    assert lines[0] == "gate accuracy-gate of voice: FAIL: accuracy change -0.1 < -0.05, margin -0.05"
    told = "\n".join(lines)
    for part in ("candidate 0.4000, baseline 0.5000, difference -0.1000", "100 shared, 0 new", "clips won 0, lost 10",
                 "McNemar", "smallest detectable difference"):  # fmt: skip
        assert part in told
    report = markdown_report(result, TIMES)
    assert "## Against the baseline" in report
    assert "| accuracy | 0.4000 | 0.5000 | -0.1000 | worse |" in report
    assert "| test/c040 | happy | happy | sad | 0 to 1 |" in report


def test_only_the_worst_twenty_losses_are_named_in_the_report() -> None:
    baseline = baseline_of(release(60))
    result = compared(release(20), baseline, against(baseline, max_drop=1))
    report = markdown_report(result, TIMES)
    assert report.count(" | 0 to 1 |") == 20
    assert "20 more in `out.json`".replace("`", r"\`") in report
    assert len(result.comparisons[0].losses) == 40
