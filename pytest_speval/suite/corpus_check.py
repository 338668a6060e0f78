"""Whether the section `corpus` is at one with itself and with what the task needs."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from pytest_speval.errors import Fault
from pytest_speval.suite.corpus_keys import AXES, ENDINGS, TABLES, TRANSCRIPTS
from pytest_speval.suite.label_check import duplicates
from pytest_speval.suite.tree import (
    Entry,
    Items,
    Keys,
    Node,
    Scalar,
    entries_of,
    fault_at,
    find,
    number_of,
    text_of,
)
from pytest_speval.suite.vocabulary import TaskWord

UNITS = ("speaker", "session", "family")
_LISTS = ("id_from", *UNITS)
_OF_TABLES = ("delimiter", "quoting", "na", "header", "names")
_NO_DEFAULT = ("id_from", "audio_from", *AXES)


def corpus_faults(root: Node, task: TaskWord | None) -> Iterator[Fault]:
    """All faults of `corpus` that its key model cannot see."""
    yield from _columns(root, task)
    yield from _format(root)
    for name, entry in entries_of(find(root, "corpus", "exclude")).items():
        if not re.fullmatch(r"[^/]+/.+", name, re.DOTALL):
            what = "name the clip as split/id, for example test/dia38_utt4"
            yield fault_at(entry.key, "bad-clip-name", what, ("corpus", "exclude", name))
    yield from ordered(find(root, "corpus", "audio", "seconds"), ("corpus", "audio", "seconds"))


def may_exist(root: Node, role: str) -> bool:
    """Whether a role has a column, or may turn out to have one of its own name."""
    if role in entries_of(find(root, "corpus", "columns")):
        return True
    names = find(root, "corpus", "format", "names") if _headless(root) else None
    named = {text_of(item) for item in names.items} if isinstance(names, Items) else {role}
    return role not in _NO_DEFAULT and role in named


def ordered(node: Node | None, keys: Keys) -> Iterator[Fault]:
    """The fault of a pair whose first number is not below its second."""
    if not isinstance(node, Items) or len(node.items) != 2:
        return
    low, high = map(number_of, node.items)
    if low is not None and high is not None and low >= high:
        yield fault_at(node, "bad-order", f"the first number must be below the second, got {low:g} and {high:g}", keys)


def _columns(root: Node, task: TaskWord | None) -> Iterator[Fault]:
    keys: Keys = ("corpus", "columns")
    columns = entries_of(find(root, *keys))
    for role in ("id", "audio"):
        if role in columns and f"{role}_from" in columns:
            what = f"give {role} or {role}_from, not both"
            yield fault_at(columns[f"{role}_from"].key, "contradiction", what, (*keys, f"{role}_from"))
    for role in _LISTS:
        yield from duplicates(find(root, *keys, role), (*keys, role))
    for role in (*AXES, "rating"):
        yield from ordered(find(root, *keys, role, "range"), (*keys, role, "range"))
    template = find(root, *keys, "audio_from")
    text = text_of(template)
    if template is not None and text is not None and not _is_template(text):
        what = "write column names in braces, for example dia{Dialogue_ID}_utt{Utterance_ID}.wav"
        yield fault_at(template, "bad-template", what, (*keys, "audio_from"))
    corpus = entries_of(root).get("corpus")
    voted = {"label"} if "votes" in entries_of(root) else set()
    for group in task.required if task and corpus else ():
        if not voted & set(group) and not any(may_exist(root, role) for role in group):
            yield _missing(task, corpus, group)


def _missing(task: TaskWord | None, corpus: Entry | None, group: tuple[str, ...]) -> Fault:
    assert task is not None
    assert corpus is not None
    which = f"the column {group[0]}" if len(group) == 1 else f"one of the columns {', '.join(group)}"
    return fault_at(corpus.key, "missing-column", f"the task {task.name} needs {which}", ("corpus", "columns"))


def _is_template(text: str) -> bool:
    rest, places = re.subn(r"(?<!\$)\{[^{}]+\}", "", text)
    return places > 0 and not re.search(r"[{}]", re.sub(r"\$\{[^{}]*\}", "", rest))


def _headless(root: Node) -> bool:
    header = find(root, "corpus", "format", "header")
    return isinstance(header, Scalar) and header.value is False


def _format(root: Node) -> Iterator[Fault]:
    keys: Keys = ("corpus", "format")
    given = entries_of(find(root, *keys))
    manifest = find(root, "corpus", "manifest")
    name = text_of(manifest) or ""
    ending = name.rpartition(".")[2]
    style = text_of(find(root, *keys, "style")) or (ending if ending in TRANSCRIPTS else None)
    if manifest is not None and name and style is None and ending not in ENDINGS and not name.endswith("}"):
        endings = ", ".join(f".{known}" for known in ENDINGS[:-1])
        what = f"expected a file that ends in {endings} or .{ENDINGS[-1]}, got the text `{name}`"
        yield fault_at(
            manifest, "bad-value", f"{what}; where it ends otherwise, say format.style", ("corpus", "manifest")
        )
    for key in _OF_TABLES if style is not None and style not in TABLES else ():
        if key in given:
            what = f"{key} is for tables, and a file of the style {style} is none"
            yield fault_at(given[key].key, "contradiction", what, (*keys, key))
    headless = _headless(root)
    if headless and "names" not in given:
        yield fault_at(
            given["header"].key, "contradiction", "without a header the columns need names", (*keys, "header")
        )
    if "names" in given and not headless:
        what = "names go with header: false; with a header the file has its own"
        yield fault_at(given["names"].key, "contradiction", what, (*keys, "names"))
    yield from duplicates(find(root, *keys, "names"), (*keys, "names"))
    encoding = find(root, *keys, "encoding")
    text = text_of(encoding)
    if encoding is not None and text is not None:
        try:
            codecs.lookup(text)
        except (LookupError, ValueError):
            yield fault_at(encoding, "unknown-encoding", f"no text encoding `{text}`", (*keys, "encoding"))
