"""`out.json`: the published names, strict JSON, and nothing of the clock where it does not belong."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from pytest_speval.audit.finding import Audit, Finding
from pytest_speval.evidence.canonical import canonical
from pytest_speval.evidence.ending import UNATTEMPTED, UNKNOWN, Ending
from pytest_speval.judge.result import Result
from pytest_speval.reports.document import notes, out_document
from tests.runs import FAILED, TIMES, TODAY, Clip, gate, judged, said, waiver

LABELS = ("happy", "sad", "calm")
CLIPS = [
    Clip("c0", "happy", said("happy"), "ann"),
    Clip("c1", "happy", said("sad"), "bob"),
    Clip("c2", "sad", said("sad"), "cid"),
    Clip("c3", "sad", said("glad"), "dan"),
    Clip("c4", "sad", UNKNOWN, "dan"),
    Clip("c5", "sad", FAILED, excluded="mis-cut"),
]
PUBLISHED = {
    "schemaVersion", "suite", "model", "macroF1", "perClassF1", "confusion", "meanLatencyMs", "n", "runStartedAt",
    "elapsedSeconds", "abstentionRate", "notes",
}  # fmt: skip
ADDED = {
    "task", "labels", "counts", "metrics", "cohorts", "audits", "gates", "claim", "plan", "versions", "complete",
    "partial",
}  # fmt: skip
CLOCK = {"runStartedAt", "elapsedSeconds", "meanLatencyMs"}


def document(result: Result) -> dict[str, Any]:
    return out_document(result, TIMES)


def strictly(value: Any) -> Any:
    def refuse(word: str) -> Any:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(canonical(value), parse_constant=refuse)


def test_the_published_names_are_there() -> None:
    found = document(judged(CLIPS, LABELS, gate(min=0.1)))
    assert found.keys() >= PUBLISHED | ADDED
    assert found["schemaVersion"] == 1
    assert (found["suite"], found["model"], found["task"]) == ("voice", "small-net", "emotion")
    assert found["n"] == 5
    assert found["labels"] == list(LABELS)
    assert found["confusion"] == [[1, 1, 0], [0, 1, 0], [0, 0, 0]]
    assert found["confusionOther"] == {"abstained": [0, 0, 0], "outside": [0, 1, 0], "failed": [0, 1, 0]}
    assert sum(map(sum, found["confusion"])) + sum(map(sum, found["confusionOther"].values())) == found["n"]
    assert found["runStartedAt"] == "2026-11-29T08:30:15Z"
    assert found["elapsedSeconds"] == 12.5
    assert found["meanLatencyMs"] == found["metrics"]["latency_ms.mean"]["value"] == 1.5
    assert found["abstentionRate"] == 0.2
    assert found["counts"]["excluded"] == 1
    assert found["exclusions"] == {"mis-cut": 1}
    assert set(found["counts"]) == {
        "listed", "planned", "excluded", "answered", "abstained", "failed", "unknown", "unattempted", "quarantined",
    }  # fmt: skip
    assert found["plan"] == {
        "questionSha256": judged(CLIPS).plan.question.digest,
        "planSha256": judged(CLIPS).plan.digest,
        "postHoc": [],
        "askedUnder": None,
        "shard": None,
    }


def test_floats_are_unrounded_and_undefined_ones_null_with_a_reason() -> None:
    found = document(judged(CLIPS, LABELS))
    assert found["macroF1"] == found["metrics"]["macro_f1"]["value"] == (2 / 3 + 0.4) / 2
    assert found["perClassF1"] == {"happy": 2 / 3, "sad": 0.4, "calm": None}
    assert found["metrics"]["precision.calm"]["value"] is None
    for name, metric in found["metrics"].items():
        assert set(metric) == {
            "value",
            "numerator",
            "denominator",
            "n",
            "unit",
            "interval",
            "interval_reason",
            "reason",
        }
        assert (metric["value"] is None) == (metric["reason"] is not None), name
        assert (metric["interval"] is None) == (metric["interval_reason"] is not None), name


@pytest.mark.parametrize(
    "clips",
    [
        CLIPS,
        [],
        CLIPS[5:],
        [Clip("c", "sad", FAILED)],
        [Clip("c", "sad", UNATTEMPTED)],
        [Clip("c", "sad", said())],
    ],
    ids=["mixed", "none", "excluded", "failed", "unattempted", "abstained"],
)
@pytest.mark.parametrize("absent", ["zero", "omit"])
def test_every_document_is_strict_json(clips: list[Clip], absent: str) -> None:
    gates = [gate(min=0.1), gate("macro_f1", min=0.9, bound="low"), gate("latency_ms.mean", max=10.0)]
    result = judged(clips, LABELS, *gates, absent=absent)
    found = document(result)
    assert strictly(found) == json.loads(json.dumps(found, allow_nan=False))
    for row in result.rows:
        strictly(row.as_dict())


def test_what_was_not_measured_is_null_in_the_published_names_too() -> None:
    found = document(judged([Clip("c", "sad", FAILED)], LABELS))
    assert (found["macroF1"], found["perClassF1"], found["meanLatencyMs"]) == (None, None, None)
    assert found["confusionOther"]["failed"] == [0, 1, 0]


def test_a_task_without_labels_has_null_where_labels_would_be() -> None:
    clips = [Clip("c", "", said(vad={"valence": 0.5}), cells={"valence": "0.5"})]
    found = document(judged(clips, task="affect", ranges={"valence": (0.0, 1.0)}))
    for name in ("macroF1", "perClassF1", "confusion", "confusionOther", "labels", "absentLabels", "ceiling"):
        assert found[name] is None
    assert found["headline"] == "ccc.valence"
    assert found["metrics"]["mae.valence"]["value"] == 0.0


def test_only_the_clock_may_differ_between_two_runs() -> None:
    def run(microseconds: int) -> dict[str, Any]:
        clips = [replace(clip, ending=replace(clip.ending, microseconds=microseconds)) for clip in CLIPS]
        times = replace(TIMES, started=TIMES.started + timedelta(seconds=microseconds), elapsed=float(microseconds))
        return out_document(judged(clips, LABELS, gate(min=0.1)), times)

    one, other = run(1000), run(777)
    differing = {name for name in one if one[name] != other[name]}
    assert differing == {*CLOCK, "metrics"}
    metrics = {name for name in one["metrics"] if one["metrics"][name] != other["metrics"][name]}
    assert metrics == {"latency_ms.mean", "latency_ms.p50", "latency_ms.p95"}


def test_completeness() -> None:
    assert document(judged(CLIPS))["complete"]
    assert not document(judged([*CLIPS, Clip("d", "sad", UNATTEMPTED)]))["complete"]
    partial = document(judged(CLIPS, LABELS, gate(min=0.1), partial=True))
    assert (partial["complete"], partial["partial"], partial["gates"]) == (False, True, [])


def test_notes_tell_the_most_important_first() -> None:
    lapsed = TODAY - timedelta(1)
    gates = [
        gate(min=0.99, id="waived", waiver=waiver()),
        gate(min=0.99, id="lapsed", waiver=waiver(lapsed)),
        gate(min=0.99, id="warned", level="warn"),
        gate("macro_f1", min=0.9, id="beyond"),
    ]
    rules = {"claim": {"limits": ["One room.", "One day."]}, "overrides": ["run.max_failed=9"]}
    found = notes(judged(CLIPS, LABELS, *gates, absent="zero", rules=rules))
    assert found == [
        "No verdict: no answers could pass: macro_f1 reaches at most 0.66667 on these references, the gate asks 0.9.",
        "Overridden: run.max_failed=9.",
        "Waived: waived: known fault (release).",
        "Only a warning: warned: accuracy 0.4 < 0.99.",
        "Waiver expired and ignored: lapsed: known fault (release, until 2026-11-28).",
        "No reference has calm: it counts 0, so macro_f1 reaches at most 0.666667.",
        "Intervals are unreliable: 3.6 effective clusters of unit speaker.",
        "Limit: One room.",
        "Limit: One day.",
    ]
    assert "No reference has calm: it is left out of macro_f1." in notes(judged(CLIPS, LABELS))
    assert notes(judged(CLIPS, ("happy", "sad", "glad"), absent="zero"))[0].startswith("No reference has glad")


def test_an_audits_findings_stand_in_the_document() -> None:
    audit = Audit("corpus", (Finding("error", "missing", "no file c1.wav", ("test/c1",)),))
    found = document(judged([Clip("c1", "sad", Ending("unattempted"))], LABELS, gate(min=0.1), audits=[audit]))
    assert found["audits"] == [audit.as_dict()]
    assert found["gates"][0]["verdict"] == "invalid"
    assert found["notes"][0] == "No verdict: audit[corpus] failed: no file c1.wav."
