"""`audit[budget]`: what calls cost at most, before anything is bought."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.adapters.base import Usage
from pytest_speval.audit.budget import Bounds, audit_budget, bounds, budget_lines
from pytest_speval.audit.caps import NOTHING
from pytest_speval.audit.finding import Audit
from pytest_speval.evidence.plan import Question
from pytest_speval.suite.keys import Budget, Rates
from tests.runs import UNATTEMPTED, Clip, question_of

LIST_PRICES = Rates(input=0.75, output=3.75, per=1_000_000, as_of=date(2026, 10, 11))
CONTRACT = {"rate": 16_000, "seconds": None, "short": "reject", "long": "reject"}


class Silent:
    """An adapter that says nothing of tokens."""


class Telling:
    """An adapter that bounds its tokens and remembers what it was asked."""

    def __init__(self, told: Any = None) -> None:
        self.asked: list[tuple[float | None, str | None]] = []
        self._told = told

    def bound(self, seconds: float | None, text: str | None) -> Any:
        self.asked.append((seconds, text))
        if isinstance(self._told, BaseException):
            raise self._told
        return self._told or Usage(input_tokens=1000 + int(32 * (seconds or 0)), output_tokens=200)


def sounds(frames: Sequence[int | None], rate: int = 16_000, **more: Any) -> Question:
    """A question about clips c0, c1, … of so many frames."""
    clips = [Clip(f"c{place}", "sad", UNATTEMPTED) for place in range(len(frames))]
    heard: dict[str, Any] = {"frames": list(frames), "rates": [rate] * len(frames), "audio": CONTRACT}
    return question_of(clips, **(heard | more))


def found(audit: Audit) -> list[tuple[str, str]]:
    return [(finding.severity, finding.code) for finding in audit.findings]


def test_each_clip_is_one_request_and_its_seconds_rounded_up() -> None:
    limits = bounds(sounds([1, 16_000, 16_001, 40_000]), Silent())
    assert limits.by_place == {0: Usage(1, 1), 1: Usage(1, 1), 2: Usage(1, 2), 3: Usage(1, 3)}
    assert limits.total == Usage(4, 7)
    assert (limits.tokens, limits.findings) == (False, ())


@given(st.lists(st.integers(1, 10**7), min_size=1, max_size=30), st.sampled_from([8000, 11_025, 16_000, 44_100]))
def test_seconds_are_the_ceiling_of_the_exact_length(frames: list[int], rate: int) -> None:
    limits = bounds(sounds(frames, rate), Silent())
    assert limits.total.audio_seconds == sum(math.ceil(length / rate) for length in frames)
    assert limits.total.requests == len(frames)


def test_a_clip_that_is_padded_counts_as_padded_and_one_that_is_cut_as_stored() -> None:
    contract = CONTRACT | {"seconds": (3.0, 5.0), "short": "pad", "long": "tail"}
    limits = bounds(sounds([8_000, 160_000], audio=contract), adapter := Telling())
    assert [usage.audio_seconds for usage in limits.by_place.values()] == [3, 10]
    assert adapter.asked == [(3.0, None), (10.0, None)]


def test_clips_that_need_no_call_have_no_bound() -> None:
    clips = [Clip(f"c{place}", "sad", UNATTEMPTED, excluded="cut" if place == 0 else None) for place in range(4)]
    asked = question_of(
        clips,
        frames=[None, 16_000, 999_999, 16_000],
        rates=[None, 16_000, 16_000, 16_000],
        audio=CONTRACT,
        condemned={2: ("too-long", "cut")},
        abstains=frozenset({3}),
    )
    assert bounds(asked, Silent()).by_place == {1: Usage(1, 1)}


def test_an_adapter_bounds_its_own_tokens_by_length_and_text() -> None:
    clips = [Clip("c0", "sad", UNATTEMPTED, cells={"text": "well"}), Clip("c1", "sad", UNATTEMPTED, cells={"text": ""})]
    written = bounds(question_of(clips), adapter := Telling())
    assert adapter.asked == [(None, "well"), (None, "")]
    assert written.total == Usage(2, 0, 2000, 400)
    heard = bounds(sounds([24_000]), adapter := Telling())
    assert adapter.asked == [(1.5, None)]
    assert heard.by_place == {0: Usage(1, 2, 1048, 200)}
    assert heard.tokens


def test_the_larger_figure_holds_where_the_adapter_and_the_plan_differ() -> None:
    assert bounds(sounds([24_000]), Telling(Usage(3, 1, 10, 20))).by_place == {0: Usage(3, 2, 10, 20)}
    assert bounds(sounds([24_000]), Telling(Usage(0, 9, 10, 20))).by_place == {0: Usage(1, 9, 10, 20)}


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ((1, 2), "the adapter's `bound`: expected a Usage, got tuple"),
        (Usage(1, 0, -5), "the adapter's `bound`: input_tokens is -5, expected a whole number from 0"),
        (Usage(1, 0, 0, math.inf), "the adapter's `bound`: output_tokens is inf, expected a whole number from 0"),  # type: ignore[arg-type]
        (RuntimeError("no table"), "the adapter's `bound`: RuntimeError: no table"),
        (SystemExit(0), "the adapter's `bound`: AdapterFault: the adapter's code raised SystemExit: 0 [adapter-left]"),
    ],
)
def test_a_bound_that_is_none_fails_the_audit_and_leaves_no_clip_to_ask(told: Any, message: str) -> None:
    limits = bounds(sounds([16_000]), Telling(told))
    assert limits.by_place == {}
    audit = audit_budget(limits, Budget())
    assert audit.failed
    assert (audit.name, audit.headline) == ("budget", message)
    assert audit.findings[0].clips == ("test/c0",)
    assert audit.findings[0].code == "bound-invalid"


def test_one_bound_that_is_none_leaves_no_clip_to_ask() -> None:
    class Fickle(Telling):
        def bound(self, seconds: float | None, text: str | None) -> Any:
            return Usage() if seconds == 1.0 else f"{text}"

    limits = bounds(sounds([16_000, 32_000]), Fickle())
    assert limits.by_place == {}
    assert [finding.clips for finding in limits.findings] == [("test/c1",)]


def test_a_bound_that_is_no_method_fails_the_audit() -> None:
    class Fixed:
        bound = Usage()

    (finding,) = bounds(sounds([16_000]), Fixed()).findings
    assert finding.message == "the adapter's `bound`: TypeError: 'Usage' object is not callable"


def test_an_interrupt_in_an_adapters_bound_is_the_users() -> None:
    with pytest.raises(KeyboardInterrupt):
        bounds(sounds([16_000]), Telling(KeyboardInterrupt()))


def test_a_clip_of_unknown_length_has_no_bound_and_fails_the_audit() -> None:
    limits = bounds(sounds([16_000, None, 16_000]), Silent())
    assert limits.by_place.keys() == {0, 2}
    (finding,) = audit_budget(limits, Budget()).findings
    assert (finding.severity, finding.code, finding.clips) == ("error", "bound-unknown", ("test/c1",))
    assert finding.message == "1 of 3 clips have no known length"


def test_a_plan_that_just_fits_its_caps_passes_and_says_what_it_may_cost() -> None:
    limits = bounds(sounds([192_000] * 600), Telling(Usage(1, 0, 1000, 200)))
    caps = Budget(requests=600, audio_seconds=7200, usd=0.9, rates=LIST_PRICES)
    audit = audit_budget(limits, caps)
    assert not audit.failed
    assert found(audit) == [("notice", "call-bound")]
    assert audit.headline == "; ".join(budget_lines(limits, caps))


@pytest.mark.parametrize(
    ("caps", "message"),
    [
        (
            Budget(requests=599),
            "run.budget.requests allows 599 requests; the plan's 600 calls may need 600 requests, 1 request over;"
            " ask fewer clips, or raise the cap",
        ),
        (
            Budget(requests=600, audio_seconds=7199),
            "run.budget.audio_seconds allows 7,199 audio seconds; the plan's 600 calls may need 7,200 audio seconds,"
            " 1 audio second over; ask fewer clips, or raise the cap",
        ),
        (
            Budget(usd=0.8999, rates=LIST_PRICES),
            "run.budget.usd allows 0.8999 USD; the plan's 600 calls may need 0.90 USD, 0.0001 USD over;"
            " ask fewer clips, or raise the cap",
        ),
    ],
)
def test_a_plan_that_passes_a_cap_fails_with_the_bound_the_cap_and_by_how_much(caps: Budget, message: str) -> None:
    audit = audit_budget(bounds(sounds([192_000] * 600), Telling(Usage(1, 0, 1000, 200))), caps)
    assert found(audit) == [("error", "over-budget")]
    assert audit.headline == message


def test_every_cap_that_is_passed_is_a_finding() -> None:
    caps = Budget(requests=1, audio_seconds=1, usd=0.0, rates=LIST_PRICES)
    audit = audit_budget(bounds(sounds([192_000] * 2), Telling()), caps)
    assert found(audit) == [("error", "over-budget")] * 3


def test_what_the_ledger_holds_counts_too() -> None:
    limits = bounds(sounds([16_000] * 3), Silent())
    assert not audit_budget(limits, Budget(requests=5), Usage(2, 2)).failed
    audit = audit_budget(limits, Budget(requests=5), Usage(3, 3))
    assert audit.headline.startswith(
        "run.budget.requests allows 5 requests; the plan's 3 calls may need 3 requests beside 3 requests spent or"
        " reserved already, 1 request over"
    )


def test_a_resumed_run_needs_only_what_is_left() -> None:
    limits = bounds(sounds([16_000] * 600), Silent())
    caps, held = Budget(requests=600), Usage(300, 300)
    assert audit_budget(limits, caps, held).failed
    assert not audit_budget(limits, caps, held, left=range(300, 600)).failed
    audit = audit_budget(limits, caps, held, left=range(299, 600))
    assert "the plan's 301 calls may need 301 requests beside 300 requests" in audit.headline
    one = audit_budget(limits, Budget(requests=300), held, left=[5])
    assert "the plan's one call may need 1 request beside 300 requests" in one.headline


def test_what_a_passed_audit_says_does_not_depend_on_the_ledger() -> None:
    limits, caps = bounds(sounds([16_000] * 3), Silent()), Budget(requests=600)
    assert audit_budget(limits, caps, Usage(3, 3), left=[]) == audit_budget(limits, caps)


def test_a_cap_on_money_needs_an_adapter_that_bounds_its_tokens() -> None:
    limits = bounds(sounds([16_000]), Silent())
    audit = audit_budget(limits, Budget(usd=5.0, rates=LIST_PRICES))
    assert found(audit) == [("error", "bound-unknown")]
    assert "method `bound(seconds, text) -> Usage`" in audit.headline
    assert not audit_budget(limits, Budget(requests=1)).failed


def test_people_read_the_bound_before_anything_is_bought() -> None:
    limits = bounds(sounds([192_000] * 600), Telling(Usage(1, 0, 2000, 100)))
    caps = Budget(requests=600, audio_seconds=7200, usd=5.0, rates=LIST_PRICES)
    assert budget_lines(limits, caps) == [
        "at most 600 requests, cap 600 requests",
        "at most 7,200 audio seconds, cap 7,200 audio seconds, each clip rounded up",
        "at most 1,200,000 tokens in and 60,000 out, no cap",
        "at most 1.125 USD, cap 5.00 USD, at list prices of 2026-10-11: a bound, not an invoice",
    ]
    assert budget_lines(limits, caps, Usage(1, 12, 2000, 0)) == [
        "at most 600 requests beside 1 request spent or reserved already, cap 600 requests",
        "at most 7,200 audio seconds beside 12 audio seconds spent or reserved already, cap 7,200 audio seconds, each"
        " clip rounded up",
        "at most 1,200,000 tokens in and 60,000 out beside 2,000 tokens in and 0 out already, no cap",
        "at most 1.125 USD beside 0.0015 USD spent or reserved already, cap 5.00 USD, at list prices of 2026-10-11:"
        " a bound, not an invoice",
    ]


def test_without_caps_and_tokens_the_lines_say_so() -> None:
    assert budget_lines(bounds(sounds([16_000]), Silent()), Budget()) == [
        "at most 1 request, no cap",
        "at most 1 audio second, no cap, each clip rounded up",
        "tokens and money unknown: the adapter has no method `bound`",
    ]


def test_nothing_to_ask_costs_nothing() -> None:
    empty = Bounds({}, tokens=True)
    assert empty.total == NOTHING
    assert not audit_budget(empty, Budget(requests=0, audio_seconds=0, usd=0.0, rates=LIST_PRICES)).failed
