"""What a suite's clips are held against before the first call: other splits and what the model has seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_speval.audit.checks import CheckRule, checks_in_force, nothing_to_compare
from pytest_speval.audit.digests import with_digests
from pytest_speval.audit.finding import Audit
from pytest_speval.audit.health import Health
from pytest_speval.audit.identity import identity_findings
from pytest_speval.audit.likeness import audit_near
from pytest_speval.audit.overlap import Parts, audit_duplicates, audit_overlap
from pytest_speval.corpus.inventory import read_inventory
from pytest_speval.corpus.part import Part
from pytest_speval.corpus.roles import Cell
from pytest_speval.corpus.staging import Staged, cohort_rules
from pytest_speval.errors import Fault, FaultyFile
from pytest_speval.plugin.sections import AGAINST, section_files
from pytest_speval.suite.suite import Suite

CODES = {
    "nothing-to-compare": "A check is named, and there is nothing that it could compare.",
    "nothing-to-select": "A suite selects by sound, and its clips have none.",
    "inventory-name": "An inventory has the name of a split.",
}


def rules_of(suite: Suite, staged: Staged) -> list[CheckRule]:
    """The checks in force for a suite, without a look at its inventories."""
    return checks_in_force(suite.keys.audit, staged.clips.cells, others=_has_others(suite, staged))


def check_names(suite: Suite, staged: Staged | None) -> tuple[str, ...]:
    """The names of the audits that hold clips against others, in the order of their items.

    Without a corpus these are the checks that the suite names.
    """
    section = suite.keys.audit
    rules = checks_in_force(section, (), others=False) if staged is None else rules_of(suite, staged)
    return (*(rule.name for rule in rules), *(["duplicates"] if section.duplicates == "forbid" else []))


def with_inventories(suite: Suite, staged: Staged, environ: Mapping[str, str]) -> Staged:
    """The corpus with the inventories it is held against; raises `FaultyFile`, also for a check that is in vain."""
    section, clips = suite.keys.audit, staged.clips
    sound, others = clips.audio is not None, _has_others(suite, staged)
    vain = nothing_to_compare(section, clips.cells, others=others, sound=sound)
    files = {key.removeprefix(AGAINST): path for key, path in section_files(suite).items() if key.startswith(AGAINST)}
    splits = {*clips.splits, *(part.name for part in staged.unlisted)}
    faults = [Fault(suite.file.name, 0, 0, "nothing-to-compare", f"audit.{name}: {why}") for name, why in vain]
    faults += [
        Fault(suite.file.name, 0, 0, "inventory-name", f"{AGAINST}{name}: the manifest has a split of this name")
        for name in sorted(section.against.keys() & splits)
    ]
    if suite.keys.select is not None and not sound:
        told = "select takes clips in the order of their sound's digests, and the manifest has no column for audio"
        faults.append(Fault(suite.file.name, 0, 0, "nothing-to-select", told))
    if faults:
        raise FaultyFile(faults)
    parts = [
        read_inventory(name, said, suite.place(files[name], environ), files[name].name, suite.keys.corpus, environ)
        for name, said in section.against.items()
        if said != "unavailable"
    ]
    return replace(staged, inventories=tuple(parts))


def compare(suite: Suite, staged: Staged, health: Health, store: Path | None) -> tuple[Audit, list[Audit]]:
    """The audit of the corpus with what its keys show, and an audit for each check in force.

    `store` is a folder that keeps what was heard of other parts.
    """
    section, rules = suite.keys.audit, rules_of(suite, staged)
    named = {rule.name for rule in rules if rule.named}
    unavailable = tuple(name for name, said in section.against.items() if said == "unavailable")
    listed = set(staged.clips.splits)
    found = [with_digests(part, named) for part in (*staged.unlisted, *staged.inventories)]
    others = [part for part, _ in found[: len(staged.unlisted)]]
    parts = Parts(
        evaluated=_listed_parts(staged, health, evaluated=True),
        unlisted=tuple(part for part in others if part.name not in listed),
        rest=(
            *(part for part in others if part.name in listed),
            *_listed_parts(staged, health, evaluated=False),
        ),
        inventories=tuple(part for part, _ in found[len(staged.unlisted) :]),
        unavailable=unavailable,
    )
    corpus = health.audit
    more = [finding for _, findings in found for finding in findings] + identity_findings(
        parts.whole, cohort_rules(suite.keys.corpus.columns)
    )
    corpus = replace(corpus, findings=(*corpus.findings, *more))
    quarantine = section.unknown_speakers == "quarantine"
    audits = [
        audit_near(rule, parts, store) if rule.name == "near" else audit_overlap(rule, parts, quarantine=quarantine)
        for rule in rules
    ]
    if section.duplicates == "forbid":
        audits.append(audit_duplicates(parts))
    return corpus, audits


def _has_others(suite: Suite, staged: Staged) -> bool:
    listed = set(staged.clips.splits)
    apart = any(part.name not in listed for part in staged.unlisted)
    return apart or bool(suite.keys.audit.against) or len(listed) > 1


def _listed_parts(staged: Staged, health: Health, *, evaluated: bool) -> tuple[Part, ...]:
    """The planned clips, or those that a rule leaves out, by split, with the digests of the sound that was heard."""
    clips, by_split = staged.clips, dict[str, list[int]]()
    for place, split in enumerate(clips.splits):
        if (health.excluded[place] is None) == evaluated:
            by_split.setdefault(split, []).append(place)
    columns = dict(clips.cells)
    if clips.audio is not None:
        columns |= {"bytes_sha256": list(health.bytes_sha256), "samples_sha256": list(health.samples_sha256)}
    return tuple(
        Part(
            name,
            "manifest",
            [clips.name(place) for place in places],
            [clips.lines[place] for place in places],
            {role: _some(cells, places) for role, cells in columns.items()},
            None if clips.audio is None else [clips.audio[place] or None for place in places],
            staged.root,
        )
        for name, places in sorted(by_split.items())
    )


def _some(cells: Sequence[Cell], places: Sequence[int]) -> list[Cell]:
    return [cells[place] for place in places]
