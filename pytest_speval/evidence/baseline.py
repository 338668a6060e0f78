"""A baseline: the evidence of a finished run in one file, small enough to be kept with the suite it was a run of.

It holds the plan, the audits and where each planned clip ended, and nothing that follows from these: whoever reads it
judges it anew, and comes to the run's own estimates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_speval.audit.finding import Audit
from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.canonical import canonical, digest, value_of
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.folder import RunFolder, write_whole
from pytest_speval.evidence.plan import Plan
from pytest_speval.evidence.store import StoredRun

CODES = {
    "baseline-missing": "A gate names a baseline, and there is none.",
    "baseline-damaged": "A baseline is not what `speval bless` wrote.",
    "baseline-foreign": "A file that stands for a baseline is none, or one that another version wrote.",
}
SCHEMA = 1
NAME = "baseline.json"
COPIES = "baselines"
"""The folder in a run folder that holds the baselines the run was compared with, each under its digest."""
PLAIN = Ending("returned")


@dataclass(frozen=True)
class Baseline:
    """The evidence of one run; `endings` has one for each planned clip, in the order of the manifest."""

    plan: Plan
    audits: tuple[Audit, ...]
    endings: tuple[Ending, ...]

    @classmethod
    def of(cls, run: StoredRun) -> Baseline:
        """The baseline that a stored run makes; it keeps no arrays."""
        return cls(run.plan, run.audits, tuple(map(_without_arrays, run.endings())))

    @classmethod
    def read(cls, data: bytes, name: str) -> Baseline:
        """Read a baseline back; messages call it `name`.

        Raises `EvidenceFault` `baseline-damaged` for anything that is not, byte for byte, what was written, and
        `baseline-foreign` for what is no baseline at all.
        """
        damaged = EvidenceFault("baseline-damaged", f"{name} is not what was written: restore it, or bless a run again")
        try:
            value = value_of(data)
        except ValueError as error:
            raise damaged from error
        try:
            if value["schemaVersion"] != SCHEMA:
                message = f"{name} has schema {value['schemaVersion']}, and this version reads {SCHEMA}"
                raise EvidenceFault("baseline-foreign", message)
            endings = tuple(Ending(**ended) for ended in value["endings"])
            baseline = cls(Plan.from_dict(value["plan"]), tuple(map(Audit.from_dict, value["audits"])), endings)
            whole = baseline.as_bytes() == data and len(endings) == len(baseline.plan.question.planned)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise EvidenceFault("baseline-foreign", f"{name} is no baseline") from error
        if not whole:
            raise damaged
        return baseline

    @cached_property
    def _content(self) -> dict[str, Any]:
        return {
            "schemaVersion": SCHEMA,
            "plan": self.plan.as_dict(),
            "audits": [audit.as_dict() for audit in self.audits],
            "endings": [_ended(ending) for ending in self.endings],
        }

    @cached_property
    def sha256(self) -> str:
        """The digest that plans and locks know the baseline by."""
        return digest(self._content)

    def as_bytes(self) -> bytes:
        """Canonical JSON and a line end; `baselineSha256` is the SHA-256 of the canonical JSON of all else."""
        return canonical(self._content | {"baselineSha256": self.sha256}) + b"\n"


def _without_arrays(ending: Ending) -> Ending:
    return ending if ending.arrays is None else replace(ending, arrays=None)


def _ended(ending: Ending) -> dict[str, Any]:
    """What an ending says beyond a plain return."""
    told = {name: getattr(ending, name) for name in Ending.__slots__}
    return {name: said for name, said in told.items() if name == "state" or said != getattr(PLAIN, name)}


def read_baseline(folder: Path, name: str) -> Baseline:
    """The baseline in a folder, which messages call `name`.

    Raises `EvidenceFault`, `baseline-missing` where the folder or its file is not there.
    """
    return Baseline.read(_read(folder / NAME, f"{name} holds no {NAME}"), f"{name}/{NAME}")


def _read(path: Path, missing: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise EvidenceFault("baseline-missing", f"{missing}: {error.strerror}") from error


def keep_baselines(folder: RunFolder, baselines: Iterable[Baseline]) -> None:
    """Make baselines part of a run's evidence."""
    for baseline in baselines:
        (folder.path / COPIES).mkdir(exist_ok=True)
        write_whole(folder.path / copy_name(baseline.sha256), baseline.as_bytes())


def kept_baselines(folder: RunFolder, rules: Mapping[str, Any]) -> dict[str, Baseline]:
    """The baselines that the gates of a plan's rules name, by digest, from the copies in its run folder.

    Raises `EvidenceFault` for one that is missing there, or another than the gate's.
    """
    named = {gate["baseline"]["sha256"] for gate in rules.get("gates", ()) if "baseline" in gate} - {None}
    found = {}
    for sha256 in sorted(named):
        name = copy_name(sha256)
        found[sha256] = Baseline.read(_read(folder.path / name, f"there is no {name}"), name)
        if found[sha256].sha256 != sha256:
            raise EvidenceFault("baseline-damaged", f"{name} is not the baseline that the plan names")
    return found


def copy_name(sha256: str) -> str:
    """The name of a baseline's copy below a run folder."""
    return f"{COPIES}/{sha256}.json"
