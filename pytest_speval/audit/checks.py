"""Which checks of a suite are in force: what its clips are held against other splits and inventories by."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from pytest_speval.suite.audit_keys import CHECKS, AuditSection, Waived

BY_DEFAULT = frozenset({"speakers", "sessions", "sources", "bytes", "samples"})
OF_SOUND = frozenset({"bytes", "samples", "near"})
ROLES = {
    "speakers": ("speaker",),
    "sessions": ("session",),
    "families": ("family",),
    "texts": ("text", "transcript"),
    "sources": ("source",),
    "bytes": ("bytes_sha256",),
    "samples": ("samples_sha256",),
}
"""Check -> the roles whose cells it compares, the first that is there."""


@dataclass(frozen=True, slots=True)
class CheckRule:
    """A check in force: whether the suite names it, and the reason why what it finds is accepted, if it is."""

    name: str
    named: bool
    waived: str | None = None


def checks_in_force(section: AuditSection, roles: Collection[str], *, others: bool) -> list[CheckRule]:
    """The checks that apply to clips with cells of these roles, in the order of their items.

    `others` says that there is another split or an inventory. Sound is compared by default only where the manifest has
    a column of digests: to hear a whole training set takes long, and so a suite has to name that check.
    """
    rules = []
    for name in CHECKS:
        said = getattr(section, name)
        if isinstance(said, Waived):
            rules.append(CheckRule(name, named=True, waived=said.waived))
        elif said == "disjoint":
            rules.append(CheckRule(name, named=True))
        elif said is None and others and name in BY_DEFAULT and _comparable(name, roles, sound=False):
            rules.append(CheckRule(name, named=False))
    return rules


def nothing_to_compare(
    section: AuditSection, roles: Collection[str], *, others: bool, sound: bool
) -> list[tuple[str, str]]:
    """The checks that a suite names in vain, each with what is missing; `sound` says that clips are sound files."""
    vain = []
    for rule in checks_in_force(section, roles, others=others):
        if rule.named and not _comparable(rule.name, roles, sound=sound):
            what = "sound" if rule.name in OF_SOUND else f"column for {' or '.join(ROLES[rule.name])}"
            vain.append((rule.name, f"the clips have no {what}"))
        elif rule.named and not others:
            vain.append((rule.name, "there is no other split and no inventory"))
    return vain


def _comparable(name: str, roles: Collection[str], *, sound: bool) -> bool:
    return (name in OF_SOUND and sound) or any(role in roles for role in ROLES.get(name, ()))
