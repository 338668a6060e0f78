"""Whether the aliases, kinds and seed of the section `observe` go together, and the task can be watched at all."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_speval.errors import Fault
from pytest_speval.suite.label_check import duplicates
from pytest_speval.suite.shape import nearest
from pytest_speval.suite.tree import Items, Keys, Table, entries_of, fault_at, find, text_of
from pytest_speval.suite.vocabulary import TaskWord

SECTION: Keys = ("observe",)


def observe_faults(root: Table, task: TaskWord | None) -> Iterator[Fault]:
    """All faults of `observe` that need several of its keys, or the task."""
    entry = root.entries.get("observe")
    if entry is None:
        return
    if task is not None and not task.observable:
        what = f"the task {task.name} has no use for it: only a scorer of the task mos is watched"
        yield fault_at(entry.key, "superfluous-section", what, SECTION)
    aliases, kinds = find(entry.value, "aliases"), find(entry.value, "kinds")
    if not isinstance(aliases, Items) or not isinstance(kinds, Items):
        return
    yield from duplicates(aliases, (*SECTION, "aliases"))
    known = [text_of(item) or "" for item in aliases.items]
    used = set()
    for place, kind in enumerate(kinds.items):
        keys: Keys = (*SECTION, "kinds", place)
        alias = text_of(find(kind, "alias"))
        used.add(alias)
        if alias is not None and alias not in known:
            yield fault_at(kind, "unknown-alias", f"no alias `{alias}` in observe.aliases{nearest(alias, known)}", keys)
        if "seed" in entries_of(entry.value) and "samples" not in entries_of(kind):
            what = "with observe.seed every kind needs samples: the length of its crops"
            yield fault_at(kind, "missing-key", what, (*keys, "samples"))
    for place, name in enumerate(known):
        if name and name not in used:
            what = f"no kind has the alias `{name}`: say how many crops are expected through it"
            yield fault_at(aliases.items[place], "unknown-alias", what, (*SECTION, "aliases", place))
