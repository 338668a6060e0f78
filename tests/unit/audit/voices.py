"""Made-up voices: syllables of harmonics under formants, with pauses; enough like speech for a fingerprint."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

RATE = 16000
Pcm = npt.NDArray[np.float32]


def talk(seed: int, seconds: float = 2.5) -> Pcm:
    """A voice that says `seed`: float32, full scale 1, at 16 kHz."""
    draw = np.random.default_rng(seed)
    parts, length = [], 0
    while length < seconds * RATE:
        size = int(draw.uniform(0.08, 0.25) * RATE)
        time = np.arange(size) / RATE
        pitch = draw.uniform(90, 240) * (1 + draw.uniform(-0.2, 0.2) * time / time[-1])
        phase = 2 * np.pi * np.cumsum(pitch) / RATE
        formants = draw.uniform((250, 900, 2000), (900, 2300, 3400))
        numbers = np.arange(1, 30)[:, None]
        heights = sum(np.exp(-(((numbers * pitch.mean() - each) / 150) ** 2)) for each in formants) + 0.01
        syllable = (heights * np.sin(numbers * phase)).sum(axis=0) * np.hanning(size)
        gap = np.zeros(int(draw.uniform(0, 0.06) * RATE))
        parts += [syllable * draw.uniform(0.3, 1), gap]
        length += size + len(gap)
    pcm = np.concatenate(parts)[: int(seconds * RATE)]
    pcm += draw.standard_normal(len(pcm)) * 1e-3
    return np.asarray(0.5 * pcm / np.abs(pcm).max(), np.float32)
