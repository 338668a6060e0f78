"""The random-answer reference of a classification: what the answers of a run would reach if dealt to its clips."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytest_speval.judge.result import Result
from pytest_speval.scoring import confusion
from pytest_speval.scoring.chance import dealt_confusion

MEANS = ("macro_f1", "macro_f1_supported", "weighted_f1", "uar", "accuracy")
PER_LABEL = ("f1", "precision", "recall")


@dataclass(frozen=True, slots=True)
class Reference:
    """Expected values by metric; one without a value in the run has none here."""

    metrics: Mapping[str, float | None]

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as it stands in `out.json`."""
        return {"answers": "shuffled", "method": "exact expectation", "metrics": dict(self.metrics)}


def random_reference(result: Result) -> Reference | None:
    """The expectation over all orders of the answers, by formula; None for a task without a confusion.

    See `dealt_confusion`. What could not be answered is dealt too, so the counts of the run stand as they are.
    """
    published, labels = result.published, result.bench.scoring.labels
    if "confusion" not in published or labels is None:
        return None
    other = [published["confusionOther"][name] for name in confusion.OTHER_COLUMNS]
    counts = np.hstack([np.array(published["confusion"], dtype=np.int64), np.array(other, dtype=np.int64).T])
    absent: confusion.Absent = "omit" if labels.absent == "omit" else "zero"
    dealt = confusion.estimates(dealt_confusion(counts), absent, counts.sum(axis=1) > 0)
    values = {name: dealt[name] for name in MEANS}
    for place, label in enumerate(labels.set):
        values |= {f"{name}.{label}": dealt[name][place] for name in PER_LABEL}
    return Reference({name: _measured(result, name, float(value)) for name, value in values.items()})


def _measured(result: Result, metric: str, value: float) -> float | None:
    """The reference of an estimate that has a value, None of one that has none."""
    return None if result.estimates[metric].value is None or np.isnan(value) else value
