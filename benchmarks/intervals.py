"""Intervals of every estimate of the task emotion, from the answers' codes to low and high, on one core.

Prints seconds and the peak of memory: `python benchmarks/intervals.py`. Goals at 10,000 replicates: 2,610 clips within
1 s; 1,000,000 clips of 10,000 speakers within 60 s and 2 GB, also where a whole run is judged (endings are read,
estimates made, rows held). Each size has a process of its own, so that its peak is its own.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date

LABELS = ("anger", "disgust", "fear", "joy", "neutral", "sadness", "surprise")
REPLICATES = 10_000
SIZES = {
    "estimates 2610 260 speaker": "1 s",
    "estimates 2610 260 clip": "1 s",
    "estimates 1000000 10000 speaker": "60 s, 2 GB",
    "judge 1000000 10000 speaker": "60 s, 2 GB",
}
"""What is measured: the work, clips, speakers, and the unit that is drawn; and the goal."""


def estimates(clips: int, speakers: int, unit: str) -> Callable[[], int]:
    """Every estimate with its interval; returns the work, which says how many estimates have one."""
    import numpy as np

    from pytest_speval.corpus.labels import LabelRules
    from pytest_speval.judge.estimation import STATUSES, estimate, replicates_of, unit_statistics
    from pytest_speval.judge.sample import IntervalRule, Sample
    from pytest_speval.scoring.bootstrap import Clusters
    from pytest_speval.scoring.counts import Counts
    from pytest_speval.tasks.emotion import EmotionFigures

    draw = np.random.default_rng(0)
    references = draw.integers(0, len(LABELS), clips)
    answers = np.where(draw.random(clips) < 0.6, references, draw.integers(0, len(LABELS) + 3, clips))
    codes = np.arange(clips) if unit == "clip" else draw.integers(0, speakers, clips)
    ended = np.full(clips, STATUSES.index("answered"))
    rules = LabelRules(LABELS, absent="zero")

    def work() -> int:
        count = int(codes.max()) + 1
        sample = Sample(IntervalRule(unit, REPLICATES), codes, count, Clusters.of(codes, count), None)
        figures = EmotionFigures(rules, references, answers, "zero")
        replicates = replicates_of(figures, sample.replicate(unit_statistics(figures, ended, sample)))
        found = estimate("worst", sample, figures, Counts(clips, clips, 0, clips, 0, 0, 0, 0), replicates)
        return sum(one.interval is not None for one in found.values())

    return work


def judge(clips: int, speakers: int, unit: str) -> Callable[[], int]:
    """A whole run of so many clips, judged."""
    import numpy as np

    from pytest_speval.corpus.labels import LabelRules
    from pytest_speval.evidence.ending import Ending
    from pytest_speval.evidence.plan import Plan, Question
    from pytest_speval.judge.bench import Bench
    from pytest_speval.judge.judgement import judge as judge_run
    from pytest_speval.judge.sample import IntervalRule
    from pytest_speval.tasks.base import Rules
    from pytest_speval.tasks.registry import TASKS

    draw = np.random.default_rng(0)
    names = [f"s{number:05}" for number in range(speakers)]
    references = draw.integers(0, len(LABELS), clips)
    answers = np.where(draw.random(clips) < 0.6, references, draw.integers(0, len(LABELS), clips))
    cells = {
        "label": [LABELS[code] for code in references.tolist()],
        "speaker": [names[code] for code in draw.integers(0, speakers, clips).tolist()],
    }
    adapter = {"use": "mine", "name": "small-net", "keys": {}, "identity": {"name": "small-net", "files": {}}}
    ids = [f"c{number:07}" for number in range(clips)]
    question = Question("emotion", {}, {**adapter, "requires": {}}, ["test"] * clips, ids, True, cells, [None] * clips)
    said = [{"label": label} for label in LABELS]
    endings = [Ending("returned", said[code], microseconds=1500) for code in answers.tolist()]
    bench = Bench(
        Rules(LabelRules(LABELS, absent="zero"), {}, "worst"), IntervalRule(unit, REPLICATES), "macro_f1", 0, (),
        date(2026, 11, 29),
    )  # fmt: skip
    plan = Plan("voice", question, {}, {"pytest-speval": "0"})

    def work() -> int:
        result = judge_run(plan, TASKS["emotion"], bench, endings, ())
        return sum(one.interval is not None for one in result.estimates.values())

    return work


WORK = {"estimates": estimates, "judge": judge}


def measure(what: str, clips: int, speakers: int, unit: str) -> None:
    """Print the CPU seconds of the work, the fastest of three for small sizes, and the peak of the process."""
    work = WORK[what](clips, speakers, unit)
    taken = []
    for _ in range(3 if clips < 100_000 else 1):
        start = time.process_time()
        intervals = work()
        taken.append(time.process_time() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{min(taken):8.2f} s {peak:6.2f} GiB   {intervals} intervals")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", help="measure one of these in this process")
    only = parser.parse_args().only
    if only:
        what, clips, speakers, unit = only.split()
        measure(what, int(clips), int(speakers), unit)
        return
    print(f"{REPLICATES:,} replicates, one core; CPU seconds, peak of memory")
    one_core = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
    for size, goal in SIZES.items():
        command = [sys.executable, __file__, "--only", size]
        done = subprocess.run(command, env=os.environ | one_core, check=True, capture_output=True, text=True)
        what, clips, speakers, unit = size.split()
        about = f"{what}, {int(clips):,} clips, {int(speakers):,} speakers, by {unit}"
        print(f"  {about:56} {done.stdout.rstrip()} (goal {goal})", flush=True)


if __name__ == "__main__":
    main()
