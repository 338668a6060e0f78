"""A CTC model in whole sessions: what it says is spelt again from its kept logits, and what differs is invalid."""

from __future__ import annotations

import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_speval.evidence.store import StoredRun
from pytest_speval.scoring.ctc import Alphabet
from pytest_speval.verify.verification import verify
from tests.ctc_models import SCALE, TOKENS, sound, speller, write_vocabulary
from tests.plugin.conftest import Project

SPOKEN = {
    "hello": ["H", "E", "L", "<pad>", "L", "O"],
    "oh": ["O", "O", "H", "|", "<pad>", "H", "<pad>", "H"],
    "silence": ["<pad>", "<pad>"],
    "unknown": ["H", "<unk>", "|", "O"],
}
SAID = {"hello": "HELLO", "oh": "OH HH", "silence": "", "unknown": "H<unk> O"}
SUITE = """\
task: asr
corpus: {root: .., manifest: clips.csv}
adapter: {use: ctc-onnx, model: ../speller.onnx, vocabulary: ../vocab.json}
run: {max_bytes: 10MiB}
gates: {words: {metric: wer, max: 0, why: "It spells what it hears."}}
"""


def write_wave(path: Path, pcm: np.ndarray) -> None:
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
        file.writeframes((pcm * 32768).astype("<i2").tobytes())


@pytest.fixture
def spelling(project: Project) -> Project:
    """A suite whose model spells what it hears, and hears what the references say."""
    speller(project.path / "speller.onnx")
    write_vocabulary(project.path / "vocab.json")
    for name, tokens in SPOKEN.items():
        write_wave(project.path / f"{name}.wav", sound(tokens))
    rows = "".join(f"{name},{name}.wav,{SAID[name] or 'H'}\n" for name in SPOKEN if name != "silence")
    (project.path / "clips.csv").write_text(f"id,audio,transcript\n{rows}silence,silence.wav,\n")
    (project.path / "suites").mkdir()
    (project.path / "suites/spelling.yaml").write_text(SUITE + "text: {empty: reference}\n")
    return project


def codes(project: Project) -> list[str]:
    return [found.code for found in verify(project.folder("spelling"))]


def test_what_logits_spell_is_checked_and_holds(spelling: Project, distributed: tuple[str, ...]) -> None:
    run = spelling.run("-v", *distributed)
    assert run.ret == 0, run.stdout
    for item in ("verify[[]greedy[]]", "verify[[]wer[]]", "gate[[]words[]]"):
        run.stdout.fnmatch_lines([f"*{item}*"])
    folder = spelling.folder("spelling")
    stored = StoredRun.read(folder)
    question = stored.plan.question
    alphabet = Alphabet.of(question.adapter["identity"]["components"])
    assert alphabet == Alphabet(TOKENS, "<pad>", "|")
    for place, ending in zip(question.planned, stored.endings(), strict=True):
        name = question.ids[place]
        kept = {key: record.load(folder) for key, record in (ending.arrays or {}).items()}
        assert ending.answer == {"text": SAID[name]}
        assert (kept["input"] * SCALE).tolist() == kept["argmax"].tolist()
        assert [TOKENS[number] for number in kept["argmax"]] == SPOKEN[name]
    assert codes(spelling)[-1] == "verified"


def _blanks_first(path: np.ndarray, alphabet: Alphabet) -> str:
    """The order that loses doubled letters: blanks dropped before neighbours are merged."""
    kept = [token for token in path.tolist() if token]
    merged = [token for place, token in enumerate(kept) if place == 0 or token != kept[place - 1]]
    return "".join(alphabet.tokens[token] for token in merged).replace("|", " ").strip()


def _last_of_all(logits: np.ndarray) -> np.ndarray:
    return np.full(len(logits), logits.shape[1] - 1, np.int32)


@pytest.mark.parametrize(
    ("name", "wrong", "told"),
    [
        ("spelt", _blanks_first, "2 of 4 answers *, first hello: its text is 'HELO', its logits spell 'HELLO'"),
        ("best_path", _last_of_all, "4 of 4 answers *, first hello: its argmax is not that of its logits: 7 where*"),
    ],
)
def test_an_answer_that_its_logits_do_not_spell_gives_no_verdict(
    spelling: Project, monkeypatch: pytest.MonkeyPatch, name: str, wrong: Callable[..., Any], told: str
) -> None:
    monkeypatch.setattr(f"pytest_speval.adapters.ctc.{name}", wrong)
    run = spelling.run()
    assert run.ret == 6
    run.stdout.fnmatch_lines([f"verify greedy of spelling: FAIL: {told}"])
    document = spelling.document("spelling")
    assert document["gates"][0]["verdict"] == "invalid"
    assert any("verify[greedy] failed" in note for note in document["notes"])
    assert codes(spelling)[-1] == "verified", "the evidence is whole, and says that the run is invalid"
    assert spelling.run("--speval-replay", str(spelling.folder("spelling"))).ret == 6


def test_whoever_verifies_decodes_again(spelling: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    assert spelling.run().ret == 0
    monkeypatch.setattr("pytest_speval.judge.kept_arrays.greedy_difference", lambda *_: "it differs")
    assert "not-recomputed" in codes(spelling)


def test_a_replay_decodes_again(spelling: Project) -> None:
    assert spelling.run().ret == 0
    for path in spelling.path.glob("*.wav"):
        path.unlink()
    run = spelling.run("-v", "--speval-replay", str(spelling.folder("spelling")))
    assert run.ret == 0, run.stdout
    run.stdout.fnmatch_lines(["*verify[[]greedy[]] PASSED*"])


def test_a_clip_that_the_model_cannot_hear_fails_and_the_others_are_checked(spelling: Project) -> None:
    speller(spelling.path / "speller.onnx", extra="Sqrt")
    write_wave(spelling.path / "oh.wav", -sound(SPOKEN["oh"]))
    run = spelling.run("-v")
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*clip[[]oh[]] FAILED*", "*verify[[]greedy[]] PASSED*"])
    assert spelling.document("spelling")["counts"]["failed"] == 1
