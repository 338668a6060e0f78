"""Confusion, macro-F1 and UAR of 1,000,000 coded rows against scikit-learn and audmetric.

Prints CPU medians and ratios of one run: `python benchmarks/metrics.py`. Goals: 50 times scikit-learn, 8 times
audmetric.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
from sklearn import metrics

from pytest_speval.scoring.confusion import Confusion, estimates

ROWS, LABELS, ROUNDS = 1_000_000, 4, 7


def median_seconds(work: Callable[[], object]) -> float:
    """Median CPU time of a few calls, after one that is not counted."""
    work()
    taken = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def main() -> None:
    draw = np.random.default_rng(0)
    references = draw.integers(0, LABELS, ROWS)
    answers = np.where(draw.random(ROWS) < 0.75, references, draw.integers(0, LABELS, ROWS))
    labels = list(range(LABELS))

    def ours() -> tuple[float, float]:
        confusion = Confusion.from_codes(references, answers, LABELS)
        found = estimates(confusion.matrix, "omit", confusion.support > 0)
        return float(found["macro_f1"]), float(found["uar"])

    def sklearn() -> tuple[float, float]:
        metrics.confusion_matrix(references, answers)
        macro_f1 = metrics.f1_score(references, answers, average="macro")
        return macro_f1, metrics.balanced_accuracy_score(references, answers)

    assert np.allclose(ours(), sklearn(), atol=1e-12)
    base = median_seconds(ours)
    print(f"{ROWS:,} rows, {LABELS} labels: confusion, macro-F1, UAR")
    print(f"  pytest-speval  {base * 1e3:9.2f} ms")
    peers = {"scikit-learn": (sklearn, 50)}
    try:
        import audmetric
    except ImportError:
        print("  audmetric is not installed")
    else:

        def audmetric_all() -> tuple[float, float]:
            audmetric.confusion_matrix(references, answers, labels=labels)
            macro_f1 = audmetric.unweighted_average_fscore(references, answers, labels=labels)
            return macro_f1, audmetric.unweighted_average_recall(references, answers, labels=labels)

        assert np.allclose(ours(), audmetric_all(), atol=1e-12)
        peers["audmetric"] = (audmetric_all, 8)
    for name, (work, goal) in peers.items():
        seconds = median_seconds(work)
        print(f"  {name:13s}  {seconds * 1e3:9.2f} ms   {seconds / base:6.1f}x (goal {goal}x)")


if __name__ == "__main__":
    main()
