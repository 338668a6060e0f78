"""The sections `votes`, `select`, `audit` and `observe` as they stand in a question: files by their digests."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_speval.audit.fit import sha256_of
from pytest_speval.errors import SpevalError
from pytest_speval.suite.audit_keys import Inventory
from pytest_speval.suite.suite import Suite

AGAINST = "audit.against."
VOTES = "votes.file"


def section_files(suite: Suite) -> dict[str, Path]:
    """The files that these sections name, by the key that names them."""
    votes = {} if suite.keys.votes is None else {VOTES: suite.keys.votes.file}
    return votes | {
        f"{AGAINST}{name}": said.file if isinstance(said, Inventory) else said
        for name, said in suite.keys.audit.against.items()
        if said != "unavailable"
    }


def written_files(suite: Suite) -> dict[str, str]:
    """The same files as the suite writes them: relative to its folder, variables unexpanded."""
    folder = suite.file.parent
    return {
        key: str(path) if "${" in str(path) else Path(os.path.relpath(path, folder)).as_posix()
        for key, path in section_files(suite).items()
    }


def file_digests(suite: Suite, environ: Mapping[str, str]) -> dict[str, str | None]:
    """The digests of these files, None for one that is not there."""
    return {key: _digest(suite, path, environ) for key, path in section_files(suite).items()}


def _digest(suite: Suite, path: Path, environ: Mapping[str, str]) -> str | None:
    try:
        place = suite.place(path, environ)
    except SpevalError:
        return None
    return sha256_of(place) if place.is_file() else None


def sections_record(suite: Suite, digests: Mapping[str, str | None]) -> dict[str, Any]:
    """The sections that say something, as plain data."""
    keys = suite.keys
    audit = keys.audit.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    for name, said in keys.audit.against.items():
        if said != "unavailable":
            layout = said.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude={"file"}) \
                if isinstance(said, Inventory) else {}  # fmt: skip
            audit["against"][name] = {"sha256": digests[f"{AGAINST}{name}"], **layout}
    record = {"audit": audit} if audit else {}
    if keys.observe is not None:
        record["observe"] = keys.observe.model_dump(mode="json", exclude_none=True)
    if keys.select is not None:
        record["select"] = keys.select.model_dump(mode="json", exclude_none=True)
    if keys.votes is not None:
        votes = keys.votes.model_dump(mode="json", exclude_none=True, exclude={"file", "format"})
        record["votes"] = votes | {"sha256": digests[VOTES]}
    return record
