"""Which line of a journal was altered, with the receipt's head as the last witness and without it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_speval.evidence.canonical import canonical
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.journal import Head, Journal
from pytest_speval.verify.finding import Finding
from pytest_speval.verify.journals import endings, journal_fault
from tests.runs import Clip, question_of, said

NAME = "journal/main.jsonl"
IDS = ("c1", "c2", "c3", "c4")


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """A journal of nine lines."""
    path = tmp_path_factory.mktemp("journal") / "main.jsonl"
    journal = Journal(path)
    journal.opened({"adapter": {}})
    for name in IDS:
        journal.entered("test", name)
        journal.returned("test", name, said("happy", vad={"valence": 0.5, "arousal": 1.0, "dominance": 1e-7}))
    journal.close()
    return path.read_bytes().splitlines(keepends=True)


def head_of(lines: list[bytes]) -> Head:
    return Head(len(lines), hashlib.sha256(lines[-1].rstrip(b"\n")).hexdigest())


def place(found: Finding | None) -> tuple[str, str] | None:
    """Code and record without the clip."""
    return None if found is None else (found.code, found.record.partition(" (")[0])


def rechained(lines: list[bytes], start: int) -> list[bytes]:
    """The lines, each from `start` with the digest of the line before it."""
    out = list(lines[:start])
    for line in lines[start:]:
        value = json.loads(line)
        value["prev"] = hashlib.sha256(out[-1].rstrip(b"\n")).hexdigest()
        out.append(canonical(value) + b"\n")
    return out


def test_a_whole_journal_has_no_fault(lines: list[bytes]) -> None:
    for head in (None, head_of(lines)):
        assert journal_fault(NAME, b"".join(lines), head) is None
    assert journal_fault(NAME, b"", Head.of(b"")) is None


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_a_changed_byte_is_told_by_its_line(lines: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(lines)
    offset = data.draw(st.integers(0, len(whole) - 1))
    value = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[offset]))
    number = whole.count(b"\n", 0, offset) + 1
    found = journal_fault(NAME, whole[:offset] + bytes([value]) + whole[offset + 1 :], head_of(lines))
    assert found is not None
    assert found.file == NAME
    assert found.record.partition(" (")[0] == f"line {number}"


def test_the_clip_of_a_changed_answer_is_named(lines: list[bytes]) -> None:
    altered = [*lines[:4], lines[4].replace(b"happy", b"sad!!"), *lines[5:]]
    found = journal_fault(NAME, b"".join(altered), head_of(lines))
    assert found is not None
    assert str(found) == f"{NAME}, line 5 (test/c2): not what was written [line-altered]"


@pytest.mark.parametrize("gone", range(9))
def test_a_line_taken_out_is_told_where_it_was(lines: list[bytes], gone: int) -> None:
    found = journal_fault(NAME, b"".join(lines[:gone] + lines[gone + 1 :]), head_of(lines))
    expected = "line-altered" if gone == 0 else "line-missing"
    assert place(found) == (expected, f"line {gone + 1}")


@pytest.mark.parametrize("kept", range(9))
def test_lines_cut_off_at_the_end_are_told_by_the_first_of_them(lines: list[bytes], kept: int) -> None:
    found = journal_fault(NAME, b"".join(lines[:kept]), head_of(lines))
    assert place(found) == ("line-missing", f"line {kept + 1}")
    assert journal_fault(NAME, b"".join(lines[:kept]), None) is None


def test_a_line_put_in_or_behind_is_told(lines: list[bytes]) -> None:
    for at in range(1, 10):
        forged = rechained([*lines[:at], lines[at - 1], *lines[at:]], at)[at]
        found = journal_fault(NAME, b"".join([*lines[:at], forged, *lines[at:]]), head_of(lines))
        assert place(found) == ("line-unexpected", f"line {at + 1}")


def test_a_chain_made_anew_from_a_changed_line_on_misses_the_head(lines: list[bytes]) -> None:
    altered = [*lines[:4], lines[4].replace(b"happy", b"sad!!"), *lines[5:]]
    forged = b"".join(rechained(altered, 4))
    assert journal_fault(NAME, forged, None) is None
    assert place(journal_fault(NAME, forged, head_of(lines))) == ("line-altered", "line 9")


def test_lines_in_another_order_are_found(lines: list[bytes]) -> None:
    for at in range(8):
        swapped = [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]
        assert place(journal_fault(NAME, b"".join(swapped), head_of(lines))) == ("line-altered", f"line {at + 1}")


def test_without_a_head_the_last_two_lines_share_the_blame(lines: list[bytes]) -> None:
    altered = [*lines[:7], lines[7].replace(b"c4", b"c5"), lines[8]]
    assert place(journal_fault(NAME, b"".join(altered), None)) == ("line-altered", "line 8 or 9")
    assert place(journal_fault(NAME, b"".join(altered), head_of(lines))) == ("line-altered", "line 8")


@pytest.mark.parametrize("number", range(1, 10))
def test_a_blank_that_says_nothing_is_told_by_its_line_without_a_head(lines: list[bytes], number: int) -> None:
    altered = [*lines]
    altered[number - 1] = lines[number - 1].replace(b'":"', b'": "', 1)
    assert place(journal_fault(NAME, b"".join(altered), None)) == ("line-altered", f"line {number}")


def test_a_torn_end_is_no_fault_until_it_is_another(lines: list[bytes]) -> None:
    torn = b"".join(lines) + b'{"event":"ent'
    assert journal_fault(NAME, torn, None) is None
    assert place(journal_fault(NAME, torn, head_of(lines))) == ("line-altered", "line 10")


def folder(tmp_path: Path, **journals: bytes) -> dict[str, Path]:
    named = {f"journal/{name}.jsonl": tmp_path / f"{name}.jsonl" for name in journals}
    for name, data in journals.items():
        (tmp_path / f"{name}.jsonl").write_bytes(data)
    return named


QUESTION = question_of([Clip(name, "happy", said("happy")) for name in (*IDS, "c5")])


def test_endings_are_those_of_all_journals(lines: list[bytes], tmp_path: Path) -> None:
    found = endings(QUESTION, folder(tmp_path, main=b"".join(lines)))
    assert isinstance(found, list)
    assert [ending.state for ending in found] == ["returned"] * 4 + ["unattempted"]
    assert isinstance(found[0], Ending)


@pytest.mark.parametrize(
    ("old", "new", "record"), [(b'"c3"', b'"c9"', "line 6"), (b'"entered","id":"c2"', b'"entered","id":"c1"', "line 4")]
)
def test_a_line_that_does_not_fit_is_told_by_its_number(
    lines: list[bytes], tmp_path: Path, old: bytes, new: bytes, record: str
) -> None:
    altered = rechained([line.replace(old, new) for line in lines], 1)
    found = endings(QUESTION, folder(tmp_path, a=b"", main=b"".join(altered)))
    assert isinstance(found, Finding)
    assert (found.code, found.file, found.record) == ("line-foreign", "journal/main.jsonl", record)


def test_a_clip_in_two_journals_is_told_in_the_second(lines: list[bytes], tmp_path: Path) -> None:
    whole = b"".join(lines)
    found = endings(QUESTION, folder(tmp_path, gw0=whole, gw1=whole))
    assert isinstance(found, Finding)
    assert (found.file, found.record) == ("journal/gw1.jsonl", "line 2")


def test_a_damaged_line_is_told_by_its_file_and_number(lines: list[bytes], tmp_path: Path) -> None:
    altered = b"".join([lines[0].replace(b"}", b"]", 1), *lines[1:]])
    found = endings(QUESTION, folder(tmp_path, gw0=b"".join(lines[:1]), gw1=altered))
    assert isinstance(found, Finding)
    assert (found.code, found.file, found.record) == ("line-altered", "journal/gw1.jsonl", "line 1")
