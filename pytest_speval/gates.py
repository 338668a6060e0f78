"""What follows: a rule and an estimate make a verdict.

`pass` and `fail` compare full doubles, inclusive. `invalid` says that nothing was measured on which the rule could
be judged, and why; it can be neither passed nor waived.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal

from pytest_speval.corpus.cohorts import Group
from pytest_speval.scoring.estimate import Estimate
from pytest_speval.suite.gate import GateRule, Waiver

Holds = Callable[[float], bool]
Flips = Callable[[str, Holds], int | None]


@dataclass(frozen=True, slots=True)
class Subject:
    """What a rule is held against: an estimate under its name.

    `ceiling` is the best that any answers could reach, where the references limit it. `flips` counts the clips that
    would have to change before a limit is kept no longer, or kept at last.
    """

    name: str
    estimate: Estimate
    ceiling: float | None
    flips: Callable[[Holds], int | None]

    def number(self, rule: GateRule) -> tuple[float | None, str | None]:
        """The number that a rule is held against, and why it cannot be judged on it, or None."""
        value, refusal = _number(rule, self.name, self.estimate)
        return value, refusal or _beyond_ceiling(rule, self)


@dataclass(frozen=True, slots=True)
class Standing:
    """What a gate must know of its run beside the estimate.

    `refused` says why no gate of the run can be judged, or is None.
    """

    refused: str | None
    ceiling: Callable[[str], float | None]
    flips: Flips
    on: date

    def subject(self, metric: str, estimate: Estimate) -> Subject:
        """An estimate of the whole run, to hold a rule against."""
        return Subject(metric, estimate, self.ceiling(metric), lambda holds: self.flips(metric, holds))


@dataclass(frozen=True, slots=True)
class Chance:
    """The gap that chance alone gives: the `level` quantile of gaps between groups of units that were dealt anew.

    `units` says how many there were, of the kind `unit`.
    """

    limit: float
    level: float
    simulations: int
    seed: int
    unit: str
    units: int

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as it stands in `out.json`."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Member:
    """One of those that a gate is about, by the name of its group or of its label.

    Where it is not judged, `ungated` says why. `clips` and `speakers` are those of a group.
    """

    group: Group | None = None
    label: str | None = None
    clips: int | None = None
    speakers: int | None = None
    ungated: str | None = None

    def __str__(self) -> str:
        return str(self.label if self.group is None else self.group)

    def as_dict(self) -> dict[str, Any]:
        """Plain data: the group or the label, and why it is not judged."""
        named = {"label": self.label} if self.group is None else {"group": self.group.as_dict()}
        return {**named, "why": self.ungated}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """What a gate on several groups or labels adds to its verdict.

    `told` says what was judged, or why nothing was. `worst` decided it; of a gap, `best` is at its other end. `ungated`
    were left out. `flips_reason` says why there are no flips.
    """

    told: str = ""

    worst: Member | None = None
    best: Member | None = None
    ungated: tuple[Member, ...] = ()
    chance: Chance | None = None
    flips_reason: str | None = None

    @property
    def left(self) -> str:
        """Those that were left out, and why."""
        return ", ".join(f"{member} ({member.ungated})" for member in self.ungated)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a gate says of a run.

    `margin` is the distance to the limit, negative on the wrong side. `flips` is how many clips would have to change
    to turn it. `waived` quotes a waiver in force; `lapsed` one that has expired. `p` is how often the difference from a
    baseline missed the limit, `p_adjusted` the same after the correction of its group. `estimate` is what was judged,
    None where there was nothing; `spread` is there for a gate on several groups or labels.
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
    estimate: Estimate | None = None
    spread: Spread | None = None

    @property
    def blocks(self) -> bool:
        """Say whether it stops a release."""
        return self.verdict == "fail" and self.waived is None and self.rule.level == "block"

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as it stands in `out.json`."""
        return {
            "id": self.rule.id,
            "metric": self.rule.metric,
            "cohort": self.rule.cohort,
            "group": self._group(),
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
            **self._spread(),
        }

    def _group(self) -> dict[str, Any] | None:
        worst = None if self.spread is None else self.spread.worst
        return None if worst is None or worst.group is None else worst.group.as_dict()

    def _spread(self) -> dict[str, Any]:
        """What only a gate on several groups or labels has."""
        found = self.spread
        if found is None:
            return {}
        told: dict[str, Any] = {"not_gated": [member.as_dict() for member in found.ungated]}
        if self.rule.per_class:
            told["label"] = None if found.worst is None else found.worst.label
        if self.rule.gap:
            best = None if found.best is None or found.best.group is None else found.best.group.as_dict()
            told |= {"best_group": best, "chance": None if found.chance is None else found.chance.as_dict()}
        return told | {"flips_reason": found.flips_reason}

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
    """Judge one gate on one estimate."""
    subject = standing.subject(rule.metric, estimates[rule.metric])
    value, refusal = subject.number(rule)
    refusal = standing.refused or refusal
    if refusal is not None or value is None:
        return Verdict(rule=rule, verdict="invalid", value=value, reason=refusal, estimate=subject.estimate)
    return decide(rule, subject, value, standing.on, subject.flips(rule.holds) if rule.bound == "point" else None)


