"""The one decoder, its faults and its digests (H27, H29, H30, H39, H40, H44)."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus.audio import Sound, decode, read_bytes, to_int16
from pytest_speval.errors import AudioFault, MissingExtra

NOISE = np.random.default_rng(7).integers(-9000, 9000, (4000, 2), np.int16)


def written(samples: Any, container: str, subtype: str, rate: int = 16000) -> bytes:
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, rate, format=container, subtype=subtype)
    return buffer.getvalue()


def fault_of(data: bytes, name: str = "clip.wav") -> AudioFault:
    with pytest.raises(AudioFault) as caught:
        decode(data, name)
    return caught.value


def stored(*samples: float, rate: int = 16000) -> Sound:
    return Sound("", rate, "WAV", "FLOAT", np.array(samples, np.float32).reshape(-1, 1))


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "no-bytes"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 96044\n",
            "lfs-pointer",
        ),
        (b"<!DOCTYPE html><html><body>404</body></html>", "html-page"),
        (b"\xef\xbb\xbf \n<HTML><head></head></HTML>", "html-page"),
        (b"hello, this is no sound" * 20, "not-audio"),
        (b"\0" * 100, "not-audio"),
        (b"R", "not-audio"),
        (b"PK\3\4" + b"0" * 100, "not-audio"),
        (b"fLaC" + b"\0" * 40, "undecodable"),
    ],
)
def test_what_stands_in_for_audio_is_named(data: bytes, code: str) -> None:
    assert fault_of(data).code == code


@pytest.mark.parametrize("subtype", ["FLOAT", "DOUBLE"])
def test_floats_beyond_full_scale_are_kept_and_counted(subtype: str) -> None:
    sound = decode(written([0, 1.5, -1.5, 1.0, -1.0], "WAV", subtype), "clip.wav")
    assert sound.samples[:, 0].tolist() == [0, 1.5, -1.5, 1.0, -1.0]
    (notice,) = sound.notices
    assert notice.code == "over-full-scale"
    assert notice.message == "2 samples beyond full scale, peak 1.5"
    assert to_int16(sound.samples[:, 0]).tolist() == [0, 32767, -32768, 32767, -32768]


def test_negative_peaks_count_too() -> None:
    (notice,) = decode(written([0, -1.25], "WAV", "FLOAT"), "clip.wav").notices
    assert notice.message == "1 samples beyond full scale, peak 1.25"


def test_samples_that_are_not_finite_are_counted_and_refused() -> None:
    fault = fault_of(written([0, np.nan, np.inf, 0.5], "WAV", "FLOAT"))
    assert fault.code == "non-finite-samples"
    assert fault.message.startswith("2 of 4 samples")
    assert fault_of(written([0, -np.inf, 0.5], "WAV", "FLOAT")).message.startswith("1 of 3 samples")


def test_int16_rounds_half_to_even() -> None:
    steps = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 0.49], np.float32) / 32768
    assert to_int16(steps.astype(np.float32)).tolist() == [0, 2, 2, 0, -2, 0]


@given(st.lists(st.integers(-32768, 32767), min_size=1, max_size=50))
def test_int16_survives_the_way_through_float(samples: list[int]) -> None:
    sound = decode(written(np.array(samples, np.int16), "WAV", "PCM_16"), "clip.wav")
    assert to_int16(sound.samples[:, 0]).tolist() == samples


FORMATS = [
    ("WAV", "PCM_16"), ("WAV", "PCM_U8"), ("WAV", "PCM_24"), ("WAV", "PCM_32"), ("WAV", "FLOAT"), ("WAV", "DOUBLE"),
    ("WAV", "ULAW"), ("WAV", "ALAW"), ("WAV", "IMA_ADPCM"), ("WAVEX", "PCM_16"), ("RF64", "PCM_16"), ("W64", "PCM_16"),
    ("FLAC", "PCM_S8"), ("FLAC", "PCM_16"), ("FLAC", "PCM_24"), ("AIFF", "PCM_16"), ("AIFF", "PCM_S8"),
    ("AIFF", "FLOAT"), ("AU", "PCM_16"), ("CAF", "PCM_16"), ("CAF", "ALAC_16"), ("NIST", "PCM_16"),
    ("OGG", "VORBIS"), ("OGG", "OPUS"), ("MP3", "MPEG_LAYER_III"),
]  # fmt: skip


@pytest.mark.parametrize(("container", "subtype"), FORMATS)
def test_every_format_decodes_as_libsndfile_reads_it(container: str, subtype: str) -> None:
    data = written(NOISE, container, subtype)
    sound = decode(data, "clip")
    expected, rate = soundfile.read(io.BytesIO(data), dtype="float32", always_2d=True)
    assert np.array_equal(sound.samples, expected)
    assert (sound.rate, sound.container, sound.subtype) == (rate, container, subtype)
    assert (sound.stored.dtype == np.int16) == (subtype in {"PCM_16", "PCM_S8", "PCM_U8", "ALAC_16"})
    assert not sound.stored.flags.writeable


CUT = [each for each in FORMATS if each[0] != "MP3"]


@pytest.mark.parametrize(("container", "subtype"), CUT)
@pytest.mark.parametrize("lost", [2, 3, 1000])
def test_a_file_that_was_cut_is_refused(container: str, subtype: str, lost: int) -> None:
    data = written(NOISE, container, subtype)
    assert len(data) > 2 * lost
    # libsndfile's FLAC decoder says itself that the end is missing
    assert fault_of(data[:-lost]).code == ("undecodable" if container == "FLAC" else "truncated")


def test_fewer_frames_than_announced_are_a_cut_file_but_for_mpeg(monkeypatch: pytest.MonkeyPatch) -> None:
    read = soundfile.SoundFile.read
    monkeypatch.setattr(soundfile.SoundFile, "read", lambda self, *size, **kind: read(self, *size, **kind)[:-1])
    fault = fault_of(written(NOISE, "FLAC", "PCM_16"))
    assert (fault.code, fault.message) == ("truncated", "truncated: 3999 of 4000 frames")
    assert decode(written(NOISE, "MP3", "MPEG_LAYER_III"), "clip.mp3").frames == 3999


def test_an_ogg_stream_whose_last_page_does_not_end_it_is_cut() -> None:
    data = bytearray(written(NOISE, "OGG", "VORBIS"))
    data[data.rindex(b"OggS") + 5] = 1
    assert fault_of(bytes(data)).code == "truncated"


def test_wave64_chunks_lie_on_multiples_of_eight() -> None:
    data = written(NOISE, "W64", "PCM_16")
    at = data.index(b"data")
    other = b"junk" + data[at + 4 : at + 16] + struct.pack("<Q", 27) + b"odd" + b"\0" * 5
    grown = data[:16] + struct.pack("<Q", len(data) + len(other)) + data[24:at] + other + data[at:]
    assert np.array_equal(decode(grown, "clip.w64").stored, NOISE)
    assert fault_of(grown[:-2]).code == "truncated"


def test_lossless_containers_share_the_digest_of_their_samples() -> None:
    kinds = [
        ("WAV", "PCM_16"),
        ("WAVEX", "PCM_16"),
        ("FLAC", "PCM_16"),
        ("AIFF", "PCM_16"),
        ("CAF", "ALAC_16"),
    ]
    sounds = [decode(written(NOISE, *kind), "clip") for kind in kinds]
    assert len({sound.samples_sha256 for sound in sounds}) == 1
    assert len({sound.bytes_sha256 for sound in sounds}) == len(kinds)


def test_digest_of_samples_is_the_documented_one() -> None:
    data = written(NOISE, "WAV", "PCM_16")
    sound = decode(data, "clip.wav")
    assert sound.samples_sha256 == hashlib.sha256(b"16000 2 int16\n" + NOISE.astype("<i2").tobytes()).hexdigest()
    assert sound.bytes_sha256 == hashlib.sha256(data).hexdigest()
    floats = np.array([0.25, -0.5], "<f4")
    sound = decode(written(floats, "WAV", "FLOAT", 8000), "clip.wav")
    assert sound.samples_sha256 == hashlib.sha256(b"8000 1 float32\n" + floats.tobytes()).hexdigest()


def test_digest_tells_rate_channels_kind_and_order_apart() -> None:
    zeros = np.zeros((4, 2), np.int16)
    sounds = [
        Sound("", 16000, "WAV", "PCM_16", zeros),
        Sound("", 8000, "WAV", "PCM_16", zeros),
        Sound("", 16000, "WAV", "PCM_16", zeros.reshape(8, 1)),
        Sound("", 16000, "WAV", "FLOAT", zeros.view(np.float32)),
        Sound("", 16000, "WAV", "PCM_16", np.arange(8, dtype=np.int16).reshape(4, 2)),
        Sound("", 16000, "WAV", "PCM_16", np.arange(8, dtype=np.int16).reshape(2, 4).T),
    ]
    assert len({sound.samples_sha256 for sound in sounds}) == len(sounds)


def test_a_header_that_announces_too_many_frames_allocates_nothing() -> None:
    data = bytearray(written(NOISE, "FLAC", "PCM_16"))
    data[21] |= 0x0F
    data[22:26] = b"\xff" * 4
    assert fault_of(bytes(data)).code == "header-size-mismatch"
    data[21] &= 0xF0
    data[22:26] = b"\0" * 4
    assert "does not announce its length" in fault_of(bytes(data)).message


def test_an_aiff_whose_two_lengths_differ_is_refused() -> None:
    data = bytearray(written(NOISE, "AIFF", "PCM_16"))
    frames = data.index(b"COMM") + 10
    assert struct.unpack_from(">I", data, frames)[0] == len(NOISE)
    struct.pack_into(">I", data, frames, len(NOISE) - 7)
    assert fault_of(bytes(data)).code == "header-size-mismatch"


def test_other_formats_ask_for_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    data = written(NOISE, "FLAC", "PCM_16")
    monkeypatch.setitem(sys.modules, "soundfile", None)
    with pytest.raises(MissingExtra, match=r"decoding a\.flac"):
        decode(data, "a.flac")


def test_soundfile_is_imported_only_when_needed() -> None:
    code = "import sys, pytest_speval.corpus.inspection; assert not {'soundfile', 'soxr'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_missing_file_a_folder_and_a_pipe_are_faults(tmp_path: Path) -> None:
    (tmp_path / "clip.wav").write_bytes(b"12")
    os.mkfifo(tmp_path / "pipe.wav")
    assert read_bytes(tmp_path / "clip.wav") == b"12"
    for path, code in (
        (tmp_path / "no.wav", "missing"),
        (tmp_path, "unreadable"),
        (tmp_path / "pipe.wav", "unreadable"),
    ):
        with pytest.raises(AudioFault) as caught:
            read_bytes(path)
        assert caught.value.code == code
        assert str(tmp_path) not in caught.value.message


BROKEN = {
    "pocketsphinx/null.wav": "no-frames",
    "pocketsphinx/bad.wav": "undecodable",
    "pocketsphinx/evil.wav": "undecodable",
    "pocketsphinx/goforward.raw": "not-audio",
    "soundfile/mono.raw": "not-audio",
    "scipy/test-44100Hz-le-1ch-4bytes-early-eof.wav": "truncated",
    "scipy/test-44100Hz-le-1ch-4bytes-early-eof-no-data.wav": "truncated",
    "scipy/test-44100Hz-le-1ch-4bytes-incomplete-chunk.wav": "truncated",
    "scipy/test-8000Hz-le-3ch-5S-36bit.wav": "undecodable",
    "scipy/test-8000Hz-le-3ch-5S-45bit.wav": "undecodable",
    "scipy/test-8000Hz-le-3ch-5S-53bit.wav": "undecodable",
    "scipy/test-8000Hz-le-3ch-5S-64bit.wav": "undecodable",
}


@pytest.mark.realdata
def test_real_files_decode_as_expected_or_fail_by_name(shared: Path) -> None:
    folder = shared / "data" / "audio-formats"
    with (folder / "expected.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 62
    for row in rows:
        data = read_bytes(folder / row["path"])
        assert len(data) == int(row["bytes"])
        if row["path"] in BROKEN:
            assert fault_of(data).code == BROKEN[row["path"]], row["path"]
            continue
        sound = decode(data, row["path"])
        expected, _ = soundfile.read(folder / row["path"], dtype="float32", always_2d=True)
        assert np.array_equal(sound.samples, expected), row["path"]
        said = (sound.container, sound.subtype, str(sound.rate), str(sound.channels), str(sound.frames))
        assert said == tuple(row[key] for key in ("format", "subtype", "samplerate", "channels", "read_frames"))
        assert float(np.abs(sound.samples).max()) == pytest.approx(float(row["peak"]), abs=1e-6)
