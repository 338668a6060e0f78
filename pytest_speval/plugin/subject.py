"""One suite with one of its adapters: what a run is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_speval.adapters.observation import Observed
from pytest_speval.audit.fit import sha256_of
from pytest_speval.corpus.text import text_record
from pytest_speval.errors import SpevalError
from pytest_speval.evidence.baseline import Baseline
from pytest_speval.judge.kept_arrays import CROPS, GREEDY
from pytest_speval.plugin.locking import Locking
from pytest_speval.scoring.greedy_recount import ARRAYS
from pytest_speval.suite.gate import GateRule
from pytest_speval.suite.gate_keys import CHANCE
from pytest_speval.suite.keys import AxesProjection
from pytest_speval.suite.readiness_file import readiness_file
from pytest_speval.suite.secrets import NO_SECRETS, Secrets
from pytest_speval.suite.suite import AdapterKeys, Suite
from pytest_speval.suite.text_check import transcribed
from pytest_speval.suite.variables import expand
from pytest_speval.tasks.base import Task


@dataclass(frozen=True)
class Subject:
    """A suite, one of its adapters, its gates, and what the session knows under their names.

    `title` is the adapter's name under `adapters`, None where the suite has one adapter. `secrets` are those of the
    whole session, `baselines` those that gates name and that are there, by digest.
    """

    suite: Suite
    title: str | None
    keys: AdapterKeys
    gates: tuple[GateRule, ...]
    task: Task
    factory: Callable[..., Any]
    secrets: Secrets = NO_SECRETS
    baselines: Mapping[str, Baseline] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The suite's name, with the adapter's where there are several."""
        return self.suite.name if self.title is None else f"{self.suite.name}[{self.title}]"

    def build(self, environ: Mapping[str, str]) -> Any:
        """A new adapter, with variables filled in; raises SpevalError `unset-variable`."""
        adapter = self.factory(**{name: self._filled(value, environ) for name, value in self.keys.own.items()})
        rule = self.suite.keys.observe
        return adapter if rule is None else Observed(adapter, rule)

    def _filled(self, value: object, environ: Mapping[str, str]) -> object:
        if isinstance(value, Path):
            return self.suite.place(value, environ)
        if isinstance(value, list | tuple):
            return type(value)(self._filled(item, environ) for item in value)
        if isinstance(value, Mapping):
            return {name: self._filled(item, environ) for name, item in value.items()}
        return expand(value, environ) if isinstance(value, str) else value

    def adapter_record(
        self, identity: Mapping[str, Any], environ: Mapping[str, str], *, recorded: bool, billable: bool = False
    ) -> dict[str, Any]:
        """The adapter as it stands in the question: a key that names a file enters by the file's digest."""
        keys = {
            name: {"sha256": self._digest(self.keys.own[name], environ)} if name in self.written else said
            for name, said in self.keys.raw.items()
        }
        return {
            "use": self.keys.use,
            "name": self.keys.name or identity["name"],
            "keys": keys,
            "identity": dict(identity),
            "requires": dict(self.keys.requires),
            "assets": dict(self.keys.assets),
            "recorded": recorded,
            "billable": billable,
        }

    @property
    def locking(self) -> Locking:
        """The lock files beside the suite."""
        return Locking.of(self.suite.file)

    def audit_names(self, comparisons: Sequence[str]) -> tuple[str, ...]:
        """The audits that apply to this subject; `comparisons` are those that hold its clips against others."""
        run = self.suite.keys.run
        more = {"lock": run.locked or self.locking.exists, "budget": run.budget is not None}
        more["storage"] = run.max_bytes is not None
        return ("corpus", "adapter", *comparisons, *(name for name, applies in more.items() if applies))

    @property
    def recounts(self) -> tuple[str, ...]:
        """The counts of its task that are made a second time, by another way."""
        spelt = set(ARRAYS) <= set(getattr(self.factory, "arrays", ()))
        made = {
            GREEDY: transcribed(self.task.word) and spelt,
            CROPS: self.suite.keys.observe is not None,
            "wer": transcribed(self.task.word),
        }
        return tuple(name for name, applies in made.items() if applies)

    @property
    def written(self) -> dict[str, str]:
        """The adapter's keys that name files, as they stand in the suite."""
        return {name: str(said) for name, said in self.keys.raw.items() if isinstance(self.keys.own.get(name), Path)}

    @property
    def blocks(self) -> dict[str, Any] | None:
        """The blocks that clips are asked in as they stand in the question, None where there are none."""
        blocks = self.suite.keys.run.blocks
        return None if blocks is None else blocks.model_dump()

    def once(self, *, billable: bool) -> bool:
        """Say whether a clip may be asked only once, for ever."""
        return billable if self.suite.keys.run.once is None else self.suite.keys.run.once

    def _digest(self, value: object, environ: Mapping[str, str]) -> str | None:
        assert isinstance(value, Path)
        try:
            path = self.suite.place(value, environ)
        except SpevalError:
            return None
        return sha256_of(path) if path.is_file() else None

    def corpus_record(self) -> dict[str, Any]:
        """The section `corpus` without its root, as plain data."""
        return self.suite.keys.corpus.model_dump(mode="json", by_alias=True, exclude={"root"}, exclude_none=True)

    def rules_record(self) -> dict[str, Any]:
        """All that can change a verdict but not an answer, as plain data."""
        keys = self.suite.keys
        plain = keys.model_dump(
            mode="json", by_alias=True, exclude_none=True, include={"labels", "score", "claim", "protocol"}
        )
        if keys.labels is not None and isinstance(keys.labels.projection, AxesProjection):
            rows = keys.labels.projection.rows.items()  # the earlier label wins a tie, and objects keep no order
            plain["labels"]["projection"]["rows"] = [[label, list(weights)] for label, weights in rows]
        if transcribed(self.task.word):
            plain["text"] = text_record(keys.text)
        for entry in plain["claim"].get("provenance", ()):
            if "evidence" in entry:
                entry["evidence"] = Path(entry["evidence"]).name
        readiness = readiness_file(self.suite.file)
        if readiness.is_file():
            plain["readiness"] = sha256_of(readiness)
        return plain | {
            "describe": keys.describe,
            "run": {
                "max_failed": keys.run.max_failed,
                "missing": keys.run.missing or self.task.word.missing,
                "timeout": keys.run.timeout,
                **({} if keys.run.together is None else {"together": keys.run.together}),
                **({} if keys.run.max_bytes is None else {"max_bytes": keys.run.max_bytes}),
            },
            "gates": [_gate_record(rule) for rule in self.gates],
            "overrides": list(self.suite.overrides),
        }


def _gate_record(rule: GateRule) -> dict[str, Any]:
    record: dict[str, Any] = {
        name: getattr(rule, name) for name in ("id", "metric", "min", "max", "bound", "why", "owner", "level")
    }
    spread = ("cohort", "gap", "per_class")
    record |= {name: said for name in spread if (said := getattr(rule, name))}
    record |= {"max": CHANCE} if rule.chance else {}
    if rule.against is not None:
        told = {name: getattr(rule.against, name) for name in ("max_drop", "min_gain", "correction_group")}
        record |= told | {"baseline": {"sha256": rule.against.sha256, "missing": rule.against.missing}}
    if rule.waiver is not None:
        until = None if rule.waiver.until is None else rule.waiver.until.isoformat()
        record["waiver"] = {"reason": rule.waiver.reason, "owner": rule.waiver.owner, "until": until}
    return record
