"""Whether a session's files, names and options fit together, before anything is collected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_speval.errors import UsageFault
from pytest_speval.plugin.options import Settings
from pytest_speval.suite.gate import GateRule
from pytest_speval.suite.load import suite_name
from pytest_speval.suite.suite import Suite

CODES = {
    "suite-repeated": "Two suite files have one name.",
    "file-overlooked": "A suite or gate file would be left out: its name ends otherwise, or it is a link to nothing.",
    "override-unknown": "`--speval-set` or `--speval-spend` names a suite that no file defines.",
    "release-waiver": "A release rests on a waiver without an owner or an end.",
    "together-alone": "A suite gives its estimates together with others, and there is no other suite.",
    "resume-ambiguous": "`--speval-resume` names several runs of one suite.",
}


@dataclass(frozen=True, slots=True)
class Scrutiny:
    """Looks at what makes a session as a whole unusable; every check raises `UsageFault`."""

    settings: Settings
    shown: Callable[[Path], str]

    def check_files(self) -> None:
        """No suite or gate may be left out because of how its file is called."""
        for path in self.settings.overlooked:
            what = "end its name in .yaml, or set speval_suites or speval_gates"
            why = "it is a folder" if path.is_dir() else what
            raise UsageFault("file-overlooked", f"{self.shown(path)} is not read: {why}")
        for path in (*self.settings.suites, *self.settings.gates):
            if not path.is_file():
                raise UsageFault("file-overlooked", f"{self.shown(path)} is a link that leads to no file")

    def check_names(self, overridden: Iterable[str]) -> None:
        """Every suite has a name of its own, and options name suites that are there."""
        named: dict[str, Path] = {}
        for path in self.settings.suites:
            name = suite_name(path)
            if name in named:
                message = f"{self.shown(path)} and {self.shown(named[name])} are both the suite `{name}`"
                raise UsageFault("suite-repeated", message)
            named[name] = path
        for suite in sorted(self.settings.spend - named.keys()):
            message = f"--speval-spend {suite}: no such suite; there is {', '.join(sorted(named))}"
            raise UsageFault("override-unknown", message)
        for suite in overridden:
            if suite not in named:
                message = f"--speval-set {suite}.…: no such suite; there is {', '.join(sorted(named))}"
                raise UsageFault("override-unknown", message)

    def check_waivers(self, gates: Iterable[GateRule]) -> None:
        """Read all gates; a release may waive one only in somebody's name and for so long."""
        for rule in gates:
            waiver = rule.waiver if self.settings.release else None
            if waiver is not None and None in (waiver.owner, waiver.until):
                message = f"{waiver.place}: the waiver of {rule.suite}/{rule.id} needs `owner` and `until`"
                raise UsageFault("release-waiver", f"{message} under --speval-release")

    def check_together(self, suites: Sequence[Suite], may_be_faulty: Callable[[str], bool]) -> None:
        """A suite that waits for others must have others to wait for, if only in a file that is faulty."""
        named: dict[str, list[str]] = {}
        for suite in suites:
            if suite.keys.run.together is not None:
                named.setdefault(suite.keys.run.together, []).append(suite.name)
        for together, names in named.items():
            if len(names) == 1 and not may_be_faulty(together):
                message = f"{names[0]} has `run.together: {together}`, and no other suite has it: restore the other one"
                raise UsageFault("together-alone", message)

    def check_resumed(self, resumed: Mapping[str, Sequence[Path]]) -> None:
        """One run of a suite can be gone on with, not several."""
        for subject, folders in resumed.items():
            if len(folders) > 1:
                names = ", ".join(folder.name for folder in folders)
                raise UsageFault("resume-ambiguous", f"--speval-resume has several runs of {subject}: {names}")
