"""The architecture, read from the imports: a room imports only from rooms above it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import pytest_speval

PACKAGE = Path(pytest_speval.__file__).parent
ROOMS = (
    "errors", "scoring", "suite", "corpus", "adapters", "audit", "evidence", "ask", "tasks", "gates", "judge",
    "reports", "verify", "strategies", "plugin", "command", "strategies",
)  # fmt: skip
CHEAP = ("__init__.py", "plugin/__init__.py", "errors.py")
LONGEST_MODULE = 320
MODULES = sorted(PACKAGE.rglob("*.py"))


def imports(path: Path, *, top_only: bool = False) -> Iterator[str]:
    """Names of the modules a file imports; those under TYPE_CHECKING are left out when only the top counts."""
    tree = ast.parse(path.read_text())
    for node in tree.body if top_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_only_from_rooms_above(path: Path) -> None:
    room = room_of(path)
    if room == "__init__":
        return
    for name in imports(path):
        if name.startswith("pytest_speval."):
            other = name.split(".")[1]
            assert ROOMS.index(other) <= ROOMS.index(room), f"{room} must not import {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_edge_knows_pytest(path: Path) -> None:
    shown = path.relative_to(PACKAGE).as_posix()
    if not shown.startswith("plugin/") and shown != "reports/terminal.py":
        assert not [name for name in imports(path) if name.split(".")[0] in ("pytest", "_pytest", "xdist")]


@pytest.mark.parametrize("shown", CHEAP)
def test_what_every_session_imports_is_cheap(shown: str) -> None:
    heavy = {"numpy", "pydantic", "yaml", "rich", "orjson", "rfc8785"}
    assert not [name for name in imports(PACKAGE / shown, top_only=True) if name.split(".")[0] in heavy]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_stays_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST_MODULE


def test_there_is_a_room_for_every_module() -> None:
    assert {room_of(path) for path in MODULES} - {"__init__"} == set(ROOMS)
