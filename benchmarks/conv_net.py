"""A small conv net over 3 s clips: our whole path for a clip against the bare `session.run` loop.

The path is what a worker does: read, hash, hold against the audited digest, decode, bring to the contract, run, check
the answer, write the journal. The audit before it (read, hash bytes and samples, inspect) is timed apart. Rounds are
interleaved, CPU and wall seconds per clip are medians. Goal: at most 1.10 times the bare loop.

    python benchmarks/conv_net.py [--clips 200] [--rounds 5]      (needs the extras audio, onnx and the package onnx)
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import soundfile
from onnx import TensorProto, helper, numpy_helper

from pytest_speval.adapters.class_onnx import ClassOnnx
from pytest_speval.ask import Asked, Inquiry
from pytest_speval.corpus.audio import decode, read_bytes
from pytest_speval.corpus.contract import Contract
from pytest_speval.corpus.inspection import inspect
from pytest_speval.evidence.journal import Journal
from pytest_speval.plugin.hearing import Hearing
from pytest_speval.tasks.emotion import Emotion

RATE, SECONDS, LABELS = 16_000, 3, ("a", "b", "c", "d")
CHANNELS = (32, 64, 128, 128)


def small_net(path: Path) -> None:
    """A 1-D conv net of about 200 million operations for 3 s."""
    chance = np.random.default_rng(1)
    nodes = [helper.make_node("Unsqueeze", ["x", "one"], ["h0"])]
    weights = [numpy_helper.from_array(np.array([1], np.int64), "one")]
    before, name = 1, "h0"
    for layer, (channels, width, stride) in enumerate(zip(CHANNELS, (10, 8, 4, 4), (5, 4, 2, 2), strict=True)):
        kernel = chance.normal(0, 0.1, (channels, before, width)).astype(np.float32)
        weights.append(numpy_helper.from_array(kernel, f"w{layer}"))
        nodes.append(helper.make_node("Conv", [name, f"w{layer}"], [f"c{layer}"], strides=[stride]))
        nodes.append(helper.make_node("Relu", [f"c{layer}"], [f"h{layer + 1}"]))
        before, name = channels, f"h{layer + 1}"
    nodes.append(helper.make_node("GlobalAveragePool", [name], ["pooled"]))
    nodes.append(helper.make_node("Flatten", ["pooled"], ["flat"]))
    weights.append(numpy_helper.from_array(chance.normal(0, 0.1, (before, len(LABELS))).astype(np.float32), "head"))
    nodes.append(helper.make_node("MatMul", ["flat", "head"], ["y"]))
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, "n"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, len(LABELS)])],
        weights,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clips", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small_net(folder / "small.onnx")
        chance = np.random.default_rng(2)
        names = [f"{number}.wav" for number in range(asked.clips)]
        for wav in names:
            soundfile.write(folder / wav, chance.normal(0, 0.1, RATE * SECONDS), RATE, subtype="PCM_16")
        digests = [hashlib.sha256((folder / wav).read_bytes()).hexdigest() for wav in names]
        contract = Contract(rate=RATE)
        hearing = Hearing(folder, names, contract, digests)
        adapter = ClassOnnx(model=folder / "small.onnx", labels=LABELS, threads=1)
        adapter.warm_up()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(folder / "small.onnx", options, providers=["CPUExecutionProvider"])
        heard = [hearing.hear(place)[0][np.newaxis] for place in range(len(names))]
        journals = iter(range(1_000_000))

        def bare() -> None:
            for pcm in heard:
                session.run(["y"], {"x": pcm})

        def ours() -> None:
            journal = Journal(folder / f"{next(journals)}.jsonl")
            clips = [Asked("test", wav, hearing.of(place)) for place, wav in enumerate(names)]
            endings = list(Inquiry(adapter, Emotion(), journal, timeout=30).ask(clips))
            journal.close()
            assert all(ending.state == "returned" for ending in endings)

        def audit() -> None:
            for wav in names:
                inspect(decode(read_bytes(folder / wav), wav), contract)

        report({"bare session.run loop": bare, "our path": ours, "audit": audit}, asked.rounds, len(names))


def report(steps: dict[str, Callable[[], None]], rounds: int, clips: int) -> None:
    """Time the steps in turn and print medians per clip with ratios to the first."""
    seen: dict[str, list[tuple[float, float]]] = {title: [] for title in steps}
    for step in steps.values():
        step()
    for _ in range(rounds):
        for title, step in steps.items():
            cpu, wall = time.process_time(), time.perf_counter()
            step()
            seen[title].append((time.process_time() - cpu, time.perf_counter() - wall))
    base = next(iter(steps))
    for title, runs in seen.items():
        ratios = [cpu / bare for (cpu, _), (bare, _) in zip(runs, seen[base], strict=True)]
        cpu = statistics.median(cpu for cpu, _ in runs) / clips
        wall = statistics.median(wall for _, wall in runs) / clips
        print(f"{title:<24} {cpu * 1e6:8.0f} us CPU {wall * 1e6:8.0f} us wall   x{statistics.median(ratios):.3f}")


if __name__ == "__main__":
    main()
