"""The words of a session: every task, projection and adapter that its suites may name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_speval.adapters.registry import gather
from pytest_speval.corpus.own_normalizers import HOOK as NORMALIZERS
from pytest_speval.corpus.own_normalizers import register
from pytest_speval.corpus.projections import NAMED
from pytest_speval.errors import UsageFault
from pytest_speval.suite.vocabulary import Vocabulary
from pytest_speval.tasks.registry import TASKS

ADAPTERS = "pytest_speval_adapters"
UNUSABLE = {ADAPTERS: "adapter-not-callable", NORMALIZERS: "normalizer-unusable"}
"""The hooks that offer words, in the order in which `session_words` takes them -> the code of what is no word."""


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


def offered(name: str, hook: Callable[[], Any]) -> Any:
    """What a hook of this name returns; whatever its code raises, but an interrupt, becomes a `UsageFault`."""
    try:
        return hook()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # sys.exit and pytest.skip would end the session
        raise UsageFault(UNUSABLE[name], f"{name} raised {type(error).__name__}: {error}") from error
