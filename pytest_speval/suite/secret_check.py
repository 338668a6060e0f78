"""No secret stands in a suite itself: what is named as one must be a reference to an environment variable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

from pydantic import BaseModel

from pytest_speval.errors import Fault
from pytest_speval.suite.tree import Entry, Items, Keys, Node, Table, entries_of, fault_at, text_of
from pytest_speval.suite.variables import malformed, variables

NAMES = frozenset({"token", "xtoken", "hftoken", "githubtoken"})
"""Keys that hold a secret, in small letters without `-` and `_`; not every token does: `pad_token`, `tokens`."""
ENDINGS = (
    "authorization",
    "apikey",
    "subscriptionkey",
    "accesstoken",
    "authtoken",
    "bearertoken",
    "refreshtoken",
    "securitytoken",
    "sessiontoken",
    "secret",
    "secretkey",
    "accesskey",
    "privatekey",
    "password",
    "passwd",
    "passphrase",
    "cookie",
)
"""Ends of such keys."""


def secret_faults(own: dict[str, Entry], model: type[BaseModel] | None, keys: Keys) -> Iterator[Fault]:
    """Keys of secrets among an adapter's own, at any depth, whose value is written out.

    `model` is the model of the adapter's keys where it is known: a key that takes a path names a file.
    """
    fields = {} if model is None else model.model_fields
    paths = {info.alias or name for name, info in fields.items() if _takes_path(info.annotation)}
    for name, entry in own.items():
        if name not in paths:
            yield from _faults(name, entry.value, (*keys, name))


def _faults(name: str, node: Node, keys: Keys) -> Iterator[Fault]:
    if isinstance(node, Table):
        for inner, entry in entries_of(node).items():
            yield from _faults(inner, entry.value, (*keys, inner))
    elif isinstance(node, Items):
        for place, item in enumerate(node.items):
            yield from _faults(name, item, (*keys, place))
    elif names_secret(name) and (text := text_of(node)) and not variables(text) and not malformed(text):
        what = "a secret may not stand here; put it into an environment variable and refer to that: ${NAME}"
        fault = fault_at(node, "literal-secret", what, keys)
        # An override is shown as it was typed, with its value.
        yield fault if node.origin.lines else replace(fault, file=fault.file.partition("=")[0])


def names_secret(name: str) -> bool:
    """Say whether a key of this name holds a secret."""
    plain = name.lower().replace("-", "").replace("_", "")
    return plain in NAMES or plain.endswith(ENDINGS)


def _takes_path(annotation: object) -> bool:
    return annotation is Path or any(map(_takes_path, get_args(annotation)))
