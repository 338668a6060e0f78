"""Kills at random points, for about a minute; `benchmarks/kills.py` has a thousand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kills import study


@pytest.mark.parametrize("seed", [11, 12])
def test_runs_that_are_killed_at_random_points_lose_and_repeat_nothing(tmp_path: Path, seed: int) -> None:
    found = study(tmp_path / "project", clips=24, seed=seed, kills=16)
    assert found.kills >= 16
    assert found.rounds >= 2
