"""A run by groups of its clips: the task's own figures for each, over the draws of the whole.

Groups may share clips. They are neither summed nor ranked, and a group without clips has no row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from pytest_speval.corpus.cohorts import CohortRule, Group
from pytest_speval.evidence.plan import Question
from pytest_speval.judge.estimation import (
    STATUSES,
    Floats,
    ended,
    estimate,
    replicates_of,
    sizes,
    unit_statistics,
    withheld,
)
from pytest_speval.judge.group import Basis, CohortResult, GroupResult, SmallGroups
from pytest_speval.judge.grouping import Codes, Flags, Grouping, cohort_cells, conditions
from pytest_speval.judge.sample import Sample, unit_codes
from pytest_speval.scoring.bootstrap import Clusters
from pytest_speval.scoring.counts import Counts
from pytest_speval.scoring.shares import mean_share
from pytest_speval.tasks.base import Figures, Reading


@dataclass(frozen=True)
class Run:
    """What all cohorts of a run share; clips are numbered as they are planned.

    `kept` are the numbers of the clips that are not quarantined, `places` where each planned clip is listed,
    `ended` its status among STATUSES, `right` whether it is right, None where the task does not know that. `gaps` are
    the metrics that gates want the gap of; where there are any, `names` ranks the clips by their names.
    """

    missing: str
    sample: Sample
    reading: Reading
    small: SmallGroups
    kept: Codes
    places: Codes
    excluded: Flags
    ended: Codes
    right: Flags | None
    speakers: Codes | None
    speaker_count: int
    names: Codes
    conditions: Mapping[str, Grouping]
    gaps: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        question: Question,
        missing: str,
        sample: Sample,
        reading: Reading,
        small: SmallGroups,
        gaps: frozenset[str] = frozenset(),
    ) -> Run:
        """Prepare what does not depend on a cohort."""
        places = np.array(question.planned, dtype=np.int64)
        speakers = unit_codes(question, "speaker") if "speaker" in question.cells else (None, 0)
        correct = None if None in reading.correct else np.array(reading.correct, dtype=bool)
        return cls(
            missing=missing,
            sample=sample,
            reading=reading,
            small=small,
            kept=np.flatnonzero(~np.isin(places, sorted(question.quarantined))),
            places=places,
            excluded=np.array([reason is not None for reason in question.excluded], dtype=bool),
            ended=ended(reading.statuses),
            right=correct,
            speakers=speakers[0],
            speaker_count=speakers[1],
            names=unit_codes(question, "clip")[0] if gaps else np.empty(0, dtype=np.int64),
            conditions=conditions(question),
            gaps=gaps,
        )

    def speakers_of(self, clips: Codes) -> Clusters | None:
        """The speakers of some clips, None without a speaker column."""
        return None if self.speakers is None else Clusters.of(self.speakers[clips], self.speaker_count)


@dataclass(frozen=True)
class Part:
    """One group of a run: its planned clips that are not quarantined."""

    run: Run
    clips: Codes
    counts: Counts
    speakers: Clusters | None
    sample: Sample
    figures: Figures

    @classmethod
    def of(cls, run: Run, within: Flags) -> Part:
        """The part of the listed clips that are `within` a group, bool [n]."""
        clips = run.kept[within[run.places[run.kept]]]
        found = np.bincount(run.ended[clips], minlength=len(STATUSES)).tolist()
        excluded = int(np.count_nonzero(within & run.excluded))
        counts = Counts(len(clips) + excluded, len(clips), excluded, *found)
        return cls(run, clips, counts, run.speakers_of(clips), run.sample.part(clips), run.reading.part(clips))

    @property
    def suppressed(self) -> str | None:
        """Why the group is too small to be shown, or None."""
        return self.run.small.refusal(len(self.clips), None if self.speakers is None else self.speakers.clusters)

    @property
    def statistics(self) -> Floats:
        """What each unit of the part adds to the sums."""
        return unit_statistics(self.figures, self.run.ended[self.clips], self.sample)

    def result(self, group: Group, sums: Floats | None) -> GroupResult:
        """What the group amounts to, from the replicates' sums."""
        speakers = None if self.speakers is None else self.speakers.clusters
        if self.suppressed is not None:
            basis = Basis(self.clips, self.figures, {})
            return GroupResult(group, self.counts, speakers, self.suppressed, {}, {}, {}, {}, basis)
        replicates = replicates_of(self.figures, sums)
        kept = {name: values for name, values in replicates.values.items() if name in self.run.gaps}
        estimates = estimate(self.run.missing, self.sample, self.figures, self.counts, replicates)
        return GroupResult(
            group,
            self.counts,
            speakers,
            None,
            self.figures.tally(),
            self._rates(),
            estimates | sizes(self.counts, self.speakers),
            {name: self._values(condition) for name, condition in self.run.conditions.items()},
            Basis(self.clips, self.figures, kept),
        )

    def _rates(self) -> dict[str, Fraction]:
        """The shares of right clips by clip and by speaker, where the estimates of quality are given too."""
        if self.run.right is None or withheld(self.run.missing, self.counts) is not None:
            return {}
        right = self.run.right[self.clips]
        rates = {"clip": Fraction(int(np.count_nonzero(right)), len(right))}
        if self.run.speakers is not None:
            by_speaker = mean_share(right, self.run.speakers[self.clips], self.run.speaker_count)
            rates |= {} if by_speaker is None else {"speaker": by_speaker}
        return rates

    def _values(self, condition: Grouping) -> tuple[tuple[Group, int], ...]:
        """How many of the clips have each value of a condition, those that none has left out."""
        found = condition.sizes(self.run.places[self.clips]).tolist()
        return tuple((value, count) for value, count in zip(condition.groups, found, strict=True) if count)


