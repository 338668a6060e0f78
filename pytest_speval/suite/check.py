"""Whether a suite makes sense: what its key model cannot see, found on the tree so that every fault has a place.

The checks look only at values of the right kind, so they add to the faults of the shape and never repeat them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from pytest_speval.errors import Fault
from pytest_speval.suite.audit_check import audit_faults
from pytest_speval.suite.base_keys import SUITE_NAME
from pytest_speval.suite.choice_check import choice_faults
from pytest_speval.suite.cohort_check import asked_cohorts, cohort_faults
from pytest_speval.suite.complaints import ambiguous
from pytest_speval.suite.corpus_check import UNITS, corpus_faults, may_exist
from pytest_speval.suite.gate_check import gate_faults, metric_faults, metric_words
from pytest_speval.suite.keys import AdapterSection
from pytest_speval.suite.label_check import declared, label_faults
from pytest_speval.suite.observe_check import observe_faults
from pytest_speval.suite.scalars import AMBIGUOUS
from pytest_speval.suite.secret_check import secret_faults
from pytest_speval.suite.shape import key_names, nearest
from pytest_speval.suite.text_check import transcribed
from pytest_speval.suite.tree import Entry, Items, Keys, Node, Table, entries_of, fault_at, find, number_of, text_of
from pytest_speval.suite.variables import malformed
from pytest_speval.suite.vocabulary import TaskWord, Vocabulary

COMMON = frozenset(key_names(AdapterSection))
"""The keys that every adapter has."""


def suite_faults(root: Table, vocabulary: Vocabulary, stem: str) -> Iterator[Fault]:
    """All faults of a suite that need its other keys, the vocabulary or the file's stem."""
    if "suite" not in root.entries and not re.fullmatch(SUITE_NAME, stem):
        what = f"the file's stem `{stem}` is no name for a suite; add the key suite"
        yield fault_at(root, "missing-key", what, ("suite",))
    task = vocabulary.tasks.get(text_of(find(root, "task")) or "")
    yield from _task(root, vocabulary)
    yield from corpus_faults(root, task)
    yield from _sections(root, task)
    yield from choice_faults(root, task)
    yield from audit_faults(root)
    yield from observe_faults(root, task)
    yield from label_faults(root, vocabulary.projections)
    yield from _adapters(root, vocabulary, needed=not (task and "adapter" in task.forbidden))
    words = metric_words(task, declared(root), text_of(find(root, "text", "reference")))
    yield from metric_faults(find(root, "score", "headline"), ("score", "headline"), words)
    yield from _unit(root)
    yield from cohort_faults(root)
    yield from _budget(find(root, "run", "budget"))
    for name, gate in entries_of(find(root, "gates")).items():
        yield from gate_faults(gate, ("gates", name), words, asked_cohorts(root))


def scalar_faults(node: Node, known: Collection[Keys], keys: Keys = ()) -> Iterator[Fault]:
    """Ambiguous scalars and broken references that no other fault covers; `known` are the paths at fault."""
    if isinstance(node, Table):
        for key, entry in node.entries.items():
            yield from scalar_faults(entry.value, known, (*keys, key))
    elif isinstance(node, Items):
        for place, item in enumerate(node.items):
            yield from scalar_faults(item, known, (*keys, place))
    elif keys in known:
        return
    elif node.kind in AMBIGUOUS:
        yield fault_at(node, "ambiguous-value", ambiguous(node), keys)
    elif node.kind == "text" and malformed(node.text):
        what = "`${` begins the name of an environment variable: write ${NAME}"
        yield fault_at(node, "bad-variable", what, keys)


def adapter_entries(root: Node) -> Iterator[tuple[Keys, str | None, Entry]]:
    """The adapters of a suite: path of keys, name (None for the only one) and entry."""
    given = entries_of(root)
    if "adapter" in given:
        yield ("adapter",), None, given["adapter"]
    for name, entry in entries_of(find(root, "adapters")).items():
        yield ("adapters", name), name, entry


def own_entries(node: Node) -> dict[str, Entry]:
    """The entries of an adapter that are its own."""
    return {name: entry for name, entry in entries_of(node).items() if name not in COMMON}


def _task(root: Node, vocabulary: Vocabulary) -> Iterator[Fault]:
    node = find(root, "task")
    name = text_of(node)
    if node is not None and name is not None and name not in vocabulary.tasks:
        yield fault_at(node, "unknown-task", f"no task `{name}`{nearest(name, [*vocabulary.tasks])}", ("task",))


