"""Splits and inventories as parts that can be held against each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_speval.corpus.listing import Listing
from pytest_speval.corpus.part import unlisted_parts, whole_part
from pytest_speval.errors import FaultyFile
from tests.unit.corpus.manifests import read

ROLES = {"id": ("id",), "split": ("split",), "speaker": ("who",)}
ROWS = "id,split,who,wav\na,test,S1,a.wav\nb,train,S2,b.wav\na,dev,,a2.wav\nc,train,S1,\n"


def listing(**more: Any) -> Listing:
    return Listing(**({"roles": ROLES, "where": {"split": ("test",)}} | more))


def test_the_splits_that_are_not_listed_are_parts_in_the_order_of_their_names(tmp_path: Path) -> None:
    parts = unlisted_parts(read(tmp_path, "m.csv", ROWS), listing(), tmp_path, frozenset({2}))
    assert [(part.name, part.shown_as, list(part.clips), list(part.lines)) for part in parts] == [
        ("dev", "m.csv", ["dev/a"], [4]),
        ("train", "m.csv", ["train/b", "train/c"], [3, 5]),
    ]
    assert [part.cells["speaker"] for part in parts] == [[None], ["S2", "S1"]]
    assert [len(part) for part in parts] == [1, 2]
    assert [part.entries for part in parts] == [None, None]


def test_a_part_keeps_its_sound_files_and_says_where_there_is_none(tmp_path: Path) -> None:
    roles = ROLES | {"audio": ("wav",)}
    parts = unlisted_parts(read(tmp_path, "m.csv", ROWS), listing(roles=roles), tmp_path, frozenset({2}))
    assert [part.entries for part in parts] == [["a2.wav"], ["b.wav", None]]
    assert {part.root for part in parts} == {tmp_path}


def test_without_a_column_of_splits_nothing_is_unlisted(tmp_path: Path) -> None:
    manifest = read(tmp_path, "m.csv", "id,who\na,S1\n")
    for chosen in (Listing({"id": ("id",)}), Listing({"id": ("id",)}, split_is="eval")):
        assert unlisted_parts(manifest, chosen, tmp_path, frozenset({2})) == ()


def test_rows_of_a_listed_split_that_are_not_listed_are_a_part_of_its_name(tmp_path: Path) -> None:
    parts = unlisted_parts(read(tmp_path, "m.csv", ROWS), listing(), tmp_path, frozenset({3}))
    assert [(part.name, list(part.lines)) for part in parts] == [("dev", [4]), ("test", [2]), ("train", [5])]


def test_a_row_without_a_split_does_not_leave_the_audits_silently(tmp_path: Path) -> None:
    manifest = read(tmp_path, "m.csv", "id,split,who\na,test,S1\nb,,S1\n")
    with pytest.raises(FaultyFile) as caught:
        unlisted_parts(manifest, listing(), tmp_path, frozenset({2}))
    assert [(fault.line, fault.code) for fault in caught.value.faults] == [(3, "cell-missing")]


def test_a_whole_file_is_one_part_whatever_its_splits(tmp_path: Path) -> None:
    part = whole_part("web", read(tmp_path, "m.csv", ROWS), Listing(ROLES), tmp_path)
    assert (part.name, list(part.clips), len(part)) == ("web", ["a", "b", "a", "c"], 4)


def test_rows_without_an_id_are_named_by_their_line(tmp_path: Path) -> None:
    part = whole_part("web", read(tmp_path, "m.csv", "who\nS1\nS2\n"), Listing({"speaker": ("who",)}), tmp_path)
    assert list(part.clips) == ["line 2", "line 3"]
    part = whole_part("web", read(tmp_path, "n.csv", "id,who\n,S1\n"), Listing({"id": ("id",)}), tmp_path)
    assert list(part.clips) == ["line 2"]


def test_joined_columns_are_one_id_and_one_key(tmp_path: Path) -> None:
    roles = {"id": ("dialogue", "turn"), "session": ("season", "episode")}
    manifest = read(tmp_path, "m.csv", "dialogue,turn,season,episode\n1,2,3,4\n1,3,3,\n")
    part = whole_part("web", manifest, Listing(roles), tmp_path)
    assert list(part.clips) == ["1_2", "1_3"]
    assert part.cells == {"session": [("3", "4"), None]}


def test_a_column_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(FaultyFile) as caught:
        whole_part("web", read(tmp_path, "m.csv", "id\na\n"), Listing({"speaker": ("who",)}), tmp_path)
    assert caught.value.code == "column-missing"


def test_h71_an_entry_outside_the_root_is_a_fault(tmp_path: Path) -> None:
    manifest = read(tmp_path, "m.csv", "id,wav\na,../secret.wav\n")
    with pytest.raises(FaultyFile) as caught:
        whole_part("web", manifest, Listing({"audio": ("wav",)}), tmp_path)
    assert caught.value.code == "path-outside-root"
