"""The prosody fixture: clips, manifest and models agree, and the models score what the README says."""

from __future__ import annotations

import csv
import hashlib
import importlib
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnxruntime")
soundfile = pytest.importorskip("soundfile")

FIXTURES = Path(__file__).parents[2] / "fixtures"
CLIPS = FIXTURES / "prosody"
COLUMNS = "clip_id,wav_path,split,speaker,sentence,style,valence,arousal,dominance,seconds"
STYLES = ("quick-loud", "quick-soft", "slow-loud", "slow-soft")
SPEAKERS = ("awb", "kal16", "rms", "slt")
MODELS = ("prosody-style", "prosody-vad")

MACRO_F1 = 0.7298188405797101
CCC = {"arousal": 0.6428, "dominance": 0.8887, "valence": 0.4476}  # in the order of the model's output

# Prints one digest over the outputs of both models for all clips: run in processes of their own.
DIGEST_OF_OUTPUTS = """
import hashlib, pathlib, sys
import onnxruntime, soundfile
fixtures = pathlib.Path(sys.argv[1])
digest = hashlib.sha256()
for name in ("prosody-style", "prosody-vad"):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(fixtures / "models" / f"{name}.onnx", options)
    for path in sorted((fixtures / "prosody" / "clips").iterdir()):
        samples, _ = soundfile.read(path, dtype="float32")
        digest.update(session.run(None, {"x": samples[None]})[0].tobytes())
print(digest.hexdigest())
"""


def session(name: str) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(
        FIXTURES / "models" / f"{name}.onnx", options, providers=["CPUExecutionProvider"]
    )


def outputs(name: str, rows: list[dict[str, str]]) -> np.ndarray:
    model = session(name)
    clips = [soundfile.read(CLIPS / row["wav_path"], dtype="float32")[0] for row in rows]
    return np.concatenate([model.run(None, {"x": clip[None]})[0] for clip in clips])


