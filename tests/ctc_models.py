"""Small CTC models for tests: one that spells what it hears."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

TOKENS = ("<pad>", "|", "<unk>", "H", "E", "L", "O", "'")
SCALE = 64


def speller(
    path: Path,
    width: int = len(TOKENS),
    shape: Any = (1, "time"),
    extra: str = "Abs",
    squeeze: bool = False,
    hop: int = 1,
) -> Path:
    """A model that hears a token in every sample: its number divided by `SCALE`.

    logits[t, k] = -(SCALE x[hop t] - k)^2. `extra` is an operator of one input, whose output on x is added to them.
    """
    nodes = [
        helper.make_node("Slice", ["wav", "from", "to", "time", "hop"], ["heard"]),
        helper.make_node("Unsqueeze", ["heard", "axis"], ["column"]),
        helper.make_node("Mul", ["column", "scale"], ["number"]),
        helper.make_node("Sub", ["number", "tokens"], ["gap"]),
        helper.make_node("Mul", ["gap", "gap"], ["square"]),
        helper.make_node("Neg", ["square"], ["nearness"]),
        helper.make_node(extra, ["column"], ["extra"]),
        helper.make_node("Add", ["nearness", "extra"], ["sum"]),
        helper.make_node(*(("Squeeze", ["sum", "from"]) if squeeze else ("Identity", ["sum"])), ["logits"]),
    ]
    places = {"from": 0, "to": 2**31, "time": 1, "axis": 2, "hop": hop}
    constants: dict[str, Any] = {name: np.array([value], np.int64) for name, value in places.items()}
    constants |= {"scale": np.float32(SCALE), "tokens": np.arange(width, dtype=np.float32)}
    tensors = [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    inputs = [helper.make_tensor_value_info("wav", TensorProto.FLOAT, shape)]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def write_vocabulary(path: Path) -> Path:
    """The speller's tokens as a `vocab.json`, in an order of its own."""
    numbers = list(enumerate(TOKENS))
    path.write_text(json.dumps({token: number for number, token in reversed(numbers)}))
    return path


def sound(tokens: Sequence[str]) -> np.ndarray:
    """What the speller hears as these tokens: read-only samples."""
    pcm = np.array([TOKENS.index(token) / SCALE for token in tokens], np.float32)
    pcm.flags.writeable = False
    return pcm
