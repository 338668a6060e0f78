"""Greedy CTC decoding: what paths spell, and that two ways which share nothing agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pytest_speval.scoring.ctc import Alphabet, best_path, spelt
from pytest_speval.scoring.greedy_recount import greedy_difference, heard_in

TOKENS = ("<pad>", "<s>", "</s>", "<unk>", "|", *"ETAONIHSRDLUMWCFGYPBVK'XJQZ")
ALPHABET = Alphabet(TOKENS, "<pad>")
LETTERS = {"_": "<pad>", "?": "<unk>", "^": "<s>", "$": "</s>"}
LOGITS = st.integers(0, 40).flatmap(
    lambda frames: arrays(np.float32, (frames, 6), elements=st.sampled_from([-1.5, 0.0, 0.25, 3.0]))
)
SMALL = Alphabet(("_", "|", "a", "b", "'", "<unk>"), "_")


def path_of(signs: str) -> np.ndarray:
    """A path from one sign per frame; `_` is the blank."""
    return np.array([TOKENS.index(LETTERS.get(sign, sign)) for sign in signs], np.int32)


def logits_of(path: np.ndarray, width: int = len(TOKENS)) -> np.ndarray:
    logits = np.zeros((len(path), width), np.float32)
    logits[np.arange(len(path)), path] = 1
    return logits


@pytest.mark.parametrize(
    ("signs", "text"),
    [
        ("HEL_LO", "HELLO"),
        ("HHEELL__LLOO", "HELLO"),
        ("HELLO", "HELO"),  # without a blank between them, equal neighbours are one letter
        ("_A_A_", "AA"),
        ("____", ""),
        ("", ""),
        ("|", ""),
        ("||A||B||", "A B"),
        ("A|_|B", "A  B"),
        ("IT'S|_AL_L", "IT'S ALL"),
        ("DON''T", "DON'T"),
        ("'_'A", "''A"),
        ("A??B_?", "A<unk>B<unk>"),
        ("^HI$", "<s>HI</s>"),
        ("E", "E"),
    ],
)
def test_what_a_path_spells(signs: str, text: str) -> None:
    path = path_of(signs)
    assert spelt(path, ALPHABET) == text
    assert heard_in(logits_of(path).tolist(), TOKENS, "<pad>", "|") == (path.tolist(), text)


def test_the_blank_and_the_delimiter_may_stand_anywhere() -> None:
    alphabet = Alphabet(("a", "b", "▁", "<blk>"), "<blk>", "▁")
    assert spelt(np.array([0, 3, 0, 2, 2, 1, 3], np.int32), alphabet) == "aa b"


def test_a_delimiter_that_is_no_token_divides_nothing() -> None:
    assert spelt(np.array([0, 2, 1], np.int32), Alphabet(("你", "好", "_"), "_")) == "你好"


def test_only_white_space_at_the_ends_goes() -> None:
    alphabet = Alphabet((" ", "a", "_"), "_", " ")
    assert spelt(np.array([0, 1, 0, 2, 0, 1, 0], np.int32), alphabet) == "a  a"


def test_the_first_of_equals_wins() -> None:
    logits = np.array([[0, 2, 2], [1, 1, 1], [-3, -3, -2]], np.float32)
    assert best_path(logits).tolist() == [1, 0, 2] == heard_in(logits.tolist(), "xyz", "x", "|")[0]
    assert best_path(logits).dtype == np.int32


def test_no_frames_have_an_empty_path() -> None:
    path = best_path(np.zeros((0, 3), np.float32))
    assert (path.shape, path.dtype.name, spelt(path, Alphabet(("a", "b", "_"), "_"))) == ((0,), "int32", "")


@given(LOGITS)
def test_both_ways_agree(logits: np.ndarray) -> None:
    path = best_path(logits)
    text = spelt(path, SMALL)
    assert heard_in(logits.tolist(), SMALL.tokens, "_", "|") == (path.tolist(), text)
    assert greedy_difference(text, {"logits": logits, "argmax": path}, SMALL.components()) is None


@given(st.lists(st.integers(0, 5), max_size=30), st.lists(st.integers(1, 4), max_size=30))
def test_how_long_a_token_lasts_changes_nothing(path: list[int], lengths: list[int]) -> None:
    drawn = [token for token, length in zip(path, lengths, strict=False) for _ in range(length)]
    once = path[: len(lengths)]
    assert spelt(np.array(drawn, np.int32), SMALL) == spelt(np.array(once, np.int32), SMALL)


@given(st.lists(st.integers(1, 5), max_size=30))
def test_between_blanks_every_token_is_kept(path: list[int]) -> None:
    spaced = np.array([number for token in path for number in (0, token)], np.int32)
    assert spelt(spaced, SMALL) == "".join(" " if token == 1 else SMALL.tokens[token] for token in path).strip()


# --- the alphabet


def test_an_alphabet_comes_back_from_its_components() -> None:
    alphabet = Alphabet(("_", "ß", '"', "<unk>", "▁"), "_", "▁")
    assert Alphabet.of(alphabet.components()) == alphabet
    assert alphabet.components()["vocabulary"] == '["_", "ß", "\\"", "<unk>", "▁"]'


@pytest.mark.parametrize(
    ("tokens", "blank", "told"),
    [(("a", "b", "a"), "b", "'a' stands twice"), (("a", "b"), "<pad>", "'<pad>' is not in the vocabulary")],
)
def test_an_alphabet_that_cannot_decode_is_refused(tokens: tuple[str, ...], blank: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Alphabet(tokens, blank)


@pytest.mark.parametrize("components", [{}, {"vocabulary": "[", "blank": "_", "delimiter": "|"}])
def test_components_without_an_alphabet_are_refused(components: Mapping[str, str]) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Alphabet.of(components)


# --- decoding again


def differing(text: str = "HELLO", **changed: Any) -> str | None:
    path = path_of("HEL_LO")
    kept = {"logits": logits_of(path), "argmax": path, "input": np.zeros(9, np.float32)} | changed
    return greedy_difference(
        text, {name: array for name, array in kept.items() if array is not None}, ALPHABET.components()
    )


def test_an_answer_that_its_logits_spell_does_not_differ() -> None:
    assert differing() is None


@pytest.mark.parametrize("text", ["HELO", "hello", "HELLO ", ""])
def test_another_text_differs(text: str) -> None:
    assert differing(text) == f"its text is {text!r}, its logits spell 'HELLO'"


def test_another_argmax_differs_even_where_it_spells_the_same() -> None:
    assert differing(argmax=path_of("HHL_LO")) == (
        f"its argmax is not that of its logits: {TOKENS.index('H')} where frame 1 has {TOKENS.index('E')}"
    )
    assert differing(argmax=path_of("HEL_LOO")) == "its argmax is not that of its logits: there are 6 frames of logits"
    assert differing(argmax=path_of("HEL_LO")[:, None]) is not None


def test_other_logits_differ() -> None:
    logits = logits_of(path_of("HEL_LO"))
    logits[0, 0] = 2
    assert differing(logits=logits) == f"its argmax is not that of its logits: {TOKENS.index('H')} where frame 0 has 0"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_logits_that_are_no_numbers_differ(value: float) -> None:
    logits = logits_of(path_of("HEL_LO"))
    logits[3, 7] = value
    assert differing(logits=logits) == "its logits are not all finite numbers"


def test_logits_of_another_shape_differ() -> None:
    logits = logits_of(path_of("HEL_LO"))
    assert differing(logits=logits[:, :31]) == "its logits are [6, 31], not one row of 32 per frame"
    assert differing(logits=logits[None]) == "its logits are [1, 6, 32], not one row of 32 per frame"


def test_without_arrays_or_components_nothing_can_be_decoded() -> None:
    assert differing(logits=None) == "without logits it cannot be decoded again"
    assert differing(argmax=None) == "without argmax it cannot be decoded again"
    kept = {"logits": logits_of(path_of("A")), "argmax": path_of("A")}
    assert greedy_difference("A", kept, {"blank": "_"}) == "without vocabulary, delimiter it cannot be decoded again"