def concordance(a: np.ndarray, b: np.ndarray) -> float:
    return float(2 * np.cov(a, b, bias=True)[0, 1] / (a.var() + b.var() + (a.mean() - b.mean()) ** 2))


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    with (CLIPS / "clips.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a script of the fixtures folder by name, for this test only."""
    scripts = {path.stem for path in FIXTURES.glob("*.py")}
    monkeypatch.syspath_prepend(str(FIXTURES))
    yield importlib.import_module
    for name in scripts:
        sys.modules.pop(name, None)


def test_manifest_has_the_promised_columns_in_unix_lines() -> None:
    text = (CLIPS / "clips.csv").read_bytes()
    assert text.splitlines()[0].decode() == COLUMNS
    assert b"\r" not in text
    assert text.endswith(b"\n")


def test_manifest_is_sorted_unique_and_balanced(rows: list[dict[str, str]]) -> None:
    ids = [row["clip_id"] for row in rows]
    assert len(ids) == 48
    assert ids == sorted(set(ids))
    assert {row["split"] for row in rows} == {"test"}
    assert Counter(row["style"] for row in rows) == dict.fromkeys(STYLES, 12)
    assert Counter(row["speaker"] for row in rows) == dict.fromkeys(SPEAKERS, 12)
    sentences = {row["sentence"] for row in rows}
    cells = Counter((row["speaker"], row["sentence"], row["style"]) for row in rows)
    assert cells == {(v, s, y): 1 for v in SPEAKERS for s in sentences for y in STYLES}


def test_manifest_and_folder_name_the_same_files(rows: list[dict[str, str]]) -> None:
    assert [row["wav_path"] for row in rows] == [f"clips/{row['clip_id']}.flac" for row in rows]
    assert sorted(row["wav_path"] for row in rows) == sorted(
        path.relative_to(CLIPS).as_posix() for path in (CLIPS / "clips").iterdir()
    )


def test_clips_are_flac_pcm16_mono_16_khz_of_the_declared_length(rows: list[dict[str, str]]) -> None:
    for row in rows:
        info = soundfile.info(CLIPS / row["wav_path"])
        found = (info.format, info.subtype, info.channels, info.samplerate)
        assert found == ("FLAC", "PCM_16", 1, 16_000), row["clip_id"]
        samples, _ = soundfile.read(CLIPS / row["wav_path"], dtype="int16")
        assert len(samples) / 16_000 == float(row["seconds"]), row["clip_id"]
        assert 0.9 <= float(row["seconds"]) <= 2.4, row["clip_id"]


def test_clips_stay_within_the_levels_of_the_rule(rows: list[dict[str, str]], script: Any) -> None:
    rule = script("prosody_rule")
    for row in rows:
        samples, _ = soundfile.read(CLIPS / row["wav_path"], dtype="int16")
        assert np.abs(samples.astype(int)).max() <= 32_700, row["clip_id"]
        level = 10 * np.log10(np.mean(np.square(samples / 32_768)))
        assert rule.SOFTEST - 0.1 <= level <= rule.LOUDEST + 0.1, row["clip_id"]


def test_all_clips_differ(rows: list[dict[str, str]]) -> None:
    assert len({hashlib.sha256((CLIPS / row["wav_path"]).read_bytes()).digest() for row in rows}) == 48


def test_fixture_is_small() -> None:
    assert sum(path.stat().st_size for path in (CLIPS / "clips").iterdir()) < 2_500_000
    for name in MODELS:
        assert (FIXTURES / "models" / f"{name}.onnx").stat().st_size < 200 * 1024


def test_manifest_follows_the_rule_in_the_scripts(rows: list[dict[str, str]], script: Any) -> None:
    planned = {clip.clip_id: clip for clip in script("render_clips").planned_clips()}
    assert planned.keys() == {row["clip_id"] for row in rows}
    for row in rows:
        clip = planned[row["clip_id"]]
        assert (row["speaker"], row["sentence"], row["style"]) == (clip.speaker, clip.sentence, clip.style)
        for axis in ("valence", "arousal", "dominance"):
            assert row[axis] == f"{getattr(clip.prosody, axis):.4f}", (row["clip_id"], axis)
            assert 0 <= float(row[axis]) <= 1


def test_targets_are_the_formulas_of_the_readme(script: Any) -> None:
    prosody = script("prosody_rule").Prosody(rate=1.0, pitch=0.25, spread=0.5, loudness=0.75)
    assert prosody.arousal == pytest.approx(0.4 + 0.05 + 0.05 + 0.225)
    assert prosody.dominance == pytest.approx(0.375 + 0.375)
    assert prosody.valence == pytest.approx(0.35 + 0.075)
    assert (prosody.tempo_ratio, prosody.level) == (1.45, -26.0)


def test_training_shares_no_sentence_and_no_voice_with_the_fixture(rows: list[dict[str, str]], script: Any) -> None:
    training = script("training_clips")
    spoken = {sentence.lower().strip(" .") for sentence in training.SENTENCES}
    assert spoken.isdisjoint(row["sentence"].lower().strip(" .") for row in rows)
    assert set(training.VOICES).isdisjoint(row["speaker"] for row in rows)
    assert all(voice.startswith("en-") for voice in training.VOICES)  # eSpeak NG's own, no flite or festival voice


@pytest.mark.skipif(not shutil.which("flite"), reason="flite is not installed (apt-get install flite)")
@pytest.mark.parametrize("speaker", SPEAKERS)
def test_rendering_again_gives_the_stored_samples(speaker: str, script: Any) -> None:
    renderer = script("render_clips")
    voice = next(voice for voice in renderer.VOICES if voice.name == speaker)
    clip = next(clip for clip in renderer.planned_clips() if clip.speaker == speaker)
    stored, _ = soundfile.read(CLIPS / "clips" / f"{clip.clip_id}.flac", dtype="int16")
    rendered = renderer.speak(voice, clip.sentence, clip.prosody)
    assert len(rendered) == len(stored)
    assert np.abs(rendered.astype(int) - stored.astype(int)).max() <= 2  # last bits differ between builds of flite


def test_renderer_says_what_to_install_when_flite_is_missing(
    script: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    renderer = script("render_clips")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match="apt-get install flite"):
        renderer.require_flite()


def test_style_model_scores_the_pinned_macro_f1(rows: list[dict[str, str]]) -> None:
    from sklearn.metrics import f1_score

    logits = outputs("prosody-style", rows)
    assert logits.shape == (48, 4)
    predicted = [STYLES[i] for i in logits.argmax(axis=1)]
    score = f1_score([row["style"] for row in rows], predicted, labels=STYLES, average="macro")
    assert score == pytest.approx(MACRO_F1, abs=1e-6)
    assert 0.6 < score < 0.92


def test_vad_model_scores_the_pinned_concordance(rows: list[dict[str, str]]) -> None:
    axes = outputs("prosody-vad", rows).astype(np.float64)
    assert axes.shape == (48, 3)
    assert ((axes >= 0) & (axes <= 1)).all()
    found = {axis: concordance(axes[:, i], np.array([float(row[axis]) for row in rows])) for i, axis in enumerate(CCC)}
    assert found == pytest.approx(CCC, abs=1e-3)


def test_no_decision_of_the_style_model_is_a_close_call(rows: list[dict[str, str]]) -> None:
    logits = np.sort(outputs("prosody-style", rows), axis=1)
    assert (logits[:, -1] - logits[:, -2]).min() > 0.05  # so the last bits of another processor turn no clip


@pytest.mark.parametrize("name", MODELS)
def test_model_takes_one_float_row_of_any_length(name: str) -> None:
    import onnx

    graph = onnx.load(FIXTURES / "models" / f"{name}.onnx").graph
    assert [value.name for value in graph.input] == ["x"]
    assert len(graph.output) == 1
    model = session(name)
    (entry,) = model.get_inputs()
    assert (entry.type, entry.shape[0]) == ("tensor(float)", 1)
    assert isinstance(entry.shape[1], str)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("length", [1, 2, 159, 160, 640, 1_023, 1_024, 1_184, 16_000, 480_000])
def test_model_output_is_finite_for_silence_noise_and_full_scale(name: str, length: int) -> None:
    model = session(name)
    noise = np.random.default_rng(length).normal(scale=0.1, size=(1, length))
    for samples in (np.zeros((1, length)), noise, np.sign(noise), np.ones((1, length))):
        (output,) = model.run(None, {"x": samples.astype(np.float32)})
        assert output.shape == (1, 4 if name == "prosody-style" else 3)
        assert np.isfinite(output).all()


def test_models_give_the_same_bytes_in_every_process() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", DIGEST_OF_OUTPUTS, str(FIXTURES)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for _ in range(2)
    }
    assert len(digests) == 1
