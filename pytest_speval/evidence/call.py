"""One call that costs, or that may be made only once: who is asked about what, and what it used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Any

from pytest_speval.adapters.base import Usage
from pytest_speval.audit.caps import usage_fault
from pytest_speval.errors import AnswerFault
from pytest_speval.evidence.canonical import digest

CODES = {"usage-invalid": "An adapter reported a usage that is none."}


@dataclass(frozen=True, slots=True)
class Call:
    """One call for one clip.

    `key` is what may be asked only once, see `call_key`; `scope` is the digest of the question, over which caps
    count; `run` is the run folder. A run that asks a clip again counts `attempt` up.
    """

    key: str
    scope: str
    run: str
    suite: str
    split: str
    id: str
    once: bool
    attempt: int = 1

    @property
    def clip(self) -> str:
        """`split/id`."""
        return f"{self.split}/{self.id}"


@dataclass(frozen=True, slots=True)
class Entry:
    """A call as the ledger holds it; `usage` is None while nobody knows whether it came back. Times are ISO 8601."""

    call: Call
    bound: Usage
    usage: Usage | None
    request_id: str | None
    reserved: str
    settled: str | None


def call_key(identity: Mapping[str, Any], samples_sha256: str | None = None, text: str | None = None) -> str:
    """The digest of who is asked about what: a model's identity with its files' digests, and what it is given."""
    if samples_sha256 is None and text is None:
        raise ValueError("a call is about samples, a text, or both")
    return digest({"identity": dict(identity), "samples_sha256": samples_sha256, "text": text})


def came_back(bound: Usage, told: Usage | None) -> Usage:
    """What a call counts that came back: what its adapter told, and the bound for each figure that it left at 0.

    An adapter that reports tokens alone has still sent one request with the whole clip. Raises
    `AnswerFault("usage-invalid", …)`.
    """
    if told is None:
        return bound
    if wrong := usage_fault(told):
        raise AnswerFault("usage-invalid", f"the adapter's usage: {wrong}")
    return Usage(*(said or most for said, most in zip(astuple(told), astuple(bound), strict=True)))
