"""`use: vad-onnx`: 16 kHz mono float32 [1, N] to valence, arousal and dominance [1, 3] in a declared order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import field_validator

from pytest_speval.adapters.base import EmotionRead, Identity, Vad
from pytest_speval.adapters.onnx import SAMPLE_RATE, OnnxKeys, OnnxModel
from pytest_speval.corpus.projections import AXES


class VadOnnxKeys(OnnxKeys):
    """`outputs` is the order of the model's axis; models disagree on it, so there is no default."""

    outputs: tuple[Literal["valence", "arousal", "dominance"], ...]

    @field_validator("outputs")
    @classmethod
    def _each_axis_once(cls, outputs: tuple[str, ...]) -> tuple[str, ...]:
        if sorted(outputs) != sorted(AXES):
            raise ValueError("must name valence, arousal and dominance once each")
        return outputs


class VadOnnx:
    """A dimensional affect model."""

    sample_rate = SAMPLE_RATE

    def __init__(self, **keys: Any) -> None:
        own = VadOnnxKeys(**keys)
        self._model = OnnxModel(own, len(AXES))
        self._places = [own.outputs.index(axis) for axis in AXES]

    def identity(self) -> Identity:
        """The model file."""
        return Identity(self._model.path.stem, files=(self._model.path,))

    def warm_up(self) -> Mapping[str, Any]:
        """Open the model."""
        return self._model.open()

    def classify(self, pcm: npt.NDArray[np.float32], sample_rate: int) -> EmotionRead:  # noqa: ARG002
        """Valence, arousal and dominance of one clip."""
        output = self._model.run(pcm).tolist()
        return EmotionRead(vad=Vad(*(output[place] for place in self._places)))

    def close(self) -> None:
        """Let the model go."""
        self._model.close()
