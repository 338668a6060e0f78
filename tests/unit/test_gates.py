"""A rule and an estimate make a verdict: full doubles, inclusive; what was not measured is invalid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from math import nextafter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.gates import Standing, Verdict, judge_gate, judged, told_apart
from pytest_speval.scoring.bootstrap import Interval
from pytest_speval.scoring.estimate import Estimate
from pytest_speval.suite.gate import GateRule
from tests.runs import TODAY, gate, waiver


def estimate(value: float | None, **keys: Any) -> Estimate:
    given: dict[str, Any] = {
        "n": 20,
        "unit": "clip",
        "reason": None if value is not None else "no clip came back",
    }
    return Estimate(value=value, **(given | keys))


def interval(low: float, high: float, **keys: Any) -> Interval:
    made: dict[str, Any] = {
        "level": 0.95, "unit": "speaker", "replicates": 100, "seed": 1, "clusters": 5, "effective_clusters": 4.5,
        "excluded": 0, "degenerate": False, "unreliable": True,
    }  # fmt: skip
    return Interval(low=low, high=high, **(made | keys))


def standing(
    refused: str | None = None,
    ceiling: float | None = None,
    flips: Callable[..., int | None] = lambda *_: 7,
    on: date = TODAY,
) -> Standing:
    return Standing(refused, lambda _: ceiling, flips, on)


def verdict(rule: GateRule, found: Estimate, given: Standing | None = None) -> Verdict:
    return judge_gate(rule, {rule.metric: found}, given or standing())


@pytest.mark.parametrize(
    ("value", "rule", "expected"),
    [
        (0.7, gate(min=0.7), "pass"),
        (nextafter(0.7, 0), gate(min=0.7), "fail"),
        (nextafter(0.7, 1), gate(min=0.7), "pass"),
        (0.3, gate("failure_rate", max=0.3), "pass"),
        (nextafter(0.3, 1), gate("failure_rate", max=0.3), "fail"),
        (nextafter(0.3, 0), gate("failure_rate", max=0.3), "pass"),
        (0.0, gate(min=0.0), "pass"),
        (0.0, gate("failure_rate", max=0.0), "pass"),
        (0.1 + 0.2, gate("failure_rate", max=0.3), "fail"),
    ],
)
def test_limits_are_inclusive_and_full_doubles_are_compared(value: float, rule: GateRule, expected: str) -> None:
    found = verdict(rule, estimate(value))
    assert found.verdict == expected
    assert found.blocks == (expected == "fail")
    assert found.margin == (value - rule.limit if rule.min is not None else rule.limit - value)
    assert (found.margin >= 0) == (expected == "pass")
    assert (found.reason is None) == (expected == "pass")


def test_a_number_that_rounds_up_to_the_limit_fails_and_says_so() -> None:
    value = 1265 / 1816  # H06
    found = verdict(gate(min=0.70), estimate(value))
    assert found.verdict == "fail"
    assert found.reason == "accuracy 0.69659 < 0.7"
    assert found.value == 0.6965859030837004


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        (0.6965859030837004, 0.7, ("0.69659", "0.7")),
        (0.35, 0.35, ("0.35", "0.35")),
        (0.3499999, 0.35, ("0.3499999", "0.35")),
        (0.9999999, 1.0, ("0.9999999", "1")),
        (0.0, 0.05, ("0", "0.05")),
        (-0.0, 0.0, ("0", "0")),
        (2610.0, 500.0, ("2610", "500")),
        (100001.0, 100000.0, ("100001", "100000")),
        (12345.25, 12345.0, ("12345.2", "12345")),
        (30.04, 30.0, ("30.04", "30")),
        (1e-9, 0.0, ("1e-09", "0")),
        (-0.25, 0.0, ("-0.25", "0")),
    ],
)
def test_numbers_have_as_many_digits_as_it_takes(one: float, other: float, shown: tuple[str, str]) -> None:
    assert told_apart(one, other) == shown


FINITE = st.floats(-1e300, 1e300)


@given(FINITE, st.one_of(st.none(), st.integers(-4, 4)), FINITE)
def test_unequal_numbers_are_never_shown_alike(one: float, steps: int | None, other: float) -> None:
    if steps is not None:
        other = one
        for _ in range(abs(steps)):
            other = nextafter(other, float("inf") if steps > 0 else float("-inf"))
    left, right = told_apart(one, other)
    assert (left == right) == (one == other)
    assert float(left) == pytest.approx(one, rel=1e-4, abs=1e-300)


@given(st.floats(0, 1), st.floats(0, 1), st.booleans())
def test_a_judgement_reads_as_it_is(value: float, limit: float, least: bool) -> None:
    rule = gate(min=limit) if least else gate(max=limit)
    _, left, sign, right = judged(rule, value).split()
    holds = {"<": float.__lt__, "<=": float.__le__, ">": float.__gt__, ">=": float.__ge__}[sign]
    assert holds(float(left), float(right)) or left == right
    assert (sign in ("<", ">")) == (verdict(rule, estimate(value)).verdict == "fail")


def test_an_undefined_estimate_is_invalid_with_its_reason() -> None:
    found = verdict(gate(min=0.0), estimate(None))
    assert (found.verdict, found.value, found.margin, found.flips) == ("invalid", None, None, None)
    assert found.reason == "accuracy is undefined: no clip came back"
    assert not found.blocks


@pytest.mark.parametrize("value", [0.2, 0.9, None])
def test_a_refused_run_makes_every_gate_invalid(value: float | None) -> None:
    found = verdict(gate(min=0.5, waiver=waiver()), estimate(value), standing("1 of 2,610 clips: no verdict"))
    assert (found.verdict, found.value, found.reason) == ("invalid", value, "1 of 2,610 clips: no verdict")
    assert found.waived is None
    assert not found.blocks


@pytest.mark.parametrize(("bound", "expected"), [("point", "pass"), ("low", "fail"), ("high", "pass")])
def test_a_gate_on_a_bound_reads_that_bound(bound: str, expected: str) -> None:
    found = verdict(gate(min=0.5, bound=bound), estimate(0.6, interval=interval(0.4, 0.8)))
    assert found.verdict == expected
    assert found.value == {"point": 0.6, "low": 0.4, "high": 0.8}[bound]
    if bound == "low":
        assert found.reason == "accuracy (low bound) 0.4 < 0.5"


def test_flips_are_counted_for_the_point_alone() -> None:
    asked: list[tuple[str, bool, bool]] = []

    def flips(metric: str, holds: Callable[[float], bool]) -> int:
        asked.append((metric, holds(0.5), holds(0.49)))
        return 3

    found = estimate(0.6, interval=interval(0.4, 0.8))
    assert verdict(gate(min=0.5), found, standing(flips=flips)).flips == 3
    assert verdict(gate(min=0.5, bound="low"), found, standing(flips=flips)).flips is None
    assert asked == [("accuracy", True, False)]


@pytest.mark.parametrize("bound", ["low", "high"])
@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"interval_reason": "no speaker column"}, "accuracy has no interval: no speaker column"),
        ({"interval": interval(1.0, 1.0, degenerate=True)}, "the interval of accuracy is degenerate"),
    ],
)
def test_a_bound_that_is_not_there_or_says_nothing_is_invalid(bound: str, keys: dict[str, Any], reason: str) -> None:
    found = verdict(gate(min=0.5, bound=bound, waiver=waiver()), estimate(1.0, **keys))  # H74
    assert found.verdict == "invalid"
    assert (found.reason or "").startswith(reason)
    assert found.waived is None
    assert verdict(gate(min=0.5), estimate(1.0, **keys)).verdict == "pass"


def test_an_unreliable_interval_is_a_mark_and_changes_no_verdict() -> None:
    for unreliable in (False, True):
        found = estimate(0.6, interval=interval(0.55, 0.7, unreliable=unreliable))
        assert verdict(gate(min=0.5, bound="low"), found).verdict == "pass"


def test_a_gate_above_the_ceiling_is_invalid_and_shows_both_numbers() -> None:
    found = verdict(gate("macro_f1", min=0.86), estimate(0.8), standing(ceiling=6 / 7))
    assert found.verdict == "invalid"
    assert found.reason == (
        "no answers could pass: macro_f1 reaches at most 0.85714 on these references, the gate asks 0.86"
    )
    close = verdict(gate("macro_f1", min=0.857142858), estimate(0.8), standing(ceiling=6 / 7))
    assert (close.reason or "").endswith("0.857142857 on these references, the gate asks 0.857142858")
    assert verdict(gate("macro_f1", min=6 / 7), estimate(6 / 7), standing(ceiling=6 / 7)).verdict == "pass"


@pytest.mark.parametrize(("until", "holds"), [(None, True), (TODAY, True), (TODAY + timedelta(1), True),
                                              (TODAY - timedelta(1), False), (date(2001, 1, 1), False)])  # fmt: skip
def test_a_waiver_holds_up_to_its_last_day_and_leaves_the_verdict(until: date | None, holds: bool) -> None:
    rule = gate(min=0.5, waiver=waiver(until))
    found = verdict(rule, estimate(0.4))
    text = f"known fault (release{f', until {until}' if until else ''})"
    assert found.verdict == "fail"
    assert found.blocks != holds
    assert (found.waived, found.lapsed) == ((text, None) if holds else (None, text))
    bare = verdict(replace(rule, waiver=None), estimate(0.4))
    assert (found.value, found.margin, found.flips, found.reason) == (
        0.4,
        bare.margin,
        bare.flips,
        bare.reason,
    )


def test_a_waiver_without_owner_and_date_is_its_reason_alone() -> None:
    assert verdict(gate(min=0.5, waiver=waiver(owner=None)), estimate(0.4)).waived == "known fault"


def test_a_passing_gate_needs_no_waiver() -> None:
    found = verdict(gate(min=0.5, waiver=waiver(date(2001, 1, 1))), estimate(0.6))
    assert (found.verdict, found.waived, found.lapsed) == ("pass", None, None)


def test_a_warning_keeps_its_verdict_and_stops_nothing() -> None:
    found = verdict(gate(min=0.5, level="warn"), estimate(0.4))
    assert found.verdict == "fail"
    assert not found.blocks


def test_a_verdict_is_shown_with_its_rule() -> None:
    rule = gate(min=0.5, owner="speech", waiver=waiver(TODAY))
    assert verdict(rule, estimate(0.25)).as_dict() == {
        "id": "accuracy-gate",
        "metric": "accuracy",
        "cohort": None,
        "group": None,
        "value": 0.25,
        "min": 0.5,
        "max": None,
        "bound": "point",
        "verdict": "fail",
        "reason": "accuracy 0.25 < 0.5",
        "margin": -0.25,
        "flips": 7,
        "waived": "known fault (release, until 2026-11-29)",
        "lapsed": None,
        "level": "block",
        "owner": "speech",
        "why": "made up",
    }
