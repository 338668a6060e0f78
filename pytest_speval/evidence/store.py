"""Stored runs: found below a folder, read back, put together from shards. Evidence is never asked of a model again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_speval.audit.finding import Audit
from pytest_speval.errors import EvidenceFault, UsageFault
from pytest_speval.evidence.canonical import canonical, value_of
from pytest_speval.evidence.difference import differences
from pytest_speval.evidence.ending import UNATTEMPTED, Ending, endings_of, settled
from pytest_speval.evidence.folder import RunFolder
from pytest_speval.evidence.plan import SCHEMA, Plan, Question
from pytest_speval.evidence.receipt import check_evidence
from pytest_speval.evidence.shard import Shard

CODES = {
    "no-recording": "Stored evidence was asked for, and there is none.",
    "plan-damaged": "A stored plan, or the audits beside it, is not what was written.",
    "shard-missing": "Not all shards of a run are there.",
    "shard-repeated": "A shard of a run is there twice.",
    "shard-foreign": "A stored run belongs to another question, or holds clips of another shard.",
    "shard-truncated": "A shard does not hold all of its clips.",
}
DEPTHS = ("plan.json", "*/plan.json", "*/*/plan.json", "*/*/*/plan.json")
"""Where plans lie below a run folder, the folder of a suite, an output folder, and a folder of these."""


@dataclass(frozen=True)
class StoredRun:
    """One run folder that was written earlier."""

    folder: RunFolder
    plan: Plan
    audits: tuple[Audit, ...]

    @classmethod
    def read(cls, path: Path) -> StoredRun:
        """Read plan and audits back; raises `EvidenceFault` where they, or the journals, are not what was written."""
        check_evidence(RunFolder(path))
        return cls(RunFolder(path), read_plan(path / "plan.json"), read_audits(path / "audits.json"))

    @property
    def shard(self) -> Shard | None:
        """Which clips it is about, None for all."""
        return None if self.plan.shard is None else Shard(*self.plan.shard)

    def endings(self) -> list[Ending]:
        """Where each planned clip ended."""
        return endings_of(self.plan.question, self.folder.journal_lines())


def find_runs(places: Sequence[Path]) -> list[Path]:
    """The run folders that are named, or that lie in or below a named folder, each once, by name.

    Raises `UsageFault` for a place without any.
    """
    found = []
    for place in places:
        here = [path.parent for depth in DEPTHS for path in place.glob(depth)]
        if not here:
            raise UsageFault("no-recording", f"{place} holds no run: no plan.json in it or below")
        found += here
    return sorted({path.resolve(): path for path in found}.values())


def named_subject(path: Path) -> str:
    """The subject of a run folder, without checking it."""
    data = _canonical(path / "plan.json")
    try:
        return str(data["suite"]) if data["title"] is None else f"{data['suite']}[{data['title']}]"
    except (KeyError, TypeError) as error:
        raise EvidenceFault("plan-damaged", f"{path / 'plan.json'} is no plan") from error


def put_together(runs: Sequence[StoredRun]) -> list[StoredRun]:
    """Stored runs of one subject as one whole: a single run, or every shard of one, in the order of their numbers.

    Raises `EvidenceFault` that names the run or shard at fault.
    """
    first, *others = runs
    for run in others:
        if run.plan.question.digest != first.plan.question.digest:
            found = differences(first.plan.question.as_dict(), run.plan.question.as_dict())[0]
            message = f"{run.folder.name} asked another question than {first.folder.name}: {found.told('there')}"
            raise EvidenceFault("shard-foreign", message)
    shards = [run.shard for run in runs]
    if shards == [None]:
        return [first]
    _check_shards(runs)
    whole = sorted(runs, key=lambda run: run.shard or Shard(0, 0))
    for run in whole:
        _check_clips(run)
        if [audit.as_dict() for audit in run.audits] != [audit.as_dict() for audit in whole[0].audits]:
            message = f"{run.folder.name} (shard {run.shard}) was audited with another outcome than shard 1"
            raise EvidenceFault("shard-foreign", message)
    return whole


def another_question(stored: Question, asked: Question, where: str) -> str | None:
    """How the question that is asked now differs from the one that was answered, or None."""
    if stored.digest == asked.digest:
        return None
    first, *more = differences(stored.as_dict(), asked.as_dict())
    others = f" (and {len(more)} more)" if more else ""
    return f"{where} answers another question: {first.told('then')}{others} [question-differs]"


def known_endings(question: Question, folder: RunFolder) -> dict[int, Ending]:
    """How the clips of a folder ended that were asked at all, by place."""
    endings = zip(question.planned, endings_of(question, folder.journal_lines()), strict=True)
    return {place: ending for place, ending in endings if ending is not UNATTEMPTED}


def again(question: Question, known: Mapping[int, Ending]) -> dict[int, int]:
    """Place of each clip whose call never came back and may be made once more -> the number of that attempt."""
    if question.once:
        return {}
    return {place: ending.attempts + 1 for place, ending in known.items() if ending.state == "unknown"}


def _check_shards(runs: Sequence[StoredRun]) -> None:
    """Each shard must be there, once, and nothing else."""
    seen: dict[Shard | None, str] = {}
    for run in runs:
        if run.shard in seen:
            what = "the whole run" if run.shard is None else f"shard {run.shard}"
            raise EvidenceFault("shard-repeated", f"{seen[run.shard]} and {run.folder.name} are both {what}")
        seen[run.shard] = run.folder.name
    of = max(shard.of for shard in seen if shard is not None)
    for shard, name in seen.items():
        if shard is None or shard.of != of:
            what = "the whole run" if shard is None else f"shard {shard}"
            raise EvidenceFault("shard-foreign", f"{name} is {what} where the others are shards of {of}")
    missing = [str(Shard(number, of)) for number in range(1, of + 1) if Shard(number, of) not in seen]
    if missing:
        raise EvidenceFault("shard-missing", f"there is no shard {', '.join(missing)}")


def _check_clips(run: StoredRun) -> None:
    """A shard holds all of its clips and no other."""
    assert run.shard is not None
    question = run.plan.question
    own = run.shard.places(question)
    lacking = []
    for place, ending in zip(question.planned, run.endings(), strict=True):
        if place in own and ending.state == "unattempted":
            lacking.append(question.name(place))
        elif place not in own and ending.attempts and settled(question, place) is None:
            message = f"{run.folder.name} (shard {run.shard}) holds {question.name(place)}, which is not its clip"
            raise EvidenceFault("shard-foreign", message)
    if lacking:
        message = f"{run.folder.name} (shard {run.shard}) lacks {len(lacking):,} of {len(own):,} clips: {lacking[0]}"
        raise EvidenceFault("shard-truncated", f"{message}; go on with --speval-resume")


def read_plan(path: Path) -> Plan:
    """A plan whose digests are those of its content; raises `EvidenceFault` for anything else."""
    data = _canonical(path)
    try:
        if data["schemaVersion"] != SCHEMA:
            raise EvidenceFault("plan-damaged", f"{path} has schema {data['schemaVersion']}; this is {SCHEMA}")
        plan = Plan.from_dict(data)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise EvidenceFault("plan-damaged", f"{path} is no plan: {type(error).__name__}: {error}") from error
    for name, digest in (("questionSha256", plan.question.digest), ("planSha256", plan.digest)):
        if data[name] != digest:
            part = "question" if name == "questionSha256" else "rules or versions"
            raise EvidenceFault("plan-damaged", f"{path}: {part} is not what {name} stands for")
    return plan


def read_audits(path: Path) -> tuple[Audit, ...]:
    """The audits of a run; raises `EvidenceFault` for anything that no run writes."""
    data = _canonical(path)
    try:
        audits = tuple(map(Audit.from_dict, data))
        if [audit.as_dict() for audit in audits] != data:
            raise ValueError("its verdicts are not those of its findings")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise EvidenceFault("plan-damaged", f"{path} holds no audits: {type(error).__name__}: {error}") from error
    return audits


def _canonical(path: Path) -> Any:
    """The value of a file that must be canonical JSON and a line end."""
    try:
        text = path.read_bytes()
        value = value_of(text)
        if canonical(value) + b"\n" != text:
            raise ValueError("not canonical")
    except (OSError, ValueError) as error:
        raise EvidenceFault("plan-damaged", f"{path} cannot be read as it was written: {error}") from error
    return value


def by_subject(paths: Sequence[Path]) -> Mapping[str, Sequence[Path]]:
    """Run folders by what they are runs of."""
    found: dict[str, list[Path]] = {}
    for path in paths:
        found.setdefault(named_subject(path), []).append(path)
    return found
