"""The task `asr`: the words that were said, held against a transcript.

Word errors follow the alignment that is first in the order match, substitute, delete, insert. A clip that did not
answer counts as all words deleted, and so does an empty answer, which is an answer. Rates above 1 are not cut.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from pytest_speval.adapters.base import Transcript
from pytest_speval.corpus.text import TextRules
from pytest_speval.errors import AnswerFault
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.plan import Question
from pytest_speval.scoring.alignment import align, distance
from pytest_speval.scoring.recount import fewest_errors, replayed
from pytest_speval.scoring.units import unit_codes
from pytest_speval.suite.text_check import AGREEMENT
from pytest_speval.suite.vocabulary import MetricWord, TaskWord
from pytest_speval.tasks.asr_figures import INSERTIONS, METRICS, AsrFigures
from pytest_speval.tasks.base import COMMON, Rules, Status
from pytest_speval.tasks.emotion_answer import reported_latency

SHOWN_PAIRS = 50
"""How many of the most frequent errors of a kind are published."""


class AsrReading(AsrFigures):
    """The endings of all planned clips, aligned word by word."""

    def __init__(
        self,
        rules: TextRules,
        transcripts: Sequence[str],
        endings: Sequence[Ending],
        speakers: npt.NDArray[np.int64],
        missing: Literal["worst", "withhold"] = "worst",
    ) -> None:
        said = [rules.words(text) for text in transcripts]
        heard = [
            rules.words((ending.answer or {})["text"]) if ending.state == "returned" else None for ending in endings
        ]
        self.statuses: list[Status] = [
            "answered" if ending.state == "returned" else cast(Status, ending.state) for ending in endings
        ]
        self._aligned = [align(words, answer or []) for words, answer in zip(said, heard, strict=True)]
        self.ops: list[str | None] = [
            ops if answer is not None or missing == "worst" else None
            for ops, answer in zip(self._aligned, heard, strict=True)
        ]
        self.references: list[Any] = [" ".join(words) for words in said]
        self.answers: list[Any] = [None if words is None else " ".join(words) for words in heard]
        self.correct = [answer == reference for answer, reference in zip(self.answers, self.references, strict=True)]
        self._emptied = sum(bool(text.split()) and not words for text, words in zip(transcripts, said, strict=True))
        clips = [
            (
                *(ops.count(kind) for kind in "MSDI"),
                distance(reference, answer or ""),
                len(reference),
                answer is not None,
            )
            for ops, reference, answer in zip(self._aligned, self.references, self.answers, strict=True)
        ]
        super().__init__(rules, np.array(clips, dtype=np.int64).reshape(len(clips), 7), speakers)

    def part(self, clips: npt.NDArray[np.int64]) -> AsrFigures:
        return AsrFigures(self._rules, self._clips[clips], self._speakers[clips])

    def published(self) -> dict[str, Any]:
        normalizer = self._rules.normalizer
        texts = "\n".join(self.references)
        return {
            "transcription": {
                "normalizer": {
                    "name": normalizer.name,
                    "version": normalizer.version,
                    "sha256": normalizer.sha256,
                    "case": self._rules.case,
                },
                "reference": self._rules.reference,
                "referencesSha256": hashlib.sha256(texts.encode()).hexdigest(),
                "referenceWords": self.errors.words,
                **self.tally(),
                "referenceEmpty": self.references.count(""),
                "emptiedByNormalizer": self._emptied,
                "confusions": self._confusions(),
            }
        }

    def recount(self) -> dict[str, str | None]:
        """Follow every alignment, and count its errors in the plain table."""
        found = [place for place in range(len(self._clips)) if not self._holds(place)]
        if not found:
            return {"wer": None}
        return {"wer": f"{len(found):,} of {len(self._clips):,} clips have other word errors when counted another way"}

    def _holds(self, place: int) -> bool:
        said, heard = self.references[place].split(), (self.answers[place] or "").split()
        counts = tuple(self._clips[place, : INSERTIONS + 1].tolist())
        if said == heard:
            return counts == (len(said), 0, 0, 0)
        return replayed(self._aligned[place], said, heard) == counts and fewest_errors(said, heard) == sum(counts[1:])

    def _confusions(self) -> dict[str, list[dict[str, Any]]]:
        """The most frequent errors in the answers, those of one count in the order of their words."""
        found: dict[str, Counter[tuple[str, ...]]] = {kind: Counter() for kind in "SDI"}
        for ops, reference, answer in zip(self.ops, self.references, self.answers, strict=True):
            if answer is not None and ops is not None and ops.strip("M"):
                _count(ops, reference.split(), answer.split(), found)
        names = {"S": ("reference", "answer"), "D": ("reference",), "I": ("answer",)}
        kinds = {"S": "substitutions", "D": "deletions", "I": "insertions"}
        return {
            kinds[kind]: [
                {**dict(zip(names[kind], words, strict=True)), "count": count}
                for words, count in sorted(pairs.items(), key=lambda pair: (-pair[1], pair[0]))[:SHOWN_PAIRS]
            ]
            for kind, pairs in found.items()
        }


def _count(ops: str, said: Sequence[str], heard: Sequence[str], found: dict[str, Counter[tuple[str, ...]]]) -> None:
    """Add the words of each error of an alignment."""
    row = column = 0
    for kind in ops:
        if kind == "S":
            found[kind][said[row], heard[column]] += 1
        elif kind == "D":
            found[kind][(said[row],)] += 1
        elif kind == "I":
            found[kind][(heard[column],)] += 1
        row += kind != "I"
        column += kind != "D"


class Asr:
    """Which words are said in the clip?"""

    word = TaskWord(
        "asr",
        (
            *(MetricWord(name, "lower", high=None) for name in METRICS),
            *(MetricWord(f"{AGREEMENT}{name}", "lower", high=None) for name in METRICS),
            *COMMON,
        ),
        headline="wer",
        required=(("transcript",),),
    )
    method = "transcribe"

    def record(self, read: object) -> tuple[dict[str, Any], float | None]:
        if not isinstance(read, Transcript):
            raise AnswerFault("invalid-answer", f"transcribe returned {type(read).__name__}, not Transcript")
        return {"text": _text(read.text)}, reported_latency(read.latency_ms)

    def read(self, question: Question, rules: Rules, endings: Sequence[Ending]) -> AsrReading:
        if rules.text is None:
            raise ValueError("asr is scored by rules for text")
        cells, speakers = question.cells["transcript"], question.cells.get("speaker")
        codes, _ = unit_codes([None if speakers is None else speakers[place] for place in question.planned])
        return AsrReading(rules.text, [str(cells[place]) for place in question.planned], endings, codes, rules.missing)


def _text(text: object) -> str:
    if not isinstance(text, str):
        raise AnswerFault("invalid-answer", f"the text is {type(text).__name__}, not a string; nothing heard is ''")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise AnswerFault("invalid-answer", f"the text is not Unicode text: {text!r}") from None
    return str.__str__(text)
