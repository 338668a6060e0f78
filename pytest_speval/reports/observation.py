"""What was seen of a scorer as a table: how many observations are complete, and how much of the clips was selected."""

from __future__ import annotations

from pytest_speval.judge.result import Result
from pytest_speval.reports.cohorts import Table
from pytest_speval.reports.wording import number

UNION = (
    "The union of a clip's crops is the range of selected input and nothing else: neither attention, nor the weight of "
    "what is mixed in, nor what anybody hears. It is told over complete observations only."
)


def unseen(result: Result) -> list[str]:
    """That observations of a run are incomplete, where any is."""
    found = result.published.get("observation")
    if found is None or not found["incomplete"]:
        return []
    seen = found["complete"] + found["incomplete"]
    return [f"{found['incomplete']:,} of {seen:,} observations are incomplete, first: {next(iter(found['faults']))}"]


def observation_tables(result: Result) -> list[Table]:
    """The observations of a run; none where nothing was observed."""
    found = result.published.get("observation")
    if found is None:
        return []
    planned = result.counts.planned
    counts = [(name, f"{found[name]:,} of {planned:,}") for name in ("complete", "incomplete", "unobserved")]
    said = [UNION, "An observation that failed is no failed rating, and none was repeated for it."]
    share = found["share"]
    if share is not None:
        over = f"over {found['complete']:,} clips with a complete observation"
        said.append(
            f"Share of a clip that any crop selects, {over}: mean {number(share['mean'])}, "
            f"from {number(share['min'])} to {number(share['max'])}."
        )
    said += [f"{count:,} times: {fault}" for fault, count in found["faults"].items()]
    return [Table(said, ("observations", "clips"), counts)]
