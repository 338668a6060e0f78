"""Whether the sections `votes` and `select` are at one with themselves and with what the task needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_speval.errors import Fault
from pytest_speval.suite.choice_keys import CAPS
from pytest_speval.suite.corpus_check import may_exist
from pytest_speval.suite.label_check import duplicates
from pytest_speval.suite.shape import nearest
from pytest_speval.suite.tree import Entry, Items, Keys, Node, Table, entries_of, fault_at, find, text_of
from pytest_speval.suite.vocabulary import TaskWord


def choice_faults(root: Node, task: TaskWord | None) -> Iterator[Fault]:
    """All faults of `votes` and `select` that their key models cannot see."""
    given = entries_of(root)
    if "votes" in given:
        yield from _votes(root, given["votes"], task)
    if "select" in given:
        yield from _select(root, given["select"], task)


def _votes(root: Node, votes: Entry, task: TaskWord | None) -> Iterator[Fault]:
    if task is not None and not task.labelled:
        yield fault_at(votes.key, "superfluous-section", f"the task {task.name} has no use for it", ("votes",))
        return
    options = _texts(find(votes.value, "options"))
    for name in ("options", "targets"):
        yield from duplicates(find(votes.value, name), ("votes", name))
    for place, target in enumerate(_texts(find(votes.value, "targets"))):
        node = find(votes.value, "targets", place)
        if options and node is not None and target is not None and target not in options:
            yield fault_at(node, "bad-value", _no_option(target, options), ("votes", "targets", place))
    yield from _counts(votes.value, [option for option in options if option is not None])
    label = entries_of(find(root, "corpus", "columns")).get("label")
    if label is not None:
        what = "the reference comes from votes: leave out the column, or the section votes"
        yield fault_at(label.key, "contradiction", what, ("corpus", "columns", "label"))


def _counts(votes: Node, options: list[str]) -> Iterator[Fault]:
    keys: Keys = ("votes", "columns")
    columns = entries_of(find(votes, *keys[1:]))
    counts = entries_of(columns["counts"].value) if "counts" in columns else {}
    if not counts:
        return
    seen: set[str] = set()
    for option, entry in counts.items():
        column = text_of(entry.value)
        if options and option not in options:
            yield fault_at(entry.key, "bad-value", _no_option(option, options), (*keys, "counts", option))
        if column is not None and column in seen:
            what = f"the column `{column}` counts another option already"
            yield fault_at(entry.value, "contradiction", what, (*keys, "counts", option))
        seen |= set() if column is None else {column}
    for option in options:
        if option not in counts:
            what = f"the option `{option}` has no column of counts"
            yield fault_at(columns["counts"].key, "missing-key", what, (*keys, "counts", option))
    for role in ("listener", "vote", "weight"):
        if role in columns:
            what = f"a row of counts has no {role}: leave it out, or leave out counts"
            yield fault_at(columns[role].key, "contradiction", what, (*keys, role))


def _select(root: Node, select: Entry, task: TaskWord | None) -> Iterator[Fault]:
    if not isinstance(select.value, Table):
        return
    given = select.value.entries
    if not select.value.broken and not given.keys() & set(CAPS):
        yield fault_at(select.key, "missing-key", f"give at least one of {', '.join(CAPS)}", ("select",))
    if task is not None and not task.sound:
        what = f"the task {task.name} has no use for it: clips are taken in the order of their sound's digests"
        yield fault_at(select.key, "superfluous-section", what, ("select",))
        return
    if task is not None and not task.labelled and "per_class" in given:
        what = f"the task {task.name} has no classes"
        yield fault_at(given["per_class"].key, "contradiction", what, ("select", "per_class"))
    for cap in ("per_speaker", "speakers"):
        if cap in given and not may_exist(root, "speaker"):
            what = "needs the column corpus.columns.speaker"
            yield fault_at(given[cap].key, "missing-column", what, ("select", cap))


def _no_option(word: str, options: Sequence[str | None]) -> str:
    return f"`{word}` is not in votes.options{nearest(word, [option for option in options if option is not None])}"


def _texts(node: Node | None) -> list[str | None]:
    return [text_of(item) for item in node.items] if isinstance(node, Items) else []
