"""The folder of one run, made by one process and never made twice."""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.arrays import FOLDER
from pytest_speval.evidence.canonical import canonical
from pytest_speval.evidence.journal import read_journal

CODES = {
    "folder-unwritable": "A run folder cannot be made or written below the output folder.",
    "folder-gone": "A run folder was removed while its run was on.",
}


class RunFolder:
    """`<out>/<suite>/<time>-<8 hex of the question>/` with its named files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journals = path / "journal"

    @classmethod
    def create(cls, out: Path, suite: str, started: datetime, question: str) -> RunFolder:
        """Make a new folder; raises `EvidenceFault` where that is not possible."""
        stamp = started.strftime("%Y%m%dT%H%M%S.") + f"{started.microsecond // 1000:03d}Z"
        folder = cls(out / suite / f"{stamp}-{question[:8]}")
        try:
            folder.path.parent.mkdir(parents=True, exist_ok=True)
            folder.path.mkdir()
            folder.journals.mkdir()
        except OSError as error:
            raise EvidenceFault("folder-unwritable", f"cannot make {folder.path}: {error.strerror}") from error
        return folder

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self.path.name

    def new_journal(self, process: str) -> Path:
        """A file that no journal has yet, for one process: `gw0.jsonl`, after a resume `gw0.2.jsonl`."""
        taken = {path.name for path in self.journals.glob("*.jsonl")}
        names = (f"{process}{'' if number == 1 else f'.{number}'}.jsonl" for number in itertools.count(1))
        return self.journals / next(name for name in names if name not in taken)

    def copy_journals(self, source: RunFolder, prefix: str) -> None:
        """Take over the journals of another folder and their arrays, byte by byte; torn ends come along."""
        for path in source.journal_files():
            write_whole(self.journals / f"{prefix}{path.name}", path.read_bytes())
            _copy_arrays(source.path / FOLDER / path.stem, self.path / FOLDER / f"{prefix}{path.stem}")

    def sweep_arrays(self, named: Collection[str]) -> None:
        """Take away files of arrays that are not named: calls that never came back left them, and are made again.

        Raises `EvidenceFault` `folder-unwritable`. No link is followed.
        """
        below = (Path(where) for where, _, _ in os.walk(self.path))
        folders = [path for path in below if path.relative_to(self.path).parts[:1] == (FOLDER,)]
        try:
            for path in (path for folder in folders for path in folder.iterdir()):
                if path.relative_to(self.path).as_posix() not in named and (path.is_symlink() or not path.is_dir()):
                    path.unlink()
        except OSError as error:
            message = f"cannot take away what a killed process left below {self.path}: {error.strerror}"
            raise EvidenceFault("folder-unwritable", message) from error

    def journal_files(self) -> list[Path]:
        """The journals, by name; raises `EvidenceFault` where the folder is gone."""
        if not self.journals.is_dir():
            raise EvidenceFault(
                "folder-gone", f"{self.journals} is not there any more: the evidence of this run is lost"
            )
        return sorted(self.journals.glob("*.jsonl"))

    def journal_lines(self) -> Iterator[dict[str, Any]]:
        """The lines of all journals, file by file; raises `EvidenceFault` for a damaged one."""
        for path in self.journal_files():
            yield from read_journal(path)

    def write_json(self, name: str, value: Any) -> None:
        """Write canonical JSON, whole or not at all."""
        write_whole(self.path / name, canonical(value) + b"\n")

    def write_pieces(self, name: str, pieces: Iterable[bytes]) -> None:
        """Write a file piece by piece, whole or not at all; the pieces are not held at once."""
        write_pieces(self.path / name, pieces)


def _copy_arrays(source: Path, target: Path) -> None:
    """Copy the arrays of one journal; what is not there, or is no plain file, shows when endings are read."""
    if not source.is_dir():
        return
    try:
        target.mkdir(parents=True)
        for path in sorted(source.iterdir()):
            if path.is_file() and not path.is_symlink():
                write_whole(target / path.name, path.read_bytes())
    except OSError as error:
        raise EvidenceFault("folder-unwritable", f"cannot copy {source} to {target}: {error.strerror}") from error


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that a reader never sees half of it."""
    write_pieces(path, (data,))


def write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """Write to a neighbour piece by piece and rename; whatever goes wrong, no half file stays."""
    neighbour = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with neighbour.open("wb") as file:
            file.writelines(pieces)
        neighbour.replace(path)
    except OSError as error:
        raise EvidenceFault("folder-unwritable", f"cannot write {path}: {error.strerror}") from error
    finally:
        with suppress(OSError):
            neighbour.unlink()
