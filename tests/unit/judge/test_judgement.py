"""From endings to a result: counts, rows, and when no verdict may be given."""

from __future__ import annotations

import pytest

from pytest_speval.audit.finding import Audit, Finding
from pytest_speval.evidence.canonical import canonical
from pytest_speval.evidence.ending import UNATTEMPTED, UNKNOWN, Ending
from pytest_speval.suite.gate import GateRule
from tests.runs import FAILED, Clip, gate, judged, said, waiver

CLIPS = [
    Clip("c0", "happy", said("happy"), "ann"),
    Clip("c1", "sad", said("glad"), "ann"),
    Clip("c2", "sad", FAILED, "bob", excluded="mis-cut, 305 s"),
    Clip("c3", "sad", said(), None),
    Clip("c4", "calm", FAILED, "bob"),
    Clip("c5", "calm", UNKNOWN, "bob"),
    Clip("c6", "happy", UNATTEMPTED, "zoe"),
    Clip("c7", "happy", said("sad"), "zoe"),
    Clip("c8", "sad", said("sad"), "zoe", excluded="mis-cut, 305 s"),
    Clip("c9", "sad", said("sad"), "zoe", excluded="synthetic voice"),
]


def test_counts_and_exclusions_cover_every_listed_clip() -> None:
    result = judged(CLIPS)
    assert result.counts.as_dict() == {
        "listed": 10, "planned": 7, "excluded": 3, "answered": 2, "abstained": 2, "failed": 1, "unknown": 1,
        "unattempted": 1, "quarantined": 0,
    }  # fmt: skip
    assert result.exclusions == {"mis-cut, 305 s": 2, "synthetic voice": 1}
    assert not result.complete


def test_every_listed_clip_has_a_row_in_the_order_of_the_manifest() -> None:
    rows = list(judged(CLIPS).rows)
    assert [row.id for row in rows] == [clip.id for clip in CLIPS]
    shown = [(row.status, row.answer, row.correct) for row in rows]
    assert shown == [
        ("answered", "happy", True),
        ("abstained", None, False),
        ("excluded", None, None),
        ("abstained", None, False),
        ("failed", None, False),
        ("unknown", None, False),
        ("unattempted", None, False),
        ("answered", "sad", False),
        ("excluded", None, None),
        ("excluded", None, None),
    ]
    assert rows[1].raw == {"label": "glad"}
    assert rows[2].reason == "mis-cut, 305 s"
    assert rows[4].reason == "raised: RuntimeError: no luck (classify, line 7)"
    assert rows[5].reason == "never-came-back: the call was entered and never came back"
    assert rows[0].as_dict() == {
        "split": "test", "id": "c0", "status": "answered", "reason": None, "reference": "happy", "answer": "happy",
        "correct": True, "units": {"speaker": "ann"}, "raw": {"label": "happy"}, "attempts": 1,
    }  # fmt: skip
    assert {row.reference for row in rows if row.status == "excluded"} == {None}
    assert all(canonical(row.as_dict()) for row in rows)


def test_a_row_shows_the_units_that_the_corpus_has() -> None:
    clips = [Clip("c0", "sad", said("sad"), "ann", cells={"session": ("1", "2"), "family": None, "text": "hello"})]
    (row,) = judged(clips).rows
    assert row.units == {"speaker": "ann", "session": ("1", "2"), "family": None}


def test_an_invalid_answer_is_kept_as_it_was() -> None:
    ending = Ending("failed", {"raw": "EmotionRead(label=3)"}, "invalid-answer", "a label is int, not a string")
    (row,) = judged([Clip("c0", "sad", ending)]).rows
    assert (row.status, row.answer, row.raw) == ("failed", None, {"raw": "EmotionRead(label=3)"})
    assert row.reason == "invalid-answer: a label is int, not a string"


GATES = (gate(min=0.0), gate("coverage", min=0.0, level="warn"), gate("macro_f1", min=1.0, waiver=waiver()))


