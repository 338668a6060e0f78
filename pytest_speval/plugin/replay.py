"""A run whose answers are stored: nothing is asked, nothing is heard, only the judging is new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_speval.audit.claims import LEVELS
from pytest_speval.audit.finding import Audit, Finding
from pytest_speval.audit.fit import reach
from pytest_speval.corpus.labels import DROPPED, LabelRules
from pytest_speval.corpus.staging import label_rules, require_rules
from pytest_speval.corpus.transcripts import require_transcripts
from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.folder import RunFolder
from pytest_speval.evidence.plan import Plan, Question
from pytest_speval.evidence.store import StoredRun, another_question, known_endings, put_together
from pytest_speval.evidence.versions import plan_versions
from pytest_speval.plugin.preparation import supported
from pytest_speval.plugin.run import Orders, Run
from pytest_speval.plugin.sections import AGAINST, VOTES, file_digests, sections_record, written_files
from pytest_speval.plugin.subject import Subject
from pytest_speval.plugin.vetting import VETTED
from pytest_speval.suite.audit_keys import CHECKS
from pytest_speval.suite.text_check import transcribed

CODES = {
    "no-recording-of": "No stored run of a suite lies where `--speval-replay` points.",
    "not-recorded": "A recording has no answer for a planned clip.",
}
NOT_RECORDED = Ending("unattempted", None, "not-recorded", "the recording has no answer for this clip", attempts=0)
ABOUT_CLIPS = (*VETTED, *CHECKS, "duplicates")
"""The audits about clips alone, beside `corpus`."""
RULE_BY_LABELS = "labels-unreached"
"""The one finding about an adapter that follows from today's labels and not from the adapter alone."""


class Recording:
    """The stored runs of one subject, read once; `fault` says why they cannot serve."""

    def __init__(self, paths: Sequence[Path], subject: str) -> None:
        self.runs: Sequence[StoredRun] = ()
        self.fault: EvidenceFault | None = None
        try:
            if not paths:
                raise EvidenceFault("no-recording-of", f"--speval-replay has no run of {subject}")
            self.runs = put_together([StoredRun.read(path) for path in paths])
        except EvidenceFault as fault:
            self.fault = fault

    @property
    def question(self) -> Question | None:
        """What was asked, None where it cannot be said."""
        return self.runs[0].plan.question if self.runs else None

    def check_labels(self, subject: Subject) -> None:
        """Hold stored references against today's rules; raises `FaultyFile` as a live collection would."""
        rules = label_rules(subject.suite.keys.labels) if subject.task.word.labelled else None
        if self.question is not None and rules is not None:
            require_rules(rules, self.question.cells["label"], self.question.planned, "plan.json")
        if self.question is not None and transcribed(subject.task.word):
            cells = self.question.cells["transcript"]
            require_transcripts(subject.suite.keys.text, cells, self.question.planned, "plan.json")


class ReplayRun(Run):
    """A run over a recording; its folder holds copies of the journals it rests on."""

    def __init__(self, subject: Subject, recording: Recording, out: Path, environ: Mapping[str, str]) -> None:
        super().__init__(subject, out)
        self._recording = recording
        self._environ = environ
        self._endings: dict[int, Ending] | None = None

    @property
    def origin(self) -> str:
        return "replayed"

    @cached_property
    def plan(self) -> Plan | None:
        question = self._recording.question
        if question is None:
            return None
        first = self._recording.runs[0].plan
        plan = Plan(
            self.subject.suite.name,
            question,
            _not_raised(self.subject.rules_record(), first.rules),
            plan_versions(),
            self.subject.title,
            first.written,
        )
        for run in self._recording.runs:
            plan = plan.after(run.plan)
        return plan.of_shard(None)

    @cached_property
    def audits(self) -> tuple[Audit, ...]:
        fault = self._recording.fault
        if fault is not None:
            return (
                Audit("corpus", (Finding("error", fault.code, f"integrity: {fault.message}"),)),
                Audit("adapter", ()),
            )
        stored = [audit for audit in self._recording.runs[0].audits if audit.name != "lock"]
        lock = (
            None
            if self.plan is None
            else self.subject.locking.audit(self.plan, required=self.subject.suite.keys.run.locked)
        )
        found = [self._relabelled(audit) if audit.name == "adapter" else audit for audit in stored]
        before = [audit for audit in found if audit.name in ("corpus", "adapter", *ABOUT_CLIPS)]
        after = [audit for audit in found if audit not in before]
        return (*before, *([] if lock is None else [lock]), *after)

    def _relabelled(self, audit: Audit) -> Audit:
        """The stored audit of the adapter, with what today's labels make of the names it has."""
        rules, question = label_rules(self.subject.suite.keys.labels), self._recording.question
        assert question is not None
        kept = tuple(finding for finding in audit.findings if finding.code != RULE_BY_LABELS)
        if rules is None or not self.subject.task.word.labelled:
            return Audit(audit.name, kept)
        found = reach(question.adapter["identity"].get("labels"), rules,
                      supported(rules, question.cells, question.planned))  # fmt: skip
        return Audit(audit.name, (*kept, *found))

    @cached_property
    def refused(self) -> str | None:
        if self._recording.fault is not None:
            return f"integrity: {self._recording.fault}"
        stored = self._recording.runs[0]
        asked = asked_today(self.subject, stored.plan, self._environ)
        return another_question(stored.plan.question, asked, stored.folder.name)

    def open_folder(self, plan: Plan) -> RunFolder:
        folder = RunFolder.create(self.out, plan.suite, self.started, plan.question.digest)
        several = len(self._recording.runs) > 1
        for number, run in enumerate(self._recording.runs, start=1):
            folder.copy_journals(run.folder, f"{number}-" if several else "")
        return folder

    def orders(self) -> Orders:
        try:
            self.begin()
        except EvidenceFault as fault:
            return Orders("", str(fault))
        return Orders("" if self.folder is None else str(self.folder.path), self.blocked)

    def ask(self, places: Sequence[int]) -> dict[int, Ending]:
        if self._endings is None:
            self.begin()
            assert self.folder is not None
            self._endings = recalled(self._recording, self.folder)
        return {place: self._endings[place] for place in places if place in self._endings}


