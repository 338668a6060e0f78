"""The baselines that the gates of a session name, each read once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_speval.errors import EvidenceFault, SpevalError
from pytest_speval.evidence.baseline import Baseline, read_baseline
from pytest_speval.suite.gate import GateRule
from pytest_speval.suite.suite import Suite


class Baselines:
    """Reads what gates name; a baseline that cannot be read is the fault of its gate, and of nothing else."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._read: dict[Path, Baseline | EvidenceFault] = {}

    def found(self, suite: Suite, rules: Sequence[GateRule]) -> tuple[tuple[GateRule, ...], dict[str, Baseline]]:
        """The gates of a suite, each with the digest of its baseline or why there is none, and the baselines."""
        known: dict[str, Baseline] = {}
        return tuple(self._looked_up(suite, rule, known) for rule in rules), known

    def _looked_up(self, suite: Suite, rule: GateRule, known: dict[str, Baseline]) -> GateRule:
        against = rule.against
        if against is None or against.folder is None:
            return rule
        try:
            folder = suite.place(against.folder, self._environ)
            baseline = self._at(folder, _shown(folder, suite))
        except SpevalError as fault:
            return replace(rule, against=replace(against, missing=str(fault)))
        known[baseline.sha256] = baseline
        return replace(rule, against=replace(against, sha256=baseline.sha256))

    def _at(self, folder: Path, shown: str) -> Baseline:
        if folder not in self._read:
            try:
                self._read[folder] = read_baseline(folder, shown)
            except EvidenceFault as fault:
                self._read[folder] = fault
        found = self._read[folder]
        if isinstance(found, EvidenceFault):
            raise found
        return found


def _shown(folder: Path, suite: Suite) -> str:
    """A folder as seen from the suite's: so it is the same on every machine."""
    return Path(os.path.relpath(folder, suite.file.parent)).as_posix()
