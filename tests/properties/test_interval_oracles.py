"""Estimates and their replicates against other tools and against loops over the drawn clips, on random inputs."""

from __future__ import annotations

from typing import Any

import audmetric
import confidence_intervals
import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

from pytest_speval.corpus.agreement import agreement
from pytest_speval.corpus.labels import LabelRules
from pytest_speval.corpus.text import text_rules
from pytest_speval.corpus.votes import Tally
from pytest_speval.judge.sample import IntervalRule, Sample
from pytest_speval.scoring.bootstrap import Clusters, draw_weights, interval
from pytest_speval.suite.text_keys import Text
from pytest_speval.tasks.affect import AffectFigures
from pytest_speval.tasks.asr_figures import AsrFigures
from pytest_speval.tasks.base import Figures
from pytest_speval.tasks.emotion import EmotionFigures

Array = np.ndarray[Any, Any]
LABELS = ("happy", "sad", "calm", "angry")
K = len(LABELS)
NAMES = [*LABELS, "abstained", "outside", "failed"]
REPLICATES = 25
CLOSE = pytest.approx


def codes(size: int) -> st.SearchStrategy[int]:
    return st.integers(0, size - 1)


@st.composite
def classified(draw: st.DrawFn, others: int = 3) -> tuple[Array, Array, Array]:
    """References, answers (also outside the set) and units of up to 40 clips; clips of unit -1 have none."""
    clips = draw(st.lists(st.tuples(codes(K), codes(K + others), st.integers(-1, 5)), min_size=1, max_size=40))
    references, answers, units = np.array(clips, dtype=np.int64).T
    return references, answers, units


@st.composite
def rated(draw: st.DrawFn) -> tuple[Array, Array, Array]:
    """References and answers within 0..1 on a grid, so that neither nearly stands still, and units."""
    grid = st.integers(0, 64).map(lambda step: step / 64)
    clips = draw(st.lists(st.tuples(grid, grid, st.integers(0, 5)), min_size=2, max_size=40))
    references, answers, units = np.array(clips, dtype=np.float64).T
    return references, answers, units.astype(np.int64)


def emotion(references: Array, answers: Array, absent: Any = "omit") -> EmotionFigures:
    return EmotionFigures(LabelRules(LABELS, absent=absent), references, answers, absent)


def point(figures: Figures) -> dict[str, float]:
    return {name: float(value) for name, value in figures.estimates(figures.total()).items()}


def named(found: Array) -> list[str]:
    return [NAMES[code] for code in found]


def sample_of(units: Array, seed: int = 7, replicates: int = REPLICATES, unit: str = "speaker") -> Sample:
    """The same units as a run would have them: coded in order, those without clips left out."""
    known, own = np.unique(units[units >= 0], return_inverse=True)
    found = np.full(len(units), -1, dtype=np.int64)
    found[units >= 0] = own
    rule = IntervalRule(unit, replicates, seed)
    return Sample(rule, found, len(known), Clusters.of(found, len(known)), None)


def resampled(sample: Sample) -> list[Array]:
    """The clips of every replicate, one by one, from the same draws."""
    rule = sample.rule
    rows = np.concatenate(list(draw_weights(sample.count, rule.replicates, rule.seed)))
    clips_of = [np.flatnonzero(sample.codes == unit) for unit in range(sample.count)]
    return [
        np.concatenate([clips_of[unit] for unit, times in enumerate(row) for _ in range(int(times))]) for row in rows
    ]


def replicated(figures: Figures, sample: Sample) -> dict[str, Array]:
    sums = sample.replicate(figures.per_unit(sample.codes, sample.count))
    assert sums is not None
    return figures.estimates(sums)


