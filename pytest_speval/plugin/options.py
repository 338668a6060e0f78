"""Every option and ini value, read once into one frozen `Settings`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_speval.errors import MissingExtra, UsageFault
from pytest_speval.suite.readiness_file import belongs, is_readiness

if TYPE_CHECKING:
    from pytest_speval.evidence.receipt import SigningKey
    from pytest_speval.evidence.shard import Shard

CODES = {
    "out-unusable": "The output folder is not a folder, or cannot be made.",
    "out-taken-for-a-test": "`--speval-out DIR` in two words, where pytest would take DIR for a test path.",
    "options-contradict": "Two options ask for things that cannot both be done.",
    "release-refused": "An option would take the verdict out of a release.",
    "no-suite-here": "An option is about suites, and the session has none.",
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
    group.addoption(
        "--speval-replay",
        metavar="DIR",
        action="append",
        default=[],
        help="judge stored evidence (a run folder, or a folder of them) instead of asking models; repeatable",
    )
    group.addoption(
        "--speval-resume",
        metavar="DIR",
        action="append",
        default=[],
        help="go on with the run in this folder after a kill; same question only",
    )
    group.addoption("--speval-shard", metavar="I/N", help="ask only the I-th of N parts of the clips; judges nothing")
    group.addoption(
        "--speval-spend",
        metavar="SUITE",
        action="append",
        default=[],
        help="go ahead with the billable suite of this name",
    )
    group.addoption(
        "--speval-sign", metavar="KEY.pem", help="sign receipts with this Ed25519 key (PKCS8, no passphrase)"
    )
    group.addoption(
        "--speval-release",
        action="store_true",
        help="a release is at stake: nothing skipped, partial, sharded, or waived without owner and date",
    )
    parser.addini("speval_suites", "where suite files lie", type="args", default=DEFAULTS["speval_suites"])
    parser.addini("speval_gates", "where gate files lie", type="args", default=DEFAULTS["speval_gates"])
    parser.addini("speval_ledger", "the ledger of calls that cost", type="string", default=".speval/ledger.sqlite")
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
    replay: tuple[Path, ...] = ()
    resume: tuple[Path, ...] = ()
    shard: Shard | None = None
    spend: frozenset[str] = frozenset()
    release: bool = False
    sign: SigningKey | None = None
    ledger: Path = Path(".speval/ledger.sqlite")
    worker: str | None = None
    orders: Path | None = None
    gate_ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    @property
    def judges(self) -> bool:
        """Say whether gates are judged: not where a part of the clips is wanted."""
        return not self.partial and self.shard is None


def read_settings(config: pytest.Config) -> Settings:
    """The settings of this process; raises `UsageFault` for an output folder that cannot serve."""
    rootdir, here = config.rootpath, config.invocation_params.dir
    given = config.getoption("speval_out")
    out = here / given if given else rootdir / config.getini("speval_out")
    told: Mapping[str, object] = getattr(config, "workerinput", {}).get("speval", {})
    worker = getattr(config, "workerinput", {}).get("workerid")
    if worker is None:
        _check_out(out)
        _refuse_contradictions(config)
    return Settings(
        rootdir,
        here,
        out,
        _suites(rootdir, config.getini("speval_suites")),
        _globbed(rootdir, config.getini("speval_gates")),
        tuple(overlooked(rootdir, config.getini("speval_suites"), config.getini("speval_gates"))),
        tuple(config.getoption("speval_set")),
        config.getoption("speval_partial"),
        config.get_verbosity() < 0,
        replay=tuple(here / place for place in config.getoption("speval_replay")),
        resume=tuple(here / place for place in config.getoption("speval_resume")),
        shard=_shard(config.getoption("speval_shard")),
        spend=frozenset(config.getoption("speval_spend")),
        release=config.getoption("speval_release"),
        sign=_signing_key(here, config.getoption("speval_sign")) if worker is None else None,
        ledger=rootdir / config.getini("speval_ledger"),
        worker=worker,
        orders=Path(str(told["orders"])) if told else None,
        gate_ids={suite: tuple(ids) for suite, ids in told["gates"].items()} if told else {},  # type: ignore[attr-defined]
    )


def _shard(given: str | None) -> Shard | None:
    """The shard that is asked for; imported only then, for evidence loads more than an idle session may."""
    if given is None:
        return None
    from pytest_speval.evidence.shard import Shard

    return Shard.parse(given)


def _signing_key(here: Path, given: str | None) -> SigningKey | None:
    """The key that receipts will be signed with; raises `UsageFault` for one that cannot sign."""
    if given is None:
        return None
    from pytest_speval.evidence.receipt import SigningKey

    try:
        return SigningKey.of(here / given)
    except MissingExtra as fault:
        raise UsageFault(fault.code, fault.message) from fault


def wanted_suites(config: pytest.Config) -> bool:
    """Say, without reading anything, whether any suite file lies where this session collects."""
    suites = _suites(config.rootpath, config.getini("speval_suites"))
    if not suites:
        return False
    here = config.invocation_params.dir
    asked = [Path(os.path.abspath(here / str(arg).partition("::")[0])) for arg in config.args]  # noqa: PTH100
    return any(path == place or place in path.parents for path in suites for place in asked)


def _suites(rootdir: Path, patterns: list[str]) -> tuple[Path, ...]:
    """The suite files; a readiness file beside one of them is none."""
    return tuple(path for path in _globbed(rootdir, patterns) if not is_readiness(path))


def _globbed(rootdir: Path, patterns: list[str]) -> tuple[Path, ...]:
    found = {path for pattern in patterns for path in rootdir.glob(pattern)}
    return tuple(sorted(path for path in found if path.is_file() or path.is_symlink()))


def overlooked(rootdir: Path, suites: list[str], gates: list[str]) -> list[Path]:
    """YAML files beside suites, or anywhere below the folders of gates, that no pattern finds and no suite owns."""
    beside = {path for folder in _folders(rootdir, suites) for path in folder.iterdir()}
    beside |= {path for folder in _folders(rootdir, gates) for path in folder.rglob("*")}
    found = {*_suites(rootdir, suites), *_globbed(rootdir, gates), *filter(belongs, beside)}
    return sorted(path for path in beside - found if path.suffix.lower() in (".yml", ".yaml"))


def _folders(rootdir: Path, patterns: list[str]) -> set[Path]:
    folders = {(rootdir / pattern).parent for pattern in patterns if "*" not in str(Path(pattern).parent)}
    return {folder for folder in folders if folder.is_dir() and folder != rootdir}


def refuse_lost_options(config: pytest.Config) -> None:
    """Raise `UsageFault` for options that would quietly make this a session without suites or gates."""
    for name, default in DEFAULTS.items():
        patterns = config.getini(name)
        if patterns != default and not _suites(config.rootpath, patterns):
            message = f"{name} is {' '.join(patterns)}, and no file below {config.rootpath} fits"
            raise UsageFault("pattern-empty", message)
    out, here = config.getoption("speval_out"), config.invocation_params.dir
    apart = out and str(out) in map(str, config.invocation_params.args)
    if apart and (here / out).exists() and not wanted_suites(config):
        message = f"write --speval-out={out}: in two words pytest takes the folder for a test path"
        raise UsageFault("out-taken-for-a-test", message)
    asked = [name for name in ("release", "replay", "resume", "shard", "spend") if config.getoption(f"speval_{name}")]
    if asked and not wanted_suites(config):
        raise UsageFault(
            "no-suite-here", f"--speval-{asked[0]} is about suites, and none lies where tests are collected"
        )


def _refuse_contradictions(config: pytest.Config) -> None:
    """Raise `UsageFault` for options that ask for two things at once."""
    given = {name for name in ("replay", "resume", "shard", "spend", "partial") if config.getoption(f"speval_{name}")}
    for one, others in (("replay", {"resume", "shard", "spend"}), ("shard", {"partial"})):
        both = sorted(given & others) if one in given else ()
        if both:
            raise UsageFault("options-contradict", f"--speval-{one} and --speval-{both[0]} ask for two things at once")
    if config.getoption("speval_release"):
        _refuse_under_release(config, given)


def _refuse_under_release(config: pytest.Config, given: set[str]) -> None:
    """Under `--speval-release` no option may bring a green session without a verdict."""
    loose = [f"--speval-{name}" for name in ("partial", "shard") if name in given]
    loose += ["--collect-only"] if config.getoption("collectonly") else []
    if loose:
        raise UsageFault("release-refused", f"{loose[0]} gives no verdict, and --speval-release asks for one")
    for override in config.getoption("speval_set"):
        keys = override.partition("=")[0].split(".")[1:]
        if keys[:1] not in (["adapter"], ["adapters"]) and keys != ["corpus", "root"]:
            message = f"--speval-set {override}: a release may only override an adapter's keys and corpus.root"
            raise UsageFault("release-refused", message)


def _check_out(out: Path) -> None:
    standing = next(path for path in (out, *out.parents) if path.exists())
    if not standing.is_dir() or not os.access(standing, os.W_OK):
        raise UsageFault("out-unusable", f"--speval-out {out}: {standing} is no folder that can be written to")
