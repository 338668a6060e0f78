"""What the evidence of a run allows to claim, from what stands in its plan and its audits.

Nothing here is proven beyond the keys and files that were compared, and nothing declared becomes verified.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pytest_speval.audit.checks import BY_DEFAULT
from pytest_speval.audit.finding import Audit
from pytest_speval.suite.audit_keys import CHECKS
from pytest_speval.suite.readiness_keys import INVENTORIES

LEVELS = ("diagnostic", "listener-labelled", "independent")
"""How much a suite may claim, the least first."""

Supported = bool | Literal["declared"]
Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """One claim: shown by comparing, resting on what is declared, or not supported; and why."""

    claim: str
    supported: Supported
    why: str

    def as_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {"claim": self.claim, "supported": self.supported, "why": self.why}


@dataclass(frozen=True, slots=True)
class Level:
    """The level a suite declares, the one that its evidence supports, and what is missing between them."""

    declared: str
    supported: str
    reasons: tuple[str, ...] = ()

    @property
    def narrowed(self) -> bool:
        """Say whether less is supported than declared."""
        return self.declared != self.supported

    def __str__(self) -> str:
        if not self.narrowed:
            return f"claim: {self.declared}"
        return f"claim: {self.declared} declared, {self.supported} supported: {'; '.join(self.reasons)}"


def supported_level(audits: Sequence[Audit], question: Record, rules: Record) -> Level:
    """The level that the evidence supports, never above the declared one.

    `question` and `rules` are those of `plan.json`: of them the sections `audit`, `votes` and `claim` are read.
    """
    declared = (rules.get("claim") or {}).get("level", LEVELS[0])
    voted = bool(question.get("votes"))
    if declared == "independent":
        gaps = tuple(independence_gaps(audits, question))
        return Level(declared, declared if not gaps else LEVELS[voted], gaps)
    if declared == "listener-labelled" and not voted:
        return Level(declared, LEVELS[0], ("there is no section votes: no vote of a listener is known",))
    return Level(declared, declared)


def independence_gaps(audits: Sequence[Audit], question: Record) -> Iterator[str]:
    """What is missing before a corpus may be called independent of the model; nothing where it may."""
    section, named = question.get("audit") or {}, {audit.name: audit for audit in audits}
    against = section.get("against") or {}
    for name in INVENTORIES:
        if against.get(name) is None:
            yield f"audit.against does not name {name}"
        elif against[name] == "unavailable":
            yield f"{name} is unavailable"
    held = [name for name in INVENTORIES if against.get(name) not in (None, "unavailable")]
    for name in CHECKS:
        if name in named or name in ("bytes", "samples") or (name in BY_DEFAULT and section.get(name) == "unchecked"):
            separate, why = _separate(name, named, section)
            if not separate:
                yield why
            elif missed := [inventory for inventory in held if inventory not in named[name].compared]:
                yield f"audit[{name}] could not be held against {', '.join(missed)}"
    yield from _readiness_gaps(named.get("readiness"))


def _readiness_gaps(audit: Audit | None) -> Iterator[str]:
    if audit is None or not any(found.code == "readiness-read" for found in audit.findings):
        yield "there is no readiness file"
        return
    for found in audit.findings:  # a corpus that is older than the model may still be unknown to it
        if found.severity != "notice" and found.code != "collection-before-freeze":
            yield f"audit[readiness]: {found.message}"


def claims_table(audits: Sequence[Audit], question: Record, rules: Record) -> tuple[ClaimLine, ...]:
    """Every claim that readers make of such a result, and whether this one supports it.

    `question` and `rules` are those of `plan.json`: of them the sections `corpus`, `audit`, `votes`, `claim` and
    `protocol` are read.
    """
    named = {audit.name: audit for audit in audits}
    section = question.get("audit") or {}
    return (
        ClaimLine("known-key separation", *_known_keys(named, section)),
        ClaimLine("real-speaker identity", *_identity(named, question, rules)),
        ClaimLine("exact-copy separation", *_exact_copies(named, section)),
        ClaimLine("near-copy separation", *_separate("near", named, section)),
        ClaimLine("temporal separation", *_temporal(named.get("readiness"))),
        ClaimLine("independence", *_independence(audits, question, rules)),
        ClaimLine("causal explanation", False, "a difference between groups or models is not a cause"),
    )


def _separate(name: str, named: Mapping[str, Audit], section: Record) -> tuple[bool, str]:
    """Whether a check found nothing shared, and against what."""
    audit = named.get(name)
    if audit is None:
        unchecked = section.get(name) == "unchecked"
        return False, f"{name} unchecked" if unchecked else f"audit[{name}] was not in force"
    if audit.waived is not None:
        return False, f"audit[{name}] is waived: {audit.waived}"
    if not audit.clean:
        return False, f"audit[{name}]: {audit.headline}"
    if not audit.compared:
        return False, f"audit[{name}] held the clips against nothing"
    limits = [found.message for found in audit.findings if found.clips or found.code == "inventory-unavailable"]
    return True, "; ".join([f"audit[{name}] held the clips against {', '.join(audit.compared)}: none shared", *limits])


def _all_separate(names: Sequence[str], named: Mapping[str, Audit], section: Record) -> tuple[bool, str]:
    found = [_separate(name, named, section) for name in names]
    missing = [why for separate, why in found if not separate]
    return not missing, "; ".join(missing or [why for _, why in found])


def _exact_copies(named: Mapping[str, Audit], section: Record) -> tuple[bool, str]:
    separate, why = _all_separate(("bytes", "samples"), named, section)
    return separate, f"{why}; re-encoded and cut copies have other digests" if separate else why


def _known_keys(named: Mapping[str, Audit], section: Record) -> tuple[bool, str]:
    """Separation by keys as they are written: the speakers' always, and those of all other checks in force."""
    others = [name for name in ("sessions", "families", "sources") if name in named or section.get(name) == "unchecked"]
    return _all_separate(["speakers", *others], named, section)


