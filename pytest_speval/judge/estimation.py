"""All estimates of a run: those of its task, the rates every task has, sizes and times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np
import numpy.typing as npt

from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.plan import Question
from pytest_speval.judge.sample import Sample, unit_codes
from pytest_speval.scoring.bootstrap import Clusters
from pytest_speval.scoring.counts import Counts
from pytest_speval.scoring.estimate import Estimate
from pytest_speval.scoring.flips import ratio_flips
from pytest_speval.tasks.base import Figures, Reading

STATUSES = ("answered", "abstained", "failed", "unknown", "unattempted")
RATES: Mapping[str, tuple[str, ...]] = {
    "coverage": ("answered",),
    "failure_rate": ("failed", "unknown", "unattempted"),
    "abstention_rate": ("abstained",),
}
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Replicates:
    """One value per replicate of each metric, and the share of replicates that lost a label."""

    values: Mapping[str, Floats]
    lost: Mapping[str, float]


def estimate_all(
    question: Question, missing: str, sample: Sample, reading: Reading, counts: Counts, endings: Sequence[Ending]
) -> dict[str, Estimate]:
    """Every estimate of a run, those of its task first."""
    statistics = unit_statistics(reading, ended(reading.statuses), sample)
    replicates = replicates_of(reading, sample.replicate(statistics))
    return (
        estimate(missing, sample, reading, counts, replicates)
        | sizes(counts, sample_speakers(question))
        | _times(question, endings)
    )


def ended(statuses: Sequence[str]) -> npt.NDArray[np.int64]:
    """Each clip's status as its place among STATUSES."""
    place = {status: number for number, status in enumerate(STATUSES)}
    return np.array([place[status] for status in statuses], dtype=np.int64)


def unit_statistics(figures: Figures, ended: npt.NDArray[np.int64], sample: Sample) -> Floats:
    """What each unit adds to the sums, [U, C + 5]: the task's statistics and the counts of statuses."""
    kept = sample.codes >= 0
    cells = sample.codes[kept] * len(STATUSES) + ended[kept]
    statuses = np.bincount(cells, minlength=sample.count * len(STATUSES)).reshape(sample.count, len(STATUSES))
    return np.hstack([figures.per_unit(sample.codes, sample.count), statuses])


def replicates_of(figures: Figures, sums: Floats | None) -> Replicates:
    """The estimates of replicates from their sums [R, C + 5]: draws are shared by qualities and rates."""
    if sums is None:
        return Replicates({}, {})
    own, statuses = sums[:, : -len(STATUSES)], sums[:, -len(STATUSES) :]
    return Replicates(figures.estimates(own) | _rate_values(statuses), figures.lost(own))


def estimate(
    missing: str, sample: Sample, figures: Figures, counts: Counts, replicates: Replicates
) -> dict[str, Estimate]:
    """The task's estimates of some clips, and the rates that every task has."""
    return (
        _qualities(missing, sample, figures, counts, replicates)
        | _answered_only(figures, counts)
        | _rates(sample, counts, replicates)
    )


def flips(
    figures: Figures, estimates: Mapping[str, Estimate], metric: str, holds: Callable[[float], bool]
) -> int | None:
    """How many clips would have to change to turn a verdict on an estimate, None where that cannot be said."""
    if metric in RATES:
        found = estimates[metric]
        return ratio_flips(int(found.numerator or 0), int(found.denominator or 0), holds)
    return figures.flips(metric, holds) if metric in figures.estimates(figures.total()) else None


def sample_speakers(question: Question) -> Clusters | None:
    """The speakers of the planned clips, None without a speaker column."""
    return Clusters.of(*unit_codes(question, "speaker")) if "speaker" in question.cells else None


def _rate_values(sums: Floats) -> dict[str, Floats]:
    """Rates of status counts [..., 5], NaN where a replicate drew none of the clips."""
    place = {status: number for number, status in enumerate(STATUSES)}
    whole = sums.sum(axis=-1)
    whole = np.where(whole > 0, whole, np.nan)
    return {name: sums[..., [place[part] for part in parts]].sum(axis=-1) / whole for name, parts in RATES.items()}


def withheld(missing: str, counts: Counts) -> str | None:
    """Why no estimate of quality is given, or None."""
    if missing == "withhold" and counts.answered < counts.planned:
        return f"{counts.answered:,} of {counts.planned:,} answered"
    return None if counts.answered + counts.abstained else "no clip came back"


