"""Speaker-clustered bootstrap of macro-F1: 45,000 clips, 1,000 speakers, 10,000 replicates.

Prints CPU medians and ratios of one run: `python benchmarks/bootstrap.py`. Goals: 500 times a loop with
scikit-learn (timed on few replicates, and extrapolated), 3 times a vectorised scipy.stats.bootstrap. Loops with
audmetric and with confidence-intervals, timed alike, are told where they are installed; the latter draws clips again
within each drawn speaker.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
from scipy import stats
from sklearn.metrics import f1_score

from pytest_speval.scoring.bootstrap import draw_weights, interval, replicate_sums
from pytest_speval.scoring.confusion import estimates, per_unit

CLIPS, SPEAKERS, LABELS, REPLICATES, SEED = 45_000, 1_000, 4, 10_000, 20260817
LOOPED = 40


def median_seconds(work: Callable[[], object], rounds: int) -> float:
    """Median CPU time of a few calls, after one that is not counted."""
    work()
    taken = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def main() -> None:
    draw = np.random.default_rng(0)
    references = draw.integers(0, LABELS, CLIPS)
    answers = np.where(draw.random(CLIPS) < 0.75, references, draw.integers(0, LABELS, CLIPS))
    speakers = draw.integers(0, SPEAKERS, CLIPS)
    supported = np.ones(LABELS, dtype=bool)
    shape = (LABELS, LABELS + 3)

    def ours() -> np.ndarray:
        counts = per_unit(references, answers, speakers, SPEAKERS, LABELS)
        sums = replicate_sums(counts, REPLICATES, SEED).reshape(REPLICATES, *shape)
        return estimates(sums, "omit", supported)["macro_f1"]

    clips_of = [np.flatnonzero(speakers == speaker) for speaker in range(SPEAKERS)]
    drawn = [
        np.repeat(np.arange(SPEAKERS), weights.astype(int))
        for weights in np.concatenate(list(draw_weights(SPEAKERS, LOOPED, SEED)))
    ]

    def sklearn_loop() -> np.ndarray:
        values = []
        for units in drawn:
            clips = np.concatenate([clips_of[unit] for unit in units])
            values.append(f1_score(references[clips], answers[clips], average="macro"))
        return np.array(values)

    def audmetric_loop() -> list[float]:
        import audmetric

        drawn_clips = (np.concatenate([clips_of[unit] for unit in units]) for units in drawn)
        return [audmetric.unweighted_average_fscore(references[clips], answers[clips]) for clips in drawn_clips]

    def confidence_intervals() -> object:
        import confidence_intervals

        def macro_f1(truth: np.ndarray, said: np.ndarray) -> float:
            return float(f1_score(truth, said, average="macro"))

        return confidence_intervals.evaluate_with_conf_int(
            answers, macro_f1, references, conditions=speakers, num_bootstraps=LOOPED
        )

    def scipy_vectorised() -> tuple[float, float]:
        counts = per_unit(references, answers, speakers, SPEAKERS, LABELS).astype(np.float64)

        def macro_f1(units: np.ndarray, axis: int = -1) -> np.ndarray:
            sums = counts[units].sum(axis=axis - 1)
            return estimates(sums.reshape(*sums.shape[:-1], *shape), "omit", supported)["macro_f1"]

        found = stats.bootstrap(
            (np.arange(SPEAKERS),),
            macro_f1,
            n_resamples=REPLICATES,
            batch=200,
            vectorized=True,
            method="percentile",
            rng=np.random.default_rng(SEED),
        ).confidence_interval
        return float(found.low), float(found.high)

    values = ours()
    assert np.abs(values[:LOOPED] - sklearn_loop()).max() < 1e-12
    assert np.allclose(interval(values, 0.95) or (), scipy_vectorised(), atol=1e-3)

    base = median_seconds(ours, 7)
    loop = median_seconds(sklearn_loop, 3) / LOOPED * REPLICATES
    scipy = median_seconds(scipy_vectorised, 3)
    print(f"{CLIPS:,} clips, {SPEAKERS:,} speakers, {LABELS} labels, {REPLICATES:,} replicates of macro-F1")
    print(f"  pytest-speval       {base * 1e3:10.1f} ms")
    print(f"  scikit-learn loop   {loop * 1e3:10.1f} ms   {loop / base:7.1f}x (goal 500x)")
    print(f"  scipy, vectorised   {scipy * 1e3:10.1f} ms   {scipy / base:7.1f}x (goal 3x)")
    for name, peer in (("audmetric loop", audmetric_loop), ("confidence-intervals", confidence_intervals)):
        try:
            seconds = median_seconds(peer, 1) / LOOPED * REPLICATES
        except ImportError:
            print(f"  {name} is not installed")
        else:
            print(f"  {name:20s}{seconds * 1e3:10.1f} ms   {seconds / base:7.1f}x")


if __name__ == "__main__":
    main()
