"""Published corpora: what their splits share is known, and the audits tell just that."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from pytest_speval.audit.finding import Audit
from pytest_speval.audit.overlap import Parts
from pytest_speval.corpus.inventory import read_inventory
from pytest_speval.corpus.part import Part
from pytest_speval.suite.audit_keys import Inventory
from pytest_speval.suite.corpus_keys import Columns, Corpus, Format
from tests.parts import audited, keyed

pytestmark = pytest.mark.realdata
MELD = Columns(
    id_from=("Dialogue_ID", "Utterance_ID"),
    text="Utterance",
    speaker=("Speaker",),
    session=("Season", "Episode"),
    source=("Season", "Episode", "StartTime", "EndTime"),
)
VOICES = Columns(id="path", speaker=("client_id",), text="sentence")
SPEAKER: Mapping[str, Callable[[str], str]] = {
    "emodb": lambda stem: stem[:2],
    "cremad": lambda stem: stem[:4],
    "ravdess": lambda stem: stem[-2:],
    "tess": lambda stem: stem.partition("_")[0],
    "savee": lambda stem: stem.partition("_")[0],
}
"""Corpus -> its speaker in the name of a file, by the corpus's own page."""


def part_of(name: str, path: Path, columns: Columns, form: Format | None = None) -> Part:
    said = Inventory(file=path, format=form or Format(), columns=columns)
    return read_inventory(name, said, path, path.name, Corpus(manifest="clips.csv"), {})


def pair(test: Part, train: Part) -> Parts:
    return Parts((test,), (train,))


def told(audit: Audit) -> list[str]:
    return [finding.message for finding in audit.findings if finding.severity == "error"]


