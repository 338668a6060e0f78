"""Suites and gate files from disk: everything that is wrong with a file is said at once, with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from pydantic import BaseModel

from pytest_speval.errors import Fault, FaultyFile
from pytest_speval.suite.base_keys import SUITE_NAME
from pytest_speval.suite.check import COMMON, adapter_entries, own_entries, scalar_faults, suite_faults
from pytest_speval.suite.document import read_file
from pytest_speval.suite.gate import GateFile, GateRule, Place, Waiver
from pytest_speval.suite.gate_check import gate_faults, metric_words
from pytest_speval.suite.gate_keys import GateFileKeys
from pytest_speval.suite.keys import SuiteKeys
from pytest_speval.suite.override import Override, overridden
from pytest_speval.suite.published import with_published
from pytest_speval.suite.shape import nearest, shaped
from pytest_speval.suite.suite import AdapterKeys, Suite
from pytest_speval.suite.tree import (
    MAX_FAULTS,
    Entry,
    Keys,
    Node,
    Table,
    as_written,
    entries_of,
    fault_at,
    find,
    text_of,
)
from pytest_speval.suite.vocabulary import TaskWord, Vocabulary


def suite_name(path: Path) -> str:
    """The name of a suite without its other faults: its key `suite`, or the stem of a file that cannot be read."""
    document = read_file(path)
    name = text_of(find(document.root, "suite"))
    return name if name is not None and not document.faults and re.fullmatch(SUITE_NAME, name) else path.stem


def load_suite(
    path: Path, vocabulary: Vocabulary, overrides: Sequence[Override] = (), shown_as: str | None = None
) -> Suite:
    """Read one suite file with its overrides.

    `shown_as` is the file as messages name it (default: the path as given). Raises FaultyFile with all faults,
    those of the overrides included.
    """
    document = read_file(path, shown_as)
    root, faults = document.root, document.faults
    if root is None:
        raise FaultyFile(faults)
    name = text_of(find(root, "suite")) or path.stem
    for override in overrides if isinstance(root, Table) else ():
        assert isinstance(root, Table)
        root, more = overridden(root, name, override)
        faults += more
    keys, more = shaped(SuiteKeys, root)
    faults += more
    owns: dict[Keys, BaseModel] = {}
    if isinstance(root, Table):
        for place, _, entry in adapter_entries(root):
            own, more = _own(entry, vocabulary, place)
            owns |= {place: own} if own is not None else {}
            faults += more
        faults += islice(suite_faults(root, vocabulary, path.stem), MAX_FAULTS)
    faults += islice(scalar_faults(root, {fault.keys for fault in faults}), MAX_FAULTS)
    if faults or keys is None:
        raise FaultyFile(faults)
    return Suite(
        file=path.absolute(),
        name=name,
        keys=keys,
        adapters=_recorded(vocabulary.tasks[keys.task])
        or tuple(
            (title, AdapterKeys.of(section, owns[place], _raw(entry.value)))
            for place, title, entry in adapter_entries(root)
            if (section := keys.adapter if title is None else (keys.adapters or {})[title])
        ),
        gates=tuple(GateRule.of(gate, name, rule, _place(root, "gates", gate)) for gate, rule in keys.gates.items()),
        overrides=tuple(override.text(name) for override in overrides),
    )


def load_gates(
    path: Path, suites: Mapping[str, Suite], vocabulary: Vocabulary, shown_as: str | None = None
) -> GateFile:
    """Read one gate file; `suites` are all suites of the session by name.

    A waiver stands for the gate of its id in this file, else for that of the one suite that has it in its own
    file. Raises FaultyFile with all faults.
    """
    document = read_file(path, shown_as)
    root, faults = document.root, document.faults
    if root is not None:
        root, more = with_published(root, str(path) if shown_as is None else shown_as)
        faults += more
    if root is None:
        raise FaultyFile(faults)
    keys, more = shaped(GateFileKeys, root)
    faults += more
    faults += islice(_gate_file_faults(root, suites, vocabulary), MAX_FAULTS)
    faults += islice(scalar_faults(root, {fault.keys for fault in faults}), MAX_FAULTS)
    if faults or keys is None:
        raise FaultyFile(faults)
    return GateFile(
        file=path.absolute(),
        gates=tuple(
            GateRule.of(gate, rule.suite, rule, _place(root, "gates", gate)) for gate, rule in keys.gates.items()
        ),
        waivers={
            (_bearers(root, gate, suites)[0], gate): Waiver.of(waiver, _place(root, "waivers", gate))
            for gate, waiver in keys.waivers.items()
        },
    )


def _recorded(task: TaskWord) -> tuple[tuple[None, AdapterKeys], ...]:
    """What answers for a task whose suites may name no adapter: the manifest, which records the answers."""
    if "adapter" not in task.forbidden:
        return ()
    return ((None, AdapterKeys("manifest", None, requires={}, assets={}, own={}, raw={})),)


def _own(entry: Entry, vocabulary: Vocabulary, keys: Keys) -> tuple[BaseModel | None, list[Fault]]:
    """An adapter's own keys, read by its own model; nothing where it is not known which model that is."""
    word = vocabulary.adapters.get(text_of(find(entry.value, "use")) or "")
    node = entry.value
    if word is None or not isinstance(node, Table):
        return None, []
    if word.keys.model_config.get("extra") not in ("forbid", "allow"):
        raise TypeError(f"the key model of the adapter {word.name} must say extra='forbid' or extra='allow'")
    table = Table(entry.key.origin, entry.key.line, entry.key.column, own_entries(node), node.broken)
    return shaped(word.keys, table, keys, known=sorted(COMMON))


