"""What adapters of CTC models share: the file of a vocabulary, and logits as an answer with what it rests on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_speval.adapters.base import ARRAY_HEADER, Transcript
from pytest_speval.errors import AdapterFault, AnswerFault
from pytest_speval.scoring.ctc import Alphabet, best_path, spelt

CODES = {"vocabulary-unusable": "The vocabulary of a CTC model cannot be read, or does not fit the model's outputs."}
ARRAYS = ("input", "logits", "argmax")
"""What comes with every answer: float32 [N], float32 [T, V] and int32 [T]."""
Floats = npt.NDArray[np.float32]


def json_in(path: Path) -> Any:
    """The content of a JSON file; raises `AdapterFault` `vocabulary-unusable`."""
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise AdapterFault("vocabulary-unusable", f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise AdapterFault("vocabulary-unusable", f"{path} is no JSON: {error}") from error


def tokens_by_number(numbers: object, shown: str) -> tuple[str, ...]:
    """The tokens of an object token -> number in the order of their numbers.

    Raises `AdapterFault` `vocabulary-unusable` where these are not 0, 1, 2, …
    """
    if not isinstance(numbers, Mapping) or not numbers:
        raise AdapterFault("vocabulary-unusable", f"{shown} is no object of tokens and their numbers")
    tokens: dict[object, str] = {}
    for token, number in numbers.items():
        if type(number) is not int or number in tokens:
            raise AdapterFault(
                "vocabulary-unusable", f"{shown}: {token!r} has {number!r}, which is no number of its own"
            )
        tokens[number] = token
    for number in range(len(tokens)):
        if number not in tokens:
            raise AdapterFault(
                "vocabulary-unusable", f"{shown}: {len(tokens)} tokens, and none has the number {number}"
            )
    return tuple(tokens[number] for number in range(len(tokens)))


def alphabet_of(tokens: tuple[str, ...], blank: str, delimiter: str, shown: str) -> Alphabet:
    """The alphabet of a vocabulary; raises `AdapterFault` `vocabulary-unusable`."""
    try:
        return Alphabet(tokens, blank, delimiter)
    except ValueError as error:
        raise AdapterFault("vocabulary-unusable", f"{shown}: {error}") from error


def checked_logits(logits: npt.NDArray[Any], width: int, shown: str) -> Floats:
    """The logits [T, V] of one clip from a model's output [1, T, V]; raises `AnswerFault` `invalid-answer`.

    `width` is the size V of the vocabulary.
    """
    if logits.ndim != 3 or logits.shape[0] != 1 or logits.shape[2] != width:
        found = f"{shown} gave {list(logits.shape)} where [1, frames, {width}] goes with its vocabulary"
        raise AnswerFault("invalid-answer", found)
    if logits.dtype != np.float32:
        raise AnswerFault("invalid-answer", f"{shown} gave {logits.dtype}, not float32")
    if not logits.shape[1]:
        raise AnswerFault("invalid-answer", f"{shown} gave no frame: the clip is shorter than what it hears at once")
    if not np.isfinite(logits).all():
        raise AnswerFault("invalid-answer", f"{shown} gave logits that are NaN or infinite")
    rows: Floats = logits[0]
    return rows


def transcript(heard: Floats, logits: Floats, alphabet: Alphabet) -> Transcript:
    """The greedy reading of logits [T, V], with them, its path [T] and the model's input [N]."""
    path = best_path(logits)
    return Transcript(spelt(path, alphabet), arrays=dict(zip(ARRAYS, (heard, logits, path), strict=True)))


@dataclass(frozen=True, slots=True)
class Pace:
    """How many frames a model makes of `samples` and of twice as many; it has `width` logits in each."""

    samples: int
    once: int
    twice: int
    width: int

    @classmethod
    def measured(cls, logits: Callable[[Floats], Floats], samples: int) -> Pace:
        """Let a model hear silence, twice."""
        once, twice = (logits(np.zeros(length, np.float32)) for length in (samples, 2 * samples))
        return cls(samples, len(once), len(twice), once.shape[1])

    def most_frames(self, samples: int) -> int:
        """A bound of the frames for any length: they are floor((samples + c) / hop), with a hop and a c unknown."""
        more = max(0, samples - self.samples)
        return self.once + 1 + more * (self.twice - self.once + 1) // self.samples

    def stored_bytes(self, samples: int) -> int:
        """How many bytes the arrays of a clip take at most."""
        return 4 * (samples + self.most_frames(samples) * (self.width + 1)) + len(ARRAYS) * ARRAY_HEADER
