"""What a remote model sent beside its answer, as it stands in the journal: whole, without headers or credentials."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pytest_speval.adapters.base import Response
from pytest_speval.audit.caps import usage_fault
from pytest_speval.errors import AnswerFault
from pytest_speval.evidence.canonical import canonical
from pytest_speval.suite.secret_check import names_secret
from pytest_speval.suite.secrets import Secrets

CODES = {"response-invalid": "What an adapter hands over beside its answer is no response, or no JSON."}
HEADERS = frozenset({"headers", "requestheaders", "responseheaders", "setcookie"})
"""Keys that are left out of a response at any depth, in small letters without `-` and `_`."""


def response_record(read: object, secrets: Secrets) -> dict[str, Any] | None:
    """The response beside an answer as the journal keeps it, None where there is none; raises `AnswerFault`."""
    response = getattr(read, "response", None)
    if response is None:
        return None
    if not isinstance(response, Response):
        raise AnswerFault("response-invalid", f"response is {type(response).__name__}, not Response")
    if response.usage is not None and (wrong := usage_fault(response.usage)):
        raise AnswerFault("usage-invalid", f"the adapter's usage: {wrong}")
    for name in ("request_id", "revision"):
        if not isinstance(getattr(response, name), str | None):
            raise AnswerFault("response-invalid", f"{name} is {type(getattr(response, name)).__name__}, not text")
    try:
        record = {
            "body": _bare(response.body),
            "request_id": response.request_id,
            "revision": response.revision,
            "usage": None if response.usage is None else asdict(response.usage),
        }
        canonical(record)
    except (ValueError, RecursionError) as error:
        raise AnswerFault("response-invalid", f"the response is no JSON: {error}") from error
    redacted: dict[str, Any] = secrets.redact_data(record)
    return redacted


def _bare(value: Any) -> Any:
    """A JSON value without headers and credentials."""
    if isinstance(value, dict):
        return {key: _bare(inner) for key, inner in value.items() if not _left_out(key)}
    return [_bare(item) for item in value] if isinstance(value, list | tuple) else value


def _left_out(key: object) -> bool:
    return isinstance(key, str) and (key.lower().replace("-", "").replace("_", "") in HEADERS or names_secret(key))
