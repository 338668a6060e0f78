"""A hold on something that one process at a time may use; the system lets go of it when the process ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Self

from pytest_speval.errors import EvidenceFault

CODES = {"held": "Another process is asking this question, or writing to this run folder, right now."}


class Hold:
    """An exclusive lock on a file or folder, held from `take` to `release`, also through a kill."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def take(cls, path: Path, what: str) -> Self:
        """Hold a folder, or a file that is made where it is missing; raises `EvidenceFault` where another holds it."""
        flags = os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT
        try:
            descriptor = os.open(path, flags | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise EvidenceFault("held", f"cannot hold {path}: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            raise EvidenceFault("held", f"another process is at work on {what}: wait for its end") from error
        return cls(descriptor)

    def release(self) -> None:
        """Let go."""
        os.close(self._descriptor)
