"""The audio contract and the signal it makes (H31 to H33, H39)."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import soxr
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_speval.corpus.audio import Sound
from pytest_speval.corpus.contract import Contract, check, frames_at, prepare, resampled_frames
from pytest_speval.errors import AudioFault, MissingExtra


def sound(stored: npt.NDArray[Any], rate: int = 16000, container: str = "WAV", subtype: str = "PCM_16") -> Sound:
    columns = stored.reshape(len(stored), -1)
    columns.flags.writeable = False
    return Sound("", rate, container, subtype, columns)


def noise(frames: int, channels: int = 1, rate: int = 16000) -> Sound:
    return sound(np.random.default_rng(frames).integers(-9000, 9000, (frames, channels), np.int16), rate)


def fault_of(clip: Sound, contract: Contract) -> AudioFault:
    with pytest.raises(AudioFault) as prepared:
        prepare(clip, contract)
    with pytest.raises(AudioFault) as checked:
        check(clip, contract)
    assert checked.value.code == prepared.value.code
    return prepared.value


def test_a_clip_that_fits_comes_back_as_it_is() -> None:
    clip = noise(16000)
    ready = prepare(clip, Contract())
    assert (ready.rate, ready.notices) == (16000, ())
    assert ready.pcm.ndim == 1
    assert ready.pcm.dtype == np.float32
    assert not ready.pcm.flags.writeable
    assert ready.pcm.flags.c_contiguous
    assert np.array_equal(ready.pcm * 32768, clip.stored[:, 0])


def test_a_wrong_rate_breaks_the_contract_unless_resampling_is_asked_for() -> None:
    clip = noise(48000, rate=48000)
    fault = fault_of(clip, Contract(rate=16000))
    assert fault.code == "wrong-rate"
    assert "48000 Hz, expected 16000 Hz" in fault.message
    ready = prepare(clip, Contract(rate=16000, resample=True))
    assert (len(ready.pcm), ready.rate) == (16000, 16000)
    (notice,) = ready.notices
    assert notice.code == "resampled"
    assert notice.message == f"resampled 48000->16000 with soxr {soxr.__version__} HQ"
    assert not ready.pcm.flags.writeable


def test_no_rate_keeps_the_rate_of_the_file() -> None:
    assert prepare(noise(441, rate=44100), Contract(resample=True)).rate == 44100
    assert prepare(noise(441, rate=44100), Contract(rate=44100, resample=True)).notices == ()


@pytest.mark.parametrize(
    ("frames", "source", "target", "expected"), [(18205, 16000, 8000, 9103), (22051, 22050, 16000, 16001)]
)
def test_resampled_length_follows_one_rule(frames: int, source: int, target: int, expected: int) -> None:
    assert resampled_frames(frames, source, target) == expected
    assert len(prepare(noise(frames, rate=source), Contract(rate=target, resample=True)).pcm) == expected


RATES = [8000, 11025, 16000, 22050, 24000, 44100, 48000]


@settings(max_examples=60)
@given(st.integers(1, 9000), st.sampled_from(RATES), st.sampled_from(RATES))
def test_any_length_resamples_to_the_rounded_one(frames: int, source: int, target: int) -> None:
    wanted = int(Fraction(frames * target, source) + Fraction(1, 2))
    ready = prepare(noise(frames, rate=source), Contract(rate=target, resample=True))
    assert len(ready.pcm) == wanted == resampled_frames(frames, source, target)


@pytest.mark.parametrize("made", [0, 98, 102, 500])
def test_a_resampler_that_is_off_by_more_than_one_is_refused(made: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soxr, "resample", lambda *_, **__: np.zeros(made, np.float32))
    with pytest.raises(AudioFault, match="resampled-length"):
        prepare(noise(200), Contract(rate=8000, resample=True))


@pytest.mark.parametrize("made", [99, 100, 101])
def test_a_resampler_that_is_off_by_one_is_cut_or_padded(made: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soxr, "resample", lambda *_, **__: np.ones(made, np.float32))
    pcm = prepare(noise(200), Contract(rate=8000, resample=True)).pcm
    assert pcm.tolist() == [1.0] * min(made, 100) + [0.0] * (100 - min(made, 100))


def test_resampling_without_soxr_asks_for_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "soxr", None)
    with pytest.raises(MissingExtra, match="resampling 48000 Hz to 16000 Hz"):
        check(noise(10, rate=48000), Contract(rate=16000, resample=True))
    assert len(prepare(noise(10), Contract(rate=16000, resample=True)).pcm) == 10


def test_borders_round_half_up() -> None:
    assert (frames_at(0.1, 22050), frames_at(0.3, 22050)) == (2205, 6615)
    assert frames_at(3, 16000) == 48000
    assert frames_at(0.5, 3) == 2


def test_more_channels_need_a_choice() -> None:
    clip = noise(100, 2)
    fault = fault_of(clip, Contract())
    assert fault.code == "wrong-channels"
    assert "corpus.audio.channel" in fault.message
    for channel in (0, 1):
        pcm = prepare(clip, Contract(channel=channel)).pcm
        assert np.array_equal(pcm * 32768, clip.stored[:, channel])
        assert pcm.flags.c_contiguous
    mean = prepare(clip, Contract(channel="mean")).pcm
    assert np.allclose(mean, clip.stored.mean(axis=1) / 32768, atol=1e-7)


def test_a_channel_that_is_not_there_breaks_the_contract() -> None:
    assert "no channel 2" in fault_of(noise(9, 2), Contract(channel=2)).message
    assert fault_of(noise(9), Contract(channel=1)).code == "wrong-channels"
    assert fault_of(noise(9), Contract(channels=2, channel=0)).code == "wrong-channels"
    assert fault_of(noise(9, 2), Contract(channels=2)).code == "wrong-channels"
    assert len(prepare(noise(9), Contract(channel=0)).pcm) == 9
    assert len(prepare(noise(9), Contract(channel="mean")).pcm) == 9
    assert len(prepare(noise(9, 2), Contract(channels=2, channel="mean")).pcm) == 9


def test_a_mean_that_cancels_is_refused() -> None:
    tone = (0.1 * 32768 * np.sin(2 * np.pi * 440 * np.arange(16000) / 16000)).astype(np.int16)
    clip = sound(np.stack([tone, -tone], axis=1))
    assert np.sqrt(np.mean(clip.samples[:, 0] ** 2)) == pytest.approx(0.0707, abs=1e-3)
    fault = fault_of(clip, Contract(channel="mean"))
    assert fault.code == "downmix-cancels"
    assert "-1.000" in fault.message
    assert len(prepare(clip, Contract(channel=1)).pcm) == 16000


def test_container_and_subtype_are_held() -> None:
    clip = noise(10)
    assert check(clip, Contract(container="WAV", subtype="PCM_16")) == ()
    assert check(replace(clip, container="WAVEX"), Contract(container="WAV")) == ()
    assert fault_of(clip, Contract(container="WAVEX")).code == "wrong-container"
    assert fault_of(replace(clip, container="FLAC"), Contract(container="WAV")).code == "wrong-container"
    assert fault_of(replace(clip, subtype="PCM_24"), Contract(subtype="PCM_16")).code == "wrong-subtype"


def test_bounds_are_inclusive_in_samples() -> None:
    contract = Contract(seconds=(3, 12))
    assert check(noise(48000), contract) == ()
    assert check(noise(192000), contract) == ()
    assert fault_of(noise(47999), contract).code == "too-short"
    assert fault_of(noise(192001), contract).code == "too-long"
    assert fault_of(noise(144000, rate=48000), replace(contract, seconds=(3.0001, 12))).code == "too-short"


def test_bounds_hold_at_the_rate_of_the_file() -> None:
    contract = Contract(rate=16000, resample=True, seconds=(1, 2))
    assert len(prepare(noise(44100, rate=44100), contract).pcm) == 16000
    assert fault_of(noise(44099, rate=44100), contract).code == "too-short"


def test_a_clip_of_304_seconds_is_too_long_for_a_minute() -> None:
    fault = fault_of(sound(np.zeros(304_900, np.int16), rate=1000), Contract(seconds=(0.2, 60)))
    assert fault.code == "too-long"
    assert "304900 frames" in fault.message
    assert "at most 60000" in fault.message


def test_exclusion_and_abstention_are_told_apart() -> None:
    bounds = Contract(seconds=(1, 2))
    assert fault_of(noise(9), replace(bounds, short="exclude")).code == "short-excluded"
    assert fault_of(noise(9), replace(bounds, short="abstain")).code == "short-abstains"
    assert fault_of(noise(40000), replace(bounds, long="exclude")).code == "long-excluded"


def test_padding_adds_zeros_at_the_end() -> None:
    clip = noise(100)
    ready = prepare(clip, Contract(seconds=(0.01, 1), short="pad"))
    assert len(ready.pcm) == 160
    assert np.array_equal(ready.pcm[:100] * 32768, clip.stored[:, 0])
    assert not ready.pcm[100:].any()
    assert [notice.code for notice in ready.notices] == ["padded"]


@pytest.mark.parametrize("long", ["tail", "head"])
def test_cutting_keeps_the_named_end(long: Any) -> None:
    clip = noise(400)
    ready = prepare(clip, Contract(seconds=(0, 0.01), long=long))
    expected = clip.stored[-160:, 0] if long == "tail" else clip.stored[:160, 0]
    assert np.array_equal(ready.pcm * 32768, expected)
    assert [notice.code for notice in ready.notices] == ["cut"]
    assert not ready.pcm.flags.writeable


def test_clipping_is_rejected_only_where_asked_and_heard() -> None:
    stored = np.zeros((50, 2), np.int16)
    stored[10:14, 1] = 32767
    clip = sound(stored)
    assert check(clip, Contract(channel=1)) == ()
    assert check(clip, Contract(channel=0, clipping="reject")) == ()
    fault = fault_of(clip, Contract(channel=1, clipping="reject"))
    assert fault.code == "clipping"
    assert "4 clipped samples in 1 runs" in fault.message


def test_preparing_leaves_the_sound_alone() -> None:
    floats = np.linspace(-2, 2, 50, dtype=np.float32)
    clip = sound(floats.copy(), subtype="FLOAT")
    ready = prepare(clip, Contract())
    assert np.array_equal(ready.pcm, floats)
    assert np.array_equal(clip.stored[:, 0], floats)
