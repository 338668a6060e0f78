"""The journal: chained, whole after a kill, and no altered byte goes unseen (H60, H61)."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.journal import START, Journal, read_journal
from tests.runs import FAILED, said

OUTCOMES = {
    "c1": said("happy", scores={"happy": 0.75, "sad": 1e-7}, vad={"valence": 1.0, "arousal": 1e16, "dominance": 0.5}),
    "c2": FAILED,
    "c3": Ending("failed", {"raw": "Ünï\u2028\U0001f600\x85"}, "invalid-answer", "a label is int, not a string", 12),
    "c4": Ending("returned", {}, microseconds=0, reported_ms=4.25),
}


def note(journal: Journal, name: str, ending: Ending) -> None:
    journal.entered("test", name)
    (journal.returned if ending.state == "returned" else journal.failed)("test", name, ending)


def written(path: Path) -> list[bytes]:
    """A journal of nine lines, each with its line end."""
    journal = Journal(path)
    journal.opened({"adapter": {"threads": 1}})
    for name, ending in OUTCOMES.items():
        note(journal, name, ending)
    journal.close()
    return path.read_bytes().splitlines(keepends=True)


def read(path: Path, data: bytes | None = None) -> list[dict[str, Any]]:
    if data is not None:
        path.write_bytes(data)
    return list(read_journal(path))


def test_what_was_noted_is_read_back(tmp_path: Path) -> None:
    lines = written(tmp_path / "j.jsonl")
    assert len(lines) == 9
    events = read(tmp_path / "j.jsonl")
    assert [line["event"] for line in events] == ["opened", *("entered", "returned"), *("entered", "failed") * 2,
                                                  *("entered", "returned")]  # fmt: skip
    assert events[0]["adapter"] == {"threads": 1}
    assert events[2]["answer"] == OUTCOMES["c1"].answer
    assert events[4]["message"] == FAILED.message
    assert events[6]["answer"] == {"raw": "Ünï\u2028\U0001f600\x85"}
    assert (events[6]["code"], events[6]["microseconds"]) == ("invalid-answer", 12)
    assert (events[8]["microseconds"], events[8]["reported_ms"]) == (0, 4.25)


def test_each_line_holds_the_digest_of_the_line_before(tmp_path: Path) -> None:
    head = START
    for line in written(tmp_path / "j.jsonl"):
        assert json.loads(line)["prev"] == head
        head = hashlib.sha256(line[:-1]).hexdigest()


def test_an_empty_journal_has_no_lines(tmp_path: Path) -> None:
    assert read(tmp_path / "j.jsonl", b"") == []


def test_a_journal_is_never_written_twice(tmp_path: Path) -> None:
    written(tmp_path / "j.jsonl")
    with pytest.raises(EvidenceFault, match="File exists"):
        Journal(tmp_path / "j.jsonl")


def test_a_call_is_on_file_before_it_starts_and_an_answer_before_the_next(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    journal = Journal(path)
    journal.entered("test", "c1")
    assert [line["id"] for line in read(path)] == ["c1"]
    journal.returned("test", "c1", said("sad"))
    journal.entered("test", "c2")
    assert [line["event"] for line in read(path)] == ["entered", "returned", "entered"]
    journal.failed("test", "c2", FAILED)
    journal.flush()
    assert len(read(path)) == 4
    journal.close()


def test_a_torn_last_line_is_set_aside_wherever_it_was_cut(tmp_path: Path) -> None:
    lines = written(tmp_path / "whole.jsonl")
    head, last = b"".join(lines[:-1]), lines[-1]
    whole = read(tmp_path / "whole.jsonl")
    for cut in range(len(last)):
        assert read(tmp_path / "torn.jsonl", head + last[:cut]) == whole[:-1]


def test_a_cut_line_that_ends_is_damage(tmp_path: Path) -> None:
    lines = written(tmp_path / "whole.jsonl")
    with pytest.raises(EvidenceFault, match=r"torn\.jsonl, line 9: not what was written") as caught:
        read(tmp_path / "torn.jsonl", b"".join(lines[:-1]) + b'{"id":"c3","sco\n')
    assert caught.value.code == "journal-damaged"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("journal")


@pytest.fixture(scope="module")
def lines(folder: Path) -> list[bytes]:
    return written(folder / "whole.jsonl")


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_a_changed_byte_before_the_last_line_is_found_with_its_line(
    folder: Path, lines: list[bytes], data: st.DataObject
) -> None:
    number = data.draw(st.integers(1, len(lines) - 1), "line")
    place = data.draw(st.integers(0, len(lines[number - 1]) - 1), "byte")
    value = data.draw(st.integers(0, 255).filter(lambda byte: byte != lines[number - 1][place]), "value")
    altered = bytearray(lines[number - 1])
    altered[place] = value
    with pytest.raises(EvidenceFault) as caught:
        read(folder / "j.jsonl", b"".join([*lines[: number - 1], altered, *lines[number:]]))
    exact = f"j.jsonl, line {number}: not what was written"
    last_but_one = f"j.jsonl, line {number} or {number + 1}: not what was written"
    assert caught.value.message in ((exact, last_but_one) if number == len(lines) - 1 else (exact,))


@pytest.mark.parametrize("number", range(1, 10))
def test_a_change_that_leaves_the_value_is_found_in_every_line(lines: list[bytes], number: int, tmp_path: Path) -> None:
    altered = [*lines]
    altered[number - 1] = lines[number - 1].replace(b'":"', b'": "', 1)
    with pytest.raises(EvidenceFault, match=rf"line {number}( or 9)?: not what was written"):
        read(tmp_path / "j.jsonl", b"".join(altered))


@pytest.mark.parametrize("gone", range(8))
def test_a_line_taken_out_is_found(lines: list[bytes], gone: int, tmp_path: Path) -> None:
    with pytest.raises(EvidenceFault, match="not what was written"):
        read(tmp_path / "j.jsonl", b"".join(lines[:gone] + lines[gone + 1 :]))


def test_lines_in_another_order_or_twice_are_found(lines: list[bytes], tmp_path: Path) -> None:
    for order in ([0, 2, 1, 3], [0, 1, 1, 2], [1, 0], [0, 1, 2, 3, 4, 3, 4]):
        with pytest.raises(EvidenceFault, match="not what was written"):
            read(tmp_path / "j.jsonl", b"".join(lines[place] for place in order))


@pytest.mark.parametrize(
    "line",
    [
        {"event": "returns", "id": "c1", "split": "test", "answer": {}, "microseconds": 1},
        {"event": "returned", "id": "c1", "split": "test", "answes": {}, "microseconds": 1},
        {"event": "failed", "id": "c1", "split": "test", "code": "raised"},
        {"event": "entered", "id": "c1"},
        {"id": "c1", "split": "test"},
        {"event": ["entered"], "id": "c1", "split": "test"},
        ["entered"],
        "entered",
    ],
)
def test_a_line_that_no_journal_writes_is_damage(line: Any, tmp_path: Path) -> None:
    if isinstance(line, dict):
        line = {**line, "prev": START}
    with pytest.raises(EvidenceFault, match="line 1: not what was written"):
        read(tmp_path / "j.jsonl", json.dumps(line).encode() + b"\n")


@pytest.mark.parametrize("most", [1, 2, 7, 64])
def test_partial_writes_are_completed(most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = b"".join(written(tmp_path / "whole.jsonl"))
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, bytes(data[:most])))
    written(tmp_path / "bits.jsonl")
    assert (tmp_path / "bits.jsonl").read_bytes() == whole


def test_after_a_write_that_fails_half_way_no_call_follows_and_nothing_is_lost_or_doubled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, left = os.write, [3]

    def full(file: int, data: bytes) -> int:
        if not left:
            return write(file, data)
        if left.pop() == 3:
            left.append(0)
            return write(file, bytes(data[:10]))
        raise OSError(28, "No space left on device")

    journal = Journal(tmp_path / "j.jsonl")
    monkeypatch.setattr(os, "write", full)
    for name in ("c1", "c2"):
        with pytest.raises(EvidenceFault, match="No space left on device; no clip is asked") as caught:
            journal.entered("test", name)
        assert caught.value.code == "journal-unwritable"
    journal.close()
    assert [line["id"] for line in read(tmp_path / "j.jsonl")] == ["c1", "c2"]


def test_lines_reach_the_disk_by_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now, synced = [100.0], []
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr(os, "fdatasync", lambda _: synced.append(now[0]))
    journal = Journal(tmp_path / "j.jsonl")
    for now[0] in (100.1, 100.4, 100.6, 100.7, 101.2):
        journal.entered("test", "c1")
    assert synced == [100.6, 101.2]
    journal.close()
