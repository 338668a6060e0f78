"""Whether gates make sense: a metric the task has, a limit in its range and in its direction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_speval.errors import Fault
from pytest_speval.suite.shape import nearest
from pytest_speval.suite.tree import Entry, Keys, Node, entries_of, fault_at, find, number_of, text_of
from pytest_speval.suite.vocabulary import MetricWord, TaskWord

Words = Mapping[str, MetricWord]


def metric_words(task: TaskWord | None, labels: tuple[str, ...] | None) -> Words | None:
    """Metric name -> word; None where the task, or the labels it needs, could not be read."""
    if task is None or (task.labelled and labels is None):
        return None
    return task.words(labels or ())


def metric_faults(node: Node | None, keys: Keys, words: Words | None) -> Iterator[Fault]:
    """The fault of a metric's name that is not known."""
    name = text_of(node)
    if node is not None and name is not None and words is not None and name not in words:
        yield fault_at(node, "unknown-metric", f"no metric `{name}`{nearest(name, [*words])}", keys)


def gate_faults(gate: Entry, keys: Keys, words: Words | None) -> Iterator[Fault]:
    """The faults of one gate that need more than its own keys."""
    given = entries_of(gate.value)
    limits = {name: given[name] for name in ("min", "max") if name in given}
    if given and len(limits) != 1:
        what = "give min or max, not both" if limits else "give min or max: a gate needs one limit"
        yield fault_at(gate.key, "one-limit", what, keys)
    metric = find(gate.value, "metric")
    yield from metric_faults(metric, (*keys, "metric"), words)
    word = (words or {}).get(text_of(metric) or "")
    if word is None:
        return
    for name, limit in limits.items():
        yield from _limit_faults(limit, (*keys, name), word, text_of(metric) or "")


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
        what = f"{metric} is {allowed}: {value:g} is outside its range"
        yield fault_at(limit.value, "limit-out-of-range", what, keys)
