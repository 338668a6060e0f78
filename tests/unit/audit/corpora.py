"""Corpora made up for audits: sound files of a few frames, and clips over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import soundfile

from pytest_speval.audit.finding import Finding
from pytest_speval.audit.health import Health, audit_corpus
from pytest_speval.corpus.clips import Clips
from pytest_speval.corpus.contract import Contract
from pytest_speval.corpus.roles import Cell


def sound_file(root: Path, name: str, frames: int, rate: int = 16_000) -> str:
    """Write noise of its own under a name, and give the name back."""
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    noise = np.random.default_rng(list(name.encode())).integers(-900, 901, frames).astype(np.int16)
    soundfile.write(root / name, noise, rate, format="WAV", subtype="PCM_16")
    return name


def clips_of(
    ids: Sequence[str], audio: Sequence[str] | None = None, excluded: Sequence[str | None] = (), **cells: Sequence[Cell]
) -> Clips:
    """Clips without a split, so that a clip's name is its id."""
    return Clips(
        ["test"] * len(ids),
        list(ids),
        False,
        {role: list(column) for role, column in cells.items()},
        None if audio is None else list(audio),
        list(excluded) or [None] * len(ids),
    )


def audited(root: Path, clips: Clips, contract: Contract | None = None) -> Health:
    """The audit of clips, with sound wherever there is an audio column."""
    return audit_corpus(root, clips, None if clips.audio is None else contract or Contract(), 0)


def notices(health: Health) -> Mapping[str, Finding]:
    """The findings by their code; all must be notices, one for each code."""
    found = {finding.code: finding for finding in health.audit.findings}
    assert len(found) == len(health.audit.findings)
    assert {finding.severity for finding in found.values()} <= {"notice"}
    return found
