"""The keys of the section `text`: how words are told apart before they are counted."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated, Literal

from pydantic import AfterValidator

from pytest_speval.suite.base_keys import Keys

Case = Literal["keep", "upper", "lower"]
Origin = Literal["distributed", "human", "model"]
OURS = ("none", "basic", "english")
registered: set[str] = set()
"""Names of the normalisers that users offer in this session; the roof keeps it."""


def _known(name: str) -> str:
    names = [*OURS, *sorted(registered)]
    if name in names:
        return name
    near = get_close_matches(name, names, n=1)
    hint = f", did you mean `{near[0]}`?" if near else "; the hook pytest_speval_normalizers offers others"
    raise ValueError(f"expected {', '.join(f'`{each}`' for each in names)}, got the text `{name}`{hint}")


class Text(Keys):
    """Both sides of a comparison go through the same normaliser, and then take the same case.

    `empty: reference` allows references without a word. `reference` says where their text comes from: distributed with
    the corpus, corrected by people, or made by a model.
    """

    normalizer: Annotated[str, AfterValidator(_known)] = "none"
    case: Case = "keep"
    empty: Literal["error", "reference"] = "error"
    reference: Origin = "distributed"
