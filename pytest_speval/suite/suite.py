"""A suite as the loader hands it over: checked, frozen, with variables unexpanded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pydantic import BaseModel

from pytest_speval.suite.gate import GateRule
from pytest_speval.suite.keys import AdapterSection, SuiteKeys
from pytest_speval.suite.variables import expand


@dataclass(frozen=True, slots=True)
class AdapterKeys:
    """The keys of one adapter.

    `own` holds the adapter's own keys as values of its key model, defaults included: paths are absolute unless they
    refer to a variable. `raw` holds those that were written, as they were written, as plain JSON data.
    """

    use: str
    name: str | None
    requires: Mapping[str, str]
    assets: Mapping[str, str]
    own: Mapping[str, object]
    raw: Mapping[str, object]

    @classmethod
    def of(cls, section: AdapterSection, own: BaseModel, raw: Mapping[str, object]) -> AdapterKeys:
        values = {name: getattr(own, name) for name in type(own).model_fields} | (own.model_extra or {})
        return cls(
            use=section.use,
            name=section.name,
            requires=MappingProxyType(dict(section.requires)),
            assets=MappingProxyType(dict(section.assets)),
            own=MappingProxyType(values),
            raw=MappingProxyType(dict(raw)),
        )


@dataclass(frozen=True, slots=True)
class Suite:
    """One suite. `adapters` has one pair per adapter; its name is None where the suite has only `adapter`.

    `gates` are the gates of its own file; `overrides` are the texts of the overrides that are part of it.
    """

    file: Path
    name: str
    keys: SuiteKeys
    adapters: tuple[tuple[str | None, AdapterKeys], ...]
    gates: tuple[GateRule, ...]
    overrides: tuple[str, ...] = ()

    @property
    def task(self) -> str:
        """The name of the task."""
        return self.keys.task

    @property
    def labels(self) -> tuple[str, ...]:
        """The closed set of labels in its order; empty for a task without labels."""
        return self.keys.labels.set if self.keys.labels else ()

    @property
    def root(self) -> Path:
        """The corpus' root, unexpanded; the suite's folder where none is written."""
        return self.keys.corpus.root or self.file.parent

    def place(self, path: Path, environ: Mapping[str, str]) -> Path:
        """Expand a path of this suite; what is still relative then begins at the suite's folder.

        Raises SpevalError `unset-variable`.
        """
        return self.file.parent / expand(path, environ)
