"""WAVE files: the own reader against libsndfile, and headers that do not tell the truth (H25 to H28, H44)."""

from __future__ import annotations

import io
import struct
import sys

import numpy as np
import numpy.typing as npt
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus.audio import Sound, decode
from pytest_speval.errors import AudioFault, MissingExtra

GUID_TAIL = bytes.fromhex("000000001000800000aa00389b71")
Chunk = tuple[bytes, bytes]


def chunk(name: bytes, body: bytes, size: int | None = None) -> bytes:
    return name + struct.pack("<I", len(body) if size is None else size) + body + b"\0" * (len(body) % 2)


def wave(
    body: bytes,
    *,
    channels: int = 1,
    rate: int = 16000,
    bits: int = 16,
    tag: int = 1,
    extensible: bool = False,
    before: tuple[Chunk, ...] = (),
    after: tuple[Chunk, ...] = (),
    data_size: int | None = None,
    riff_size: int | None = None,
) -> bytes:
    block = channels * bits // 8
    form = struct.pack("<HHIIHH", 0xFFFE if extensible else tag, channels, rate, rate * block, block, bits)
    if extensible:
        form += struct.pack("<HHIH", 22, bits, 0, tag) + GUID_TAIL
    parts = [chunk(b"fmt ", form), *(chunk(*other) for other in before), chunk(b"data", body, data_size)]
    inner = b"WAVE" + b"".join(parts) + b"".join(chunk(*other) for other in after)
    return b"RIFF" + struct.pack("<I", len(inner) if riff_size is None else riff_size) + inner


def ramp(frames: int, channels: int = 1) -> npt.NDArray[np.int16]:
    return (np.arange(frames * channels) % 20011 - 9000).astype("<i2").reshape(frames, channels)


def fault_of(data: bytes) -> AudioFault:
    with pytest.raises(AudioFault) as caught:
        decode(data, "clip.wav")
    return caught.value


def codes(sound: Sound) -> list[str]:
    return [notice.code for notice in sound.notices]


names = st.sampled_from([b"LIST", b"bext", b"fact", b"id3 ", b"junk", b"cue "])
others = st.lists(st.tuples(names, st.binary(max_size=23)), max_size=3).map(tuple)


@given(
    samples=st.integers(1, 6).flatmap(
        lambda channels: st.lists(
            st.lists(st.integers(-32768, 32767), min_size=channels, max_size=channels),
            min_size=1,
            max_size=40,
        )
    ),
    rate=st.integers(1, 192000),
    extensible=st.booleans(),
    before=others,
    after=others,
)
def test_own_reader_equals_libsndfile(
    samples: list[list[int]], rate: int, extensible: bool, before: tuple[Chunk, ...], after: tuple[Chunk, ...]
) -> None:
    stored = np.array(samples, "<i2")
    before = tuple(other for other in before if other[0] != b"fact")  # libsndfile insists on its body
    data = wave(
        stored.tobytes(),
        channels=stored.shape[1],
        rate=rate,
        extensible=extensible,
        before=before,
        after=after,
    )
    sound = decode(data, "clip.wav")
    with soundfile.SoundFile(io.BytesIO(data)) as file:
        expected = file.read(dtype="float32", always_2d=True)
        known = file.samplerate, file.channels, file.frames, file.format, file.subtype
    assert (sound.rate, sound.channels, sound.frames, sound.container, sound.subtype) == known
    assert sound.samples.dtype == np.float32
    assert np.array_equal(sound.samples, expected)
    assert not sound.notices


@given(before=others, after=others)
def test_other_chunks_change_the_digest_of_bytes_and_not_of_samples(
    before: tuple[Chunk, ...], after: tuple[Chunk, ...]
) -> None:
    body = ramp(50).tobytes()
    plain = decode(wave(body), "a.wav")
    tagged = decode(wave(body, before=before, after=after), "b.wav")
    assert plain.samples_sha256 == tagged.samples_sha256
    assert (plain.bytes_sha256 == tagged.bytes_sha256) == (not before and not after)


