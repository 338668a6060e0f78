"""`audit[near]`: whether evaluated sound is a copy of other sound, whatever was done to it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pytest_speval.audit.checks import CheckRule
from pytest_speval.audit.finding import Audit, Finding, Severity, Side, Violation
from pytest_speval.audit.near import Match, near_duplicates, within
from pytest_speval.audit.overlap import Parts
from pytest_speval.audit.soundings import Soundings, soundings
from pytest_speval.corpus.fingerprint import assessable
from pytest_speval.corpus.part import Part
from pytest_speval.errors import MissingExtra

CODES = {
    "near-copies": "Evaluated clips are copies of sound in another split or inventory.",
    "near-look": "Pairs of sounds that are much alike: much changed copies, or other takes of one sentence.",
    "near-twins": "Evaluated clips are copies of one another.",
    "not-assessable": "Sounds too short or too quiet for a copy to be told from other speech.",
    "not-heard": "Sound files of another split or inventory are not there or cannot be decoded.",
    "not-compared": "Another split or inventory has nothing that a check could compare.",
}


def audit_near(rule: CheckRule, parts: Parts, store: Path | None) -> Audit:
    """Hold the sound of evaluated clips against that of all other parts; `store` is a folder for fingerprints."""
    grave: Severity = "error" if rule.waived is None else "warning"
    try:
        ours = [soundings(part, None) for part in parts.evaluated]
        theirs = [soundings(part, store) for part in (*parts.unlisted, *parts.rest, *parts.inventories) if part.entries]
    except MissingExtra as missing:
        return Audit(rule.name, (Finding("error", missing.code, missing.message),), waived=rule.waived)
    findings: list[Finding] = []
    violations: list[Violation] = []
    for number, one in enumerate(ours):
        for other in (*ours[number + 1 :], *(each for each in theirs if each.part.name != one.part.name)):
            found = near_duplicates(one.prints, other.prints)
            violations += _violations(one.part, other.part, found)
            findings += _told(rule, grave, one.part, other.part, found)
        findings += _twins(one)
    findings += _gaps(rule, grave, parts, [*ours, *theirs])
    findings.sort(key=lambda finding: ("error", "warning", "notice").index(finding.severity))
    heard = dict.fromkeys(each.part.name for each in theirs if any(each.prints))
    return Audit(rule.name, tuple(findings), tuple(violations), tuple(heard), rule.waived)


def _violations(one: Part, other: Part, found: Sequence[Match]) -> list[Violation]:
    return [
        Violation("near", _shown(one, other, match), (_side(one, match.evaluated), _side(other, match.other)))
        for match in found
        if match.kind == "duplicate"
    ]


def _side(part: Part, place: int) -> Side:
    return Side(part.name, (part.clips[place],), (part.lines[place],))


def _shown(one: Part, other: Part, match: Match) -> str:
    figures = f"waveform {match.waveform:.3f}, log-mel {match.logmel:.3f} over {match.overlap_seconds:.2f} s"
    return f"{one.clips[match.evaluated]} ~ {other.clips[match.other]}: {figures}"


def _told(rule: CheckRule, grave: Severity, one: Part, other: Part, found: Sequence[Match]) -> list[Finding]:
    findings = []
    copies = sorted({match.evaluated for match in found if match.kind == "duplicate"})
    if copies:
        told = f"{len(copies):,} of {len(one):,} clips of {one.name} are copies of sound in {other.name}"
        told = told if rule.waived is None else f"{told}; waived: {rule.waived}"
        findings.append(Finding(grave, "near-copies", told, tuple(one.clips[place] for place in copies)))
    looks = [match for match in found if match.kind == "look"]
    if looks:
        told = f"{len(looks):,} pairs of {one.name} and {other.name} are much alike, look at them: "
        told += "; ".join(_shown(one, other, match) for match in looks[:3])
        findings.append(Finding("notice", "near-look", told, tuple(one.clips[match.evaluated] for match in looks)))
    return findings


def _twins(one: Soundings) -> list[Finding]:
    found = [match for match in within(one.prints) if match.kind == "duplicate"]
    if not found:
        return []
    told = f"{len(found):,} pairs of clips of {one.part.name} are copies of each other: "
    told += "; ".join(_shown(one.part, one.part, match) for match in found[:3])
    places = sorted({place for match in found for place in (match.evaluated, match.other)})
    return [Finding("notice", "near-twins", told, tuple(one.part.clips[place] for place in places))]


def _gaps(rule: CheckRule, grave: Severity, parts: Parts, heard: Sequence[Soundings]) -> list[Finding]:
    findings = []
    for each in heard:
        part, unheard = each.part, each.unheard
        faint = tuple(
            clip for clip, found in zip(part.clips, each.prints, strict=True) if found and not assessable(found)
        )
        if len(unheard) + len(faint) == len(part):
            told = f"no sound of {part.name} can be heard and judged: nothing was compared with it"
            findings.append(Finding(grave, "not-compared", told))
        if unheard:
            told = f"{len(unheard):,} of {len(part):,} sound files of {part.name} cannot be heard: no copy can be found"
            findings.append(Finding("warning", "not-heard", told, unheard))
        if faint:
            told = f"{len(faint):,} of {len(part):,} clips of {part.name} are too short or too quiet: not assessable"
            findings.append(Finding("notice", "not-assessable", told, faint))
    for part in (*parts.unlisted, *parts.inventories):
        if not part.entries:
            severity = grave if rule.named else "notice"
            findings.append(
                Finding(severity, "not-compared", f"{part.name} has no sound: nothing was compared with it")
            )
    for name in parts.unavailable:
        told = f"{name} is unavailable: nothing was compared with it"
        findings.append(Finding("notice", "inventory-unavailable", told))
    return findings
