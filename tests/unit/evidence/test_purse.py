"""Payments: who is asked about what says what may be asked once; what came back settles, what was given up does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_speval.adapters.base import Usage
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.ledger import Ledger, Refusal
from pytest_speval.evidence.purse import Purse, call_keys
from pytest_speval.suite.keys import Budget
from tests.unit.evidence.test_plan import question

BOUND = Usage(audio_seconds=2, input_tokens=10)


def purse(path: Path, **more: object) -> Purse:
    asked = question()
    keys = call_keys(asked)
    whole = Purse(
        Ledger(path / "ledger.sqlite"), Budget(), asked.digest, "voice/1", "voice", True, keys,
        dict.fromkeys(keys, BOUND),
    )  # fmt: skip
    return replace(whole, **more)  # type: ignore[arg-type]


def test_a_clip_with_sound_is_known_by_its_samples_and_a_text_by_its_words() -> None:
    heard = question()
    assert call_keys(heard) == call_keys(replace(heard, cells={**heard.cells, "text": ["a", "b", "c"]}))
    assert call_keys(heard) != call_keys(replace(heard, samples_sha256=["0" * 64] * 3))
    read = replace(heard, audio=None, samples_sha256=(), cells={"text": ["a", "b", "a"]})
    keys = call_keys(read)
    assert len({*keys.values()}) == len({read.cells["text"][place] for place in keys})


def test_another_model_is_another_call() -> None:
    asked = question()
    other = {**asked.adapter, "identity": {**asked.adapter["identity"], "version": "2"}}
    assert {*call_keys(asked).values()}.isdisjoint(call_keys(replace(asked, adapter=other)).values())


def test_a_call_that_came_back_is_settled_at_what_it_used_or_at_its_bound(tmp_path: Path) -> None:
    own = purse(tmp_path)
    first, second = (own.payment(place, ("test", f"c{place}"), 1) for place in list(own.keys)[:2])
    for payment in (first, second):
        payment.reserve()
    first.settle(Ending("returned", {}), {"usage": {"requests": 1, "input_tokens": 4}, "request_id": "r"})
    second.settle(Ending("failed", code="raised"), None)
    assert own.ledger.unsettled(own.scope) == []
    assert own.ledger.spent(own.scope) == Usage(2, 4, 14, 0)


@pytest.mark.parametrize("code", ["timeout", "process-died"])
def test_a_call_that_was_given_up_stays_reserved(tmp_path: Path, code: str) -> None:
    own = purse(tmp_path)
    payment = own.payment(next(iter(own.keys)), ("test", "c0"), 1)
    payment.reserve()
    payment.settle(Ending("failed", code=code), None)
    assert [entry.call.id for entry in own.ledger.unsettled(own.scope)] == ["c0"]


def test_a_reservation_that_left_no_trace_is_taken_up_by_its_own_run_alone(tmp_path: Path) -> None:
    own = purse(tmp_path)
    place = next(iter(own.keys))
    own.payment(place, ("test", "c0"), 1).reserve()
    own.payment(place, ("test", "c0"), 1).reserve()
    assert own.ledger.spent(own.scope).requests == 1
    with pytest.raises(Refusal, match="asked of this model before"):
        replace(own, run="voice/2").payment(place, ("test", "c0"), 1).reserve()
