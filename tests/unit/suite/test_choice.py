"""The sections `votes` and `select`: what they take, and what their key models cannot see."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_speval.errors import Fault
from pytest_speval.suite.base_keys import Keys
from pytest_speval.suite.choice_check import choice_faults
from pytest_speval.suite.choice_keys import Select, VoteColumns, Votes
from pytest_speval.suite.document import read_file
from pytest_speval.suite.shape import shaped
from pytest_speval.suite.tree import Table, find
from pytest_speval.suite.vocabulary import TaskWord

EMOTION = TaskWord("emotion", (), headline="macro_f1", labelled=True)
ASR = TaskWord("asr", (), headline="wer")
TEXT = TaskWord("text-emotion", (), headline="macro_f1", labelled=True, sound=False)
VOTES = "votes:\n  file: votes.csv\n  options: [anger, fear, other]\n  targets: [anger, fear]\n"
WIDE = VOTES + "  columns:\n    counts: {anger: A, fear: F, other: O}\n"


def tree(folder: Path, text: str) -> Table:
    path = folder / "suite.yaml"
    path.write_text(text)
    root = read_file(path, "suite.yaml").root
    assert isinstance(root, Table)
    return root


def read(folder: Path, text: str, model: type[Keys], name: str) -> tuple[Keys | None, list[str]]:
    node = find(tree(folder, text), name)
    assert node is not None
    found, faults = shaped(model, node, (name,))
    return found, list(map(str, faults))


def checked(folder: Path, text: str, task: TaskWord | None = EMOTION) -> list[Fault]:
    return list(choice_faults(tree(folder, text), task))


def told(folder: Path, text: str, task: TaskWord | None = EMOTION) -> list[str]:
    return list(map(str, checked(folder, text, task)))


def test_votes_have_their_defaults(tmp_path: Path) -> None:
    found, faults = read(tmp_path, VOTES, Votes, "votes")
    assert faults == []
    assert isinstance(found, Votes)
    assert (found.file, found.listeners, found.agree) == (tmp_path / "votes.csv", 3, 2)
    assert found.columns == VoteColumns()
    assert told(tmp_path, VOTES) == []
    assert told(tmp_path, WIDE) == []


def test_a_whole_section_of_each_is_read(tmp_path: Path) -> None:
    text = VOTES + "  columns: {clip: c, listener: l, vote: v, weight: w, split: s}\n  listeners: 5\n  agree: 4\n"
    found, faults = read(tmp_path, text + "  format: {delimiter: ';', na: ['', '-']}\n", Votes, "votes")
    assert faults == []
    assert isinstance(found, Votes)
    assert (found.listeners, found.agree, found.format.delimiter, found.columns.weight) == (5, 4, ";", "w")
    select, faults = read(
        tmp_path, "select: {per_class: 100, per_speaker: 15, speakers: 40, order: sha256}\n", Select, "select"
    )
    assert faults == []
    assert select == Select(per_class=100, per_speaker=15, speakers=40)


@pytest.mark.parametrize(
    ("text", "model", "fault"),
    [
        (VOTES + "  raters: 3\n", Votes, "suite.yaml:5:3: votes.raters: unknown key"),
        ("votes: {file: v.csv, targets: [a]}\n", Votes, "suite.yaml:1:8: votes.options: a required key is missing"),
        (VOTES + "  agree: 0\n", Votes, "suite.yaml:5:10: votes.agree: must be at least 1, got the number `0`"),
        (VOTES + "  listeners: 2.5\n", Votes, "suite.yaml:5:14: votes.listeners: expected a whole number"),
        (
            "select: {per_class: 0}\n",
            Select,
            "suite.yaml:1:21: select.per_class: must be at least 1, got the number `0`",
        ),
        ("select: {per_class: 1, order: random}\n", Select, "suite.yaml:1:31: select.order: expected `sha256`"),
    ],
)
def test_what_a_section_cannot_hold(tmp_path: Path, text: str, model: type[Keys], fault: str) -> None:
    _, faults = read(tmp_path, text, model, model.__name__.lower())
    assert [line for line in faults if line.startswith(fault)] or pytest.fail("\n".join(faults))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            VOTES.replace("[anger, fear]", "[anger, faer]"),
            "suite.yaml:4:20: votes.targets[1]: `faer` is not in votes.options, did you mean `fear`? [bad-value]",
        ),
        (
            VOTES.replace("fear, other", "anger, fear"),
            "suite.yaml:3:20: votes.options[1]: `anger` stands in the list already [duplicate-value]",
        ),
        (
            "corpus:\n  columns: {label: l}\n" + VOTES,
            "suite.yaml:2:13: corpus.columns.label: the reference comes from votes: leave out the column, "
            "or the section votes [contradiction]",
        ),
        (
            WIDE + "    weight: w\n",
            "suite.yaml:7:5: votes.columns.weight: a row of counts has no weight: leave it out, "
            "or leave out counts [contradiction]",
        ),
        (
            WIDE.replace(", other: O", ""),
            "suite.yaml:6:5: votes.columns.counts.other: the option `other` has no column of counts [missing-key]",
        ),
        (
            WIDE.replace("O}", "O, joy: J}"),
            "suite.yaml:6:43: votes.columns.counts.joy: `joy` is not in votes.options; known: anger, fear, other "
            "[bad-value]",
        ),
        (
            WIDE.replace("fear: F", "fear: A"),
            "suite.yaml:6:30: votes.columns.counts.fear: the column `A` counts another option already [contradiction]",
        ),
        (
            "select: {order: sha256}\n",
            "suite.yaml:1:1: select: give at least one of per_class, per_speaker, speakers [missing-key]",
        ),
        (
            "corpus: {format: {header: false, names: [id, audio, label]}}\nselect: {speakers: 40}\n",
            "suite.yaml:2:10: select.speakers: needs the column corpus.columns.speaker [missing-column]",
        ),
    ],
)
def test_sections_at_odds_with_themselves_or_the_corpus(tmp_path: Path, text: str, fault: str) -> None:
    assert told(tmp_path, text) == [fault]


def test_sections_a_task_has_no_use_for(tmp_path: Path) -> None:
    assert [fault.code for fault in checked(tmp_path, VOTES, ASR)] == ["superfluous-section"]
    assert [fault.code for fault in checked(tmp_path, "select: {speakers: 4}\n", ASR)] == []
    assert [fault.code for fault in checked(tmp_path, "select: {per_class: 4}\n", ASR)] == ["contradiction"]
    assert [fault.code for fault in checked(tmp_path, "select: {per_class: 4}\n", TEXT)] == ["superfluous-section"]
    assert checked(tmp_path, VOTES + "select: {per_class: 4}\n", None) == []


@pytest.mark.parametrize("text", ["votes: 3\n", "votes: {columns: {counts: 3}, options: 7}\n", "select: [1]\n"])
def test_what_the_key_models_refuse_is_left_to_them(tmp_path: Path, text: str) -> None:
    assert told(tmp_path, text) == []
