"""How a clip is heard: read, held against the digest the audit saw, decoded, brought to the contract."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_speval.corpus.audio import decode, read_bytes
from pytest_speval.corpus.contract import Contract, prepare
from pytest_speval.errors import AudioFault

CODES = {"changed-since-audit": "A sound file is not the one that was audited before the first call."}


@dataclass(frozen=True)
class Hearing:
    """The sound of listed clips; entries of None mean that the suite has none."""

    root: Path
    entries: Sequence[str] | None
    contract: Contract | None
    bytes_sha256: Sequence[str | None]

    def of(self, place: int) -> Callable[[], tuple[Any, int]]:
        """A call that gives one clip's samples (read-only float32, full scale 1) and their rate in Hz."""
        return lambda: self.hear(place)

    def hear(self, place: int) -> tuple[Any, int]:
        """One clip's samples and rate; raises `AudioFault`.

        That the entry lies below the root is what the audit saw; the digest shows that its file is still the same.
        """
        if self.entries is None or self.contract is None:
            raise AudioFault("missing", "the suite has no sound")
        entry = self.entries[place]
        sound = decode(read_bytes(self.root / entry), entry)
        if sound.bytes_sha256 != self.bytes_sha256[place]:
            raise AudioFault("changed-since-audit", f"{entry} is not the file that was audited")
        prepared = prepare(sound, self.contract)
        return prepared.pcm, prepared.rate
