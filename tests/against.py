"""Made-up runs against made-up baselines, judged in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_speval.corpus.cohorts import CohortRule
from pytest_speval.corpus.labels import LabelRules
from pytest_speval.corpus.text import text_rules
from pytest_speval.evidence.baseline import Baseline
from pytest_speval.evidence.plan import Plan
from pytest_speval.judge.bench import Bench
from pytest_speval.judge.group import SmallGroups
from pytest_speval.judge.judgement import judge
from pytest_speval.judge.result import Result
from pytest_speval.judge.sample import IntervalRule
from pytest_speval.suite.gate import Against, GateRule
from pytest_speval.suite.text_keys import Text
from pytest_speval.tasks.base import Rules
from pytest_speval.tasks.registry import TASKS
from tests.runs import TODAY, Clip, gate, question_of

LABELS = ("happy", "sad", "calm")
RULES: Mapping[str, Any] = {"labels": {"set": list(LABELS)}, "run": {"missing": "worst"}}
BY_CLIP = IntervalRule(unit="clip", replicates=200)


def plan_of(clips: Sequence[Clip], task: str = "emotion", rules: Mapping[str, Any] = RULES, **question: Any) -> Plan:
    return Plan("voice", question_of(clips, task=task, **question), rules, {"pytest-speval": "0"})


def baseline_of(
    clips: Sequence[Clip], task: str = "emotion", rules: Mapping[str, Any] = RULES, **question: Any
) -> Baseline:
    """The baseline that a run of these clips makes."""
    endings = tuple(clip.ending for clip in clips if clip.excluded is None)
    return Baseline(plan_of(clips, task, rules, **question), (), endings)


def against(
    baseline: Baseline | None,
    metric: str = "accuracy",
    *,
    max_drop: float | None = None,
    min_gain: float | None = None,
    group: str | None = None,
    **keys: Any,
) -> GateRule:
    """A gate on a baseline."""
    allowed = Against(
        max_drop, min_gain, group, None, *((None, "there is none") if baseline is None else (baseline.sha256,))
    )
    return gate(metric, against=allowed, **keys)


def compared(
    clips: Sequence[Clip],
    baseline: Baseline,
    *gates: GateRule,
    task: str = "emotion",
    rules: Mapping[str, Any] = RULES,
    interval: IntervalRule = BY_CLIP,
    missing: str = "worst",
    ranges: Mapping[str, tuple[float, float]] | None = None,
    cohorts: Sequence[CohortRule] = (),
    small_groups: SmallGroups | None = None,
    **question: Any,
) -> Result:
    """The result of a run of these clips against a baseline; without gates against `max_drop: 0` of the headline."""
    headline = TASKS[task].word.headline
    labels = LabelRules(LABELS, absent="omit") if task == "emotion" else None
    bench = Bench(
        scoring=Rules(labels, ranges or {}, missing, text_rules(Text())),  # type: ignore[arg-type]
        interval=interval,
        headline=headline,
        max_failed=10**6,
        gates=gates or (against(baseline, headline, max_drop=0),),
        on=TODAY,
        cohorts=tuple(cohorts),
        small_groups=small_groups,
    )
    endings = [clip.ending for clip in clips if clip.excluded is None]
    plan = plan_of(clips, task, rules, **question)
    return judge(plan, TASKS[task], bench, endings, (), baselines={baseline.sha256: baseline})
