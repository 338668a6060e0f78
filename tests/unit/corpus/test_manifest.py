"""A manifest is read as it is written: strings, its own lines, and every fault with its place."""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus.manifest import Format, read_manifest
from pytest_speval.errors import FaultyFile
from tests.unit.corpus.manifests import fault_of, faults_of, read

NO_QUOTES = Format(quoting="none")
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"))
NAMES = st.lists(TEXT.filter(bool), min_size=1, max_size=4, unique=True)


# --- what a cell is


def test_h47_every_cell_is_the_string_that_is_written(folder: Path) -> None:
    manifest = read(folder, "ids.csv", "id,label\n007,NA\n08,None\n9,nan\n")
    assert manifest.column("id") == ["007", "08", "9"]
    assert manifest.column("label") == ["NA", "None", "nan"]


def test_h47_only_the_words_of_na_are_missing(folder: Path) -> None:
    content = "id,label\na,NA\nb,\nc, \nd,happy\n"
    assert read(folder, "na.csv", content).column("label") == ["NA", None, " ", "happy"]
    assert read(folder, "na.csv", content, Format(na=("NA",))).column("label") == [None, "", " ", "happy"]
    assert read(folder, "na.csv", content, Format(na=("", "NA"))).column("label") == [
        None,
        None,
        " ",
        "happy",
    ]
    assert read(folder, "na.csv", content, Format(na=())).column("label") == ["NA", "", " ", "happy"]


def test_na_words_stay_where_a_text_is_wanted(folder: Path) -> None:
    manifest = read(folder, "na.csv", "id,text\na,\nb,NA\n", Format(na=("", "NA")))
    assert manifest.column("text", keep_na=True) == ["", "NA"]


def test_the_digest_is_that_of_the_bytes(folder: Path) -> None:
    content = b"\xef\xbb\xbfid\r\na\r\n"
    assert read(folder, "sum.csv", content).sha256 == hashlib.sha256(content).hexdigest()


def test_a_pinned_digest_that_differs_is_a_fault_that_shows_both(folder: Path) -> None:
    content = b"id\na\n"
    found, pinned = hashlib.sha256(content).hexdigest(), "0" * 64
    assert read(folder, "pin.csv", content, sha256=found).sha256 == found
    fault = fault_of(folder, "pin.csv", content, sha256=pinned)
    assert (fault.code, fault.line) == ("manifest-changed", 0)
    assert found in fault.message
    assert pinned in fault.message


# --- no rows (H03)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", ""),
        ("header.csv", "id,label\n"),
        ("header.tsv", "id\tlabel"),
        ("blank.csv", "\n\n\r\n"),
        ("empty.jsonl", ""),
        ("blank.jsonl", "\n \n\t\n"),
    ],
)
def test_h03_a_manifest_without_rows_is_a_fault(folder: Path, name: str, content: str) -> None:
    fault = fault_of(folder, name, content)
    assert (fault.code, fault.line, fault.message) == ("no-rows", 0, "manifest has 0 rows")
    assert not read(folder, name, content, empty=True).rows


def test_h03_names_without_a_header_do_not_make_a_row(folder: Path) -> None:
    assert fault_of(folder, "none.csv", "", Format(header=False, names=("id",))).code == "no-rows"


# --- byte order marks and encodings (H48, H50)


def test_h48_a_byte_order_mark_is_no_part_of_the_first_name(folder: Path) -> None:
    assert read(folder, "bom.csv", codecs.BOM_UTF8 + b"id,label\na,b\n").names == ("id", "label")
    assert read(folder, "bom.jsonl", codecs.BOM_UTF8 + b'{"id": "a"}\n').names == ("id",)


@pytest.mark.parametrize("encoding", ["utf-8", "UTF8", "utf_8"])
@pytest.mark.parametrize(("written", "said"), [("utf-16", "UTF-16"), ("utf-32", "UTF-32")])
def test_h48_a_wider_mark_names_its_encoding(folder: Path, written: str, said: str, encoding: str) -> None:
    fault = fault_of(folder, "wide.csv", "id,label\na,b\n".encode(written), Format(encoding=encoding))
    assert (fault.code, fault.line) == ("manifest-encoding", 1)
    assert f"a {said} byte order mark" in fault.message
    assert "declare `format.encoding`" in fault.message


def test_a_declared_encoding_is_used_with_its_mark(folder: Path) -> None:
    manifest = read(folder, "wide.csv", "id,label\na,ü\n".encode("utf-16"), Format(encoding="utf-16"))
    assert (manifest.names, manifest.column("label")) == (("id", "label"), ["ü"])


