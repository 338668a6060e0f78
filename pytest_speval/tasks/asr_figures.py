"""Word errors of clips, added up by words, by clips and by speakers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from pytest_speval.corpus.text import TextRules
from pytest_speval.scoring.alignment import Errors
from pytest_speval.scoring.flips import error_flips
from pytest_speval.scoring.units import Units, held
from pytest_speval.suite.text_check import AGREEMENT
from pytest_speval.tasks.base import Sums

METRICS = ("wer", "wer_clip_mean", "wer_speaker_mean", "cer", "insertions_on_empty")
Counts = npt.NDArray[np.int64]
MATCHES, SUBSTITUTIONS, DELETIONS, INSERTIONS, CHARACTER_ERRORS, CHARACTERS, ANSWERED = range(7)
"""Columns of a clip's counts; the first three add up to the words of its reference."""
(
    ERRORS,
    WORDS,
    WRONG_CHARACTERS,
    ALL_CHARACTERS,
    INSERTED,
    SILENT,
    RATES,
    RATED,
    SHARES,
    SPEAKERS,
) = range(10)
"""Sums: errors and words; the same of characters; words heard in clips without any, and such clips that were answered;
rates of clips and how many have one; shares that clips have in the rate of their speaker, and in one speaker."""
WIDTH = 10


