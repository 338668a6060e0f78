"""The main job on real sound through a real model: the bundled fixture suites, run from this checkout."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.plugin.conftest import WITHOUT, timeless

HOME = Path(__file__).resolve().parents[2]


def speak(out: Path, *arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run pytest on this checkout's suites as a user would."""
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            *WITHOUT,
            "-p",
            "no:cacheprovider",
            f"--speval-out={out}",
            *arguments,
        ],
        cwd=HOME,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )


def newest(out: Path, suite: str) -> dict[str, Any]:
    """The newest `out.json` of a suite."""
    document: dict[str, Any] = json.loads(sorted((out / suite).glob("*/out.json"))[-1].read_text())
    return document


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """One plain run of both fixture suites."""
    out = tmp_path_factory.mktemp("plain")
    return out, speak(out, "suites/fixture.yaml", "suites/fixture_affect.yaml")


def test_the_fixture_passes_with_a_table_and_reports(plain: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    out, run = plain
    assert run.returncode == 0, run.stdout
    assert "fixture (prosody-style): pass" in run.stdout
    assert "macro_f1" in run.stdout
    folder = next((out / "fixture").iterdir())
    names = {path.name for path in folder.iterdir()}
    assert names == {"plan.json", "audits.json", "journal", "clips.jsonl", "out.json", "report.md", "receipt.json"}
    assert (out / "summary.json").exists()
    assert (out / "summary.md").exists()


def test_the_fixture_score_is_pinned_and_not_perfect(plain: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    document = newest(plain[0], "fixture")
    assert document["macroF1"] == pytest.approx(0.7298188405797101, abs=1e-9)
    assert document["n"] == 48
    affect = newest(plain[0], "fixture_affect")["metrics"]
    assert affect["ccc.dominance"]["value"] == pytest.approx(0.8887, abs=1e-3)


def test_two_workers_write_the_same_document(
    plain: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    run = speak(tmp_path, "suites/fixture.yaml", "suites/fixture_affect.yaml", "-n", "2")
    assert run.returncode == 0, run.stdout
    for suite in ("fixture", "fixture_affect"):
        assert timeless(newest(plain[0], suite)) == timeless(newest(tmp_path, suite))
        first, second = (next((out / suite).iterdir()) / "clips.jsonl" for out in (plain[0], tmp_path))
        assert first.read_bytes() == second.read_bytes()


def test_a_raised_gate_fails_with_both_numbers(tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    gate = "fixture.gates.raised={metric: macro_f1, min: 0.99, why: out of reach}"
    run = speak(tmp_path, "suites/fixture.yaml", "--speval-set", gate, f"--junitxml={junit}")
    assert run.returncode == 1
    assert "gate raised of fixture: FAIL: macro_f1 0.72982 < 0.99" in run.stdout
    assert "0.72982 &lt; 0.99" in junit.read_text()


def test_a_mistyped_model_is_named_and_no_clip_runs(tmp_path: Path) -> None:
    run = speak(
        tmp_path, "suites/fixture.yaml", "--speval-set", "fixture.adapter.model=fixtures/models/prosody-stile.onnx"
    )
    assert run.returncode == 6
    assert str(HOME / "fixtures/models/prosody-stile.onnx") in run.stdout
    document = newest(tmp_path, "fixture")
    assert document["counts"]["unattempted"] == 48
    assert list(next((tmp_path / "fixture").iterdir()).glob("journal/*")) == []


def meld_shaped(folder: Path) -> None:
    """A folder in MELD's layout whose clips are those of the fixture, as 16-bit WAV."""
    soundfile = pytest.importorskip("soundfile")
    clips = sorted((HOME / "fixtures/prosody/clips").glob("*.flac"))
    wavs = folder / "wav/test"
    wavs.mkdir(parents=True)
    rows: list[tuple[str, str, str]] = [("38", "4", "neutral"), ("220", "0", "joy")]
    labels = ("neutral", "surprise", "fear", "sadness", "joy", "disgust", "anger")
    for place, clip in enumerate(clips):
        samples, rate = soundfile.read(clip, dtype="int16")
        soundfile.write(wavs / f"dia{place}_utt0.wav", samples, rate, subtype="PCM_16")
        rows.append((str(place), "0", labels[place % len(labels)]))
    head = ["Sr No.", "Utterance", "Speaker", "Emotion", "Dialogue_ID", "Utterance_ID", "Season", "Episode"]
    with (folder / "test_sent_emo.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(head)
        for number, (dialogue, utterance, label) in enumerate(rows):
            table.writerow(
                [number, "Well, here we are.", f"S{number % 4}", label, dialogue, utterance, 1 + number % 2, 3]
            )


def test_a_meld_shaped_folder_runs_on_real_sound(tmp_path: Path) -> None:
    meld_shaped(tmp_path / "meld")
    staged = tmp_path / "meld"
    shutil.copy(staged / "test_sent_emo.csv", staged / "train_sent_emo.csv")
    environment = {
        "SPEVAL_MELD": str(tmp_path / "meld"),
        "SPEVAL_VAD_MODEL": str(HOME / "fixtures/models/prosody-vad.onnx"),
    }
    run = speak(tmp_path / "out", "suites", "-k", "meld", environment=environment)
    assert run.returncode in (0, 1), run.stdout
    document = newest(tmp_path / "out", "meld")
    assert any("clips also in training; waived: A closed cast" in note for note in document["notes"]), document["notes"]
    assert document["counts"]["planned"] == 48
    assert document["counts"]["excluded"] == 2
    assert document["ceiling"] == pytest.approx(6 / 7)
    assert document["absentLabels"] == ["whisper"]
    assert any("304.9" in reason for reason in document["exclusions"])
    shutil.rmtree(tmp_path / "meld")


def test_an_unstaged_suite_skips_and_names_its_variable(tmp_path: Path) -> None:
    run = speak(tmp_path, "suites/meld.yaml", environment={"SPEVAL_MELD": ""})
    assert run.returncode == 0
    assert "set SPEVAL_MELD to its folder" in run.stdout
    assert "6 skipped" in run.stdout, "four audits and two gates"


def test_a_required_suite_that_is_not_staged_fails(tmp_path: Path) -> None:
    run = speak(tmp_path, "suites/meld.yaml", "--speval-set", "meld.required=true", environment={"SPEVAL_MELD": ""})
    assert run.returncode == 6
    assert "set SPEVAL_MELD to its folder" in run.stdout
