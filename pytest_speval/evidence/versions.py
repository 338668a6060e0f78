"""The versions that stand in a plan: of Python, of this package, of libraries that can change a number."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

LIBRARIES = ("pytest-speval", "numpy", "onnxruntime", "soundfile", "soxr")
SCORER = ("scoring", "corpus/labels.py", "corpus/projections.py", "corpus/text.py", "tasks", "judge", "gates.py")
"""Where the code lies that turns answers into verdicts."""


@cache
def plan_versions() -> dict[str, str]:
    """Versions by name; `scorer` is the SHA-256 of the code that turns answers into verdicts."""
    found = {"python": platform.python_version(), "scorer": _scorer()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _scorer() -> str:
    package = Path(__file__).parents[1]
    files = {path for part in SCORER for path in (package / part, *(package / part).rglob("*.py")) if path.is_file()}
    whole = hashlib.sha256()
    for path in sorted(files):
        whole.update(f"{path.relative_to(package).as_posix()}\0".encode())
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()
