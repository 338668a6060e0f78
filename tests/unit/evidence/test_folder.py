"""The run folder: made once, its files whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.folder import RunFolder, write_whole
from pytest_speval.evidence.journal import Journal
from tests.runs import FAILED, said

STARTED = datetime(2026, 11, 29, 8, 5, 3, 42_999, tzinfo=UTC)
QUESTION = "0123456789abcdef" * 4


def test_a_folder_is_named_by_suite_time_and_question(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "out", "voice", STARTED, QUESTION)
    assert folder.path == tmp_path / "out" / "voice" / "20261129T080503.042Z-01234567"
    assert folder.journals.is_dir()


def test_a_folder_is_made_only_once(tmp_path: Path) -> None:
    RunFolder.create(tmp_path, "voice", STARTED, QUESTION)
    with pytest.raises(EvidenceFault, match="File exists") as caught:
        RunFolder.create(tmp_path, "voice", STARTED, QUESTION)
    assert caught.value.code == "folder-unwritable"


def test_a_folder_that_cannot_be_made_is_told_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(EvidenceFault, match=r"cannot make .*out/voice"):
        RunFolder.create(tmp_path / "out", "voice", STARTED, QUESTION)


def test_the_lines_of_all_journals_are_read(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, "voice", STARTED, QUESTION)
    for worker, name in (("gw1", "c1"), ("gw0", "c2")):
        journal = Journal(folder.journals / f"{worker}.jsonl")
        journal.entered("test", name)
        journal.returned("test", name, said("sad"))
        journal.close()
    assert [(line["event"], line["id"]) for line in folder.journal_lines()] == [
        ("entered", "c2"),
        ("returned", "c2"),
        ("entered", "c1"),
        ("returned", "c1"),
    ]


def test_a_damaged_journal_among_many_is_named(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, "voice", STARTED, QUESTION)
    journal = Journal(folder.journals / "gw0.jsonl")
    journal.entered("test", "c1")
    journal.failed("test", "c1", FAILED)
    journal.close()
    (folder.journals / "gw1.jsonl").write_bytes(b"{}\n")
    with pytest.raises(EvidenceFault, match=r"gw1\.jsonl, line 1"):
        list(folder.journal_lines())


def test_files_hold_canonical_json_or_the_pieces_they_were_given(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.write_json("a.json", {"b": 1.0, "a": None})
    folder.write_pieces("a.md", ["é\n".encode()])
    folder.write_pieces("a.jsonl", [b"1\n", b"2\n"])
    folder.write_pieces("none.jsonl", [])
    assert (tmp_path / "a.json").read_bytes() == b'{"a":null,"b":1}\n'
    assert (tmp_path / "a.md").read_bytes() == "é\n".encode()
    assert (tmp_path / "a.jsonl").read_bytes() == b"1\n2\n"
    assert (tmp_path / "none.jsonl").read_bytes() == b""


def test_a_number_that_json_lacks_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not representable"):
        RunFolder(tmp_path).write_json("a.json", {"value": float("nan")})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("not JSON"), KeyboardInterrupt()])
def test_a_write_that_breaks_off_leaves_the_old_file_and_nothing_else(tmp_path: Path, error: BaseException) -> None:
    def half() -> Iterator[bytes]:
        yield b"new text" * 10_000
        raise error

    folder = RunFolder(tmp_path)
    folder.write_pieces("clips.jsonl", [b"old\n"])
    expected = EvidenceFault if isinstance(error, OSError) else type(error)
    with pytest.raises(expected):
        folder.write_pieces("clips.jsonl", half())
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("clips.jsonl", b"old\n")]


def test_a_full_disk_is_told_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(EvidenceFault, match=r"cannot write .*out\.json: No space left") as caught:
        write_whole(tmp_path / "out.json", b"{}")
    assert caught.value.code == "folder-unwritable"
    assert list(tmp_path.iterdir()) == []


def test_a_place_below_a_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(EvidenceFault, match="cannot write"):
        write_whole(tmp_path / "out" / "summary.json", b"{}")


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    for text in (b'{"a": 1, "b": 2}', b"{}"):
        write_whole(tmp_path / "out.json", text)
    assert json.loads((tmp_path / "out.json").read_bytes()) == {}
    assert len(list(tmp_path.iterdir())) == 1
