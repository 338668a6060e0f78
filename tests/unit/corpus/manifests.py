"""Manifests written for one test and read back, shared by the tests of every format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_speval.corpus.manifest import Format, Manifest, read_manifest
from pytest_speval.errors import Fault, FaultyFile


def read(folder: Path, name: str, content: str | bytes, form: Format | None = None, **how: Any) -> Manifest:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_manifest(path, name, form or Format(), **how)


def faults_of(
    folder: Path, name: str, content: str | bytes, form: Format | None = None, **how: Any
) -> tuple[Fault, ...]:
    with pytest.raises(FaultyFile) as caught:
        read(folder, name, content, form, **how)
    assert {fault.file for fault in caught.value.faults} == {name}
    return caught.value.faults


def fault_of(folder: Path, name: str, content: str | bytes, form: Format | None = None, **how: Any) -> Fault:
    (fault,) = faults_of(folder, name, content, form, **how)
    return fault