@pytest.mark.parametrize("after", [(), ((b"LIST", b"INFOISFT\4\0\0\0abc\0"),)])
@pytest.mark.parametrize("extensible", [False, True])
@pytest.mark.parametrize(("bits", "tag"), [(16, 1), (24, 1), (8, 1), (32, 3)])
def test_a_file_cut_at_any_byte_is_refused_or_whole(
    bits: int, tag: int, extensible: bool, after: tuple[Chunk, ...]
) -> None:
    body = np.linspace(-0.5, 0.5, 13, dtype="<f4").tobytes() if tag == 3 else ramp(39).tobytes()[: 13 * bits // 8]
    data = wave(body, bits=bits, tag=tag, extensible=extensible, before=((b"LIST", b"odd"),), after=after)
    whole = decode(data, "whole.wav")
    end = data.index(body) + len(body)
    for length in range(len(data)):
        if length >= end:
            assert decode(data[:length], "cut.wav").samples_sha256 == whole.samples_sha256
        else:
            fault = fault_of(data[:length])
            assert fault.code in {"no-bytes", "not-audio", "truncated"}
            assert length < 12 or fault.code == "truncated"


def test_truncated_names_both_lengths() -> None:
    fault = fault_of(wave(ramp(16000).tobytes())[: 44 + 10001])
    assert fault.code == "truncated"
    assert fault.message == "truncated: 10001 of 32000 data bytes"


PLACEHOLDERS = [
    0,
    0xFFFFFFFF,
    0x7FFFFFFF,
    2_000_000_000,
    0x7FFFFFFF - 36,
    0xFFFFFFFF - 36,
    0x7FFFF000,
    0x80000000,
]


@pytest.mark.parametrize("riff_size", [None, 0, 0xFFFFFFFF])
@pytest.mark.parametrize("size", PLACEHOLDERS)
def test_a_placeholder_is_reported_and_the_real_length_counts(size: int, riff_size: int | None) -> None:
    body = ramp(16000).tobytes()
    sound = decode(wave(body, data_size=size, riff_size=riff_size), "streamed.wav")
    assert (sound.frames, sound.seconds) == (16000, 1.0)
    assert codes(sound) == ["placeholder-header"]
    assert str(size) in sound.notices[0].message
    assert sound.samples_sha256 == decode(wave(body), "plain.wav").samples_sha256


@pytest.mark.parametrize("size", PLACEHOLDERS)
def test_a_placeholder_is_mended_for_libsndfile_too(size: int) -> None:
    body = np.linspace(-1, 1, 101, dtype="<f4").tobytes()
    sound = decode(wave(body, bits=32, tag=3, data_size=size), "streamed.wav")
    assert sound.samples[:, 0].tobytes() == body
    assert codes(sound) == ["placeholder-header"]


def test_a_stream_that_ends_inside_a_frame_keeps_its_whole_frames() -> None:
    sound = decode(wave(ramp(10).tobytes(), data_size=0xFFFFFFFF) + b"\1", "streamed.wav")
    assert np.array_equal(sound.stored, ramp(10))
    assert "the 20 that follow" in sound.notices[0].message


@pytest.mark.parametrize("size", [1_000_000, 0x10000000, 0x90000000])
def test_a_declared_size_beyond_a_whole_file_is_a_lying_header(size: int) -> None:
    fault = fault_of(wave(ramp(16000).tobytes(), data_size=size))
    assert fault.code == "header-size-mismatch"
    assert f"declares {size} bytes, 32000 follow" in fault.message


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("size", [2, 1000, 31998])
def test_a_declared_size_short_of_the_samples_is_a_lying_header(size: int, both: bool) -> None:
    riff_size = 36 + size if both else None
    assert fault_of(wave(ramp(16000).tobytes(), data_size=size, riff_size=riff_size)).code == "header-size-mismatch"


def test_a_second_data_chunk_is_a_lying_header() -> None:
    data = wave(ramp(8).tobytes(), after=((b"data", ramp(8).tobytes()),))
    assert fault_of(data).code == "header-size-mismatch"


def test_half_a_frame_is_a_lying_header() -> None:
    assert fault_of(wave(ramp(8).tobytes() + b"\1", channels=1)).code == "header-size-mismatch"
    assert fault_of(wave(ramp(9).tobytes(), channels=2)).code == "header-size-mismatch"


@pytest.mark.parametrize("after", [(), ((b"LIST", b"INFO"),), ((b"LIST", b"odd"), (b"id3 ", b"1234"))])
def test_a_valid_file_without_samples_has_no_frames(after: tuple[Chunk, ...]) -> None:
    assert fault_of(wave(b"", after=after)).code == "no-frames"


def test_a_file_without_data_or_format_is_undecodable() -> None:
    inner = b"WAVE" + chunk(b"fmt ", struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16))
    assert fault_of(b"RIFF" + struct.pack("<I", len(inner)) + inner).code == "undecodable"
    inner = b"WAVE" + chunk(b"data", b"1234")
    assert fault_of(b"RIFF" + struct.pack("<I", len(inner)) + inner).code == "undecodable"


