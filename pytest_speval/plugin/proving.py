"""`speval prove`: whether the gates of a finished run could have failed, told from its evidence alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pytest_speval.corpus.collector import collector_paused
from pytest_speval.errors import EvidenceFault, UsageFault
from pytest_speval.evidence.baseline import kept_baselines
from pytest_speval.evidence.partner import kept_partners
from pytest_speval.evidence.receipt import NAME as RECEIPT
from pytest_speval.evidence.store import StoredRun, by_subject
from pytest_speval.judge.bench import Bench
from pytest_speval.judge.proof import GateProof, Proof, prove
from pytest_speval.suite.load import suite_name
from pytest_speval.tasks.registry import TASKS

CODES = {
    "prove-refused": "The gates of a run cannot be proven: it is not finished, a shard, or gives no verdict itself.",
}
FAULTY = 1
PLAN = "plan.json"


def prove_gates(place: str, out: Path) -> int:
    """Print what the gates of a run, or of the newest finished runs of a suite, catch; returns 1 unless all are sound.

    `place` is a run folder, a suite's name or its file; the runs of a suite lie below `out`. The gates are those of the
    run's plan. Raises `UsageFault` or `EvidenceFault` for a run that cannot be judged.
    """
    status = 0
    for folder in _folders(place, out):
        with collector_paused():
            run, proof = _proven(folder)
        question = run.plan.question
        planned = len(question.planned)
        _say(f"{folder}: {run.plan.subject} ({question.adapter['name']}), {planned:,} clips")
        for line in proof_lines(proof):
            _say(f"  {line}".rstrip())
        status = status if proof.sound else FAULTY
    return status


def _folders(place: str, out: Path) -> list[Path]:
    """The run folder that is named, or the newest finished one of each subject of a suite."""
    path = Path(place)
    if (path / PLAN).is_file():
        return [path]
    name = suite_name(path) if path.is_file() else place
    finished = sorted(receipt.parent for receipt in (out / name).glob(f"*/{RECEIPT}"))
    if not finished or name in ("", ".", ".."):
        there = f"{path} is no run folder (it has no {PLAN})" if path.is_dir() else f"`{name}` has no finished run"
        raise UsageFault("no-recording", f"{there}, and below {out} lies none: run the suite, or say --speval-out")
    return [runs[-1] for _, runs in sorted(by_subject(finished).items())]


def _proven(folder: Path) -> tuple[StoredRun, Proof]:
    if not (folder / RECEIPT).is_file():
        raise UsageFault("prove-refused", f"{folder} is not finished: it has no {RECEIPT}")
    run = StoredRun.read(folder)
    if run.shard is not None:
        raise UsageFault("prove-refused", f"{folder} is shard {run.shard}: put the shards together by --speval-replay")
    task = TASKS.get(run.plan.question.task)
    if task is None:
        raise UsageFault("prove-refused", f"{folder}: `{run.plan.question.task}` is no task of this version")
    try:
        bench = Bench.of(run.plan, task, datetime.now(UTC).date())
    except (KeyError, ValueError) as error:
        raise EvidenceFault("plan-damaged", f"{folder / PLAN} holds no rules: {error}") from error
    baselines = kept_baselines(run.folder, run.plan.rules)
    partners = kept_partners(run.folder, run.plan.rules)
    stored, proof = prove(run.plan, task, bench, run.endings(), run.audits, baselines=baselines, partners=partners)
    if stored.refused is not None:
        raise UsageFault("prove-refused", f"{folder} gives no verdict itself: {stored.refused}")
    return run, proof


def proof_lines(proof: Proof) -> Iterator[str]:
    """The table of gates and mutations, what the mutations are, and a last line that sums it up."""
    if not proof.gates:
        yield "no gates: nothing can fail"
        return
    names = [one.name for one in proof.mutations]
    rows = [("gate", "stored", *names, "its limit refuses")]
    rows += [(gate.rule.id, gate.stored, *gate.verdicts.values(), _refuses(gate)) for gate in proof.gates]
    yield from _columns(rows)
    yield ""
    for one in proof.mutations:
        refused = proof.refused[one.name]
        yield f"{one.name}: {one.about}{'' if refused is None else f'; no verdict of the run: {refused}'}"
    unsound = [gate.rule.id for gate in proof.gates if not gate.sound]
    yield f"{len(proof.gates) - len(unsound):,} of {len(proof.gates):,} gates can fail"
    if unsound:
        yield f"not shown to fail: {', '.join(unsound)}"


def _refuses(gate: GateProof) -> str:
    if gate.fails:
        return ", ".join(gate.fails)
    if gate.stored == "fail":
        return "the answers as they are"
    return "VACUOUS: nothing" if gate.stored == "pass" else "nothing: it could not be judged"


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
