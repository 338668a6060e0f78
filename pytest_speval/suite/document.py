"""From the bytes of one YAML document to its tree.

The tree is built from the parser's events and given up as soon as a limit is passed, so that a small file cannot
become a large tree. Anchors, aliases, tags, merge keys and duplicate keys are faults, never features.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import yaml
from yaml import events as ev

from pytest_speval.errors import Fault
from pytest_speval.suite.scalars import described, resolve
from pytest_speval.suite.tree import MAX_FAULTS, Document, Entry, Items, Keys, Node, Origin, Scalar, Table

MAX_BYTES = 1 << 20
MAX_DEPTH = 50
MAX_NODES = 100_000
TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep"

LOADER: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_file(path: Path, shown_as: str | None = None) -> Document:
    """Read a suite or gate file; it is opened only if it is a regular file and read up to the limit of 1 MiB."""
    origin = Origin(str(path) if shown_as is None else shown_as, path.parent.absolute())
    try:
        if path.exists() and not path.is_file():
            return _refused(origin, "unreadable-file", "is not a regular file")
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        return _refused(origin, "unreadable-file", f"cannot be read: {error.strerror or error}")
    return read_document(data, origin)


def read_document(data: bytes, origin: Origin, keys: Keys = ()) -> Document:
    """Build the tree of one document; `keys` is the path that leads to its root."""
    if len(data) > MAX_BYTES:
        return _refused(origin, "file-too-large", "is larger than 1 MiB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = len(data[data.rfind(b"\n", 0, error.start) + 1 : error.start].decode("utf-8", "replace")) + 1
        message = f"is not UTF-8: byte 0x{data[error.start]:02X}"
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            message = "is UTF-16; save it as UTF-8"
        return _refused(origin, "not-utf8", message, line, column, keys)
    return _Composer(origin, text, keys).document()


def _refused(origin: Origin, code: str, message: str, line: int = 0, column: int = 0, keys: Keys = ()) -> Document:
    if not origin.lines:
        line = column = 0
    return Document(None, [Fault(origin.shown_as, line, column, code, message, keys)])


class _Stop(Exception):
    """A limit was passed or the syntax is broken: nothing after this place is read."""


# What YAML cannot hold, and what some readers take for a line break, so that a comment would end there.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def _place(event: yaml.Event) -> tuple[int, int]:
    mark = event.start_mark
    return (mark.line + 1, mark.column + 1) if mark else (0, 0)


class _Composer:
    def __init__(self, origin: Origin, text: str, keys: Keys) -> None:
        self.origin, self.text, self.keys = origin, text, keys
        self.faults: list[Fault] = []
        self.nodes = 0
        self.anchors: set[str] = set()

    def document(self) -> Document:
        root: Node | None = None
        try:
            self._characters()
            root = self._root(yaml.parse(self.text, Loader=LOADER))
        except _Stop:
            root = None
        except yaml.MarkedYAMLError as error:
            return Document(None, [self._syntax(error)])
        except (yaml.YAMLError, ValueError, OverflowError) as error:
            return _refused(self.origin, "syntax", f"is not YAML: {error}", keys=self.keys)
        return Document(root, self.faults)

    def _characters(self) -> None:
        bad = _FORBIDDEN.search(self.text)
        if bad is None:
            return
        before = self.text[: bad.start()]
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        what = "a byte order mark inside the text" if bad[0] == "\ufeff" else f"the character U+{ord(bad[0]):04X}"
        message = f"{what} may not stand here; inside double quotes write it as an escape"
        self.faults += _refused(self.origin, "forbidden-character", message, line, column, self.keys).faults
        raise _Stop

    def _syntax(self, error: yaml.MarkedYAMLError) -> Fault:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark and self.origin.lines else (0, 0)
        if mark and self._character(mark) == "\t":
            message = "a tab cannot stand here; indent with spaces"
        else:
            message = f"is not YAML: {error.problem}"
            if "maximum nesting depth" in (error.problem or ""):  # libyaml's own limit, met while it looks ahead
                return Fault(self.origin.shown_as, line, column, "too-deep", TOO_DEEP, self.keys)
            start = error.context_mark
            if error.context and start:
                message += f" ({error.context} that begins at line {start.line + 1}, column {start.column + 1})"
        return Fault(self.origin.shown_as, line, column, "syntax", message, self.keys)

    def _character(self, mark: yaml.Mark) -> str:
        line = self.text.splitlines()[mark.line : mark.line + 1]
        return line[0][mark.column : mark.column + 1] if line else ""

    def _root(self, events: Iterator[yaml.Event]) -> Node:
        root: Node | None = None
        for event in events:
            if isinstance(event, ev.DocumentStartEvent):
                if root is not None:
                    self._stop(event, "second-document", "a second document begins here; one file is one document")
            elif isinstance(event, ev.NodeEvent):
                root = self._node(event, events, self.keys, 1)
        if root is None:
            self.faults += _refused(self.origin, "empty-file", "is empty", keys=self.keys).faults
            raise _Stop
        return root

    def _node(self, event: yaml.Event, events: Iterator[yaml.Event], keys: Keys, depth: int) -> Node:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            self._stop(event, "too-many-nodes", f"more than {MAX_NODES:,} values", keys)
        if depth > MAX_DEPTH:
            self._stop(event, "too-deep", TOO_DEEP)
        line, column = _place(event)
        anchor = getattr(event, "anchor", None)
        if isinstance(event, ev.AliasEvent):
            if anchor not in self.anchors:
                self._fault(event, "alias", f"the alias *{anchor} is not allowed; write the value itself", keys)
            return Scalar(self.origin, line, column, f"*{anchor}", "text", None, broken=True)
        if anchor is not None:
            self.anchors.add(anchor)
            self._fault(event, "alias", f"the anchor &{anchor} is not allowed; write the value where it is used", keys)
        tag = getattr(event, "tag", None)
        if tag is not None:
            shown = tag.replace("tag:yaml.org,2002:", "!!")
            self._fault(event, "tag", f"the tag {shown} is not allowed", keys)
        if isinstance(event, ev.SequenceStartEvent):
            return Items(self.origin, line, column, self._items(events, keys, depth), tag is not None)
        if isinstance(event, ev.MappingStartEvent):
            entries, broken = self._entries(events, keys, depth)
            return Table(self.origin, line, column, entries, broken or tag is not None)
        assert isinstance(event, ev.ScalarEvent)
        if event.style == '"' and _SURROGATE.search(event.value):
            self._stop(event, "syntax", "is not YAML: half of a surrogate pair is no character", keys)
        kind, value = resolve(event.value) if not event.style else ("text", event.value)
        return Scalar(self.origin, line, column, event.value, kind, value, tag is not None)

    def _items(self, events: Iterator[yaml.Event], keys: Keys, depth: int) -> tuple[Node, ...]:
        items: list[Node] = []
        while not isinstance(event := next(events), ev.SequenceEndEvent):
            items.append(self._node(event, events, (*keys, len(items)), depth + 1))
        return tuple(items)

    def _entries(self, events: Iterator[yaml.Event], keys: Keys, depth: int) -> tuple[dict[str, Entry], bool]:
        entries: dict[str, Entry] = {}
        broken = False
        while not isinstance(event := next(events), ev.MappingEndEvent):
            key = self._node(event, events, keys, depth + 1)
            inner = (*keys, key.text) if isinstance(key, Scalar) else keys
            plain = isinstance(event, ev.ScalarEvent) and not event.style
            value = self._node(next(events), events, inner, depth + 1)
            if not isinstance(key, Scalar):
                self._fault(event, "non-text-key", "a list or a table cannot be a key", keys)
            elif plain and key.text == "<<":
                self._fault(event, "merge-key", "merge keys are not allowed; write the keys themselves", keys)
            elif key.kind != "text":
                what = f"the key is {described(key.kind, key.text)}; quote it"
                self._fault(event, "non-text-key", what, keys)
            elif key.text in entries:
                first = entries[key.text].key
                what = f"duplicate key, first given at line {first.line}, column {first.column}"
                self._fault(event, "duplicate-key", what, inner)
                continue
            elif not key.broken:
                entries[key.text] = Entry(key, value)
                continue
            broken = True
        return entries, broken

    def _fault(self, event: yaml.Event, code: str, message: str, keys: Keys = ()) -> None:
        line, column = _place(event) if self.origin.lines else (0, 0)
        self.faults.append(Fault(self.origin.shown_as, line, column, code, message, keys))
        if len(self.faults) >= MAX_FAULTS:
            raise _Stop

    def _stop(self, event: yaml.Event, code: str, message: str, keys: Keys = ()) -> None:
        self._fault(event, code, message, keys)
        raise _Stop
