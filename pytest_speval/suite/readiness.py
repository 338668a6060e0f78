"""Readiness files from disk, read as strictly as suites, and their fields one by one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from pydantic import BaseModel

from pytest_speval.errors import FaultyFile
from pytest_speval.suite.check import scalar_faults
from pytest_speval.suite.document import read_file
from pytest_speval.suite.readiness_keys import ReadinessKeys
from pytest_speval.suite.shape import shaped
from pytest_speval.suite.tree import MAX_FAULTS, Keys


def load_readiness(path: Path, shown_as: str | None = None) -> ReadinessKeys:
    """Read one readiness file; `shown_as` is the file as messages name it (default: the path as given).

    Raises `FaultyFile` with all faults.
    """
    document = read_file(path, shown_as)
    root, faults = document.root, document.faults
    if root is None:
        raise FaultyFile(faults)
    keys, more = shaped(ReadinessKeys, root)
    faults += more
    faults += islice(scalar_faults(root, {fault.keys for fault in faults}), MAX_FAULTS)
    if faults or keys is None:
        raise FaultyFile(faults)
    return keys


def fields(value: object, keys: Keys = ()) -> Iterator[tuple[Keys, object]]:
    """Every single field below a value with its path of keys, in the order of the models.

    A section that is left out has none.
    """
    if isinstance(value, BaseModel):
        for name, info in type(value).model_fields.items():
            yield from fields(getattr(value, name), (*keys, info.alias or name))
    elif isinstance(value, tuple):
        for place, item in enumerate(value):
            yield from fields(item, (*keys, place))
    elif value is not None:
        yield keys, value


def is_blank(value: object) -> bool:
    """Say whether a field holds nothing, or nothing but blanks."""
    return isinstance(value, str) and not value.strip()
