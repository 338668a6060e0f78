"""What is asked, and under which rules it will be judged: two digests over canonical JSON.

The question holds all that can change an answer. The plan adds all that can change a verdict. Neither holds times,
hosts, paths, worker counts or a selection of clips.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pytest_speval.corpus.blocks import blocks_of
from pytest_speval.corpus.roles import Cell
from pytest_speval.evidence.canonical import digest
from pytest_speval.evidence.difference import differences

SCHEMA = 1
SECTIONS = ("votes", "select", "audit", "observe")
"""Sections of a suite that decide which clips are asked, whether, and what is kept of the answers."""


@dataclass(frozen=True)
class Question:
    """A task asked of one model about listed clips, as equally long columns in manifest order.

    `excluded` holds a reason or None. `condemned` maps a clip's place to the finding (code, message) that made it
    fail without a call; `abstains` holds the places of clips that a rule of the suite answers with no choice.
    `entries` name the sound files below the corpus' root, `frames` and `rates` are those of the stored sound; they
    are empty where there is none. `sections` holds what the suite's own sections of SECTIONS say, those it has.
    `blocks` says by which units clips are asked in blocks, and how many units a block has.
    """

    task: str
    corpus: Mapping[str, Any]
    adapter: Mapping[str, Any]
    splits: Sequence[str]
    ids: Sequence[str]
    split_given: bool
    cells: Mapping[str, Sequence[Cell]]
    excluded: Sequence[str | None]
    entries: Sequence[str] = ()
    bytes_sha256: Sequence[str | None] = ()
    samples_sha256: Sequence[str | None] = ()
    frames: Sequence[int | None] = ()
    rates: Sequence[int | None] = ()
    condemned: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    abstains: frozenset[int] = frozenset()
    audio: Mapping[str, Any] | None = None
    batch: int = 1
    once: bool = False
    sections: Mapping[str, Any] = field(default_factory=dict)
    blocks: Mapping[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain data, ready for canonical JSON."""
        clips: dict[str, Any] = {
            "split": self.splits,
            "id": self.ids,
            "excluded": self.excluded,
            "cells": dict(self.cells),
        }
        if self.audio is not None:
            clips |= {"audio": self.entries, "bytes_sha256": self.bytes_sha256}
            clips |= {"samples_sha256": self.samples_sha256, "frames": self.frames, "rate": self.rates}
        return {
            "task": self.task,
            "corpus": dict(self.corpus),
            "adapter": dict(self.adapter),
            "clips": clips,
            "split_given": self.split_given,
            "condemned": [[*self.identity(place), *found] for place, found in sorted(self.condemned.items())],
            "abstains": [self.identity(place) for place in sorted(self.abstains)],
            "audio": self.audio,
            "batch": self.batch,
            "once": self.once,
            **({} if self.blocks is None else {"blocks": dict(self.blocks)}),
            **self.sections,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Question:
        """The question that a dict was made from."""
        clips = data["clips"]
        places = {identity: place for place, identity in enumerate(zip(clips["split"], clips["id"], strict=True))}
        cells = {
            role: [tuple(cell) if isinstance(cell, list) else cell for cell in column]
            for role, column in clips["cells"].items()
        }
        return cls(
            task=data["task"],
            corpus=data["corpus"],
            adapter=data["adapter"],
            splits=clips["split"],
            ids=clips["id"],
            split_given=data["split_given"],
            cells=cells,
            excluded=clips["excluded"],
            entries=clips.get("audio", ()),
            bytes_sha256=clips.get("bytes_sha256", ()),
            samples_sha256=clips.get("samples_sha256", ()),
            frames=clips.get("frames", ()),
            rates=clips.get("rate", ()),
            condemned={places[split, name]: (code, message) for split, name, code, message in data["condemned"]},
            abstains=frozenset(places[split, name] for split, name in data["abstains"]),
            audio=data["audio"],
            batch=data["batch"],
            once=data["once"],
            blocks=data.get("blocks"),
            sections={name: data[name] for name in SECTIONS if name in data},
        )

    @cached_property
    def digest(self) -> str:
        """The SHA-256 that run folders, resume, replay and shards go by."""
        return digest(self.as_dict())

    @cached_property
    def planned(self) -> list[int]:
        """The places of the clips that are not excluded."""
        return [place for place, reason in enumerate(self.excluded) if reason is None]

    @cached_property
    def quarantined(self) -> frozenset[int]:
        """The places of planned clips that are kept out of speaker-based estimates: their speaker is not known."""
        speakers = self.cells.get("speaker")
        if speakers is None or self.sections.get("audit", {}).get("unknown_speakers") != "quarantine":
            return frozenset()
        return frozenset(place for place in self.planned if speakers[place] is None)

    @cached_property
    def places(self) -> dict[tuple[str, str], int]:
        """(split, id) of a planned clip -> its number among the planned."""
        return {self.identity(place): number for number, place in enumerate(self.planned)}

    def in_blocks(self) -> list[tuple[int, ...]]:
        """The places of planned clips in the blocks that are asked in order, each clip one where there are none."""
        if self.blocks is None:
            return [(place,) for place in self.planned]
        return blocks_of(self.planned, self.cells[self.blocks["by"]], self.identity, self.blocks["size"])

    def identity(self, place: int) -> tuple[str, str]:
        """(split, id) of a clip."""
        return self.splits[place], self.ids[place]

    def name(self, place: int) -> str:
        """`split/id`, or the id alone where the manifest has no split."""
        return f"{self.splits[place]}/{self.ids[place]}" if self.split_given else self.ids[place]

    def seconds(self, place: int) -> float | None:
        """The length of a clip's sound, or None where there is none."""
        if not self.frames:
            return None
        frames, rate = self.frames[place], self.rates[place]
        return frames / rate if frames is not None and rate else None


@dataclass(frozen=True)
class Plan:
    """A question and the rules it is judged by.

    `title` is the adapter's name where a suite has several. `post_hoc` names what differs from the plan under which
    the clips were asked, whose digest is `asked_under` then. `shard` (number, of how many) says which clips a folder
    is about. Neither these nor `written`, the adapter's file keys as they stand in the suite, enter a digest.
    """

    suite: str
    question: Question
    rules: Mapping[str, Any]
    versions: Mapping[str, str]
    title: str | None = None
    written: Mapping[str, str] = field(default_factory=dict)
    post_hoc: tuple[str, ...] = ()
    asked_under: str | None = None
    shard: tuple[int, int] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as it stands in `plan.json`."""
        return {
            "schemaVersion": SCHEMA,
            "suite": self.suite,
            "title": self.title,
            "question": self.question.as_dict(),
            "questionSha256": self.question.digest,
            "rules": dict(self.rules),
            "versions": dict(self.versions),
            "planSha256": self.digest,
            "written": dict(self.written),
            "postHoc": list(self.post_hoc),
            "askedUnder": self.asked_under,
            "shard": None if self.shard is None else list(self.shard),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Plan:
        """The plan that a dict was made from; its digests are computed anew."""
        return cls(
            suite=data["suite"],
            question=Question.from_dict(data["question"]),
            rules=data["rules"],
            versions=data["versions"],
            title=data["title"],
            written=data["written"],
            post_hoc=tuple(data["postHoc"]),
            asked_under=data["askedUnder"],
            shard=None if data["shard"] is None else (data["shard"][0], data["shard"][1]),
        )

    def of_shard(self, shard: tuple[int, int] | None) -> Plan:
        """The same plan for a folder that is about one shard."""
        return replace(self, shard=shard)

    def after(self, first: Plan) -> Plan:
        """This plan for answers that were given under an earlier one: what differs is post hoc."""
        if self.digest in (first.digest, first.asked_under):
            return replace(self, shard=first.shard, written=first.written)
        then = {"rules": first.rules, "versions": first.versions}
        now = {"rules": self.rules, "versions": self.versions}
        changed = {found.told("then") for found in differences(then, now)}
        return replace(
            self,
            shard=first.shard,
            written=first.written,
            post_hoc=tuple(sorted(changed.union(first.post_hoc, self.post_hoc))),
            asked_under=self.asked_under or first.asked_under or first.digest,
        )

    @property
    def subject(self) -> str:
        """The suite's name, with the adapter's where there are several."""
        return self.suite if self.title is None else f"{self.suite}[{self.title}]"

    @cached_property
    def digest(self) -> str:
        """The SHA-256 that a lock goes by."""
        return plan_digest(self.suite, self.question.digest, self.rules, self.versions)


def plan_digest(suite: str, question: str, rules: Mapping[str, Any], versions: Mapping[str, str]) -> str:
    """The digest of a plan from the digest of its question."""
    return digest({"suite": suite, "question": question, "rules": rules, "versions": versions})
