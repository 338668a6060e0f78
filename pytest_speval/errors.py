"""The error tree: every error has a stable code and names the thing at fault.

    SpevalError
    ├── FaultyFile        a suite, gate file or manifest, with every fault found in it
    ├── UsageFault        options that do not fit together
    ├── MissingExtra      a feature whose optional packages are not installed
    ├── AudioFault        one sound file that cannot be used as the suite wants it
    ├── AdapterFault      a model that cannot be asked
    ├── AnswerFault       an answer that breaks its task's contract
    ├── Refusal           a call that may not be made, again or at its price
    └── EvidenceFault     a run folder or a ledger that cannot be trusted

A code is a lower-case slug such as `unknown-key`. `docs/messages.md` has a line for each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

CODES = {"extra-missing": "A feature was asked for whose optional packages are not installed."}


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One fault at one place of a file that somebody wrote.

    `file` is as the user would type it; `line` and `column` count from 1 and are 0 where the fault
    belongs to the whole file; `keys` is the path of keys that leads there.
    """

    file: str
    line: int
    column: int
    code: str
    message: str
    keys: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        place = self.file
        if self.line:
            place += f":{self.line}"
        if self.column:
            place += f":{self.column}"
        path = f"{path_of(self.keys)}: " if self.keys else ""
        return f"{place}: {path}{self.message} [{self.code}]"


def path_of(keys: Iterable[str | int]) -> str:
    """Write a path of keys as a reader would: `gates.macro-f1.min`, `labels.set[2]`."""
    text = ""
    for key in keys:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            text += f".{key}" if text else key
    return text


class SpevalError(Exception):
    """Base of everything raised on purpose."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{message} [{code}]")
        self.code = code
        self.message = message


class FaultyFile(SpevalError):
    """A file that cannot be used, with all its faults in the order of their lines."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(sorted(faults))
        super().__init__(self.faults[0].code, self.faults[0].message)

    def __str__(self) -> str:
        return "\n".join(map(str, self.faults))


class UsageFault(SpevalError):
    """Options, suites or gate files that do not fit together."""


class MissingExtra(SpevalError):
    """A feature was asked for whose optional packages are not installed."""

    def __init__(self, extra: str, what: str) -> None:
        super().__init__("extra-missing", f"{what} needs pytest-speval[{extra}]: pip install 'pytest-speval[{extra}]'")
        self.extra = extra


class AudioFault(SpevalError):
    """A sound file that cannot be used; the code is the audit's finding."""


class AdapterFault(SpevalError):
    """A model that is missing, does not fit, or cannot be asked."""


class AnswerFault(SpevalError):
    """An answer that breaks the contract of its task."""


class EvidenceFault(SpevalError):
    """A run folder that is incomplete, damaged or belongs to another question."""
