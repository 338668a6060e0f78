"""`audit[budget]`: could the calls of a suite cost more than its caps allow?

Each call has a bound: one request, the clip's seconds rounded up, and the tokens that the adapter's own
`bound(seconds, text) -> Usage` says. Nothing is asked while their sum passes a cap.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import reduce
from operator import add
from typing import Any, Protocol

from pytest_speval.adapters.base import Usage, tamed
from pytest_speval.audit.caps import NOTHING, Measure, measures, overruns, usage_fault
from pytest_speval.audit.finding import Audit, Finding
from pytest_speval.corpus.contract import frames_at
from pytest_speval.corpus.roles import Cell
from pytest_speval.suite.keys import Budget

CODES = {
    "over-budget": "The calls of a suite could cost more than a cap of run.budget allows.",
    "bound-unknown": "Nobody can say what a call may cost at most.",
    "bound-invalid": "An adapter's `bound` raised, or returned what is no usage.",
    "call-bound": "What the calls of a suite cost at most.",
}


class Planned(Protocol):
    """What bounds need of a question: equally long columns over its listed clips, see `evidence.plan.Question`."""

    @property
    def planned(self) -> Sequence[int]:
        """The places of the clips that are not excluded."""

    @property
    def condemned(self) -> Mapping[int, tuple[str, str]]:
        """The places of clips that fail without a call."""

    @property
    def abstains(self) -> Collection[int]:
        """The places of clips that abstain without a call."""

    @property
    def cells(self) -> Mapping[str, Sequence[Cell]]:
        """Raw cells by role."""

    @property
    def frames(self) -> Sequence[int | None]:
        """Lengths of the stored sound in frames; empty where there is none."""

    @property
    def rates(self) -> Sequence[int | None]:
        """Sampling rates of the stored sound in Hz."""

    @property
    def audio(self) -> Mapping[str, Any] | None:
        """The audio contract as plain data, None for a task without sound."""

    def name(self, place: int) -> str:
        """A clip's name."""


@dataclass(frozen=True)
class Bounds:
    """What each call may cost at most, by the clip's place: one entry per clip that is to be asked.

    `tokens` says whether the adapter bounds its tokens. `findings` are the faults that stood in the way; a clip
    whose bound is not known has no entry and may not be asked.
    """

    by_place: Mapping[int, Usage]
    tokens: bool
    findings: tuple[Finding, ...] = ()

    @property
    def total(self) -> Usage:
        """The sum over all calls."""
        return self.over(self.by_place)

    def over(self, places: Collection[int]) -> Usage:
        """The sum over the calls for some clips; those without a bound are not asked."""
        return reduce(add, (self.by_place[place] for place in places if place in self.by_place), NOTHING)


def bounds(question: Planned, adapter: object) -> Bounds:
    """Bound every call that the question needs: none for clips that fail or abstain by a rule."""
    asked = [place for place in question.planned if not (place in question.condemned or place in question.abstains)]
    ask = getattr(adapter, "bound", None)
    found: dict[int, Usage] = {}
    unknown = []
    for place in asked:
        frames, rate = _heard(question, place)
        if question.audio is not None and not (frames and rate):
            unknown.append(question.name(place))
            continue
        ours = Usage(1, -(-frames // rate) if frames and rate else 0)
        told = ours if ask is None else _told(ask, frames / rate if frames and rate else None, _text(question, place))
        if isinstance(told, str):
            finding = Finding("error", "bound-invalid", f"the adapter's `bound`: {told}", (question.name(place),))
            return Bounds({}, True, (finding,))
        found[place] = Usage(*map(max, astuple(ours), astuple(told)))
    findings = []
    if unknown:
        message = f"{len(unknown):,} of {len(asked):,} clips have no known length"
        findings.append(Finding("error", "bound-unknown", message, tuple(unknown)))
    return Bounds(found, ask is not None, tuple(findings))


def audit_budget(limits: Bounds, budget: Budget, held: Usage = NOTHING, left: Collection[int] | None = None) -> Audit:
    """Hold the bounds of all calls against the caps.

    `held` is what the ledger holds for this question already; `left` are the places of the clips that are still to
    be asked, where that is not all of them.
    """
    findings = list(limits.findings)
    if budget.usd is not None and not limits.tokens:
        message = (
            "run.budget.usd needs an adapter with a method `bound(seconds, text) -> Usage`, which bounds its tokens"
        )
        findings.append(Finding("error", "bound-unknown", message))
    asked = limits.by_place.keys() if left is None else limits.by_place.keys() & set(left)
    who = f"the plan's {len(asked):,} calls" if len(asked) != 1 else "the plan's one call"
    findings += [
        Finding("error", "over-budget", f"{sentence}; ask fewer clips, or raise the cap")
        for sentence in overruns(held, limits.over(asked), budget, who)
    ]
    if not findings:
        findings.append(Finding("notice", "call-bound", "; ".join(budget_lines(limits, budget))))
    return Audit("budget", tuple(findings))


def budget_lines(limits: Bounds, budget: Budget, held: Usage = NOTHING) -> list[str]:
    """What is to be known before anything is bought, in one line each: requests, audio seconds, tokens, money."""
    total = limits.total
    requests, seconds, *money = zip(measures(total, budget), measures(held, budget), strict=True)
    lines = [_line(*requests), f"{_line(*seconds)}, each clip rounded up"]
    if not limits.tokens:
        return [*lines, "tokens and money unknown: the adapter has no method `bound`"]
    before = f" beside {_tokens(held)} already" if held.input_tokens or held.output_tokens else ""
    lines.append(f"at most {_tokens(total)}{before}, no cap")
    for pair in money:
        assert budget.rates is not None
        lines.append(f"{_line(*pair)}, at list prices of {budget.rates.as_of}: a bound, not an invoice")
    return lines


def _line(own: Measure, held: Measure) -> str:
    before = f" beside {held.say(held.amount)} spent or reserved already" if held.amount else ""
    cap = "no cap" if own.cap is None else f"cap {own.say(own.cap)}"
    return f"at most {own.say(own.amount)}{before}, {cap}"


def _tokens(usage: Usage) -> str:
    return f"{usage.input_tokens:,} tokens in and {usage.output_tokens:,} out"


def _heard(question: Planned, place: int) -> tuple[int | None, int | None]:
    """Frames and rate of the sound that a call may carry: a clip that is padded counts as padded."""
    if not question.frames:
        return None, None
    frames, rate = question.frames[place], question.rates[place]
    audio = question.audio or {}
    if frames is not None and rate and audio.get("short") == "pad" and audio.get("seconds"):
        frames = max(frames, frames_at(audio["seconds"][0], rate))
    return frames, rate


def _text(question: Planned, place: int) -> str | None:
    cell = question.cells["text"][place] if "text" in question.cells else None
    return cell if isinstance(cell, str) else None


def _told(ask: Callable[..., Any], seconds: float | None, text: str | None) -> Usage | str:
    """What the adapter says a call uses at most, or what is wrong with what it says."""
    try:
        told = ask(seconds, text)
        return usage_fault(told) or told
    except BaseException as error:
        tame = tamed(error)
        return f"{type(tame).__name__}: {tame}"
