"""What follows: a rule and an estimate make a verdict.

`pass` and `fail` compare full doubles, inclusive. `invalid` says that nothing was measured on which the rule could
be judged, and why; it can be neither passed nor waived.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal

from pytest_speval.scoring.estimate import Estimate
from pytest_speval.suite.gate import GateRule, Waiver

Flips = Callable[[str, Callable[[float], bool]], int | None]


@dataclass(frozen=True, slots=True)
class Standing:
    """What a gate must know of its run beside the estimate.

    `refused` says why no gate of the run can be judged, or is None.
    """

    refused: str | None
    ceiling: Callable[[str], float | None]
    flips: Flips
    on: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a gate says of a run.

    `margin` is the distance to the limit, negative on the wrong side. `flips` is how many clips would have to change
    to turn it. `waived` quotes a waiver in force; `lapsed` one that has expired. `p` is how often the difference from a
    baseline missed the limit, `p_adjusted` the same after the correction of its group.
    """

    rule: GateRule
    verdict: Literal["pass", "fail", "invalid"]
    value: float | None = None
    reason: str | None = None
    margin: float | None = None
    flips: int | None = None
    waived: str | None = None
    lapsed: str | None = None
    p: float | None = None
    p_adjusted: float | None = None

    @property
    def blocks(self) -> bool:
        """Say whether it stops a release."""
        return self.verdict == "fail" and self.waived is None and self.rule.level == "block"

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as it stands in `out.json`."""
        return {
            "id": self.rule.id,
            "metric": self.rule.metric,
            "cohort": None,
            "group": None,
            "value": self.value,
            "min": self.rule.min,
            "max": self.rule.max,
            "bound": self.rule.bound,
            "verdict": self.verdict,
            "reason": self.reason,
            "margin": self.margin,
            "flips": self.flips,
            "waived": self.waived,
            "lapsed": self.lapsed,
            "level": self.rule.level,
            "owner": self.rule.owner,
            "why": self.rule.why,
            **self._compared(),
        }

    def _compared(self) -> dict[str, Any]:
        """What only a gate on a baseline has; its `value`, `min` and `max` are those of the difference."""
        against = self.rule.against
        if against is None:
            return {}
        return {
            "baseline": against.sha256,
            "max_drop": against.max_drop,
            "min_gain": against.min_gain,
            "correction_group": against.correction_group,
            "p": self.p,
            "p_adjusted": self.p_adjusted,
        }


def judge_gate(rule: GateRule, estimates: Mapping[str, Estimate], standing: Standing) -> Verdict:
    """Judge one gate."""
    estimate = estimates[rule.metric]
    value, refusal = _judged_value(rule, estimate)
    refusal = standing.refused or refusal or _beyond_ceiling(rule, standing.ceiling(rule.metric))
    if refusal is not None or value is None:
        return Verdict(rule=rule, verdict="invalid", value=value, reason=refusal)
    passed = rule.holds(value)
    waived, lapsed = (None, None) if passed or rule.waiver is None else _waived(rule.waiver, standing.on)
    return Verdict(
        rule=rule,
        verdict="pass" if passed else "fail",
        value=value,
        reason=None if passed else judged(rule, value),
        margin=value - rule.limit if rule.min is not None else rule.limit - value,
        flips=standing.flips(rule.metric, rule.holds) if rule.bound == "point" else None,
        waived=waived,
        lapsed=lapsed,
    )


def correct(verdict: Verdict, p: float, adjusted: float, allowed: float, on: date) -> Verdict:
    """A verdict with its p-values; a pass that the correction of its group does not bear out is none."""
    verdict = replace(verdict, p=p, p_adjusted=adjusted)
    if verdict.verdict != "pass" or adjusted <= allowed:
        return verdict
    group, rule = verdict.rule.against and verdict.rule.against.correction_group, verdict.rule
    reason = f"{judged(rule, verdict.value or 0.0)}, yet p {adjusted:.4g} in the group {group}, above {allowed:.4g}"
    waived, lapsed = (None, None) if rule.waiver is None else _waived(rule.waiver, on)
    return replace(verdict, verdict="fail", reason=reason, waived=waived, lapsed=lapsed)


def _judged_value(rule: GateRule, estimate: Estimate) -> tuple[float | None, str | None]:
    """The number a rule is held against, or why there is none."""
    if estimate.value is None:
        return None, f"{rule.metric} is undefined: {estimate.reason}"
    if rule.bound == "point":
        return estimate.value, None
    if estimate.interval is None:
        return None, f"{rule.metric} has no interval: {estimate.interval_reason}"
    if estimate.interval.degenerate:
        return None, f"the interval of {rule.metric} is degenerate: all replicates are alike"
    return (estimate.interval.low if rule.bound == "low" else estimate.interval.high), None


def _beyond_ceiling(rule: GateRule, ceiling: float | None) -> str | None:
    if ceiling is None or rule.min is None or rule.min <= ceiling:
        return None
    reach, asked = told_apart(ceiling, rule.min)
    return f"no answers could pass: {rule.metric} reaches at most {reach} on these references, the gate asks {asked}"


def _waived(waiver: Waiver, on: date) -> tuple[str | None, str | None]:
    """The waiver's text, as in force or as expired."""
    terms = ", ".join(([waiver.owner] if waiver.owner else []) + ([f"until {waiver.until}"] if waiver.until else []))
    text = f"{waiver.reason}{f' ({terms})' if terms else ''}"
    return (text, None) if waiver.until is None or on <= waiver.until else (None, text)


def judged(rule: GateRule, value: float) -> str:
    """`macro_f1 (low bound) 0.69659 < 0.7`: which number was held against which limit."""
    change = "" if rule.against is None else " change"
    bound = "" if rule.bound == "point" else f" ({rule.bound} bound)"
    holds = rule.holds(value)
    sign = (">=" if holds else "<") if rule.min is not None else ("<=" if holds else ">")
    return f"{rule.metric}{change}{bound} {f' {sign} '.join(told_apart(value, rule.limit))}"


def told_apart(one: float, other: float) -> tuple[str, str]:
    """Two numbers with five digits, or as many as it takes for unequal ones to differ; whole ones in full."""
    for digits in range(5, 18):
        shown = _digits(one, digits), _digits(other, digits)
        if shown[0] != shown[1] or one == other:
            break
    return shown


def _digits(number: float, digits: int) -> str:
    whole = float(number).is_integer() and abs(number) < 2**53
    return f"{number + 0.0:.0f}" if whole else f"{number:.{digits}g}"
