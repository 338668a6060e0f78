"""Fixtures that several test folders share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from tests.authority import authority  # noqa: F401

settings.register_profile("untimed", parent=settings(), deadline=None)
settings.load_profile("untimed")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data beside the checkout; tests on it carry the mark `realdata`."""
    if not (SHARED / "data").is_dir():
        pytest.skip("no ../shared/data beside the checkout: real data are not part of the project")
    return SHARED
