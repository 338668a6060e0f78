"""The hooks that users and other plugins may implement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def pytest_speval_adapters() -> Mapping[str, Callable[..., Any]]:  # type: ignore[empty-body]
    """Offer adapters by name: `{"mine": Mine}`; results of all hooks are merged, a repeated name is an error."""


def pytest_speval_normalizers() -> Mapping[str, Callable[[str], str]]:  # type: ignore[empty-body]
    """Offer normalisers for `text.normalizer` by name: `{"mine": rewrite}`, text to text.

    Results of all hooks are merged, a repeated name is an error. Name, version (the attribute `version`, a text) and a
    digest of the defining file enter the plan.
    """
