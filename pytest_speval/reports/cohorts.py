"""Cohorts and recorded outcomes as tables: what a report says of them, whatever it is written in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_speval.judge.group import CohortResult, GroupResult
from pytest_speval.judge.result import Result
from pytest_speval.reports.wording import ENDINGS, number, spread

NO_CAUSE = (
    "Groups stand in the order of their names; no group is compared with another. A difference between groups is not "
    "a cause: look at what else differs between them."
)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a head, with what must be said before them."""

    said: Sequence[str]
    head: Sequence[str]
    rows: Sequence[Sequence[object]]


def outcome_table(result: Result) -> Table | None:
    """What became of the clips, None for a task without recorded outcomes."""
    outcomes = result.published.get("outcomes")
    if outcomes is None:
        return None
    known = result.estimates["known_only.completion"]
    said = (
        f"known_only.completion is over {known.n:,} of {result.counts.planned:,} clips; it leaves out "
        f"{outcomes['unknown']:,} unknown."
    )
    return Table([said], ("outcome", "clips"), [(name, f"{clips:,}") for name, clips in outcomes.items()])


def cohort_tables(result: Result) -> Iterator[tuple[str, list[Table]]]:
    """Each cohort's name, and its tables: the groups, then their conditions."""
    for cohort in result.cohorts:
        tables = [_groups(result, cohort)] if cohort.groups else [Table([*_said(cohort), "No groups."], (), ())]
        yield cohort.rule.name, [*tables, *_conditions(cohort)]


def _said(cohort: CohortResult) -> list[str]:
    """Where the groups come from, how many clips and speakers there are in all, and whether groups overlap."""
    rule = cohort.rule
    told = [f"source: {rule.source}"] if rule.source else []
    told += [f"version {rule.version}"] if rule.version else []
    said = [f"Groups: {', '.join(told)}."] if told else []
    of_speakers = "" if cohort.speakers is None else f" of {_many(cohort.speakers, 'speaker')}"
    said.append(f"In all {_many(cohort.clips, 'clip')}{of_speakers}, each counted once.")
    if cohort.quarantined:
        said.append(f"Quarantined, their speaker not known: {_many(cohort.quarantined, 'clip')} in no group.")
    if cohort.overlapping:
        shared = _many(cohort.shared_clips, "clip")
        shared += "" if cohort.shared_speakers is None else f" and {_many(cohort.shared_speakers, 'speaker')}"
        said.append(f"{shared} are in more than one group: the groups overlap and do not add up.")
    return said


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _groups(result: Result, cohort: CohortResult) -> Table:
    shown = [group for group in cohort.groups if group.suppressed is None]
    tallies = list(dict.fromkeys(name for group in shown for name in group.tally))
    weights = list(dict.fromkeys(weight for group in shown for weight in group.rates))
    ended = [name for name in ENDINGS if name == "answered" or any(getattr(one.counts, name) for one in cohort.groups)]
    headline = result.bench.headline
    head = (
        "group",
        "speakers",
        "excluded",
        "planned",
        *ended,
        *tallies,
        *(f"right, by {weight}" for weight in weights),
    )
    rows = [
        (
            group.group,
            "—" if group.speakers is None else f"{group.speakers:,}",
            *(f"{getattr(group.counts, name):,}" for name in ("excluded", "planned", *ended)),
            *(_tally(group, name) for name in tallies),
            *(_rate(group, weight) for weight in weights),
            *_headline(group, headline),
        )
        for group in cohort.groups
    ]
    return Table([*_said(cohort), NO_CAUSE], (*head, headline, "how sure"), rows)


def _tally(group: GroupResult, name: str) -> str:
    return f"{group.tally[name]:,}" if name in group.tally else "—"


def _rate(group: GroupResult, weight: str) -> str:
    rate = group.rates.get(weight)
    return "—" if rate is None else f"{rate.numerator}/{rate.denominator}"


def _headline(group: GroupResult, name: str) -> tuple[str, str]:
    if group.suppressed is not None:
        return "—", f"suppressed: {group.suppressed}"
    estimate = group.estimates.get(name)
    if estimate is None:
        return "—", "not given by group"
    if estimate.value is None:
        return "—", f"undefined: {estimate.reason}"
    return number(estimate.value), spread(estimate)


def _conditions(cohort: CohortResult) -> Iterator[Table]:
    """One table a condition: planned clips of each group under each of its values."""
    shown = [group for group in cohort.groups if group.suppressed is None]
    for name in dict.fromkeys(name for group in shown for name in group.conditions):
        values = sorted({value for group in shown for value, _ in group.conditions[name]}, key=lambda value: value.rank)
        rows = []
        for group in shown:
            found = dict(group.conditions[name])
            rows.append((group.group, *(f"{found.get(value, 0):,}" for value in values)))
        left = len(cohort.groups) - len(shown)
        said = [f"Planned clips by {name}."] + ([f"{_many(left, 'suppressed group')} not shown here."] if left else [])
        yield Table(said, ("group", *map(str, values)), rows)
