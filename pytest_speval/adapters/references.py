"""References taken for answers: then every answer is right, and nothing was measured."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_speval.adapters.base import Roll
from pytest_speval.corpus.projections import AXES
from pytest_speval.errors import AdapterFault

CODES = {
    "predictions-references": "Recorded answers are read from the column of the manifest that holds the references.",
    "predictions-copy": "Recorded answers are read from a copy of the manifest, from the column of the references.",
}
KEYS = {"transcript": "text", "rating": "value", "label": "label", **{axis: axis for axis in AXES}}
"""The role of a reference in a manifest -> the key that names the column of the answers to it."""


def references_taken(file: Path, sha256: str, columns: Mapping[str, str], roll: Roll) -> list[tuple[str, str]]:
    """Hold the columns that answers are read from against those of the references.

    `columns` are those of `file`, by the role of what is held against them. References in the manifest itself raise
    `AdapterFault`. Those in a file of the same bytes are a notice: a good recogniser may write what is in the manifest.
    """
    taken = [role for role, column in roll.references.items() if columns.get(role) == column]
    if not taken or roll.manifest is None or sha256 != roll.manifest_sha256:
        return []
    column = columns[taken[0]]
    if not file.samefile(roll.manifest):
        found = f"{file.name} is byte for byte the manifest, and its column `{column}` is that of the references"
        return [("predictions-copy", f"{found}: make sure that it holds answers")]
    found = f"`{column}` of {file.name} holds the references: every answer would be right"
    told = f"say `columns: {{{KEYS[taken[0]]}: …}}` for the column of the answers, or give another file"
    raise AdapterFault("predictions-references", f"{found}; {told}")
