"""`use: predictions`: answers made elsewhere, read from a table or a file of transcripts and matched by identity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from pytest_speval.adapters.base import EmotionRead, Identity, Rating, Roll, Transcript, Vad
from pytest_speval.adapters.references import KEYS, references_taken
from pytest_speval.corpus.manifest import Manifest, read_manifest, style_of
from pytest_speval.corpus.numbers import number_of
from pytest_speval.corpus.poll import form_of
from pytest_speval.corpus.projections import AXES
from pytest_speval.corpus.segments import read_words_by_segment
from pytest_speval.corpus.styles import NIST, TRANSCRIPTS
from pytest_speval.corpus.transcripts import ALTERNATIVES
from pytest_speval.errors import AdapterFault, AnswerFault, FaultyFile
from pytest_speval.suite.corpus_keys import Format

CODES = {
    "predictions-unusable": "The file of recorded answers is missing, unreadable or lacks a column.",
    "predictions-unknown-clip": "A recorded answer's id is in no row of the manifest.",
    "predictions-repeated": "Two recorded answers share one identity.",
    "predictions-ambiguous": "Recorded answers have no split, and an id is in several splits.",
    "predictions-two-texts": "A file of recorded answers has both `text` and `pred_text`, and none is named.",
    "predictions-alternatives": "A recorded transcript offers alternatives, which would be counted as words.",
}
RECOGNISED = "pred_text"
"""What recognisers' manifests call their answers; `text` is the reference there."""
Answer = EmotionRead | Transcript | Rating | AnswerFault


class PredictionColumns(BaseModel):
    """Which column of the file holds what; by default each has its own name.

    Answers are transcripts where `text` is named, or where the file has a column of its name and none for a label,
    axes or scores. They are ratings where `value` is named, or where the file has such a column and none of the others.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: str = "id"
    split: str = "split"
    label: str = "label"
    text: str = "text"
    value: str = "value"
    valence: str = "valence"
    arousal: str = "arousal"
    dominance: str = "dominance"
    scores: Mapping[str, str] = Field(default_factory=dict)


class PredictionKeys(BaseModel):
    """The keys of `use: predictions`.

    `segments` is the STM to whose segments the words of a CTM are put; without it a channel is one answer.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    file: Path
    columns: PredictionColumns = PredictionColumns()
    format: Format = Format(na=())
    segments: Path | None = None


