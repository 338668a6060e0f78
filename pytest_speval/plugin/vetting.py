"""Before an adapter is looked at: is the corpus sound, which of its clips are taken, what do they share with others?"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_speval.audit.choice import audit_selection
from pytest_speval.audit.finding import Audit, Finding
from pytest_speval.audit.health import Health, audit_corpus
from pytest_speval.audit.poll import audit_votes
from pytest_speval.audit.readiness import audit_readiness, readiness_in_force
from pytest_speval.corpus.clips import Clips
from pytest_speval.corpus.contract import Contract
from pytest_speval.corpus.labels import LabelRules
from pytest_speval.corpus.roles import Cell
from pytest_speval.corpus.selection import Caps, Pool
from pytest_speval.corpus.staging import Staged, label_rules
from pytest_speval.corpus.votes import VoteRules, from_cell
from pytest_speval.plugin.comparison import check_names, compare
from pytest_speval.suite.choice_keys import Select, Votes
from pytest_speval.suite.readiness import load_readiness
from pytest_speval.suite.readiness_file import readiness_file
from pytest_speval.suite.suite import Suite

CODES = {"selection-unheard": "Clips that cannot be heard stand in the way of a selection."}
VETTED = ("votes", "selection", "readiness")
"""The audits of this module that have an item where their section is given, in the order of their items."""


def vetting_names(suite: Suite, staged: Staged | None) -> tuple[str, ...]:
    """The names of the audits about clips alone, beside `corpus`; without a corpus those that the suite asks for."""
    keys = suite.keys
    given = {
        "votes": keys.votes is not None,
        "selection": keys.select is not None,
        "readiness": readiness_in_force(exists=has_readiness(suite), section=keys.audit, claim=keys.claim),
    }
    return (*(name for name in VETTED if given[name]), *check_names(suite, staged))


def has_readiness(suite: Suite) -> bool:
    """Say whether a readiness file lies beside the suite."""
    return os.path.lexists(readiness_file(suite.file))  # a link that leads nowhere is no suite without one


def require_readable(suite: Suite, shown: Callable[[Path], str]) -> None:
    """Raise `FaultyFile` for a readiness file that cannot be read as one."""
    file = readiness_file(suite.file)
    if has_readiness(suite):
        load_readiness(file, shown(file))


def vet(
    suite: Suite, staged: Staged, contract: Contract | None, environ: Mapping[str, str], store: Path | None
) -> tuple[Health, tuple[Audit, ...]]:
    """The health of the clips, with those that a selection leaves out excluded, and all audits about clips alone."""
    keys, clips = suite.keys, staged.clips
    health = audit_corpus(staged.root, clips, contract, keys.run.max_failed)
    audits = [] if keys.votes is None else [_votes(keys.votes, clips)]
    if keys.select is not None:
        health, audit = _select(suite, keys.select, clips, health)
        audits.append(audit)
    file, section, claim = readiness_file(suite.file), keys.audit, keys.claim
    if readiness_in_force(exists=has_readiness(suite), section=section, claim=claim):
        said = load_readiness(file, file.name) if has_readiness(suite) else None
        audits.append(audit_readiness(said, file, section, claim, environ))
    corpus, comparisons = compare(suite, staged, health, store)
    return health, (corpus, *audits, *comparisons)


def _votes(votes: Votes, clips: Clips) -> Audit:
    rules = VoteRules(votes.options, votes.targets, votes.listeners, votes.agree)
    tallies = [from_cell(str(cell)) for cell in clips.cells["votes"]]
    return audit_votes(tallies, [clips.name(place) for place in range(len(clips))], rules)


def _select(suite: Suite, keys: Select, clips: Clips, health: Health) -> tuple[Health, Audit]:
    """Leave out what is not chosen. A clip that cannot be heard could not be chosen: it stops the selection."""
    excluded = list(health.excluded)
    eligible = [place for place, reason in enumerate(excluded) if reason is None and place not in health.condemned]
    rules, cells = label_rules(suite.keys.labels), clips.cells
    pool = Pool(
        digests=[str(health.bytes_sha256[place]) for place in eligible],
        identities=[(clips.splits[place], clips.ids[place]) for place in eligible],
        classes=[None if rules is None else rules.reference_of(str(cells["label"][place])) for place in eligible],
        speakers=[cells["speaker"][place] if "speaker" in cells else None for place in eligible],
        labels=_wanted(rules, cells),
        split_given=clips.split_given,
    )
    choice = audit_selection(pool, Caps(keys.per_class, keys.per_speaker, keys.speakers))
    for number, reason in choice.reasons.items():
        excluded[eligible[number]] = reason
    return replace(health, excluded=excluded), _without_unheard(choice.audit, clips, health)


def _without_unheard(audit: Audit, clips: Clips, health: Health) -> Audit:
    if not health.condemned:
        return audit
    told = f"{len(health.condemned):,} clips cannot be heard, so nobody knows whether they belong: mend or exclude them"
    names = tuple(clips.name(place) for place in sorted(health.condemned))
    return replace(audit, findings=(Finding("error", "selection-unheard", told, names), *audit.findings))


def _wanted(rules: LabelRules | None, cells: Mapping[str, Sequence[Cell]]) -> tuple[str, ...]:
    """The labels that a selection must fill: all, or where the suite allows absent ones, those that any clip has."""
    if rules is None:
        return ()
    present = {rules.reference_of(cell) for cell in set(cells["label"]) if isinstance(cell, str)}
    return tuple(label for label in rules.set if rules.absent is None or label in present)
