"""The suites that a subject gives its overall estimates together with, and how far each of them came."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_speval.errors import FaultyFile
from pytest_speval.evidence.partner import Partner
from pytest_speval.plugin.run import Run
from pytest_speval.plugin.subject import Subject
from pytest_speval.suite.load import suite_name
from pytest_speval.suite.suite import Suite

ABSENT, FAULTY = "not in this run", "its file is faulty"


@dataclass(frozen=True)
class Partners:
    """All suite files of a session as they were loaded, and the runs so far, by the name of their subject."""

    loaded: Mapping[Path, Suite | FaultyFile]
    subjects: Callable[[Path], Sequence[Subject]]
    runs: Mapping[str, Run]

    def of(self, subject: Subject) -> list[Partner]:
        """The other subjects of the same `run.together`, those that are not in this session too."""
        name = subject.suite.keys.run.together
        if name is None:
            return []
        suites = [suite for suite in self.loaded.values() if isinstance(suite, Suite)]
        others = [other for suite in suites if suite.keys.run.together == name for other in self.subjects(suite.file)]
        found = [other.name for other in others if other.name != subject.name]
        partners = [self.runs[one].as_partner() if one in self.runs else Partner(one, reason=ABSENT) for one in found]
        return partners + [Partner(suite_name(path), reason=FAULTY) for path in self.faulty(name)]

    def faulty(self, together: str) -> list[Path]:
        """The faulty files that may belong to a `run.together`: they name it, or hold nothing that could."""
        paths = [path for path, suite in self.loaded.items() if isinstance(suite, FaultyFile)]
        texts = {path: path.read_bytes() if path.is_file() else b"" for path in paths}
        return [path for path, text in texts.items() if together.encode() in text or not text.strip()]
