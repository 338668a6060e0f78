"""How a clip is heard: read, held against the digest the audit saw, decoded, brought to the contract."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_speval.corpus.audio import Sound, decode, read_bytes
from pytest_speval.corpus.contract import Contract, Prepared, prepare
from pytest_speval.corpus.float_wave import float_wave
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

    def loan_of(self, place: int) -> Callable[[], AbstractContextManager[tuple[Path | None, int | None]]]:
        """A call that lends one clip's sound as a file; see `lend`."""
        return lambda: self.lend(place)

    def hear(self, place: int) -> tuple[Any, int]:
        """One clip's samples and rate; raises `AudioFault`."""
        prepared = self._prepared(place)[1]
        return prepared.pcm, prepared.rate

    @contextmanager
    def lend(self, place: int) -> Iterator[tuple[Path | None, int | None]]:
        """One clip's sound as a file that another process may open meanwhile, and its rate; raises `AudioFault`.

        It is the audited file itself, or, where the contract picks a channel, cuts, pads or resamples, a WAVE file of
        floats with what `hear` gives. Both are None where the suite has no sound.
        """
        if self.entries is None:
            yield None, None
            return
        sound, prepared = self._prepared(place)
        if sound.channels == 1 and not prepared.notices:
            yield self.root.resolve() / self.entries[place], prepared.rate
            return
        with tempfile.NamedTemporaryFile(prefix="speval-", suffix=".wav") as file:
            file.write(float_wave(prepared.pcm, prepared.rate))
            file.flush()
            yield Path(file.name), prepared.rate

    def _prepared(self, place: int) -> tuple[Sound, Prepared]:
        """One clip as it is stored and as it is heard.

        That the entry lies below the root is what the audit saw; the digest shows that its file is still the same.
        """
        if self.entries is None or self.contract is None:
            raise AudioFault("missing", "the suite has no sound")
        entry = self.entries[place]
        sound = decode(read_bytes(self.root / entry), entry)
        if sound.bytes_sha256 != self.bytes_sha256[place]:
            raise AudioFault("changed-since-audit", f"{entry} is not the file that was audited")
        return sound, prepare(sound, self.contract)
