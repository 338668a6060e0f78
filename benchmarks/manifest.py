"""A manifest of 100,000 rows: read and listed, against a bare `csv.reader` loop into a list of tuples.

Prints CPU milliseconds (medians, interleaved) and the ratios. Goal: at most 2 times the bare loop for reading into
columns; listing adds the checks of identity, labels and paths.

    python benchmarks/manifest.py [--rows 100000] [--rounds 7]
"""

from __future__ import annotations

import argparse
import csv
import gc
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pytest_speval.corpus.clips import list_clips
from pytest_speval.corpus.entry import resolve_entry
from pytest_speval.corpus.labels import LabelRules
from pytest_speval.corpus.listing import Listing
from pytest_speval.corpus.manifest import Format, read_manifest

LABELS = ("neutral", "happy", "sad", "angry")
ROLES = {"id": ("id",), "audio": ("wav",), "label": ("label",), "speaker": ("speaker",), "session": ("session",)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "clips.csv"
        chance = random.Random(1)
        with path.open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["id", "wav", "label", "speaker", "session"])
            for number in range(asked.rows):
                speaker = chance.randrange(1000)
                table.writerow(
                    [f"c{number}", f"wav/c{number}.wav", chance.choice(LABELS), f"s{speaker}", f"d{speaker % 97}"]
                )
        rules = LabelRules(LABELS)

        def bare() -> None:
            with path.open(newline="") as file:
                rows = [tuple(row) for row in csv.reader(file)]
            assert len(rows) == asked.rows + 1

        def read() -> None:
            manifest = read_manifest(path, "clips.csv", Format())
            columns = [manifest.column(name) for name in manifest.names]
            assert len(columns[0]) == asked.rows

        def listed() -> None:
            manifest = read_manifest(path, "clips.csv", Format())
            clips = list_clips(
                manifest, Listing(ROLES), rules, ["label"], lambda entry: resolve_entry(path.parent, entry)
            )
            assert len(clips) == asked.rows

        report({"bare csv.reader loop": bare, "read into columns": read, "read and listed": listed}, asked.rounds)


def report(steps: dict[str, Callable[[], None]], rounds: int) -> None:
    """Time the steps in turn and print medians with ratios to the first."""
    seen: dict[str, list[float]] = {title: [] for title in steps}
    for _ in range(rounds):
        for title, step in steps.items():
            gc.collect()
            started = time.process_time()
            step()
            seen[title].append(time.process_time() - started)
    base = next(iter(steps))
    for title, runs in seen.items():
        ratio = statistics.median(run / bare for run, bare in zip(runs, seen[base], strict=True))
        print(f"{title:<24} {statistics.median(runs) * 1000:8.1f} ms CPU   x{ratio:.2f}")


if __name__ == "__main__":
    main()
