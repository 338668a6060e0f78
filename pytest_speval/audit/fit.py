"""`audit[adapter]`: may this adapter be asked about these clips?"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pytest_speval.adapters.base import Identity, Recorded, Roll, Traits, can_answer, tamed, traits, warm_up
from pytest_speval.audit.finding import Audit, Finding
from pytest_speval.corpus.labels import OUTSIDE, LabelRules
from pytest_speval.corpus.projections import AxesProjection
from pytest_speval.errors import SpevalError

CODES = {
    "adapter-broken": "The adapter raised while it was built or warmed up.",
    "pin-not-met": "A package the suite pins is absent or of another version.",
    "asset-missing": "A file the suite or the adapter names does not exist.",
    "asset-changed": "A file's SHA-256 is not the one the suite pins.",
    "no-method": "The adapter lacks the method of its task.",
    "no-sound": "The adapter hears clips, and the suite has no sound for it.",
    "labels-unreached": "The adapter's labels do not lead to the suite's set.",
    "no-batch": "`run.batch` is above 1, and the adapter cannot answer batches.",
    "batch-unchecked": "Batches of a model that costs, or that may be asked once, cannot be checked beforehand.",
    "batch-differs": "The adapter answers otherwise in a batch than alone.",
    "predictions-spare": "Recorded answers belong to clips that are not planned.",
}
TOLERANCE = 1e-4
"""By how much a score may differ between a batch and a clip alone."""
Hear = Callable[[], tuple[Any, int]]


@dataclass(frozen=True, slots=True)
class Request:
    """What a suite wants of its adapter; `samples` are a few clips for the check of batches."""

    use: str
    method: str
    sound: bool
    heard: bool
    labels: LabelRules | None
    supported: frozenset[str]
    roll: Roll
    requires: Mapping[str, str] = field(default_factory=dict)
    assets: Mapping[str, str] = field(default_factory=dict)
    folder: Path = Path()
    batch: int = 1
    samples: Sequence[Hear] = ()
    once: bool = False


@dataclass(frozen=True, slots=True)
class Fit:
    """The audit, the adapter's identity as it stands in the question, and what was known once it was warm."""

    audit: Audit
    identity: Mapping[str, Any]
    facts: Mapping[str, Any]


def audit_adapter(adapter: Any, request: Request) -> Fit:
    """Check pins, files, labels and batches, and warm the adapter up."""
    findings = [*_pins(request.requires), *_assets(request)]
    identity: Mapping[str, Any] = {"name": request.use, "files": {}}
    facts: Mapping[str, Any] = {}
    try:
        said = traits(adapter, request.use)
        identity, missing = describe(said.identity, said.labels)
        findings += missing or _abilities(adapter, said, request)
        if not findings:
            facts = warm_up(adapter)
            findings += _last(adapter, request)
    except BaseException as error:
        findings.append(broken(request.use, error))
    return Fit(Audit("adapter", tuple(findings)), identity, facts)


def broken(use: str, error: BaseException) -> Finding:
    """What an adapter's own code raised while it was built or warmed up, as a finding; only an interrupt passes."""
    tame = tamed(error)
    if isinstance(tame, SpevalError):
        return Finding("error", tame.code, tame.message)
    return Finding("error", "adapter-broken", f"{use}: {type(tame).__name__}: {tame}")


def describe(identity: Identity, labels: tuple[str, ...] | None = None) -> tuple[dict[str, Any], list[Finding]]:
    """An identity as plain data with its files' digests, and a finding for each file that is not there."""
    files: dict[str, str] = {}
    missing = []
    for path in identity.files:
        if path.is_file():
            name = path.name if path.name not in files else f"{path.name} ({len(files) + 1})"
            files[name] = sha256_of(path)
        else:
            missing.append(Finding("error", "model-missing", f"no model file {path}"))
    said: dict[str, Any] = {"name": identity.name, "version": identity.version, "revision": identity.revision}
    said["labels"] = None if labels is None else list(labels)
    return said | {"components": dict(identity.components), "files": files}, missing


def files_now(adapter: Any) -> dict[str, str]:
    """The digests of an adapter's files as they are now; a file that is gone has none."""
    identity = adapter.identity() if hasattr(adapter, "identity") else None
    return {} if identity is None else dict(describe(identity)[0]["files"])


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _pins(requires: Mapping[str, str]) -> list[Finding]:
    findings = []
    for package, wanted in requires.items():
        try:
            found = version(package)
        except PackageNotFoundError:
            found = "absent"
        if found != wanted:
            findings.append(Finding("error", "pin-not-met", f"{package} is {found}, the suite requires {wanted}"))
    return findings


