"""Crops that a scorer takes of a clip: which samples they select, and where a seed puts them.

A scorer that wants more samples than a clip has repeats the clip first. As UTMOSv2 does it, a clip longer than the crop
stays as it is, and any other is repeated floor(crop / clip) + 1 times and not trimmed; the start is then drawn from
[0, samples - crop) by NumPy's legacy generator, so that the last start is never drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Crop:
    """`length` samples from `start` of a clip that was repeated `tiles` times."""

    start: int
    length: int
    tiles: int = 1


@dataclass(frozen=True, slots=True)
class Draw:
    """One crop of `length` samples, and the parameter of the beta(b, b) number that is drawn after it, if one is."""

    length: int
    beta: float | None = None


def tiles_of(samples: int, length: int) -> int:
    """How often a clip of `samples` is repeated for a crop of `length`."""
    return 1 if samples > length else length // samples + 1


def replayed(samples: int, draws: Sequence[Draw], seed: int) -> list[Crop]:
    """Where the crops of a clip lie when the generator is set to `seed` before the first; nothing else is touched."""
    generator = np.random.RandomState(seed)
    crops = []
    for draw in draws:
        tiles = tiles_of(samples, draw.length)
        crops.append(Crop(int(generator.randint(0, samples * tiles - draw.length)), draw.length, tiles))
        if draw.beta is not None:
            generator.beta(draw.beta, draw.beta)
    return crops


def slice_of(pcm: Samples, crop: Crop) -> Samples:
    """The samples [length] that a crop has of a clip [N]; positions past the clip's end wrap around."""
    if crop.start < 0 or crop.start + crop.length > len(pcm) * crop.tiles:
        raise ValueError(f"{crop} does not lie in {len(pcm)} samples")
    return pcm[np.arange(crop.start, crop.start + crop.length) % len(pcm)]


def selected(samples: int, crops: Iterable[Crop]) -> int:
    """How many of a clip's samples at least one crop holds."""
    spans = sorted(span for crop in crops for span in _spans(samples, crop))
    count = reached = 0
    for start, end in spans:
        count += max(0, end - max(start, reached))
        reached = max(reached, end)
    return count


def _spans(samples: int, crop: Crop) -> list[tuple[int, int]]:
    """A crop as half-open spans of the clip itself."""
    if crop.length >= samples:
        return [(0, samples)]
    start = crop.start % samples
    end = start + crop.length
    return [(start, end)] if end <= samples else [(start, samples), (0, end - samples)]
