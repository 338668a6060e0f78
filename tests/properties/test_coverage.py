"""The coverage study of `benchmarks/coverage.py`, in short: how often nominal 95 % intervals cover the truth."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

CORPORA, REPLICATES = 150, 600
STUDY = Path(__file__).resolve().parents[2] / "benchmarks" / "coverage.py"


@pytest.fixture(scope="module")
def benchmark() -> Any:
    spec = importlib.util.spec_from_file_location("coverage_study", STUDY)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_speakers_drawn_whole_cover_the_truth_and_clips_alone_do_not(benchmark: Any) -> None:
    """A true share of 92 % would give so few once in 10,000 times, one of 97 % so many."""
    unlike = benchmark.POPULATIONS[1]
    found = benchmark.study(unlike, 30, CORPORA, replicates=REPLICATES)
    few, many = binom.ppf(1e-4, CORPORA, 0.92), binom.isf(1e-4, CORPORA, 0.97)
    for metric in benchmark.METRICS:
        assert few <= found.covered[metric] <= many, (metric, found.covered)
    assert (found.unreliable, round(found.effective)) == (0, 31)

    narrow = benchmark.study(unlike, 30, CORPORA, unit="clip", replicates=REPLICATES)
    for metric in benchmark.METRICS:
        assert narrow.covered[metric] < few, (metric, narrow.covered)


def test_the_mark_is_set_where_few_speakers_leave_too_little(benchmark: Any) -> None:
    """A true share of 93 % would give so few once in 100 times."""
    found = benchmark.study(benchmark.POPULATIONS[1], 5, 2 * CORPORA, replicates=REPLICATES)
    assert found.unreliable == found.corpora
    assert found.covered["wer"] < binom.ppf(1e-2, found.corpora, 0.93)


def test_the_truth_is_that_of_a_corpus_of_many_speakers(benchmark: Any) -> None:
    """The quadrature, against the figures of one great corpus."""
    population = benchmark.POPULATIONS[1]
    corpus = benchmark.Corpus.simulate(population, 20_000, np.random.default_rng(1))
    found: dict[str, Any] = {}
    for figures in corpus.figures:
        found |= figures.estimates(figures.total())
    for metric, value in benchmark.truth(population).items():
        assert float(found[metric]) == pytest.approx(value, abs=0.005), metric
