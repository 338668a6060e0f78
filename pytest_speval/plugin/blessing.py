"""`speval bless`: a finished run becomes the baseline that later runs are compared with."""

from __future__ import annotations

import sys
from pathlib import Path

from pytest_speval.corpus.collector import collector_paused
from pytest_speval.errors import EvidenceFault, UsageFault
from pytest_speval.evidence.baseline import NAME, Baseline
from pytest_speval.evidence.folder import write_whole
from pytest_speval.evidence.receipt import NAME as RECEIPT
from pytest_speval.evidence.receipt import Receipt
from pytest_speval.evidence.store import StoredRun
from pytest_speval.verify.contents import PLAN
from pytest_speval.verify.verification import verify

CODES = {
    "bless-refused": "A run cannot become a baseline, or not in the folder that was named.",
}
BLESSED = ("pass", "no gates")


def bless(run: Path, folder: Path) -> int:
    """Write the evidence of a run to a folder; returns 0.

    Raises `UsageFault` for a run that is no whole and finished one, does not verify or did not pass, for a folder that
    is a run's own, and for one that holds another baseline: what later runs are held against is not overwritten.
    """
    if not (run / PLAN).is_file():
        raise UsageFault("bless-refused", f"{run} is no run folder: it has no {PLAN}")
    if (folder / PLAN).exists() or (folder / RECEIPT).exists():
        raise UsageFault("bless-refused", f"{folder} is the folder of a run: give one that is kept with the suite")
    with collector_paused():
        baseline = _checked(run)
        _write(baseline, folder)
    question = baseline.plan.question
    sys.stdout.write(
        f"{folder}: {baseline.plan.subject} ({question.adapter['name']}), {len(question.planned):,} clips, "
        f"baseline {baseline.sha256}\n"
    )
    return 0


def _checked(run: Path) -> Baseline:
    """The baseline that a run makes; raises `UsageFault` for one that may not."""
    errors = [found for found in verify(run) if found.severity == "error"]
    if errors:
        raise UsageFault("bless-refused", f"{run} does not hold: {errors[0]}")
    receipt, _ = Receipt.read((run / RECEIPT).read_bytes())
    if receipt.verdict not in BLESSED:
        reason = f": {receipt.reason}" if receipt.reason else ""
        raise UsageFault("bless-refused", f"the verdict of {run} is {receipt.verdict}{reason}; only a pass is blessed")
    return Baseline.of(StoredRun.read(run))


def _write(baseline: Baseline, folder: Path) -> None:
    file, data = folder / NAME, baseline.as_bytes()
    if file.exists() and file.read_bytes() != data:
        raise UsageFault("bless-refused", f"{file} is another baseline; remove it to bless this run in its place")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EvidenceFault("folder-unwritable", f"cannot make {folder}: {error.strerror}") from error
    write_whole(file, data)
