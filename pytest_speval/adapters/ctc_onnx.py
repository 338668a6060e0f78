"""`use: ctc-onnx`: mono float32 [1, N] to the logits [1, T, V] of an exported CTC model, decoded greedily.

A clip is heard whole and alone, without padding.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from pytest_speval.adapters.base import Identity, Transcript
from pytest_speval.adapters.ctc import ARRAYS, Pace, alphabet_of, checked_logits, json_in, tokens_by_number, transcript
from pytest_speval.adapters.onnx import SAMPLE_RATE, Floats, OnnxKeys, OnnxModel
from pytest_speval.errors import AdapterFault
from pytest_speval.scoring.ctc import Alphabet


class CtcOnnxKeys(OnnxKeys):
    """`vocabulary` is a JSON file, an object token -> number as in `vocab.json`; the numbers are the model's axis.

    `blank` and `delimiter` are two of its tokens. `zero-mean-unit-variance` is over the whole clip.
    """

    vocabulary: Path
    blank: str = "<pad>"
    delimiter: str = "|"
    normalise: Literal["none", "zero-mean-unit-variance"] = "none"
    sample_rate: int = Field(default=SAMPLE_RATE, ge=1)
    length: Literal["any"] = "any"


def zero_mean_unit_variance(pcm: Floats) -> Floats:
    """(x - mean) / sqrt(variance + 1e-7) over the whole input [N], population variance, in float32.

    As transformers' Wav2Vec2FeatureExtractor does since its release 4.5.
    """
    centred: Floats = (pcm - pcm.mean()) / np.sqrt(pcm.var() + 1e-7)
    return centred


class CtcModel(OnnxModel):
    """A session over one input [1, N] of float32 and one output [1, T, V]."""

    def __init__(self, keys: OnnxKeys, alphabet: Alphabet) -> None:
        super().__init__(keys, len(alphabet.tokens))
        self.alphabet = alphabet

    def _run(self, pcm: Floats) -> Floats:
        (output,) = self._session.run([self._output], {self._input: pcm[np.newaxis]})
        return checked_logits(output, self._width, self.path.name)

    def _check_length(self) -> None:
        node = next(node for node in self._session.get_inputs() if node.name == self._input)
        if len(node.shape) == 2 and isinstance(node.shape[1], int):
            found = f"it hears exactly {node.shape[1]} samples; export it with a free axis of time, to hear clips whole"
            raise AdapterFault("model-unusable", f"{self.path.name}: {found}")
        super()._check_length()


class CtcOnnx:
    """A recogniser over a vocabulary of signs or pieces of words."""

    arrays = ARRAYS

    def __init__(self, **keys: Any) -> None:
        self._keys = CtcOnnxKeys(**keys)
        self.sample_rate = self._keys.sample_rate
        self._model: CtcModel | None = None
        self._pace: Pace | None = None

    def identity(self) -> Identity:
        """The model file and its vocabulary; raises `AdapterFault` where that cannot be read."""
        files = (self._keys.model, self._keys.vocabulary)
        return Identity(self._keys.model.stem, files=files, components=self._read().components())

    def _read(self) -> Alphabet:
        keys = self._keys
        shown = keys.vocabulary.name
        tokens = tokens_by_number(json_in(keys.vocabulary), shown)
        if keys.delimiter not in tokens:
            found = f"{shown}: the delimiter {keys.delimiter!r} is not in the vocabulary"
            raise AdapterFault("vocabulary-unusable", found)
        return alphabet_of(tokens, keys.blank, keys.delimiter, shown)

    def warm_up(self) -> Mapping[str, Any]:
        """Open the model and hear a second of silence."""
        self._model = CtcModel(self._keys, self._read())
        return self._model.open()

    def transcribe(self, pcm: npt.NDArray[np.float32], sample_rate: int) -> Transcript:  # noqa: ARG002
        """What is said in a clip, with its arrays `input` [N], `logits` [T, V] and `argmax` [T]."""
        assert self._model is not None
        heard = zero_mean_unit_variance(pcm) if self._keys.normalise == "zero-mean-unit-variance" else pcm
        return transcript(heard, self._model.run(heard), self._model.alphabet)

    def stored_bytes(self, samples: int, sample_rate: int) -> int:  # noqa: ARG002
        """How many bytes the arrays of a clip take at most; the warm model tells on silence how fast it goes."""
        assert self._model is not None
        self._pace = self._pace or Pace.measured(self._model.run, SAMPLE_RATE)
        return self._pace.stored_bytes(samples)

    def close(self) -> None:
        """Let the model go."""
        self._model = None
