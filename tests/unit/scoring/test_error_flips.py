"""How many clips would have to become right, or be lost, to turn a verdict on an error rate."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.scoring.flips import error_flips

CLIPS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), max_size=6)


def fewest(clips: list[tuple[int, int]], limit: float) -> int | None:
    """The truth, by trying every choice of clips."""
    whole = sum(units for _, units in clips)
    before = sum(errors for errors, _ in clips) / whole <= limit
    for count in range(1, len(clips) + 1):
        for chosen in combinations(range(len(clips)), count):
            for lost in (False, True):
                errors = [
                    (max(errors, units) if lost else 0) if place in chosen else errors
                    for place, (errors, units) in enumerate(clips)
                ]
                if (sum(errors) / whole <= limit) != before:
                    return count
    return None


@given(CLIPS, st.floats(0, 2))
def test_no_fewer_clips_turn_the_verdict(clips: list[tuple[int, int]], limit: float) -> None:
    table = np.array(clips, dtype=np.int64).reshape(-1, 2)
    found = error_flips(table[:, 0], table[:, 1], lambda rate: rate <= limit)
    assert found == (fewest(clips, limit) if table[:, 1].sum() else None)