class Predictions:
    """Recorded answers, asked by (split, id), or by id alone where the file has no split column.

    Ids of NIST's formats are compared without case, as NIST's scorers do.
    """

    def __init__(
        self,
        file: Path,
        columns: PredictionColumns | None = None,
        format: Format | None = None,  # noqa: A002
        segments: Path | None = None,
    ) -> None:
        self._file = file
        self._form = form_of(format or Format(na=()))
        self._style = style_of(file, self._form)
        self._segments = segments
        columns = columns or PredictionColumns()
        if self._style in TRANSCRIPTS and "text" not in columns.model_fields_set:
            columns = columns.model_copy(update={"text": "transcript"})
        self._columns = columns
        self._answers: dict[tuple[str | None, str], Answer] = {}
        self._ids: list[str] = []
        self._by_id, self._sha256 = False, ""
        self._taken: Mapping[str, str] = {}

    def identity(self) -> Identity:
        """The file is the model."""
        return Identity(self._file.stem, files=(self._file, *([self._segments] if self._segments else [])))

    def warm_up(self) -> None:
        """Read the file; raises `AdapterFault` where it cannot serve."""
        for file, what in ((self._file, "the recorded answers"), (self._segments, "the segments of the references")):
            if file is not None and not file.is_file():
                raise AdapterFault("predictions-unusable", f"no file {file}: it should hold {what}")
        try:
            table = self._table()
        except FaultyFile as fault:
            raise AdapterFault("predictions-unusable", str(fault)) from fault
        self._by_id, self._sha256 = not table.has(self._columns.split), table.sha256
        self._answers = self._read(table)

    def _table(self) -> Manifest:
        if self._segments is None:
            keys = (self._columns.id, self._columns.split, self._columns.text)
            return read_manifest(self._file, self._file.name, self._form, texts=keys, blank=keys[2:], empty=True)
        if self._style != "ctm":
            found = f"`segments` is for words with times, and {self._file.name} is no CTM"
            raise AdapterFault("predictions-unusable", found)
        return read_words_by_segment(self._file, self._segments, self._form)

    def recall(self, split: str, id: str) -> EmotionRead | Transcript | Rating:  # noqa: A002
        """The recorded answer for one clip."""
        answer = self._answers.get(self._key(split, id))
        if answer is None:
            raise AnswerFault("no-answer", f"{self._file.name} has no row for {split}/{id}")
        if isinstance(answer, AnswerFault):
            raise answer
        return answer

    def compare(self, roll: Roll) -> list[tuple[str, str]]:
        """Rows whose id no manifest row has are a fault, and so are references as answers; spare rows are counted."""
        notices = references_taken(self._file, self._sha256, self._taken, roll)
        if self._by_id and self._answers:
            self._refuse_ambiguous(roll.listed)
        known = {self._key(split, name) for split, name in roll.every}
        foreign = sorted(key[1] for key in self._answers if key not in known)
        if foreign:
            found = f"{len(foreign)} rows of {self._file.name} have an id that no manifest row has"
            raise AdapterFault("predictions-unknown-clip", f"{found}: {', '.join(foreign[:5])}")
        asked = {self._key(split, name) for split, name in roll.planned}
        spare = sum(key not in asked for key in self._answers)
        found = f"{spare} rows of {self._file.name} belong to clips that are not planned"
        return notices + [("predictions-spare", found)] * (spare > 0) + self._other_case(roll)

    def _key(self, split: str | None, name: str) -> tuple[str | None, str]:
        return (None if self._by_id else split, name.lower() if self._style in NIST else name)

    def _other_case(self, roll: Roll) -> list[tuple[str, str]]:
        if self._style not in NIST:
            return []
        exact = {name for _, name in roll.every}
        other = [name for name in self._ids if name not in exact]
        found = f"{len(other)} ids of {self._file.name} are in another case than the manifest's"
        return [("predictions-case", f"{found}, such as {other[0]}")] if other else []

    def _refuse_ambiguous(self, listed: Sequence[tuple[str, str]]) -> None:
        names: dict[tuple[str | None, str], list[str]] = {}
        for split, name in listed:
            names.setdefault(self._key(split, name), []).append(name)
        for first, *more in names.values():
            if more and first == more[0]:
                found = f"{self._file.name} has no column `{self._columns.split}`, yet `{first}` is in several splits"
                raise AdapterFault("predictions-ambiguous", found)
            if more:
                found = f"ids of {self._file.name} are compared without case, and the manifest has both"
                raise AdapterFault("predictions-ambiguous", f"{found} `{first}` and `{more[0]}`")

    def _read(self, table: Manifest) -> dict[tuple[str | None, str], Answer]:
        if not table.rows:
            return {}
        self._check_columns(table)
        self._ids = [name or "" for name in table.column(self._columns.id)]
        splits = [None] * len(self._ids) if self._by_id else table.column(self._columns.split)
        keys = [self._key(split, name) for split, name in zip(splits, self._ids, strict=True)]
        if len(set(keys)) < len(keys):
            ((split, name), _), *_ = Counter(keys).most_common(1)
            lines = [str(table.line(row)) for row, key in enumerate(keys) if key == (split, name)]
            raise AdapterFault(
                "predictions-repeated",
                f"{self._file.name} has {len(lines)} rows for {name if split is None else f'{split}/{name}'}, "
                f"on lines {lines[0]} and {lines[1]}",
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
        answers += [self._columns.text, self._columns.value]
        if not missing and not any(map(table.has, answers)):
            found = f"{self._file.name} has no column of answers ({', '.join(answers)}); its columns are"
            told = f"{found} {', '.join(table.names)}: say in `columns` which one holds the answers"
            raise AdapterFault("predictions-unusable", told)
        if "text" not in named and table.has(self._columns.text) and table.has(RECOGNISED):
            found = f"{self._file.name} has the columns `{self._columns.text}` and `{RECOGNISED}`, a reference and an"
            raise AdapterFault("predictions-two-texts", f"{found} answer: say `columns: {{text: {RECOGNISED}}}`")
        if missing:
            raise AdapterFault(
                "predictions-unusable",
                f"{self._file.name} has no column `{missing[0]}`; its columns are {', '.join(table.names)}",
            )

    def _reads(self, table: Manifest) -> list[Answer]:
        if self._rated(table):
            self._take("rating")
            return self._ratings(table)
        if self._transcribed(table):
            self._take("transcript")
            texts = table.column(self._columns.text, keep_na=True)
            self._refuse_alternatives(table, texts)
            return [_transcript(text) for text in texts]
        self._take("label", *AXES)
        labels = table.column(self._columns.label) if table.has(self._columns.label) else [None] * len(table.rows)
        axes = [table.column(name) for axis in AXES if table.has(name := getattr(self._columns, axis))]
        scores = {label: table.column(name) for label, name in self._columns.scores.items()}
        if not scores and len(axes) < len(AXES):
            return [EmotionRead(label=label or None) for label in labels]
        return [
            _read(label, [cells[row] for cells in axes], {name: cells[row] for name, cells in scores.items()})
            for row, label in enumerate(labels)
        ]

    def _take(self, *roles: str) -> None:
        self._taken = {role: getattr(self._columns, KEYS[role]) for role in roles}

    def _refuse_alternatives(self, table: Manifest, texts: Sequence[str | None]) -> None:
        for row, text in enumerate(texts):
            if found := ALTERNATIVES.search(text or ""):
                place = f"{self._file.name}:{table.line(row)}"
                what = f"the answer offers alternatives, `{found[0]}`: write the words of the one best answer"
                raise AdapterFault("predictions-alternatives", f"{place}: {what}")

    def _transcribed(self, table: Manifest) -> bool:
        columns = self._columns
        return table.has(columns.text) and ("text" in columns.model_fields_set or not self._has_emotions(table))

    def _rated(self, table: Manifest) -> bool:
        columns = self._columns
        alone = not self._has_emotions(table) and not table.has(columns.text)
        return table.has(columns.value) and ("value" in columns.model_fields_set or alone)

    def _has_emotions(self, table: Manifest) -> bool:
        columns = self._columns
        axes = (getattr(columns, axis) for axis in AXES)
        return any(map(table.has, (columns.label, *axes, *columns.scores.values())))

    def _ratings(self, table: Manifest) -> list[Answer]:
        scores = {name: table.column(column) for name, column in self._columns.scores.items()}
        return [
            _rating(value, {name: cells[row] for name, cells in scores.items()})
            for row, value in enumerate(table.column(self._columns.value))
        ]


def _transcript(text: str | None) -> Transcript | AnswerFault:
    return AnswerFault("no-answer", "the row has no text") if text is None else Transcript(text)


def _rating(value: str | None, scores: Mapping[str, str | None]) -> Rating | AnswerFault:
    if not value:
        return AnswerFault("no-answer", "the row has no value")
    try:
        return Rating(_number(value), {name: _number(cell) for name, cell in scores.items() if cell} or None)
    except ValueError as error:
        return AnswerFault("invalid-answer", f"{error} is not a number")


def _read(label: str | None, axes: Sequence[str | None], scores: Mapping[str, str | None]) -> EmotionRead | AnswerFault:
    try:
        vad = Vad(*map(_number, axes)) if len(axes) == len(AXES) and any(axes) else None
        numbers = {name: _number(cell) for name, cell in scores.items()} if any(scores.values()) else None
    except ValueError as error:
        return AnswerFault("invalid-answer", f"{error} is not a number")
    return EmotionRead(label=label or None, scores=numbers, vad=vad)


def _number(cell: str | None) -> float:
    number = number_of(cell or "")
    if number is None:
        raise ValueError(f"`{cell or ''}`")
    return number
