"""`audit[corpus]`: is every planned clip there, whole, and as the suite wants it?

Each file is read once, for its digests and its samples. What breaks the contract is an error, or, while the clips
are no more than `run.max_failed`, a warning and a failed clip. What is merely odd is reported.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_speval.audit.finding import Audit, Finding, Severity
from pytest_speval.audit.heard import Heard, counted, listen
from pytest_speval.audit.oddities import odd
from pytest_speval.corpus.clips import Clips
from pytest_speval.corpus.contract import Contract

CODES = {
    "repeated-row": "Equal rows with one identity are one clip.",
    "c1-control-characters": "The manifest holds C1 control characters.",
}
TAKEN_OUT = {"short-excluded": "shorter than the suite allows", "long-excluded": "longer than the suite allows"}


@dataclass(frozen=True)
class Health:
    """The audit and what each listed clip's sound is; lists have an entry per listed clip, None where unheard."""

    audit: Audit
    bytes_sha256: list[str | None]
    samples_sha256: list[str | None]
    frames: list[int | None]
    rates: list[int | None]
    excluded: list[str | None]
    condemned: dict[int, tuple[str, str]]
    abstains: frozenset[int]


def audit_corpus(root: Path, clips: Clips, contract: Contract | None, max_failed: int) -> Health:
    """Look at every planned clip; a contract of None means that the suite has no sound."""
    size = len(clips)
    excluded = list(clips.excluded)
    sound = contract is not None and clips.audio is not None
    heard = listen(root, clips, contract) if contract is not None and sound else []
    columns = _columns(size, heard)
    faults: dict[int, tuple[str, str]] = {}
    abstains = set()
    for one in heard:
        if one.fault is None:
            continue
        if one.fault[0] in TAKEN_OUT:
            excluded[one.place] = TAKEN_OUT[one.fault[0]]
        elif one.fault[0] == "short-abstains":
            abstains.add(one.place)
        else:
            faults[one.place] = one.fault
    whole = excluded.count(None) == size
    planned = range(size) if whole else [place for place, reason in enumerate(excluded) if reason is None]
    heard = [one for one in heard if excluded[one.place] is None]
    findings = [*_faulty(clips, faults, len(heard), max_failed), *odd(clips, planned, heard)]
    findings += [Finding("notice", code, message) for code, message in clips.notices]
    audit = Audit("corpus", tuple(findings))
    condemned = {} if audit.failed else faults
    return Health(audit, *columns, excluded, condemned, frozenset(abstains))


def _columns(
    size: int, heard: Iterable[Heard]
) -> tuple[list[str | None], list[str | None], list[int | None], list[int | None]]:
    of_bytes: list[str | None] = [None] * size
    of_samples: list[str | None] = [None] * size
    frames: list[int | None] = [None] * size
    rates: list[int | None] = [None] * size
    for one in heard:
        if one.inspection is not None:
            of_bytes[one.place] = one.inspection.bytes_sha256
            of_samples[one.place] = one.inspection.samples_sha256
            frames[one.place] = one.inspection.frames
            rates[one.place] = one.inspection.rate
    return of_bytes, of_samples, frames, rates


def _faulty(clips: Clips, faults: Mapping[int, tuple[str, str]], heard: int, max_failed: int) -> list[Finding]:
    by_code: dict[str, dict[int, str]] = defaultdict(dict)
    for place, (code, message) in faults.items():
        by_code[code][place] = message
    severity: Severity = "error" if len(faults) > max_failed else "warning"
    return [
        Finding(severity, code, counted([*said.values()], heard), tuple(map(clips.name, said)))
        for code, said in sorted(by_code.items())
    ]
