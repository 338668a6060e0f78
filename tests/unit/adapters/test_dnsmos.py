"""DNSMOS from the wheel's files: it hears what the original hears, and noise is heard in order."""

from __future__ import annotations

import csv
import re
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from pytest_speval.adapters import dnsmos
from pytest_speval.adapters.dnsmos import MODELS, WINDOW, Dnsmos, DnsmosKeys, windows
from pytest_speval.adapters.onnx import Floats
from pytest_speval.audit.fit import describe
from pytest_speval.errors import AdapterFault, AnswerFault, MissingExtra
from pytest_speval.tasks.mos import Mos

PROSODY = Path(__file__).resolve().parents[3] / "fixtures/prosody"
ONE_WINDOW = (1.127, 1.374)
"""Lengths in seconds that doubled thrice make one window: they are quick to rate."""


@pytest.fixture(scope="module")
def scorer() -> Any:
    pytest.importorskip("onnxruntime")
    adapter = Dnsmos(threads=1)
    try:
        adapter.warm_up()
    except MissingExtra as missing:
        pytest.skip(missing.message)
    yield adapter
    adapter.close()


def bundled() -> dict[str, Floats]:
    with (PROSODY / "clips.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if ONE_WINDOW[0] <= float(row["seconds"]) <= ONE_WINDOW[1]]
    return {row["clip_id"]: soundfile.read(PROSODY / row["wav_path"], dtype="float32")[0] for row in rows}


def noisy(pcm: Floats, decibels: float) -> Floats:
    """The clip with white noise at a signal-to-noise ratio."""
    noise = np.random.default_rng(1).normal(size=len(pcm))
    gain = np.sqrt(np.mean(pcm**2) / np.mean(noise**2) / 10 ** (decibels / 10))
    return np.asarray(pcm + gain * noise, np.float32)


def heard_by_the_original(pcm: Floats) -> list[Floats]:
    """The loop of the published scorer, step by step."""
    rate, seconds = 16000, 9.01
    length = int(seconds * rate)
    audio = pcm
    while len(audio) < length:
        audio = np.append(audio, audio)
    hops = int(np.floor(len(audio) / rate) - seconds) + 1
    pieces = [audio[int(hop * rate) : int((hop + seconds) * rate)] for hop in range(hops)]
    return [piece for piece in pieces if len(piece) >= length]


@pytest.mark.parametrize(
    "length",
    [
        1,
        100,
        8000,
        16000,
        17312,
        22900,
        40000,
        72080,
        144159,
        144160,
        144161,
        160000,
        176000,
        250000,
        500000,
        2_200_000,
    ],
)
def test_the_windows_are_those_of_the_original(length: int) -> None:
    pcm = np.arange(length, dtype=np.float32)
    found, wanted = list(windows(pcm)), heard_by_the_original(pcm)
    assert len(found) == len(wanted) > 0
    assert all(np.array_equal(one, other) for one, other in zip(found, wanted, strict=True))
    assert {len(window) for window in found} == {WINDOW}


def test_noise_lowers_the_rating_and_more_noise_lowers_it_more(scorer: Dnsmos) -> None:
    clips = bundled()
    assert len(clips) >= 6
    rated = {
        level: [scorer.rate(pcm if level is None else noisy(pcm, level), 16000).value for pcm in clips.values()]
        for level in (None, 20, 10, 0)
    }
    means = [float(np.mean(values)) for values in rated.values()]
    assert means == sorted(means, reverse=True)
    assert means[0] - means[2] >= 0.5
    assert means[0] - means[3] >= 1.0
    for clean, ten, nought in zip(rated[None], rated[10], rated[0], strict=True):
        assert clean > ten > nought


def test_the_polynomials_turn_raw_outputs_into_the_rating_and_its_scores(scorer: Dnsmos) -> None:
    pcm = next(iter(bundled().values()))
    raw = np.mean([scorer._model.run(window) for window in windows(pcm)], axis=0).tolist()  # type: ignore[union-attr]
    rating = scorer.rate(pcm, 16000)
    expected = [a * raw[place] ** 2 + b * raw[place] + c for place, (a, b, c) in enumerate(MODELS["dnsmos"][1])]
    assert rating.scores is not None
    assert [*rating.scores] == ["SIG", "BAK"]
    assert [*rating.scores.values(), rating.value] == pytest.approx(expected, abs=1e-6)
    answer, latency = Mos().record(rating)
    assert 1 < answer["value"] < 5
    assert latency is None


def test_the_polynomials_are_those_in_the_package(scorer: Dnsmos) -> None:
    source = (scorer.identity().files[0].parents[1] / "dnsmos.py").read_text()
    found = re.findall(r"p_(ovr|sig|bak) = np\.poly1d\(\s*\[([^\]]+)\]\)", source)
    written = [(name, tuple(map(float, numbers.split(",")))) for name, numbers in found]
    personalized, plain = dict(written[:3]), dict(written[3:])
    for model, table in (("dnsmos_personalized", personalized), ("dnsmos", plain)):
        assert MODELS[model][1] == (table["sig"], table["bak"], table["ovr"])


def test_the_ratings_of_several_windows_are_averaged(scorer: Dnsmos, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = [[2.0, 3.0, 2.5], [3.0, 4.0, 3.5]]
    monkeypatch.setattr(dnsmos, "windows", lambda pcm: iter([pcm, pcm]))
    outputs = iter(raw)
    monkeypatch.setattr(scorer._model, "run", lambda _: np.array(next(outputs)))
    found = scorer.rate(np.zeros(10, np.float32), 16000)
    polynomial = MODELS["dnsmos"][1][2]
    assert found.value == pytest.approx(np.mean([np.polyval(polynomial, row[2]) for row in raw]))


def test_what_lies_beyond_full_scale_is_cut_to_it(scorer: Dnsmos) -> None:
    pcm = next(iter(bundled().values()))
    loud = pcm * np.float32(1.5 / np.abs(pcm).max())
    assert scorer.rate(loud, 16000) == scorer.rate(np.clip(loud, -1, 1), 16000)


def test_a_clip_without_a_sample_fails_alone(scorer: Dnsmos) -> None:
    with pytest.raises(AnswerFault, match="clip-empty"):
        scorer.rate(np.empty(0, np.float32), 16000)


def test_the_personalized_model_is_another_file_and_rates_otherwise(scorer: Dnsmos) -> None:
    other = Dnsmos(model_type="dnsmos_personalized", threads=1)
    other.warm_up()
    pcm = next(iter(bundled().values()))
    assert other.identity().files != scorer.identity().files
    assert other.rate(pcm, 16000) != scorer.rate(pcm, 16000)
    other.close()


def test_the_identity_holds_the_package_and_the_digest_of_its_file(scorer: Dnsmos) -> None:
    said, missing = describe(scorer.identity())
    assert missing == []
    assert (said["name"], said["version"]) == ("dnsmos", "0.0.1.1")
    digest = "269fbebdb513aa23cddfbb593542ecc540284a91849ac50516870e1ac78f6edd"
    assert said["files"] == {"sig_bak_ovr.onnx": digest}


def test_the_package_itself_is_never_imported(scorer: Dnsmos) -> None:
    assert scorer.sample_rate == 16000
    assert "speechmos" not in sys.modules


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(dnsmos, "distribution", absent)
    for ask in (Dnsmos().identity, Dnsmos().warm_up):
        with pytest.raises(MissingExtra, match=r"pytest-speval\[dnsmos\]"):
            ask()


def test_another_package_of_that_name_is_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        version = "9.9"

        def locate_file(self, path: str) -> Path:
            return tmp_path / path

    monkeypatch.setattr(dnsmos, "distribution", lambda _: Other())
    with pytest.raises(AdapterFault, match="dnsmos-file-missing") as caught:
        Dnsmos().identity()
    assert "speechmos 9.9 has no dnsmos_models/sig_bak_ovr.onnx" in caught.value.message


@pytest.mark.parametrize("keys", [{"model_type": "p808"}, {"threads": 0}, {"model": "x.onnx"}])
def test_unknown_keys_and_values_are_refused(keys: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"model_type|threads|model"):
        DnsmosKeys(**keys)