def test_h48_a_mark_inside_the_file_is_a_fault_of_its_line(folder: Path) -> None:
    joined = codecs.BOM_UTF8 + b"id,label\na,b\n" + codecs.BOM_UTF8 + b"id,label\nc,d\n"
    fault = fault_of(folder, "joined.csv", joined)
    assert (fault.code, fault.line) == ("manifest-encoding", 3)
    assert "were two files joined?" in fault.message


def test_a_nul_character_is_a_fault_of_its_line(folder: Path) -> None:
    fault = fault_of(folder, "nul.csv", b"id,label\na,b\nc,\0\n")
    assert (fault.code, fault.line, fault.message) == ("manifest-encoding", 3, "a NUL character")


def test_h50_windows_bytes_in_a_utf8_file_are_a_fault_with_line_and_byte(folder: Path) -> None:
    fault = fault_of(folder, "win.csv", b"id,text\n1,I\x92m fine\n")
    assert (fault.code, fault.line) == ("manifest-encoding", 2)
    assert fault.message == "byte 11 (0x92) is not utf-8; if the file is Windows text try `encoding: cp1252`"


def test_h50_the_declared_windows_encoding_gives_the_apostrophe(folder: Path) -> None:
    manifest = read(folder, "win.csv", b"id,text\n1,I\x92m fine\n", Format(encoding="cp1252"))
    assert manifest.column("text") == ["I\u2019m fine"]
    assert manifest.notices == ()


@pytest.mark.parametrize("name", ["c1.csv", "c1.jsonl"])
def test_h50_c1_control_characters_are_counted_and_kept(folder: Path, name: str) -> None:
    content = "id,text\n1,I\x92m \x96 fine\n" if name == "c1.csv" else '{"id": "1", "text": "I\x92m \x96 fine"}\n'
    manifest = read(folder, name, content)
    ((code, message),) = manifest.notices
    assert (code, message.split(":")[0]) == ("c1-control-characters", "2 C1 control characters")
    assert manifest.column("text") == ["I\x92m \x96 fine"]


@pytest.mark.parametrize("encoding", ["no-such-encoding", "rot13", "undefined"])
def test_an_encoding_that_gives_no_text_is_a_fault(folder: Path, encoding: str) -> None:
    fault = fault_of(folder, "odd.csv", "id\na\n", Format(encoding=encoding))
    assert (fault.code, fault.line) == ("manifest-encoding", 0)
    assert encoding in fault.message


# --- quotes, lines and cells of CSV and TSV (H49)

OPEN_QUOTE = 'a\t"hello\tb\nc\tworld\td\n'
HEADLESS = ("x", "y", "z")


def test_h49_quotes_are_text_where_the_suite_says_so(folder: Path) -> None:
    manifest = read(folder, "cv.tsv", OPEN_QUOTE, Format(quoting="none", header=False, names=HEADLESS))
    assert manifest.column("y") == ['"hello', "world"]
    assert [manifest.line(row) for row in range(2)] == [1, 2]


def test_h49_an_open_quote_is_a_fault_of_the_line_that_opened_it(folder: Path) -> None:
    fault = fault_of(folder, "cv.tsv", OPEN_QUOTE, Format(header=False, names=HEADLESS))
    assert (fault.code, fault.line) == ("manifest-syntax", 1)
    assert fault.message == "quote opened on line 1 not closed; if quotes are text here, set `format.quoting: none`"


def test_the_line_of_an_open_quote_counts_blank_lines_and_line_ends_in_quotes(folder: Path) -> None:
    fault = fault_of(folder, "open.csv", 'id,text\n\na,"x\ny"\nb,"open\nc,d\n')
    assert (fault.code, fault.line) == ("manifest-syntax", 5)
    assert "quote opened on line 5 not closed" in fault.message


def test_text_after_a_closing_quote_is_a_fault(folder: Path) -> None:
    fault = fault_of(folder, "tail.csv", 'id,text\na,fine\nb,"e"f\n')
    assert (fault.code, fault.line) == ("manifest-syntax", 3)
    assert "set `format.quoting: none`" in fault.message


def test_h49_doubled_quotes_are_read_as_csv_means_them(folder: Path) -> None:
    assert read(folder, "doubled.tsv", 'id\ttext\na\t"she said ""no"""\n').column("text") == ['she said "no"']


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_every_kind_end_a_line(folder: Path, end: str) -> None:
    manifest = read(folder, "ends.csv", end.join(["id,label", "a,b", "c,d", ""]))
    assert [list(row) for row in manifest.rows] == [["a", "b"], ["c", "d"]]
    assert [manifest.line(row) for row in range(2)] == [2, 3]


def test_blank_lines_are_no_rows_and_count_as_lines(folder: Path) -> None:
    manifest = read(folder, "blank.csv", "\n\nid,label\n\na,b\r\n\r\nc,d\n\n")
    assert [list(row) for row in manifest.rows] == [["a", "b"], ["c", "d"]]
    assert [manifest.line(row) for row in range(2)] == [5, 7]


