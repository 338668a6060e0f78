"""What may stand in files of transcripts, for round trips: ids, words, times."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from hypothesis import strategies as st

from pytest_speval.corpus.manifest import Format, Manifest, read_manifest
from pytest_speval.errors import FaultyFile

PLAIN = st.characters(exclude_categories=["C", "Z"], exclude_characters="();<>{}/")
NAMES = st.text(PLAIN, min_size=1, max_size=8)
"""Recordings, speakers, ids."""
TEXTS = st.lists(NAMES, max_size=5).flatmap(
    lambda words: st.lists(
        st.sampled_from([" ", "  ", "\t", "\u00a0", "\u2028"]), min_size=len(words), max_size=len(words)
    ).map(lambda gaps: "".join(gap + word for gap, word in zip(gaps, words, strict=True)).strip(" \t"))
)
"""Words with white space of many kinds between them."""
TIMES = st.integers(0, 10**7).map(lambda thousandths: Decimal(thousandths) / 1000)


def table(folder: Path, content: str | bytes, name: str, style: str | None = None) -> Manifest:
    """What the reader makes of a file."""
    data = content if isinstance(content, bytes) else content.encode()
    (folder / name).write_bytes(data)
    return read_manifest(folder / name, name, Format(style=style))


def faults(folder: Path, content: str | bytes, name: str, style: str | None = None) -> list[str]:
    """`file:line code` of every fault, and nothing where there is none."""
    try:
        table(folder, content, name, style)
    except FaultyFile as faulty:
        return [f"{fault.file}:{fault.line} {fault.code}" for fault in faulty.faults]
    return []
