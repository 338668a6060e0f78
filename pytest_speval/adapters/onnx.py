"""One ONNX model that hears a clip: opened by its own path, checked against what the suite declares of it.

There is no other model to fall back on: a file, input, output, provider or length that does not fit is an
`AdapterFault` that names it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from pytest_speval.errors import AdapterFault, AnswerFault, MissingExtra

CODES = {
    "model-missing": "The model file does not exist.",
    "model-unusable": "The model file cannot be opened, or its inputs or outputs do not fit what the suite declares.",
    "provider-unavailable": "An execution provider the suite asks for is not there.",
    "input-too-long": "A clip is longer than a model of fixed length can hear under `rule: pad`.",
}
SAMPLE_RATE = 16_000
Floats = npt.NDArray[np.float32]


class FixedLength(BaseModel):
    """A model that hears exactly `fixed` samples.

    A shorter clip is padded with zeros at its end. A longer one fails under `pad`, is cut to its beginning under
    `trim`, and is heard in consecutive windows whose outputs are averaged under `window`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    fixed: int = Field(ge=1)
    rule: Literal["pad", "trim", "window"]


class OnnxKeys(BaseModel):
    """The keys all ONNX adapters share."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    model: Path
    input: str | None = None
    output: str | None = None
    providers: tuple[str, ...] = ("CPUExecutionProvider",)
    threads: int | None = Field(default=None, ge=1)
    length: Literal["any"] | FixedLength = "any"


def thread_share() -> int:
    """Usable cores divided by the workers of this session, at least 1."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    return max(1, len(os.sched_getaffinity(0)) // workers)


class OnnxModel:
    """A session over one input [1, N] of float32 and one output [1, width]."""

    def __init__(self, keys: OnnxKeys, width: int) -> None:
        self._keys = keys
        self._width = width
        self._session: Any = None
        self._input = self._output = ""

    @property
    def path(self) -> Path:
        """The model file."""
        return self._keys.model

    def open(self) -> dict[str, Any]:
        """Open the session and run it once on silence; returns the providers and threads it really has."""
        self._session = self._new_session()
        self._input = self._chosen("input", self._session.get_inputs(), self._keys.input)
        self._output = self._chosen("output", self._session.get_outputs(), self._keys.output)
        self._check_length()
        self._try_silence()
        options = self._session.get_session_options()
        return {"providers": self._session.get_providers(), "threads": options.intra_op_num_threads}

    def _try_silence(self) -> None:
        length = self._keys.length
        silence = np.zeros(SAMPLE_RATE if length == "any" else length.fixed, np.float32)
        try:
            self.run(silence)
        except AnswerFault as fault:
            raise AdapterFault("model-unusable", fault.message) from fault
        except Exception as error:
            found = f"{self.path.name} cannot hear {len(silence)} samples of silence: {error}"
            raise AdapterFault("model-unusable", found) from error

    def close(self) -> None:
        """Let the session go."""
        self._session = None

    def run(self, pcm: Floats) -> Floats:
        """The model's output for one clip, shape [width]; raises `AnswerFault` where its shape is another."""
        outputs = [self._run(piece) for piece in self._pieces(pcm)]
        return outputs[0] if len(outputs) == 1 else np.mean(outputs, axis=0, dtype=np.float32)

    def _run(self, pcm: Floats) -> Floats:
        (output,) = self._session.run([self._output], {self._input: pcm[np.newaxis]})
        if output.shape != (1, self._width):
            found = f"{self.path.name} gave {list(output.shape)} where [1, {self._width}] is declared"
            raise AnswerFault("invalid-answer", found)
        row: Floats = output[0]
        return row

    def _pieces(self, pcm: Floats) -> Iterator[Floats]:
        length = self._keys.length
        if length == "any":
            yield pcm
            return
        if length.rule == "pad" and len(pcm) > length.fixed:
            raise AnswerFault("input-too-long", f"{len(pcm)} samples where {self.path.name} hears {length.fixed}")
        end = length.fixed if length.rule == "trim" else max(1, len(pcm))
        for start in range(0, end, length.fixed):
            piece = pcm[start : start + length.fixed]
            yield np.pad(piece, (0, length.fixed - len(piece)))

    def _new_session(self) -> Any:
        try:
            import onnxruntime
        except ImportError as error:
            raise MissingExtra("onnx", f"running {self.path.name}") from error
        if not self.path.is_file():
            raise AdapterFault("model-missing", f"no model file {self.path}")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._keys.threads or thread_share()
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._refuse_absent(onnxruntime.get_available_providers())
        try:
            session = onnxruntime.InferenceSession(self.path, options, providers=list(self._keys.providers))
        except Exception as error:
            raise AdapterFault("model-unusable", f"{self.path} cannot be opened: {error}") from error
        self._refuse_absent(session.get_providers())
        return session

    def _refuse_absent(self, present: list[str]) -> None:
        absent = [name for name in self._keys.providers if name not in present]
        if absent:
            found = f"the provider {absent[0]} is not there; present: {', '.join(present)}"
            raise AdapterFault("provider-unavailable", found)

    def _chosen(self, side: str, present: list[Any], wanted: str | None) -> str:
        names = [node.name for node in present]
        if wanted is None and len(names) == 1:
            return str(names[0])
        if wanted in names:
            return str(wanted)
        shown = "; ".join(f"`{node.name}` {node.type} {node.shape}" for node in present)
        asked = f"{side} `{wanted}` does not exist" if wanted else f"{side} must be named"
        raise AdapterFault("model-unusable", f"{self.path.name}: {asked}; its {side}s are {shown}")

    def _check_length(self) -> None:
        node = next(node for node in self._session.get_inputs() if node.name == self._input)
        if node.type != "tensor(float)" or len(node.shape) != 2:
            found = f"its input `{node.name}` is {node.type} {node.shape}, not float32 [1, N]"
            raise AdapterFault("model-unusable", f"{self.path.name}: {found}")
        axis, length = node.shape[1], self._keys.length
        fixed = axis if isinstance(axis, int) and axis > 0 else None
        if fixed is not None and length == "any":
            found = f"it hears exactly {fixed} samples; declare `length: {{fixed: {fixed}, rule: pad|trim|window}}`"
            raise AdapterFault("model-unusable", f"{self.path.name}: {found}")
        if fixed is not None and length != "any" and length.fixed != fixed:
            raise AdapterFault("model-unusable", f"{self.path.name}: it hears {fixed} samples, not {length.fixed}")
