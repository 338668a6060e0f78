"""Inventories: what a model has seen, as rows that the evaluated clips are held against."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_speval.corpus.listing import Listing
from pytest_speval.corpus.part import Part, whole_part
from pytest_speval.corpus.staging import listing, read
from pytest_speval.suite.audit_keys import Inventory
from pytest_speval.suite.corpus_keys import Corpus

COMPARED = frozenset(
    {"id", "audio", "speaker", "session", "family", "source", "text", "transcript", "bytes_sha256", "samples_sha256"}
)
"""The roles that an inventory may have."""


def read_inventory(
    name: str, said: Path | Inventory, path: Path, shown_as: str, corpus: Corpus, environ: Mapping[str, str]
) -> Part:
    """Read an inventory; without columns of its own it has those of the corpus that it can have, but no
    `audio_from`, whose template spells out the folders of the corpus.

    Its sound files lie below its own folder. Raises `FaultyFile`.
    """
    own = isinstance(said, Inventory)
    keys = Corpus.model_construct(
        manifest=path.name,
        format=said.format if isinstance(said, Inventory) else corpus.format,
        columns=said.columns if isinstance(said, Inventory) else corpus.columns,
    )
    manifest = read(path, shown_as, keys, environ)
    chosen = listing(keys, manifest.names, environ)
    roles = {role: columns for role, columns in chosen.roles.items() if role in COMPARED or role.startswith("cohort.")}
    template = chosen.audio_from
    if not own:
        roles = {role: columns for role, columns in roles.items() if all(map(manifest.has, columns))}
        template = None  # a template spells out folders of the manifest's own splits
    return whole_part(name, manifest, Listing(roles, template, kept=chosen.kept), path.parent)
