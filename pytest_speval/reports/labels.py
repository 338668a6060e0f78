"""The labels of a classification as tables: each label beside what chance would give, the means, the confusion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_speval.judge.reference import MEANS, random_reference
from pytest_speval.judge.result import Result
from pytest_speval.reports.cohorts import Table
from pytest_speval.reports.wording import number

KINDS = {"precision": "precision", "recall": "recall", "f1": "F1"}
CHANCE = "By chance: what these very answers would reach on average if they were dealt to the clips at random, exactly."


def label_tables(result: Result) -> list[Table]:
    """No table for a task without labels."""
    published, reference = result.published, random_reference(result)
    if reference is None:
        return []
    chance = reference.metrics

    def beside(metric: str) -> tuple[str, str]:
        return number(result.estimates[metric].value), number(chance[metric])

    head = ("label", "support", *(name for kind in KINDS.values() for name in (kind, f"{kind} by chance")))
    labels, other = published["labels"], published["confusionOther"]
    sums = [_sum(published, place) for place in range(len(labels))]
    rows = [
        (label, f"{total:,}", *(shown for kind in KINDS for shown in beside(f"{kind}.{label}")))
        for label, total in zip(labels, sums, strict=True)
    ]
    counts = [
        (label, *published["confusion"][place], *(other[name][place] for name in other), sums[place])
        for place, label in enumerate(labels)
    ]
    return [
        Table([CHANCE], head, rows),
        Table([], ("estimate", "value", "by chance"), [(name, *beside(name)) for name in MEANS]),
        Table(["Rows are references, columns answers."], ("reference", *labels, *other, "sum"), counts),
    ]


def _sum(published: Mapping[str, Any], place: int) -> int:
    """All clips of one reference label."""
    return int(
        sum(published["confusion"][place]) + sum(column[place] for column in published["confusionOther"].values())
    )
