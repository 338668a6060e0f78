"""Which clips two runs share, and what changed between them that no model answers for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_speval.evidence.difference import differences
from pytest_speval.evidence.plan import Plan, Question
from pytest_speval.tasks.base import Reading

Codes = npt.NDArray[np.int64]
YARDSTICK = ("labels", "text", "rubric", "observe")
"""Sections of a suite that say what counts as right."""
INPUTS = ("text",)
"""Columns, beside sound, that a model is asked about."""


@dataclass(frozen=True, eq=False)
class Pairing:
    """The numbers of the shared clips among the planned ones of either run, in the order of their names.

    Shared clips have one identity, one reference, and one sound or text. `changes` names those of the others: `new`,
    `gone`, `relabelled`, `altered` (another sound or text), and `moved`, the new ones whose id stood in another split.
    `new_speakers` is None without a speaker column.
    """

    candidate: Codes
    baseline: Codes
    changes: Mapping[str, tuple[str, ...]]
    new_speakers: int | None

    def __len__(self) -> int:
        return len(self.candidate)

    def as_dict(self) -> dict[str, Any]:
        """How many clips are shared and what else changed, as plain data."""
        return {"shared": len(self), **{name: len(clips) for name, clips in self.changes.items()},
                "new_speakers": self.new_speakers}  # fmt: skip


def pair(candidate: tuple[Question, Reading], baseline: tuple[Question, Reading]) -> Pairing:
    """Pair the planned clips of two runs by split and id."""
    question, then = candidate[0], baseline[0]
    now_at, then_at = question.places, then.places
    both = sorted(now_at.keys() & then_at.keys())
    references, former = candidate[1].references, baseline[1].references
    relabelled = [clip for clip in both if references[now_at[clip]] != former[then_at[clip]]]
    altered = [
        clip
        for clip in both
        if not _same_input(question, question.planned[now_at[clip]], then, then.planned[then_at[clip]])
    ]
    unlike = {*relabelled, *altered}
    shared = [clip for clip in both if clip not in unlike]
    new, gone = sorted(now_at.keys() - then_at.keys()), sorted(then_at.keys() - now_at.keys())
    left = {name for _, name in gone}
    found = {
        "new": new,
        "gone": gone,
        "relabelled": relabelled,
        "altered": altered,
        "moved": [clip for clip in new if clip[1] in left],
    }
    return Pairing(
        np.array([now_at[clip] for clip in shared], dtype=np.int64),
        np.array([then_at[clip] for clip in shared], dtype=np.int64),
        {name: tuple(_name(question, then, clip) for clip in clips) for name, clips in found.items()},
        _new_speakers(question, then),
    )


def _same_input(question: Question, place: int, then: Question, then_place: int) -> bool:
    """Whether the models were asked about the same; what only one run knows says nothing."""
    sides: list[tuple[Any, Any]] = []
    if question.samples_sha256 and then.samples_sha256:
        sides.append((question.samples_sha256[place], then.samples_sha256[then_place]))
    cells = [
        (question.cells[name], then.cells[name]) for name in INPUTS if {name} <= question.cells.keys() & then.cells
    ]
    sides += [(now[place], before[then_place]) for now, before in cells]
    return all(now is None or before is None or now == before for now, before in sides)


def _name(question: Question, then: Question, clip: tuple[str, str]) -> str:
    return "/".join(clip) if question.split_given or then.split_given else clip[1]


def _new_speakers(question: Question, then: Question) -> int | None:
    if "speaker" not in question.cells or "speaker" not in then.cells:
        return None
    now, before = ({one.cells["speaker"][place] for place in one.planned} - {None} for one in (question, then))
    return len(now - before)


def incomparable(candidate: Plan, baseline: Plan) -> str | None:
    """Which rule of what counts as right is another one in the baseline's plan, or None."""
    found = differences(_yardstick(baseline), _yardstick(candidate))
    if not found:
        return None
    others = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    how = "replay the baseline's run under today's rules and bless the replay"
    return f"the baseline was judged by other rules: {found[0].told('in the baseline')}{others}; {how}"


def _yardstick(plan: Plan) -> dict[str, Any]:
    rules = plan.rules
    judged = {name: rules[name] for name in YARDSTICK if name in rules}
    return {"task": plan.question.task, **judged, "run": {"missing": rules["run"]["missing"]}}
