"""Evidence: what the journal costs, how fast it is read back, and how long a finished run takes to verify.

Prints medians over the rounds. Goals: the journal at most 1.5 times the CPU of making the same chained lines and
handing each to `os.write`; 200,000 records reopened (read, chain checked, endings found) within 3 s; `speval verify`
of 10,000 clips, the whole process, within 2 s.

    python benchmarks/evidence.py [--records 200000] [--clips 10000] [--rounds 5]
"""

from __future__ import annotations

import argparse
import array
import csv
import gc
import hashlib
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import wave
from collections.abc import Callable
from pathlib import Path

from pytest_speval.evidence.canonical import canonical, value_of
from pytest_speval.evidence.ending import Ending, endings_of
from pytest_speval.evidence.journal import START, Journal, read_journal
from pytest_speval.evidence.plan import Question

LABELS = ("neutral", "happy", "sad", "angry")
ADAPTER = """
from pytest_speval import EmotionRead

class Mine:
    sample_rate = 16000

    def classify(self, pcm, sample_rate):
        place = round(float(pcm[0]) * 32768) % 4
        labels = ["neutral", "happy", "sad", "angry"]
        return EmotionRead(scores={label: 0.7 if at == place else 0.1 for at, label in enumerate(labels)})

def pytest_speval_adapters():
    return {"mine": Mine}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--clips", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        time_journal(folder, asked.records // 2, asked.rounds)
        make_run(folder, asked.clips)
        time_verification(folder, asked.clips, asked.rounds)


def time_journal(folder: Path, clips: int, rounds: int) -> None:
    """Write two records per clip in three ways, then read them back."""
    path, chance = folder / "journal.jsonl", random.Random(1)
    ids = [f"clip{number:06d}" for number in range(clips)]
    answers = [
        Ending("returned", {"scores": {label: chance.random() for label in LABELS}}, microseconds=1500 + number)
        for number in range(clips)
    ]

    def journal() -> None:
        path.unlink(missing_ok=True)
        kept = Journal(path)
        for name, ending in zip(ids, answers, strict=True):
            kept.entered("test", name)
            kept.returned("test", name, ending)
        kept.close()

    journal()
    lines = path.read_bytes().splitlines(keepends=True)
    events = [{key: value for key, value in value_of(line).items() if key != "prev"} for line in lines]

    def bare() -> None:
        path.unlink(missing_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        for line in lines:
            os.write(file, line)
        os.close(file)

    def made() -> None:
        path.unlink(missing_ok=True)
        file, head = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), START
        for event in events:
            text = canonical(event | {"prev": head})
            head = hashlib.sha256(text).hexdigest()
            os.write(file, text + b"\n")
        os.close(file)

    question = Question("emotion", {}, {"recorded": False}, ["test"] * clips, ids, True, {}, [None] * clips)

    def reopen() -> None:
        found = endings_of(question, read_journal(path))
        assert all(ending.state == "returned" for ending in found)

    cpu = times({"os.write of finished lines": bare, "lines made and os.write": made, "journal": journal}, rounds)
    for title, seconds in cpu.items():
        print(f"{title:<28} {seconds / len(lines) * 1e6:8.2f} us CPU a record")
    made_, bare_ = cpu["lines made and os.write"], cpu["os.write of finished lines"]
    print(f"journal / lines made         {cpu['journal'] / made_:8.2f} (goal 1.5)")
    print(f"journal / finished lines     {cpu['journal'] / bare_:8.2f}")
    seconds = times({"reopen": reopen}, rounds)["reopen"]
    print(f"{len(lines):,} records reopened   {seconds:8.2f} s CPU (goal 3 for 200,000)")


def times(steps: dict[str, Callable[[], None]], rounds: int) -> dict[str, float]:
    """Median CPU seconds of steps that take turns."""
    seen: dict[str, list[float]] = {title: [] for title in steps}
    for _ in range(rounds):
        for title, step in steps.items():
            gc.collect()
            started = time.process_time()
            step()
            seen[title].append(time.process_time() - started)
    return {title: statistics.median(runs) for title, runs in seen.items()}


def make_run(folder: Path, clips: int) -> None:
    """A finished run of short clips by 500 speakers, asked of a model that costs nothing."""
    chance = random.Random(1)
    with (folder / "clips.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "label", "audio", "speaker"])
        for number in range(clips):
            rows.writerow([f"c{number:05d}", chance.choice(LABELS), f"{number}.wav", f"s{chance.randrange(500)}"])
            with wave.open(str(folder / f"{number}.wav"), "wb") as sound:
                sound.setparams((1, 2, 16_000, 0, "NONE", ""))
                sound.writeframes(array.array("h", [number % 32_000, *range(159)]).tobytes())
    (folder / "conftest.py").write_text(ADAPTER)
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "suites").mkdir()
    (folder / "suites/voice.yaml").write_text(
        "task: emotion\ncorpus: {root: .., manifest: clips.csv}\n"
        f"labels: {{set: [{', '.join(LABELS)}]}}\nadapter: {{use: mine}}\n"
        "gates: {macro-f1: {metric: macro_f1, min: 0.1, why: chance}}\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "suites"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def time_verification(folder: Path, clips: int, rounds: int) -> None:
    """Whole processes of `speval verify`."""
    code = "from pytest_speval.command import main; raise SystemExit(main(['verify', '.speval']))"
    walls, cpus = [], []
    for _ in range(rounds):
        before, started = os.times(), time.perf_counter()
        subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        walls.append(time.perf_counter() - started)
        after = os.times()
        cpus.append(sum(after[2:4]) - sum(before[2:4]))
    wall, cpu = statistics.median(walls), statistics.median(cpus)
    print(f"{clips:,} clips verified       {wall:8.2f} s, {cpu:.2f} s CPU (goal 2 for 10,000)")


if __name__ == "__main__":
    main()
