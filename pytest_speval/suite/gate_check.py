"""Whether gates make sense: a metric the task has, a limit in its range and in its direction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_speval.errors import Fault
from pytest_speval.suite.shape import nearest
from pytest_speval.suite.spread_check import (
    by_chance,
    families_of,
    gap_word,
    is_true,
    spread_faults,
    spread_metric_faults,
)
from pytest_speval.suite.text_check import AGREEMENT, against
from pytest_speval.suite.tree import Entry, Keys, Node, entries_of, fault_at, find, number_of, text_of
from pytest_speval.suite.vocabulary import MetricWord, TaskWord

Words = Mapping[str, MetricWord]
PLAIN, COMPARED = ("min", "max"), ("max_drop", "min_gain")
"""The limits of a gate, and of one that has a baseline."""
NOT_COMPARED = frozenset(
    {"coverage", "failure_rate", "abstention_rate", "clips", "speakers", "effective_speakers", "rtf"}
    | {f"latency_ms.{name}" for name in ("mean", "p50", "p95", "reported")}
)
"""Metrics of a run that say nothing of how good its answers are; a test holds them against those of the tasks."""


def metric_words(task: TaskWord | None, labels: tuple[str, ...] | None, origin: str | None = None) -> Words | None:
    """Metric name -> word; None where the task, or the labels it needs, could not be read.

    `origin` is where the text of references comes from.
    """
    if task is None or (task.labelled and labels is None):
        return None
    return against(task.words(labels or ()), origin)


def metric_faults(node: Node | None, keys: Keys, words: Words | None) -> Iterator[Fault]:
    """The fault of a metric's name that is not known."""
    name = text_of(node)
    if node is not None and name is not None and words is not None and name not in words:
        agreement = f"{AGREEMENT}{name}"
        hint = f": against text made by a model it is {agreement}" if agreement in words else nearest(name, [*words])
        yield fault_at(node, "unknown-metric", f"no metric `{name}`{hint}", keys)


def gate_faults(gate: Entry, keys: Keys, words: Words | None, cohorts: Sequence[str] | None) -> Iterator[Fault]:
    """The faults of one gate that need more than its own keys.

    `cohorts` are those that its suite asks for, None where they could not be read.
    """
    given = entries_of(gate.value)
    limits = COMPARED if "baseline" in given else PLAIN
    yield from _one_limit(gate, given, keys, limits)
    yield from spread_faults(given, keys, cohorts)
    metric = find(gate.value, "metric")
    yield from _metric(metric, (*keys, "metric"), words, by_class=is_true(given, "per_class"))
    word = _judged_word(text_of(metric) or "", given, words)
    if word is None or metric is None:
        return
    yield from spread_metric_faults(metric, given, keys, word)
    name = text_of(metric) or ""
    if is_true(given, "gap"):
        word, name = gap_word(word), f"the gap of {name}"
    check = _compared_faults if limits is COMPARED else _limit_faults
    for limit in limits:
        if limit in given and not by_chance(given, limit):
            yield from check(given[limit], (*keys, limit), word, name)
    if limits is COMPARED:
        yield from _measured_by(metric, (*keys, "metric"), word)
        yield from _corrected(given, keys, word)


def _metric(metric: Node | None, keys: Keys, words: Words | None, *, by_class: bool) -> Iterator[Fault]:
    """The fault of a metric's name, which is that of a family where a gate is on every label."""
    name, families = text_of(metric), families_of(words or {})
    if metric is None or name is None or words is None or by_class == (name in families):
        if not by_class:
            yield from metric_faults(metric, keys, words)
        return
    if by_class:
        what = f"per_class needs a metric that every label has{nearest(name, [*families]) or ': this task has none'}"
    else:
        what = f"`{name}` is one of each label: write {name}.<label>, or add per_class: true"
    yield fault_at(metric, "unknown-metric", what, keys)


def _judged_word(name: str, given: Mapping[str, Entry], words: Words | None) -> MetricWord | None:
    known = words or {}
    return (families_of(known) if is_true(given, "per_class") else known).get(name)


def _one_limit(gate: Entry, given: Mapping[str, Entry], keys: Keys, limits: tuple[str, str]) -> Iterator[Fault]:
    """A gate has one limit; which ones there are depends on whether it has a baseline."""
    either = " or ".join(limits)
    strays = [name for name in (*PLAIN, *COMPARED, "correction_group") if name in given and name not in limits]
    for name in strays if limits is PLAIN else [name for name in strays if name in PLAIN]:
        what = "it acts only beside baseline" if limits is PLAIN else f"against a baseline the limit is {either}"
        yield fault_at(given[name].key, "contradiction", what, (*keys, name))
    found = sum(name in given for name in limits)
    if found > 1 or (given and not found and not strays):
        what = f"give {either}, not both" if found else f"give {either}: a gate needs one limit"
        yield fault_at(gate.key, "one-limit", what, keys)


def _measured_by(metric: Node, keys: Keys, word: MetricWord) -> Iterator[Fault]:
    name = text_of(metric) or ""
    if name in NOT_COMPARED or word.family == "support":
        what = f"{name} says nothing of how good answers are: there is no comparing it with a baseline"
        yield fault_at(metric, "contradiction", what, keys)


def _compared_faults(limit: Entry, keys: Keys, word: MetricWord, metric: str) -> Iterator[Fault]:
    """A drop or gain is a size: not negative, and not wider than the metric's range."""
    value = number_of(limit.value)
    if value is None or value != value or value == float("inf"):
        return
    widest = None if word.low is None or word.high is None else word.high - word.low
    if value < 0 or (widest is not None and value > widest):
        allowed = "at least 0" if widest is None else f"between 0 and {widest:g}"
        what = f"{keys[-1]} of {metric} is {allowed}: {value!r} is outside its range"
        yield fault_at(limit.value, "limit-out-of-range", what, keys)


def _corrected(given: Mapping[str, Entry], keys: Keys, word: MetricWord) -> Iterator[Fault]:
    careful = "low" if word.better == "higher" else "high"
    if "correction_group" in given and ("bound" not in given or text_of(given["bound"].value) != careful):
        what = f"a correction acts only on how sure a difference is: write bound: {careful}"
        yield fault_at(given["correction_group"].key, "contradiction", what, (*keys, "correction_group"))


def _limit_faults(limit: Entry, keys: Keys, word: MetricWord, metric: str) -> Iterator[Fault]:
    fits = "min" if word.better == "higher" else "max"
    if keys[-1] != fits:
        what = f"{word.better} is better for {metric}: write {fits}"
        yield fault_at(limit.key, "wrong-direction", what, keys)
    value = number_of(limit.value)
    if value is None or value != value or value in (float("inf"), float("-inf")):
        return
    low, high = word.low, word.high
    if (low is not None and value < low) or (high is not None and value > high):
        allowed = f"between {low:g} and {high:g}" if None not in (low, high) else ""
        allowed = allowed or (f"at least {low:g}" if low is not None else f"at most {high:g}")
        what = f"{metric} is {allowed}: {value!r} is outside its range"
        yield fault_at(limit.value, "limit-out-of-range", what, keys)