@given(classified())
@settings(max_examples=50)
def test_estimates_of_labels_are_those_of_scikit_learn(clips: tuple[Array, Array, Array]) -> None:
    references, answers, _ = clips
    found = point(emotion(references, answers))
    truth, said = named(references), named(answers)
    supported = sorted(set(truth))
    assert found["accuracy"] == CLOSE(metrics.accuracy_score(truth, said), abs=1e-12)
    for average, name in (("macro", "macro_f1_supported"), ("weighted", "weighted_f1")):
        expected = metrics.f1_score(truth, said, labels=supported, average=average, zero_division=0)
        assert found[name] == CLOSE(expected, abs=1e-12)
    everywhere = metrics.f1_score(truth, said, labels=LABELS, average="macro", zero_division=0)
    assert point(emotion(references, answers, "zero"))["macro_f1"] == CLOSE(everywhere, abs=1e-12)
    assert found["uar"] == CLOSE(metrics.recall_score(truth, said, labels=supported, average="macro"), abs=1e-12)
    if set(said) <= set(truth) and len(supported) > 1:  # else it warns, and leaves out what we leave out
        assert found["uar"] == CLOSE(metrics.balanced_accuracy_score(truth, said), abs=1e-12)
    each = metrics.precision_recall_fscore_support(truth, said, labels=LABELS, zero_division=np.nan)
    for stem, values in zip(("precision", "recall", "f1", "support"), each, strict=True):
        for label, value in zip(LABELS, values, strict=True):
            assert found[f"{stem}.{label}"] == CLOSE(float(value), abs=1e-12, nan_ok=True), (stem, label)


@given(classified(others=0))
def test_estimates_of_labels_are_those_of_audmetric(clips: tuple[Array, Array, Array]) -> None:
    references, answers, _ = clips
    found, everywhere = point(emotion(references, answers)), point(emotion(references, answers, "zero"))
    truth, said, supported = named(references), named(answers), sorted(set(named(references)))
    assert found["accuracy"] == CLOSE(audmetric.accuracy(truth, said), abs=1e-12)
    recalls = audmetric.recall_per_class(truth, said, labels=LABELS)
    assert found["uar"] == CLOSE(np.mean([recalls[label] for label in supported]), abs=1e-12)
    scores = audmetric.fscore_per_class(truth, said, labels=LABELS)
    assert found["macro_f1_supported"] == CLOSE(np.mean([scores[label] for label in supported]), abs=1e-12)
    unweighted = audmetric.unweighted_average_fscore(truth, said, labels=LABELS)
    assert everywhere["macro_f1"] == CLOSE(unweighted, abs=1e-12)
    weighted = sum(scores[label] * truth.count(label) for label in supported) / len(truth)
    assert found["weighted_f1"] == CLOSE(weighted, abs=1e-12)
    if len(supported) == K:
        assert found["uar"] == CLOSE(audmetric.unweighted_average_recall(truth, said, labels=LABELS), abs=1e-12)


@given(rated())
def test_concordance_is_that_of_audmetric(clips: tuple[Array, Array, Array]) -> None:
    references, answers, _ = clips
    found = point(AffectFigures({"valence": (references, answers)}, np.ones(len(references), dtype=bool)))
    if len({*references, *answers}) > 1:
        expected = audmetric.concordance_cc(references, answers)
        assert found["ccc.valence"] == CLOSE(expected, abs=1e-9)
    else:
        assert np.isnan(found["ccc.valence"])
    mae = audmetric.mean_absolute_error(references, answers)
    assert found["mae.valence"] == CLOSE(mae, abs=1e-12)


@given(st.lists(st.lists(codes(K), min_size=0, max_size=5), min_size=1, max_size=12))
def test_agreement_is_that_of_krippendorff(votes: list[list[int]]) -> None:
    """Against its other way in: one row a listener, one column a clip, instead of counts."""
    tallies = [Tally({LABELS[vote]: heard.count(vote) for vote in set(heard)}) for heard in votes]
    found = agreement(tallies, LABELS)
    pairs = [heard for heard in votes if len(heard) > 1]
    if len({vote for heard in pairs for vote in heard}) < 2:
        assert found.alpha is None
        return
    table = np.full((5, len(pairs)), np.nan)
    for place, heard in enumerate(pairs):
        table[: len(heard), place] = heard
    expected = krippendorff.alpha(reliability_data=table, level_of_measurement="nominal")
    assert found.alpha == CLOSE(float(expected), abs=1e-12)


