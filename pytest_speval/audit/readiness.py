"""Whether what a suite declares about its evidence is there: files, digests, dates. What they say nobody verifies."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from pytest_speval.audit.dates import date_findings
from pytest_speval.audit.finding import Audit, Finding
from pytest_speval.audit.fit import sha256_of
from pytest_speval.errors import SpevalError, path_of
from pytest_speval.suite.audit_keys import AuditSection, Inventory
from pytest_speval.suite.keys import Claim
from pytest_speval.suite.readiness import fields, is_blank
from pytest_speval.suite.readiness_keys import INVENTORIES, ReadinessKeys
from pytest_speval.suite.tree import Keys
from pytest_speval.suite.variables import expand

CODES = {
    "readiness-missing": "The claim needs a readiness file, and the suite has none.",
    "readiness-read": "The readiness file that was read, by its digest.",
    "readiness-unfilled": "Fields of the readiness file hold nothing: the claim is narrowed.",
    "readiness-declared": "What somebody declared about corpus, model or evidence; nobody verified it.",
    "evidence-missing": "A file that is named as evidence is not there, is empty or cannot be read.",
    "evidence-changed": "A file that is named as evidence has another digest than declared.",
    "evidence-there": "A file that is named as evidence is there; what it says was not examined.",
    "inventory-contradicts": "The suite and its readiness file say different things about an inventory.",
    "inventory-unused": "The readiness file names an inventory that the suite is not held against.",
}
ORDER = ("error", "warning", "notice")


def readiness_in_force(*, exists: bool, section: AuditSection, claim: Claim) -> bool:
    """Say whether `audit[readiness]` applies: there is a readiness file, or the suite says what one would check."""
    named = any(entry.evidence is not None for entry in claim.provenance)
    return exists or named or section.dates is not None or claim.level == "independent"


def audit_readiness(
    readiness: ReadinessKeys | None, file: Path, section: AuditSection, claim: Claim, environ: Mapping[str, str]
) -> Audit:
    """Check what is declared; `file` is where the readiness file is, or would be: paths begin at its folder.

    A named file may lie anywhere; it is read only for its digest.
    """
    desk = _Desk(file.parent, environ)
    findings: list[Finding] = []
    if readiness is not None:
        read = f"{file.name} was read, SHA-256 {sha256_of(file)}: nothing in it was verified but files and dates"
        findings.append(Finding("notice", "readiness-read", read))
        findings += _unfilled(readiness, claim)
        findings += _inventories(readiness, section, desk)
        findings += _files(readiness, desk)
        findings += _declared(readiness)
    elif claim.level == "independent":
        told = f"claim.level is independent and there is no {file.name}: `speval readiness` writes a template"
        findings.append(Finding("error", "readiness-missing", told))
    findings += _provenance(claim, desk)
    findings += date_findings(readiness, section)
    return Audit("readiness", tuple(sorted(findings, key=lambda found: ORDER.index(found.severity))))


@dataclass(frozen=True, slots=True)
class _Desk:
    """The folder at which paths begin, and the values of variables."""

    folder: Path
    environ: Mapping[str, str]

    def shown(self, path: Path) -> str:
        """A path as somebody wrote it: relative to the folder, variables unexpanded."""
        return str(path) if "${" in str(path) else Path(os.path.relpath(path, self.folder)).as_posix()

    def look(self, keys: str, path: Path, declared: str | None = None) -> Finding:
        """What can be said about a named file."""
        shown = self.shown(path)
        try:
            place = self.folder / expand(path, self.environ)
            if not place.is_file():
                return Finding("error", "evidence-missing", f"{keys}: there is no file {shown}")
            if not place.stat().st_size:
                return Finding("error", "evidence-missing", f"{keys}: {shown} is empty")
            found = sha256_of(place)
        except SpevalError as fault:
            return Finding("error", "evidence-missing", f"{keys}: {fault.message}")
        except OSError as fault:
            return Finding("error", "evidence-missing", f"{keys}: {shown} cannot be read: {fault.strerror}")
        if declared is not None and found != declared:
            told = f"{keys}: {shown} has the SHA-256 {found}, declared is {declared}"
            return Finding("error", "evidence-changed", told)
        held = "as declared" if declared else found
        told = f"{keys}: {shown} is there, SHA-256 {held}; what it says was not examined"
        return Finding("notice", "evidence-there", told)


def _unfilled(readiness: ReadinessKeys, claim: Claim) -> Iterator[Finding]:
    values = list(fields(readiness))
    blank = [path_of(keys) for keys, value in values if is_blank(value)]
    if blank:
        which = "" if len(blank) == len(values) else f": {', '.join(blank)}"
        told = f"not filled in: {len(blank)} of {len(values)} fields{which}"
        yield Finding("warning", "readiness-unfilled", told)
    if readiness.listeners is None and (claim.level == "listener-labelled" or claim.family == "listener"):
        told = "not filled in: the section listeners is left out, and the claim rests on listeners"
        yield Finding("warning", "readiness-unfilled", told)


def _files(readiness: ReadinessKeys, desk: _Desk) -> Iterator[Finding]:
    digests = {path_of(("evidence", place)): entry.sha256 for place, entry in enumerate(readiness.evidence)}
    for keys, value in fields(readiness):
        if isinstance(value, Path):
            yield desk.look(path_of(keys), value, digests.get(path_of(keys[:-1])) or None)


def _provenance(claim: Claim, desk: _Desk) -> Iterator[Finding]:
    for place, entry in enumerate(claim.provenance):
        keys = f"claim.provenance[{place}]"
        yield Finding("notice", "readiness-declared", f"declared, not verified: {keys}: {entry.what} ({entry.kind})")
        if entry.evidence is not None:
            yield desk.look(f"{keys}.evidence", entry.evidence)


def _declared(readiness: ReadinessKeys) -> Iterator[Finding]:
    """One line for each section, or for each entry of a list; files and digests have lines of their own."""
    told = [(keys, value) for keys, value in fields(readiness) if not is_blank(value) and not isinstance(value, Path)]
    for entry, group in groupby(told, key=lambda one: _entry(one[0])):
        said = [f"{path_of(keys[len(entry) :])} {_said(value)}" for keys, value in group if keys[-1] != "sha256"]
        if said:
            message = f"declared, not verified: {path_of(entry)}: {', '.join(said)}"
            yield Finding("notice", "readiness-declared", message)


def _entry(keys: Keys) -> Keys:
    return keys[:2] if len(keys) > 2 else keys[:1]


def _said(value: object) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _inventories(readiness: ReadinessKeys, section: AuditSection, desk: _Desk) -> Iterator[Finding]:
    for name in INVENTORIES:
        ours, theirs = getattr(readiness.inventories, name), section.against.get(name)
        theirs = theirs.file if isinstance(theirs, Inventory) else theirs
        keys = f"inventories.{name}"
        if is_blank(ours) or (theirs is None and ours == "unavailable"):
            continue
        shown, other = (desk.shown(one) if isinstance(one, Path) else one for one in (ours, theirs))
        if theirs is None:
            told = f"{keys} is {shown}, and audit.against does not name it: the clips are not held against it"
            yield Finding("warning", "inventory-unused", told)
        elif os.path.normpath(ours) != os.path.normpath(theirs):
            told = f"{keys} is {shown}, and audit.against.{name} of the suite is {other}"
            yield Finding("error", "inventory-contradicts", told)
