"""The tree of a suite file: tables, lists and scalars that know their file, line and column."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pytest_speval.errors import Fault
from pytest_speval.suite.scalars import Kind, Value

Keys = tuple[str | int, ...]

MAX_FAULTS = 100
"""So many faults at most are listed by each pass over a file: nobody reads more, and hints cost time."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where nodes come from: the name shown in messages, and the folder their relative paths start from.

    `lines` is False for the value of an option: its faults have no line and no column.
    """

    shown_as: str
    base: Path
    lines: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """A single value; `value` is None for the ambiguous kinds. `broken`: an alias or a tag, reported already."""

    origin: Origin
    line: int
    column: int
    text: str
    kind: Kind
    value: Value
    broken: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """A list. `broken`: it has a tag, reported already."""

    origin: Origin
    line: int
    column: int
    items: tuple[Node, ...]
    broken: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One key of a table with its value."""

    key: Scalar
    value: Node


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Keys and values in the order of the file. `broken`: a key was refused, so what seems to be missing may not be."""

    origin: Origin
    line: int
    column: int
    entries: dict[str, Entry]
    broken: bool = False


Node = Scalar | Items | Table


@dataclass(slots=True)
class Document:
    """What could be read: the root, None where there is none to go on with, and the faults so far."""

    root: Node | None
    faults: list[Fault] = field(default_factory=list)


def fault_at(node: Node, code: str, message: str, keys: Keys = ()) -> Fault:
    """Make a fault at a node's place."""
    line, column = (node.line, node.column) if node.origin.lines else (0, 0)
    return Fault(node.origin.shown_as, line, column, code, message, keys)


def as_written(node: Node) -> object:
    """The node as plain JSON data: dates and ambiguous scalars as their text."""
    match node:
        case Table():
            return {key: as_written(entry.value) for key, entry in node.entries.items()}
        case Items():
            return [as_written(item) for item in node.items]
        case Scalar(kind="boolean" | "integer" | "real"):
            return node.value
    return node.text


def find(node: Node | None, *keys: str | int) -> Node | None:
    """The value at the end of a path of keys, or None."""
    for key in keys:
        if isinstance(node, Table) and isinstance(key, str) and key in node.entries:
            node = node.entries[key].value
        elif isinstance(node, Items) and isinstance(key, int) and key < len(node.items):
            node = node.items[key]
        else:
            return None
    return node


def entries_of(node: Node | None) -> dict[str, Entry]:
    """The entries of a table; none for anything else."""
    return node.entries if isinstance(node, Table) else {}


def text_of(node: Node | None) -> str | None:
    """The text of a scalar that is text, else None."""
    return node.text if isinstance(node, Scalar) and node.kind == "text" and not node.broken else None


def number_of(node: Node | None) -> float | None:
    """The value of a scalar that is a number, else None."""
    if isinstance(node, Scalar) and isinstance(node.value, int | float) and node.kind != "boolean" and not node.broken:
        return node.value
    return None
