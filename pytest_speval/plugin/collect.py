"""Suites as pytest items: audits, clips, recounts, gates. They hold no arithmetic; they ask the campaign and tell."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import pytest

from pytest_speval.corpus.blocks import blocks_of
from pytest_speval.corpus.clips import Clips
from pytest_speval.errors import SpevalError
from pytest_speval.evidence.plan import Question
from pytest_speval.judge.result import Result
from pytest_speval.plugin.answering import Blocked
from pytest_speval.plugin.campaign import Campaign
from pytest_speval.plugin.names import clip_name
from pytest_speval.plugin.subject import Subject
from pytest_speval.reports.summary import Entry
from pytest_speval.reports.verdict import verdict_lines
from pytest_speval.suite.keys import Run as RunKeys

CAMPAIGN = pytest.StashKey[Campaign]()
WITHOUT_CLIPS = pytest.StashKey[bool]()
"""Set while the controller collects audits and gates alone."""

SINGLY = 1000
"""Up to so many planned clips each has an item of its own by default."""
TOGETHER = 64
SHOWN = 20


class Told(Exception):
    """A failure that is told in its own words, without a traceback."""


class SuiteFile(pytest.File):
    """One suite file."""

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        campaign = self.config.stash[CAMPAIGN]
        for subject in campaign.subjects(self.path):
            if subject.title is None:
                yield from items_of(self, campaign, subject)
            else:
                yield AdapterNode.of(self, campaign, subject)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]
        if isinstance(excinfo.value, SpevalError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)


class AdapterNode(pytest.Collector):
    """The items of one of several adapters of a suite."""

    campaign: Campaign
    subject: Subject

    @classmethod
    def of(cls, parent: pytest.Collector, campaign: Campaign, subject: Subject) -> AdapterNode:
        node: AdapterNode = cls.from_parent(parent, name=subject.title)
        node.campaign, node.subject = campaign, subject
        return node

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        yield from items_of(self, self.campaign, self.subject)


class SpevalItem(pytest.Item):
    """What all our items share: a subject, a kind, and words to select them by."""

    kind = ""
    campaign: Campaign
    subject: Subject

    @classmethod
    def of(cls, parent: pytest.Collector, name: str, campaign: Campaign, subject: Subject) -> Self:
        """A new item; its id is given as text, so that pytest reads the brackets as it does from its cache."""
        item: Self = cls.from_parent(parent, name=name, nodeid=f"{parent.nodeid}::{name}")
        item.campaign, item.subject = campaign, subject
        return item

    def mark(self, split: str | None = None) -> None:
        """Give the item the words it is selected by."""
        subject = self.subject
        suite = subject.suite
        self.extra_keyword_matches.update({suite.name, suite.task, self.kind, *suite.keys.tags})
        if split is not None:
            self.extra_keyword_matches.add(split)
        self.add_marker(pytest.mark.speval(suite=suite.name, task=suite.task, split=split, kind=self.kind))

    def reportinfo(self) -> tuple[os.PathLike[str], int, str]:
        return self.path, 0, f"{self.subject.name}: {self.name}"

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, Told | SpevalError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def skip_unstaged(self) -> None:
        """Skip where nobody said where the corpus lies."""
        reason = self.campaign.run(self.subject).skipped
        if reason is not None:
            pytest.skip(reason)

    def judged(self) -> tuple[Entry, Result | None]:
        """What the whole run amounts to; skips where nothing is judged."""
        self.skip_unstaged()
        run = self.campaign.run(self.subject)
        entry = run.finish(partial=False)
        if entry.verdict == "shard":
            pytest.skip("a shard judges nothing")
        return entry, run.result


class AuditItem(SpevalItem):
    """One audit of a suite."""

    kind = "audit"
    audit: str

    def runtest(self) -> None:
        self.skip_unstaged()
        run = self.campaign.run(self.subject)
        audit = next((audit for audit in run.audits if audit.name == self.audit), None)
        if audit is None:
            pytest.skip(f"{self.audit} was not audited when these answers were given")
        if audit.failed:
            raise Told("\n".join([f"audit {audit.name} of {self.subject.name}: FAIL", *map(str, audit.findings)]))
        run.begin()


class ClipItem(SpevalItem):
    """One clip, or several in manifest order."""

    kind = "clip"
    places: Sequence[int]

    def runtest(self) -> None:
        try:
            endings = self.campaign.ask(self.subject, self.places)
        except Blocked as blocked:
            if self.campaign.settings.partial:
                raise Told(str(blocked)) from None
            pytest.skip(str(blocked))
        if not endings:
            pytest.skip("clips of other shards")
        lost = [
            f"{self._name(place)}: {ending.state}: {ending.code}: {ending.message}"
            for place, ending in endings.items()
            if ending.state != "returned"
        ]
        if lost:
            more = [f"and {len(lost) - SHOWN:,} more"] if len(lost) > SHOWN else []
            told = "\n".join([f"{len(lost):,} of {len(self.places):,} clips without an answer", *lost[:SHOWN], *more])
            if self.subject.suite.keys.run.max_failed:
                pytest.xfail(told)
            raise Told(told)

    def _name(self, place: int) -> str:
        listed = self.campaign.listed(self.subject)
        return "" if listed is None else listed.name(place)


class VerifyItem(SpevalItem):
    """A count of a suite, held against a second one."""

    kind = "verify"
    check: str

    def runtest(self) -> None:
        entry, result = self.judged()
        if result is None:
            raise Told(f"verify {self.check} of {self.subject.name}: INVALID: {entry.reason}")
        if self.check not in result.checks:
            pytest.skip(f"nothing was kept that {self.check} could be worked out from")
        found = result.checks[self.check]
        if found is not None:
            raise Told(f"verify {self.check} of {self.subject.name}: FAIL: {found}")


class GateItem(SpevalItem):
    """One gate of a suite; judged where all results are."""

    kind = "gate"
    gate: str

    def runtest(self) -> None:
        entry, result = self.judged()
        verdict = next((one for one in result.verdicts if one.rule.id == self.gate), None) if result else None
        if result is None or verdict is None:
            raise Told(f"gate {self.gate} of {self.subject.name}: INVALID: {entry.reason}")
        told = "\n".join(verdict_lines(result, verdict))
        if verdict.verdict == "pass":
            return
        if verdict.verdict == "fail" and not verdict.blocks:
            pytest.xfail(told)
        raise Told(told)


def items_of(parent: pytest.Collector, campaign: Campaign, subject: Subject) -> Iterator[pytest.Item]:
    """The items of one subject in their order: audits, clips, recounts, gates."""
    for name in campaign.audit_names(subject):
        audit = AuditItem.of(parent, f"audit[{name}]", campaign, subject)
        audit.audit = name
        audit.mark()
        yield audit
    if not parent.config.stash.get(WITHOUT_CLIPS, False):
        yield from _clip_items(parent, campaign, subject)
    for name in subject.recounts if campaign.settings.judges else ():
        verify = VerifyItem.of(parent, f"verify[{name}]", campaign, subject)
        verify.check = name
        verify.mark()
        yield verify
    for gate_id in campaign.gate_ids(subject) if campaign.settings.judges else ():
        gate = GateItem.of(parent, f"gate[{gate_id}]", campaign, subject)
        gate.gate = gate_id
        gate.mark()
        yield gate


def _clip_items(parent: pytest.Collector, campaign: Campaign, subject: Subject) -> Iterator[pytest.Item]:
    clips = campaign.listed(subject)
    if clips is None:
        return
    splits = set(clips.splits)
    one_split = splits.pop() if len(splits) == 1 else None
    asked = set(_asked_names(parent, subject))
    single = ((name, (place,)) for place in clips.planned if asked and (name := clip_name(clips, place)) in asked)
    made = set()
    for name, places in (*_portions(clips, subject.suite.keys.run), *single):
        if name not in made:
            made.add(name)
            item = ClipItem.of(parent, name, campaign, subject)
            item.places = places
            item.mark(clips.splits[places[0]] if len(places) == 1 else one_split)
            yield item


def _portions(clips: Clips | Question, run: RunKeys) -> Iterator[tuple[str, Sequence[int]]]:
    """The planned clips as items ask them: the item's name, and the places of its clips in the order of asking."""
    planned = clips.planned
    size = run.per_item or max(run.batch, 1 if len(planned) <= SINGLY else TOGETHER)
    if run.blocks is not None:
        units = clips.cells[run.blocks.by]
        blocks = blocks_of(planned, units, lambda place: (clips.splits[place], clips.ids[place]), run.blocks.size)
        yield from ((f"block[{number}]", places) for number, places in enumerate(blocks, 1))
    elif size == "all":
        yield "run[all]", planned
    elif size == 1:
        yield from ((clip_name(clips, place), (place,)) for place in planned)
    else:
        for first in range(0, len(planned), size):
            places = planned[first : first + size]
            yield f"clips[{first}..{first + len(places) - 1}]", places


