"""The result of a run once more, from its plan, audits and journals, held against the files that tell it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.baseline import COPIES, kept_baselines
from pytest_speval.evidence.canonical import value_of
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.partner import NAME as PARTNERS
from pytest_speval.evidence.partner import kept_partners
from pytest_speval.evidence.store import StoredRun
from pytest_speval.judge.bench import Bench
from pytest_speval.judge.judgement import judge
from pytest_speval.judge.kept_arrays import array_checks
from pytest_speval.judge.result import Result
from pytest_speval.reports.document import Times, out_document
from pytest_speval.reports.files import result_files
from pytest_speval.tasks.registry import TASKS
from pytest_speval.verify.contents import Contents
from pytest_speval.verify.finding import Finding
from pytest_speval.verify.place import altered_key, altered_line

CODES = {
    "not-judged": "The evidence of a run cannot be judged: it holds together, and is not what a run writes.",
    "not-recomputed": "What a file says does not follow from the evidence.",
}
STARTED = "%Y-%m-%dT%H:%M:%SZ"
_ELAPSED = re.compile(rb'"elapsedSeconds":(-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?),')
NEVER = -1.0
"""Stands for seconds that cannot be read; no text of real ones begins like its text."""
_TOLD = re.compile(r"^Task .*, started (\S+Z), ([0-9.]+) s\.$", re.MULTILINE)
_SIGNED = re.compile(r"^receipt: signed by ([0-9a-f]{64})$", re.MULTILINE)
_PARTIAL = "- Partial run: no verdict was wanted."


@dataclass(frozen=True, slots=True)
class Session:
    """What no evidence holds and the files say of themselves: the times, and whether a verdict was wanted.

    `shown` is when `report.md` says the run started and how long it took, `told` what `out.json` says.
    """

    shown: Times
    told: Times
    partial: bool

    @classmethod
    def of(cls, contents: Contents) -> Session | None:
        """From `out.json` where that is as it was written, else from `report.md`; None where neither can be read."""
        document, report = contents.text("out.json"), contents.text("report.md")
        if contents.good("out.json"):
            return _of_document(document) or _of_report(report, document)
        return _of_report(report, document) or _of_document(document)


def _of_document(document: bytes) -> Session | None:
    try:
        said = value_of(document)
        times = Times(_moment(said["runStartedAt"]), float(said["elapsedSeconds"]))
        return Session(times, times, said["partial"] is True)
    except (ValueError, KeyError, TypeError):
        return None


def _of_report(report: bytes, document: bytes) -> Session | None:
    """The report rounds the seconds; all digits are those of the document, as far as it can be read."""
    said = report.decode(errors="replace")
    found, digits = _TOLD.search(said), _ELAPSED.search(document)
    try:
        shown = None if found is None else Times(_moment(found[1]), float(found[2]))
        elapsed = NEVER if digits is None or not isfinite(float(digits[1])) else float(digits[1])
    except ValueError:
        return None
    return None if shown is None else Session(shown, replace(shown, elapsed=elapsed), _PARTIAL in said.splitlines())


def _moment(text: str) -> datetime:
    return datetime.strptime(text, STARTED).replace(tzinfo=UTC)


def recompute(run: StoredRun, endings: Sequence[Ending], session: Session) -> Result | Finding:
    """Judge once more, by the rules in the plan and on the day the run started; may raise for what is no plan."""
    task = TASKS.get(run.plan.question.task)
    if task is None:
        message = f"`{run.plan.question.task}` is no task of this version; there is {', '.join(TASKS)}"
        return Finding("error", "not-judged", message, "plan.json", "question.task")
    bench = Bench.of(run.plan, task, session.told.started.date())
    try:
        baselines = kept_baselines(run.folder, run.plan.rules)
    except EvidenceFault as fault:
        return Finding("error", fault.code, fault.message, f"{COPIES}/")
    try:
        partners = kept_partners(run.folder, run.plan.rules)
    except EvidenceFault as fault:
        return Finding("error", fault.code, fault.message, PARTNERS)
    try:
        checks = array_checks(run.plan.question, task.word, endings, run.folder.path)
    except EvidenceFault:
        checks = {}  # each array that is not what was written is told of by `array_findings`
    return judge(
        run.plan,
        task,
        bench,
        endings,
        run.audits,
        partial=session.partial,
        baselines=baselines,
        partners=partners,
        checks=checks,
    )


def differing(result: Result, session: Session, contents: Contents) -> list[Finding]:
    """The files that are not, byte for byte, what the result amounts to, each with the first place."""
    document = out_document(result, session.told)
    keyid = _keyid(contents)
    findings = []
    for name, pieces in result_files(result, document, session.shown, keyid).items():
        if name not in contents.files:
            continue
        digest = hashlib.sha256()
        for piece in pieces:
            digest.update(piece)
        if digest.hexdigest() != contents.sha256[name]:
            again = result_files(result, document, session.shown, keyid)[name]
            findings.append(_difference(name, list(again), document, contents))
        elif name in contents.changed:
            record = "elapsedSeconds" if name == "out.json" else ""
            findings.append(Finding("error", "not-recomputed", "not what the receipt vouches for", name, record))
    return findings


def _keyid(contents: Contents) -> str | None:
    """The key that the report must name; where there is no receipt, the one it does name."""
    if contents.receipt is not None:
        return contents.receipt.keyid
    found = _SIGNED.search(contents.text("report.md").decode(errors="replace"))
    return None if found is None else found[1]


def _difference(name: str, pieces: list[bytes], document: Mapping[str, Any], contents: Contents) -> Finding:
    actual = contents.text(name)
    if name == "out.json":
        record, message = altered_key(document, b"".join(pieces), actual)
        return Finding("error", "not-recomputed", message, name, record)
    number, line, count = altered_line(pieces, actual)
    more = f" (and {count - 1:,} more)" if count > 1 else ""
    clip = _clip(line) if name == "clips.jsonl" else ""
    return Finding("error", "not-recomputed", f"not what was recomputed{more}", name, f"line {number}{clip}")


def _clip(line: bytes) -> str:
    if not line:
        return ""
    row = value_of(line)
    return f" ({row['split']}/{row['id']})"
