"""The kept arrays of a run, held against the journal lines that say what they are."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.arrays import FOLDER
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.store import StoredRun
from pytest_speval.verify.contents import Contents
from pytest_speval.verify.finding import Finding

CODES = {"array-unclaimed": "A file of arrays is named by no line of a journal: a killed process left it."}


def array_findings(run: StoredRun, ended: Sequence[Ending], contents: Contents) -> list[Finding]:
    """Every array that is missing or not what was written, with its clip, and every file that belongs to none."""
    findings, named = [], set[str]()
    question = run.plan.question
    for place, ending in zip(question.planned, ended, strict=True):
        for record in (ending.arrays or {}).values():
            named.add(record.file)
            try:
                record.load(contents.folder)
            except EvidenceFault as fault:
                where = f"{record.name} of {question.name(place)}"
                message = fault.message.removeprefix(record.file).strip()
                findings.append(Finding("error", fault.code, message, record.file, where))
    known = contents.files if contents.receipt is None else contents.receipt.files
    findings += [
        Finding("notice", "array-unclaimed", "no line of a journal names it: a process that was killed left it", name)
        for name in contents.files
        if name.startswith(f"{FOLDER}/") and name not in named and name in known and contents.good(name)
    ]
    return findings
