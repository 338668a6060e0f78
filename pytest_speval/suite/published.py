"""Published gate files: thresholds that a publishing pipeline keeps, tied to the suites that measure them.

Such a file names no suite and is left as it is. A gate file of ours points to it in its section `published`, says which
tier is released, and which suite measures which gate. From both the gates are made as if they had been written out;
every node keeps the file and line it comes from, and so does every fault.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from pytest_speval.errors import Fault
from pytest_speval.suite.document import read_file
from pytest_speval.suite.published_keys import (
    EVERY_TIER,
    FlatChange,
    FlatGate,
    Published,
    PublishedMeta,
    PublishedRow,
    PublishedV1,
    PublishedV2,
)
from pytest_speval.suite.shape import nearest, shaped
from pytest_speval.suite.tree import Entry, Keys, Node, Scalar, Table, entries_of, fault_at, find

SECTION = "published"
OWN = frozenset({"tiers", "defaults"})
"""Keys that only a published file has at its top level, v2 and v1."""
LIMITS = {">=": "min", "<=": "max"}
NULLABLE = frozenset({"manifest_field", "required_for", "unit", "description", "calibration", "needs_hardware"})
"""Keys that published files give as null where they have nothing to say."""


@dataclass(frozen=True, slots=True)
class Row:
    """A published gate as one tier asks for it, with the nodes of its operator and threshold."""

    key: Scalar
    op: Node
    threshold: Node
    is_boolean: bool
    lenient: tuple[str, ...]
    description: str | None


def with_published(root: Node, shown_as: str) -> tuple[Node | None, list[Fault]]:
    """A gate file with the gates of its published file written out; other files come back as they are.

    `shown_as` is the gate file as messages name it. None, where the file is itself a published one.
    """
    if not isinstance(root, Table):
        return root, []
    if SECTION not in root.entries:
        return _published_alone(root) if OWN & root.entries.keys() else (root, [])
    section = root.entries[SECTION]
    gates = dict(entries_of(find(root, "gates")))
    keys, faults = shaped(Published, section.value, (SECTION,))
    if keys is not None:
        rows, more = _rows(keys, section.value, shown_as)
        faults += more
        faults += _untied(keys, section, rows, gates) if rows is not None else ()
        if not faults and rows is not None:
            gates |= {
                name: _written_out(section.value, name, row, keys) for name, row in rows.items() if name in keys.gates
            }
    entries = {name: entry for name, entry in root.entries.items() if name != SECTION}
    standing = root.entries.get("gates")
    if standing is not None and not isinstance(standing.value, Table):
        return root, faults
    key = section.key if standing is None else standing.key
    table = Table(key.origin, key.line, key.column, gates)
    return Table(root.origin, root.line, root.column, entries | {"gates": Entry(key, table)}, root.broken), faults


def _published_alone(root: Table) -> tuple[None, list[Fault]]:
    what = (
        "this is a published gate file, which names no suite: keep it out of the folders of gate files, and tie its "
        "gates to suites in one of these: published: {file, tier, gates: {name: {suite, metric}}, elsewhere}"
    )
    _, faults = _shaped(root)
    return None, [fault_at(root, "published-alone", what), *faults]


def _shaped(root: Node) -> tuple[PublishedV1 | PublishedV2 | None, list[Fault]]:
    """A published file by the schema that its keys tell."""
    model: type[PublishedV1 | PublishedV2] = PublishedV1 if "defaults" in entries_of(root) else PublishedV2
    return shaped(model, _without_nulls(root))


def _without_nulls(node: Node) -> Node:
    if not isinstance(node, Table):
        return node
    kept = {
        name: Entry(entry.key, _without_nulls(entry.value))
        for name, entry in node.entries.items()
        if not (name in NULLABLE and isinstance(entry.value, Scalar) and entry.value.kind == "null")
    }
    return Table(node.origin, node.line, node.column, kept, node.broken)


def _rows(keys: Published, section: Node, shown_as: str) -> tuple[dict[str, Row] | None, list[Fault]]:
    """The gates of the tier, None where the published file cannot be read."""
    written = find(section, "file")
    shown = PurePath(
        os.path.normpath(PurePath(shown_as).parent / (written.text if isinstance(written, Scalar) else ""))
    )
    document = read_file(Path(keys.file), shown.as_posix())
    if document.root is None or document.faults:
        return None, document.faults
    file, faults = _shaped(document.root)
    if file is None:
        return None, faults
    tier = find(section, "tier")
    if keys.tier not in file.tiers and tier is not None and (file.tiers or isinstance(file, PublishedV2)):
        what = f"{shown.name} has no tier `{keys.tier}`{nearest(keys.tier, [*file.tiers])}"
        return None, [fault_at(tier, "unknown-tier", what, (SECTION, "tier"))]
    if isinstance(file, PublishedV2):
        return _tiered(file, document.root, keys.tier)
    return _flat(file, document.root, keys.tier)


def _tiered(file: PublishedV2, root: Node, tier: str) -> tuple[dict[str, Row], list[Fault]]:
    rows, faults = {}, []
    for name, asked in file.tiers[tier].items():
        entry, path = entries_of(find(root, "tiers", tier))[name], ("tiers", tier, name)
        meta = file.gates.get(name)
        if meta is None:
            faults.append(fault_at(entry.key, "unknown-gate", f"no gate `{name}`{nearest(name, [*file.gates])}", path))
            continue
        hardware = meta.needs_hardware if asked.needs_hardware is None else asked.needs_hardware
        lenient = _lenient(asked, required=asked.required, hardware=hardware)
        row = _row(entry.key, (find(root, "gates", name, "op"), find(entry.value, "threshold")), lenient, meta)
        faults += _mistyped(row, meta.op, asked.threshold, path)
        rows[name] = row
    return rows, faults


def _flat(file: PublishedV1, root: Node, tier: str) -> tuple[dict[str, Row], list[Fault]]:
    rows, faults = {}, []
    changes = file.tiers.get(tier, {})
    for name in changes.keys() - file.defaults.keys():
        key = entries_of(find(root, "tiers", tier))[name].key
        what = f"no gate `{name}`{nearest(name, [*file.defaults])}"
        faults.append(fault_at(key, "unknown-gate", what, ("tiers", tier, name)))
    faults += _unknown_tiers(file, root)
    for name, flat in file.defaults.items():
        change = changes.get(name, FlatChange())
        gate = flat.model_copy(update=change.model_dump(exclude_none=True))
        nodes = [
            find(root, "tiers", tier, name, key) or find(root, "defaults", name, key) for key in ("op", "threshold")
        ]
        lenient = _lenient(gate, required=_required(gate, tier), hardware=gate.needs_hardware)
        row = _row(entries_of(find(root, "defaults"))[name].key, (nodes[0], nodes[1]), lenient, gate)
        faults += _mistyped(row, gate.op, gate.threshold, ("defaults", name))
        rows[name] = row
    return rows, faults


def _unknown_tiers(file: PublishedV1, root: Node) -> Iterator[Fault]:
    """A gate that is required for a tier that the file does not have would be required for none."""
    known = [*file.tiers]
    for name, gate in file.defaults.items():
        for tier in gate.tiers:
            if tier not in (EVERY_TIER, *known):
                keys: Keys = ("defaults", name, "required_for")
                what = f"no tier `{tier}`{nearest(tier, known)}: name it under tiers, if only as `{tier}: {{}}`"
                yield fault_at(find(root, *keys) or root, "unknown-tier", what, keys)


def _required(gate: FlatGate, tier: str) -> bool:
    return not {EVERY_TIER, tier}.isdisjoint(gate.tiers) if gate.required is None else gate.required


def _row(
    key: Scalar, nodes: tuple[Node | None, Node | None], lenient: tuple[str, ...], said: PublishedMeta | FlatGate
) -> Row:
    op, threshold = nodes
    return Row(key, op or key, threshold or key, said.op == "bool", lenient, said.description)


def _lenient(said: PublishedRow | FlatGate, *, required: bool, hardware: bool) -> tuple[str, ...]:
    """Why a gate only warns."""
    reasons = {"provisional": said.provisional, "needs hardware": hardware, "not required": not required}
    return tuple(reason for reason, holds in reasons.items() if holds)


def _mistyped(row: Row, op: str, threshold: float | bool, keys: Keys) -> Iterator[Fault]:
    if isinstance(threshold, bool) != row.is_boolean:
        wanted = "true or false" if row.is_boolean else "a number"
        yield fault_at(row.threshold, "wrong-type", f"`{op}` compares with {wanted}", (*keys, "threshold"))


def _untied(keys: Published, section: Entry, rows: Mapping[str, Row], own: Mapping[str, Entry]) -> Iterator[Fault]:
    """Gates that are tied to nothing, to two things, or that are not there."""
    for part in ("gates", "elsewhere"):
        for name, entry in entries_of(find(section.value, part)).items():
            path = (SECTION, part, name)
            if name not in rows:
                what = f"tier {keys.tier} has no gate `{name}`{nearest(name, [*rows])}"
                yield fault_at(entry.key, "unknown-gate", what, path)
            elif part == "elsewhere" and name in keys.gates:
                yield fault_at(entry.key, "contradiction", "it is measured by a suite, under gates", path)
            elif part == "gates" and rows[name].is_boolean:
                what = "it wants true or false, and estimates are numbers: say under elsewhere what measures it"
                yield fault_at(entry.key, "contradiction", what, path)
            elif part == "gates" and name in own:
                what = "this file has a gate of this name under gates"
                yield fault_at(entry.key, "contradiction", what, path)
    for name in rows:
        if name not in keys.gates and name not in keys.elsewhere:
            what = f"tier {keys.tier} asks for `{name}`: say which suite and metric measure it, or what does, elsewhere"
            yield fault_at(section.key, "unmeasured-gate", what, (SECTION, "gates", name))


def _written_out(section: Node, name: str, row: Row, keys: Published) -> Entry:
    """The entry that would stand under `gates` if the gate were written there."""
    bearing = entries_of(section)["gates"]
    key = entries_of(bearing.value)[name].key
    op = row.op.text if isinstance(row.op, Scalar) else ""
    limit = LIMITS.get(op, "min")
    terms = ", ".join([f"{Path(keys.file).name}, tier {keys.tier}", *row.lenient])
    said = {"why": f"{row.description or name} ({terms})", "level": "warn" if row.lenient else "block"}
    entries = dict(entries_of(find(bearing.value, name)))
    entries |= {limit: Entry(_text(row.op, limit), row.threshold)}
    entries |= {word: Entry(_text(row.key, word), _text(row.key, text)) for word, text in said.items()}
    return Entry(key, Table(key.origin, key.line, key.column, entries))


def _text(node: Node, text: str) -> Scalar:
    """A text as if it stood where a node stands."""
    return Scalar(node.origin, node.line, node.column, text, "text", text)
