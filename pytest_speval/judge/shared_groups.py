"""The groups of the clips that a run shares with a baseline: which are shown, and what changed in each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_speval.corpus.cohorts import CohortRule, Group
from pytest_speval.evidence.plan import Question
from pytest_speval.judge.difference import Difference
from pytest_speval.judge.group import SmallGroups
from pytest_speval.judge.grouping import Grouping, cohort_cells
from pytest_speval.judge.sample import unit_codes

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SharedGroup:
    """One group of the candidate's clips, as far as they are shared and not quarantined.

    `clips` are their numbers among the shared ones. A group that is `suppressed`, for this reason, has no differences.
    """

    cohort: str
    group: Group
    clips: Codes
    speakers: int | None
    suppressed: str | None
    differences: Mapping[str, Difference] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as it stands in `out.json`."""
        return {
            "group": self.group.as_dict(),
            "clips": len(self.clips),
            "speakers": self.speakers,
            "suppressed": self.suppressed,
            "metrics": {name: found.as_dict() for name, found in self.differences.items()},
        }


@dataclass(frozen=True, eq=False)
class Worse:
    """An estimate that got worse, in a group or (None) over all shared clips."""

    group: SharedGroup | None
    metric: str
    difference: Difference

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as it stands in `out.json`; `sure` says that the interval excludes 0."""
        where = self.group
        return {
            "cohort": None if where is None else where.cohort,
            "group": None if where is None else where.group.as_dict(),
            "metric": self.metric,
            "difference": self.difference.estimate.value,
            "sure": self.difference.sure,
        }


def shared_groups(
    question: Question, shared: Codes, rules: Sequence[CohortRule], small: SmallGroups | None
) -> Iterator[SharedGroup]:
    """The groups of the planned clips that are `shared`, by cohort, in the order of their names.

    A group is as large here as its shared clips: one that is shown elsewhere may be too small for a comparison.
    """
    places = np.array(question.planned, dtype=np.int64)[shared]
    kept = ~np.isin(places, sorted(question.quarantined))
    speakers = unit_codes(question, "speaker")[0][shared] if "speaker" in question.cells else None
    for rule in rules:
        grouping = Grouping.of(cohort_cells(question, rule.name), rule.groups)
        for number, group in enumerate(grouping.groups):
            clips = np.flatnonzero(grouping.within(number)[places] & kept)
            if not len(clips):
                continue
            count = None if speakers is None else len(np.unique(speakers[clips][speakers[clips] >= 0]))
            yield SharedGroup(rule.name, group, clips, count, (small or SmallGroups()).refusal(len(clips), count))


def by_cohort(groups: Sequence[SharedGroup]) -> dict[str, list[dict[str, Any]]]:
    """Groups as plain data, by the name of their cohort."""
    names = dict.fromkeys(group.cohort for group in groups)
    return {name: [group.as_dict() for group in groups if group.cohort == name] for name in names}
