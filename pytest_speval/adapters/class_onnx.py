"""`use: class-onnx`: 16 kHz mono float32 [1, N] to one score per declared label [1, K]."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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


def softmax(logits: Sequence[float]) -> list[float]:
    """Logits as scores that sum to 1, faster than an array for a handful of labels; -inf is a share of nothing."""
    high = max(logits)
    powers = [math.exp(logit - high) for logit in logits]
    whole = math.fsum(powers)
    return [power / whole for power in powers]


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
        scores: list[float] = self._model.run(pcm).tolist()
        if self._softmax and math.isfinite(max(scores)) and not any(map(math.isnan, scores)):
            scores = softmax(scores)
        return EmotionRead(scores=dict(zip(self.labels, scores, strict=True)))

    def close(self) -> None:
        """Let the model go."""
        self._model.close()
