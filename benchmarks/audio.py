"""Reading, hashing and decoding clips of 3 s (16 kHz, 16-bit PCM WAVE), against hashing the file and then soundfile.

Prints microseconds a clip (best of the rounds, page cache warm) and the ratio to the baseline of the same round.
Goals: read + hash + decode at most 0.55 of the baseline; with both digests and the checks, about 150 microseconds.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import soundfile

from pytest_speval.corpus.audio import decode, read_bytes
from pytest_speval.corpus.contract import Contract, prepare
from pytest_speval.corpus.entry import resolve_entry
from pytest_speval.corpus.inspection import inspect

CONTRACT = Contract(rate=16000, seconds=(0.2, 60))


def hash_then_soundfile(path: Path) -> None:
    hashlib.sha256(path.read_bytes()).hexdigest()
    soundfile.read(path, dtype="float32")


def soundfile_alone(path: Path) -> None:
    soundfile.read(path, dtype="float32")


def decode_and_prepare(path: Path) -> None:
    prepare(decode(read_bytes(path), path.name), CONTRACT)


def decode_and_inspect(path: Path) -> None:
    inspect(decode(read_bytes(path), path.name), CONTRACT)


def resolve(path: Path) -> None:
    resolve_entry(path.parent, path.name)


STEPS: dict[str, Callable[[Path], None]] = {
    "sha256(file), then soundfile": hash_then_soundfile,
    "soundfile alone": soundfile_alone,
    "read + sha256 + decode + prepare": decode_and_prepare,
    "read + both sha256 + inspect": decode_and_inspect,
    "resolve_entry": resolve,
}


def measure(paths: list[Path], rounds: int) -> dict[str, list[float]]:
    """CPU seconds a clip of every step, one entry a round; the steps take turns within a round."""
    seconds: dict[str, list[float]] = {name: [] for name in STEPS}
    for _ in range(rounds):
        for name, step in STEPS.items():
            start = time.process_time()
            for path in paths:
                step(path)
            seconds[name].append((time.process_time() - start) / len(paths))
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{index}.wav" for index in range(options.clips)]
        for path in paths:
            soundfile.write(path, (random.standard_normal(48000) * 3000).astype(np.int16), 16000)
        seconds = measure(paths, options.rounds)
    baseline = seconds["sha256(file), then soundfile"]
    for name, rounds in seconds.items():
        ratio = float(np.median(np.array(rounds) / np.array(baseline)))
        print(f"{name:36s}{min(rounds) * 1e6:8.1f} us a clip   ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
