"""Readiness files: the template reads back, fields are counted one by one, faults carry their place."""

from __future__ import annotations

import datetime
from fnmatch import fnmatch
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.errors import FaultyFile
from pytest_speval.suite.document import read_document
from pytest_speval.suite.load import load_suite
from pytest_speval.suite.readiness import fields, is_blank, load_readiness
from pytest_speval.suite.readiness_file import belongs, is_readiness, readiness_file
from pytest_speval.suite.readiness_keys import ReadinessKeys
from pytest_speval.suite.readiness_template import _written, readiness_template
from pytest_speval.suite.tree import Origin, find, text_of
from tests.unit.suite.words import VOCABULARY

BARE = """
task: emotion
corpus: {manifest: clips.csv}
labels: {set: [happy, sad], absent: zero}
adapter: {use: predictions, file: answers.csv}
"""
TALKATIVE = """
task: emotion
claim:
  provenance:
    - {what: "licence: \\"as is\\" # really", kind: third-party, evidence: ../evidence/licence.pdf}
    - {what: consent, kind: operator-assertion}
corpus:
  manifest: clips.csv
  license: {name: GPL-3.0, source: the web, revision: v1, audio_redistribution: false}
labels: {set: [happy, sad], absent: zero}
audit:
  against:
    training: ../inventories/train.csv
    pretraining: unavailable
    validation: {file: "${LISTS}/dev.csv"}
  dates: {corpus: {from: 2026-09-20, to: 2026-10-01}, model_frozen: 2026-09-01}
adapter: {use: predictions, name: recorded, file: answers.csv}
"""


def written(tmp_path: Path, suite: str) -> tuple[Path, ReadinessKeys]:
    """The template of a suite, on disk and read back."""
    file = tmp_path / "voice.yaml"
    file.write_text(suite)
    path = readiness_file(file)
    path.write_text(readiness_template(load_suite(file, VOCABULARY)))
    return path, load_readiness(path)


def test_a_template_that_nobody_filled_in_is_blank_but_for_the_manifest(tmp_path: Path) -> None:
    _, keys = written(tmp_path, BARE)
    values = dict(fields(keys))
    assert {path: value for path, value in values.items() if not is_blank(value)} == {
        ("sources", 0, "records"): "clips.csv"
    }
    assert len(values) == 7 + 2 + 4 + 5 + 4 + 4 + 3


def test_the_template_holds_what_the_suite_says_already(tmp_path: Path) -> None:
    path, keys = written(tmp_path, TALKATIVE)
    (source,) = keys.sources
    assert (source.license, source.source, source.revision) == ("GPL-3.0", "the web", "v1")
    assert (source.audio_redistribution, source.annotation_redistribution) == (False, "")
    assert (keys.collection.from_, keys.collection.to) == (datetime.date(2026, 9, 20), datetime.date(2026, 10, 1))
    assert [(part.name, part.frozen) for part in keys.components] == [("recorded", datetime.date(2026, 9, 1))]
    assert keys.inventories.training == tmp_path / "../inventories/train.csv"
    assert (keys.inventories.pretraining, keys.inventories.selection) == ("unavailable", "")
    assert keys.inventories.validation == Path("${LISTS}/dev.csv")
    assert [(one.what, one.kind) for one in keys.evidence] == [
        ('licence: "as is" # really', "third-party"),
        ("consent", "operator-assertion"),
    ]
    assert keys.evidence[0].file == tmp_path / "../evidence/licence.pdf"
    assert str(tmp_path) not in path.read_text()


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_reads_back_as_itself(text: str) -> None:
    line = f"key: {_written(text)}\n"
    document = read_document(line.encode(), Origin("x", Path()))
    assert document.faults == []
    assert text_of(find(document.root, "key")) == text


@pytest.mark.parametrize(
    ("was", "now", "fault"),
    [
        ('number: ""', "number: 0", "listeners.number: * at least 1*"),
        ('number: ""', 'number: "4"', 'listeners.number: expected "" or a whole number, got*'),
        ('adults: ""', "adults: yes", "listeners.adults: is the boolean true*write true or false [[]ambiguous-value]"),
        ('statement: ""', "statement:", "reviewer.statement: is empty*[[]ambiguous-value]"),
        ('    frozen: ""', "", "components[[]0].frozen: a required key is missing*"),
        ('sha256: ""', "sha256: abc", "evidence[[]0].sha256: *"),
        ('kind: ""', "kind: hearsay", 'evidence[[]0].kind: expected "", `third-party`*'),
        ('from: ""', 'from: "2026-01-01"', 'collection.from: expected "" or a date*'),
        ("reviewer:", "reviewers:", "reviewers: unknown key, did you mean `reviewer`?*"),
        ('training: ""', "training: [a]", 'inventories.training: expected "" or `unavailable` or a path*'),
    ],
)
def test_a_fault_is_told_with_its_place(tmp_path: Path, was: str, now: str, fault: str) -> None:
    path, _ = written(tmp_path, BARE)
    text = path.read_text()
    line = text[: text.index(was)].count("\n") + 1
    path.write_text(text.replace(was, now, 1))
    with pytest.raises(FaultyFile) as caught:
        load_readiness(path, "voice.readiness.yaml")
    told = [str(one) for one in caught.value.faults]
    assert any(fnmatch(one, f"voice.readiness.yaml:*: {fault}") for one in told), told
    if now:
        assert line in {one.line for one in caught.value.faults}
    assert len(told) == (2 if now == "reviewers:" else 1)


def test_all_faults_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    path, _ = written(tmp_path, BARE)
    path.write_text(path.read_text().replace('number: ""', "number: -1").replace('date: ""', "date: 2026-13-01"))
    with pytest.raises(FaultyFile) as caught:
        load_readiness(path)
    assert [fault.keys for fault in caught.value.faults] == [("listeners", "number"), ("reviewer", "date")]


def test_a_readiness_file_belongs_to_the_suite_beside_it(tmp_path: Path) -> None:
    path = readiness_file(tmp_path / "voice.yaml")
    assert path.name == "voice.readiness.yaml"
    assert is_readiness(path)
    assert not belongs(path)
    (tmp_path / "voice.yaml").touch()
    assert belongs(path)
    assert not is_readiness(tmp_path / "readiness.yaml")
    assert not belongs(tmp_path / "voice.yaml")
