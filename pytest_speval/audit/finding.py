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
class Audit:
    """One audit with all its findings; without an error it has passed."""

    name: str
    findings: tuple[Finding, ...]

    @property
    def failed(self) -> bool:
        """Say whether the suite may not be asked."""
        return any(finding.severity == "error" for finding in self.findings)

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
        return Audit(self.name, tuple(finding.redacted(secrets) for finding in self.findings))

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as it stands in `audits.json`."""
        verdict = "fail" if self.failed else "pass"
        return {"name": self.name, "verdict": verdict, "findings": [finding.as_dict() for finding in self.findings]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Audit:
        """The audit a dict was made from."""
        return cls(data["name"], tuple(map(Finding.from_dict, data["findings"])))
