"""What a cell of a cohort's column says, and why it says nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus.cohorts import CohortRule, Group
from pytest_speval.corpus.listing import Listing, list_columns
from pytest_speval.corpus.manifest import Format, read_manifest
from pytest_speval.errors import FaultyFile
from tests.unit.corpus.test_staging import staged, suite_of, write

MISSING = {"": "unavailable", "n/a": "not-asked", "-": "declined"}
RULE = CohortRule("accent", "|", MISSING)


@pytest.mark.parametrize(
    ("cell", "groups"),
    [
        ("us", ["us"]),
        ("us|gb", ["gb", "us"]),
        ("us | gb|us||", ["gb", "us"]),
        (("us", "gb", "us"), ["gb", "us"]),
        (("us|gb",), ["us|gb"]),
        ("us|n/a", ["us"]),
        ("(unknown label)", ["(unknown label)"]),
        ("N/A", ["N/A"]),
    ],
)
def test_a_cell_names_each_group_once_in_order(cell: Any, groups: list[str]) -> None:
    assert [group.value for group in RULE.groups(cell)] == groups
    assert {group.why for group in RULE.groups(cell)} == {None}


@pytest.mark.parametrize(
    ("cell", "why"),
    [(None, "unavailable"), ("", "unavailable"), ((), "unavailable"), ("n/a", "not-asked"), ("-", "declined"),
     ("|", "unavailable"), (" | -|n/a", "declined"), (("n/a",), "not-asked")],
)  # fmt: skip
def test_a_cell_that_names_no_group_says_why(cell: Any, why: str) -> None:
    assert RULE.groups(cell) == (Group(None, why),)


def test_what_is_simply_not_there_is_unavailable_unless_the_suite_says_else() -> None:
    assert CohortRule("accent").groups(None) == (Group(None, "unavailable"),)
    assert CohortRule("accent", missing={"": "not-asked"}).groups(None) == (Group(None, "not-asked"),)
    assert CohortRule("accent").groups("n/a") == (Group("n/a"),), "a word is a name where nobody says otherwise"


def test_without_a_separator_a_cell_is_a_name_as_it_stands() -> None:
    assert CohortRule("accent").groups(" us|gb ") == (Group(" us|gb "),)


def test_a_missing_group_is_no_string() -> None:
    missing = Group(None, "declined")
    assert missing.as_dict() == {"kind": "missing", "value": None, "why": "declined"}
    assert Group("declined").as_dict() == {"kind": "named", "value": "declined", "why": None}
    assert str(Group("no group: declined")) != str(missing)
    ordered = sorted([missing, Group("us"), Group(None, "invalid"), Group("gb")], key=lambda group: group.rank)
    assert ordered == [Group("gb"), Group("us"), missing, Group(None, "invalid")]


@given(st.lists(st.text(st.characters(exclude_characters="|", exclude_categories=["Cs"]), min_size=1), min_size=1))
def test_any_names_are_read_back_from_a_list(names: list[str]) -> None:
    rule = CohortRule("accent")
    assert [group.value for group in rule.groups(tuple(names))] == sorted(set(names))


def cells_of(folder: Path, content: str, cohort: Any, **corpus: Any) -> list[Any]:
    suite = suite_of(folder, {"columns": {"cohorts": {"accent": cohort}}} | corpus)
    write(folder, content, corpus.get("manifest", "clips.csv"))
    return staged(suite).clips.cells["cohort.accent"]


def test_words_that_mean_something_are_not_swallowed_as_missing(tmp_path: Path) -> None:
    content = "id,label,a\n1,happy,n/a\n2,happy,-\n3,happy,\n4,happy,NA\n5,happy,us\n"
    cohort = {"column": "a", "missing": {"n/a": "not-asked", "-": "declined", "": "invalid"}}
    cells = cells_of(tmp_path, content, cohort, format={"na": ["", "n/a", "-", "NA"]})
    assert cells == ["n/a", "-", None, None, "us"]
    assert cells_of(tmp_path, content, "a", format={"na": ["", "n/a", "-", "NA"]}) == [None] * 4 + ["us"]


def test_a_cell_of_json_lines_may_be_a_list(tmp_path: Path) -> None:
    lines = ['{"id": "1", "label": "happy", "a": ["us", "gb", "us"]}', '{"id": "2", "label": "happy", "a": []}',
             '{"id": "3", "label": "happy", "a": null}', '{"id": "4", "label": "happy", "a": "us"}']  # fmt: skip
    cells = cells_of(tmp_path, "\n".join(lines), "a", manifest="clips.jsonl")
    assert cells == [("gb", "us"), (), None, "us"]


@pytest.mark.parametrize("cell", ['[["us"]]', '["us", ""]', '["us", null]', '["us", 3]', "3", '{"us": 1}', '""'])
def test_what_is_no_flat_list_of_names_is_refused(tmp_path: Path, cell: str) -> None:
    line = f'{{"id": "1", "label": "happy", "a": {cell}}}'
    with pytest.raises(FaultyFile) as caught:
        cells_of(tmp_path, line, "a", manifest="clips.jsonl")
    (fault,) = caught.value.faults
    assert (fault.line, fault.code) == (1, "cell-type")


def test_parquet_may_hold_lists_too(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    path = tmp_path / "clips.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"id": ["1", "2"], "a": [["us", "gb"], None]}), path)
    manifest = read_manifest(path, path.name, Format(), lists=["a"])
    assert manifest.cells("a") == [("gb", "us"), None]
    with pytest.raises(FaultyFile):
        read_manifest(path, path.name, Format())


def test_a_column_that_plays_another_role_too_holds_no_lists() -> None:
    roles = {"cohort.accent": ("a",), "cohort.age": ("b",), "label": ("b",), "condition.device": ("c",)}
    assert list_columns(Listing(roles)) == {"a"}
    assert list_columns(Listing(roles, where={"a": ("us",)})) == frozenset()
