"""A manifest's entry: the path of one clip, kept below the corpus root."""

from __future__ import annotations

import os
import re
from pathlib import Path

from pytest_speval.errors import AudioFault

CODES = {
    "bad-path": "A manifest's entry is no relative path of a file.",
    "path-outside-root": "A manifest's entry leads out of the corpus root.",
}
_FOREIGN = re.compile(r"[A-Za-z]:|[A-Za-z][A-Za-z0-9+.-]*://|file:", re.IGNORECASE)


def resolve_entry(root: Path, entry: str) -> Path:
    """The file that `entry` names below `root`, with all links resolved; it need not exist.

    Nothing is opened. Raises `AudioFault`: `bad-path` for what is no relative path (empty, NUL, a drive letter,
    a URL, the root itself), `path-outside-root` for an absolute path, for `..` that leaves the root even if it
    comes back, and for a link that leaves.
    """
    if not _is_path(entry):
        raise AudioFault("bad-path", f"{entry!r} is no file below the corpus root: write a relative path")
    if entry.startswith(("/", "\\")) or _climbs_out(entry):
        raise _outside(entry)
    home = os.path.realpath(root)
    target = os.path.realpath(os.path.join(home, entry))  # noqa: PTH118 (pathlib would cost 10 µs a clip)
    if target == home:
        raise AudioFault("bad-path", f"{entry!r} names the corpus root itself: write the path of a file")
    if not target.startswith(home.rstrip(os.sep) + os.sep):
        raise _outside(entry)
    return Path(target)


def _is_path(entry: str) -> bool:
    try:
        os.fsencode(entry)
    except UnicodeEncodeError:
        return False
    return bool(entry) and "\0" not in entry and not _FOREIGN.match(entry)


def _climbs_out(entry: str) -> bool:
    depth = 0
    for part in re.split(r"[/\\]", entry):
        if part == "..":
            depth -= 1
        elif part not in ("", "."):
            depth += 1
        if depth < 0:
            return True
    return False


def _outside(entry: str) -> AudioFault:
    return AudioFault(
        "path-outside-root",
        f"{entry!r} leaves the corpus root and was not opened: write a path below `corpus.root`",
    )
