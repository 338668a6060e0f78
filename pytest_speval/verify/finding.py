"""What verification finds in a run folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """An error is something that does not hold, a notice something a reader must know to judge what does.

    `file` is named as it stands below the run folder, and is empty for the run as a whole; `record` says which line,
    key path or part of it.
    """

    severity: Literal["error", "notice"]
    code: str
    message: str
    file: str = ""
    record: str = ""

    def __str__(self) -> str:
        place = ", ".join(part for part in (self.file, self.record) if part)
        return f"{place}: {self.message} [{self.code}]" if place else f"{self.message} [{self.code}]"