def _sections(root: Table, task: TaskWord | None) -> Iterator[Fault]:
    if task is None:
        return
    unwanted: dict[str, Keys] = {path: tuple(path.split(".")) for path in task.forbidden}
    if task.labelled and "labels" not in root.entries and not root.broken:
        yield fault_at(root, "missing-section", f"the task {task.name} needs the section labels", ("labels",))
    if not task.labelled:
        unwanted.setdefault("labels", ("labels",))
    if not transcribed(task):
        unwanted.setdefault("text", ("text",))
    if not task.sound:
        unwanted.setdefault("corpus.audio", ("corpus", "audio"))
    missing = find(root, "run", "missing")
    if missing is not None and text_of(missing) == "worst" and task.missing == "withhold":
        what = f"the task {task.name} has no worst answer: an estimate is withheld until every clip answered"
        yield fault_at(missing, "contradiction", what, ("run", "missing"))
    batch, items = find(root, "run", "batch"), number_of(find(root, "run", "per_item"))
    if batch is not None and items is not None and float(items).is_integer() and (number_of(batch) or 0) > items:
        what = f"an item of {items:g} clips never makes a batch of {number_of(batch):g}: raise run.per_item"
        yield fault_at(batch, "contradiction", what, ("run", "batch"))
    blocks = entries_of(find(root, "run")).get("blocks")
    if blocks is not None and find(root, "run", "per_item") is not None:
        what = "blocks are items of their own: give run.blocks or run.per_item, not both"
        yield fault_at(blocks.key, "contradiction", what, ("run", "blocks"))
    for keys in unwanted.values():
        entry = entries_of(find(root, *keys[:-1])).get(str(keys[-1]))
        if entry is not None:
            yield fault_at(entry.key, "superfluous-section", f"the task {task.name} has no use for it", keys)


def _adapters(root: Table, vocabulary: Vocabulary, *, needed: bool) -> Iterator[Fault]:
    both = {"adapter", "adapters"} & root.entries.keys()
    if len(both) == 2:
        what = "give adapter or adapters, not both"
        yield fault_at(root.entries["adapters"].key, "contradiction", what, ("adapters",))
    if not both and needed and not root.broken:
        yield fault_at(root, "missing-key", "a required key is missing", ("adapter",))
    for keys, _, entry in adapter_entries(root):
        node = find(entry.value, "use")
        name = text_of(node)
        if node is not None and name is not None and name not in vocabulary.adapters:
            what = f"no adapter `{name}`{nearest(name, [*vocabulary.adapters])}"
            yield fault_at(node, "unknown-adapter", what, (*keys, "use"))
        word = vocabulary.adapters.get(name or "")
        yield from secret_faults(own_entries(entry.value), None if word is None else word.keys, keys)


def _unit(root: Node) -> Iterator[Fault]:
    interval = entries_of(root).get("score")
    keys: Keys = ("score", "interval", "unit")
    node = find(root, *keys)
    unit = text_of(node) if node else "speaker"
    given = find(root, *keys[:-1])
    if unit in UNITS:
        if interval and given and not may_exist(root, unit):
            what = f"the unit {unit} needs the column corpus.columns.{unit}"
            yield fault_at(node or given, "missing-column", what, keys)
        return
    cohorts = [*entries_of(find(root, "corpus", "columns", "cohorts"))]
    if node is not None and unit is not None and unit not in ("clip", *cohorts):
        what = f"no unit `{unit}`{nearest(unit, ['clip', *UNITS, *cohorts])}: clip, {', '.join(UNITS)} or a cohort"
        yield fault_at(node, "missing-column", f"{what} of corpus.columns.cohorts", keys)


def _budget(node: Node | None) -> Iterator[Fault]:
    if not isinstance(node, Table) or node.broken:
        return
    given, keys = node.entries, ("run", "budget", "rates")
    if "usd" in given and "rates" not in given:
        what = "a cap in US dollars needs the rates that tokens cost"
        yield fault_at(given["usd"].key, "missing-key", what, keys)
    if "rates" in given and "usd" not in given:
        what = "rates act only on a cap in US dollars: add usd, or leave them out"
        yield fault_at(given["rates"].key, "contradiction", what, keys)
