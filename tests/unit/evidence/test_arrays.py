"""Arrays as files: what is kept, what is refused, and what reading them back finds."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import hypothesis.extra.numpy as drawn
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.adapters.base import ARRAY_HEADER as HEADER
from pytest_speval.adapters.base import Transcript
from pytest_speval.ask import Asked, Inquiry
from pytest_speval.errors import AnswerFault, EvidenceFault
from pytest_speval.evidence.arrays import ArrayRecord, ArrayStore, checked, file_name, records_of
from pytest_speval.evidence.ending import Ending, endings_of
from pytest_speval.evidence.folder import RunFolder
from pytest_speval.evidence.journal import Journal, read_journal
from pytest_speval.suite.secrets import Secrets
from pytest_speval.tasks.asr import Asr
from tests.runs import Clip, question_of

NUMBERS = st.sampled_from(["i1", "u8", "<i4", ">i2", "f2", "<f4", ">f8"]).map(np.dtype)
ARRAYS = NUMBERS.flatmap(
    lambda dtype: drawn.arrays(
        dtype,
        drawn.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
        elements={"allow_nan": False, "allow_infinity": False} if dtype.kind == "f" else None,
    )
)


def store(folder: Path) -> ArrayStore:
    (folder / "journal").mkdir(parents=True, exist_ok=True)
    return ArrayStore(folder / "journal/gw0.2.jsonl")


def kept(folder: Path, arrays: dict[str, Any], split: str = "test", name: str = "a") -> dict[str, ArrayRecord]:
    """Records of arrays that were kept, as a reader of the journal has them."""
    said = store(folder).save(split, name, checked(arrays))
    return records_of({"split": split, "id": name, "arrays": said, "journal": "gw0.2"})


@given(ARRAYS, st.booleans())
def test_what_is_kept_is_read_back_and_by_numpy_too(
    tmp_path_factory: pytest.TempPathFactory, array: np.ndarray[Any, Any], fortran: bool
) -> None:
    folder = tmp_path_factory.mktemp("run")
    given_array = np.asarray(array, order="F") if fortran else array
    record = kept(folder, {"x": given_array})["x"]
    loaded, plain = record.load(folder), np.load(folder / record.file, allow_pickle=False)
    for found in (loaded, plain):
        np.testing.assert_array_equal(found, array)
        assert found.shape == array.shape == record.shape
        assert found.dtype == array.dtype.newbyteorder("<")
        assert found.flags.c_contiguous
    assert not loaded.flags.writeable
    assert record.bytes == HEADER + array.nbytes == (folder / record.file).stat().st_size


def test_a_strided_view_is_kept_as_what_it_shows(tmp_path: Path) -> None:
    whole = np.arange(24).reshape(4, 6)
    record = kept(tmp_path, {"x": whole[::2, ::-3]})["x"]
    assert record.load(tmp_path).tolist() == whole[::2, ::-3].tolist()


class Child(np.ndarray[Any, Any]):
    """An array that may be more than its numbers."""


@pytest.mark.parametrize(
    ("array", "told"),
    [
        ([1.0], "list"),
        (np.float32(1), "float32"),
        (np.array([object()]), "object"),
        (np.array(["a"]), "<U1"),
        (np.array([True]), "bool"),
        (np.array([1j]), "complex128"),
        (np.array(["2026-11-30"], "M8[D]"), "datetime64"),
        (np.zeros(1, [("a", "f4")]), "'a'"),
        (np.zeros(1, np.longdouble), str(np.dtype(np.longdouble))),
        (np.array([0, np.nan]), "NaN"),
        (np.array([-np.inf], "f4"), "NaN or infinity"),
        (np.zeros((1,) * 5), "5 axes"),
        (np.ma.masked_array([1.0], [True]), "MaskedArray"),
        (np.zeros(1).view(Child), "Child"),
    ],
)
def test_anything_but_plain_finite_numbers_is_an_invalid_answer(array: object, told: str) -> None:
    with pytest.raises(AnswerFault, match=f"array x .*{told}") as caught:
        checked({"x": array})
    assert caught.value.code == "invalid-answer"


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "A", "a.b", "ä", "_a", "a" * 65, 3, "a\n"])
def test_a_name_that_could_lead_elsewhere_is_an_invalid_answer(name: object) -> None:
    with pytest.raises(AnswerFault, match="names no array"):
        checked({name: np.zeros(1)})


@pytest.mark.parametrize("arrays", [np.zeros(3), [("x", np.zeros(3))], 0, "x"])
def test_arrays_are_a_mapping(arrays: object) -> None:
    with pytest.raises(AnswerFault, match="not a mapping"):
        checked(arrays)


NAMES = st.text(max_size=200)


@given(NAMES, NAMES, NAMES, NAMES)
def test_no_two_clips_share_a_file(split: str, name: str, other_split: str, other: str) -> None:
    file, second = file_name(split, name, "x"), file_name(other_split, other, "x")
    assert (file == second) == ((split, name) == (other_split, other))
    assert file.isascii()
    assert "/" not in file
    assert len(file) < 200


@pytest.mark.parametrize("split", ["..", ".", "", "/", "a/b", "a+b", "\0", "\ud800"])
def test_a_file_lies_in_its_folder_whatever_a_clip_is_called(tmp_path: Path, split: str) -> None:
    record = kept(tmp_path, {"x": np.zeros(2)}, split, "../" + split)["x"]
    assert (tmp_path / record.file).resolve().parent == (tmp_path / "answers/gw0.2").resolve()
    assert record.load(tmp_path).tolist() == [0, 0]


def test_files_of_two_clips_of_one_name_in_two_splits_stand_apart() -> None:
    assert file_name("a+b", "c", "x") != file_name("a", "b+c", "x")
    assert file_name("a", "b.x", "y") != file_name("a", "b", "x")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"sha256": "0" * 64}, "array-damaged"),
        ({"bytes": 1}, "array-damaged"),
        ({"dtype": "<f8"}, "array-damaged"),
        ({"shape": (3, 2)}, "array-damaged"),
        ({"shape": (1 << 60,)}, "array-damaged"),
        ({"file": "answers/gw0.2/none.npy"}, "array-missing"),
        ({"file": "../outside.npy"}, "array-damaged"),
    ],
)
def test_a_record_that_does_not_fit_its_file_is_a_fault(tmp_path: Path, changes: dict[str, Any], code: str) -> None:
    folder = tmp_path / "run"
    record = kept(folder, {"x": np.zeros((2, 3), "f4")})["x"]
    (tmp_path / "outside.npy").write_bytes((folder / record.file).read_bytes())
    with pytest.raises(EvidenceFault) as caught:
        replace(record, **changes).load(folder)
    assert caught.value.code == code


@given(st.data())
def test_any_changed_byte_is_found(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("run")
    record = kept(folder, {"x": np.arange(5)})["x"]
    path = folder / record.file
    whole = bytearray(path.read_bytes())
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(whole)
    with pytest.raises(EvidenceFault, match="not what was written"):
        record.load(folder)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    record = kept(folder, {"x": np.zeros(2)})["x"]
    path = folder / record.file
    path.rename(tmp_path / "elsewhere.npy")
    path.symlink_to(tmp_path / "elsewhere.npy")
    with pytest.raises(EvidenceFault, match="leads elsewhere"):
        record.load(folder)


def line_of(tmp_path: Path) -> dict[str, Any]:
    said = store(tmp_path).save("test", "a", checked({"x": np.zeros(2), "y": np.zeros(1)}))
    return {"split": "test", "id": "a", "arrays": said, "journal": "gw0.2"}


@pytest.mark.parametrize(
    "changes",
    [
        {"file": "../x.npy"}, {"file": "test+b.x.npy"}, {"name": "z"}, {"name": 3}, {"dtype": "|O"}, {"dtype": "<c8"},
        {"shape": [-1]}, {"shape": [True]}, {"shape": [1.0]}, {"shape": 2}, {"shape": [1] * 5}, {"more": 1},
        {"name": "y"},
    ],
)  # fmt: skip
def test_a_line_that_no_run_writes_is_a_fault(tmp_path: Path, changes: dict[str, Any]) -> None:
    line = line_of(tmp_path)
    line["arrays"][0] = line["arrays"][0] | changes
    with pytest.raises(EvidenceFault, match="saved test/a is not what a run writes"):
        records_of(line)


@pytest.mark.parametrize("arrays", [None, 3, [3], [{}], {"x": {}}])
def test_a_line_of_another_form_is_a_fault(arrays: object) -> None:
    with pytest.raises(EvidenceFault, match="not what a run writes"):
        records_of({"split": "test", "id": "a", "arrays": arrays, "journal": "main"})


def test_the_room_of_a_clip_is_a_bound_on_its_files(tmp_path: Path) -> None:
    arrays = checked({"x": np.zeros(2), "y": np.zeros(1)})
    size = 2 * HEADER + 24
    with pytest.raises(EvidenceFault, match=f"take {size} bytes") as caught:
        store(tmp_path).save("test", "a", arrays, size - 1)
    assert caught.value.code == "storage-failed"
    assert not (tmp_path / "answers").exists()
    store(tmp_path).save("test", "a", arrays, size)
    assert sum(path.stat().st_size for path in (tmp_path / "answers/gw0.2").iterdir()) == size


def test_a_file_in_the_place_of_the_folder_is_a_storage_failure(tmp_path: Path) -> None:
    (tmp_path / "answers").write_text("")
    with pytest.raises(EvidenceFault, match=r"cannot keep x \(136 bytes\): ") as caught:
        store(tmp_path).save("test", "a", checked({"x": np.zeros(1)}))
    assert caught.value.code == "storage-failed"
    assert str(tmp_path) not in caught.value.message


def test_a_run_folder_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    with pytest.raises(EvidenceFault, match="cannot keep x"):
        ArrayStore(tmp_path / "gone/journal/main.jsonl").save("test", "a", checked({"x": np.zeros(1)}))
    assert not (tmp_path / "gone").exists()


def test_a_full_disk_keeps_no_part_of_a_clip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, sizes = os.write, list[int]()

    def write(descriptor: int, data: memoryview) -> int:
        sizes.append(len(data))
        if len(sizes) == 3:
            raise OSError(28, "No space left on device")
        return plain(descriptor, data[:100])

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(EvidenceFault, match="No space left on device"):
        store(tmp_path).save("test", "a", checked({"x": np.zeros(1), "y": np.zeros(1)}))
    monkeypatch.undo()
    assert [*(tmp_path / "answers/gw0.2").iterdir()] == []
    store(tmp_path).save("test", "a", checked({"x": np.zeros(1), "y": np.zeros(1)}))


def test_files_are_never_overwritten(tmp_path: Path) -> None:
    record = kept(tmp_path, {"x": np.zeros(1)})["x"]
    with pytest.raises(EvidenceFault, match="exists"):
        store(tmp_path).save("test", "a", checked({"w": np.ones(1), "x": np.ones(1)}))
    assert record.load(tmp_path).tolist() == [0]
    assert len([*(tmp_path / "answers/gw0.2").iterdir()]) == 1


QUESTION = question_of([Clip("a", "yes", Ending("returned")), Clip("b", "yes", Ending("returned"))])
ANSWER = Ending("returned", {"label": "yes"}, microseconds=5)


def journal(tmp_path: Path) -> list[dict[str, Any]]:
    """The lines of a journal with an answer that brought arrays and one that did not."""
    (tmp_path / "journal").mkdir()
    writer = Journal(tmp_path / "journal/gw0.2.jsonl")
    writer.entered("test", "a")
    writer.returned("test", "a", ANSWER, None, store(tmp_path).save("test", "a", checked({"x": np.arange(3)})))
    writer.entered("test", "b")
    writer.returned("test", "b", ANSWER)
    writer.close()
    return [*read_journal(writer.path)]


def test_an_answer_carries_its_arrays_from_the_journal(tmp_path: Path) -> None:
    lines = journal(tmp_path)
    assert [line["event"] for line in lines] == ["entered", "returned", "saved", "entered", "returned"]
    first, second = endings_of(QUESTION, lines)
    assert (first.state, first.answer, first.microseconds) == ("returned", {"label": "yes"}, 5)
    assert first.arrays is not None
    assert first.arrays["x"].file == "answers/gw0.2/test+a.x.npy"
    assert first.arrays["x"].load(tmp_path).tolist() == [0, 1, 2]
    assert second.arrays is None


def test_without_its_line_an_answer_with_arrays_is_unknown(tmp_path: Path) -> None:
    first, second = endings_of(QUESTION, [line for line in journal(tmp_path) if line["event"] != "saved"])
    assert (first.state, first.code, first.answer) == ("unknown", "never-saved", None)
    assert second.state == "returned"


@pytest.mark.parametrize("order", [[0, 2], [0, 1, 2, 2], [2], [0, 1, 1, 2], [3, 4, 2], [0, 1, 2, 1]])
def test_lines_out_of_place_are_a_fault(tmp_path: Path, order: list[int]) -> None:
    lines = journal(tmp_path)
    with pytest.raises(EvidenceFault, match="out of place"):
        endings_of(QUESTION, [lines[place] for place in order])


def test_a_line_about_other_arrays_than_those_that_came_is_a_fault(tmp_path: Path) -> None:
    lines = journal(tmp_path)
    lines[1] = lines[1] | {"arrays": ["x", "y"]}
    with pytest.raises(EvidenceFault, match="out of place"):
        endings_of(QUESTION, lines)


def test_a_second_attempt_brings_its_own_arrays(tmp_path: Path) -> None:
    lines = [line for line in journal(tmp_path) if line["event"] != "saved"]
    later = Journal(tmp_path / "journal/main.jsonl")
    later.entered("test", "a", 2)
    records = ArrayStore(later.path).save("test", "a", checked({"x": np.arange(4)}))
    later.returned("test", "a", Ending("returned", {"label": "no"}, attempts=2), None, records)
    later.close()
    lines += read_journal(later.path)
    for order in (lines, lines[4:] + lines[:4]):
        first = endings_of(QUESTION, order)[0]
        assert (first.state, first.answer, first.attempts) == ("returned", {"label": "no"}, 2)
        assert first.arrays is not None
        assert first.arrays["x"].file == "answers/main/test+a.x.npy"


def test_the_name_of_an_array_gives_no_secret_away(tmp_path: Path) -> None:
    class Telling:
        def transcribe(self, *_: object) -> Transcript:
            return Transcript("yes", arrays={"hunter2-hunter2": np.zeros(1)})

    (tmp_path / "journal").mkdir()
    writer = Journal(tmp_path / "journal/main.jsonl")
    inquiry = Inquiry(Telling(), Asr(), writer, secrets=Secrets.hiding({"TOKEN": "hunter2-hunter2"}))
    (ending,) = inquiry.ask([Asked("test", "a", lambda: (np.zeros(1), 8000))])
    writer.close()
    assert (ending.state, ending.code) == ("failed", "invalid-answer")
    assert not any(b"hunter2" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert not (tmp_path / "answers").exists()


def test_a_sweep_takes_only_what_no_ending_names_and_follows_no_link(tmp_path: Path) -> None:
    run = tmp_path / "run"
    record = kept(run, {"x": np.zeros(1)})["x"]
    (run / "answers/gw0.2/left.npy").write_bytes(b"")
    (run / "plan.json").write_text("{}")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign/file").write_text("")
    (run / "answers/linked").symlink_to(tmp_path / "foreign")
    RunFolder(run).sweep_arrays({record.file})
    left = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert left == ["foreign/file", f"run/{record.file}", "run/plan.json"]
