"""Whether gates can fail: stored evidence judged again as if the answers had been worth nothing.

Each mutation changes how the planned clips ended and nothing else. A gate catches one when it does not pass. That a run
gives no verdict at all (too many clips failed, some are missing) stops every gate, however loose; so a gate is sound
only where a mutation goes beyond its own limit. To see that, such a run is judged once more with failures allowed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pytest_speval.audit.finding import Audit
from pytest_speval.corpus.cohorts import CohortRule
from pytest_speval.evidence.baseline import Baseline
from pytest_speval.evidence.ending import UNATTEMPTED, UNKNOWN, Ending
from pytest_speval.evidence.partner import Partner
from pytest_speval.evidence.plan import Plan, Question
from pytest_speval.judge.bench import Bench
from pytest_speval.judge.grouping import Grouping, cohort_cells
from pytest_speval.judge.judgement import judge
from pytest_speval.judge.result import Result
from pytest_speval.scoring.chance import shuffled
from pytest_speval.suite.gate import GateRule
from pytest_speval.tasks.base import Task
from pytest_speval.tasks.stand_in import STAND_INS, Answer

Endings = Sequence[Ending]
SEED = 20260817
SLOWER = 1000
BROKEN = Ending("failed", code="mutated", message="every clip failed")
SIZES = ("clips", "speakers", "effective_speakers")
NO_CLIPS = "no clips"
"""What stands for a mutation with gates on sizes, which no answers change: a size of 0."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """A name, what it does, and the endings it leads to."""

    name: str
    about: str
    endings: Endings


@dataclass(frozen=True, slots=True)
class GateProof:
    """What one gate says of the evidence as it is, and under each mutation.

    `verdicts` maps a mutation to pass, fail or invalid. `fails` names those that go beyond the gate's own limit.
    """

    rule: GateRule
    stored: str
    verdicts: Mapping[str, str]
    fails: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Say whether something is known that the gate would refuse."""
        return bool(self.fails) or self.stored == "fail"

    @property
    def caught(self) -> tuple[str, ...]:
        """The mutations under which the gate does not pass."""
        return tuple(name for name, verdict in self.verdicts.items() if verdict != "pass")


@dataclass(frozen=True, slots=True)
class Proof:
    """What the gates of a run catch; `refused` says of each mutation why the whole run gives no verdict then."""

    mutations: tuple[Mutation, ...]
    gates: tuple[GateProof, ...]
    refused: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def sound(self) -> bool:
        """Say whether every gate is, and whether there is one."""
        return bool(self.gates) and all(gate.sound for gate in self.gates)


def prove(
    plan: Plan,
    task: Task,
    bench: Bench,
    endings: Endings,
    audits: Sequence[Audit],
    *,
    baselines: Mapping[str, Baseline] | None = None,
    partners: Sequence[Partner] = (),
    seed: int = SEED,
) -> tuple[Result, Proof]:
    """Judge the evidence as it is and under every mutation; returns the first result, and what the gates catch.

    Where the evidence as it is gives no verdict, or has no gates, nothing is mutated.
    """

    def judged(changed: Endings, bench: Bench) -> Result:
        return judge(plan, task, bench, changed, audits, baselines=baselines, partners=partners)

    stored = judged(endings, bench)
    if stored.refused is not None or not stored.verdicts:
        return stored, Proof((), ())
    mutations = mutations_of(plan, task, bench, endings, seed)
    results = {one.name: judged(one.endings, bench) for one in mutations}
    lenient = replace(bench, max_failed=len(endings))
    alone = {
        one.name: judged(_came_to_nothing(one.endings), lenient) if results[one.name].refused else results[one.name]
        for one in mutations
    }
    gates = tuple(
        _gate_proof(place, verdict.rule, verdict.verdict, results, alone)
        for place, verdict in enumerate(stored.verdicts)
    )
    return stored, Proof(mutations, gates, {name: result.refused for name, result in results.items()})


