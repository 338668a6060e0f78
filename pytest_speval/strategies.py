"""Hypothesis strategies for corpora with a known leak, and for corpora with none, to test a pipeline of one's own.

    from hypothesis import given
    from pytest_speval.strategies import PlantedManifest, leaky_manifests

    @given(leaky_manifests("speakers"))
    def test_my_splitter_notices_a_shared_speaker(corpus: PlantedManifest) -> None:
        assert my_check(corpus.rows) == [corpus.planted.keys[0]]

Needs `pytest-speval[strategies]`.
"""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

from pytest_speval.corpus.spelling import folded, plain_text
from pytest_speval.errors import MissingExtra

try:
    from hypothesis import strategies as st
except ImportError as error:
    raise MissingExtra("strategies", "pytest_speval.strategies") from error

Row = Mapping[str, str | None]
Leak = Literal["speakers", "sessions", "families", "texts", "sources", "bytes", "samples"]
Kind = Literal[Leak, "duplicates", "conflicting-row", "near-equal"]
KINDS: tuple[Kind, ...] = (*get_args(Leak), "duplicates", "conflicting-row", "near-equal")
SPLITS = ("train", "dev", "test", "holdout", "extra")
LABEL = "spoken"
_COLUMN = {
    "speakers": "speaker",
    "sessions": "session",
    "families": "family",
    "texts": "text",
    "sources": "source",
    "bytes": "bytes_sha256",
    "samples": "samples_sha256",
    "duplicates": "bytes_sha256",
    "conflicting-row": "id",
}
_ACCENTS = (None, "north", "south")
_RESPELT = ("speaker", "session", "family", "source")
_LETTERS = st.characters(codec="utf-8", categories=("L", "M", "N", "P", "S"))
_STEMS = st.text(st.one_of(st.sampled_from("aÉßñσI "), _LETTERS), max_size=4)


