"""The words a suite may use: tasks with their columns and metrics, adapters with their keys.

The roof fills a `Vocabulary` from the tasks, the adapters and the hooks, and hands it to the loader. So a new
task or adapter is one file elsewhere, and its faults still carry line and column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel

Direction = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True)
class MetricWord:
    """A metric's name, its range and the direction of better.

    A name that ends in `.<label>` or `.<axis>` is a family: `members` says which names it stands for, and the
    empty tuple stands for the labels of the suite.
    """

    name: str
    better: Direction
    low: float | None = 0.0
    high: float | None = 1.0
    members: tuple[str, ...] = ()

    @property
    def family(self) -> str | None:
        """The part before `.<…>`, or None for a plain metric."""
        stem, dot, tail = self.name.partition(".<")
        return stem if dot and tail.endswith(">") else None


@dataclass(frozen=True, slots=True)
class TaskWord:
    """What a task wants from a suite.

    `required` holds groups of column roles; of each group one must be given. `labelled` tasks need the section
    `labels`. `headline` is the first estimate of the task. `sound` says that clips are sound files,
    `observable` that its adapter may be watched.
    """

    name: str
    metrics: tuple[MetricWord, ...]
    headline: str
    required: tuple[tuple[str, ...], ...] = ()
    labelled: bool = False
    sound: bool = True
    missing: Literal["worst", "withhold"] = "worst"
    forbidden: tuple[str, ...] = ()
    observable: bool = False

    def names(self, labels: Sequence[str]) -> tuple[str, ...]:
        """Every metric name of this task for a suite with these labels, families spelt out."""
        return tuple(self.words(labels))

    def words(self, labels: Sequence[str]) -> dict[str, MetricWord]:
        """Metric name -> word, families spelt out, in the order of declaration."""
        known: dict[str, MetricWord] = {}
        for word in self.metrics:
            if word.family is None:
                known[word.name] = word
            else:
                for member in word.members or labels:
                    known[f"{word.family}.{member}"] = word
        return known


@dataclass(frozen=True, slots=True)
class AdapterWord:
    """An adapter's name and the model of its own keys (the keys beside `use`, `name`, `requires`, `assets`)."""

    name: str
    keys: type[BaseModel]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """All tasks, adapters and named projections a suite may name."""

    tasks: Mapping[str, TaskWord] = field(default_factory=dict)
    adapters: Mapping[str, AdapterWord] = field(default_factory=dict)
    projections: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Named projection -> the labels it can yield."""