def expected(folder: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((folder / "EXPECTED.json").read_text(encoding="utf-8"))
    return data


@pytest.fixture(scope="module")
def meld(shared: Path) -> Parts:
    folder = shared / "data" / "meld"
    test, train = (part_of(name, folder / f"{name}_sent_emo.csv", MELD) for name in ("test", "train"))
    return pair(test, train)


def test_meld_speakers_of_test_are_in_train(meld: Parts) -> None:
    audit = audited(meld, "speakers")
    assert told(audit) == ["69 of 100 speakers, 2,501 of 2,610 clips also in train"]
    assert len(audit.violations) == 69
    assert sum(len(violation.sides[0].clips) for violation in audit.violations) == 2501


def test_meld_episodes_of_test_are_in_train(meld: Parts) -> None:
    assert told(audited(meld, "sessions")) == ["142 of 143 sessions, 2,609 of 2,610 clips also in train"]


def test_meld_texts_of_test_are_in_train(meld: Parts, shared: Path) -> None:
    (message,) = told(audited(meld, "texts"))
    assert message == "152 of 2,343 texts, 401 of 2,610 clips also in train (331 clips word for word)"
    written = {}
    for name in ("test", "train"):
        with (shared / f"data/meld/{name}_sent_emo.csv").open(encoding="utf-8", newline="") as file:
            written[name] = [row["Utterance"] for row in csv.DictReader(file)]
    plain = {
        name: [" ".join(re.sub(r"[^\w\s]", "", text).lower().split()) for text in written[name]] for name in written
    }
    for texts, count in ((written, 331), (plain, 401)):
        theirs = set(texts["train"]) - {""}
        assert sum(text in theirs for text in texts["test"]) == count
    assert len(set(plain["test"]) & set(plain["train"]) - {""}) == 152


def test_meld_rows_of_test_are_segments_of_train(meld: Parts) -> None:
    audit = audited(meld, "sources")
    assert told(audit) == ["3 of 2,606 sources, 3 of 2,610 clips also in train"]
    assert [(violation.key, [side.clips for side in violation.sides]) for violation in audit.violations] == [
        (("6", "17", "00:19:26,165", "00:19:29,083"), [("117_8",), ("887_0",)]),
        (("6", "4", "00:10:18,743", "00:10:21,536"), [("85_0",), ("12_7",)]),
        (("6", "4", "00:10:21,704", "00:10:24,706"), [("85_1",), ("12_8",)]),
    ]


def test_common_voice_speakers_of_seven_languages_are_on_every_side(shared: Path) -> None:
    folder = shared / "data" / "common-voice-manifests"
    values = expected(folder)
    parts = {name: _voices(folder / f"seven-languages/{name}.tsv") for name in ("train", "validation", "test")}
    for ours, theirs in (("train", "test"), ("train", "validation"), ("validation", "test")):
        known = values[f"seven-languages: {ours}->{theirs}"]
        audit = audited(pair(parts[theirs], parts[ours]), "speakers")
        assert told(audit) == [
            f"{known['shared_clients']} of {known['clients_in_b']} speakers, "
            f"{known['rows_of_b_with_shared_client']:,} of {known['rows_of_b']:,} clips also in {ours}"
        ]
        (message,) = told(audited(pair(parts[theirs], parts[ours]), "texts"))
        assert f"({known['rows_of_b_with_same_sentence']} clips word for word)" in message
    assert told(audited(pair(parts["test"], parts["train"]), "speakers")) == [
        "492 of 505 speakers, 2,780 of 2,800 clips also in train"
    ]


def test_common_voice_turkish_is_clean_in_all_pairs(shared: Path) -> None:
    folder = shared / "data" / "common-voice-manifests" / "turkish"
    for one, other in combinations([_voices(folder / f"{name}.tsv") for name in ("train", "dev", "test")], 2):
        audit = audited(pair(one, other), "speakers")
        assert (audit.findings, audit.violations, audit.failed) == ((), (), False)


def _voices(path: Path) -> Part:
    return part_of(path.stem, path, VOICES, Format(quoting="none"))


@pytest.mark.parametrize(
    ("corpus", "fold"),
    [("emodb", fold) for fold in range(1, 6)]
    + [("cremad", 1), ("tess", 1), ("ravdess", 1), ("savee", 1), ("savee", 2)],
)
def test_emobox_splits(shared: Path, corpus: str, fold: int) -> None:
    folder = shared / "data" / "emobox-splits"
    known = expected(folder)[f"{corpus}/fold_{fold}"]
    test, train = (
        keyed(side, "speaker", _speakers(folder / corpus / f"{corpus}_{side}_fold_{fold}.jsonl"))
        for side in ("test", "train")
    )
    assert (len(test), len(train)) == (known["test"], known["train"])
    audit = audited(pair(test, train), "speakers")
    all_of_them = [f"{known['test_speakers']} of {known['test_speakers']} speakers, "
                   f"{known['test']:,} of {known['test']:,} clips also in train"]  # fmt: skip
    shares = {"emodb": 10, "cremad": 91, "tess": 2, "ravdess": 0, "savee": 0}[corpus]
    assert known["shared_speakers"] == shares == len(audit.violations)
    assert told(audit) == (all_of_them if shares else [])
    assert audit.failed == bool(shares)


def _speakers(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [SPEAKER[path.name.partition("_")[0]](Path(json.loads(line)["wav"]).stem) for line in lines]


def test_librispeech_subsets_share_no_reader(shared: Path) -> None:
    folder = shared / "data" / "librispeech-dev-clean-text"
    readers: dict[str, list[str]] = {}
    for line in (folder / "SPEAKERS.TXT").read_text(encoding="utf-8").splitlines():
        if not line.startswith(";"):
            reader, _, subset, *_ = (cell.strip() for cell in line.split("|"))
            readers.setdefault(subset, []).append(reader)
    assert {name: len(found) for name, found in readers.items()} == expected(folder)["speakers_per_subset"]
    parts = Parts(tuple(keyed(name, "speaker", found) for name, found in sorted(readers.items())))
    assert len(list(parts.pairs)) == 21
    assert audited(parts, "speakers").findings == ()


def test_fsdd_has_all_its_speakers_on_both_sides(shared: Path) -> None:
    columns = Columns(id="path", speaker=("speaker",))
    whole = part_of("all", shared / "data/fsdd-test/full_split.csv", columns)
    with (shared / "data/fsdd-test/full_split.csv").open(encoding="utf-8", newline="") as file:
        split = [row["split"] for row in csv.DictReader(file)]
    sides = {name: [place for place, said in enumerate(split) if said == name] for name in ("test", "train")}
    test, train = (keyed(name, "speaker", [whole.cells["speaker"][place] for place in sides[name]]) for name in sides)
    assert told(audited(pair(test, train), "speakers")) == ["6 of 6 speakers, 300 of 300 clips also in train"]
