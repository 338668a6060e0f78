"""A manifest's entry stays below the corpus root (H71)."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus.entry import resolve_entry
from pytest_speval.errors import AudioFault


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    (root / "a" / "x.wav").write_bytes(b"x")
    (tmp_path / "outside.wav").write_bytes(b"secret")
    return root


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("../outside.wav", "path-outside-root"),
        ("/abs/other.wav", "path-outside-root"),
        ("a/../../x.wav", "path-outside-root"),
        ("..", "path-outside-root"),
        ("..\\outside.wav", "path-outside-root"),
        ("\\\\server\\share\\x.wav", "path-outside-root"),
        ("C:\\x.wav", "bad-path"),
        ("c:x.wav", "bad-path"),
        ("file:///x", "bad-path"),
        ("file:x", "bad-path"),
        ("https://example.org/x.wav", "bad-path"),
        ("a\0b", "bad-path"),
        ("\ud800.wav", "bad-path"),
        ("", "bad-path"),
        (".", "bad-path"),
        ("a/..", "bad-path"),
    ],
)
def test_an_entry_that_leaves_or_is_no_path_is_refused(root: Path, entry: str, code: str) -> None:
    with pytest.raises(AudioFault) as caught:
        resolve_entry(root, entry)
    assert caught.value.code == code
    assert repr(entry) in caught.value.message


def test_an_absolute_path_is_refused_even_below_the_root(root: Path) -> None:
    with pytest.raises(AudioFault, match="leaves the corpus root"):
        resolve_entry(root, str(root / "a" / "x.wav"))


def test_leaving_and_coming_back_by_the_name_of_the_root_is_refused(root: Path) -> None:
    with pytest.raises(AudioFault, match="leaves the corpus root"):
        resolve_entry(root, f"../{root.name}/a/x.wav")


@pytest.mark.parametrize("entry", ["a/x.wav", "a/../a/x.wav", "./a//x.wav", "a/./x.wav"])
def test_an_entry_below_the_root_is_found(root: Path, entry: str) -> None:
    assert resolve_entry(root, entry).read_bytes() == b"x"


def test_a_file_that_is_not_there_still_has_a_path(root: Path) -> None:
    assert resolve_entry(root, "a/no.wav") == root.resolve() / "a" / "no.wav"


def test_a_link_that_stays_inside_is_followed_and_one_that_leaves_is_refused(root: Path, tmp_path: Path) -> None:
    (root / "inner.wav").symlink_to(root / "a" / "x.wav")
    (root / "outer.wav").symlink_to(tmp_path / "outside.wav")
    (root / "up").symlink_to(tmp_path)
    (root / "dangling.wav").symlink_to(tmp_path / "not-there.wav")
    assert resolve_entry(root, "inner.wav") == (root / "a" / "x.wav").resolve()
    for entry in ("outer.wav", "up/outside.wav", "up/root2/x.wav", "dangling.wav"):
        with pytest.raises(AudioFault) as caught:
            resolve_entry(root, entry)
        assert caught.value.code == "path-outside-root"
        assert str(tmp_path) not in caught.value.message


def test_a_root_behind_a_link_holds_its_entries(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    assert resolve_entry(tmp_path / "link", "a/x.wav") == (root / "a" / "x.wav").resolve()


def test_a_sibling_folder_whose_name_begins_alike_is_outside(root: Path, tmp_path: Path) -> None:
    (tmp_path / "root-b").mkdir()
    (root / "side").symlink_to(tmp_path / "root-b")
    with pytest.raises(AudioFault, match="leaves the corpus root"):
        resolve_entry(root, "side/x.wav")


def test_the_target_is_not_opened(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("opened")

    monkeypatch.setattr(os, "open", forbidden)
    monkeypatch.setattr("builtins.open", forbidden)
    with pytest.raises(AudioFault, match="leaves the corpus root"):
        resolve_entry(root, "../outside.wav")
    resolve_entry(root, "a/x.wav")


@given(st.lists(st.sampled_from(["..", ".", "", "a", "b", "C:", "\0", "é"]), max_size=8).map("/".join))
def test_whatever_resolves_lies_below_the_root(entry: str) -> None:
    root = Path("/nowhere/root")
    found = None
    with suppress(AudioFault):
        found = resolve_entry(root, entry)
    parts = [part for part in entry.split("/") if part not in ("", ".")]
    if found is not None:
        assert found.is_relative_to(root)
        assert found != root
    else:
        assert ".." in parts or "\0" in entry or entry.startswith(("/", "C:")) or not parts
