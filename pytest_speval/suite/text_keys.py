"""The keys of the section `text`: how words are told apart before they are counted."""

from __future__ import annotations

from typing import Literal

from pytest_speval.suite.base_keys import Keys

Case = Literal["keep", "upper", "lower"]
Origin = Literal["distributed", "human", "model"]


class Text(Keys):
    """Both sides of a comparison go through the same normaliser, and then take the same case.

    `empty: reference` allows references without a word. `reference` says where their text comes from: distributed with
    the corpus, corrected by people, or made by a model.
    """

    normalizer: Literal["none", "basic", "english"] = "none"
    case: Case = "keep"
    empty: Literal["error", "reference"] = "error"
    reference: Origin = "distributed"
