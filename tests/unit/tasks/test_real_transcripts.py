"""Real recognisers' answers, held against counts that other tools made."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_speval.corpus.cohorts import CohortRule
from pytest_speval.corpus.text import text_rules
from pytest_speval.corpus.transcripts import ALTERNATIVES
from pytest_speval.evidence.ending import Ending
from pytest_speval.judge.result import Result
from pytest_speval.judge.sample import IntervalRule
from pytest_speval.scoring.alignment import Errors, align, distance
from pytest_speval.suite.text_keys import Text
from tests.runs import Clip, judged

pytestmark = pytest.mark.realdata
LINE = re.compile(r"^(.*)\(([^\s()]+)(?: -?\d+)?\)\s*$")
ARTIE = {
    "amazon/en-GB/dec-9-2019": 3538, "amazon/en-US/dec-9-2019": 3577, "google/en-US/dec-4-2019": 3677,
    "google/en-GB/dec-5-2019": 4748, "amazon/en-IN/dec-9-2019": 4955, "deepspeech/v0-7-3": 5963,
    "deepspeech/v0-6-0": 6164, "deepspeech/v0-5-1": 7133, "google/en-IN/dec-5-2019": 8600,
}  # fmt: skip
EARNINGS = {
    "google": 17931, "amazon": 17697, "microsoft": 18994, "speechmatics": 18151, "rev_kaldi": 16121,
    "rev_espnet": 16691, "kaldi_librispeech": 54158,
}  # fmt: skip


def trn(path: Path) -> dict[str, str]:
    """Texts by id, each line a text and its id in parentheses; `<s>` and `</s>` are no words."""
    found = [LINE.match(line) for line in path.read_text().splitlines() if line.strip()]
    return {line[2].lower(): re.sub(r"</?s>", " ", line[1]) for line in found if line is not None}


def kaldi(path: Path) -> dict[str, str]:
    lines = [line.partition(" ") for line in path.read_text().splitlines() if line]
    return {name: text for name, _, text in lines}


def counted(said: dict[str, str], heard: dict[str, str], case: str = "keep") -> Errors:
    rules = text_rules(Text.model_validate({"case": case}))
    pairs = [(rules.words(text), rules.words(heard[name])) for name, text in said.items()]
    return sum((Errors.of(align(*pair)) for pair in pairs), Errors())


def expected(folder: Path) -> Any:
    return json.loads((folder / "EXPECTED.json").read_text())


@pytest.mark.parametrize(
    ("said", "heard", "errors", "words"),
    [
        ("pocketsphinx/librivox/transcription", "pocketsphinx/librivox/test-lm.match", 20, 71),
        ("pocketsphinx/cards/cards.transcription", "pocketsphinx/cards/cards.hyp", 0, 21),
        ("pocketsphinx/tidigits/tidigits.lsn", "pocketsphinx/tidigits/test-tidigits-fsg.match", 1, 107),
        ("pocketsphinx/tidigits/tidigits.lsn", "pocketsphinx/tidigits/test-tidigits-simple.match", 0, 107),
        ("meeteval/text_ref", "meeteval/text_hyp", 9, 92),
    ],
)
def test_small_pairs(shared: Path, said: str, heard: str, errors: int, words: int) -> None:
    folder = shared / "data/asr-small-pairs"
    read = kaldi if "meeteval" in said else trn
    found = counted(read(folder / said), read(folder / heard))
    assert (found.total, found.words) == (errors, words)


def test_csrnab_without_its_alternatives(shared: Path) -> None:
    folder = shared / "data/sclite-cases/input"
    said, heard = trn(folder / "csrnab.ref"), trn(folder / "csrnab.hyp")
    plain = {name: text for name, text in said.items() if not ALTERNATIVES.search(text)}
    assert len(said) - len(plain) == 6
    found = counted(plain, heard, "upper")
    assert (found.total, found.words) == (133, 1176)


def artie(shared: Path, system: str) -> Result:
    """All clips of one system, with their speakers and groups, judged."""
    folder = shared / "data/artie-bias"
    said = trn(folder / "normalised/ref.trn")
    heard = trn(folder / f"normalised/{system.replace('/', '_')}.trn")
    with (folder / "artie-bias-corpus.tsv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    clips = []
    for row in rows:
        name = "cv-" + row["path"].removesuffix(".mp3").rpartition("_")[2]
        cells = {"transcript": said[name], "cohort.gender": row["gender"], "cohort.accent": row["accent"]}
        clips.append(Clip(name, "", Ending("returned", {"text": heard[name]}), row["client_id"], cells=cells))
    return judged(
        clips, (), task="asr", interval=IntervalRule(replicates=2000),
        cohorts=[CohortRule("gender"), CohortRule("accent")],
        corpus={"columns": {"cohorts": {"gender": "gender", "accent": "accent"}}},
    )  # fmt: skip


@pytest.mark.parametrize("system", ARTIE)
def test_artie_by_gender_and_accent(shared: Path, system: str) -> None:
    told = expected(shared / "data/artie-bias")["systems"][system]
    found = artie(shared, system)
    wer = found.estimates["wer"]
    assert wer.numerator == ARTIE[system] == told["min_edit_errors"]
    assert wer.denominator == 14501
    assert found.estimates["wer_clip_mean"].value == pytest.approx(told["mean_of_utterance_wer"], abs=1e-6)
    assert found.estimates["cer"].value == pytest.approx(told["cer_with_spaces"], abs=1e-6)
    assert sum(not row.correct for row in found.rows) == told["utterances_wrong"]
    assert wer.interval is not None
    assert (wer.interval.low, wer.interval.high) == pytest.approx(told["bootstrap95_by_client"], abs=0.004)
    for cohort, key in zip(found.cohorts, ("wer_by_gender", "wer_by_accent"), strict=True):
        groups = {group.group.value: (group.estimates["wer"].value, group.counts.planned) for group in cohort.groups}
        assert {name: [pytest.approx(rate, abs=1e-6), clips] for name, (rate, clips) in groups.items()} == told[key]


@pytest.mark.parametrize("system", EARNINGS)
def test_whole_calls(shared: Path, system: str) -> None:
    folder = shared / "data/earnings21-eval10"
    told = expected(folder)["systems"][system]
    assert told["plain_errors"] == EARNINGS[system]
    with (folder / f"hypothesis/{system}.tsv").open(newline="") as file:
        heard = dict(line.rstrip("\n").split("\t", 1) for line in file)
    total = 0
    for call, (errors, words, heard_words) in told["per_call_errors_refwords_hypwords"].items():
        said = plain(reference(folder / f"reference/{call}.nlp"))
        answer = plain(heard[call])
        found = Errors.of(align(said, answer))
        assert (found.total, found.words, len(answer)) == (errors, words, heard_words)
        assert distance(said, answer) == errors
        total += found.total
    assert total == EARNINGS[system]


def reference(path: Path) -> str:
    with path.open(newline="") as file:
        return " ".join(row["token"] for row in csv.DictReader(file, delimiter="|", quoting=csv.QUOTE_NONE))


def plain(text: str) -> list[str]:
    """The normalisation that the expected counts were made under."""
    return re.sub(r"[^\w' ]", " ", re.sub("[’ʼ‘`]", "'", text.lower()).replace("-", " ")).split()
