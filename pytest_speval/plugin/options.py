"""Every option and ini value, read once into one frozen `Settings`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pytest_speval.errors import UsageFault

CODES = {"out-unusable": "The output folder is not a folder, or cannot be made."}


def add_options(parser: pytest.Parser) -> None:
    """Declare our options and ini values."""
    group = parser.getgroup("speval", "speech evaluations")
    group.addoption("--speval-out", metavar="DIR", help="where evidence and reports go (default: .speval)")
    group.addoption(
        "--speval-set",
        metavar="SUITE.KEY=VALUE",
        action="append",
        default=[],
        help="override a value of a suite; read as YAML, listed in every report",
    )
    group.addoption(
        "--speval-partial",
        action="store_true",
        help="work on single clips: no verdict is wanted, gates are not judged",
    )
    parser.addini("speval_suites", "where suite files lie", type="args", default=["suites/*.yaml"])
    parser.addini("speval_gates", "where gate files lie", type="args", default=["gates/*.yaml"])
    parser.addini("speval_out", "where evidence and reports go", type="string", default=".speval")


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line and the ini file say; `worker` is the worker's id, None where results are judged."""

    rootdir: Path
    here: Path
    out: Path
    suites: tuple[Path, ...]
    gates: tuple[Path, ...]
    overlooked: tuple[Path, ...]
    overrides: tuple[str, ...]
    partial: bool
    quiet: bool
    worker: str | None = None
    orders: Path | None = None
    gate_ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


def read_settings(config: pytest.Config) -> Settings:
    """The settings of this process; raises `UsageFault` for an output folder that cannot serve."""
    rootdir, here = config.rootpath, config.invocation_params.dir
    given = config.getoption("speval_out")
    out = here / given if given else rootdir / config.getini("speval_out")
    told: Mapping[str, object] = getattr(config, "workerinput", {}).get("speval", {})
    worker = getattr(config, "workerinput", {}).get("workerid")
    if worker is None:
        _check_out(out)
    return Settings(
        rootdir,
        here,
        out,
        _globbed(rootdir, config.getini("speval_suites")),
        _globbed(rootdir, config.getini("speval_gates")),
        tuple(overlooked(rootdir, [*config.getini("speval_suites"), *config.getini("speval_gates")])),
        tuple(config.getoption("speval_set")),
        config.getoption("speval_partial"),
        config.get_verbosity() < 0,
        worker,
        Path(str(told["orders"])) if told else None,
        {suite: tuple(ids) for suite, ids in told["gates"].items()} if told else {},  # type: ignore[attr-defined]
    )


def wanted_suites(config: pytest.Config) -> bool:
    """Say, without reading anything, whether any suite file lies where this session collects."""
    suites = _globbed(config.rootpath, config.getini("speval_suites"))
    if not suites:
        return False
    here = config.invocation_params.dir
    asked = [Path(os.path.abspath(here / str(arg).partition("::")[0])) for arg in config.args]  # noqa: PTH100
    return any(path == place or place in path.parents for path in suites for place in asked)


def _globbed(rootdir: Path, patterns: list[str]) -> tuple[Path, ...]:
    found = {path for pattern in patterns for path in rootdir.glob(pattern)}
    return tuple(sorted(path for path in found if path.is_file() or path.is_symlink()))


def overlooked(rootdir: Path, patterns: Iterable[str]) -> list[Path]:
    """Files that lie where suites or gates do and have YAML's other endings, so that no pattern finds them."""
    patterns = list(patterns)
    folders = {(rootdir / pattern).parent for pattern in patterns if "*" not in str(Path(pattern).parent)}
    beside = {path for folder in folders if folder.is_dir() for path in folder.iterdir()}
    found = set(_globbed(rootdir, patterns))
    return sorted(path for path in beside - found if path.suffix.lower() in (".yml", ".yaml") and not path.is_dir())


def _check_out(out: Path) -> None:
    standing = next(path for path in (out, *out.parents) if path.exists())
    if not standing.is_dir() or not os.access(standing, os.W_OK):
        raise UsageFault("out-unusable", f"--speval-out {out}: {standing} is no folder that can be written to")
