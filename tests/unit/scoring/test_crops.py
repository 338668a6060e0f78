"""Crops of a scorer: where a seed puts them, and which samples they select."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.scoring.crops import Crop, Draw, replayed, selected, slice_of, tiles_of

MAIN, MIXING = Draw(22_400), Draw(22_400, 0.4)
DRAWS = [Draw(48_000), *[MAIN, MIXING, MIXING, MIXING, MIXING] * 2]
"""One crop of 3 s, then twice one of 1.4 s and four that are mixed in."""
GOLDEN = {
    80_000: [24046, 10041, 11053, 47694, 42347, 49179, 33934, 40030, 5630, 2358, 23364],
    33_040: [10041, 8830, 6069, 9579, 27, 1166, 5226, 5630, 2358, 6980, 1463],
    48_000: [10041, 11053, 25214, 20114, 7167, 2706, 4935, 14983, 5226, 6421, 15836],
    449_440: [141113, 76589, 28654, 249490, 328272, 129790, 192871, 15194, 341190, 150666, 177518],
}
CROPS = st.builds(
    lambda start, length, more: Crop(start, length, -(-(start + length) // 7) + more),
    st.integers(0, 40),
    st.integers(1, 30),
    st.integers(0, 3),
)


@pytest.mark.parametrize("samples", GOLDEN)
def test_starts_are_those_of_the_seed(samples: int) -> None:
    assert [crop.start for crop in replayed(samples, DRAWS, 20261012)] == GOLDEN[samples]


@pytest.mark.parametrize(("samples", "share"), [(80_000, 0.8711), (33_040, 1.0), (449_440, 0.4482)])
def test_the_union_is_the_known_one(samples: int, share: float) -> None:
    assert selected(samples, replayed(samples, DRAWS, 20261012)) / samples == pytest.approx(share, abs=5e-5)


def test_the_numbers_between_crops_belong_to_the_replay() -> None:
    without = [Draw(draw.length) for draw in DRAWS]
    starts = [crop.start for crop in replayed(80_000, without, 20261012)]
    assert starts[:3] == GOLDEN[80_000][:3]
    assert starts[3:] != GOLDEN[80_000][3:]


def test_a_replay_leaves_the_generator_of_the_process_alone() -> None:
    np.random.seed(5)
    before = np.random.get_state()
    replayed(80_000, DRAWS, 1)
    after = np.random.get_state()
    assert all(np.array_equal(one, other) for one, other in zip(before, after, strict=True))


@pytest.mark.parametrize(("samples", "tiles"), [(48_001, 1), (48_000, 2), (33_040, 2), (24_000, 3), (1, 48_001)])
def test_a_clip_is_repeated_until_it_is_longer_than_the_crop(samples: int, tiles: int) -> None:
    assert tiles_of(samples, 48_000) == tiles


@given(st.lists(CROPS, max_size=8))
def test_selected_samples_are_counted_once(crops: list[Crop]) -> None:
    held = {place % 7 for crop in crops for place in range(crop.start, crop.start + crop.length)}
    assert selected(7, crops) == len(held)


@given(CROPS)
def test_a_slice_is_that_of_the_repeated_clip(crop: Crop) -> None:
    pcm = np.arange(7, dtype=np.float32)
    whole = np.tile(pcm, crop.tiles)
    assert np.array_equal(slice_of(pcm, crop), whole[crop.start : crop.start + crop.length])


@pytest.mark.parametrize("crop", [Crop(5, 3), Crop(-1, 2), Crop(0, 15, 2)])
def test_a_crop_that_lies_elsewhere_is_refused(crop: Crop) -> None:
    with pytest.raises(ValueError, match="does not lie in 7 samples"):
        slice_of(np.zeros(7, dtype=np.float32), crop)


@given(st.integers(1, 200), st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_every_replayed_crop_lies_in_its_clip(samples: int, length: int, seed: int) -> None:
    (crop,) = replayed(samples, [Draw(length)], seed)
    assert len(slice_of(np.zeros(samples, dtype=np.float32), crop)) == length
    assert crop.start + crop.length < samples * crop.tiles, "the last sample is never reached"
