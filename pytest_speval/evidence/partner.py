"""Suites that give their overall estimates together: how far each of the others came, as evidence of a run.

A run keeps this in `together.json`, for the other runs lie elsewhere and may be gone when it is verified.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.canonical import canonical, value_of
from pytest_speval.evidence.folder import RunFolder

CODES = {"together-damaged": "What a run keeps of the suites it belongs together with is not what was written."}
NAME = "together.json"


@dataclass(frozen=True, slots=True)
class Partner:
    """Another subject of the same `run.together`: its clips that were answered, of those that were planned.

    `question` is the digest of what it asked, None where it asked nothing; `reason` says why there are no counts.
    """

    subject: str
    question: str | None = None
    answered: int = 0
    planned: int = 0
    reason: str | None = None

    @property
    def complete(self) -> bool:
        """Say whether every planned clip was answered."""
        return self.reason is None and self.planned > 0 and self.answered == self.planned

    def __str__(self) -> str:
        return f"{self.subject}: {self.reason or f'{self.answered:,} of {self.planned:,} answered'}"


def keep_partners(folder: RunFolder, partners: Sequence[Partner]) -> None:
    """Make partners part of a run's evidence."""
    folder.write_json(NAME, [asdict(partner) for partner in partners])


def kept_partners(folder: RunFolder, rules: Mapping[str, Any]) -> tuple[Partner, ...]:
    """The partners that a run was judged with, none where its plan names no others.

    Raises `EvidenceFault` for a missing or damaged file.
    """
    if "together" not in rules.get("run", {}):
        return ()
    try:
        data = (folder.path / NAME).read_bytes()
        partners = tuple(Partner(**said) for said in value_of(data))
        if canonical([asdict(partner) for partner in partners]) + b"\n" != data:
            raise ValueError("not as written")
    except (OSError, ValueError, TypeError) as error:
        raise EvidenceFault("together-damaged", f"{NAME} is not what was written: {error}") from error
    return partners
