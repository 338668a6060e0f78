from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
import yaml

from pytest_speval.suite import document
from pytest_speval.suite.document import MAX_BYTES, MAX_DEPTH, MAX_NODES, read_document, read_file
from pytest_speval.suite.tree import MAX_FAULTS, Document, Origin, Scalar, as_written, entries_of, find

from .words import HERE

ORIGIN = Origin("x.yaml", Path("/suites"))


def read(text: str | bytes) -> Document:
    return read_document(text.encode() if isinstance(text, str) else text, ORIGIN)


def plain(text: str | bytes) -> object:
    found = read(text)
    assert found.root is not None
    assert not found.faults
    return as_written(found.root)


def codes(found: Document) -> list[str]:
    return [fault.code for fault in found.faults]


@pytest.fixture(params=["CSafeLoader", "SafeLoader"])
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(yaml, request.param):
        pytest.skip("PyYAML has no libyaml here")
    monkeypatch.setattr(document, "LOADER", getattr(yaml, request.param))


@pytest.mark.usefixtures("loader")
def test_nodes_know_their_line_and_column_in_characters() -> None:
    root = read("# ü\nä: x\nb:\n  - 'ö': {c: 1}\n").root
    entry = entries_of(root)["ä"]
    assert (entry.key.line, entry.key.column, entry.value.line, entry.value.column) == (2, 1, 2, 4)
    node = find(root, "b", 0, "ö", "c")
    assert isinstance(node, Scalar)
    assert (node.line, node.column, node.value) == (4, 14, 1)


@pytest.mark.usefixtures("loader")
def test_quotes_make_text_of_anything() -> None:
    assert plain("- \"1\"\n- 'yes'\n- ''\n- |-\n  12\n") == ["1", "yes", "", "12"]


@pytest.mark.usefixtures("loader")
def test_a_byte_order_mark_at_the_start_is_skipped() -> None:
    found = read(b"\xef\xbb\xbfa: 1\n")
    assert plain(b"\xef\xbb\xbfa: 1\n") == {"a": 1}
    assert entries_of(found.root)["a"].key.column == 1


@pytest.mark.usefixtures("loader")
def test_line_ends_of_other_systems_are_the_same() -> None:
    assert plain("a: 1\r\nb: [x,\r\n y]\r\n") == {"a": 1, "b": ["x", "y"]}


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "[{a: "])
def test_depth_is_limited(opening: str) -> None:
    levels = opening.count("[") + opening.count("{") + opening.count("- ")
    assert codes(read(opening * (MAX_DEPTH // levels + 1))) == ["too-deep"]


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 100_000, "x: " + "[" * 100_000])
def test_a_file_of_brackets_is_too_deep(text: str) -> None:
    assert codes(read(text)) == ["too-deep"]


@pytest.mark.usefixtures("loader")
def test_the_limits_themselves_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_NODES == 100_000
    deepest = MAX_DEPTH - 1
    assert not read("[" * deepest + "x" + "]" * deepest).faults
    monkeypatch.setattr(document, "MAX_NODES", 1000)
    assert not read("[" + "a," * 999 + "]").faults
    assert codes(read("[" + "a," * 1000 + "]")) == ["too-many-nodes"]
    padding = b"#" * (MAX_BYTES - 5)
    assert not read(b"a: 1\n" + padding).faults
    assert codes(read(b"a: 1\n" + padding + b"#")) == ["file-too-large"]


def test_a_larger_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    with (tmp_path / "x.yaml").open("wb") as stream:
        stream.truncate(1 << 40)
    assert codes(read_file(tmp_path / "x.yaml")) == ["file-too-large"]


@pytest.mark.usefixtures("loader")
def test_an_alias_bomb_stays_small() -> None:
    data = (HERE / "mutations" / "alias_bomb.yaml").read_bytes()
    tracemalloc.start()
    found = read(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert set(codes(found)) == {"alias"}
    assert peak < 2 << 20


@pytest.mark.usefixtures("loader")
def test_faults_without_end_are_cut_off() -> None:
    found = read("[" + "*a," * 5000 + "]")
    assert found.root is None
    assert codes(found) == ["alias"] * MAX_FAULTS


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize("text", ['a: "\\ud800"', 'a: "\\uDFFF x"', 'a: "\\U00110000"'])
def test_escapes_that_are_no_character_are_refused(text: str) -> None:
    assert codes(read(text)) == ["syntax"]


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize("character", ["\x85", "\u2028", "\u2029", "\x00", "\x1b", "\x7f", "\ufeff"])
def test_hidden_line_breaks_and_controls_are_refused(character: str) -> None:
    """A remark would end at U+0085 or U+2028 for some readers, and what follows would be a key."""
    found = read(f"a: 1\n# x{character}b: 2\n")
    assert codes(found) == ["forbidden-character"]
    assert (found.faults[0].line, found.faults[0].column) == (2, 4)


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(
    "text", ["a: !str x", "a: ! x", "a: !!seq [x]", "!!map {a: x}", "%TAG !e! tag:x,2000:\n---\na: !e!y x"]
)
def test_tags_are_refused(text: str) -> None:
    assert codes(read(text)) == ["tag"]


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize("key", ["1", "1.5", "no", "~", "2026-01-01", "012", "[a]", "{a: b}", "? "])
def test_keys_are_text(key: str) -> None:
    assert codes(read(f"a: 1\n{key}: 2\n" if key != "? " else "a: 1\n? \n: 2\n")) == ["non-text-key"]


@pytest.mark.usefixtures("loader")
def test_only_the_plain_word_is_a_merge_key() -> None:
    assert codes(read("<<: {a: 1}")) == ["merge-key"]
    assert not read("'<<': {a: 1}").faults