@pytest.mark.parametrize(
    ("endings", "max_failed", "reason"),
    [
        ([FAILED], 0, "1 of 4 clips failed where run.max_failed allows 0"),
        ([UNKNOWN], 0, "1 of 4 clips failed where run.max_failed allows 0"),
        ([FAILED, UNKNOWN], 1, "2 of 5 clips failed where run.max_failed allows 1"),
        ([FAILED, UNKNOWN], 2, None),
        ([said(), said("glad")], 0, None),
        ([UNATTEMPTED], 9, "3 of 4 clips: no verdict"),
        ([UNATTEMPTED, FAILED], 0, "4 of 5 clips: no verdict"),
    ],
)
def test_clips_that_are_missing_make_every_gate_invalid(
    endings: list[Ending], max_failed: int, reason: str | None
) -> None:
    answered = [said("happy")] * 3
    clips = [Clip(f"c{number}", "happy", ending) for number, ending in enumerate([*answered, *endings])]
    result = judged(clips, ("happy", "sad"), *GATES, max_failed=max_failed)
    assert result.refused == reason == result.invalid
    if reason is None:
        assert [verdict.verdict for verdict in result.verdicts] == ["pass", "pass", "fail"]
        return
    for verdict in result.verdicts:
        assert (verdict.verdict, verdict.reason, verdict.waived) == ("invalid", reason, None)
    assert not result.blocked
    bare = judged(clips, ("happy", "sad"), max_failed=max_failed)
    assert bare.invalid == reason


def test_a_failed_audit_comes_first() -> None:
    audits = [
        Audit("corpus", (Finding("warning", "silent", "one clip is silent"),)),
        Audit("adapter", (Finding("error", "model-missing", "no model file a.onnx"), Finding("error", "x", "y"))),
    ]
    clips = [Clip("c0", "happy", UNATTEMPTED)]
    result = judged(clips, ("happy", "sad"), *GATES, audits=audits)
    assert result.invalid == "audit[adapter] failed: no model file a.onnx (and 1 more)"
    assert {verdict.verdict for verdict in result.verdicts} == {"invalid"}
    assert judged([Clip("c0", "happy", said("happy"))], ("happy", "sad"), audits=audits[:1]).invalid is None


def test_an_invalid_gate_makes_the_run_invalid_though_others_pass() -> None:
    clips = [Clip("c0", "happy", said("happy"))]
    result = judged(clips, ("happy", "sad"), gate(min=0.5), gate("speakers", min=1.0))
    assert [verdict.verdict for verdict in result.verdicts] == ["pass", "invalid"]
    assert result.invalid == "speakers is undefined: no speaker column"
    assert not result.blocked


def test_only_a_blocking_gate_that_fails_blocks() -> None:
    clips = [Clip("c0", "happy", said("sad"))]
    for keys, blocked in (({}, True), ({"level": "warn"}, False), ({"waiver": waiver()}, False)):
        result = judged(clips, ("happy", "sad"), gate(min=0.5, **keys))
        assert [verdict.verdict for verdict in result.verdicts] == ["fail"]
        assert result.blocked == blocked
        assert result.invalid is None


def test_a_partial_result_has_no_verdicts() -> None:
    result = judged(CLIPS, ("happy", "sad", "calm"), *GATES, partial=True)
    assert result.verdicts == ()
    assert result.partial


RIGHT, WRONG, NONE = said("happy"), said("sad"), said()


@pytest.mark.parametrize(
    ("endings", "rule", "flips"),
    [
        ([RIGHT, WRONG, WRONG, FAILED], gate("coverage", min=0.5), 2),
        ([RIGHT, WRONG, NONE, FAILED], gate("coverage", min=0.75), 1),
        ([RIGHT, WRONG, NONE, FAILED], gate("failure_rate", max=0.25), 1),
        ([RIGHT, UNKNOWN, NONE, FAILED], gate("failure_rate", max=0.25), 1),
        ([RIGHT, UNKNOWN, UNKNOWN, FAILED], gate("failure_rate", max=0.0), 3),
        ([RIGHT, NONE, NONE, FAILED], gate("abstention_rate", max=0.25), 1),
        ([RIGHT, WRONG, WRONG, FAILED], gate("accuracy", min=0.75), 2),
        ([RIGHT] * 4, gate("clips", min=2.0), None),
        ([RIGHT] * 4, gate("latency_ms.mean", max=5.0), None),
    ],
)
def test_flips_of_rates_are_exact_and_sizes_and_times_have_none(
    endings: list[Ending], rule: GateRule, flips: int | None
) -> None:
    clips = [Clip(f"c{number}", "happy", ending) for number, ending in enumerate(endings)]
    (found,) = judged(clips, ("happy", "sad"), rule).verdicts
    assert found.flips == flips
