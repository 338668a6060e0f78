"""The template of a readiness file: every field explained, and filled in where the suite has said it already."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterator
from pathlib import Path

from pytest_speval.suite.audit_keys import AuditSection, Inventory
from pytest_speval.suite.corpus_keys import License
from pytest_speval.suite.keys import Claim
from pytest_speval.suite.readiness_keys import INVENTORIES
from pytest_speval.suite.suite import Suite

COLUMN = 40
HEAD = """\
# Readiness of the suite {name}: what stands behind its claim.
#
# Everything here is declared. Reports print it as declared and never as verified: the audit only checks that the files
# exist, that they have these digests and that the dates can be true. A field that holds "" is not filled in and
# narrows the claim. Paths begin at this file's folder. Give dates as 2026-12-31, and true or false without quotes.
"""
SEEN = {
    "training": "the rows the model was trained on",
    "pretraining": "what its components were trained on before",
    "validation": "what stopped or tuned the training",
    "calibration": "what thresholds and scales were fitted to",
    "selection": "what this model was chosen by",
}


def readiness_template(suite: Suite) -> str:
    """The text of the file beside a suite that nobody has filled in yet."""
    folder, keys = suite.file.parent, suite.keys
    lines = [
        *_sources(keys.corpus.manifest, keys.corpus.license or License()),
        *_collection(keys.audit),
        *_components(suite),
        *_inventories(keys.audit, folder),
        *_evidence(keys.claim, folder),
        *LISTENERS,
        *REVIEWER,
    ]
    return HEAD.format(name=suite.name) + "".join(f"{line}\n" for line in lines)


def _sources(manifest: str, terms: License) -> Iterator[str]:
    yield "\nsources:"
    yield _field("  - records: ", manifest, "which records: a manifest, or a part of it; one entry for each origin")
    yield _field("    source: ", terms.source, "where they were recorded or first published")
    yield _field("    revision: ", terms.revision, "an immutable revision: a commit, a DOI, a digest")
    yield _field("    license: ", terms.name, "the licence or permission")
    yield _field("    audio_redistribution: ", terms.audio_redistribution, "true or false: may the sound be passed on?")
    yield _field("    annotation_redistribution: ", terms.annotation_redistribution, "true or false: may the labels?")
    yield _field("    permission: ", None, "a file that shows the licence or permission")


def _collection(section: AuditSection) -> Iterator[str]:
    period = section.dates.corpus if section.dates else None
    yield "\ncollection:"
    yield _field("  from: ", period and period.from_, "the first day on which the corpus was collected")
    yield _field("  to: ", period and period.to, "the last day")


def _components(suite: Suite) -> Iterator[str]:
    frozen = suite.keys.audit.dates.model_frozen if suite.keys.audit.dates else None
    yield "\n# One entry for each part of the model, and for each checkpoint that a part was made from."
    yield "components:"
    for _, adapter in suite.adapters:
        yield _field("  - name: ", adapter.name, f"the adapter is {json.dumps(adapter.use)}")
        yield _field("    revision: ", None, "an immutable revision or digest")
        yield _field("    frozen: ", frozen, "the day since which it has not changed")
        yield _field("    evidence: ", None, "a file that shows both: a release page, a signed tag")
    if not suite.adapters:
        yield from ('  - name: ""', '    revision: ""', '    frozen: ""', '    evidence: ""')


def _inventories(section: AuditSection, folder: Path) -> Iterator[str]:
    yield "\n# What the model has seen: the file of audit.against, or unavailable."
    yield "inventories:"
    for name in INVENTORIES:
        said = section.against.get(name)
        said = said.file if isinstance(said, Inventory) else said
        yield _field(f"  {name}: ", _shown(said, folder), SEEN[name])


def _evidence(claim: Claim, folder: Path) -> Iterator[str]:
    yield "\n# kind: third-party | operator-assertion | independent-verification"
    yield "evidence:"
    said: list[tuple[str, str, str | None]]
    said = [(entry.what, entry.kind, _shown(entry.evidence, folder)) for entry in claim.provenance]
    for what, kind, file in said or [("", "", None)]:
        yield _field("  - what: ", what, "what the file speaks for")
        yield _field("    kind: ", kind, "who says so")
        yield _field("    file: ", file, "the file")
        yield _field("    sha256: ", None, "its SHA-256, 64 hexadecimal digits")


def _field(key: str, value: object, comment: str) -> str:
    return f"{key + _written(value):<{COLUMN}}  # {comment}"


def _written(value: object) -> str:
    """A value as YAML that reads back as itself; `""` for one that is not known."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.date):
        return value.isoformat()
    return "".join(map(_escaped, json.dumps(value or "", ensure_ascii=False)))


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    return f"\\u{ord(character):04X}" if ord(character) < 0x10000 else f"\\U{ord(character):08X}"


def _shown(said: Path | str | None, folder: Path) -> str | None:
    if not isinstance(said, Path) or "${" in str(said):
        return None if said is None else str(said)
    return Path(os.path.relpath(said, folder)).as_posix()


LISTENERS = (
    "",
    "# Leave this section out where nobody labelled the clips by listening.",
    "listeners:",
    _field("  number: ", None, "how many listened"),
    _field("  adults: ", None, "true or false: all of age"),
    _field("  proficiency: ", None, "how well they know the language of the clips"),
    _field("  blinded: ", None, "true or false: they knew neither intention nor answers"),
)
REVIEWER = (
    "",
    "# A person who has looked at the evidence.",
    "reviewer:",
    _field("  name: ", None, "a name, or a role"),
    _field("  date: ", None, "the day of the review"),
    _field("  statement: ", None, "what was looked at, and what it shows"),
)
