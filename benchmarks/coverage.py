"""How often a nominal 95 % interval covers the true value, over simulated corpora whose speakers differ.

Prints shares in percent by number of effective speakers: `python benchmarks/coverage.py [--corpora 2000]`. Goal: 93 to
97 for 30 or more; below that reports warn. Speakers have unequal numbers of clips, unequal skill and an unequal mix of
labels, in one population moderately and in one strongly. Figures, draws and intervals are made by the classes that
judge a run. The last line of each takes clips for independent, on the corpora of 30, to show what that costs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_speval.corpus.labels import LabelRules
from pytest_speval.corpus.text import text_rules
from pytest_speval.judge.estimation import STATUSES, estimate, replicates_of, unit_statistics
from pytest_speval.judge.sample import IntervalRule, Sample
from pytest_speval.scoring.bootstrap import Clusters, Interval
from pytest_speval.scoring.counts import Counts
from pytest_speval.scoring.estimate import Estimate
from pytest_speval.suite.text_keys import Text
from pytest_speval.tasks.affect import AffectFigures
from pytest_speval.tasks.asr_figures import AsrFigures
from pytest_speval.tasks.base import Figures
from pytest_speval.tasks.emotion import EmotionFigures

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

EFFECTIVE = (5, 10, 30, 60, 200)
METRICS = ("accuracy", "macro_f1", "uar", "wer", "ccc.valence")
GOAL = (93.0, 97.0)
ENOUGH = 30

LABELS = LabelRules(("neutral", "happy", "sad", "angry"), absent="omit")
SHARES = np.array([0.4, 0.3, 0.2, 0.1])
"""Of the labels among all clips."""
SKILL = 0.9
EASE = np.array([0.6, 0.2, -0.2, -0.6])
"""Log odds of a right answer: the mean over speakers, and what a label adds."""
MISTAKEN = np.array([[0.0, 0.5, 0.3, 0.2], [0.7, 0.0, 0.2, 0.1], [0.8, 0.1, 0.0, 0.1], [0.4, 0.4, 0.2, 0.0]])
"""What is answered instead, by reference."""
ERROR = -2.0
"""Log odds that a word is an error, the mean over speakers."""
CLIPS, CLIPS_SPREAD = 2.5, 0.6
"""Mean and standard deviation of the logarithm of a speaker's number of clips."""
OFFSET, SLOPE = 0.03, 0.7
RATED_BY_SPEAKER, RATED, ANSWERED_BY_SPEAKER, ANSWERED = 0.05, 0.12, 0.06, 0.08
"""Answers on an axis are OFFSET and SLOPE times the reference, and spreads of speakers and of clips."""


@dataclass(frozen=True)
class Population:
    """How far speakers differ: standard deviations of log odds, and the concentration of their labels (Dirichlet)."""

    name: str
    skill: float
    error: float
    labels: float


POPULATIONS = (Population("alike", 0.5, 0.5, 40), Population("unlike", 0.8, 0.7, 8))


@dataclass(frozen=True)
class Corpus:
    """One simulated corpus: each clip's speaker, and the figures of three tasks over the same clips."""

    speakers: Codes
    count: int
    figures: tuple[Figures, ...]

    @classmethod
    def simulate(cls, of: Population, effective: int, draw: np.random.Generator) -> Corpus:
        """Draw about so many effective speakers, and their clips."""
        count = round(effective * float(np.exp(CLIPS_SPREAD**2)))
        sizes = np.maximum(1, np.rint(draw.lognormal(CLIPS, CLIPS_SPREAD, count))).astype(np.int64)
        speakers = np.repeat(np.arange(count), sizes)
        tasks = _emotion(of, speakers, count, draw), _asr(of, speakers, count, draw), _affect(speakers, count, draw)
        return cls(speakers, count, tasks)

    def intervals(self, rule: IntervalRule) -> dict[str, Interval]:
        """The interval of each of METRICS, by speaker or by clip."""
        clips = len(self.speakers)
        codes, count = (np.arange(clips), clips) if rule.unit == "clip" else (self.speakers, self.count)
        sample = Sample(rule, codes, count, Clusters.of(codes, count), None)
        answered = np.full(clips, STATUSES.index("answered"))
        counts = Counts(clips, clips, 0, clips, 0, 0, 0, 0)
        drawn = sample.replicate_parts([(sample, unit_statistics(each, answered, sample)) for each in self.figures])
        found: dict[str, Estimate] = {}
        for each, sums in zip(self.figures, drawn, strict=True):
            found |= estimate("worst", sample, each, counts, replicates_of(each, sums))
        intervals = {name: found[name].interval for name in METRICS}
        return {name: interval for name, interval in intervals.items() if interval is not None}


def _emotion(of: Population, speakers: Codes, count: int, draw: np.random.Generator) -> Figures:
    mixes = draw.dirichlet(of.labels * SHARES, count)[speakers].cumsum(axis=1)
    references = np.minimum((draw.random(len(speakers))[:, None] > mixes).sum(axis=1), len(SHARES) - 1)
    skill = draw.normal(SKILL, of.skill, count)[speakers] + EASE[references]
    instead = (draw.random(len(speakers))[:, None] > MISTAKEN[references].cumsum(axis=1)).sum(axis=1)
    answers = np.where(draw.random(len(speakers)) < logistic(skill), references, np.minimum(instead, 3))
    return EmotionFigures(LABELS, references, answers, "omit")


