"""Where each planned clip ended, from the lines of all journals (H62: no clip is ever asked twice)."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.ending import UNATTEMPTED, UNKNOWN, Ending, endings_of, settled
from pytest_speval.evidence.journal import Journal, read_journal
from pytest_speval.evidence.plan import Question
from tests.runs import FAILED, MODEL, Clip, question_of, said

Line = dict[str, Any]


def question(**more: Any) -> Question:
    clips = [Clip(f"c{number}", "sad", UNATTEMPTED) for number in range(4)]
    return question_of([*clips, Clip("out", "sad", UNATTEMPTED, excluded="mis-cut")], **more)


def entered(name: str, split: str = "test") -> Line:
    return {"event": "entered", "id": name, "split": split}


def returned(name: str, split: str = "test") -> Line:
    return {"event": "returned", "id": name, "split": split, "answer": {"label": name}, "microseconds": 5}


def failed(name: str, split: str = "test") -> Line:
    return {"event": "failed", "id": name, "split": split, "code": "raised", "message": "no"}


def test_every_planned_clip_has_one_ending() -> None:
    lines = [{"event": "opened", "adapter": {}}, entered("c0"), returned("c0"), entered("c1"), failed("c1"),
             entered("c2")]  # fmt: skip
    assert endings_of(question(), lines) == [
        Ending("returned", {"label": "c0"}, microseconds=5),
        Ending("failed", code="raised", message="no"),
        UNKNOWN,
        UNATTEMPTED,
    ]


def again(line: Line, attempt: int = 2) -> Line:
    return line | {"attempt": attempt}


def test_a_call_that_never_came_back_counts_by_its_last_attempt_in_any_order() -> None:
    first = [entered("c0"), entered("c1"), returned("c1")]
    second = [again(entered("c0")), again(entered("c3")), again(returned("c0"))]
    lines = [*first, entered("c3"), *second, again(entered("c3"), 3)]
    swapped = [*second, again(entered("c3"), 3), *first, entered("c3")]
    right = [
        Ending("returned", {"label": "c0"}, microseconds=5, attempts=2),
        Ending("returned", {"label": "c1"}, microseconds=5),
        UNATTEMPTED,
        replace(UNKNOWN, attempts=3),
    ]
    assert endings_of(question(), lines) == right
    assert endings_of(question(), swapped) == right


@pytest.mark.parametrize(
    "lines",
    [
        [entered("c0"), returned("c0"), again(entered("c0"))],
        [entered("c0"), failed("c0"), again(entered("c0")), again(returned("c0"))],
        [again(entered("c0"))],
        [entered("c0"), again(entered("c0"), 3)],
        [entered("c0"), again(returned("c0"))],
    ],
)
def test_only_what_never_came_back_may_be_asked_again(lines: list[Line]) -> None:
    for order in (lines, lines[::-1] if len(lines) == 2 else lines):
        with pytest.raises(EvidenceFault, match="out of place"):
            endings_of(question(), order)


def test_a_call_that_was_paid_for_and_never_entered_is_unknown() -> None:
    paid = {"event": "reserved", "id": "c0", "split": "test", "usage": {}}
    assert endings_of(question(), [paid])[0].state == "unknown"
    assert endings_of(question(), [paid, entered("c0"), returned("c0")])[0].state == "returned"
    with pytest.raises(EvidenceFault, match="out of place"):
        endings_of(question(), [paid, paid])


def test_without_any_line_nothing_was_attempted() -> None:
    assert endings_of(question(), []) == [UNATTEMPTED] * 4


def test_the_order_in_which_journals_are_read_decides_nothing() -> None:
    journals = [
        [entered("c0"), returned("c0")],
        [entered("c1"), failed("c1"), entered("c2")],
        [entered("c3")],
    ]
    read = [endings_of(question(), [line for journal in order for line in journal]) for order in permutations(journals)]
    assert all(endings == read[0] for endings in read)


@pytest.mark.parametrize(
    "lines",
    [
        [entered("c0"), entered("c0")],
        [entered("c0"), returned("c0"), entered("c0")],
        [entered("c0"), failed("c0"), entered("c0"), returned("c0")],
        [entered("c0"), returned("c0"), returned("c0")],
        [entered("c0"), failed("c0"), returned("c0")],
        [returned("c0")],
        [failed("c0")],
        [entered("c9")],
        [entered("c0", "train")],
        [entered("out")],
    ],
)
def test_a_clip_asked_twice_or_never_planned_is_refused(lines: list[Line]) -> None:
    with pytest.raises(EvidenceFault, match=r"out of place|no such clip") as caught:
        endings_of(question(), lines)
    assert caught.value.code == "journal-foreign"


def test_recorded_answers_end_without_having_been_entered() -> None:
    recorded = question(adapter={**MODEL, "recorded": True})
    endings = endings_of(recorded, [returned("c0"), failed("c1")])
    assert [ending.state for ending in endings] == ["returned", "failed", "unattempted", "unattempted"]
    for lines in ([returned("c0"), returned("c0")], [failed("c0"), returned("c0")], [returned("out")]):
        with pytest.raises(EvidenceFault, match=r"out of place|no such clip"):
            endings_of(recorded, lines)
    with pytest.raises(EvidenceFault, match=r"out of place|no such clip"):
        endings_of(question(), [returned("c0")])


def test_condemned_clips_fail_and_short_ones_abstain_without_a_call() -> None:
    asked = question(condemned={1: ("truncated", "c1.wav is cut")}, abstains=frozenset({2}))
    endings = endings_of(asked, [entered("c0"), returned("c0")])
    assert endings[1] == Ending("failed", code="truncated", message="c1.wav is cut")
    assert (endings[2].state, endings[2].answer, endings[2].code) == ("returned", {}, "short-abstains")
    assert settled(asked, 0) is None
    for place in (1, 2):
        assert settled(asked, place) == endings[place]
        with pytest.raises(EvidenceFault, match=r"out of place|a rule had settled it"):
            endings_of(asked, [entered(f"c{place}")])


def test_a_journal_gives_back_the_endings_it_was_told(tmp_path: Path) -> None:
    told = [
        said("happy", scores={"happy": 1.0, "sad": 0.25}),
        FAILED,
        Ending("failed", {"raw": "3"}, "invalid-answer", "classify returned int", 9),
        Ending("returned", {}, microseconds=3, reported_ms=0.5),
    ]
    journal = Journal(tmp_path / "j.jsonl")
    for number, ending in enumerate(told):
        journal.entered("test", f"c{number}")
        (journal.returned if ending.state == "returned" else journal.failed)("test", f"c{number}", ending)
    journal.close()
    assert endings_of(question(), read_journal(tmp_path / "j.jsonl")) == told
