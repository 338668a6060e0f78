"""What an audit found, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from pytest_speval.suite.secrets import Secrets

Severity = Literal["error", "warning", "notice"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: an error stops the suite, a warning stands in every report, a notice is only listed."""

    severity: Severity
    code: str
    message: str
    clips: tuple[str, ...] = ()

    def __str__(self) -> str:
        shown = ", ".join(self.clips[:5]) + (f" and {len(self.clips) - 5:,} more" if len(self.clips) > 5 else "")
        return f"{self.severity}: {self.message}{f' ({shown})' if shown else ''} [{self.code}]"

    def redacted(self, secrets: Secrets) -> Finding:
        """The finding without what an adapter's own code may have given away in it."""
        return replace(self, code=secrets.redact(self.code), message=secrets.redact_cut(self.message))

    def as_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {"severity": self.severity, "code": self.code, "message": self.message, "clips": list(self.clips)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Finding:
        """The finding a dict was made from."""
        return cls(data["severity"], data["code"], data["message"], tuple(data["clips"]))


@dataclass(frozen=True, slots=True)
class Side:
    """Where a key stands: the clips of one part, and the lines of its file."""

    part: str
    clips: tuple[str, ...]
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Violation:
    """A key that stands on more sides than it may; `key` is one text, or several that were joined."""

    kind: str
    key: str | tuple[str, ...]
    sides: tuple[Side, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        key = self.key if isinstance(self.key, str) else list(self.key)
        sides = [{"part": side.part, "clips": list(side.clips), "lines": list(side.lines)} for side in self.sides]
        return {"kind": self.kind, "key": key, "sides": sides}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Violation:
        """The violation a dict was made from."""
        key = data["key"] if isinstance(data["key"], str) else tuple(data["key"])
        sides = tuple(Side(side["part"], tuple(side["clips"]), tuple(side["lines"])) for side in data["sides"])
        return cls(data["kind"], key, sides)


@dataclass(frozen=True, slots=True)
class Audit:
    """One audit with all its findings; without an error it has passed.

    `violations` lists all that its findings count. `compared` names the parts that the evaluated clips were held
    against, `waived` is the reason why what it finds does not stop the suite.
    """

    name: str
    findings: tuple[Finding, ...]
    violations: tuple[Violation, ...] = ()
    compared: tuple[str, ...] = ()
    waived: str | None = None

    @property
    def failed(self) -> bool:
        """Say whether the suite may not be asked."""
        return any(finding.severity == "error" for finding in self.findings)

    @property
    def clean(self) -> bool:
        """Say whether nothing was found that speaks against what the audit looks for."""
        return all(finding.severity == "notice" for finding in self.findings)

    @property
    def headline(self) -> str:
        """The gravest finding's message, or `nothing found`."""
        for severity in ("error", "warning", "notice"):
            found = [finding for finding in self.findings if finding.severity == severity]
            if found:
                more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
                return found[0].message + more
        return "nothing found"

    def redacted(self, secrets: Secrets) -> Audit:
        """The audit with redacted findings."""
        return replace(self, findings=tuple(finding.redacted(secrets) for finding in self.findings))

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as it stands in `audits.json`."""
        verdict = "fail" if self.failed else "pass"
        found = [finding.as_dict() for finding in self.findings]
        data: dict[str, Any] = {"name": self.name, "verdict": verdict, "findings": found}
        if self.violations:
            data["violations"] = [violation.as_dict() for violation in self.violations]
        if self.compared:
            data["compared"] = list(self.compared)
        return data if self.waived is None else data | {"waived": self.waived}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Audit:
        """The audit a dict was made from."""
        return cls(
            data["name"],
            tuple(map(Finding.from_dict, data["findings"])),
            tuple(map(Violation.from_dict, data.get("violations", ()))),
            tuple(data.get("compared", ())),
            data.get("waived"),
        )