def test_a_row_stands_on_the_line_where_it_starts(folder: Path) -> None:
    manifest = read(folder, "quoted.csv", 'id,text\na,"one\ntwo\r\nthree"\nb,c\n')
    assert manifest.column("text") == ["one\ntwo\r\nthree", "c"]
    assert [manifest.line(row) for row in range(2)] == [2, 5]


def test_every_row_with_another_number_of_cells_is_named(folder: Path) -> None:
    faults = faults_of(folder, "ragged.csv", "id,label\na,b\nc\n\nd,e,f\n   \n")
    assert [(fault.code, fault.line, fault.message) for fault in faults] == [
        ("manifest-syntax", 3, "1 cells where the header has 2"),
        ("manifest-syntax", 5, "3 cells where the header has 2"),
        ("manifest-syntax", 6, "1 cells where the header has 2"),
    ]


def test_without_a_header_the_first_line_is_a_row_and_the_names_count_the_cells(folder: Path) -> None:
    form = Format(header=False, names=("id", "label"))
    manifest = read(folder, "bare.csv", "a,b\nc,d\n", form)
    assert manifest.column("id") == ["a", "c"]
    assert manifest.line(0) == 1
    fault = fault_of(folder, "bare.csv", "a,b\nc,d,e\n", form)
    assert (fault.line, fault.message) == (2, "3 cells where `format.names` has 2")


@pytest.mark.parametrize(("delimiter", "name"), [("|", "pipes.csv"), (";", "semicolons.tsv"), (" ", "blanks.csv")])
def test_a_declared_delimiter_replaces_that_of_the_ending(folder: Path, delimiter: str, name: str) -> None:
    content = delimiter.join(["id", "la,bel"]) + "\n" + delimiter.join(["a", "b\tc"]) + "\n"
    manifest = read(folder, name, content, Format(delimiter=delimiter))
    assert (manifest.names, manifest.column("la,bel")) == (("id", "la,bel"), ["b\tc"])


@pytest.mark.parametrize("delimiter", ['"', "\n", "\r"])
def test_a_quote_or_a_line_end_cannot_be_the_delimiter(folder: Path, delimiter: str) -> None:
    fault = fault_of(folder, "odd.csv", "id,label\na,b\n", Format(delimiter=delimiter))
    assert (fault.code, fault.line) == ("manifest-syntax", 0)
    assert f"{delimiter!r} cannot be the delimiter" in fault.message


@pytest.mark.parametrize("blank", ["", "\n"], ids=["plain", "with a blank line"])
def test_a_cell_may_be_longer_than_the_limit_of_the_csv_module(folder: Path, blank: str) -> None:
    limit = csv.field_size_limit()
    long = "x" * (limit + 1)
    assert read(folder, "long.csv", f"id,text\n{blank}a,{long}\n").column("text") == [long]
    fault = fault_of(folder, "long.csv", f'id,text\n{blank}a,{long}\nb,"open\n')
    assert fault.line == 3 + len(blank)
    assert csv.field_size_limit() == limit, "the limit of the process is as it was"


def test_every_repeated_column_is_named(folder: Path) -> None:
    faults = faults_of(folder, "twice.csv", "x,id,x,id,y\na,b,c,d,e\n")
    assert [(fault.code, fault.line, fault.message) for fault in faults] == [
        ("column-repeated", 0, "the column `id` stands more than once"),
        ("column-repeated", 0, "the column `x` stands more than once"),
    ]


@given(NAMES, st.data(), st.booleans())
def test_what_csv_writes_is_read_back_equal(folder: Path, names: list[str], data: st.DataObject, quoted: bool) -> None:
    cells = st.lists(TEXT, min_size=len(names), max_size=len(names))
    rows = data.draw(st.lists(cells, min_size=1, max_size=6))
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n") if quoted else csv.writer(out)
    writer.writerows([names, *rows])
    manifest = read(folder, "any.csv", out.getvalue(), Format(na=()))
    assert manifest.names == tuple(names)
    assert [list(row) for row in manifest.rows] == rows


@given(st.lists(st.sampled_from(["a,b", "", 'c,"d\ne"', 'f,"\r\n\n"', "g,h"]), min_size=1, max_size=8))
def test_a_row_is_found_on_its_line_whatever_stands_before(folder: Path, pieces: list[str]) -> None:
    if not any(pieces):
        pieces = [*pieces, "a,b"]
    text = "id,label\n" + "\n".join(pieces) + "\n"
    manifest = read(folder, "lines.csv", text)
    wanted, line = [], 2
    for piece in pieces:
        wanted += [line] if piece else []
        line += 1 + piece.replace("\r\n", "\n").count("\n")
    assert [manifest.line(row) for row in range(len(manifest.rows))] == wanted


