"""The check of an `EmotionRead`, shared by the tasks that ask for one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

from pytest_speval.adapters.base import EmotionRead
from pytest_speval.corpus.labels import winner
from pytest_speval.corpus.projections import AXES
from pytest_speval.errors import AnswerFault


def record_emotion(read: object) -> tuple[dict[str, Any], float | None]:
    """The plain answer {label, scores, vad}, without what was not given, and the reported latency in ms.

    Raises `AnswerFault("invalid-answer", …)` for another type, a score or axis that is no finite number, a label that
    is not the winner of its scores.
    """
    if not isinstance(read, EmotionRead):
        raise _invalid(f"classify returned {type(read).__name__}, not EmotionRead")
    answer: dict[str, Any] = {}
    if read.label is not None:
        answer["label"] = _name(read.label)
    if read.scores is not None:
        answer["scores"] = _scores(read.scores)
        _check_winner(answer.get("label"), answer["scores"])
    if read.vad is not None:
        answer["vad"] = _vad(read.vad)
    return answer, reported_latency(read.latency_ms)


def reported_latency(said: object) -> float | None:
    """An adapter's own latency in ms; raises `AnswerFault("invalid-answer", …)` for what is no span of time."""
    if said is None:
        return None
    latency = _finite("latency_ms", said)
    if latency < 0:
        raise _invalid(f"latency_ms is {latency:g}: time does not run backwards")
    return latency


def _invalid(message: str) -> AnswerFault:
    return AnswerFault("invalid-answer", message)


def _name(label: object) -> str:
    if not isinstance(label, str):
        raise _invalid(f"a label is {type(label).__name__}, not a string")
    try:
        label.encode()
    except UnicodeEncodeError:
        raise _invalid(f"a label is not Unicode text: {label!r}") from None
    # Not str(label): members of a str enumeration would give their own name instead of the text they are.
    return str.__str__(label)


def _scores(scores: object) -> dict[str, float]:
    if not isinstance(scores, Mapping) or not scores:
        raise _invalid("scores must map every label to a number")
    plain = {_name(name): _finite(f"the score of `{name}`", score) for name, score in scores.items()}
    if len(plain) != len(scores):
        raise _invalid("two scores have one name")
    return plain


def _vad(vad: object) -> dict[str, float]:
    if not isinstance(vad, tuple) or len(vad) != len(AXES):
        raise _invalid("vad must be Vad(valence, arousal, dominance)")
    return {axis: _finite(axis, value) for axis, value in zip(AXES, vad, strict=True)}


def _finite(what: str, value: object) -> float:
    """A finite number as a plain float; numbers of numpy are numbers, and text, booleans and arrays are none."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise _invalid(f"{what} is {value!r}, not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _invalid(f"{what} is {number}: it must be a finite number")
    return number


def _check_winner(label: str | None, scores: Mapping[str, float]) -> None:
    if label is None:
        return
    best = winner(scores)
    tied = best is None and scores.get(label) == max(scores.values())
    if label != best and not tied:
        raise _invalid(f"the label `{label}` is not the winner of its scores, `{best or 'a tie'}`")
