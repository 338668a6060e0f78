"""Verification of one run folder, offline and from its files alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pytest_speval.corpus.collector import collector_paused
from pytest_speval.errors import UsageFault
from pytest_speval.evidence.difference import differences
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.receipt import NAME, Receipt
from pytest_speval.evidence.store import StoredRun
from pytest_speval.evidence.versions import plan_versions
from pytest_speval.judge.result import Result
from pytest_speval.verify.arrays import array_findings
from pytest_speval.verify.contents import Contents, is_source
from pytest_speval.verify.finding import Finding
from pytest_speval.verify.journals import endings
from pytest_speval.verify.locked import lock_findings
from pytest_speval.verify.place import both_values
from pytest_speval.verify.recomputation import Session, differing, recompute
from pytest_speval.verify.sound import compare_sound
from pytest_speval.verify.sources import read_sources

CODES = {
    "run-unreadable": "A file of a run folder cannot be read.",
    "no-run": "A folder that is to be verified holds no run.",
    "receipt-differs": "A receipt says something else than what follows from the evidence.",
    "other-versions": "A run was made with other versions than those that recompute it.",
    "so-far": "How much of an unfinished run holds together.",
    "verified": "Everything in a run folder follows from its evidence; says what the verdict is.",
}
MARKS = (NAME, "plan.json", "audits.json", "clips.jsonl", "out.json")
"""Files that only a run folder has."""
HOLDS = "verified"
DEPTHS = ("", "*/", "*/*/", "*/*/*/")


def run_folders(place: Path) -> list[Path]:
    """A run folder itself, or those in or below a folder, by name; raises `UsageFault` where there is none."""
    for depth in DEPTHS:
        found = {mark.parent for name in MARKS for mark in place.glob(depth + name)}
        if found:
            return sorted(found)
    raise UsageFault("no-run", f"{place} holds no run: neither in it nor below lies a receipt.json or plan.json")


def verify(folder: Path, key: Path | None = None, audio: Path | None = None) -> list[Finding]:
    """Recompute a run from its folder; errors come first, the primary place of a change before all others.

    `key` is the public key that the receipt must be signed with, `audio` the folder below which the sound lies.
    Nothing is written, asked or fetched. Raises `UsageFault` for a key or a sound folder that cannot be used, and
    for a file that cannot be read.
    """
    try:
        with collector_paused():
            findings = _findings(folder, key, audio)
    except OSError as error:
        raise UsageFault("run-unreadable", f"cannot read {error.filename}: {error.strerror}") from error
    errors = [found for found in findings if found.severity == "error"]
    return errors + [found for found in findings if found.severity != "error" and not (errors and found.code == HOLDS)]


def _findings(folder: Path, key: Path | None, audio: Path | None) -> list[Finding]:
    contents, findings = Contents.look(folder, key)
    run, damaged = read_sources(contents)
    findings += damaged
    if run is None or damaged or any(map(is_source, contents.missing)):
        findings += contents.altered(but=frozenset())
    else:
        findings += _judged(contents, run)
    findings += contents.strays(but=frozenset(found.file for found in findings))
    if run is not None:
        findings += lock_findings(contents, run) + _other_versions(run)
        findings += [] if audio is None else compare_sound(run.plan.question, audio)
    return findings


def _judged(contents: Contents, run: StoredRun) -> list[Finding]:
    """What follows from evidence that is whole; digests that fit do not make a plan out of anything."""
    try:
        return _recomputed(contents, run)
    except OSError:
        raise
    except Exception as error:
        found = Finding("error", "not-judged", f"{type(error).__name__}: {error}", "plan.json")
        return [found, *contents.altered(but=frozenset())]


def _recomputed(contents: Contents, run: StoredRun) -> list[Finding]:
    """What does not follow from evidence that is whole, or what the verdict is."""
    ended = endings(run.plan.question, contents.journals)
    if isinstance(ended, Finding):
        return [ended, *contents.altered(but=frozenset())]
    session = Session.of(contents)
    if session is None:
        found = Finding("error", "not-recomputed", "says no more when the run started", "out.json")
        return [_so_far(ended)] if contents.receipt is None else contents.altered(but=frozenset()) or [found]
    result = recompute(run, ended, session)
    if isinstance(result, Finding):
        return [result, *contents.altered(but=frozenset())]
    findings = differing(result, session, contents) + array_findings(run, ended, contents)
    findings += contents.altered(but=frozenset(found.file for found in findings))
    if contents.receipt is None:
        return [*findings, _so_far(ended)]
    errors = any(found.severity == "error" for found in findings)
    return (
        findings if errors else findings + ([] if any(contents.strays()) else _receipt(contents.receipt, run, result))
    )


def _so_far(ended: Sequence[Ending]) -> Finding:
    back = sum(ending.state in ("returned", "failed") for ending in ended)
    return Finding("notice", "so-far", f"the journals hold together; {back:,} of {len(ended):,} planned clips ended")


def _receipt(receipt: Receipt, run: StoredRun, result: Result) -> list[Finding]:
    """Hold what the receipt says against what was recomputed."""
    recomputed = Receipt.of(run.folder, run.plan, result.verdict, result.told, receipt.public_key)
    found = differences(recomputed.predicate(), receipt.predicate())
    if found:
        return [Finding("error", "receipt-differs", both_values(one), NAME, one.path) for one in found]
    lines = sum(head.lines for head in receipt.journals.values())
    told = f"{result.verdict}{f': {result.told}' if result.told else ''}"
    what = f"every file follows from the plan and {lines:,} journal lines about {result.counts.planned:,} clips"
    return [Finding("notice", HOLDS, f"verdict {told}; {what}")]


def _other_versions(run: StoredRun) -> list[Finding]:
    """A notice for what a recomputation may owe to other code, rather than to other evidence."""
    found = differences(dict(run.plan.versions), plan_versions())
    told = "; ".join(one.told("in the plan") for one in found)
    return [Finding("notice", "other-versions", told, "plan.json", "versions")] if found else []
