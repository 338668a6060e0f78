"""Run folders of made-up runs, written as a session writes them, without one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_speval.audit.finding import Audit, Finding
from pytest_speval.evidence.ending import endings_of
from pytest_speval.evidence.folder import RunFolder
from pytest_speval.evidence.journal import Journal
from pytest_speval.evidence.plan import Plan
from pytest_speval.evidence.receipt import SigningKey, write_receipt
from pytest_speval.evidence.versions import plan_versions
from pytest_speval.judge.bench import Bench
from pytest_speval.judge.judgement import judge
from pytest_speval.reports.document import Times, out_document
from pytest_speval.reports.files import result_files
from pytest_speval.tasks.registry import TASKS
from tests.runs import FAILED, UNATTEMPTED, Clip, question_of, said

STARTED = datetime(2026, 11, 29, 23, 59, 58, 750_000, tzinfo=UTC)
TIMES = Times(STARTED, 12.53125)
AUDITS = (
    Audit("corpus", (Finding("notice", "clipped", "2 clips are clipped", ("test/c0", "test/ünï")),)),
    Audit("adapter", ()),
)
CLIPS = (
    Clip("c0", "happy", said("happy", scores={"happy": 0.75, "sad": 1e-7}), "ann"),
    Clip("c1", "sad", said("happy"), "ann"),
    Clip("c2", "sad", FAILED, "bob"),
    Clip("c3", "happy", said(), "bob"),
    Clip("c4", "happy", FAILED, "cid", excluded="mis-cut"),
    Clip("ünï", "happy", said("happy"), "cid"),
)
RULES: dict[str, Any] = {
    "describe": "A made-up run",
    "claim": {"level": "diagnostic", "limits": ["Made up."]},
    "labels": {"set": ["happy", "sad"]},
    "score": {"interval": {"replicates": 20}},
    "run": {"max_failed": 1, "missing": "worst"},
    "gates": [
        {
            "id": "accuracy",
            "metric": "accuracy",
            "min": 0.75,
            "max": None,
            "bound": "point",
            "why": "chance",
            "owner": None,
            "level": "block",
            "waiver": {"reason": "Known.", "owner": "speech", "until": "2026-11-29"},
        }
    ],
    "overrides": [],
}


def plan_of(clips: Sequence[Clip] = CLIPS, rules: Mapping[str, Any] = RULES, **more: Any) -> Plan:
    """A plan of made-up clips that can be judged."""
    question = question_of(clips, corpus={"manifest": "clips.csv", "columns": {}})
    return Plan("voice", question, rules, plan_versions(), written={"model": "../model.onnx"}, **more)


def killed_run(out: Path, clips: Sequence[Clip] = CLIPS, plan: Plan | None = None) -> RunFolder:
    """The folder of a run that was asked by two workers and has no results yet."""
    plan = plan or plan_of(clips)
    folder = RunFolder.create(out, plan.suite, STARTED, plan.question.digest)
    folder.write_json("plan.json", plan.as_dict())
    folder.write_json("audits.json", [audit.as_dict() for audit in AUDITS])
    for worker in (0, 1):
        journal = Journal(folder.journals / f"gw{worker}.jsonl")
        journal.opened({"adapter": {"threads": 1}})
        for clip in clips[worker::2]:
            if clip.excluded is None and clip.ending is not UNATTEMPTED:
                journal.entered(clip.split, clip.id)
                note = journal.returned if clip.ending.state == "returned" else journal.failed
                note(clip.split, clip.id, clip.ending)
        journal.close()
    return folder


def finish(folder: RunFolder, plan: Plan, key: SigningKey | None = None, *, partial: bool = False) -> Path:
    """Judge a run and write its results and receipt."""
    task = TASKS[plan.question.task]
    endings = endings_of(plan.question, folder.journal_lines())
    result = judge(plan, task, Bench.of(plan, task, STARTED.date()), endings, AUDITS, partial=partial)
    document = out_document(result, TIMES)
    for name, pieces in result_files(result, document, TIMES, None if key is None else key.keyid).items():
        folder.write_pieces(name, pieces)
    write_receipt(folder, plan, result.verdict, result.told, key)
    return folder.path


def finished_run(
    out: Path, clips: Sequence[Clip] = CLIPS, key: SigningKey | None = None, *, partial: bool = False
) -> Path:
    """The folder of a finished run."""
    plan = plan_of(clips)
    return finish(killed_run(out, clips, plan), plan, key, partial=partial)