def _assets(request: Request) -> list[Finding]:
    findings = []
    for name, wanted in request.assets.items():
        path = request.folder / name
        if not path.is_file():
            findings.append(Finding("error", "asset-missing", f"no asset {path}"))
        elif (found := sha256_of(path)) != wanted:
            findings.append(Finding("error", "asset-changed", f"{name} has SHA-256 {found}, the suite pins {wanted}"))
    return findings


def _abilities(adapter: Any, said: Traits, request: Request) -> list[Finding]:
    if not can_answer(adapter, request.method):
        message = f"{request.use} has no method `{request.method}`, which the task asks"
        return [Finding("error", "no-method", message)]
    findings = []
    if request.sound and not said.recorded and not request.heard:
        message = f"{request.use} hears clips; give `corpus.columns.audio` or `audio_from`"
        findings.append(Finding("error", "no-sound", message))
    if request.batch > 1 and not said.recorded and not callable(getattr(adapter, f"{request.method}_batch", None)):
        message = f"run.batch is {request.batch}, and {request.use} has no method `{request.method}_batch`"
        findings.append(Finding("error", "no-batch", message))
    if request.labels is not None:
        findings += reach(said.labels, request.labels, request.supported)
    return findings


def reach(said: Sequence[str] | None, labels: LabelRules, supported: frozenset[str]) -> list[Finding]:
    """Whether the labels that an adapter says it has can lead to every label that references have."""
    if isinstance(labels.projection, AxesProjection):
        names, strict = labels.projection.labels, False
    elif said is not None:
        names, strict = tuple(said), True
    else:
        return []
    strange = [name for name in names if strict and labels.answer_of(name) == OUTSIDE]
    lost = sorted(supported - labels.reachable(names))
    both = f"the adapter says {', '.join(names)}; the set is {', '.join(labels.set)}"
    findings = []
    if strange:
        message = (
            f"no rule for the adapter's {', '.join(strange)}: add to `labels.answers`, `abstain` for no choice; {both}"
        )
        findings.append(Finding("error", "labels-unreached", message))
    if lost:
        findings.append(Finding("error", "labels-unreached", f"no answer can be {', '.join(lost)}; {both}"))
    return findings


def _last(adapter: Any, request: Request) -> list[Finding]:
    """What can only be checked with a warm adapter."""
    if isinstance(adapter, Recorded):
        return [Finding("notice", code, message) for code, message in adapter.compare(request.roll)]
    if request.batch > 1 and request.once:
        message = "run.batch is above 1, and its check would ask clips that may be asked once; set run.batch to 1"
        return [Finding("error", "batch-unchecked", message)]
    return _conformance(adapter, request) if request.batch > 1 else []


def _conformance(adapter: Any, request: Request) -> list[Finding]:
    """A clip must be answered alike alone, first in a batch and last in a batch."""
    heard = [hear() for hear in request.samples]
    if len(heard) < 2:
        return []
    rate = heard[0][1]
    sounds = sorted((pcm for pcm, _ in heard), key=len)
    ask, ask_batch = getattr(adapter, request.method), getattr(adapter, f"{request.method}_batch")
    short, long = sounds[0], sounds[-1]
    alone = ask(short, rate)
    for place, batch in (("first", [short, long]), ("last", [long, short])):
        answers = ask_batch(batch, rate)
        if len(answers) != len(batch) or not _alike(alone, answers[0 if place == "first" else -1]):
            message = f"{request.use} answers a clip otherwise {place} in a batch than alone; set run.batch to 1"
            return [Finding("error", "batch-differs", message)]
    return []


def _alike(one: Any, other: Any) -> bool:
    if any(getattr(one, name, None) != getattr(other, name, None) for name in ("label", "text")):
        return False
    left, right = _numbers(one), _numbers(other)
    return left.keys() == right.keys() and all(abs(left[key] - right[key]) <= TOLERANCE for key in left)


def _numbers(read: Any) -> dict[str, float]:
    numbers = {f"score {name}": float(score) for name, score in (getattr(read, "scores", None) or {}).items()}
    if (value := getattr(read, "value", None)) is not None:
        numbers["value"] = float(value)
    return numbers | {f"axis {place}": float(value) for place, value in enumerate(getattr(read, "vad", None) or ())}
