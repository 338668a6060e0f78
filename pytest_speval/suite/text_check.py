"""What the section `text` means for the rest of a suite: whether it has a place, and which metrics it allows."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_speval.suite.vocabulary import MetricWord, TaskWord

AGREEMENT = "agreement."
"""How metrics begin that hold answers against text made by a model: nobody has said that such text is right."""


def transcribed(task: TaskWord) -> bool:
    """Whether the task compares texts."""
    return any("transcript" in group for group in task.required)


def against(words: Mapping[str, MetricWord], origin: str | None) -> dict[str, MetricWord]:
    """The metrics that references of this origin allow; all others stay."""
    refused = {word.removeprefix(AGREEMENT) if origin == "model" else word for word in words if is_agreement(word)}
    return {name: word for name, word in words.items() if name not in refused}


def is_agreement(metric: str) -> bool:
    """Whether a metric is about references made by a model."""
    return metric.startswith(AGREEMENT)