def _gate_proof(
    place: int, rule: GateRule, stored: str, results: Mapping[str, Result], alone: Mapping[str, Result]
) -> GateProof:
    fails = [name for name, result in alone.items() if result.verdicts[place].verdict == "fail"]
    if (rule.metric in SIZES or rule.metric.startswith("support.")) and not rule.holds(0.0):
        fails.append(NO_CLIPS)
    return GateProof(
        rule, stored, {name: result.verdicts[place].verdict for name, result in results.items()}, tuple(fails)
    )


def mutations_of(plan: Plan, task: Task, bench: Bench, endings: Endings, seed: int) -> tuple[Mutation, ...]:
    """All mutations that the task knows; each has one ending for each planned clip."""
    order = shuffled(len(endings), seed).tolist()
    missing = frozenset(order[: (len(order) + 1) // 2])
    alike: list[Mutation] = []
    stand_in = STAND_INS.get(plan.question.task)
    if stand_in is not None:
        references = task.read(plan.question, bench.scoring, endings).references
        alike += _answered("constant", stand_in.about, stand_in.constant(references, bench.scoring), endings)
        alike += _answered("silent", "no choice", stand_in.silence, endings)
    withholds = "withhold" in (task.word.missing, bench.scoring.missing)
    worst = None if withholds or not alike else alike[-1]
    return (
        Mutation("shuffled", "whole answers dealt to other clips", [endings[place] for place in order]),
        *alike,
        Mutation("failed", "every clip failed", [BROKEN] * len(endings)),
        Mutation(
            "missing",
            "half of the clips were not asked",
            [UNATTEMPTED if place in missing else ending for place, ending in enumerate(endings)],
        ),
        Mutation("slow", f"every call took {SLOWER:,} times as long", [_slow(ending) for ending in endings]),
        *(one for rule in bench.cohorts for one in _unequal(plan.question, rule, worst, endings, seed)),
    )


def _unequal(
    question: Question, rule: CohortRule, worst: Mutation | None, endings: Endings, seed: int
) -> Iterator[Mutation]:
    """The largest group of a cohort served worse than all others: what a gate on groups is there to see.

    Its clips end as in the `worst` mutation; where there is none, their answers are dealt among them instead.
    """
    grouping = Grouping.of(cohort_cells(question, rule.name), rule.groups)
    planned = np.array(question.planned, dtype=np.int64)
    named = [place for place, group in enumerate(grouping.groups) if group.value is not None]
    members = [np.flatnonzero(grouping.within(place)[planned]) for place in named]
    parts = [clips for clips in members if 0 < len(clips) < len(planned)]
    if not parts:
        return
    chosen, changed = max(parts, key=len), list(endings)
    for clip, other in zip(chosen.tolist(), chosen[shuffled(len(chosen), seed)].tolist(), strict=True):
        changed[clip] = endings[other] if worst is None else worst.endings[clip]
    what = "answers dealt within the" if worst is None else f"as `{worst.name}` for the"
    yield Mutation(f"one {rule.name}", f"{what} largest group of {rule.name}", changed)


def _answered(name: str, about: str, answer: Answer | None, endings: Endings) -> list[Mutation]:
    """One answer to every clip, in the time that its own call took; nothing where the task has no such answer."""
    if answer is None:
        return []
    changed = [Ending("returned", answer, None, None, one.microseconds, one.reported_ms) for one in endings]
    return [Mutation(name, f"every clip answered alike: {about}", changed)]


def _slow(ending: Ending) -> Ending:
    ours, reported = ending.microseconds, ending.reported_ms
    return replace(
        ending,
        microseconds=None if ours is None else ours * SLOWER,
        reported_ms=None if reported is None else reported * SLOWER,
    )


def _came_to_nothing(endings: Endings) -> Endings:
    """The same with clips that were asked in vain instead of not at all: all estimates count them alike."""
    return [UNKNOWN if ending.state == "unattempted" else ending for ending in endings]
