"""What kept arrays say of the answers that they came with, by a way of their own.

A transcript is spelt again from its logits; the crops that were seen of a scorer are cut again from the clip's samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.plan import Question
from pytest_speval.judge.kept_crops import crops_difference, recorded_rule
from pytest_speval.scoring.greedy_recount import COMPONENTS, greedy_difference
from pytest_speval.suite.text_check import transcribed
from pytest_speval.suite.vocabulary import TaskWord

GREEDY, CROPS = "greedy", "crops"
Arrays = Mapping[str, Any]
Check = Callable[[Mapping[str, Any], Arrays], str | None]
"""What differs between an answer and what its arrays give, or None."""


def array_checks(question: Question, word: TaskWord, endings: Sequence[Ending], folder: Path) -> dict[str, str | None]:
    """What differs from the arrays in a run folder, by the name of the check; None where nothing does.

    `greedy` is made where the adapter's identity has a vocabulary with its blank and delimiter, `crops` where the
    scorer was observed. Raises `EvidenceFault` for an array that is not what was written.
    """
    checks: dict[str, Check] = {}
    components = question.adapter.get("identity", {}).get("components", {})
    if transcribed(word) and set(COMPONENTS) <= components.keys():
        checks[GREEDY] = lambda answer, arrays: greedy_difference(answer["text"], arrays, components)
    if "observe" in question.sections and any(map(_observed, endings)):
        rule = recorded_rule(question.sections["observe"])
        checks[CROPS] = lambda answer, arrays: crops_difference(answer.get("observation"), arrays.get("pcm"), rule)
    return {name: _difference(question, endings, folder, check) for name, check in checks.items()}


def _observed(ending: Ending) -> bool:
    """Say whether there is anything to cut again: an observation with crops, or an answer that should have one."""
    observation = (ending.answer or {}).get("observation")
    return ending.state == "returned" and (observation is None or bool(observation["crops"]))


def _difference(question: Question, endings: Sequence[Ending], folder: Path, check: Check) -> str | None:
    """How many answers differ from their arrays, and how the first does; None where none does."""
    answered = differing = 0
    first = ""
    for place, ending in zip(question.planned, endings, strict=True):
        if ending.state == "returned":
            arrays = {name: record.load(folder) for name, record in (ending.arrays or {}).items()}
            found = check(ending.answer or {}, arrays)
            answered += 1
            differing += found is not None
            first = first or ("" if found is None else f"{question.name(place)}: {found}")
    if not differing:
        return None
    return f"{differing:,} of {answered:,} answers are not what their arrays give, first {first}"
