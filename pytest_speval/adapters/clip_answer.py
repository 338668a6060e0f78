"""One line that a process wrote about a clip, as the answer that the clip's task expects.

A task whose method is not in `FORMS` cannot be answered by line; a new one adds its own form.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from pytest_speval.adapters.base import ClipRequest, EmotionRead, Rating, Response, Transcript, Usage, Vad
from pytest_speval.adapters.process import shown
from pytest_speval.errors import AnswerFault

CODES = {
    "not-json": "The process of a `command` adapter wrote a line that is no JSON object.",
    "reported-error": "The process of a `command` adapter answered a clip with an error of its own.",
}
BESIDE = frozenset({"latency_ms", "response", "request_id", "revision", "usage"})
"""What any answer may have beside itself."""
COUNTS = frozenset(count.name for count in fields(Usage))


@dataclass(frozen=True, slots=True)
class Form:
    """The keys of an answer to one method, and how their values, the latency in ms and the response make a read."""

    keys: frozenset[str]
    read: Callable[[Mapping[str, Any], float | None, Response | None], object]


def said_about(line: bytes, request: ClipRequest) -> dict[str, Any]:
    """The keys that are given, without split and id; null gives nothing.

    Raises `AnswerFault`: `not-json`, or `out-of-step` for another clip than the one that was asked about.
    """
    try:
        said = json.loads(line.decode(), object_pairs_hook=_unrepeated)
    except (ValueError, RecursionError) as error:
        raise AnswerFault("not-json", f"{shown(line)} is no JSON: {error}") from None
    if not isinstance(said, dict):
        raise AnswerFault("not-json", f"{shown(line)} is no JSON object with split and id")
    if (said.get("split"), said.get("id")) != (request.split, request.id):
        wanted = json.dumps({"split": request.split, "id": request.id}, ensure_ascii=False)
        raise AnswerFault("out-of-step", f"asked about {wanted}, it wrote {shown(line)}")
    return {key: value for key, value in said.items() if value is not None and key not in ("split", "id")}


def read_of(said: Mapping[str, Any], method: str) -> object:
    """What the task's method would have returned.

    Raises `AnswerFault`: `reported-error`, or `invalid-answer` for keys and values that are no answer to the method.
    """
    if "error" in said:
        raise AnswerFault("reported-error", str(said["error"]))
    form = FORMS[method]
    unknown = sorted(said.keys() - form.keys - BESIDE)
    if unknown:
        known = ", ".join(sorted(form.keys | BESIDE | {"error"}))
        raise AnswerFault("invalid-answer", f"unknown key `{unknown[0]}` in an answer; known: split, id, {known}")
    return form.read(said, said.get("latency_ms"), _response(said))


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return table


def _emotion(said: Mapping[str, Any], latency_ms: float | None, response: Response | None) -> EmotionRead:
    vad = said.get("vad")
    if vad is not None:
        if not isinstance(vad, Mapping) or vad.keys() != set(Vad._fields):
            raise AnswerFault("invalid-answer", f"vad must be an object of {', '.join(Vad._fields)}")
        vad = Vad(**vad)
    return EmotionRead(said.get("label"), said.get("scores"), vad, latency_ms, response)


def _transcript(said: Mapping[str, Any], latency_ms: float | None, response: Response | None) -> Transcript:
    if "text" not in said:
        raise AnswerFault("invalid-answer", 'the answer has no text; where nothing is heard it is ""')
    return Transcript(said["text"], latency_ms, response)


def _rating(said: Mapping[str, Any], latency_ms: float | None, response: Response | None) -> Rating:
    if "value" not in said:
        raise AnswerFault("invalid-answer", "the answer has no value; a rating is a finite number")
    return Rating(said["value"], said.get("scores"), latency_ms, response)


def _response(said: Mapping[str, Any]) -> Response | None:
    if not said.keys() & (BESIDE - {"latency_ms"}):
        return None
    request_id, revision = _text("request_id", said), _text("revision", said)
    return Response(said.get("response"), request_id, revision, _usage(said.get("usage")))


def _text(key: str, said: Mapping[str, Any]) -> str | None:
    text = said.get(key)
    if text is not None and not isinstance(text, str):
        raise AnswerFault("invalid-answer", f"{key} must be a text")
    return text


def _usage(said: object) -> Usage | None:
    if said is None:
        return None
    whole = isinstance(said, dict) and all(type(count) is int and count >= 0 for count in said.values())
    if not isinstance(said, dict) or not whole or said.keys() - COUNTS:
        raise AnswerFault("invalid-answer", f"usage must be an object of whole numbers: {', '.join(sorted(COUNTS))}")
    return Usage(**said)


FORMS: Mapping[str, Form] = {
    "classify": Form(frozenset({"label", "scores", "vad"}), _emotion),
    "transcribe": Form(frozenset({"text"}), _transcript),
    "rate": Form(frozenset({"value", "scores"}), _rating),
}
"""The task's method -> the form of an answer to it."""
