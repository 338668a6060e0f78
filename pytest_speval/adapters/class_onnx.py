"""`use: class-onnx`: 16 kHz mono float32 [1, N] to one score per declared label [1, K]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import Field, field_validator

from pytest_speval.adapters.base import EmotionRead, Identity
from pytest_speval.adapters.onnx import SAMPLE_RATE, OnnxKeys, OnnxModel


class ClassOnnxKeys(OnnxKeys):
    """`labels` is the order of the model's axis; `softmax` turns logits into scores that sum to 1."""

    labels: tuple[str, ...] = Field(min_length=2)
    softmax: bool = True

    @field_validator("labels")
    @classmethod
    def _distinct(cls, labels: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(labels)) < len(labels):
            raise ValueError("must not repeat a label")
        return labels


class ClassOnnx:
    """A classifier over a closed list of labels."""

    sample_rate = SAMPLE_RATE

    def __init__(self, **keys: Any) -> None:
        own = ClassOnnxKeys(**keys)
        self.labels = own.labels
        self._softmax = own.softmax
        self._model = OnnxModel(own, len(own.labels))

    def identity(self) -> Identity:
        """The model file."""
        return Identity(self._model.path.stem, files=(self._model.path,))

    def warm_up(self) -> Mapping[str, Any]:
        """Open the model."""
        return self._model.open()

    def classify(self, pcm: npt.NDArray[np.float32], sample_rate: int) -> EmotionRead:  # noqa: ARG002
        """The score of every label for one clip."""
        output = self._model.run(pcm).astype(np.float64)
        if self._softmax and np.isfinite(output.max()):  # what is not finite is refused as it stands
            output = np.exp(output - output.max())
            output /= output.sum()
        return EmotionRead(scores=dict(zip(self.labels, output.tolist(), strict=True)))

    def close(self) -> None:
        """Let the model go."""
        self._model.close()
