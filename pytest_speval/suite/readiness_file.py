"""The readiness file beside a suite: how it is called."""

from __future__ import annotations

from pathlib import Path

SUFFIX = ".readiness.yaml"


def readiness_file(suite: Path) -> Path:
    """The readiness file of a suite file: `x.readiness.yaml` beside `x.yaml`."""
    return suite.with_name(suite.stem + SUFFIX)


def is_readiness(path: Path) -> bool:
    """Say whether a file is called as a readiness file, and so is no suite."""
    return path.name.endswith(SUFFIX)


def belongs(path: Path) -> bool:
    """Say whether a readiness file stands beside the suite that it is about."""
    stem = path.name.removesuffix(SUFFIX)
    return is_readiness(path) and any(path.with_name(stem + end).is_file() for end in (".yaml", ".yml"))
