"""From a tree to a key model: every departure from the model becomes a fault at its node.

The models want Python values that YAML has no words for: a tuple, a path. Those are offered where the model asks
for them. An ambiguous scalar is handed over as its node, which no model accepts, so that it can neither pass as
text nor as "nothing given".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pytest_speval.errors import Fault
from pytest_speval.suite.complaints import WANTED, Complaint, complain
from pytest_speval.suite.tree import MAX_FAULTS, Entry, Items, Keys, Node, Scalar, Table, fault_at

M = TypeVar("M", bound=BaseModel)
Offer = Literal["path", "list"]

_SHOWN = 40


def shaped(model: type[M], node: Node, keys: Keys = (), known: Sequence[str] = ()) -> tuple[M | None, list[Fault]]:
    """Read a node as a model: the model, or None with its faults, the first 100 at most.

    `keys` is the path that leads to the node; `known` are further keys that may stand beside the model's own.
    """
    offers: dict[Keys, Offer] = {}
    while True:
        try:
            return model.model_validate(_plain(node, (), offers), strict=True), []
        except ValidationError as error:
            places = [_locate(node, detail) for detail in error.errors(include_url=False)]
        wanted = {place.keys: offer for place in places if (offer := _offer(place)) is not None}
        if wanted.keys() <= offers.keys():
            return None, [*islice(_faults(model, places, keys, known), MAX_FAULTS)]
        offers |= wanted


def nearest(word: str, known: Sequence[str]) -> str:
    """A hint for a word that is not known: ", did you mean `x`?", or the known words where none is near."""
    near = get_close_matches(word, known, n=1)
    if near:
        return f", did you mean `{near[0]}`?"
    more = ", …" if len(known) > _SHOWN else ""
    return f"; known: {', '.join(known[:_SHOWN])}{more}" if known else ""


@dataclass(frozen=True, slots=True)
class _Located:
    """A complaint of pydantic's, the node it is about, and how it was reached.

    `union` is the number of keys to the union whose `branch` complained, if one did.
    """

    keys: Keys
    node: Node
    entry: Entry | None
    detail: ErrorDetails
    union: int | None
    branch: str | int


def _plain(node: Node, keys: Keys, offers: Mapping[Keys, Offer]) -> object:
    if isinstance(node, Table):
        return {key: _plain(entry.value, (*keys, key), offers) for key, entry in node.entries.items()}
    if isinstance(node, Items):
        values = [_plain(item, (*keys, place), offers) for place, item in enumerate(node.items)]
        return values if offers.get(keys) == "list" else tuple(values)
    if offers.get(keys) == "path":
        return Path(node.text) if "${" in node.text else node.origin.base / node.text
    return node if node.value is None else node.value


def _offer(place: _Located) -> Offer | None:
    kind, node = place.detail["type"], place.node
    if kind == "list_type" and isinstance(node, Items):
        return "list"
    if kind == "is_instance_of" and place.detail["ctx"]["class"] == "Path" and isinstance(node, Scalar):
        return "path" if node.value and node.kind == "text" and "\0" not in node.text else None
    return None


def _locate(root: Node, detail: ErrorDetails) -> _Located:
    keys: Keys = ()
    node, entry = root, None
    union: int | None = None
    branch: str | int = ""
    for step in detail["loc"]:
        if isinstance(node, Table) and isinstance(step, str) and step in node.entries:
            entry = node.entries[step]
            node = entry.value
        elif isinstance(node, Items) and isinstance(step, int) and step < len(node.items):
            entry, node = None, node.items[step]
        else:
            if union is None and not _is_last(detail, step):
                union, branch = len(keys), step
            continue
        keys = (*keys, step)
    return _Located(keys, node, entry, detail, union, branch)


def _is_last(detail: ErrorDetails, step: str | int) -> bool:
    return step == "[key]" or (detail["type"] == "missing" and step == detail["loc"][-1])


def _faults(model: type[BaseModel], places: list[_Located], prefix: Keys, beside: Sequence[str]) -> Iterator[Fault]:
    seen: set[tuple[Keys, str]] = set()
    for alternatives in _by_union(places):
        place = alternatives[0]
        kind = place.detail["type"]
        last = place.detail["loc"][-1] if place.detail["loc"] else ""
        if kind == "too_short" and _length(place.node) >= place.detail["ctx"]["min_length"]:
            continue  # pydantic does not count the values it has refused already
        if place.node.broken and (kind in ("missing", *WANTED) or isinstance(place.node, Scalar)):
            continue
        if kind == "extra_forbidden" and place.entry is not None and isinstance(last, str):
            outer = place.keys[:-1]
            hint = nearest(last, [*_known(model, outer), *(() if outer else beside)])
            yield fault_at(place.entry.key, "unknown-key", f"unknown key{hint}", prefix + place.keys)
            continue
        if kind == "missing" and isinstance(last, str):
            holder = place.entry.key if place.entry else place.node
            yield fault_at(holder, "missing-key", "a required key is missing", (*prefix, *place.keys, last))
            continue
        at = place.entry.key if place.entry and last == "[key]" else place.node
        code, message = complain(at, [Complaint.of(other.detail) for other in alternatives])
        if (place.keys, message) not in seen:
            yield fault_at(at, code, message, prefix + place.keys)
        seen.add((place.keys, message))


def _length(node: Node) -> int:
    return len(node.items) if isinstance(node, Items) else len(node.entries) if isinstance(node, Table) else 1


def _by_union(places: list[_Located]) -> Iterator[list[_Located]]:
    """Group what the branches of one union say about one value; a branch that got further into it wins."""
    unions: dict[Keys, list[_Located]] = {}
    for place in places:
        if place.union is None:
            yield [place]
        else:
            unions.setdefault(place.keys[: place.union], []).append(place)
    for keys, members in unions.items():
        further = [place for place in members if len(place.keys) > len(keys) or place.detail["type"] == "missing"]
        if further:
            yield from ([place] for place in further if place.branch == further[0].branch)
        else:
            yield members


def _known(model: type[BaseModel], keys: Keys) -> list[str]:
    return [name for found in _models(model, keys) for name in key_names(found)]


def key_names(model: type[BaseModel]) -> list[str]:
    """The keys of a model as they stand in the file."""
    return [info.alias or name for name, info in model.model_fields.items()]


def _models(annotation: Any, keys: Keys) -> Iterator[type[BaseModel]]:
    """The models that may stand at a path of keys below an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if not keys:
            yield annotation
        for name, info in annotation.model_fields.items():
            if keys and (info.alias or name) == keys[0]:
                yield from _models(info.annotation, keys[1:])
        return
    origin = get_origin(annotation)
    if isinstance(origin, type) and issubclass(origin, tuple | list | Mapping):
        for inner in get_args(annotation)[-1:] if issubclass(origin, Mapping) else get_args(annotation)[:1]:
            yield from _models(inner, keys[1:]) if keys else ()
        return
    for inner in get_args(annotation):
        yield from _models(inner, keys)