def _raw(node: Node) -> dict[str, object]:
    return {name: as_written(entry.value) for name, entry in own_entries(node).items()}


def _place(root: Node, *keys: str) -> Place:
    return Place.of(entries_of(find(root, *keys[:-1]))[keys[-1]].key)


def _gate_file_faults(root: Node, suites: Mapping[str, Suite], vocabulary: Vocabulary) -> Iterator[Fault]:
    if isinstance(root, Table) and not root.entries.keys() & {"gates", "waivers"}:
        yield fault_at(root, "missing-key", "a gate file has gates or waivers", ("gates",))
    for name, gate in entries_of(find(root, "gates")).items():
        node = find(gate.value, "suite")
        title = text_of(node)
        suite = suites.get(title or "")
        if node is not None and title is not None and suite is None:
            what = f"no suite `{title}`{nearest(title, [*suites])}"
            yield fault_at(node, "unknown-suite", what, ("gates", name, "suite"))
        words = metric_words(vocabulary.tasks[suite.task], suite.labels, suite.keys.text.reference) if suite else None
        cohorts = (suite.keys.score.cohorts or ()) if suite else None
        yield from gate_faults(gate, ("gates", name), words, cohorts)
    for name, waiver in entries_of(find(root, "waivers")).items():
        bearers = _bearers(root, name, suites)
        if not bearers:
            known = [*entries_of(find(root, "gates"))] + [gate.id for each in suites.values() for gate in each.gates]
            what = f"no gate `{name}`{nearest(name, known)}"
            yield fault_at(waiver.key, "unknown-gate", what, ("waivers", name))
        elif len(bearers) > 1:
            what = f"several suites have a gate of this name: {', '.join(bearers)}; waive it in a file with the gate"
            yield fault_at(waiver.key, "unknown-gate", what, ("waivers", name))


def _bearers(root: Node, gate: str, suites: Mapping[str, Suite]) -> list[str]:
    """The suites a waiver's id may mean: that of the gate in this file, else all that have it in their own."""
    if gate in entries_of(find(root, "gates")):
        return [text_of(find(root, "gates", gate, "suite")) or ""]
    return [name for name, suite in suites.items() if any(rule.id == gate for rule in suite.gates)]