def test_extensible_24_bits_load_at_their_scale() -> None:
    sound = decode(wave((1 << 22).to_bytes(3, "little"), bits=24, extensible=True), "clip.wav")
    assert sound.samples.tolist() == [[0.5]]
    assert (sound.container, sound.subtype, sound.seconds) == ("WAVEX", "PCM_24", 1 / 16000)


def test_without_soundfile_16_bits_load_and_24_bits_ask_for_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "soundfile", None)
    assert np.array_equal(decode(wave(ramp(9).tobytes()), "a.wav").stored, ramp(9))
    assert np.array_equal(decode(wave(ramp(9).tobytes(), extensible=True), "a.wav").stored, ramp(9))
    deep = wave(b"\0\0\x40", bits=24, extensible=True)
    with pytest.raises(MissingExtra, match=r"decoding deep.wav needs pytest-speval\[audio\]"):
        decode(deep, "deep.wav")
    assert fault_of(deep[:-2]).code == "truncated"


def test_stored_samples_are_a_read_only_view() -> None:
    data = wave(ramp(9).tobytes())
    stored = decode(data, "a.wav").stored
    assert not stored.flags.writeable
    assert np.shares_memory(stored, np.frombuffer(data, np.uint8))


@pytest.mark.parametrize(
    ("at", "code", "value", "message"),
    [
        (28, "<I", 88_200, "16,000 Hz in frames of 4 bytes, and 88,200 bytes a second"),
        (24, "<I", 1_092_676, "1,092,676 Hz in frames of 4 bytes, and 64,000 bytes a second"),
        (32, "<H", 6, "2 channels of 2 bytes in frames of 6 bytes"),
    ],
)
def test_a_header_whose_numbers_contradict_each_other_is_reported_and_read(
    at: int, code: str, value: int, message: str
) -> None:
    data = bytearray(wave(ramp(12, 2).tobytes(), channels=2))
    struct.pack_into(code, data, at, value)
    sound = decode(bytes(data), "clip.wav")
    (notice,) = sound.notices
    assert (notice.code, notice.message) == ("contradictory-header", f"the header says {message}")
    assert sound.rate == (1_092_676 if at == 24 else 16_000)


@pytest.mark.parametrize(
    ("container", "subtype"),
    [
        (container, subtype)
        for container in ("WAV", "WAVEX", "RF64")
        for subtype in ("PCM_U8", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ULAW", "ALAW", "IMA_ADPCM", "GSM610")
        if soundfile.check_format(container, subtype)
    ],
)
def test_what_libsndfile_writes_contradicts_itself_nowhere(container: str, subtype: str) -> None:
    file = io.BytesIO()
    soundfile.write(file, ramp(4000).astype(np.float64) / 32768, 8000, format=container, subtype=subtype)
    assert codes(decode(file.getvalue(), "clip.wav")) == []