@given(classified(), st.integers(0, 2**32))
@settings(max_examples=40)
def test_replicates_of_labels_are_those_of_a_loop_over_drawn_units(
    clips: tuple[Array, Array, Array], seed: int
) -> None:
    references, answers, units = clips
    sample, figures = sample_of(units, seed), emotion(references, answers)
    if sample.clusters.clusters < 3:
        assert sample.replicate(figures.per_unit(sample.codes, sample.count)) is None
        return
    found = replicated(figures, sample)
    supported = {NAMES[code] for code in references}
    for row, drawn in enumerate(resampled(sample)):
        truth, said = named(references[drawn]), named(answers[drawn])
        assert found["accuracy"][row] == np.mean([one == other for one, other in zip(truth, said, strict=True)])
        scores = {}
        for label in supported:
            hits = sum(one == other == label for one, other in zip(truth, said, strict=True))
            if total := truth.count(label) + said.count(label):
                scores[label] = 2 * hits / total
        expected = np.mean([*scores.values()]) if scores else np.nan
        assert found["macro_f1"][row] == CLOSE(expected, abs=1e-12, nan_ok=True)
        recalls = [np.mean(answers[drawn][references[drawn] == code] == code) for code in set(references[drawn])]
        assert found["uar"][row] == CLOSE(np.mean(recalls), abs=1e-12)


@given(rated(), st.integers(0, 2**32))
@settings(max_examples=40)
def test_replicates_of_concordance_are_those_of_a_loop_over_drawn_units(
    clips: tuple[Array, Array, Array], seed: int
) -> None:
    references, answers, units = clips
    sample = sample_of(units, seed)
    if sample.clusters.clusters < 3:
        return
    figures = AffectFigures({"valence": (references, answers)}, np.ones(len(references), dtype=bool))
    found = replicated(figures, sample)
    for row, drawn in enumerate(resampled(sample)):
        x, y = references[drawn], answers[drawn]
        total = x.var() + y.var() + (x.mean() - y.mean()) ** 2
        expected = 2 * np.mean((x - x.mean()) * (y - y.mean())) / total if total > 1e-12 else np.nan
        assert found["ccc.valence"][row] == CLOSE(expected, abs=1e-9, nan_ok=True)
        assert found["mae.valence"][row] == CLOSE(np.abs(x - y).mean(), abs=1e-12)


@given(
    st.lists(st.tuples(codes(4), codes(4), codes(4), codes(4), codes(6)), min_size=1, max_size=30),
    st.integers(0, 2**32),
)
@settings(max_examples=40)
def test_replicates_of_word_errors_are_those_of_a_loop_over_drawn_units(
    clips: list[tuple[int, ...]], seed: int
) -> None:
    matches, substitutions, deletions, insertions, units = np.array(clips, dtype=np.int64).T
    sample = sample_of(units, seed)
    if sample.clusters.clusters < 3:
        return
    errors, words = substitutions + deletions + insertions, matches + substitutions + deletions
    counts = np.stack([matches, substitutions, deletions, insertions, 2 * errors, 3 * words, words * 0 + 1], axis=1)
    found = replicated(AsrFigures(text_rules(Text()), counts, sample.codes), sample)
    for row, drawn in enumerate(resampled(sample)):
        said = words[drawn].sum()
        rate = errors[drawn].sum() / said if said else np.nan
        assert found["wer"][row] == CLOSE(rate, abs=1e-15, nan_ok=True)
        assert found["cer"][row] == CLOSE(rate * 2 / 3, abs=1e-12, nan_ok=True)
        rates = [errors[clip] / words[clip] for clip in drawn if words[clip]]
        assert found["wer_clip_mean"][row] == CLOSE(np.mean(rates) if rates else np.nan, abs=1e-12, nan_ok=True)


def told(sample: Sample, values: Array) -> tuple[float, float]:
    made, reason = sample.interval(values, {})
    assert reason is None
    assert made is not None
    assert made.low is not None
    assert made.high is not None
    return made.low, made.high


