"""Speech evaluations as pytest suites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_speval.adapters.base import EmotionRead, Identity, Rating, Response, Transcript, Usage, Vad

__all__ = ["EmotionRead", "Identity", "Rating", "Response", "Transcript", "Usage", "Vad"]


def __getattr__(name: str) -> Any:
    """Load a public name when it is asked for: importing the package stays cheap."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pytest_speval.adapters import base

    return getattr(base, name)
