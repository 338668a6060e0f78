"""The words of a session: every task, projection and adapter that its suites may name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_speval.adapters.registry import gather
from pytest_speval.corpus.own_normalizers import register
from pytest_speval.corpus.projections import NAMED
from pytest_speval.suite.vocabulary import Vocabulary
from pytest_speval.tasks.registry import TASKS


@dataclass(frozen=True, slots=True)
class Words:
    """The factories of all adapters, and the vocabulary that suites are read against."""

    factories: Mapping[str, Callable[..., Any]]
    vocabulary: Vocabulary


def session_words(
    offered: Iterable[Mapping[str, Callable[..., Any]]] = (),
    normalizers: Iterable[Mapping[str, Callable[[str], str]]] = (),
) -> Words:
    """All tasks, projections, adapters and normalisers, those offered by hooks included."""
    register(normalizers)
    factories, adapters = gather(offered)
    projections = {name: projection.labels for name, projection in NAMED.items()}
    return Words(factories, Vocabulary({name: task.word for name, task in TASKS.items()}, adapters, projections))
