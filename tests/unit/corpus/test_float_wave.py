"""Samples written for another program come back as they were."""

from __future__ import annotations

import io

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pytest_speval.corpus.audio import decode
from pytest_speval.corpus.float_wave import float_wave


@given(
    arrays.arrays(np.float32, st.integers(1, 300), elements=st.floats(-4, 4, width=32)),
    st.sampled_from([8000, 16000, 44100, 192000]),
)
def test_another_library_reads_what_was_written(pcm: np.ndarray[tuple[int], np.dtype[np.float32]], rate: int) -> None:
    with soundfile.SoundFile(io.BytesIO(float_wave(pcm, rate))) as file:
        assert (file.format, file.subtype, file.samplerate, file.channels) == ("WAV", "FLOAT", rate, 1)
        assert file.frames == len(pcm)
        np.testing.assert_array_equal(file.read(dtype="float32"), pcm)


@pytest.mark.parametrize("frames", [1, 2, 1000])
def test_we_read_it_too(frames: int) -> None:
    pcm = np.linspace(-1, 1, frames, dtype=np.float32)
    sound = decode(float_wave(pcm, 16000), "x.wav")
    assert (sound.rate, sound.subtype, sound.notices) == (16000, "FLOAT", ())
    np.testing.assert_array_equal(sound.samples[:, 0], pcm)