def _not_raised(rules: dict[str, Any], first: Mapping[str, Any]) -> dict[str, Any]:
    """Today's rules; what was asked under a low claim does not become evidence for a higher one afterwards."""
    level = min(rules["claim"]["level"], first["claim"]["level"], key=LEVELS.index)
    return rules | {"claim": {**rules["claim"], "level": level}}


def recalled(recording: Recording, folder: RunFolder) -> dict[int, Ending]:
    """How every planned clip ended in the recording, by place."""
    question = recording.question
    assert question is not None
    return dict.fromkeys(question.planned, NOT_RECORDED) | known_endings(question, folder)


def asked_today(subject: Subject, stored: Plan, environ: Mapping[str, str]) -> Question:
    """The question that today's suite asks, as far as it shows without manifest, sound and model.

    A file that is not here counts as the stored one while the suite names it as it did.
    """
    then = stored.question
    adapter = subject.adapter_record(
        then.adapter["identity"],
        environ,
        recorded=then.adapter["recorded"],
        billable=then.adapter["billable"],
    )
    for key, text in subject.written.items():
        known = then.adapter["keys"].get(key)
        if adapter["keys"][key] == {"sha256": None} and known is not None:
            same = stored.written.get(key) == text
            adapter["keys"][key] = known if same else {"sha256": None, "written": text}
    return replace(
        then,
        task=subject.task.word.name,
        corpus=subject.corpus_record(),
        adapter=adapter,
        excluded=_excluded_today(subject, then),
        batch=subject.suite.keys.run.batch,
        once=subject.once(billable=then.adapter["billable"]),
        sections=_sections_today(subject, stored, environ),
        blocks=subject.blocks,
    )


def _sections_today(subject: Subject, stored: Plan, environ: Mapping[str, str]) -> Mapping[str, Any]:
    """The sections as today's suite has them; a file that is not here is the stored one while it is named the same."""
    suite, digests = subject.suite, file_digests(subject.suite, environ)
    sections = stored.question.sections
    against = sections.get("audit", {}).get("against", {})
    for key, text in written_files(suite).items():
        known = sections.get("votes") if key == VOTES else against.get(key.removeprefix(AGAINST))
        if digests[key] is None and isinstance(known, Mapping) and stored.written.get(key) == text:
            digests[key] = known["sha256"]
    return sections_record(suite, digests)


def _excluded_today(subject: Subject, question: Question) -> Sequence[str | None]:
    """The exclusions as today's `labels.drop` has them."""
    rules = label_rules(subject.suite.keys.labels)
    if rules is None or not subject.task.word.labelled:
        return question.excluded
    return [
        _exclusion(rules, cell, reason) for cell, reason in zip(question.cells["label"], question.excluded, strict=True)
    ]


def _exclusion(rules: LabelRules, cell: Any, reason: str | None) -> str | None:
    dropped = f"label {cell} is dropped"
    if isinstance(cell, str) and rules.reference_of(cell) == DROPPED:
        return dropped
    return None if reason == dropped else reason
