"""The recognisers on real recordings of named speakers, of ../shared/data/read-speech without Common Voice.

Moonshine hears all 19 of them (86 s, six speakers), PocketSphinx, which is slower, the 12 of at most 5 s (29 s, five
speakers). `benchmarks/read_speech.py` runs the whole set.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import jiwer
import numpy as np
import pytest

from pytest_speval.adapters.base import traits
from pytest_speval.adapters.moonshine import Moonshine
from pytest_speval.adapters.pocketsphinx import Pocketsphinx
from pytest_speval.corpus.text import text_rules
from pytest_speval.errors import MissingExtra
from pytest_speval.judge.result import Result
from pytest_speval.judge.sample import IntervalRule
from pytest_speval.suite.text_keys import Text
from tests.runs import Clip, judged, said

soundfile = pytest.importorskip("soundfile")
soxr = pytest.importorskip("soxr")
whisper = pytest.importorskip("whisper_normalizer.english")
pytestmark = pytest.mark.realdata
PARTS = ("cards", "librispeech", "librivox", "ljspeech")
Rows = list[dict[str, str]]


def taking_part(folder: Path, longest: float) -> Rows:
    with (folder / "manifest.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["path"].startswith(PARTS)]
    return [row for row in rows if float(row["seconds"]) <= longest]


def heard_by(engine: Any, folder: Path, rows: Rows) -> list[str]:
    try:
        traits(engine, "engine")
        engine.warm_up()
    except MissingExtra as missing:
        pytest.skip(missing.message)
    texts = []
    for row in rows:
        pcm, rate = soundfile.read(folder / row["path"], dtype="float32")
        if rate != 16_000:
            pcm = soxr.resample(pcm, rate, 16_000)
        texts.append(engine.transcribe(np.asarray(pcm, np.float32), 16_000).text)
    return texts


def result_of(rows: Rows, texts: list[str]) -> Result:
    clips = [
        Clip(row["path"], "", said(text=text), speaker=row["speaker"], cells={"transcript": row["transcript"]})
        for row, text in zip(rows, texts, strict=True)
    ]
    rules = text_rules(Text(normalizer="english"))
    return judged(clips, task="asr", text=rules, interval=IntervalRule(unit="speaker", replicates=500))


@pytest.mark.parametrize(
    ("engine", "longest", "clips", "speakers", "bound"),
    [(Moonshine(), 12.0, 19, 6, 0.12), (Pocketsphinx(), 5.0, 12, 5, 0.45)],
    ids=["moonshine", "pocketsphinx"],
)
def test_real_speech_is_recognised(
    shared: Path, engine: Any, longest: float, clips: int, speakers: int, bound: float
) -> None:
    folder = shared / "data/read-speech"
    rows = taking_part(folder, longest)
    texts = heard_by(engine, folder, rows)
    result = result_of(rows, texts)
    wer, mean = result.estimates["wer"], result.estimates["wer_speaker_mean"]
    write = whisper.EnglishTextNormalizer()
    counted = jiwer.process_words([write(row["transcript"]) for row in rows], [write(text) for text in texts])
    assert wer.numerator == counted.substitutions + counted.deletions + counted.insertions
    assert wer.value == pytest.approx(counted.wer)
    assert len(rows) == clips
    assert counted.wer < bound
    assert mean.value is not None
    assert mean.value < 0.6
    interval = wer.interval
    assert interval is not None
    assert interval.clusters == speakers
    assert interval.low is not None
    assert interval.high is not None
    assert interval.low <= counted.wer <= interval.high