def judge_cohorts(question: Question, run: Run, rules: Sequence[CohortRule]) -> tuple[CohortResult, ...]:
    """The groups of every cohort, over one set of draws; raises `ValueError` for a cohort that no clip has."""
    groupings = [Grouping.of(cohort_cells(question, rule.name), rule.groups) for rule in rules]
    parts = {
        (number, place): part
        for number, grouping in enumerate(groupings)
        for place in range(len(grouping.groups))
        if (part := Part.of(run, grouping.within(place))).counts.listed
    }
    shown = [key for key, part in parts.items() if part.suppressed is None]
    drawn = run.sample.replicate_parts([(parts[key].sample, parts[key].statistics) for key in shown])
    sums = dict(zip(shown, drawn, strict=True))
    return tuple(
        _cohort(
            run,
            rule,
            grouping,
            tuple(
                parts[number, place].result(group, sums.get((number, place)))
                for place, group in enumerate(grouping.groups)
                if (number, place) in parts
            ),
        )
        for number, (rule, grouping) in enumerate(zip(rules, groupings, strict=True))
    )


def _cohort(run: Run, rule: CohortRule, grouping: Grouping, groups: tuple[GroupResult, ...]) -> CohortResult:
    listed = run.places[run.kept]
    speakers = run.speakers_of(run.kept)
    return CohortResult(
        rule=rule,
        clips=len(run.kept),
        speakers=None if speakers is None else speakers.clusters,
        quarantined=len(run.places) - len(run.kept),
        shared_clips=int(np.count_nonzero(grouping.several[listed])),
        shared_speakers=None if run.speakers is None else _shared(run, grouping),
        groups=groups,
    )


def _shared(run: Run, grouping: Grouping) -> int:
    """How many speakers have clips in more than one group."""
    assert run.speakers is not None
    speakers, cells = run.speakers[run.kept], grouping.cells[run.places[run.kept]]
    known = speakers >= 0
    pairs = np.unique(speakers[known] * len(grouping.members) + cells[known])
    owners, said = np.divmod(pairs, max(1, len(grouping.members)))
    groups_of: npt.NDArray[np.int64] = np.zeros((run.speaker_count, len(grouping.groups)), dtype=np.int64)
    np.add.at(groups_of, owners, grouping.members[said])
    return int(np.count_nonzero((groups_of > 0).sum(axis=1) > 1))