@dataclass(frozen=True, slots=True)
class Plant:
    """What was planted: the cells `keys` of `column`, and on each side a split with its clips as `split/id`.

    `keys` is one key, and for `near-equal` two that only look alike. A key of `texts` is the text without case and
    punctuation; `bytes` and `duplicates` share the digest of samples too, as files with equal bytes do. Sides and clips
    are sorted; `duplicates` and `conflicting-row` have one side.
    """

    kind: Kind
    column: str
    keys: tuple[str, ...]
    sides: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class PlantedManifest:
    """Rows of a manifest in no particular order, and what is wrong with them.

    Every row has the columns `id split speaker session family source text bytes_sha256 samples_sha256 label`, some also
    `accent`; None is a missing cell. `planted` is None for a clean corpus: then no two splits share a key of any kind,
    nor a text that differs only in case or punctuation. `decoys` are keys that look alike and are not equal.
    """

    rows: tuple[Row, ...]
    planted: Plant | None = None
    decoys: tuple[Plant, ...] = ()

    @property
    def clean(self) -> bool:
        """Say whether nothing was planted."""
        return self.planted is None

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits, sorted."""
        return tuple(sorted({str(row["split"]) for row in self.rows}))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.rows[0])

    def as_csv(self) -> str:
        """The rows as CSV with a header; an empty cell is a missing one."""
        file = io.StringIO(newline="")
        writer = csv.DictWriter(file, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return file.getvalue()

    def as_jsonl(self) -> str:
        """The rows as JSON Lines; null is a missing cell."""
        return "".join(json.dumps(dict(row), ensure_ascii=False) + "\n" for row in self.rows)

    def write(self, folder: Path, *, suffix: Literal[".csv", ".jsonl"] = ".csv", where: Collection[str] = ()) -> Path:
        """Write a folder in which `pytest` runs: manifest, recorded answers and a suite, whose path is returned.

        The suite evaluates the splits `where` (all, if there are none), looks for everything that can be planted, and
        forbids duplicates.
        """
        (folder / "suites").mkdir(parents=True, exist_ok=True)
        text = self.as_csv() if suffix == ".csv" else self.as_jsonl()
        (folder / f"clips{suffix}").write_text(text, encoding="utf-8", newline="")
        asked = {(row["split"], row["id"]): row for row in self.rows if not where or row["split"] in where}
        answers = PlantedManifest(
            tuple({name: row[name] for name in ("split", "id", "label")} for row in asked.values())
        )
        (folder / "answers.csv").write_text(answers.as_csv(), encoding="utf-8", newline="")
        cohorts = {"columns": {"cohorts": {"accent": "accent"}}} if "accent" in self.columns else {}
        suite = {
            "task": "emotion",
            "corpus": {"root": "..", "manifest": f"clips{suffix}"}
            | cohorts
            | ({"where": {"split": list(where)}} if where else {}),
            "labels": {"set": [LABEL]},
            "audit": {"families": "disjoint", "texts": "disjoint", "duplicates": "forbid"},
            "adapter": {"use": "predictions", "file": "../answers.csv"},
        }
        path = folder / "suites" / "planted.yaml"
        lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in suite.items()]
        path.write_text("".join(lines), encoding="utf-8", newline="")
        return path


@st.composite
def clean_manifests(
    draw: st.DrawFn, *, decoys: bool = True, unknown_speakers: bool = False, cohorts: bool = False
) -> PlantedManifest:
    """Corpora of two to five splits that share nothing.

    `decoys` puts keys beside each other that differ only in case, blanks or Unicode form; `unknown_speakers` leaves
    speakers out here and there; `cohorts` adds the column `accent`, one for each speaker.
    """
    rows = _Rows(draw, unknown_speakers=unknown_speakers, cohorts=cohorts)
    found = [rows.respell() for _ in range(draw(st.integers(0, 2)))] if decoys else []
    return rows.shuffled(None, found)


@st.composite
def leaky_manifests(
    draw: st.DrawFn,
    kind: Kind | None = None,
    *,
    decoys: bool = True,
    unknown_speakers: bool = False,
    cohorts: bool = False,
) -> PlantedManifest:
    """Corpora that are clean but for one key of `kind` (None: of any kind).

    A key of a check stands in two splits or more; `duplicates` are in one split, a `conflicting-row` is two unequal
    rows of one clip, and `near-equal` keys look alike across splits: that is no leak, and worth telling.
    """
    chosen = draw(st.sampled_from(KINDS)) if kind is None else kind
    rows = _Rows(draw, unknown_speakers=unknown_speakers, cohorts=cohorts)
    found = [rows.respell() for _ in range(draw(st.integers(0, 2)))] if decoys else []
    if chosen == "near-equal":
        planted = rows.respell()
    elif chosen == "duplicates":
        planted = rows.repeat()
    elif chosen == "conflicting-row":
        planted = rows.contradict()
    else:
        planted = rows.share(chosen)
    return rows.shuffled(planted, found)


class _Rows:
    """A clean corpus in the making. No two keys of it look alike: each starts with a number of its own."""

    def __init__(self, draw: st.DrawFn, *, unknown_speakers: bool, cohorts: bool) -> None:
        self.draw, self.count, self.rows = draw, 0, list[dict[str, str | None]]()
        for split in draw(st.lists(st.sampled_from(SPLITS), min_size=2, max_size=5, unique=True)):
            pools = {column: [self.key() for _ in range(draw(st.integers(1, 2)))] for column in (*_RESPELT, "text")}
            accents = {speaker: draw(st.sampled_from(_ACCENTS)) for speaker in pools["speaker"]}
            for place in range(draw(st.integers(1, 3))):
                row: dict[str, str | None] = {"id": draw(st.sampled_from("cCçÇ")) + str(place), "split": split}
                row |= {column: draw(st.sampled_from(keys)) for column, keys in pools.items()}
                row |= {column: self.digest() for column in ("bytes_sha256", "samples_sha256")}
                row["label"] = LABEL
                if cohorts:
                    row["accent"] = accents[str(row["speaker"])]
                if unknown_speakers and draw(st.booleans()):
                    row["speaker"] = None
                self.rows.append(row)

    def key(self) -> str:
        self.count += 1
        return f"{self.count} -{self.draw(_STEMS)}"

    def digest(self) -> str:
        self.count += 1
        digest = sha256(str(self.count).encode()).hexdigest()
        return digest.upper() if self.draw(st.booleans()) else digest

    def side(self, split: str, rows: Iterable[Row]) -> tuple[str, tuple[str, ...]]:
        return split, tuple(sorted(f"{split}/{row['id']}" for row in rows))

    def some(self, least: int) -> dict[str, list[dict[str, str | None]]]:
        """Rows of so many splits or more, at least one of each."""
        names = sorted({str(row["split"]) for row in self.rows})
        chosen = self.draw(st.lists(st.sampled_from(names), min_size=least, unique=True))
        return {name: self.few([row for row in self.rows if row["split"] == name]) for name in chosen}

    def few(self, rows: Sequence[dict[str, str | None]]) -> list[dict[str, str | None]]:
        places = self.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, unique=True))
        return [rows[place] for place in sorted(places)]

    def fill(self, rows: Iterable[dict[str, str | None]], column: str, key: str) -> None:
        """Put a key into rows; a speaker has one accent."""
        accent = self.draw(st.sampled_from(_ACCENTS))
        for row in rows:
            row[column] = key
            if column == "speaker" and "accent" in row:
                row["accent"] = accent

    def share(self, kind: Leak) -> Plant:
        """One key in two splits or more; a text may be spelt in another way in each."""
        column, key = _COLUMN[kind], self.digest() if kind in ("bytes", "samples") else self.key()
        found = self.some(least=2)
        if kind in ("bytes", "samples"):  # twice in one split it would be a duplicate too
            found = {split: rows[:1] for split, rows in found.items()}
        rows = [row for rows in found.values() for row in rows]
        self.fill(rows, column, key)
        if kind == "bytes":
            self.fill(rows, "samples_sha256", self.digest())
        for row in rows if kind == "texts" else ():
            row[column] = self.draw(st.sampled_from(_texts_like(key)))
        shown = plain_text(key) if kind == "texts" else key.lower() if kind in ("bytes", "samples") else key
        return Plant(kind, column, (shown,), tuple(sorted(self.side(*each) for each in found.items())))

    def repeat(self) -> Plant:
        """One recording twice in a split, under two names."""
        row = self.draw(st.sampled_from(self.rows))
        twin = row | {"id": f"again-{row['id']}"}
        self.rows.append(twin)
        sides = (self.side(str(row["split"]), [row, twin]),)
        return Plant("duplicates", _COLUMN["duplicates"], (str(row["bytes_sha256"]).lower(),), sides)

    def contradict(self) -> Plant:
        """Two unequal rows with one identity."""
        row = self.draw(st.sampled_from(self.rows))
        self.rows.append(row | {"text": self.key()})
        sides = (self.side(str(row["split"]), [row]),)
        return Plant("conflicting-row", _COLUMN["conflicting-row"], (str(row["id"]),), sides)

    def respell(self) -> Plant:
        """A key of one split in another split, spelt in a way that stands nowhere else."""
        column, new = self.draw(st.sampled_from(_RESPELT)), self.key()
        found = self.some(least=2)
        (one, ours), (other, theirs) = list(found.items())[:2]
        spelt = self.draw(st.sampled_from(_keys_like(new)))
        self.fill(ours, column, new)
        self.fill(theirs, column, spelt)
        sides = (self.side(one, ours), self.side(other, theirs))
        return Plant("near-equal", column, (new, spelt), sides)

    def shuffled(self, planted: Plant | None, decoys: Sequence[Plant]) -> PlantedManifest:
        rows = self.draw(st.permutations(self.rows))
        standing = tuple(decoy for decoy in map(self.again, decoys) if len(decoy.sides) == 2)
        return PlantedManifest(tuple(MappingProxyType(row) for row in rows), planted, standing)

    def again(self, decoy: Plant) -> Plant:
        """A decoy as it stands after all was planted."""
        sides = []
        for key in decoy.keys:
            rows = [row for row in self.rows if row[decoy.column] == key]
            if rows:
                sides.append(self.side(str(rows[0]["split"]), rows))
        return replace(decoy, sides=tuple(sides))


def _keys_like(key: str) -> list[str]:
    """Other spellings of a key: case, blanks, Unicode form."""
    forms = [key.upper(), key.lower(), unicodedata.normalize("NFC", key), unicodedata.normalize("NFD", key)]
    spelt = [form for form in forms if form != key and folded(form) == folded(key)]
    return [*dict.fromkeys(spelt), key.replace(" ", ""), f"{key} ", f" {key}"]


def _texts_like(text: str) -> list[str]:
    """The text, and others with the same words: case, blanks, punctuation, Unicode form."""
    forms = [text.upper(), text.lower(), unicodedata.normalize("NFD", text), f"«{text}!»", text.replace(" ", "  ")]
    return [text, *(form for form in forms if plain_text(form) == plain_text(text))]