class SameDraws(np.random.Generator):
    """A generator for scipy that draws the units of a sample, replicate by replicate."""

    def __init__(self, sample: Sample) -> None:
        super().__init__(np.random.PCG64(0))
        rule = sample.rule
        weights = np.concatenate(list(draw_weights(sample.count, rule.replicates, rule.seed))).astype(int)
        self.units = np.array([np.repeat(np.arange(sample.count), row) for row in weights])

    def integers(  # type: ignore[override]
        self, low: Any, high: Any = None, size: Any = None, **_: Any
    ) -> Any:
        assert (low, high, size) == (0, self.units.shape[1], self.units.shape)
        return self.units


@given(classified(), st.integers(0, 2**32), st.sampled_from([0.5, 0.9, 0.95]))
@settings(max_examples=40)
def test_an_interval_is_scipys_percentile_interval_over_the_same_draws(
    clips: tuple[Array, Array, Array], seed: int, level: float
) -> None:
    references, answers, units = clips
    known = units >= 0
    references, answers, units = references[known], answers[known], units[known]
    sample = sample_of(units, seed, 199)
    if sample.clusters.clusters < 3:
        return
    found = replicated(emotion(references, answers), sample)["accuracy"]
    right = np.bincount(sample.codes, weights=references == answers, minlength=sample.count)
    sizes = np.bincount(sample.codes, minlength=sample.count)
    expected = stats.bootstrap(
        (right, sizes),
        lambda hits, of, axis=-1: hits.sum(axis=axis) / of.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=199,
        confidence_level=level,
        method="percentile",
        rng=SameDraws(sample),
    )
    np.testing.assert_allclose(found, expected.bootstrap_distribution, rtol=0, atol=1e-15)
    ends = interval(found, level)
    assert ends == CLOSE(tuple(expected.confidence_interval), abs=1e-14)


def with_confidence_intervals(references: Array, answers: Array, units: Array | None, replicates: int) -> Array:
    """Ends of 95 % for macro-F1; `units` are its conditions."""

    def macro_f1(truth: Array, said: Array) -> float:
        return point(emotion(truth, said))["macro_f1"]

    _, ends = confidence_intervals.evaluate_with_conf_int(
        answers, macro_f1, references, conditions=units, num_bootstraps=replicates
    )
    return np.array(ends)


def test_intervals_by_clip_are_nearly_those_of_confidence_intervals() -> None:
    draw = np.random.default_rng(20260817)
    references = draw.integers(0, K, 1500)
    answers = np.where(draw.random(1500) < 0.6, references, draw.integers(0, K, 1500))
    sample = sample_of(np.arange(1500), replicates=4000, unit="clip")
    ours = told(sample, replicated(emotion(references, answers), sample)["macro_f1"])
    theirs = with_confidence_intervals(references, answers, None, 800)
    assert ours == CLOSE(theirs, abs=0.12 * (ours[1] - ours[0]))


def test_intervals_by_speaker_are_nearly_those_of_confidence_intervals() -> None:
    """It draws clips again within each drawn speaker: with many clips of each, that adds little."""
    draw = np.random.default_rng(20260817)
    speakers = np.repeat(np.arange(30), draw.integers(20, 60, 30))
    skill = np.where(np.arange(30) % 3, 0.9, 0.1)[speakers]
    references = draw.integers(0, K, len(speakers))
    answers = np.where(draw.random(len(speakers)) < skill, references, draw.integers(0, K, len(speakers)))
    sample = sample_of(speakers, replicates=4000)
    ours = told(sample, replicated(emotion(references, answers), sample)["macro_f1"])
    theirs = with_confidence_intervals(references, answers, speakers, 400)
    assert ours == CLOSE(theirs, abs=0.15 * (ours[1] - ours[0]))
    alone = sample_of(np.arange(len(speakers)), replicates=1000, unit="clip")
    narrow = told(alone, replicated(emotion(references, answers), alone)["macro_f1"])
    assert narrow[1] - narrow[0] < 0.5 * (theirs[1] - theirs[0])
