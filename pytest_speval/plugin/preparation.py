"""Before the first call: the audits, and from them the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pytest_speval.adapters.base import Recorded, Roll
from pytest_speval.adapters.manifest_outcomes import ManifestOutcomes
from pytest_speval.audit.finding import Audit, Finding
from pytest_speval.audit.fit import Request, audit_adapter, broken
from pytest_speval.audit.health import Health
from pytest_speval.corpus.clips import Clips
from pytest_speval.corpus.contract import Contract
from pytest_speval.corpus.labels import LabelRules
from pytest_speval.corpus.listing import RATING
from pytest_speval.corpus.projections import AXES, AxesProjection
from pytest_speval.corpus.roles import Cell
from pytest_speval.corpus.staging import BY_NAME, Staged, contract, label_rules, listing
from pytest_speval.evidence.plan import Plan, Question
from pytest_speval.evidence.versions import plan_versions
from pytest_speval.plugin.hearing import Hearing
from pytest_speval.plugin.sections import file_digests, sections_record, written_files
from pytest_speval.plugin.subject import Subject
from pytest_speval.plugin.vetting import vet
from pytest_speval.suite.variables import expand

CODES = {"rate-differs": "`corpus.audio.rate` is not the rate that the adapter hears."}
SAMPLES = 3
"""Clips with which the check of batches is made."""


@dataclass(frozen=True)
class Prepared:
    """A plan, the audits it passed or failed, and the adapter, warm unless an audit failed."""

    plan: Plan
    audits: tuple[Audit, ...]
    adapter: Any
    facts: Mapping[str, Any]
    hearing: Hearing


def prepare(subject: Subject, staged: Staged, environ: Mapping[str, str], store: Path | None) -> Prepared:
    """Audit the corpus and the adapter, and write down what is asked; `store` keeps what was heard of other sound."""
    adapter, unbuilt = _build(subject, staged.clips, environ)
    rate = getattr(adapter, "sample_rate", None)
    keys = subject.suite.keys
    bound = contract(keys.corpus.audio, rate) if staged.clips.audio is not None else None
    health, (corpus, *others) = vet(subject.suite, staged, bound, environ, store)
    hearing = Hearing(staged.root, staged.clips.audio, bound, health.bytes_sha256)
    if unbuilt is None:
        once = bool(getattr(adapter, "billable", False)) or subject.once(billable=False)
        fit = audit_adapter(adapter, replace(_request(subject, staged, health, hearing, environ), once=once))
        audit, identity, facts = fit.audit, fit.identity, fit.facts
        audit = _same_rate(audit, keys.corpus.audio.rate, rate)
    else:
        audit, identity, facts = Audit("adapter", (unbuilt,)), {"name": subject.keys.use, "files": {}}, {}
    audit = audit.redacted(subject.secrets)
    identity = subject.secrets.redact_data(identity)
    billable = bool(getattr(adapter, "billable", False))
    recorded = isinstance(adapter, Recorded)
    record = subject.adapter_record(identity, environ, recorded=recorded, billable=billable)
    question = _question(subject, staged, health, bound, record, environ, once=subject.once(billable=billable))
    written = {**subject.written, **written_files(subject.suite)}
    plan = Plan(subject.suite.name, question, subject.rules_record(), plan_versions(), subject.title, written)
    return Prepared(plan, (corpus, audit, *others), adapter, facts, hearing)


def _build(subject: Subject, clips: Clips, environ: Mapping[str, str]) -> tuple[Any, Finding | None]:
    try:
        adapter = subject.build(environ)
        if isinstance(adapter, ManifestOutcomes):
            adapter.take(clips)
        return adapter, None
    except BaseException as error:
        return None, broken(subject.keys.use, error)


def _same_rate(audit: Audit, suite_rate: int | None, adapter_rate: int | None) -> Audit:
    if suite_rate is None or adapter_rate is None or suite_rate == adapter_rate:
        return audit
    message = f"corpus.audio.rate is {suite_rate} Hz, and the adapter hears {adapter_rate} Hz"
    return Audit(audit.name, (*audit.findings, Finding("error", "rate-differs", message)))


def _request(subject: Subject, staged: Staged, health: Health, hearing: Hearing, environ: Mapping[str, str]) -> Request:
    clips = staged.clips
    planned = [place for place, reason in enumerate(health.excluded) if reason is None]
    rules = label_rules(subject.suite.keys.labels)
    identities = list(zip(clips.splits, clips.ids, strict=True))
    sound = [place for place in planned if place not in health.condemned and place not in health.abstains]
    return Request(
        use=subject.keys.use,
        method=subject.task.method,
        sound=subject.task.word.sound,
        heard=clips.audio is not None,
        labels=rules,
        supported=supported(rules, clips.cells, planned),
        roll=Roll(
            clips.identities,
            identities,
            [identities[place] for place in planned],
            manifest=staged.root / expand(subject.suite.keys.corpus.manifest, environ),
            manifest_sha256=clips.manifest_sha256,
            references=reference_columns(subject, rules, environ),
        ),
        requires=subject.keys.requires,
        assets=subject.keys.assets,
        folder=subject.suite.file.parent,
        batch=subject.suite.keys.run.batch,
        samples=[hearing.of(place) for place in sound[:SAMPLES]] if not health.audit.failed else (),
    )


def reference_columns(subject: Subject, rules: LabelRules | None, environ: Mapping[str, str]) -> dict[str, str]:
    """The manifest's columns that hold what answers are held against, by their role.

    Labels are not among them where listeners give them, nor where answers are read from axes.
    """
    keys, word = subject.suite.keys, subject.task.word
    scored = {role for group in word.required for role in group} | ({RATING} if word.name == "mos" else set())
    if keys.votes is not None or (rules is not None and isinstance(rules.projection, AxesProjection)):
        scored.discard("label")
    roles = listing(keys.corpus, BY_NAME, environ).roles
    return {role: roles[role][0] for role in ("transcript", "label", RATING, *AXES) if role in scored & roles.keys()}


def supported(rules: LabelRules | None, cells: Mapping[str, Sequence[Cell]], planned: Sequence[int]) -> frozenset[str]:
    """The labels of the set that planned clips have as references."""
    if rules is None:
        return frozenset()
    said = {cells["label"][place] for place in planned}
    found = {rules.reference_of(cell) for cell in said if isinstance(cell, str)}
    return frozenset(label for label in found if label is not None)


def _question(
    subject: Subject,
    staged: Staged,
    health: Health,
    bound: Contract | None,
    adapter: Mapping[str, Any],
    environ: Mapping[str, str],
    *,
    once: bool,
) -> Question:
    heard, clips = bound is not None, staged.clips
    digests = file_digests(subject.suite, environ)
    return Question(
        task=subject.task.word.name,
        corpus=subject.corpus_record(),
        adapter=adapter,
        splits=clips.splits,
        ids=clips.ids,
        split_given=clips.split_given,
        cells=clips.cells,
        excluded=health.excluded,
        entries=clips.audio or () if heard else (),
        bytes_sha256=health.bytes_sha256 if heard else (),
        samples_sha256=health.samples_sha256 if heard else (),
        frames=health.frames if heard else (),
        rates=health.rates if heard else (),
        condemned=health.condemned,
        abstains=health.abstains,
        audio=asdict(bound) if bound is not None else None,
        batch=subject.suite.keys.run.batch,
        once=once,
        sections=sections_record(subject.suite, digests),
        blocks=subject.blocks,
    )
