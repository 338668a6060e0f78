"""`use: predictions`: answers made elsewhere, read from CSV, TSV or JSON Lines and matched by identity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from pytest_speval.adapters.base import EmotionRead, Identity, Roll, Transcript, Vad
from pytest_speval.corpus.manifest import Format, Manifest, read_manifest
from pytest_speval.corpus.projections import AXES
from pytest_speval.errors import AdapterFault, AnswerFault, FaultyFile

CODES = {
    "predictions-unusable": "The file of recorded answers is missing, unreadable or lacks a column.",
    "predictions-unknown-clip": "A recorded answer's id is in no row of the manifest.",
    "predictions-repeated": "Two recorded answers share one identity.",
    "predictions-ambiguous": "Recorded answers have no split, and an id is in several splits.",
}


Answer = EmotionRead | Transcript | AnswerFault


class PredictionColumns(BaseModel):
    """Which column of the file holds what; by default each has its own name.

    Answers are transcripts where `text` is named, or where the file has a column of its name and none for a label,
    axes or scores.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: str = "id"
    split: str = "split"
    label: str = "label"
    text: str = "text"
    valence: str = "valence"
    arousal: str = "arousal"
    dominance: str = "dominance"
    scores: Mapping[str, str] = Field(default_factory=dict)


class PredictionKeys(BaseModel):
    """The keys of `use: predictions`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    file: Path
    columns: PredictionColumns = PredictionColumns()


class Predictions:
    """Recorded answers, asked by (split, id), or by id alone where the file has no split column."""

    def __init__(self, file: Path, columns: PredictionColumns | None = None) -> None:
        self._file = file
        self._columns = columns or PredictionColumns()
        self._answers: dict[tuple[str | None, str], Answer] = {}
        self._by_id = False

    def identity(self) -> Identity:
        """The file is the model."""
        return Identity(self._file.stem, files=(self._file,))

    def warm_up(self) -> None:
        """Read the file; raises `AdapterFault` where it cannot serve."""
        if not self._file.is_file():
            raise AdapterFault("predictions-unusable", f"no file {self._file}: it should hold the recorded answers")
        keys = (self._columns.id, self._columns.split, self._columns.text)
        try:
            table = read_manifest(self._file, self._file.name, Format(na=()), texts=keys, blank=keys[2:], empty=True)
        except FaultyFile as fault:
            raise AdapterFault("predictions-unusable", str(fault)) from fault
        self._by_id = not table.has(self._columns.split)
        self._answers = self._read(table)

    def recall(self, split: str, id: str) -> EmotionRead | Transcript:  # noqa: A002
        """The recorded answer for one clip."""
        answer = self._answers.get((None if self._by_id else split, id))
        if answer is None:
            raise AnswerFault("no-answer", f"{self._file.name} has no row for {split}/{id}")
        if isinstance(answer, AnswerFault):
            raise answer
        return answer

    def compare(self, roll: Roll) -> list[tuple[str, str]]:
        """Rows whose id no manifest row has are a fault; rows of clips not planned are counted."""
        known: Collection[tuple[str | None, str]] = roll.every
        if self._by_id and self._answers:
            self._refuse_ambiguous(roll.listed)
            known = {(None, name) for _, name in roll.every}
        foreign = sorted(key[1] for key in self._answers if key not in known)
        if foreign:
            found = f"{len(foreign)} rows of {self._file.name} have an id that no manifest row has"
            raise AdapterFault("predictions-unknown-clip", f"{found}: {', '.join(foreign[:5])}")
        asked = {(None if self._by_id else split, name) for split, name in roll.planned}
        spare = sum(key not in asked for key in self._answers)
        found = f"{spare} rows of {self._file.name} belong to clips that are not planned"
        return [("predictions-spare", found)] if spare else []

    def _refuse_ambiguous(self, listed: Sequence[tuple[str, str]]) -> None:
        twice = sorted(name for name, count in Counter(name for _, name in listed).items() if count > 1)
        if twice:
            found = f"{self._file.name} has no column `{self._columns.split}`, yet `{twice[0]}` is in several splits"
            raise AdapterFault("predictions-ambiguous", found)

    def _read(self, table: Manifest) -> dict[tuple[str | None, str], Answer]:
        if not table.rows:
            return {}
        self._check_columns(table)
        ids = table.column(self._columns.id)
        splits = [None] * len(ids) if self._by_id else table.column(self._columns.split)
        keys = list(zip(splits, [name or "" for name in ids], strict=True))
        if len(set(keys)) < len(keys):
            ((split, name), _), *_ = Counter(keys).most_common(1)
            raise AdapterFault(
                "predictions-repeated",
                f"{self._file.name} has two rows for {name if split is None else f'{split}/{name}'}",
            )
        return dict(zip(keys, self._reads(table), strict=True))

    def _check_columns(self, table: Manifest) -> None:
        named = self._columns.model_fields_set - {"id", "scores"}
        wanted = [
            self._columns.id,
            *sorted(getattr(self._columns, role) for role in named),
            *self._columns.scores.values(),
        ]
        answers = [
            self._columns.label,
            *(getattr(self._columns, axis) for axis in AXES),
            *self._columns.scores.values(),
        ]
        missing = [name for name in wanted if not table.has(name)]
        if not missing and not any(map(table.has, [*answers, self._columns.text])):
            missing = [self._columns.label]
        if missing:
            raise AdapterFault(
                "predictions-unusable",
                f"{self._file.name} has no column `{missing[0]}`; its columns are {', '.join(table.names)}",
            )

    def _reads(self, table: Manifest) -> list[Answer]:
        if self._transcribed(table):
            return [_transcript(text) for text in table.column(self._columns.text)]
        labels = table.column(self._columns.label) if table.has(self._columns.label) else [None] * len(table.rows)
        axes = [table.column(name) for axis in AXES if table.has(name := getattr(self._columns, axis))]
        scores = {label: table.column(name) for label, name in self._columns.scores.items()}
        if not scores and len(axes) < len(AXES):
            return [EmotionRead(label=label or None) for label in labels]
        return [
            _read(label, [cells[row] for cells in axes], {name: cells[row] for name, cells in scores.items()})
            for row, label in enumerate(labels)
        ]

    def _transcribed(self, table: Manifest) -> bool:
        columns = self._columns
        others = (columns.label, *(getattr(columns, axis) for axis in AXES), *columns.scores.values())
        return table.has(columns.text) and ("text" in columns.model_fields_set or not any(map(table.has, others)))


def _transcript(text: str | None) -> Transcript | AnswerFault:
    return AnswerFault("no-answer", "the row has no text") if text is None else Transcript(text)


def _read(label: str | None, axes: Sequence[str | None], scores: Mapping[str, str | None]) -> EmotionRead | AnswerFault:
    try:
        vad = Vad(*map(_number, axes)) if len(axes) == len(AXES) and any(axes) else None
        numbers = {name: _number(cell) for name, cell in scores.items()} if any(scores.values()) else None
    except ValueError as error:
        return AnswerFault("invalid-answer", f"{error} is not a number")
    return EmotionRead(label=label or None, scores=numbers, vad=vad)


def _number(cell: str | None) -> float:
    try:
        return float(cell or "")
    except ValueError:
        raise ValueError(f"`{cell or ''}`") from None
