"""Which clips a suite lists: identity, exclusions, cells, and every fault at its row."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus.clips import Clips, list_clips
from pytest_speval.corpus.entry import resolve_entry
from pytest_speval.corpus.labels import LabelRules
from pytest_speval.corpus.listing import Exclusion, Listing, numeric_columns, text_columns
from pytest_speval.corpus.manifest import Format, Manifest, read_manifest
from pytest_speval.errors import FaultyFile

HAPPY_SAD = LabelRules(("happy", "sad"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("clips")


def manifest_of(folder: Path, text: str, name: str = "clips.csv", **how: Any) -> Manifest:
    (folder / name).write_bytes(text.encode())
    return read_manifest(folder / name, name, how.pop("form", Format()), **how)


def nowhere(entry: str) -> Path:
    raise AssertionError(f"{entry!r} looks plain and is not resolved here")


def clips_of(
    manifest: Manifest,
    roles: dict[str, str | tuple[str, ...]],
    labels: LabelRules | None = None,
    needed: Sequence[str] = (),
    inside_root: Callable[[str], Path] = nowhere,
    **listing: Any,
) -> Clips:
    columns = {role: (column,) if isinstance(column, str) else column for role, column in roles.items()}
    return list_clips(manifest, Listing(columns, **listing), labels, needed, inside_root)


def faults_of(*args: Any, **how: Any) -> list[tuple[int, str, str]]:
    with pytest.raises(FaultyFile) as caught:
        clips_of(*args, **how)
    assert {fault.file for fault in caught.value.faults} == {"clips.csv"}
    return [(fault.line, fault.code, fault.message) for fault in caught.value.faults]


# --- identity (H41, H42)


def test_h41_an_id_that_two_splits_share_is_two_clips(folder: Path) -> None:
    manifest = manifest_of(folder, "id,split\ndia0_utt0,train\ndia0_utt0,test\n")
    clips = clips_of(manifest, {"id": "id", "split": "split"})
    assert [clips.name(place) for place in range(len(clips))] == ["train/dia0_utt0", "test/dia0_utt0"]
    assert clips.identities == {("train", "dia0_utt0"), ("test", "dia0_utt0")}


def test_h41_one_identity_with_unequal_rows_is_a_fault_that_names_both_lines(folder: Path) -> None:
    manifest = manifest_of(folder, "id,split,label\na,test,happy\n\nb,test,sad\na,test,sad\n")
    ((line, code, message),) = faults_of(manifest, {"id": "id", "split": "split"})
    assert (line, code) == (5, "conflicting-identity")
    assert message == "`test/a` also stands on line 2, with other cells"


def test_equal_rows_of_one_identity_are_one_clip_and_a_notice(folder: Path) -> None:
    manifest = manifest_of(folder, "id,label\na,happy\nb,sad\na,happy\na,happy\n")
    clips = clips_of(manifest, {"id": "id", "label": "label"}, HAPPY_SAD)
    assert (clips.ids, clips.cells["label"], clips.planned) == (["a", "b"], ["happy", "sad"], [0, 1])
    assert clips.notices == (("repeated-row", "test/a stands 3 times; it is one clip"),)


def test_rows_that_differ_in_a_column_without_a_role_are_unequal(folder: Path) -> None:
    manifest = manifest_of(folder, "id,note\na,x\na,y\n")
    assert [code for _, code, _ in faults_of(manifest, {"id": "id"})] == ["conflicting-identity"]


def test_h42_another_order_of_the_rows_is_the_same_clips(folder: Path) -> None:
    rows = ["a,happy", "b,sad", "c,happy"]
    for order in (rows, rows[::-1]):
        clips = clips_of(
            manifest_of(folder, "\n".join(["id,label", *order])), {"id": "id", "label": "label"}, HAPPY_SAD
        )
        assert dict(zip(clips.ids, clips.cells["label"], strict=True)) == {
            "a": "happy",
            "b": "sad",
            "c": "happy",
        }


def test_a_row_without_an_id_is_a_fault_of_its_line(folder: Path) -> None:
    manifest = manifest_of(folder, "id,label\na,x\n,y\n\n,z\n")
    assert faults_of(manifest, {"id": "id"}) == [(3, "id-missing", "no id"), (5, "id-missing", "no id")]


def test_an_empty_id_is_none_even_where_nothing_counts_as_missing(folder: Path) -> None:
    manifest = manifest_of(folder, "id,split\na,test\n,test\nb,\n", form=Format(na=()))
    assert faults_of(manifest, {"id": "id", "split": "split"}) == [
        (3, "id-missing", "no id"),
        (4, "cell-missing", "no split"),
    ]


def test_an_id_of_several_columns_is_joined_and_needs_them_all(folder: Path) -> None:
    manifest = manifest_of(folder, "d,u\n1,2\n1,3\n")
    assert clips_of(manifest, {"id": ("d", "u")}).ids == ["1_2", "1_3"]
    manifest = manifest_of(folder, "d,u\n1,2\n1,\n")
    assert faults_of(manifest, {"id": ("d", "u")}) == [(3, "id-missing", "no id")]


def test_joined_ids_that_collide_are_a_fault(folder: Path) -> None:
    manifest = manifest_of(folder, "d,u\n1_2,3\n1,2_3\n")
    assert [(line, code) for line, code, _ in faults_of(manifest, {"id": ("d", "u")})] == [(3, "conflicting-identity")]


def test_without_a_split_column_every_clip_is_in_test_and_named_by_its_id(folder: Path) -> None:
    clips = clips_of(manifest_of(folder, "id\na\n"), {"id": "id"})
    assert (clips.splits, clips.split_given, clips.name(0)) == (["test"], False, "a")
    clips = clips_of(manifest_of(folder, "id\na\n"), {"id": "id"}, split_is="dev")
    assert (clips.splits, clips.split_given, clips.name(0)) == (["dev"], True, "dev/a")


# --- columns


def test_every_missing_column_is_named_with_the_nearest_there_is(folder: Path) -> None:
    manifest = manifest_of(folder, "clip_id,emotion\na,happy\n")
    found = faults_of(
        manifest,
        {"id": "clipid", "label": "emotion"},
        exclude_where=(Exclusion("zzz", ("x",), "why"),),
        audio_from="{emotions}.wav",
        where={"part": ("a",)},
    )
    assert {code for _, code, _ in found} == {"column-missing"}
    assert {line for line, _, _ in found} == {0}
    assert sorted(message for _, _, message in found) == [
        "no column `clipid` for `id`, did you mean `clip_id`?",
        "no column `emotions` for `audio_from`, did you mean `emotion`?",
        "no column `part` for `where`; its columns are clip_id, emotion",
        "no column `zzz` for `exclude_where`; its columns are clip_id, emotion",
    ]


def test_a_key_of_several_columns_is_a_tuple_and_missing_where_a_part_is(folder: Path) -> None:
    manifest = manifest_of(folder, "id,season,episode\na,1,2\nb,,2\nc,1,\n")
    clips = clips_of(manifest, {"id": "id", "session": ("season", "episode")})
    assert clips.cells["session"] == [("1", "2"), None, None]


def test_what_a_listing_reads_is_text_unless_its_role_is_a_number() -> None:
    listing = Listing(
        {"id": ("a", "b"), "seconds": ("s",), "valence": ("v",), "label": ("l",)},
        audio_from="{c}/{d}.wav",
        where={"label": ("x",), "part": ("y",)},
        exclude_where=(Exclusion("e", ("z",), "why"),),
    )
    assert numeric_columns(listing) == {"s", "v"}
    assert text_columns(listing) == {"a", "b", "c", "d", "e", "l", "part"}


# --- where


def test_rows_that_where_leaves_out_are_not_listed_and_still_known(folder: Path) -> None:
    manifest = manifest_of(folder, "id,split,lang\na,train,en\nb,test,en\nc,test,tr\n")
    clips = clips_of(manifest, {"id": "id", "split": "split"}, where={"split": ("test",), "lang": ("en", "tr")})
    assert (clips.ids, clips.excluded) == (["b", "c"], [None, None])
    assert clips.identities == {("train", "a"), ("test", "b"), ("test", "c")}


@pytest.mark.parametrize("where", [{"split": ("tset",)}, {"split": ("test", "tset")}])
def test_a_value_of_where_that_no_row_has_is_a_fault_that_shows_those_there_are(
    folder: Path, where: dict[str, tuple[str, ...]]
) -> None:
    manifest = manifest_of(folder, "id,split\na,train\nb,test\n")
    assert faults_of(manifest, {"id": "id", "split": "split"}, where=where) == [
        (0, "unknown-split", "no row has split `tset`; there is test, train")
    ]


def test_h03_where_that_leaves_no_rows_is_a_fault(folder: Path) -> None:
    manifest = manifest_of(folder, "id,split,lang\na,train,en\nb,test,tr\n")
    where = {"split": ("test",), "lang": ("en",)}
    assert faults_of(manifest, {"id": "id", "split": "split"}, where=where) == [(0, "no-rows", "`where` leaves 0 rows")]


def test_where_may_ask_for_the_constant_split(folder: Path) -> None:
    manifest = manifest_of(folder, "id\na\n")
    assert clips_of(manifest, {"id": "id"}, split_is="test", where={"split": ("test",)}).ids == ["a"]
    found = faults_of(manifest, {"id": "id"}, split_is="test", where={"split": ("dev",)})
    assert [code for _, code, _ in found] == ["unknown-split"]


def test_where_means_the_column_of_a_role_or_of_that_name(folder: Path) -> None:
    manifest = manifest_of(folder, "id,who,speaker\na,x,1\nb,y,1\n")
    assert clips_of(manifest, {"id": "id", "speaker": "who"}, where={"speaker": ("y",)}).ids == ["b"]
    several: dict[str, str | tuple[str, ...]] = {"id": "id", "speaker": ("who", "id")}
    assert clips_of(manifest, several, where={"speaker": ("1",)}).ids == ["a", "b"], "never the first of several"
    found = faults_of(manifest, {"id": "id", "session": ("who", "id")}, where={"session": ("x",)})
    assert [code for _, code, _ in found] == ["column-missing"]


# --- exclusions


def test_h39_clips_are_excluded_by_name_with_the_reason_of_the_suite(folder: Path) -> None:
    manifest = manifest_of(folder, "id,split\nutt4,test\nutt5,test\nutt4,dev\n")
    clips = clips_of(manifest, {"id": "id", "split": "split"}, exclude={"test/utt4": "mis-cut, 304.9 s"})
    assert clips.excluded == ["mis-cut, 304.9 s", None, None]
    assert clips.planned == [1, 2]


def test_a_clip_without_a_split_may_be_excluded_by_both_of_its_names(folder: Path) -> None:
    manifest = manifest_of(folder, "id\na\nb\nc\n")
    clips = clips_of(manifest, {"id": "id"}, exclude={"a": "one", "test/b": "two"})
    assert clips.excluded == ["one", "two", None]


def test_an_exclusion_that_names_no_listed_clip_is_a_fault(folder: Path) -> None:
    manifest = manifest_of(folder, "id,split\nutt4,test\nutt5,train\n")
    exclude = {"test/utt44": "typo", "utt4": "no split", "train/utt5": "not listed", "zzzz/0": "far"}
    found = faults_of(manifest, {"id": "id", "split": "split"}, exclude=exclude, where={"split": ("test",)})
    assert {(line, code) for line, code, _ in found} == {(0, "exclude-unknown")}
    messages = {message.split("`")[3]: message for _, _, message in found}
    assert set(messages) == set(exclude)
    assert messages["test/utt44"].endswith("which is not listed, did you mean `test/utt4`?")
    assert messages["zzzz/0"].endswith("which is not listed")


def test_the_first_rule_that_takes_a_clip_out_gives_the_reason(folder: Path) -> None:
    manifest = manifest_of(folder, "id,label,fake\na,xxx,yes\nb,happy,yes\nc,happy,no\nd,happy,\n")
    clips = clips_of(
        manifest,
        {"id": "id", "label": "label"},
        LabelRules(("happy",), drop=("xxx",)),
        exclude_where=(Exclusion("fake", ("yes",), "synthetic"), Exclusion("fake", ("",), "unsaid")),
        exclude={"a": "named", "b": "named", "c": "named"},
    )
    assert clips.excluded == ["label xxx is dropped", "synthetic", "named", "unsaid"]


# --- cells


def test_a_planned_clip_needs_the_cells_of_its_task_and_an_excluded_one_does_not(folder: Path) -> None:
    manifest = manifest_of(folder, "id,label,file\na,,a.wav\nb,happy,\nc,,\n")
    found = faults_of(
        manifest, {"id": "id", "label": "label", "audio": "file"}, HAPPY_SAD, ["label"], exclude={"c": "lost"}
    )
    assert found == [(2, "cell-missing", "no label"), (3, "cell-missing", "no sound file")]
    clips = clips_of(
        manifest,
        {"id": "id", "label": "label", "audio": "file"},
        HAPPY_SAD,
        ["label"],
        exclude={"a": "x", "b": "y"},
        where={"id": ("a", "b")},
    )
    assert (clips.audio, clips.excluded) == (["a.wav", ""], ["x", "y"])


def test_h13_each_unknown_label_is_one_fault_with_its_count(folder: Path) -> None:
    manifest = manifest_of(folder, "id,label\n1,Joy\n2,joy\n3,joy \n4,Superise\n5,Joy\n6,Joy\n")
    found = faults_of(manifest, {"id": "id", "label": "label"}, LabelRules(("joy",)), exclude={"6": "taken out"})
    assert [(line, code) for line, code, _ in found] == [(0, "label-unknown")] * 3
    assert sorted(message.partition(" has no rule")[0] for _, _, message in found) == [
        "the label `Joy` (2 clips)",
        "the label `Superise` (1 clips)",
        "the label `joy ` (1 clips)",
    ]


def test_h13_folding_and_stripping_join_what_the_suite_says_they_join(folder: Path) -> None:
    manifest = manifest_of(folder, "id,label\n1,Joy\n2,joy\n3,joy \n4,Superise\n")
    rules = LabelRules(("joy",), strip=True, fold_case=True)
    ((_, _, message),) = faults_of(manifest, {"id": "id", "label": "label"}, rules)
    assert message.startswith("the label `Superise` (1 clips) has no rule")


@pytest.mark.parametrize("cell", ["nan", "inf", "-inf", "1e999", "-0.1", "7.01", "x", "0_5", "0x1", "1,5", "٣"])
def test_a_number_outside_its_range_is_a_fault_of_its_line(folder: Path, cell: str) -> None:
    manifest = manifest_of(folder, f'id,v\na,1\nb,"{cell}"\nc,\n')
    found = faults_of(manifest, {"id": "id", "valence": "v"}, ranges={"valence": (0.0, 7.0)})
    assert found == [(3, "number-expected", f"valence `{cell}` is not a number from 0 to 7")]
    assert clips_of(
        manifest, {"id": "id", "valence": "v"}, ranges={"valence": (0.0, 7.0)}, exclude={"b": "no rating"}
    ).planned == [0, 2]


@pytest.mark.parametrize("cell", ["inf", "Infinity", "1e999", "nan", "-1", "two"])
def test_a_length_is_a_finite_number_of_seconds(folder: Path, cell: str) -> None:
    manifest = manifest_of(folder, f"id,s\na,{cell}\nb,1e2\nc,0\n")
    found = faults_of(manifest, {"id": "id", "seconds": "s"})
    assert found == [(2, "number-expected", f"seconds `{cell}` is not a number from 0 to inf")]


def test_borders_of_a_range_belong_to_it(folder: Path) -> None:
    manifest = manifest_of(folder, "id,v\na,1\nb,7.0\n")
    clips = clips_of(manifest, {"id": "id", "valence": "v"}, None, ["valence"], ranges={"valence": (1.0, 7.0)})
    assert clips.cells["valence"] == ["1", "7.0"], "cells stay as they are written"


# --- sound files (H71)


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("../outside.wav", "path-outside-root"),
        ("/abs/other.wav", "path-outside-root"),
        ("a/../../x.wav", "path-outside-root"),
        ("..\\outside.wav", "path-outside-root"),
        ("C:\\x.wav", "bad-path"),
        ("file:///x", "bad-path"),
        ("https://example.org/x.wav", "bad-path"),
    ],
)
def test_h71_an_entry_that_leaves_the_root_is_a_fault_of_its_line_and_not_opened(
    folder: Path, entry: str, code: str
) -> None:
    manifest = manifest_of(folder, f'id,file\na,a.wav\nb,"{entry}"\n')
    found = faults_of(manifest, {"id": "id", "audio": "file"}, inside_root=lambda name: resolve_entry(folder, name))
    ((line, found_code, message),) = found
    assert (line, found_code) == (3, code)
    assert repr(entry) in message
    assert not {"size", "sha256", "bytes"} & set(message.split())


def test_h71_a_nul_in_an_entry_is_a_bad_path(folder: Path) -> None:
    (folder / "nul.jsonl").write_bytes(b'{"id": "a", "file": "a\\u0000b"}\n')
    manifest = read_manifest(folder / "nul.jsonl", "nul.jsonl", Format())
    with pytest.raises(FaultyFile) as caught:
        clips_of(manifest, {"id": "id", "audio": "file"}, inside_root=lambda name: resolve_entry(folder, name))
    (fault,) = caught.value.faults
    assert (fault.line, fault.code) == (1, "bad-path")


def test_entries_are_made_from_columns(folder: Path) -> None:
    manifest = manifest_of(folder, "Sr No.,d,0,a:b\n7,1,2,x\n8,3,4,y\n")
    clips = clips_of(manifest, {"id": "d"}, audio_from="dia{d}_{Sr No.}_utt{0}{a:b}.wav")
    assert clips.audio == ["dia1_7_utt2x.wav", "dia3_8_utt4y.wav"]


def test_a_made_entry_needs_all_its_cells(folder: Path) -> None:
    manifest = manifest_of(folder, "id,d,u\na,1,2\nb,,2\nc,1,\n")
    found = faults_of(manifest, {"id": "id"}, audio_from="dia{d}_utt{u}.wav")
    assert found == [(3, "cell-missing", "no sound file"), (4, "cell-missing", "no sound file")]


def test_a_made_entry_may_not_leave_the_root_either(folder: Path) -> None:
    manifest = manifest_of(folder, "id\na\n../b\n")
    found = faults_of(
        manifest, {"id": "id"}, audio_from="{id}/c.wav", inside_root=lambda name: resolve_entry(folder, name)
    )
    assert [(line, code) for line, code, _ in found] == [(3, "path-outside-root")]


def test_a_manifest_without_sound_has_no_entries(folder: Path) -> None:
    assert clips_of(manifest_of(folder, "id\na\n"), {"id": "id"}).audio is None


def test_all_faults_of_the_rows_are_listed_in_the_order_of_their_lines(folder: Path) -> None:
    manifest = manifest_of(folder, "id,label,file,s\na,,a.wav,1\nb,sad,../b.wav,1\nc,sad,c.wav,x\nc,sad,d.wav,1\n")
    found = faults_of(
        manifest,
        {"id": "id", "label": "label", "audio": "file", "seconds": "s"},
        HAPPY_SAD,
        ["label"],
        inside_root=lambda name: resolve_entry(folder, name),
    )
    assert [(line, code) for line, code, _ in found] == [
        (2, "cell-missing"),
        (3, "path-outside-root"),
        (4, "number-expected"),
        (5, "conflicting-identity"),
    ]


# --- laws

ROW = st.tuples(
    st.sampled_from("abcdefgh"),
    st.sampled_from(["train", "test"]),
    st.sampled_from(["happy", "sad", "xxx"]),
    st.sampled_from(["yes", "no"]),
)


def laid_out(folder: Path, rows: Sequence[tuple[str, ...]]) -> Clips:
    out = io.StringIO(newline="")
    csv.writer(out).writerows([("id", "split", "label", "fake"), *rows])
    return clips_of(
        manifest_of(folder, out.getvalue()),
        {"id": "id", "split": "split", "label": "label"},
        LabelRules(("happy", "sad"), drop=("xxx",)),
        ["label"],
        where={"split": ("test",)},
        exclude_where=(Exclusion("fake", ("yes",), "synthetic"),),
    )


ROWS = st.lists(ROW, min_size=1, max_size=20, unique_by=lambda row: row[:2]).filter(
    lambda rows: any(row[1] == "test" for row in rows)
)


@given(ROWS)
def test_listing_neither_loses_nor_doubles_a_row(folder: Path, rows: list[tuple[str, ...]]) -> None:
    clips = laid_out(folder, rows)
    kept = [row for row in rows if row[1] == "test"]
    assert list(zip(clips.ids, clips.cells["label"], strict=True)) == [(row[0], row[2]) for row in kept]
    assert len(clips.planned) + sum(reason is not None for reason in clips.excluded) == len(clips) == len(kept)
    assert [clips.ids[place] for place in clips.planned] == [
        row[0] for row in kept if row[2] != "xxx" and row[3] == "no"
    ]
    assert clips.identities == {(row[1], row[0]) for row in rows}


@given(ROWS, st.data())
def test_order_and_repetition_of_rows_change_nothing(
    folder: Path, rows: list[tuple[str, ...]], data: st.DataObject
) -> None:
    def content(clips: Clips) -> dict[tuple[str, str], tuple[Any, ...]]:
        columns = (clips.cells["label"], clips.excluded)
        found = dict(zip(zip(clips.splits, clips.ids, strict=True), zip(*columns, strict=True), strict=True))
        assert len(found) == len(clips)
        return found

    repeated = data.draw(st.lists(st.sampled_from(rows), max_size=5))
    other = [*rows, *repeated]
    random.Random(data.draw(st.integers(0, 2**16))).shuffle(other)
    shuffled = laid_out(folder, other)
    assert content(shuffled) == content(laid_out(folder, rows))
    times = {row for row in repeated if row[1] == "test"}
    assert [code for code, _ in shuffled.notices] == ["repeated-row"] * len(times)


# --- real data


@pytest.mark.realdata
def test_the_splits_of_meld_share_ids_and_not_identities(shared: Path) -> None:
    keys = {}
    for name in ("train", "dev", "test"):
        path = shared / f"data/meld/{name}_sent_emo.csv"
        clips = clips_of(
            read_manifest(path, path.name, Format()), {"id": ("Dialogue_ID", "Utterance_ID")}, split_is=name
        )
        keys[name] = clips
        assert len(clips) == {"train": 9989, "dev": 1109, "test": 2610}[name]
    ids = {name: set(clips.ids) for name, clips in keys.items()}
    assert len(ids["train"] & ids["dev"]) == 675
    assert len(ids["train"] & ids["test"]) == 1740
    assert len(ids["dev"] & ids["test"]) == 670
    assert len(frozenset().union(*(clips.identities for clips in keys.values()))) == 9989 + 1109 + 2610
