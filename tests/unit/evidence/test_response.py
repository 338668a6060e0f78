"""What stands beside an answer: kept whole, without headers, credentials or anything that is no JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_speval import EmotionRead, Response, Usage
from pytest_speval.errors import AnswerFault
from pytest_speval.evidence.response import response_record
from pytest_speval.suite.secrets import NO_SECRETS

BODY = {"id": "r1", "choices": [{"text": "happy", "logprob": -0.25}], "usage": {"prompt_tokens": 12}}


def record(response: Any) -> dict[str, Any] | None:
    return response_record(EmotionRead(label="happy", response=response), NO_SECRETS)


def test_an_answer_without_a_response_has_no_record() -> None:
    assert record(None) is None
    assert response_record("no read at all", NO_SECRETS) is None


def test_a_response_is_kept_whole_and_a_missing_revision_stays_null() -> None:
    kept = record(Response(BODY, "req-7", None, Usage(input_tokens=12)))
    assert kept == {
        "body": BODY,
        "request_id": "req-7",
        "revision": None,
        "usage": {"requests": 1, "audio_seconds": 0, "input_tokens": 12, "output_tokens": 0},
    }


@pytest.mark.parametrize(
    "name", ["headers", "Response-Headers", "authorization", "Set-Cookie", "api_key", "X-Api-Key", "access_token"]
)
def test_headers_and_credentials_are_left_out_at_any_depth(name: str) -> None:
    body = {"a": [{name: "Bearer 123", "kept": 1}], name: {"x": "123"}}
    kept = record(Response(body))
    assert kept is not None
    assert kept["body"] == {"a": [{"kept": 1}]}


def test_counts_of_tokens_are_no_credentials() -> None:
    kept = record(Response({"tokens": 5, "prompt_tokens": 3, "token_count": 8}))
    assert kept is not None
    assert kept["body"] == {"tokens": 5, "prompt_tokens": 3, "token_count": 8}


def changed(**fields: Any) -> Response:
    return replace(Response(BODY), **fields)


@pytest.mark.parametrize(
    ("response", "code"),
    [
        ({"body": 1}, "response-invalid"),
        (changed(body={"x": float("nan")}), "response-invalid"),
        (changed(body={1, 2}), "response-invalid"),
        (changed(body={"x": b"bytes"}), "response-invalid"),
        (changed(request_id=7), "response-invalid"),
        (changed(revision=["v1"]), "response-invalid"),
        (changed(usage={"requests": 1}), "usage-invalid"),
        (changed(usage=Usage(input_tokens=-1)), "usage-invalid"),
    ],
)
def test_what_is_no_response_is_no_answer(response: Any, code: str) -> None:
    with pytest.raises(AnswerFault) as caught:
        record(response)
    assert caught.value.code == code


def test_a_body_that_nests_without_end_is_no_response() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(AnswerFault, match="is no JSON"):
        record(Response(endless))
