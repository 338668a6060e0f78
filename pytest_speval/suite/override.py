"""Values of a suite that are given on the command line: `meld.adapter.model=PATH`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from pytest_speval.errors import Fault, UsageFault
from pytest_speval.suite.document import read_document
from pytest_speval.suite.tree import Document, Entry, Node, Origin, Scalar, Table

OPTION = "--speval-set"


@dataclass(frozen=True, slots=True)
class Override:
    """A path of keys, the text of the value, and the folder from which its relative paths start.

    A key that contains dots is found when it exists already; a new one has to be set through its parent.
    """

    path: tuple[str, ...]
    value_text: str
    base: Path

    def text(self, suite: str) -> str:
        """The override as it was typed."""
        return f"{suite}.{'.'.join(self.path)}={self.value_text}"


def parse_override(text: str, base: Path) -> tuple[str, Override]:
    """Split `SUITE.KEY.KEY=VALUE` into the suite's name and the override.

    The value is read later, with the suite, so that its faults are listed together with the suite's. Raises
    UsageFault `override-form`.
    """
    left, equals, value = text.partition("=")
    suite, *path = left.split(".")
    if not equals or not path or not all((suite, *path)):
        raise UsageFault("override-form", f"{OPTION} {text}: expected SUITE.KEY=VALUE, for example meld.run.batch=8")
    return suite, Override(tuple(path), value, base.absolute())


def overridden(root: Table, suite: str, override: Override) -> tuple[Table, list[Fault]]:
    """The tree with one value added or replaced, or the tree as it was with the faults of the override."""
    origin = Origin(f"{OPTION} {override.text(suite)}", override.base, lines=False)
    if override.path[0] == "suite":
        what = "a suite cannot be renamed here: its name is how the option finds it"
        return root, [_fault(origin, "override-path", what, override.path)]
    document = read_value(override, origin)
    if document.root is None:
        return root, document.faults
    changed = _placed(root, override.path, document.root)
    if isinstance(changed, tuple):
        what = "is no table of keys; set it as a whole"
        return root, [_fault(origin, "override-path", what, changed)]
    return changed, document.faults


def read_value(override: Override, origin: Origin) -> Document:
    """The tree of an override's value."""
    return read_document(override.value_text.encode("utf-8", "surrogateescape"), origin, override.path)


def _placed(table: Table, path: tuple[str, ...], value: Node) -> Table | tuple[str, ...]:
    """The table with the value in its place; or the path to what stands in its way."""
    cut = next((n for n in range(len(path), 1, -1) if ".".join(path[:n]) in table.entries), 1)
    name, rest = ".".join(path[:cut]), path[cut:]
    entry = table.entries.get(name)
    key = entry.key if entry and rest else Scalar(value.origin, 1, 1, name, "text", name)
    if rest:
        inner = entry.value if entry else Table(value.origin, 1, 1, {})
        changed = _placed(inner, rest, value) if isinstance(inner, Table) else ()
        if isinstance(changed, tuple):
            return (name, *changed)
        value = changed
    return replace(table, entries=table.entries | {name: Entry(key, value)})


def _fault(origin: Origin, code: str, message: str, path: tuple[str, ...]) -> Fault:
    return Fault(origin.shown_as, 0, 0, code, message, path)
