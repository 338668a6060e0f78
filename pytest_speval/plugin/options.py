"""Every option and ini value, read once into one frozen `Settings`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pytest_speval.errors import UsageFault

CODES = {
    "out-unusable": "The output folder is not a folder, or cannot be made.",
    "out-taken-for-a-test": "`--speval-out DIR` in two words, where pytest would take DIR for a test path.",
    "pattern-empty": "`speval_suites` or `speval_gates` is set, and no file fits.",
}
DEFAULTS = {"speval_suites": ["suites/*.yaml"], "speval_gates": ["gates/*.yaml"]}


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
    parser.addini("speval_suites", "where suite files lie", type="args", default=DEFAULTS["speval_suites"])
    parser.addini("speval_gates", "where gate files lie", type="args", default=DEFAULTS["speval_gates"])
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
        tuple(overlooked(rootdir, config.getini("speval_suites"), config.getini("speval_gates"))),
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


def overlooked(rootdir: Path, suites: list[str], gates: list[str]) -> list[Path]:
    """YAML files that lie beside suites, or anywhere below the folders of gates, and that no pattern finds."""
    beside = {path for folder in _folders(rootdir, suites) for path in folder.iterdir()}
    beside |= {path for folder in _folders(rootdir, gates) for path in folder.rglob("*")}
    found = {*_globbed(rootdir, suites), *_globbed(rootdir, gates)}
    return sorted(path for path in beside - found if path.suffix.lower() in (".yml", ".yaml") and not path.is_dir())


def _folders(rootdir: Path, patterns: list[str]) -> set[Path]:
    folders = {(rootdir / pattern).parent for pattern in patterns if "*" not in str(Path(pattern).parent)}
    return {folder for folder in folders if folder.is_dir() and folder != rootdir}


def refuse_lost_options(config: pytest.Config) -> None:
    """Raise `UsageFault` for options that would quietly make this a session without suites or gates."""
    for name, default in DEFAULTS.items():
        patterns = config.getini(name)
        if patterns != default and not _globbed(config.rootpath, patterns):
            message = f"{name} is {' '.join(patterns)}, and no file below {config.rootpath} fits"
            raise UsageFault("pattern-empty", message)
    out, here = config.getoption("speval_out"), config.invocation_params.dir
    apart = out and str(out) in map(str, config.invocation_params.args)
    if apart and (here / out).exists() and not wanted_suites(config):
        message = f"write --speval-out={out}: in two words pytest takes the folder for a test path"
        raise UsageFault("out-taken-for-a-test", message)


def _check_out(out: Path) -> None:
    standing = next(path for path in (out, *out.parents) if path.exists())
    if not standing.is_dir() or not os.access(standing, os.W_OK):
        raise UsageFault("out-unusable", f"--speval-out {out}: {standing} is no folder that can be written to")
