"""Whole pytest sessions: recorded answers against the same cases as `parametrize`, and the cost of an idle plugin.

Prints CPU seconds (user and system, children included) and peak memory of each command, medians over the rounds, and
the ratios. Goals: at most 1/10 of the CPU and 1/3 of the memory of `parametrize`; `-n 2` and `--junitxml` at most 1.5
times the plain session; an idle plugin at most 1.03 times bare pytest.

    python benchmarks/sessions.py [--clips 100000] [--rounds 3]
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import statistics
import sys
import tempfile
from pathlib import Path

LABELS = ("neutral", "happy", "sad", "angry")
QUIET = ("-q", "-p", "no:randomly", "-p", "no:hypothesispytest", "-p", "no:cacheprovider")


def make_suite(folder: Path, clips: int) -> None:
    """A manifest, recorded answers and a suite over them."""
    chance = random.Random(1)
    with (folder / "clips.csv").open("w", newline="") as listed, (folder / "answers.csv").open("w", newline="") as said:
        manifest, answers = csv.writer(listed), csv.writer(said)
        manifest.writerow(["id", "label", "speaker"])
        answers.writerow(["id", "label"])
        for number in range(clips):
            manifest.writerow([f"clip{number:06d}", chance.choice(LABELS), f"speaker{number % 1000}"])
            answers.writerow([f"clip{number:06d}", chance.choice(LABELS)])
    (folder / "suites").mkdir()
    (folder / "suites/recorded.yaml").write_text(
        "task: emotion\ncorpus: {root: .., manifest: clips.csv}\n"
        f"labels: {{set: [{', '.join(LABELS)}]}}\n"
        "adapter: {use: predictions, file: ../answers.csv}\n"
        "gates: {macro-f1: {metric: macro_f1, min: 0.2, why: chance}}\n"
    )
    (folder / "test_by_hand.py").write_text(
        "import csv\nimport pytest\n"
        "said = {row['id']: row['label'] for row in csv.DictReader(open('answers.csv'))}\n"
        "rows = [(row['id'], row['label']) for row in csv.DictReader(open('clips.csv'))]\n"
        "@pytest.mark.parametrize(('name', 'label'), rows)\n"
        "def test_clip(name, label):\n    assert said[name] in ('neutral', 'happy', 'sad', 'angry')\n"
    )
    (folder / "test_idle.py").write_text("def test_nothing():\n    pass\n")
    (folder / "pytest.ini").write_text("[pytest]\n")


def run(folder: Path, arguments: tuple[str, ...]) -> tuple[float, float]:
    """CPU seconds and peak MiB of one session."""
    child = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "pytest", *QUIET, *arguments],
        {**os.environ, "PWD": str(folder)},
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ],
    )
    _, status, usage = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"pytest {' '.join(arguments)} ended with {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clips", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    commands = {
        "recorded answers": ("suites/recorded.yaml",),
        "recorded answers, -n 2": ("suites/recorded.yaml", "-n", "2"),
        "recorded answers, --junitxml": ("suites/recorded.yaml", "--junitxml=junit.xml"),
        "parametrize": ("test_by_hand.py",),
        "idle, plugin installed": ("test_idle.py",),
        "idle, bare pytest": ("test_idle.py", "-p", "no:pytest_speval.plugin"),
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_suite(folder, asked.clips)
        os.chdir(folder)
        seen: dict[str, list[tuple[float, float]]] = {title: [] for title in commands}
        for _ in range(asked.rounds):
            for title, arguments in commands.items():
                repeats = 7 if title.startswith("idle") else 1
                seen[title] += [run(folder, arguments) for _ in range(repeats)]
        os.chdir("/")
    cpu = {title: statistics.median(seconds for seconds, _ in runs) for title, runs in seen.items()}
    memory = {title: statistics.median(mib for _, mib in runs) for title, runs in seen.items()}
    for title in commands:
        print(f"{title:<32} {cpu[title]:8.2f} s CPU {memory[title]:8.0f} MiB")
    ours, hand = "recorded answers", "parametrize"
    print(f"CPU of parametrize / ours        {cpu[hand] / cpu[ours]:8.1f} (goal 10)")
    print(f"memory of parametrize / ours     {memory[hand] / memory[ours]:8.1f} (goal 3)")
    for extra in (", -n 2", ", --junitxml"):
        print(f"ours{extra:<13} / plain CPU       {cpu[ours + extra] / cpu[ours]:8.2f} (goal 1.5)")
    print(
        f"idle plugin / bare pytest        {cpu['idle, plugin installed'] / cpu['idle, bare pytest']:8.3f} (goal 1.03)"
    )


if __name__ == "__main__":
    main()
