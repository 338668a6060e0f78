"""Stored fingerprints come back as they were, or not at all."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_speval.corpus import fingerprint_store
from pytest_speval.corpus.fingerprint import Fingerprint, fingerprint
from pytest_speval.corpus.fingerprint_store import load, save
from tests.unit.audit.voices import talk

SOUNDS = (
    fingerprint(talk(1, 0.5), 8000),
    None,
    fingerprint(np.zeros(0, np.float32), 8000),
    fingerprint(talk(2, 0.3), 8000),
)


def equal(left: Fingerprint | None, right: Fingerprint | None) -> bool:
    if left is None or right is None:
        return left is right
    same = np.array_equal(left.waveform, right.waveform) and np.array_equal(left.logmel, right.logmel)
    return same and left.seconds == right.seconds


def all_equal(left: tuple[Fingerprint | None, ...], right: tuple[Fingerprint | None, ...]) -> bool:
    return len(left) == len(right) and all(map(equal, left, right))


@pytest.mark.parametrize("sounds", [(), (None,), SOUNDS, (*SOUNDS, None)])
def test_what_was_saved_is_loaded(tmp_path: Path, sounds: tuple[Fingerprint | None, ...]) -> None:
    path = tmp_path / "new" / "train.npz"
    save(path, "abc", sounds)
    found = load(path, "abc")
    assert found is not None
    assert all_equal(found, sounds)
    assert [each.name for each in path.parent.iterdir()] == ["train.npz"]
    for each in found:
        if each is not None:
            assert each.waveform.dtype == np.int8
            assert each.logmel.dtype == np.uint8


def test_another_digest_or_version_counts_as_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "train.npz"
    save(path, "abc", SOUNDS)
    assert load(path, "abd") is None
    monkeypatch.setattr(fingerprint_store, "VERSION", 2)
    assert load(path, "abc") is None


def test_absent_and_foreign_files_count_as_absent(tmp_path: Path) -> None:
    path = tmp_path / "train.npz"
    assert load(path, "abc") is None
    assert load(tmp_path, "abc") is None
    buffer = io.BytesIO()
    np.savez(buffer, key=np.array("other"))
    for data in (b"", b"PK", b"no archive", buffer.getvalue()):
        path.write_bytes(data)
        assert load(path, "abc") is None


@settings(max_examples=200)
@given(st.data())
def test_a_damaged_file_never_gives_other_fingerprints(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.npz"
    save(path, "abc", SOUNDS)
    whole = path.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    cut = data.draw(st.booleans())
    change = data.draw(st.integers(1, 255))
    path.write_bytes(whole[:place] + (b"" if cut else bytes([whole[place] ^ change]) + whole[place + 1 :]))
    found = load(path, "abc")
    assert found is None or all_equal(found, SOUNDS)


def test_a_failed_write_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "train.npz"
    save(path, "abc", SOUNDS)

    def full(file: io.BufferedWriter, **_: object) -> None:
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="No space"):
        save(path, "new", SOUNDS)
    found = load(path, "abc")
    assert found is not None
    assert all_equal(found, SOUNDS)
    assert [each.name for each in tmp_path.iterdir()] == ["train.npz"]
