"""The evidence of a run: plan, audits and journals, and which of them was altered at which place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.canonical import canonical, value_of
from pytest_speval.evidence.folder import RunFolder
from pytest_speval.evidence.plan import SCHEMA
from pytest_speval.evidence.store import StoredRun, read_audits, read_plan
from pytest_speval.verify.contents import AUDITS, PLAN, Contents
from pytest_speval.verify.finding import Finding
from pytest_speval.verify.journals import journal_fault
from pytest_speval.verify.place import altered_key
from pytest_speval.verify.plans import altered_part

CODES = {"evidence-altered": "A plan or audits are not what was written."}
POSTERIOR = {"postHoc", "askedUnder", "shard"}
"""Keys of a plan that no digest of it covers, and that `out.json` holds too."""
Read = TypeVar("Read")


def read_sources(contents: Contents) -> tuple[StoredRun | None, list[Finding]]:
    """Plan and audits, None where one cannot be read, and what was altered in these and in the journals.

    A missing file is no finding here.
    """
    findings: list[Finding] = []
    plan = _read(contents, PLAN, read_plan, _altered_plan, findings)
    audits = _read(contents, AUDITS, read_audits, _altered_audits, findings)
    for name, path in contents.journals.items():
        if name in contents.changed or contents.receipt is None:
            head = None if contents.receipt is None else contents.receipt.journals.get(name)
            found = journal_fault(name, path.read_bytes(), head)
            if found is None and name in contents.changed:
                record = "" if head is None else f"line {head.lines + 1}"
                found = Finding("error", "line-altered", "the torn end was taken away", name, record)
            findings += [] if found is None else [found]
    run = None if plan is None or audits is None else StoredRun(RunFolder(contents.folder), plan, audits)
    return run, findings


def _read(
    contents: Contents,
    name: str,
    read: Callable[[Path], Read],
    altered: Callable[[Contents], tuple[str, str]],
    findings: list[Finding],
) -> Read | None:
    if name in contents.changed:
        record, message = altered(contents)
        findings.append(Finding("error", "evidence-altered", message, name, record))
    elif name in contents.files:
        try:
            return read(contents.files[name])
        except EvidenceFault as fault:
            findings.append(Finding("error", "evidence-altered", fault.message, name))
    return None


def _altered_plan(contents: Contents) -> tuple[str, str]:
    """Receipt and `out.json` hold all of a plan but its question, rules and file names."""
    receipt, document = contents.receipt, _document(contents)
    assert receipt is not None, "without a receipt nothing is known to have changed"
    record = ""
    if document is not None:
        known = {
            "schemaVersion": SCHEMA,
            "suite": receipt.suite,
            "title": receipt.title,
            "questionSha256": receipt.question_sha256,
            "planSha256": receipt.plan_sha256,
            "versions": document["versions"],
            **{key: document["plan"][key] for key in POSTERIOR},
        }
        record = altered_part(contents.text(PLAN), known)
    return record, "not what was written"


def _altered_audits(contents: Contents) -> tuple[str, str]:
    """`out.json` holds the audits too."""
    document, actual = _document(contents), contents.text(AUDITS)
    if document is None:
        return "", "not what was written"
    return altered_key(document["audits"], canonical(document["audits"]) + b"\n", actual)


def _document(contents: Contents) -> Mapping[str, Any] | None:
    """`out.json`, where it is still the one that the receipt was written for."""
    if not contents.good("out.json"):
        return None
    try:
        document = value_of(contents.text("out.json"))
        whole = {"versions", "audits"} <= document.keys() and document["plan"].keys() >= POSTERIOR
        return document if whole else None
    except (ValueError, KeyError, AttributeError):
        return None