def _qualities(
    missing: str, sample: Sample, reading: Figures, counts: Counts, replicates: Replicates
) -> dict[str, Estimate]:
    reason = withheld(missing, counts)
    estimates = {}
    for name, value in reading.estimates(reading.total()).items():
        if reason is not None or np.isnan(value):
            why = reason or reading.undefined(name)
            estimates[name] = Estimate(
                value=None, n=reading.n(name), unit=reading.unit(name), reason=why, interval_reason="no value"
            )
            continue
        numerator, denominator = reading.fraction(name) or (None, None)
        if isinstance(numerator, int) and isinstance(denominator, int):
            value = np.array(numerator / denominator)  # sums may round where a fraction does not
        interval, no_interval = sample.interval(replicates.values.get(name), replicates.lost)
        estimates[name] = Estimate(
            value=float(value),
            n=reading.n(name),
            unit=reading.unit(name),
            numerator=numerator,
            denominator=denominator,
            interval=interval,
            interval_reason=no_interval,
        )
    return estimates


def _answered_only(reading: Figures, counts: Counts) -> dict[str, Estimate]:
    return {
        f"answered_only.{name}": _figure(
            value,
            counts.answered,
            reading.unit(name),
            reading.undefined(name) if counts.answered else "no clip was answered",
        )
        for name, value in reading.answered_only().items()
    }


def _rates(sample: Sample, counts: Counts, replicates: Replicates) -> dict[str, Estimate]:
    estimates = {}
    for name, parts in RATES.items():
        numerator = sum(getattr(counts, part) for part in parts)
        interval, no_interval = sample.interval(replicates.values.get(name), {})
        estimates[name] = Estimate(
            value=numerator / counts.planned if counts.planned else None,
            n=counts.planned,
            unit="clip",
            numerator=numerator,
            denominator=counts.planned,
            interval=interval,
            interval_reason=no_interval,
            reason=None if counts.planned else "no clip is planned",
        )
    return estimates


def sizes(counts: Counts, speakers: Clusters | None) -> dict[str, Estimate]:
    """How many clips there are, and how many speakers."""
    clips = {"clips": _figure(counts.planned, counts.planned, "clip", "")}
    if speakers is None:
        none = _figure(None, counts.planned, "speaker", "no speaker column")
        return clips | {"speakers": none, "effective_speakers": none}
    held = counts.planned - speakers.excluded
    return clips | {
        "speakers": _figure(speakers.clusters, held, "speaker", ""),
        "effective_speakers": _figure(speakers.effective, held, "speaker", ""),
    }


def _times(question: Question, endings: Sequence[Ending]) -> dict[str, Estimate]:
    """Our clock around the method, over calls that returned; the warm-up is not among them.

    Answers that were recorded elsewhere are looked up, which times no model.
    """
    recorded = bool(question.adapter.get("recorded"))
    timed = [(place, ending.microseconds) for place, ending in zip(question.planned, endings, strict=True)
             if ending.state == "returned" and ending.microseconds is not None and not recorded]  # fmt: skip
    spans = [microseconds / 1000 for _, microseconds in timed]
    n, none = len(spans), "answers were recorded elsewhere: no model was timed" if recorded else "no call returned"
    p50, p95 = np.quantile(spans, [0.5, 0.95]).tolist() if n else (None, None)
    reported = [ending.reported_ms for ending in endings if ending.reported_ms is not None]
    heard = [question.seconds(place) for place, _ in timed]
    seconds = fsum(length for length in heard if length is not None)
    return {
        "latency_ms.mean": _figure(fsum(spans) / n if n else None, n, "ms", none),
        "latency_ms.p50": _figure(p50, n, "ms", none),
        "latency_ms.p95": _figure(p95, n, "ms", none),
        "latency_ms.reported": _figure(
            fsum(reported) / len(reported) if reported else None, len(reported), "ms", "the adapter reports no latency"
        ),
        "rtf": _figure(fsum(spans) / 1000 / seconds if seconds else None, n, "s/s", "no sound was heard"),
    }


def _figure(value: float | None, n: int, unit: str, undefined: str) -> Estimate:
    """An estimate that is not a function of a sample of clips."""
    return Estimate(
        value=None if value is None else float(value),
        n=n,
        unit=unit,
        interval_reason="not sampled",
        reason=undefined if value is None else None,
    )