# --- files that cannot be read


@pytest.mark.parametrize("name", ["clips.txt", "clips", "clips.CSV", "clips.json"])
def test_another_ending_is_refused_before_the_file_is_opened(tmp_path: Path, name: str) -> None:
    with pytest.raises(FaultyFile) as caught:
        read_manifest(tmp_path / name, name, Format())
    (fault,) = caught.value.faults
    assert (fault.file, fault.line, fault.code) == (name, 0, "manifest-unreadable")
    known = "the ending must be one of .csv .tsv .jsonl .parquet .trn .stm .ctm"
    assert fault.message == f"{known}; where it is another, say `format: {{style: …}}`"


def test_a_file_that_is_not_there_is_named_as_the_suite_names_it(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for name, said in (("absent.csv", "No such file"), ("folder.csv", "Is a directory")):
        with pytest.raises(FaultyFile, match=said) as caught:
            read_manifest(tmp_path / name, name, Format())
        (fault,) = caught.value.faults
        assert (fault.file, fault.line, fault.code) == (name, 0, "manifest-unreadable")


# --- real tables


@pytest.mark.realdata
def test_the_meld_test_table_has_its_published_counts(shared: Path) -> None:
    path = shared / "data/meld/test_sent_emo.csv"
    manifest = read_manifest(path, path.name, Format())
    assert len(manifest.rows) == 2610
    assert Counter(manifest.column("Emotion")) == {
        "neutral": 1256,
        "joy": 402,
        "anger": 345,
        "surprise": 281,
        "sadness": 208,
        "disgust": 68,
        "fear": 50,
    }
    assert Counter(manifest.column("Sentiment")) == {"neutral": 1256, "negative": 833, "positive": 521}
    assert len(set(manifest.column("Speaker"))) == 100


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "rows"), [("train", 9989), ("dev", 1109), ("emorynlp_train", 7551), ("emorynlp_test", 984)]
)
def test_the_other_meld_tables_have_their_rows(shared: Path, name: str, rows: int) -> None:
    path = shared / f"data/meld/{name}_{'final' if name.startswith('emory') else 'sent_emo'}.csv"
    assert len(read_manifest(path, path.name, Format()).rows) == rows


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "rows"),
    [("train", 43410), ("dev", 5426), ("test", 5427), ("ekman_dev", 5426), ("ekman_test", 5427)],
)
def test_goemotions_has_no_header_and_quotes_as_csv_does(shared: Path, name: str, rows: int) -> None:
    path = shared / f"data/goemotions/{name}.tsv"
    names = ("text", "labels", "id")
    manifest = read_manifest(path, path.name, Format(header=False, names=names))
    assert len(manifest.rows) == rows
    assert len(set(manifest.column("id"))) == rows
    if name == "test":
        labels = [str(cell).split(",") for cell in manifest.column("labels")]
        assert sum(map(len, labels)) == 6329
        assert sum(len(cell) > 1 for cell in labels) == 837
        texts = [str(text) for text in manifest.column("text")]
        raw = path.read_bytes().decode().splitlines()
        assert sum('"' in line.split("\t")[0] for line in raw) == 149
        assert not any(text.startswith('"') and text.endswith('""') for text in texts)


@pytest.mark.realdata
def test_the_artie_table_keeps_na_as_text(shared: Path) -> None:
    path = shared / "data/artie-bias/artie-bias-corpus.tsv"
    manifest = read_manifest(path, path.name, NO_QUOTES)
    assert len(manifest.rows) == 1712
    assert len(set(manifest.column("client_id"))) == 969
    assert manifest.column("accent").count("NA") == 562


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("seven-languages/train", 10080),
        ("seven-languages/validation", 1120),
        ("seven-languages/test", 2800),
        ("turkish/train", 1790),
        ("turkish/dev", 1611),
        ("turkish/test", 1610),
        ("persian/other", 2102),
        ("persian/validated", 83),
        ("persian/invalidated", 3),
    ],
)
def test_common_voice_tables_have_the_rows_their_readme_states(shared: Path, name: str, rows: int) -> None:
    path = shared / f"data/common-voice-manifests/{name}.tsv"
    manifest = read_manifest(path, path.name, NO_QUOTES)
    assert len(manifest.rows) == rows
    assert [manifest.line(row) for row in (0, rows - 1)] == [2, rows + 1]


@pytest.mark.realdata
def test_the_hand_made_common_voice_table_with_a_column_twice_is_refused(shared: Path) -> None:
    path = shared / "data/common-voice-manifests/english-96/train.tsv"
    with pytest.raises(FaultyFile) as caught:
        read_manifest(path, path.name, NO_QUOTES)
    (fault,) = caught.value.faults
    assert (fault.code, fault.message) == ("column-repeated", "the column `path` stands more than once")