def _identity(named: Mapping[str, Audit], question: Record, rules: Record) -> tuple[Supported, str]:
    """That keys are persons needs consented linkage, which can only be declared."""
    identity = (question.get("corpus") or {}).get("identity")
    if identity is None:
        return False, "corpus.identity is not given: nothing says that a name is a person"
    if identity.get("key", "speaker") == "account":
        return False, "corpus.identity.key is account: an account is not a speaker"
    if identity.get("map_revision") is None:
        return False, "corpus.identity.map_revision is not given"
    if not ((rules.get("protocol") or {}).get("consent") or "").strip():
        return False, "protocol.consent is not given: voices are linked to persons by consent"
    for audit in named.values():
        for found in audit.findings:
            if found.code == "recording-of-two-speakers":
                return False, f"audit[{audit.name}]: {found.message}"
    separate, why = _separate("speakers", named, question.get("audit") or {})
    return "declared" if separate else False, f"identity map revision {identity['map_revision']}; {why}"


def _temporal(audit: Audit | None) -> tuple[Supported, str]:
    codes = {} if audit is None else {found.code: found.message for found in audit.findings}
    for code in ("dates-contradict", "collection-before-freeze"):
        if code in codes:
            return False, codes[code]
    if "dates-separate" in codes:
        return "declared", codes["dates-separate"]
    return False, "the dates of collection and of the model's freeze are not all given"


def _independence(audits: Sequence[Audit], question: Record, rules: Record) -> tuple[Supported, str]:
    level = supported_level(audits, question, rules)
    if level.declared != "independent":
        return False, f"claim.level is {level.declared}: no more is claimed"
    if level.narrowed:
        return False, "; ".join(level.reasons)
    return "declared", "nothing is shared with the five inventories; that they are whole is declared"
