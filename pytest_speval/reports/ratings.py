"""Ratings as a table: what they were held against, and the means of the scorer's further scores."""

from __future__ import annotations

from pytest_speval.judge.result import Result
from pytest_speval.reports.cohorts import Table
from pytest_speval.reports.wording import number

UNCALIBRATED = (
    "No human ratings: the numbers are what a model predicts of listeners, and nothing here shows how well it does so "
    "on these clips."
)
RANKED = "No system is ranked: correlations say how far the scorer orders clips and systems as people do."
COMPARISONS = ("pearson", "spearman", "mse")


def uncompared(result: Result, metric: str) -> bool:
    """Whether an estimate is one that only human ratings could give, of a run that has none."""
    found = result.published.get("ratings")
    return found is not None and not found["rated"] and metric.startswith(COMPARISONS)


def rating_tables(result: Result) -> list[Table]:
    """The ratings of a run; none for a task without ratings."""
    found = result.published.get("ratings")
    if found is None:
        return []
    planned = result.counts.planned
    if not found["rated"]:
        said = [UNCALIBRATED]
    else:
        systems = "" if found["systems"] is None else f", {found['systems']:,} systems"
        rated = f"{found['rated']:,} of {planned:,} clips have a human rating{systems}"
        said = [f"{rated}; their mean is {number(found['humanMean'])}.", RANKED]
    rows = [
        (name, number(score["mean"]), f"{score['clips']:,} of {planned:,}") for name, score in found["scores"].items()
    ]
    if rows:
        said.append("Further scores of the same calls, reported only:")
    return [Table(said, ("score", "mean", "clips"), rows)]
