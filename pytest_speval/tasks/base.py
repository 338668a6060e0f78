"""What a task is: the question, the check of an answer, and how answers become estimates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from pytest_speval.corpus.labels import LabelRules
from pytest_speval.corpus.text import TextRules
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.plan import Question
from pytest_speval.scoring.units import Units
from pytest_speval.suite.vocabulary import MetricWord, TaskWord

Status = Literal["answered", "abstained", "failed", "unknown", "unattempted"]
Sums = npt.NDArray[np.float64]

COMMON = (
    MetricWord("coverage", "higher"),
    MetricWord("failure_rate", "lower"),
    MetricWord("abstention_rate", "lower"),
    MetricWord("clips", "higher", high=None),
    MetricWord("speakers", "higher", high=None),
    MetricWord("effective_speakers", "higher", high=None),
    MetricWord("latency_ms.mean", "lower", high=None),
    MetricWord("latency_ms.p50", "lower", high=None),
    MetricWord("latency_ms.p95", "lower", high=None),
    MetricWord("latency_ms.reported", "lower", high=None),
    MetricWord("rtf", "lower", high=None),
)
"""Estimates every task has."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The part of a suite's rules that scoring needs."""

    labels: LabelRules | None
    ranges: Mapping[str, tuple[float, float]]
    missing: Literal["worst", "withhold"]
    text: TextRules | None = None


class Figures(Protocol):
    """What clips amount to. An estimate is a function of sums [..., C] of per-clip statistics.

    Sums over units, replicates and shards so go through the same function as the whole.
    """

    def total(self) -> Sums:
        """The sums [C] over all clips."""

    def per_unit(self, units: Units, count: int) -> Sums | npt.NDArray[np.int64]:
        """The sums [U, C] of each unit; clips with a negative code are left out."""

    def estimates(self, sums: Sums) -> dict[str, Sums]:
        """Metric name -> values [...], NaN where undefined, headline first."""

    def lost(self, sums: Sums) -> dict[str, float]:
        """Label -> share of the replicates [R, C] in which it has neither support nor answers."""

    def answered_only(self) -> dict[str, float | None]:
        """The main estimates over answered clips alone."""

    def fraction(self, metric: str) -> tuple[int | float, int | float] | None:
        """Numerator and denominator of a metric that is a ratio of sums, whole numbers where it is exact."""

    def n(self, metric: str) -> int:
        """How many units a metric is over: planned clips, unless it weighs speakers or leaves clips out."""

    def unit(self, metric: str) -> str:
        """What is weighed alike in a metric: clip, label, word, speaker."""

    def undefined(self, metric: str) -> str:
        """Why a metric of these clips has no value."""

    def ceiling(self, metric: str) -> float | None:
        """The best value that any answers could reach, where the references limit it."""

    def flips(self, metric: str, holds: Callable[[float], bool]) -> int | None:
        """How many clips would have to change to turn a verdict, where that can be said."""

    def tally(self) -> dict[str, int]:
        """The task's own counts of these clips."""


class Reading(Figures, Protocol):
    """The endings of all planned clips, read by a task; every column has one entry per planned clip."""

    @property
    def statuses(self) -> Sequence[Status]:
        """Where each clip ended."""

    @property
    def references(self) -> Sequence[Any]:
        """What each clip's reference says."""

    @property
    def answers(self) -> Sequence[Any]:
        """What was answered, None without a usable answer."""

    @property
    def correct(self) -> Sequence[bool | None]:
        """Whether the answer is right, None where the task has no right answers."""

    def part(self, clips: npt.NDArray[np.int64]) -> Figures:
        """The figures of some of the clips, given by their numbers, as if the suite had planned no others."""

    def published(self) -> dict[str, Any]:
        """The task's own fields of `out.json`."""


@runtime_checkable
class Aligned(Protocol):
    """A reading that holds answers against references word by word."""

    @property
    def ops(self) -> Sequence[str | None]:
        """Each clip's operations, match M, substitute S, delete D, insert I; None where nothing was counted."""


@runtime_checkable
class Watched(Protocol):
    """A reading of answers whose making may have been observed."""

    @property
    def selected(self) -> Sequence[tuple[int, int] | None]:
        """How many of each clip's samples were selected, and how many it has; None without a complete observation."""


@runtime_checkable
class Recounted(Protocol):
    """A reading whose counts are made a second time, by another way."""

    def recount(self) -> Mapping[str, str | None]:
        """What differs between the two, by the name of the check; None where nothing does."""


class Task(Protocol):
    """One question and its way from answers to estimates."""

    @property
    def word(self) -> TaskWord:
        """What the task wants from a suite."""

    @property
    def method(self) -> str:
        """The name of the adapter's method."""

    def record(self, read: object) -> tuple[dict[str, Any], float | None]:
        """Check what an adapter returned; returns the plain answer and the adapter's own latency in ms.

        Raises `AnswerFault` where it breaks the contract.
        """

    def read(self, question: Question, rules: Rules, endings: Sequence[Ending]) -> Reading:
        """Read the endings of all planned clips."""
