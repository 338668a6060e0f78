"""A `command` adapter that keeps its process, against a new process for every clip; and what a deadline costs.

Both ask the same small program (it imports `json` and answers one label). The persistent side is what a worker does:
the question, the answer, its check and the journal. Rounds are interleaved, wall seconds per clip are medians. Goal: at
most 1/100 of a process per clip. The deadline of a call in this process is held against the same empty call without.

    python benchmarks/command_adapter.py [--clips 2000] [--rounds 5]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pytest_speval.adapters.command import Command
from pytest_speval.adapters.deadline import deadline
from pytest_speval.ask import Asked, Inquiry
from pytest_speval.evidence.journal import Journal
from pytest_speval.tasks.emotion import Emotion

PROGRAM = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"split": asked["split"], "id": asked["id"], "label": "calm"}), flush=True)
"""
FEW = 20
CALLS = 100_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clips", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model.py").write_text(PROGRAM)
        command = Command(argv=(sys.executable, "model.py"), folder=folder)
        clips = [Asked("test", f"c{number}", lambda: (None, 16_000)) for number in range(asked.clips)]
        journals = iter(range(1_000_000))

        def each_its_own() -> int:
            for clip in clips[:FEW]:
                question = json.dumps({"split": clip.split, "id": clip.id}) + "\n"
                done = subprocess.run(
                    [sys.executable, folder / "model.py"], input=question, capture_output=True, text=True, check=True
                )
                assert json.loads(done.stdout)["label"] == "calm"
            return FEW

        def one_for_all() -> int:
            journal = Journal(folder / f"{next(journals)}.jsonl")
            endings = list(Inquiry(command, Emotion(), journal, timeout=30).ask(clips))
            journal.close()
            assert all(ending.state == "returned" for ending in endings)
            return len(clips)

        report({"a process per clip": each_its_own, "the command adapter": one_for_all}, asked.rounds)
        command.close()
    report({"an empty call": lambda: calls(None), "with a deadline": lambda: calls(30.0)}, asked.rounds)


def calls(seconds: float | None) -> int:
    """Empty calls, each with a deadline."""

    def empty() -> None:
        return None

    for _ in range(CALLS):
        with deadline(seconds, "test/c0"):
            empty()
    return CALLS


def report(steps: dict[str, Callable[[], int]], rounds: int) -> None:
    """Time the steps in turn, each giving the number of its clips; print medians per clip and ratios to the first."""
    seen: dict[str, list[float]] = {title: [] for title in steps}
    for step in steps.values():
        step()
    for _ in range(rounds):
        for title, step in steps.items():
            started = time.perf_counter()
            count = step()
            seen[title].append((time.perf_counter() - started) / count)
    base = next(iter(steps))
    for title, runs in seen.items():
        ratio = statistics.median(run / bare for run, bare in zip(runs, seen[base], strict=True))
        said = f"x{ratio:.2f}" if ratio >= 1 else f"1/{1 / ratio:.0f}"
        print(f"{title:<24} {statistics.median(runs) * 1e6:10.1f} us wall   {said}")


if __name__ == "__main__":
    main()
