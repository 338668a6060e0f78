"""Records of JSON Lines and Parquet are strings, null, or a fault of their line."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_speval.corpus.manifest import Format
from tests.unit.corpus.manifests import fault_of, faults_of, read

SEPARATORS = "\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e"
"""What `str.splitlines` takes for a line's end, and a manifest does not."""
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"))


def table(columns: dict[str, Any]) -> bytes:
    import pyarrow
    import pyarrow.parquet

    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.table(columns), sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data


# --- JSON Lines (H51)


def test_h51_only_a_line_feed_ends_a_record(folder: Path) -> None:
    content = '{"id": "a", "text": "one\u2028two"}\n{"id": "b", "text": "three"}\n'
    assert len(content.splitlines()) == 3, "what others would read"
    assert read(folder, "sep.jsonl", content).column("text") == ["one\u2028two", "three"]


@given(st.lists(st.tuples(TEXT.filter(bool), st.text(alphabet="ab" + SEPARATORS, min_size=1)), min_size=1, max_size=6))
@example([(character, f"a{character}b") for character in SEPARATORS])
def test_h51_json_lines_keep_every_record_and_its_text(folder: Path, records: list[tuple[str, str]]) -> None:
    for end in ("\n", "\r\n"):
        content = end.join(json.dumps({"id": name, "text": text}, ensure_ascii=False) for name, text in records)
        manifest = read(folder, "any.jsonl", content)
        assert list(zip(manifest.column("id"), manifest.column("text"), strict=True)) == records
        assert [manifest.line(row) for row in range(len(records))] == list(range(1, len(records) + 1))


def test_records_may_lack_keys_and_null_is_missing(folder: Path) -> None:
    manifest = read(folder, "gaps.jsonl", '{"id": "a", "label": null}\n\n{"speaker": "s", "id": "b"}\n')
    assert manifest.names == ("id", "label", "speaker")
    assert manifest.column("label") == [None, None]
    assert manifest.column("speaker") == [None, "s"]
    assert [manifest.line(row) for row in range(2)] == [1, 3]


def test_words_of_na_are_text_in_json_lines(folder: Path) -> None:
    assert read(folder, "na.jsonl", '{"id": "NA"}\n', Format(na=("", "NA"))).column("id") == ["NA"]


def test_a_cell_of_json_lines_that_is_no_string_is_a_fault_of_its_line(folder: Path) -> None:
    lines = ['{"id": 7}', '{"id": true}', '{"id": ""}', '{"id": ["a"]}', '{"id": NaN}', '{"id": "fine"}']
    faults = faults_of(folder, "types.jsonl", "\n".join(lines))
    assert {fault.code for fault in faults} == {"cell-type"}
    assert [(fault.line, fault.message) for fault in faults] == [
        (1, "`id` is the number 7 where a string is wanted; quote it"),
        (2, "`id` is true where a string is wanted"),
        (3, "`id` is an empty string; write null for a missing cell"),
        (4, '`id` is ["a"] where a string is wanted'),
        (5, "`id` is NaN where a string is wanted"),
    ]


@pytest.mark.parametrize("literal", ["1.50", "1e3", "-0", "123456789012345678901234567890", "0.1000"])
def test_a_number_is_kept_as_it_is_written(folder: Path, literal: str) -> None:
    content = f'{{"id": "a", "seconds": {literal}}}\n'
    assert read(folder, "numbers.jsonl", content, numeric=["seconds"]).column("seconds") == [literal]
    assert fault_of(folder, "numbers.jsonl", content).code == "cell-type"


@pytest.mark.parametrize("value", ["true", "NaN", '""', '["a"]'])
def test_what_is_no_number_is_refused_where_numbers_stand(folder: Path, value: str) -> None:
    fault = fault_of(folder, "numbers.jsonl", f'{{"id": "a", "seconds": {value}}}\n', numeric=["seconds"])
    assert (fault.code, fault.line) == ("cell-type", 1)
    assert fault.message == f"`seconds` is {value} where a number is wanted"


