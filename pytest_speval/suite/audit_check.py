"""Whether the section `audit` is at one with itself."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_speval.errors import Fault
from pytest_speval.suite.label_check import duplicates
from pytest_speval.suite.shape import nearest
from pytest_speval.suite.tree import Items, Keys, Node, Scalar, entries_of, fault_at, find, text_of


def audit_faults(root: Node) -> Iterator[Fault]:
    """All faults of `audit` that its key model cannot see."""
    against = entries_of(find(root, "audit", "against"))
    needs, keys = find(root, "audit", "needs"), ("audit", "needs")
    for item in needs.items if isinstance(needs, Items) else ():
        name = text_of(item)
        if name is not None and name not in against:
            what = f"audit.against does not say where the inventory `{name}` is{nearest(name, [*against])}"
            yield fault_at(item, "missing-key", f"{what}; write `{name}: unavailable` if it cannot be had", keys)
    yield from duplicates(needs, keys)
    yield from _period(find(root, "audit", "dates", "corpus"), ("audit", "dates", "corpus"))


def _period(node: Node | None, keys: Keys) -> Iterator[Fault]:
    first, last = find(node, "from") if node else None, find(node, "to") if node else None
    if isinstance(first, Scalar) and isinstance(last, Scalar) and first.text > last.text:
        yield fault_at(last, "bad-order", f"the last day {last.text} is before the first, {first.text}", keys)
