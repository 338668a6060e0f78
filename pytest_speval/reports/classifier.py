"""The block `evals.emotionClassifier` of a model's manifest, as publishing pipelines read it.

Its numbers are those of two runs, on MELD and on IEMOCAP; whether it passed follows from the numbers alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import fsum
from typing import Any, Self

SUITES = ("meld", "iemocap")
"""The names of the two suites, in the order of the block's fields: a number of another suite has no place in it."""
LEAST_F1 = {"macroF1Meld": 0.35, "macroF1Iemocap": 0.60}
MOST_LATENCY_MS = 30.0


@dataclass(frozen=True, slots=True)
class Classifier:
    """macro-F1 on both corpora, 0..1, and the mean latency of a call in ms."""

    macroF1Meld: float  # noqa: N815
    macroF1Iemocap: float  # noqa: N815
    meanLatencyMs: float  # noqa: N815

    @classmethod
    def of(cls, meld: Mapping[str, Any], iemocap: Mapping[str, Any]) -> Self:
        """The block of two `out.json`; the latency is over all calls of both runs.

        Raises `ValueError` that names the suite which did not measure one of its numbers.
        """
        documents = dict(zip(SUITES, (meld, iemocap), strict=True))
        times = {suite: document["metrics"]["latency_ms.mean"] for suite, document in documents.items()}
        for suite, document in documents.items():
            if document["macroF1"] is None:
                raise ValueError(f"{suite} has no macro_f1")
            if times[suite]["value"] is None:
                raise ValueError(f"{suite} has no latency: {times[suite]['reason']}")
        spent = fsum(time["value"] * time["n"] for time in times.values())
        calls = sum(time["n"] for time in times.values())
        return cls(float(meld["macroF1"]), float(iemocap["macroF1"]), spent / calls)

    @property
    def passed(self) -> bool:
        """Say whether all three limits are kept; a limit itself keeps it."""
        numbers = asdict(self)
        return all(numbers[name] >= least for name, least in LEAST_F1.items()) and self.meanLatencyMs <= MOST_LATENCY_MS

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as it stands in a manifest."""
        return {**asdict(self), "passed": self.passed}