def _asked_names(parent: pytest.Collector, subject: Subject) -> Iterator[str]:
    """Names of single clips that the command line or the last failures ask for; their items are made on demand."""
    config = parent.config
    remembered: Iterable[str] = ()
    if config.getoption("lf", False) and getattr(config, "cache", None) is not None:
        remembered = config.cache.get("cache/lastfailed", {}) or {}
    places = [(config.invocation_params.dir, arg) for arg in config.args]
    places += [(config.rootpath, node) for node in remembered]
    for base, arg in places:
        head, bracket, tail = str(arg).partition("[")
        file, *names = head.split("::")
        ours = [] if subject.title is None else [subject.title]
        if bracket and names == [*ours, "clip"] and Path(os.path.abspath(base / file)) == parent.path:  # noqa: PTH100
            yield f"clip[{tail}"


def ordered(items: Sequence[pytest.Item], *, audits_first: bool) -> list[pytest.Item]:
    """Audits before everything else (in workers: after it, where the controller cuts them off), recounts and
    gates last.

    An item made on demand for one clip gives way to one that holds the clip among others.
    """
    held = {(item.subject.name, place) for item in items if isinstance(item, ClipItem) and len(item.places) > 1
            for place in item.places}  # fmt: skip
    kept = [
        item
        for item in items
        if not isinstance(item, ClipItem) or len(item.places) != 1 or (item.subject.name, item.places[0]) not in held
    ]
    audits = [item for item in kept if isinstance(item, AuditItem)]
    recounts = [item for item in kept if isinstance(item, VerifyItem)]
    gates = [item for item in kept if isinstance(item, GateItem)]
    rest = [item for item in kept if not isinstance(item, AuditItem | VerifyItem | GateItem)]
    return [*audits, *rest, *recounts, *gates] if audits_first else [*rest, *audits, *recounts, *gates]


def subjects_of(items: Iterable[pytest.Item]) -> list[Subject]:
    """The subjects that any of the items belongs to, each once."""
    found = {item.subject.name: item.subject for item in items if isinstance(item, SpevalItem)}
    return list(found.values())
