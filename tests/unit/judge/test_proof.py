"""What gates catch: every mutation against a count by hand, and gates that cannot fail are found out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_speval.corpus.cohorts import CohortRule
from pytest_speval.judge.proof import NO_CLIPS, GateProof, Proof, mutations_of, prove
from pytest_speval.judge.result import Result
from pytest_speval.suite.gate import GateRule
from pytest_speval.tasks.registry import TASKS
from tests.against import against, baseline_of
from tests.runs import FAILED, UNATTEMPTED, UNKNOWN, Clip, gate, judged, said

REFERENCES = ("happy",) * 8 + ("sad",) * 6 + ("calm",) * 6
GOOD = [Clip(f"c{place:02}", label, said(label), f"s{place % 5}") for place, label in enumerate(REFERENCES)]


def proven(clips: Sequence[Clip], *gates: GateRule, **keys: Any) -> tuple[Result, Proof]:
    """Prove a run of these clips; `max_failed` is 0 unless it is given."""
    result = judged(clips, ("happy", "sad", "calm"), *gates, **({"max_failed": 0} | keys))
    endings = [clip.ending for clip in clips if clip.excluded is None]
    return prove(result.plan, TASKS[result.plan.question.task], result.bench, endings, result.audits)


def only(clips: Sequence[Clip], rule: GateRule, **keys: Any) -> GateProof:
    (found,) = proven(clips, rule, **keys)[1].gates
    return found


def endings_of(clips: Sequence[Clip], name: str, **keys: Any) -> Sequence[Any]:
    result = judged(clips, ("happy", "sad", "calm"), **keys)
    task = TASKS[result.plan.question.task]
    found = mutations_of(result.plan, task, result.bench, [clip.ending for clip in clips], 7)
    return next(one.endings for one in found if one.name == name)


@settings(max_examples=25)
@given(st.lists(st.sampled_from(["happy", "sad", None]), min_size=1, max_size=40))
def test_shuffled_answers_are_the_same_answers(labels: list[str | None]) -> None:
    clips = [
        Clip(f"c{place}", "happy", FAILED if label is None else said(label, microseconds=place))
        for place, label in enumerate(labels)
    ]
    mutated = endings_of(clips, "shuffled")
    assert Counter(map(repr, mutated)) == Counter(repr(clip.ending) for clip in clips)


def test_every_mutation_changes_what_it_says_and_nothing_else() -> None:
    spans = [one.ending.microseconds for one in GOOD]
    assert [one.ending for one in GOOD] != list(endings_of(GOOD, "shuffled"))
    assert [(one.state, one.answer) for one in endings_of(GOOD, "constant")] == [("returned", {"label": "happy"})] * 20
    assert [(one.state, one.answer) for one in endings_of(GOOD, "silent")] == [("returned", {})] * 20
    assert [one.microseconds for one in endings_of(GOOD, "constant")] == spans
    assert {one.state for one in endings_of(GOOD, "failed")} == {"failed"}
    missing = endings_of(GOOD, "missing")
    assert missing.count(UNATTEMPTED) == 10
    assert all(one in (UNATTEMPTED, clip.ending) for one, clip in zip(missing, GOOD, strict=True))
    slow = endings_of(GOOD, "slow")
    assert [one.microseconds for one in slow] == [1000 * (span or 0) for span in spans]
    assert [one.answer for one in slow] == [clip.ending.answer for clip in GOOD]


def test_a_sound_gate_is_told_by_what_it_refuses() -> None:
    found = only(GOOD, gate(min=0.9))
    assert (found.stored, found.sound) == ("pass", True)
    assert found.verdicts == {
        "shuffled": "fail",
        "constant": "fail",
        "silent": "fail",
        "failed": "invalid",
        "missing": "invalid",
        "slow": "pass",
    }
    assert found.caught == ("shuffled", "constant", "silent", "failed", "missing")
    assert found.fails == ("shuffled", "constant", "silent", "missing")


@pytest.mark.parametrize(
    "rule",
    [
        gate(min=0.0),
        gate("macro_f1", min=0.0),
        gate("coverage", min=0.0),
        gate("failure_rate", max=1.0),
        gate("abstention_rate", max=1.0),
        gate("clips", min=0.0),
        gate("latency_ms.mean", max=1e9),
    ],
)
def test_a_gate_that_nothing_can_fail_is_vacuous_though_broken_runs_stop_it(rule: GateRule) -> None:
    found = only(GOOD, rule)
    assert (found.stored, found.fails, found.sound) == ("pass", (), False)
    assert found.verdicts["failed"] == found.verdicts["missing"] == "invalid"


@pytest.mark.parametrize(
    ("rule", "fails"),
    [
        (gate("coverage", min=1.0), ("silent", "failed", "missing")),
        (gate("failure_rate", max=0.0), ("failed", "missing")),
        (gate("abstention_rate", max=0.5), ("silent",)),
        (gate("latency_ms.mean", max=30.0), ("slow",)),
        (gate("clips", min=20.0), (NO_CLIPS,)),
        (gate("support.calm", min=3.0), (NO_CLIPS,)),
        (gate("recall.calm", min=0.9), ("shuffled", "constant", "silent", "missing")),
        (gate(min=0.41), ("shuffled", "constant", "silent")),
        (gate(min=0.4), ("shuffled", "silent")),
    ],
)
def test_the_mutations_that_go_beyond_a_limit_are_those_one_counts_by_hand(
    rule: GateRule, fails: tuple[str, ...]
) -> None:
    """The most frequent label is right on 8 of 20 clips; half of the clips leave 10 right ones of 20."""
    assert only(GOOD, rule).fails == fails


def test_a_waiver_or_a_warning_is_no_excuse() -> None:
    assert only(GOOD, gate(min=0.0, level="warn")).sound is False
    assert only(GOOD, gate(min=0.9, level="warn")).sound is True


def test_a_gate_that_fails_as_it_is_can_fail() -> None:
    clips = [*GOOD[:-1], Clip("c19", "calm", said(), "s4")]
    found = only(clips, gate("abstention_rate", max=0.01), task="emotion")
    assert (found.stored, found.sound) == ("fail", True)


def test_a_gate_that_cannot_be_judged_is_not_shown_to_fail() -> None:
    found = only([Clip(one.id, one.label, one.ending) for one in GOOD], gate("speakers", min=0.0))
    assert (found.stored, found.fails, found.sound) == ("invalid", (), False)


@pytest.mark.parametrize("ending", [FAILED, UNKNOWN, UNATTEMPTED])
def test_a_run_without_a_verdict_proves_nothing(ending: Any) -> None:
    result, proof = proven([*GOOD, Clip("c20", "sad", ending, "s1")], gate(min=0.1))
    assert result.refused is not None
    assert (proof.gates, proof.mutations, proof.sound) == ((), (), False)


def test_a_run_without_gates_is_not_sound() -> None:
    assert proven(GOOD)[1].sound is False


def test_one_vacuous_gate_makes_the_proof_unsound() -> None:
    assert proven(GOOD, gate(min=0.5))[1].sound
    assert not proven(GOOD, gate(min=0.5), gate("uar", min=0.0))[1].sound


def test_why_the_whole_run_gives_no_verdict_is_told() -> None:
    refused = proven(GOOD, gate(min=0.5))[1].refused
    assert {name: why for name, why in refused.items() if why is not None} == {
        "failed": "20 of 20 clips failed where run.max_failed allows 0",
        "missing": "10 of 20 clips: no verdict",
    }


def test_where_failures_are_allowed_the_gate_itself_must_see_them() -> None:
    found = only(GOOD, gate("coverage", min=0.9), max_failed=20)
    assert found.verdicts["failed"] == "fail"


def test_a_gate_on_a_baseline_is_proven_too() -> None:
    baseline = baseline_of(GOOD)
    result = judged(GOOD, ("happy", "sad", "calm"), rules=baseline.plan.rules, max_failed=0)
    for drop, sound in ((0.05, True), (1.0, False)):
        bench = replace(result.bench, gates=(against(baseline, max_drop=drop),))
        endings = [one.ending for one in GOOD]
        _, proof = prove(result.plan, TASKS["emotion"], bench, endings, (), baselines={baseline.sha256: baseline})
        assert proof.sound is sound


def test_one_group_that_is_served_worse_is_a_mutation_of_its_own() -> None:
    clips = [
        Clip(one.id, one.label, one.ending, one.speaker, cells={"cohort.accent": "ab"[place % 2]})
        for place, one in enumerate(GOOD)
    ]
    mutated = endings_of(clips, "one accent", cohorts=(CohortRule("accent"),))
    assert [one.answer for one in mutated] == [[{}, clip.ending.answer][place % 2] for place, clip in enumerate(GOOD)]
    keys: dict[str, Any] = {"cohorts": (CohortRule("accent"),)}
    gap = gate(cohort="accent", gap=True, max=0.5)
    assert only(clips, gap, **keys).fails == ("one accent",)
    assert only(clips, replace(gap, max=1.0), **keys).sound is False


AXES = ("valence", "arousal", "dominance")


def test_ratings_words_and_outcomes_are_proven_by_answers_of_their_own() -> None:
    ratings = [place / 20 for place in range(20)]
    affect = [
        Clip(f"c{place}", "", said(vad=dict.fromkeys(AXES, value)), cells={"valence": str(value)})
        for place, value in enumerate(ratings)
    ]
    keys: dict[str, Any] = {"task": "affect", "missing": "withhold", "ranges": {"valence": (0.0, 1.0)}}
    assert only(affect, gate("ccc.valence", min=0.5), **keys).fails == ("shuffled", "constant")
    assert only(affect, gate("mae.valence", max=1.0), **keys).fails == ()
    words = [
        Clip(f"c{place}", "", said(text=f"word{place} and"), cells={"transcript": f"word{place} and"})
        for place in range(8)
    ]
    assert only(words, gate("wer", max=0.3), task="asr").fails == ("shuffled", "constant", "missing")
    assert only(words, gate("wer", max=1.0), task="asr").fails == ()
    outcomes = [Clip(f"c{place}", "", said(outcome="matched"), cells={"outcome": "matched"}) for place in range(8)]
    assert only(outcomes, gate("completion", min=0.6), task="outcome").fails == ("constant", "silent", "missing")
