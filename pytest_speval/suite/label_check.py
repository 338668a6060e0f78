"""Whether the section `labels` is at one with itself: every rule must lead into the set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from pytest_speval.errors import Fault
from pytest_speval.suite.shape import nearest
from pytest_speval.suite.tree import (
    Entry,
    Items,
    Keys,
    Node,
    Table,
    entries_of,
    fault_at,
    find,
    text_of,
)

ABSTAIN = "abstain"
"""What an answer may be mapped to beside the names of the set."""


def declared(root: Node) -> tuple[str, ...] | None:
    """The names of the set, or None where it cannot be read."""
    node = find(root, "labels", "set")
    names = [text_of(item) for item in node.items] if isinstance(node, Items) else [None]
    return tuple(name for name in names if name is not None) if None not in names else None


def label_faults(root: Node, projections: Mapping[str, tuple[str, ...]]) -> Iterator[Fault]:
    """All faults of `labels` that its key model cannot see."""
    section = find(root, "labels")
    yield from duplicates(find(section, "set"), ("labels", "set"))
    for place, item in _items(find(section, "set")):
        if text_of(item) == ABSTAIN:
            what = "`abstain` stands for an answer without a choice and cannot be a label"
            yield fault_at(item, "reserved-label", what, ("labels", "set", place))
    names = declared(root)
    if names is None:
        return
    yield from _targets(find(section, "reference"), ("labels", "reference"), names)
    yield from _targets(find(section, "answers"), ("labels", "answers"), (*names, ABSTAIN))
    dropped = {text_of(item) for _, item in _items(find(section, "drop"))}
    for name, entry in entries_of(find(section, "reference")).items():
        if name in dropped:
            what = "is dropped by labels.drop before this rule can act"
            yield fault_at(entry.key, "contradiction", what, ("labels", "reference", name))
    yield from _projection(find(section, "projection"), names, projections)


def duplicates(node: Node | None, keys: Keys) -> Iterator[Fault]:
    """Texts that stand twice in a list."""
    seen: set[str] = set()
    for place, item in _items(node):
        text = text_of(item)
        if text is not None and text in seen:
            yield fault_at(item, "duplicate-value", f"`{text}` stands in the list already", (*keys, place))
        seen |= {text} if text is not None else set()


def _items(node: Node | None) -> list[tuple[int, Node]]:
    return list(enumerate(node.items)) if isinstance(node, Items) else []


def _targets(node: Node | None, keys: Keys, allowed: tuple[str, ...]) -> Iterator[Fault]:
    known = frozenset(allowed)
    for name, entry in entries_of(node).items():
        target = text_of(entry.value)
        if target is not None and target not in known:
            what = f"`{target}` is not in labels.set{nearest(target, allowed)}"
            yield fault_at(entry.value, "outside-set", what, (*keys, name))


def _projection(
    node: Node | None, names: tuple[str, ...], projections: Mapping[str, tuple[str, ...]]
) -> Iterator[Fault]:
    keys: Keys = ("labels", "projection")
    name = text_of(node)
    if node is not None and name is not None:
        if name not in projections:
            what = f"no projection `{name}`{nearest(name, [*projections])}"
            yield fault_at(node, "unknown-projection", what, keys)
        elif not set(projections[name]) & set(names):
            what = f"{name} yields {', '.join(projections[name])}, and labels.set has none of them"
            yield fault_at(node, "outside-set", what, keys)
    elif isinstance(node, Table) and isinstance(find(node, "rows"), Table):
        yield from duplicates(find(node, "axes"), (*keys, "axes"))
        for label, row in entries_of(find(node, "rows")).items():
            yield from _row(label, row, node, names)
    elif isinstance(node, Table) and not isinstance(find(node, "axes"), Items):
        yield from _targets(node, keys, names)


def _row(label: str, row: Entry, projection: Table, names: tuple[str, ...]) -> Iterator[Fault]:
    keys: Keys = ("labels", "projection", "rows", label)
    if label not in names:
        near = get_close_matches(label, names, n=1)
        hint = f", did you mean `{near[0]}`?" if near else ""
        yield fault_at(row.key, "outside-set", f"`{label}` is not in labels.set{hint}", keys)
    axes = find(projection, "axes")
    if isinstance(axes, Items) and isinstance(row.value, Items) and len(row.value.items) != len(axes.items):
        what = f"needs one weight for each of the {len(axes.items)} axes, got {len(row.value.items)}"
        yield fault_at(row.value, "bad-value", what, keys)
