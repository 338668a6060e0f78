"""The bundled plan of 120 full-length utterances, with small models in place of the large ones."""

from __future__ import annotations

import hashlib
import json
import shutil
import wave
from pathlib import Path

import numpy as np
import pytest

from pytest_speval.command import main
from tests.plugin.conftest import Project
from tests.scorer import ALIAS, SCORE, SOURCE

SUITES = Path(__file__).parents[2] / "suites"
NAMES = ("fulllength_120_asr", "fulllength_120_mos")
SAMPLES = 33_040
"""2.065 s, the shortest utterance that the plan allows."""

ADAPTERS = """
import json, pathlib
from pytest_speval import Rating, Transcript
from small_scorer import scoring

HERE = pathlib.Path(__file__).parent

def called(kind, pcm):
    number = round(float(pcm[0]) * 32768)
    with open(HERE / f"{kind}.txt", "a") as calls:
        calls.write(f"{number}\\n")
    return number

class Hearing:
    sample_rate = 16000

    def transcribe(self, pcm, sample_rate):
        number = called("heard", pcm)
        return Transcript("one two" if number % 2 else "one two three")

class Small:
    sample_rate = 16000

    def __init__(self, broken=None):
        self.broken = broken

    def rate(self, pcm, sample_rate):
        if called("rated", pcm) == self.broken:
            raise RuntimeError("no luck")
        return Rating(scoring.score(pcm))

def pytest_speval_adapters():
    return {"hearing": Hearing, "small": Small}
"""
ALIKE = [
    "--speval-set=fulllength_120_asr.adapter={use: hearing}",
    "--speval-set=fulllength_120_mos.adapter={use: small}",
    "--speval-set=fulllength_120_mos.observe.module=small_scorer",
]


@pytest.fixture
def staged(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Both suites with 40 speakers of three utterances each, in an order of no kind."""
    package, corpus = project.path / "small_scorer", project.path / "corpus"
    package.mkdir()
    corpus.mkdir()
    for name, text in {"__init__": "", "_crops": SOURCE, "ssl": ALIAS, "multi_spec": ALIAS, "scoring": SCORE}.items():
        (package / f"{name}.py").write_text(text)
    (project.path / "conftest.py").write_text(ADAPTERS)
    (project.path / "suites").mkdir()
    for name in NAMES:
        shutil.copy(SUITES / f"{name}.yaml", project.path / "suites")
    sound = np.random.default_rng(1).integers(-9_000, 9_000, SAMPLES).astype("<i2")
    rows = []
    for number in range(120):
        sound[0] = number
        path = corpus / f"{number}.wav"
        with wave.open(str(path), "wb") as file:
            file.setparams((1, 2, 16_000, 0, "NONE", ""))
            file.writeframes(sound.tobytes())
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        rows.append(f"u{number:03},{number}.wav,ONE TWO THREE,s{number // 3:02},2.065,{digest}")
    order = np.random.default_rng(2).permutation(120)
    head = "utterance,wav_path,transcript,speaker,seconds,bytes_sha256"
    (corpus / "utterances.csv").write_text("\n".join([head, *(rows[row] for row in order)]) + "\n")
    monkeypatch.setenv("SPEVAL_FULLLENGTH_120", str(corpus))
    return project


def freeze(*overrides: str) -> None:
    for name in NAMES:
        own = [text for text in overrides if f"={name}." in text]
        assert main(["freeze", name, *own]) == 0


def calls(project: Project, kind: str) -> list[int]:
    file = project.path / f"{kind}.txt"
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def test_without_the_corpus_both_are_skipped(project: Project) -> None:
    (project.path / "suites").mkdir()
    for name in NAMES:
        shutil.copy(SUITES / f"{name}.yaml", project.path / "suites")
    run = project.run("-rs")
    run.stdout.fnmatch_lines(["*SPEVAL_FULLLENGTH_120*"])
    assert run.ret == 0


def test_nothing_is_asked_before_the_plan_is_frozen(staged: Project) -> None:
    assert staged.run(*ALIKE).ret == 6
    assert calls(staged, "heard") == calls(staged, "rated") == []


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "n2"])
def test_each_utterance_is_heard_once_and_rated_once(staged: Project, workers: tuple[str, ...]) -> None:
    freeze(*ALIKE)
    run = staged.run("-v", *ALIKE, *workers)
    assert run.ret == 0
    blocks = [f"*{name}.yaml::block?{number}?*" for name in NAMES for number in range(1, 6)]
    for block in blocks:
        run.stdout.fnmatch_lines([block])
    assert sorted(calls(staged, "heard")) == sorted(calls(staged, "rated")) == list(range(120))
    if not workers:
        assert calls(staged, "heard") == list(range(120)), "by speaker, then by name"
    words = staged.document(NAMES[0])["metrics"]
    assert (words["wer"]["numerator"], words["wer"]["denominator"]) == (60, 360)
    assert words["wer_speaker_mean"]["value"] == pytest.approx(1 / 6)
    rated = staged.document(NAMES[1])
    assert rated["metrics"]["mos_speaker_mean"]["value"] is not None
    assert rated["observation"]["complete"] == 120
    assert rated["observation"]["share"] == {"mean": 1, "min": 1, "max": 1}
    for name in NAMES:
        assert main(["verify", str(staged.folder(name))]) == 0
    assert staged.run(*ALIKE).ret == 6, "once means once"
    assert len(calls(staged, "heard")) == len(calls(staged, "rated")) == 120


def test_one_failure_withholds_every_overall_mean(staged: Project) -> None:
    broken = [*ALIKE[:1], ALIKE[1].replace("{use: small}", "{use: small, broken: 7}"), ALIKE[2]]
    freeze(*broken)
    assert staged.run(*broken).ret == 6
    words, rated = (staged.document(name)["metrics"] for name in NAMES)
    assert words["wer"]["value"] is words["wer_speaker_mean"]["value"] is rated["mos_speaker_mean"]["value"] is None
    assert words["wer"]["reason"] == "it belongs together with fulllength_120_mos: 119 of 120 answered"
    assert len(calls(staged, "heard")) == 120


def test_an_excerpt_beside_a_full_transcript_is_refused(staged: Project) -> None:
    manifest = staged.path / "corpus/utterances.csv"
    manifest.write_text(manifest.read_text().replace("s05,2.065,", "s05,6.5,", 1))
    run = staged.run(*ALIKE)
    assert run.ret == 6
    (found,) = [audit for audit in staged.document(NAMES[0])["audits"] if audit["name"] == "corpus"]
    assert any("6.5" in json.dumps(finding) for finding in found["findings"])
    assert calls(staged, "heard") == []
