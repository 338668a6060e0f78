"""What one clip shows before anything is asked about it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import soxr

from pytest_speval.corpus.audio import Notice, Sound
from pytest_speval.corpus.contract import Contract
from pytest_speval.corpus.inspection import inspect


def sound(stored: npt.NDArray[Any], rate: int = 16000, notices: tuple[Notice, ...] = ()) -> Sound:
    subtype = "PCM_16" if stored.dtype == np.int16 else "FLOAT"
    return Sound("bytes", rate, "WAV", subtype, stored.reshape(len(stored), -1), notices)


def noise(frames: int = 4000, channels: int = 1) -> npt.NDArray[np.int16]:
    return np.random.default_rng(1).integers(-9000, 9001, (frames, channels)).astype(np.int16)


def codes(stored: npt.NDArray[Any], contract: Contract | None = None) -> list[str]:
    return [notice.code for notice in inspect(sound(stored), contract or Contract()).notices]


def test_a_good_clip_shows_its_facts_and_nothing_else() -> None:
    clip = sound(noise())
    seen = inspect(clip, Contract(rate=16000))
    assert (seen.bytes_sha256, seen.samples_sha256) == ("bytes", clip.samples_sha256)
    assert (seen.rate, seen.channels, seen.frames, seen.seconds) == (16000, 1, 4000, 0.25)
    assert (seen.container, seen.subtype, seen.fault, seen.notices) == ("WAV", "PCM_16", None, ())


def test_a_broken_contract_is_the_fault_and_the_levels_are_still_seen() -> None:
    seen = inspect(sound(np.zeros(100, np.int16)), Contract(rate=8000))
    assert seen.fault is not None
    assert seen.fault[0] == "wrong-rate"
    assert [notice.code for notice in seen.notices] == ["silent"]


def test_silence_reaches_to_one_step_of_16_bits() -> None:
    steps = np.array([0, 1, -1, 0], np.int16)
    assert codes(steps) == ["silent"]
    assert codes(np.array([0, 2, -2, 0], np.int16)) == []
    assert codes((steps / 32768).astype(np.float32)) == ["silent"]


def test_clipping_needs_three_equal_samples_at_full_scale() -> None:
    clip = noise()
    clip[10:12] = 32767
    assert codes(clip) == []
    clip[12] = 32767
    clip[50:54] = -32768
    (notice,) = inspect(sound(clip), Contract()).notices
    assert notice == Notice("clipped", "7 clipped samples in 2 runs")


def test_an_offset_beyond_one_hundredth_is_reported() -> None:
    balanced = np.tile(np.array([-3000, 3000], np.int16), 500)
    assert codes(balanced + np.int16(327)) == []
    assert codes(balanced + np.int16(328)) == ["dc-offset"]
    assert codes(balanced - np.int16(328)) == ["dc-offset"]


def test_one_recording_in_two_channels_is_reported() -> None:
    stored = np.repeat(noise(), 2, axis=1)
    (notice,) = inspect(sound(stored), Contract(channel=0)).notices
    assert notice == Notice("equal-channels", "1 of 2 channels repeat another, sample by sample")
    stored[0, 1] += 1
    assert codes(stored, Contract(channel=0)) == []


@pytest.mark.parametrize(("rate", "said"), [(3999, True), (4000, False), (384_000, False), (384_001, True)])
def test_a_rate_that_nobody_records_at_is_reported(rate: int, said: bool) -> None:
    notices = inspect(sound(noise(), rate), Contract()).notices
    assert [notice.code for notice in notices] == (["implausible-rate"] if said else [])
    if rate == 384_001:
        assert notices[0].message == "384,001 Hz, where 4,000 to 384,000 Hz are plausible"


def test_only_the_channel_that_is_listened_to_counts() -> None:
    stored = noise(channels=2)
    stored[:, 1] = 0
    assert codes(stored, Contract(channel=0)) == []
    assert codes(stored, Contract(channel=1)) == ["silent"]


def test_notices_of_the_decoder_and_of_preparing_are_kept_in_order() -> None:
    known = Notice("placeholder-header", "x")
    clip = sound(noise(), rate=48000, notices=(known,))
    seen = inspect(clip, Contract(rate=16000, resample=True, seconds=(0.2, 1), short="pad"))
    assert [notice.code for notice in seen.notices] == ["placeholder-header", "padded", "resampled"]
    assert soxr.__version__ in seen.notices[-1].message