def _asr(of: Population, speakers: Codes, count: int, draw: np.random.Generator) -> Figures:
    words = 1 + draw.poisson(9, len(speakers))
    wrong = draw.binomial(words, logistic(draw.normal(ERROR, of.error, count))[speakers])
    none = np.zeros_like(words)
    clips = np.stack([words - wrong, wrong, none, none, wrong, words, none + 1], axis=1)
    return AsrFigures(text_rules(Text()), clips, speakers)


def _affect(speakers: Codes, count: int, draw: np.random.Generator) -> Figures:
    about = draw.normal(0, RATED_BY_SPEAKER, count)[speakers] + draw.normal(0, RATED, len(speakers))
    heard = OFFSET + SLOPE * about + draw.normal(0, ANSWERED_BY_SPEAKER, count)[speakers]
    heard += draw.normal(0, ANSWERED, len(speakers))
    return AffectFigures({"valence": (about + 0.5, heard + 0.5)}, np.ones(len(speakers), dtype=bool))


def logistic(odds: Floats) -> Floats:
    """Log odds to probabilities."""
    return 1 / (1 + np.exp(-odds))


def truth(of: Population) -> dict[str, float]:
    """The values of METRICS over all speakers there could be, by quadrature and not by simulation."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    right = logistic(SKILL + EASE[:, None] + of.skill * nodes) @ weights
    matrix = SHARES[:, None] * (np.diag(right) + (1 - right)[:, None] * MISTAKEN)
    hits = np.diag(matrix)
    f1 = 2 * hits / (matrix.sum(axis=0) + matrix.sum(axis=1))
    rated = RATED_BY_SPEAKER**2 + RATED**2
    heard = SLOPE**2 * rated + ANSWERED_BY_SPEAKER**2 + ANSWERED**2
    return {
        "accuracy": float(hits.sum()),
        "macro_f1": float(f1.mean()),
        "uar": float(right.mean()),
        "wer": float(logistic(ERROR + of.error * nodes) @ weights),
        "ccc.valence": 2 * SLOPE * rated / (rated + heard + OFFSET**2),
    }


@dataclass(frozen=True)
class Coverage:
    """How many of the simulated corpora have an interval that covers the truth, and one that is marked."""

    corpora: int
    covered: Mapping[str, int]
    effective: float
    unreliable: int

    def share(self, metric: str) -> float:
        """Percent of the corpora that are covered."""
        return 100 * self.covered[metric] / self.corpora


def study(
    of: Population, effective: int, corpora: int, *, unit: str = "speaker", replicates: int = 2000, seed: int = 0
) -> Coverage:
    """Simulate so many corpora of about so many effective speakers; corpora are the same for any unit."""
    known = truth(of)
    covered = dict.fromkeys(METRICS, 0)
    sizes, unreliable = 0.0, 0
    for number, corpus in enumerate(simulated(of, effective, corpora, seed)):
        intervals = corpus.intervals(IntervalRule(unit, replicates, seed + number))
        for name, interval in intervals.items():
            covered[name] += interval.low is not None and interval.low <= known[name] <= (interval.high or 0.0)
        sizes += intervals["wer"].effective_clusters
        unreliable += intervals["wer"].unreliable
    return Coverage(corpora, covered, sizes / corpora, unreliable)


def simulated(of: Population, effective: int, corpora: int, seed: int) -> Iterator[Corpus]:
    """So many corpora, each from a stream of its own."""
    for stream in np.random.SeedSequence([seed, effective]).spawn(corpora):
        yield Corpus.simulate(of, effective, np.random.default_rng(stream))


def row(name: str, found: Coverage) -> str:
    """One line of the table."""
    shares = "".join(f"{found.share(metric):13.1f}" for metric in METRICS)
    return f"{name:>9} {found.effective:9.1f}{shares}{100 * found.unreliable / found.corpora:12.1f}"


def main(arguments: Any = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpora", type=int, default=2000)
    parser.add_argument("--replicates", type=int, default=2000)
    given = parser.parse_args(arguments)
    print(f"percent of {given.corpora:,} corpora whose nominal 95 % interval covers the truth")
    for of in POPULATIONS:
        print(f"{of.name:>9} {'effective':>9}{''.join(f'{name:>13}' for name in METRICS)}{'unreliable':>12}")
        missed = []
        for effective in EFFECTIVE:
            found = study(of, effective, given.corpora, replicates=given.replicates)
            print(row(str(effective), found), flush=True)
            if effective >= ENOUGH:
                missed += [(effective, name) for name in METRICS if not GOAL[0] <= found.share(name) <= GOAL[1]]
        print(row("by clip", study(of, ENOUGH, given.corpora, unit="clip", replicates=given.replicates)))
        told = ", ".join(f"{name} at {effective}" for effective, name in missed)
        print(f"goal {GOAL[0]:g} to {GOAL[1]:g} for {ENOUGH} or more: {f'missed by {told}' if missed else 'held'}")


if __name__ == "__main__":
    main()