def decide(rule: GateRule, subject: Subject, value: float, on: date, flips: int | None) -> Verdict:
    """The verdict on a number that can be judged."""
    passed = rule.holds(value)
    waived, lapsed = (None, None) if passed or rule.waiver is None else _waived(rule.waiver, on)
    return Verdict(
        rule=rule,
        verdict="pass" if passed else "fail",
        value=value,
        reason=None if passed else judged(rule, value, subject.name),
        margin=value - rule.limit if rule.min is not None else rule.limit - value,
        flips=flips,
        waived=waived,
        lapsed=lapsed,
        estimate=subject.estimate,
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


def _number(rule: GateRule, name: str, estimate: Estimate) -> tuple[float | None, str | None]:
    """The number a rule is held against, or why there is none."""
    if estimate.value is None:
        return None, f"{name} is undefined: {estimate.reason}"
    if rule.bound == "point":
        return estimate.value, None
    if estimate.interval is None:
        return None, f"{name} has no interval: {estimate.interval_reason}"
    if estimate.interval.degenerate:
        return None, f"the interval of {name} is degenerate: all replicates are alike"
    return (estimate.interval.low if rule.bound == "low" else estimate.interval.high), None


def _beyond_ceiling(rule: GateRule, subject: Subject) -> str | None:
    if subject.ceiling is None or rule.min is None or rule.min <= subject.ceiling:
        return None
    reach, asked = told_apart(subject.ceiling, rule.min)
    return f"no answers could pass: {subject.name} reaches at most {reach} on these references, the gate asks {asked}"


def _waived(waiver: Waiver, on: date) -> tuple[str | None, str | None]:
    """The waiver's text, as in force or as expired."""
    terms = ", ".join(([waiver.owner] if waiver.owner else []) + ([f"until {waiver.until}"] if waiver.until else []))
    text = f"{waiver.reason}{f' ({terms})' if terms else ''}"
    return (text, None) if waiver.until is None or on <= waiver.until else (None, text)


def judged(rule: GateRule, value: float, name: str | None = None) -> str:
    """`macro_f1 (low bound) 0.69659 < 0.7`: which number was held against which limit."""
    change = "" if rule.against is None else " change"
    bound = "" if rule.bound == "point" else f" ({rule.bound} bound)"
    holds = rule.holds(value)
    sign = (">=" if holds else "<") if rule.min is not None else ("<=" if holds else ">")
    return f"{name or rule.metric}{change}{bound} {f' {sign} '.join(told_apart(value, rule.limit))}"


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