def test_columns_that_nobody_asks_for_may_hold_anything(folder: Path) -> None:
    content = '{"id": "a", "votes": 2, "tags": ["x", "y"], "note": "", "ok": true, "none": null}\n'
    manifest = read(folder, "more.jsonl", content, texts=["id"])
    assert list(manifest.rows[0]) == ["a", "2", '["x", "y"]', "", "true", None]
    assert fault_of(folder, "more.jsonl", content, texts=["id", "votes"]).message.startswith("`votes` is the number 2")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "not a JSON object: "),
        ("[1]", "not a JSON object: it is "),
        ('"a"', 'not a JSON object: it is "a"'),
        ("7", "not a JSON object: it is 7"),
        ('{"id": "a", "id": "b"}', "a key stands twice"),
        ('{"id": "a"} {"id": "b"}', "Extra data"),
        ('{"id": "tab\tin a string"}', "Invalid control character"),
        ('{"id": "\\ud800"}', "surrogates not allowed"),
        ('{"\\udc00": "a"}', "surrogates not allowed"),
        ("[" * 100_000, "recursion"),
    ],
    ids=lambda text: text[:24],
)
def test_a_line_that_is_no_json_object_is_named(folder: Path, line: str, said: str) -> None:
    fault = fault_of(folder, "bad.jsonl", f'{{"id": "fine"}}\n\n{line}\n')
    assert (fault.code, fault.line) == ("manifest-syntax", 3)
    assert fault.message.startswith("not a JSON object: ")
    assert said in fault.message
    str(fault).encode()


def test_a_pair_of_surrogates_is_one_character(folder: Path) -> None:
    assert read(folder, "pair.jsonl", '{"id": "\\ud83d\\ude00"}\n').column("id") == ["\U0001f600"]


def test_all_faults_of_json_lines_are_listed_at_once(folder: Path) -> None:
    faults = faults_of(folder, "many.jsonl", '{"id": 1}\nnope\n{"id": "a"}\n{"id": 2}\n')
    assert [(fault.line, fault.code) for fault in faults] == [
        (1, "cell-type"),
        (2, "manifest-syntax"),
        (4, "cell-type"),
    ]


# --- Parquet


def test_parquet_holds_the_same_strings(folder: Path) -> None:
    manifest = read(folder, "a.parquet", table({"id": ["007", "08"], "label": ["NA", None]}))
    assert manifest.names == ("id", "label")
    assert [list(row) for row in manifest.rows] == [["007", "NA"], ["08", None]]


def test_parquet_numbers_are_numbers_only_where_they_are_wanted(folder: Path) -> None:
    data = table({"id": ["a", "b", "c"], "seconds": [1.5, None, 2.25], "count": [1, 2, 3]})
    manifest = read(folder, "n.parquet", data, numeric=["seconds"], texts=["id"])
    assert manifest.column("seconds") == ["1.5", None, "2.25"]
    assert manifest.column("count") == ["1", "2", "3"]
    faults = faults_of(folder, "n.parquet", data, numeric=["seconds"])
    assert [(fault.code, fault.line) for fault in faults] == [
        ("cell-type", 1),
        ("cell-type", 2),
        ("cell-type", 3),
    ]
    decimals = table({"id": ["a"], "seconds": [Decimal("1.50")]})
    assert read(folder, "n.parquet", decimals, numeric=["seconds"]).column("seconds") == ["1.50"]


def test_parquet_values_that_json_lacks_are_a_fault_where_a_string_is_wanted(folder: Path) -> None:
    data = table({"id": ["a", ""], "raw": [b"x", b"y"], "day": [date(2026, 1, 2), None]})
    assert [fault.line for fault in faults_of(folder, "v.parquet", data, texts=["id"])] == [2]
    faults = faults_of(folder, "v.parquet", data)
    assert {(fault.line, fault.code, fault.message.split("`")[1]) for fault in faults} == {
        (1, "cell-type", "raw"),
        (2, "cell-type", "raw"),
        (1, "cell-type", "day"),
        (2, "cell-type", "id"),
    }


def test_parquet_columns_of_one_name_are_named(folder: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    sink = pyarrow.BufferOutputStream()
    columns = [pyarrow.array(["a"]), pyarrow.array(["b"])]
    pyarrow.parquet.write_table(pyarrow.table(columns, names=["id", "id"]), sink)
    fault = fault_of(folder, "twice.parquet", sink.getvalue().to_pybytes())
    assert (fault.code, fault.message) == ("column-repeated", "the column `id` stands more than once")


def test_folder_names_add_no_columns_to_parquet(folder: Path) -> None:
    (folder / "lang=en").mkdir(exist_ok=True)
    manifest = read(folder, "lang=en/a.parquet", table({"id": ["a"]}))
    assert manifest.names == ("id",)


def test_parquet_that_is_none_and_parquet_without_rows(folder: Path) -> None:
    fault = fault_of(folder, "no.parquet", b"id,label\na,b\n")
    assert (fault.code, fault.line) == ("manifest-unreadable", 0)
    assert fault.message.startswith("not a Parquet file: ")
    import pyarrow

    empty = table({"id": pyarrow.array([], pyarrow.string())})
    assert fault_of(folder, "e.parquet", empty).code == "no-rows"