class AsrFigures:
    """Clips as counts, int64 [n, 7], with the speaker of each; a negative speaker is not known."""

    def __init__(self, rules: TextRules, clips: Counts, speakers: npt.NDArray[np.int64]) -> None:
        self._rules = rules
        self._clips = clips
        self._speakers = speakers
        self._words = clips[:, MATCHES] + clips[:, SUBSTITUTIONS] + clips[:, DELETIONS]
        self._errors = clips[:, SUBSTITUTIONS] + clips[:, DELETIONS] + clips[:, INSERTIONS]
        self._rated = self._words > 0

    @property
    def errors(self) -> Errors:
        """The errors of all clips together."""
        matches, substitutions, deletions, insertions = self._clips[:, : INSERTIONS + 1].sum(axis=0).tolist()
        return Errors(matches + substitutions + deletions, matches, substitutions, deletions, insertions)

    def total(self) -> Sums:
        sums: Sums = self.per_unit(np.zeros(len(self._clips), dtype=np.int64), 1)[0]
        return sums

    def per_unit(self, units: Units, count: int) -> Sums:
        kept = held(units, count)
        silent = ~self._rated & (self._clips[:, ANSWERED] > 0)
        whole = {
            ERRORS: self._errors,
            WORDS: self._words,
            WRONG_CHARACTERS: self._clips[:, CHARACTER_ERRORS],
            ALL_CHARACTERS: self._clips[:, CHARACTERS],
            INSERTED: self._clips[:, INSERTIONS] * silent,
            SILENT: silent,
            RATED: self._rated,
        }
        sums = np.zeros((count, WIDTH))
        for column, values in whole.items():
            sums[:, column] = np.bincount(units[kept], weights=values[kept], minlength=count)
        kept &= self._rated
        sums[:, RATES] = _summed(units[kept], self._rates[kept], count)
        self._share(units, kept & (self._speakers >= 0), sums)
        return sums

    def _share(self, units: Units, kept: npt.NDArray[np.bool_], sums: Sums) -> None:
        """Add the shares in the rates of speakers: a speaker's rate is the mean over all their clips with words."""
        if not kept.any():
            return
        speakers = int(self._speakers.max()) + 1
        clips_of = np.bincount(self._speakers[self._rated & (self._speakers >= 0)], minlength=speakers)
        pairs, pair = np.unique(units[kept].astype(np.int64) * speakers + self._speakers[kept], return_inverse=True)
        unit, speaker = np.divmod(pairs, speakers)
        rates = _summed(pair, self._rates[kept], len(pairs)) / clips_of[speaker]
        sums[:, SHARES] = np.bincount(unit, weights=rates, minlength=len(sums))
        sums[:, SPEAKERS] = np.bincount(unit, weights=np.bincount(pair) / clips_of[speaker], minlength=len(sums))

    def estimates(self, sums: Sums) -> dict[str, Sums]:
        silent = sums[..., SILENT] > 0
        values = {
            "wer": _quotient(sums[..., ERRORS], sums[..., WORDS]),
            "wer_clip_mean": _quotient(sums[..., RATES], sums[..., RATED]),
            "wer_speaker_mean": _quotient(sums[..., SHARES], sums[..., SPEAKERS]),
            "cer": _quotient(sums[..., WRONG_CHARACTERS], sums[..., ALL_CHARACTERS]),
            "insertions_on_empty": np.where(silent, sums[..., INSERTED], np.nan),
        }
        return {self._rules.metric(name): value for name, value in values.items()}

    def lost(self, sums: Sums) -> dict[str, float]:  # noqa: ARG002
        return {}

    def answered_only(self) -> dict[str, float | None]:
        kept = self._clips[:, ANSWERED] > 0
        figures = AsrFigures(self._rules, self._clips[kept], self._speakers[kept])
        values = figures.estimates(figures.total())
        return {name: None if np.isnan(value) else float(value) for name, value in values.items()}

    def fraction(self, metric: str) -> tuple[int, int] | None:
        name = metric.removeprefix(AGREEMENT)
        if name == "wer":
            return int(self._errors.sum()), int(self._words.sum())
        if name == "cer":
            return int(self._clips[:, CHARACTER_ERRORS].sum()), int(self._clips[:, CHARACTERS].sum())
        return None

    def n(self, metric: str) -> int:
        name = metric.removeprefix(AGREEMENT)
        if name == "wer_clip_mean":
            return int(np.count_nonzero(self._rated))
        if name == "wer_speaker_mean":
            return len(np.unique(self._speakers[self._rated & (self._speakers >= 0)]))
        if name == "insertions_on_empty":
            return int(np.count_nonzero(~self._rated & (self._clips[:, ANSWERED] > 0)))
        return len(self._clips)

    def unit(self, metric: str) -> str:
        units = {"wer_clip_mean": "clip", "wer_speaker_mean": "speaker", "cer": "character"}
        return units.get(metric.removeprefix(AGREEMENT), "word")

    def undefined(self, metric: str) -> str:
        name = metric.removeprefix(AGREEMENT)
        if name == "insertions_on_empty":
            return "no clip whose reference is empty was answered"
        if name == "wer_speaker_mean" and self._rated.any():
            return "no speaker is known"
        return "no reference has a word"

    def ceiling(self, metric: str) -> float | None:  # noqa: ARG002
        return None

    def flips(self, metric: str, holds: Callable[[float], bool]) -> int | None:
        name = metric.removeprefix(AGREEMENT)
        if name == "wer":
            return error_flips(self._errors, self._words, holds)
        if name == "cer":
            return error_flips(self._clips[:, CHARACTER_ERRORS], self._clips[:, CHARACTERS], holds)
        return None

    def tally(self) -> dict[str, int]:
        errors = self.errors
        return {
            "matches": errors.matches,
            "substitutions": errors.substitutions,
            "deletions": errors.deletions,
            "insertions": errors.insertions,
        }

    @property
    def _rates(self) -> Sums:
        """Each clip's own rate, 0 for a clip without words."""
        rates: Sums = self._errors / np.maximum(self._words, 1)
        return rates


def _summed(places: Units, values: Sums, count: int) -> Sums:
    """Sums by place. Doubles are added in the order of their size, so that the order of clips leaves no trace."""
    order = np.argsort(values, kind="stable")
    sums: Sums = np.bincount(places[order], weights=values[order], minlength=count).astype(np.float64)
    return sums


def _quotient(numerator: Sums, denominator: Sums) -> Sums:
    """Numerator over denominator, NaN where the denominator is 0."""
    quotient: Sums = np.divide(
        numerator, denominator, out=np.full(np.shape(denominator), np.nan), where=denominator > 0
    )
    return quotient
