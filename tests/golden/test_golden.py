"""Whole reports of one small made-up run, compared byte for byte.

A report that differs is left beside the golden one as `<name>.actual`. With SPEVAL_RENEW_GOLDEN=1 in the environment
the golden files are written anew instead; read the difference before it is committed.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pytest_speval.audit.finding import Audit, Finding
from pytest_speval.evidence.canonical import canonical
from pytest_speval.evidence.ending import UNKNOWN, Ending
from pytest_speval.judge.result import Result
from pytest_speval.judge.sample import IntervalRule
from pytest_speval.reports.document import out_document
from pytest_speval.reports.markdown import markdown_report
from pytest_speval.reports.summary import Entry, summary_document, summary_markdown
from tests.runs import FAILED, MODEL, TIMES, TODAY, Clip, gate, judged, said, waiver

HERE = Path(__file__).parent
RENEW = "SPEVAL_RENEW_GOLDEN"
VAD = {"valence": 0.75, "arousal": 1.0, "dominance": 1e-7}

CLIPS = [
    Clip("c00", "happy", said("happy", microseconds=1200), "ann"),
    Clip("c01", "happy", said("happy", scores={"happy": 0.75, "sad": 0.25}, microseconds=900), "ann"),
    Clip("c02", "happy", said("sad", vad=VAD, microseconds=2100), "bob"),
    Clip("c03", "sad", said("sad", microseconds=1500), "bob"),
    Clip("c04", "sad", said("sad", microseconds=1500), "cid"),
    Clip("c05", "sad", said("a|b <b>`x`</b>\n[y](javascript:1)", microseconds=1800), "cid"),
    Clip("c06", "sad", said(microseconds=700), "dan"),
    Clip("c07", "calm", said("calm", microseconds=1100), "dan"),
    Clip("c08", "calm", said(scores={"calm": 0.5, "sad": 0.5}, microseconds=1100), "eve"),
    Clip("c09", "calm", FAILED, "eve"),
    Clip("c10", "calm", Ending("failed", {"raw": "EmotionRead(label=3, …)"}, "invalid-answer",
                               "a label is int, not a string", 400), "fay"),
    Clip("c11", "happy", UNKNOWN, None),
    Clip("c12", "sad", FAILED, "fay", excluded="mis-cut, 305 s"),
    Clip("c13", "happy", FAILED, "fay", excluded="label xxx is dropped"),
    Clip("ünï/č", "happy", said("happy", microseconds=1000), "gil", split="dev"),
]  # fmt: skip
GATES = [
    gate("macro_f1", id="macro-f1", min=0.35, why="Deliberately low: a real improvement must not be refused."),
    gate("accuracy", id="accuracy", min=0.6, why="Half | of *chance*.", owner="speech"),
    gate("recall.calm", id="calm-is-heard", min=0.5, level="warn"),
    gate("uar", id="uar-low", min=0.25, bound="low"),
    gate("coverage", id="coverage", min=0.9, waiver=waiver(TODAY, "Two microphones are broken.")),
    gate("failure_rate", id="failures", max=0.1, waiver=waiver(TODAY - timedelta(1))),
    gate("clips", id="enough", min=10.0),
]
AUDITS = [
    Audit("corpus", (Finding("warning", "silent", "1 clip is silent", ("test/c06",)),
                     Finding("notice", "clipped", "2 clips are clipped", ("test/c00", "test/c01")))),
    Audit("adapter", ()),
]  # fmt: skip
RULES: dict[str, Any] = {
    "describe": "A made-up corpus of <fifteen> clips",
    "claim": {"level": "diagnostic", "limits": ["One room: says nothing about others."]},
    "overrides": ["run.max_failed=3"],
}


def golden_run(clips: list[Clip] = CLIPS) -> Result:
    heard: dict[str, Any] = {
        "frames": [16000 + 1000 * int(clip.id[1:]) if clip.id[1:].isdigit() else 8000 for clip in clips],
        "rates": [16000] * len(clips),
        "audio": {"rate": 16000},
        "adapter": {**MODEL, "identity": {"name": "small-net", "files": {"small-net.onnx": "0f" * 32}}},
    }
    return judged(
        clips,
        ("happy", "sad", "calm", "angry"),
        *GATES,
        absent="zero",
        max_failed=3,
        interval=IntervalRule(replicates=200),
        audits=AUDITS,
        rules=RULES,
        **heard,
    )


def golden_files() -> dict[str, bytes]:
    """The files of the run, and of a session that ran it and three others that have no report."""
    result = golden_run()
    document = out_document(result, TIMES)
    entries = [
        Entry("voice", "voice/20261129T083015.000Z-01234567", "fail", None, document),
        Entry("meld", None, "skipped", "SPEVAL_MELD is not set: it should name the corpus' folder", None),
        Entry(
            "other",
            "other/20261129T083016.000Z-89abcdef",
            "invalid",
            "integrity: main.jsonl, line 3 | <b>",
            None,
        ),
    ]
    session = summary_document(entries, {"voice": ["voice/20261128T083015.000Z-01234567"], "meld": []})
    return {
        "out.json": canonical(document) + b"\n",
        "report.md": markdown_report(result, TIMES).encode(),
        "summary.md": summary_markdown(session).encode(),
        "summary.json": canonical(session) + b"\n",
        "clips.jsonl": b"".join(canonical(row.as_dict()) + b"\n" for row in result.rows),
    }


@pytest.mark.parametrize("name", ["out.json", "report.md", "summary.md", "summary.json", "clips.jsonl"])
def test_every_byte_is_the_golden_one(name: str) -> None:
    actual, golden = golden_files()[name], HERE / name
    beside = HERE / f"{name}.actual"
    if os.environ.get(RENEW) == "1":
        golden.write_bytes(actual)
    if not golden.is_file() or golden.read_bytes() != actual:
        beside.write_bytes(actual)
        pytest.fail(f"{name} is not the golden one: compare {golden} and {beside}; {RENEW}=1 renews it")
    beside.unlink(missing_ok=True)


def test_the_golden_files_are_strict_json() -> None:
    def refuse(word: str) -> Any:
        raise AssertionError(f"{word} is not JSON")

    for name in ("out.json", "summary.json"):
        json.loads((HERE / name).read_bytes(), parse_constant=refuse)
    lines = (HERE / "clips.jsonl").read_bytes().split(b"\n")
    assert lines.pop() == b""
    assert [json.loads(line, parse_constant=refuse)["id"] for line in lines] == [clip.id for clip in CLIPS]


def test_the_golden_numbers_are_those_one_can_count_by_hand() -> None:
    found = json.loads((HERE / "out.json").read_bytes())
    assert found["counts"] == {
        "listed": 15, "planned": 13, "excluded": 2, "answered": 7, "abstained": 3, "failed": 2, "unknown": 1,
        "unattempted": 0, "quarantined": 0,
    }  # fmt: skip
    assert found["confusion"] == [[3, 1, 0, 0], [0, 2, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
    assert found["confusionOther"] == {
        "abstained": [0, 1, 1, 0],
        "outside": [0, 1, 0, 0],
        "failed": [1, 0, 2, 0],
    }
    happy, sad, calm = 6 / 8, 4 / 7, 2 / 5
    assert found["perClassF1"] == {"happy": happy, "sad": sad, "calm": calm, "angry": None}
    assert found["macroF1"] == pytest.approx((happy + sad + calm + 0) / 4)
    assert found["ceiling"] == 0.75
    assert found["metrics"]["accuracy"]["value"] == 6 / 13
    assert [found["metrics"][f"recall.{label}"]["value"] for label in ("happy", "sad", "calm")] == [
        3 / 5,
        2 / 4,
        1 / 4,
    ]
    spans = [1.2, 0.9, 2.1, 1.5, 1.5, 1.8, 0.7, 1.1, 1.1, 1.0]
    assert found["meanLatencyMs"] == pytest.approx(sum(spans) / 10)
    verdicts = {found_gate["id"]: (found_gate["verdict"], found_gate["flips"]) for found_gate in found["gates"]}
    assert verdicts["accuracy"] == ("fail", 2)
    assert verdicts["coverage"] == ("fail", 5)
    assert verdicts["failures"] == ("fail", 2)
    assert {name: verdict for name, (verdict, _) in verdicts.items()} == {
        "macro-f1": "pass", "accuracy": "fail", "calm-is-heard": "fail", "uar-low": verdicts["uar-low"][0],
        "coverage": "fail", "failures": "fail", "enough": "pass",
    }  # fmt: skip


def test_rows_in_another_order_give_the_same_document_but_for_the_question() -> None:
    one, other = golden_run(), golden_run(list(reversed(CLIPS)))
    documents = [out_document(result, TIMES) for result in (one, other)]
    plans = [document.pop("plan") for document in documents]
    assert documents[0] == documents[1]
    assert plans[0] != plans[1]
    assert sorted(one.rows, key=lambda row: (row.split, row.id)) == sorted(
        other.rows, key=lambda row: (row.split, row.id)
    )


def test_a_difference_of_one_byte_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.HERE", tmp_path)
    monkeypatch.delenv(RENEW, raising=False)
    (tmp_path / "out.json").write_bytes(golden_files()["out.json"].replace(b"13", b"14", 1))
    with pytest.raises(pytest.fail.Exception, match="is not the golden one"):
        test_every_byte_is_the_golden_one("out.json")
    assert (tmp_path / "out.json.actual").read_bytes() == golden_files()["out.json"]
    monkeypatch.setenv(RENEW, "1")
    test_every_byte_is_the_golden_one("out.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.json"]


def test_another_clock_changes_no_byte_elsewhere() -> None:
    result = golden_run()
    later = replace(TIMES, started=TIMES.started + timedelta(days=1), elapsed=1.0)
    first, second = (out_document(result, times) for times in (TIMES, later))
    assert {name for name in first if first[name] != second[name]} == {"runStartedAt", "elapsedSeconds"}
