"""Whether the cohorts that a suite asks for are there, and a limit below which none of their groups is shown."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_speval.errors import Fault
from pytest_speval.suite.corpus_check import may_exist
from pytest_speval.suite.label_check import duplicates
from pytest_speval.suite.shape import nearest
from pytest_speval.suite.tree import Items, Keys, Node, entries_of, fault_at, find, text_of


def asked_cohorts(root: Node) -> list[str] | None:
    """The cohorts of `score.cohorts`, None where they cannot be read."""
    asked = find(root, "score", "cohorts")
    if asked is None:
        return []
    names = [text_of(item) for item in asked.items] if isinstance(asked, Items) else [None]
    return None if None in names else [name for name in names if name is not None]


def cohort_faults(root: Node) -> Iterator[Fault]:
    """All faults of `score.cohorts` and `score.small_groups` that need the other keys."""
    score = entries_of(find(root, "score"))
    keys: Keys = ("score", "cohorts")
    asked = find(root, *keys)
    if isinstance(asked, Items):
        known = [*entries_of(find(root, "corpus", "columns", "cohorts"))]
        for place, item in enumerate(asked.items):
            name = text_of(item)
            if name is not None and name not in known:
                what = f"no cohort `{name}` in corpus.columns.cohorts{nearest(name, known)}"
                yield fault_at(item, "missing-column", what, (*keys, place))
        yield from duplicates(asked, keys)
    if "cohorts" in score and "small_groups" not in score:
        what = "cohorts need score.small_groups: say from how many clips and speakers on a group is shown"
        yield fault_at(score["cohorts"].key, "missing-key", what, ("score", "small_groups"))
    if "small_groups" in score and "cohorts" not in score:
        what = "small_groups act only on cohorts: add score.cohorts, or leave them out"
        yield fault_at(score["small_groups"].key, "contradiction", what, ("score", "small_groups"))
    limits = entries_of(find(root, "score", "small_groups"))
    if "min_speakers" in limits and not may_exist(root, "speaker"):
        what = "min_speakers needs the column corpus.columns.speaker"
        yield fault_at(limits["min_speakers"].key, "missing-column", what, ("score", "small_groups", "min_speakers"))
