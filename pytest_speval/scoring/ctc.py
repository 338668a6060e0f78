"""Greedy decoding of a CTC model (A. Graves et al., Connectionist Temporal Classification, 2006).

The best token of each frame, equal neighbours merged, then the blank dropped: in this order, for it is the blank
between two frames that keeps a doubled letter double.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Steps = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Alphabet:
    """What the outputs of a CTC model stand for: all tokens in their order, none twice.

    `blank` is the token for no new sign, and must be one of them. `delimiter` is the token between words.
    """

    tokens: tuple[str, ...]
    blank: str
    delimiter: str = "|"

    def __post_init__(self) -> None:
        if len(set(self.tokens)) < len(self.tokens):
            repeated = next(token for token in self.tokens if self.tokens.count(token) > 1)
            raise ValueError(f"the token {repeated!r} stands twice in the vocabulary")
        if self.blank not in self.tokens:
            raise ValueError(f"the blank {self.blank!r} is not in the vocabulary")

    def components(self) -> dict[str, str]:
        """The alphabet as texts for an adapter's identity, so that anybody can decode again."""
        vocabulary = json.dumps(self.tokens, ensure_ascii=False)
        return {"vocabulary": vocabulary, "blank": self.blank, "delimiter": self.delimiter}

    @classmethod
    def of(cls, components: Mapping[str, Any]) -> Alphabet:
        """Read what `components` wrote; raises ValueError where it holds no alphabet."""
        try:
            tokens = tuple(json.loads(components["vocabulary"]))
            return cls(tokens, components["blank"], components["delimiter"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"no vocabulary, blank and delimiter: {error}") from error


def best_path(logits: npt.NDArray[np.floating[Any]]) -> Steps:
    """The number of the highest of each frame's logits [T, V], the first where several are; shape [T]."""
    path: Steps = np.argmax(logits, axis=1).astype(np.int32)
    return path


def spelt(path: Steps, alphabet: Alphabet) -> str:
    """The text of a path [T]. Tokens such as `<unk>` stay as they are; only white space at the ends goes."""
    starts = np.ones(len(path), bool)
    starts[1:] = path[1:] != path[:-1]
    merged = path[starts]
    kept = merged[merged != alphabet.tokens.index(alphabet.blank)].tolist()
    tokens = (alphabet.tokens[number] for number in kept)
    return "".join(" " if token == alphabet.delimiter else token for token in tokens).strip()
