"""PocketSphinx: real speech is written down, whatever was heard before, and what is missing is named."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jiwer
import numpy as np
import numpy.typing as npt
import pytest
from pydantic import ValidationError

from pytest_speval.adapters import pocketsphinx as adapter
from pytest_speval.adapters.pocketsphinx import Pocketsphinx
from pytest_speval.errors import AdapterFault, MissingExtra

soundfile = pytest.importorskip("soundfile")
PROSODY = Path(__file__).parents[3] / "fixtures/prosody"
SENTENCES = {"01": "the map is on the wall", "02": "the boat is by the pier", "03": "the cup is on the tray"}
Floats = npt.NDArray[np.float32]


def installed() -> None:
    try:
        distribution("pocketsphinx")
    except PackageNotFoundError:
        pytest.skip("the package pocketsphinx is not installed (extra `pocketsphinx`)")


def opened() -> Pocketsphinx:
    installed()
    warm = Pocketsphinx()
    warm.warm_up()
    return warm


@pytest.fixture(scope="module")
def engine() -> Pocketsphinx:
    return opened()


def clip(name: str) -> Floats:
    pcm: Floats = soundfile.read(PROSODY / f"clips/{name}.flac", dtype="float32")[0]
    pcm.flags.writeable = False
    return pcm


def test_the_bundled_clips_are_recognised(engine: Pocketsphinx) -> None:
    names = [f"{voice}-{number}-quick-loud" for voice in ("rms", "slt") for number in SENTENCES]
    heard = [engine.transcribe(clip(name), 16_000).text for name in names]
    assert jiwer.wer([SENTENCES[name.split("-")[1]] for name in names], heard) < 0.4


def carrying_over(engine: Any, pcm: Floats) -> str:
    """What the decoder writes when it is not made to forget the clips before."""
    decoder = engine._decoder
    decoder.start_utt()
    decoder.process_raw((np.clip(np.rint(pcm * 32_768), -32_768, 32_767)).astype("<i2").tobytes(), full_utt=True)
    decoder.end_utt()
    return str(decoder.hyp().hypstr)


ORDERED = ("kal16-01-slow-loud", "rms-03-quick-loud")


def test_a_decoder_that_is_not_made_to_forget_writes_another_text_the_second_time() -> None:
    used, pcm = opened(), clip(ORDERED[0])
    assert carrying_over(used, pcm) != carrying_over(used, pcm), "else the next test shows nothing"


def test_an_answer_does_not_depend_on_the_clips_before() -> None:
    alone = {name: opened().transcribe(clip(name), 16_000).text for name in ORDERED}
    used = opened()
    for name in (*ORDERED, *ORDERED[::-1]):
        assert used.transcribe(clip(name), 16_000).text == alone[name]


@pytest.mark.parametrize("samples", [1, 100, 500])
def test_what_gives_no_hypothesis_is_an_empty_text(engine: Pocketsphinx, samples: int) -> None:
    assert engine.transcribe(np.zeros(samples, np.float32), 16_000).text == ""


def test_silence_and_noise_have_an_answer(engine: Pocketsphinx) -> None:
    for pcm in (np.zeros(16_000), np.random.default_rng(0).normal(0, 0.1, 16_000)):
        assert len(engine.transcribe(pcm.astype(np.float32), 16_000).text.split()) <= 2


@pytest.mark.parametrize("samples", [0, 1, 160, 48_000])
def test_a_clip_of_zeros_says_nothing_and_changes_no_other(engine: Pocketsphinx, samples: int) -> None:
    before = engine.transcribe(clip("slt-01-quick-loud"), 16_000).text
    assert engine.transcribe(np.full(samples, 1e-6, np.float32), 16_000).text == "", "of nothing it would make any word"
    assert engine.transcribe(clip("slt-01-quick-loud"), 16_000).text == before


def test_the_identity_names_models_and_version() -> None:
    installed()
    identity = Pocketsphinx().identity()
    assert (identity.name, identity.version) == ("pocketsphinx-en-us", distribution("pocketsphinx").version)
    names = {path.name for path in identity.files}
    assert names >= {"mdef", "means", "variances", "sendump", "feat.params", "en-us.lm.bin", "cmudict-en-us.dict"}
    assert all(path.is_file() for path in identity.files)


def test_models_come_from_the_wheel_whatever_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POCKETSPHINX_PATH", "/nowhere")
    assert opened().transcribe(np.zeros(100, np.float32), 16_000).text == ""


def absent(name: str) -> SimpleNamespace:
    raise PackageNotFoundError(name)


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "distribution", absent)
    for ask in (Pocketsphinx().identity, Pocketsphinx().warm_up):
        with pytest.raises(MissingExtra, match=r"needs pytest-speval\[pocketsphinx\]"):
            ask()


def test_models_that_are_not_there_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed()
    monkeypatch.setattr(
        adapter, "distribution", lambda _: SimpleNamespace(version="5.1.1", locate_file=lambda _: tmp_path)
    )
    assert not any(path.is_file() for path in Pocketsphinx().identity().files)
    with pytest.raises(AdapterFault, match=str(tmp_path)) as caught:
        Pocketsphinx().warm_up()
    assert caught.value.code == "pocketsphinx-unusable"


def test_it_takes_no_keys() -> None:
    with pytest.raises(ValidationError):
        Pocketsphinx(beam=1e-40)
