"""Speech for the near-duplicate benchmark: clips, copies of them, second takes, other speech.

Read speech and acted speech from `../shared/data` beside the checkout, and synthetic voices for volume (flite and
espeak-ng, where installed). Every clip is one-dimensional float32 at 16 kHz.
"""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import soundfile
import soxr

Pcm = npt.NDArray[np.float32]
RATE = 16000
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """A clip with who says what; `take` tells apart what one voice said twice."""

    voice: str
    words: str
    take: str
    pcm: Pcm


def read(source: Path | io.BytesIO) -> Pcm:
    pcm, rate = soundfile.read(source, dtype="float32")
    return resampled(pcm if pcm.ndim == 1 else pcm.mean(axis=1, dtype=np.float32), rate, RATE)


def resampled(pcm: Pcm, rate: float, target: float) -> Pcm:
    return pcm if rate == target else np.asarray(soxr.resample(pcm, rate, target), np.float32)


def read_speech() -> Iterator[Clip]:
    with (DATA / "read-speech" / "manifest.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield Clip(row["speaker"], row["transcript"], "0", read(DATA / "read-speech" / row["path"]))


def acted_speech() -> Iterator[Clip]:
    """EMO-DB: speaker, sentence, emotion and take stand in the file's name."""
    for path in sorted((DATA / "emodb-copy" / "audio").rglob("*.wav")):
        yield Clip(path.stem[:2], path.stem[2:5], path.stem[5:], np.trim_zeros(read(path), "b"))


def spoken_digits(draw: np.random.Generator, sentences: int, takes: int) -> Iterator[Clip]:
    """Strings of five digits, `takes` times each, from recordings that no two takes of a string share."""
    digits: dict[tuple[str, str], list[Pcm]] = {}
    for path in sorted((DATA / "fsdd-test" / "audio").rglob("*.wav")):
        digit, speaker, _ = path.stem.split("_")
        digits.setdefault((speaker, digit), []).append(read(path))
    for speaker in sorted({speaker for speaker, _ in digits}):
        for _ in range(sentences):
            words = "".join(map(str, draw.permutation(10)[:5]))
            orders = [draw.permutation(len(digits[speaker, digit])) for digit in words]
            for take in range(takes):
                parts = [digits[speaker, digit][order[take]] for digit, order in zip(words, orders, strict=True)]
                gaps = [np.zeros(int(draw.uniform(0.02, 0.12) * RATE), np.float32) for _ in parts]
                pcm = np.concatenate([piece for pair in zip(parts, gaps, strict=True) for piece in pair])
                yield Clip(f"fsdd {speaker}", words, str(take), pcm)


FLITE = ("slt", "rms", "awb", "kal16")
ESPEAK = ("en-us", "en-gb", "en-us+f3", "en-us+m4")


def synthetic_speech(sentences: list[str], takes: int) -> Iterator[Clip]:
    """Each sentence by each voice; each take has a rate, and with espeak-ng a pitch, of its own."""
    for words in sentences:
        for voice in FLITE if shutil.which("flite") else ():
            for take in range(takes):
                stretch = 1 + 0.06 * take
                yield Clip(voice, words, str(take), _said("flite", "-voice", voice, "--setf",
                    f"duration_stretch={stretch}", "-t", words, "-o", "/dev/stdout"))  # fmt: skip
        for voice in ESPEAK if shutil.which("espeak-ng") else ():
            for take in range(takes):
                yield Clip(voice, words, str(take), _said("espeak-ng", "-v", voice, "-s", str(165 + 9 * take),
                    "-p", str(50 + 3 * take), "--stdout", words))  # fmt: skip


def _said(*command: str) -> Pcm:
    data = subprocess.run(command, check=True, capture_output=True).stdout
    start = data.index(b"data") + 8  # the header cannot know the length of a stream
    rate = int.from_bytes(data[24:28], "little")
    pcm = np.frombuffer(data[start : start + (len(data) - start) // 2 * 2], "<i2").astype(np.float32)
    return resampled(pcm / np.float32(32768), rate, RATE)


def gain(pcm: Pcm, decibels: float) -> Pcm:
    return np.asarray(np.clip(pcm * np.float32(10 ** (decibels / 20)), -1, 1))


def coded(pcm: Pcm, container: str, subtype: str, rate: int = RATE, **how: Any) -> Pcm:
    """The clip after an encoder and its decoder."""
    buffer = io.BytesIO()
    soundfile.write(buffer, resampled(pcm, RATE, rate), rate, format=container, subtype=subtype, **how)
    buffer.seek(0)
    return read(buffer)


def rate_changed(pcm: Pcm, rate: int) -> Pcm:
    return resampled(resampled(pcm, RATE, rate), rate, RATE)


def noisy(pcm: Pcm, decibels: float) -> Pcm:
    noise = np.random.default_rng(len(pcm)).standard_normal(len(pcm)).astype(np.float32)
    noise *= np.sqrt(np.mean(pcm**2) / np.mean(noise**2)) * np.float32(10 ** (-decibels / 20))
    return np.asarray(np.clip(pcm + noise, -1, 1))


def middle(pcm: Pcm, share: float) -> Pcm:
    edge = int(len(pcm) * (1 - share) / 2)
    return pcm[edge : len(pcm) - edge]


def delayed(pcm: Pcm) -> Pcm:
    return np.concatenate([np.zeros(int(0.37 * RATE), np.float32), pcm])


def telephone(pcm: Pcm) -> Pcm:
    spectrum = np.fft.rfft(pcm)
    hertz = np.fft.rfftfreq(len(pcm), 1 / RATE)
    spectrum *= 1 / np.sqrt(1 + (300 / np.maximum(hertz, 1)) ** 4) / np.sqrt(1 + (hertz / 3400) ** 8)
    return np.asarray(np.fft.irfft(spectrum, len(pcm)), np.float32)


def reverberant(pcm: Pcm) -> Pcm:
    draw = np.random.default_rng(1)
    tail = draw.standard_normal(int(0.4 * RATE)) * np.exp(-np.arange(int(0.4 * RATE)) * 6.9 / (0.4 * RATE))
    size = len(pcm) + len(tail)
    wet = np.fft.irfft(np.fft.rfft(pcm, size) * np.fft.rfft(tail, size), size)[: len(pcm)]
    return np.asarray(pcm + 0.7 * wet * np.sqrt(np.mean(pcm**2) / np.mean(wet**2)), np.float32)


Change = Callable[[Pcm], Pcm]
EXACT: dict[str, Change] = {
    "same bytes": np.copy,
    "FLAC, 16 bits": partial(coded, container="FLAC", subtype="PCM_16"),
    "WAVE, 24 bits": partial(coded, container="WAV", subtype="PCM_24"),
}
CHANGED: dict[str, Change] = {
    "gain -12 dB": partial(gain, decibels=-12),
    "gain +12 dB, clipped": partial(gain, decibels=12),
    "MP3": partial(coded, container="MP3", subtype="MPEG_LAYER_III"),
    "MP3, lowest quality": partial(coded, container="MP3", subtype="MPEG_LAYER_III", compression_level=0.99),
    "Opus": partial(coded, container="OGG", subtype="OPUS"),
    "Opus, lowest quality": partial(coded, container="OGG", subtype="OPUS", compression_level=0.99),
    "Vorbis": partial(coded, container="OGG", subtype="VORBIS"),
    "GSM 06.10, 8 kHz": partial(coded, container="WAV", subtype="GSM610", rate=8000),
    "mu-law, 8 kHz": partial(coded, container="WAV", subtype="ULAW", rate=8000),
    "A-law": partial(coded, container="WAV", subtype="ALAW"),
    "resampled 8 kHz": partial(rate_changed, rate=8000),
    "resampled 22.05 kHz": partial(rate_changed, rate=22050),
    "resampled 44.1 kHz": partial(rate_changed, rate=44100),
    "first 0.5 s cut": lambda pcm: pcm[RATE // 2 :],
    "0.37 s of silence before": delayed,
    "middle 60 %": partial(middle, share=0.6),
    "noise 20 dB": partial(noisy, decibels=20),
}
BEYOND: dict[str, Change] = {
    "noise 10 dB": partial(noisy, decibels=10),
    "telephone band": telephone,
    "reverberation 0.4 s": reverberant,
    "speed +0.5 %": lambda pcm: resampled(pcm, RATE, RATE / 1.005),
    "speed +3 %": lambda pcm: resampled(pcm, RATE, RATE / 1.03),
}
