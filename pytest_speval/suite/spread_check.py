"""Whether gates on the groups of a cohort, on their gap, or on every label make sense."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_speval.errors import Fault
from pytest_speval.suite.gate_keys import CHANCE
from pytest_speval.suite.shape import nearest
from pytest_speval.suite.tree import Entry, Keys, Node, Scalar, fault_at, text_of
from pytest_speval.suite.vocabulary import MetricWord

SPREAD = ("cohort", "gap", "per_class")
SIZES = ("clips", "speakers", "effective_speakers")
CLOCK = ("latency_ms.mean", "latency_ms.p50", "latency_ms.p95", "latency_ms.reported", "rtf")
"""Metrics that groups do not have; a test holds them against the estimates of groups."""


def is_true(given: Mapping[str, Entry], name: str) -> bool:
    """Whether a key is given as true."""
    value = given[name].value if name in given else None
    return isinstance(value, Scalar) and value.kind == "boolean" and value.value is True


def families_of(words: Mapping[str, MetricWord]) -> dict[str, MetricWord]:
    """The metrics that every label has, by the name of their family; how many references it has is none of them."""
    families = ((word.family, word) for word in words.values() if not word.members)
    return {name: word for name, word in families if name is not None and name != "support"}


def gap_word(word: MetricWord) -> MetricWord:
    """What a limit of the gap of a metric may be: lower is better, and it is no wider than the metric's range."""
    widest = None if word.low is None or word.high is None else word.high - word.low
    return replace(word, better="lower", low=0.0, high=widest)


def spread_faults(given: Mapping[str, Entry], keys: Keys, cohorts: Sequence[str] | None) -> Iterator[Fault]:
    """The faults of keys that do not go together, and of a cohort that the suite does not ask for."""
    if "baseline" in given:
        for name in SPREAD:
            if name in given:
                what = "a gate on a baseline is on all clips that both runs share"
                yield fault_at(given[name].key, "contradiction", what, (*keys, name))
        return
    cohort = text_of(given["cohort"].value) if "cohort" in given else None
    if cohort is not None and cohorts is not None and cohort not in cohorts:
        what = f"score.cohorts of the suite has no `{cohort}`{nearest(cohort, cohorts)}"
        yield fault_at(given["cohort"].value, "unknown-cohort", what, (*keys, "cohort"))
    if is_true(given, "gap") and "cohort" not in given:
        what = "a gap is one between the groups of a cohort: add cohort"
        yield fault_at(given["gap"].key, "contradiction", what, (*keys, "gap"))
    if is_true(given, "per_class") and "cohort" in given:
        what = "per_class is on the labels of all clips: leave out cohort, or name one label"
        yield fault_at(given["per_class"].key, "contradiction", what, (*keys, "per_class"))
    yield from _chance_faults(given, keys)


def by_chance(given: Mapping[str, Entry], limit: str = "max") -> bool:
    """Whether a limit is what chance would give."""
    return limit == "max" and "max" in given and text_of(given["max"].value) == CHANCE


def _chance_faults(given: Mapping[str, Entry], keys: Keys) -> Iterator[Fault]:
    if not by_chance(given):
        return
    if not is_true(given, "gap"):
        what = "chance is a limit of gaps alone: add gap: true, or write a number"
        yield fault_at(given["max"].value, "contradiction", what, (*keys, "max"))
    elif "bound" in given and text_of(given["bound"].value) != "point":
        what = "what chance gives is a limit of the point: leave out bound"
        yield fault_at(given["bound"].key, "contradiction", what, (*keys, "bound"))


def spread_metric_faults(metric: Node, given: Mapping[str, Entry], keys: Keys, word: MetricWord) -> Iterator[Fault]:
    """The faults of a metric that groups do not have, or whose gap says nothing."""
    name = text_of(metric)
    if "cohort" in given and name in CLOCK:
        what = f"{name} is a figure of the whole run: groups have none"
        yield fault_at(metric, "contradiction", what, (*keys, "metric"))
    elif is_true(given, "gap") and (name in SIZES or word.family == "support"):
        what = f"{name} says how much there is: its gap says nothing of how good answers are"
        yield fault_at(metric, "contradiction", what, (*keys, "metric"))
