"""Text on its way to words: normalisers, each with a version and a digest of its rules.

Words are what white space of any kind separates. Under `none` that and the case are all that is done to a text.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pytest_speval.errors import MissingExtra
from pytest_speval.suite.text_check import AGREEMENT
from pytest_speval.suite.text_keys import Case, Origin, Text

APOSTROPHES = "\u2019\u02bc\uff07"
"""Characters that are typed for the apostrophe '."""
BLANKED = "PS"
"""Unicode categories that give way to a space: punctuation and symbols. Marks belong to their letters and stay."""
CASES: Mapping[Case, Callable[[str], str]] = {"keep": str, "upper": str.upper, "lower": str.lower}


@dataclass(frozen=True, slots=True)
class Normalizer:
    """One way to rewrite a text; two of one digest rewrite alike."""

    name: str
    version: str
    sha256: str
    rewrite: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class TextRules:
    """How texts become words, and where references come from."""

    normalizer: Normalizer
    case: Case = "keep"
    reference: Origin = "distributed"

    def words(self, text: str) -> list[str]:
        """The words that count."""
        return CASES[self.case](self.normalizer.rewrite(text)).split()

    def metric(self, name: str) -> str:
        """What a metric is called against references of this origin."""
        return f"{AGREEMENT}{name}" if self.reference == "model" else name


registered: dict[str, Normalizer] = {}
"""Normalisers that users offer in this session, by name; see `own_normalizers`."""


def text_rules(keys: Text) -> TextRules:
    """The rules of a section `text`; raises `MissingExtra` for a normaliser that is not installed."""
    own = registered.get(keys.normalizer)
    return TextRules(own or NORMALIZERS[keys.normalizer](), keys.case, keys.reference)


def text_record(keys: Text) -> dict[str, Any]:
    """The section as it stands in a plan, with the version and digest of its normaliser."""
    normalizer = text_rules(keys).normalizer
    return keys.model_dump(mode="json") | {"version": normalizer.version, "sha256": normalizer.sha256}


def recorded_rules(record: Mapping[str, Any]) -> TextRules:
    """The rules that stand in a plan; raises `ValueError` where its normaliser is not the one that is here."""
    said = {name: record[name] for name in Text.model_fields}
    name = said["normalizer"]
    if name not in NORMALIZERS and name not in registered:
        found = f"the plan counts words by the normalizer {name} {record['version']}, which nothing here offers"
        raise ValueError(f"{found}: offer it through the hook pytest_speval_normalizers")
    rules = text_rules(Text.model_validate(said))
    if rules.normalizer.sha256 != record["sha256"]:
        found = f"the plan counts words by {record['normalizer']} {record['version']}"
        raise ValueError(
            f"{found}, and here is {rules.normalizer.version} with other rules: use the version of the plan"
        )
    return rules


class _Blanks(dict[int, str]):
    """A table for `str.translate` that learns one character after the other."""

    def __missing__(self, point: int) -> str:
        found = " " if unicodedata.category(chr(point))[0] in BLANKED and point != ord("'") else chr(point)
        self[point] = found
        return found


_BLANKS = _Blanks()
_STRAIGHT = dict.fromkeys(map(ord, APOSTROPHES), "'")


def _composed(text: str) -> str:
    """Composed characters (NFC), and one character for the apostrophe."""
    return unicodedata.normalize("NFC", text).translate(_STRAIGHT)


def _basic(text: str) -> str:
    """Composed, without punctuation and symbols; an apostrophe stays within a word."""
    return " ".join(word.strip("'") for word in _composed(text).translate(_BLANKS).split())


@cache
def none_normalizer() -> Normalizer:
    """Leaves a text as it is."""
    return Normalizer("none", "1", _digest("none"), str)


@cache
def basic_normalizer() -> Normalizer:
    """For every script: NFC, one apostrophe, no punctuation, no symbols; marks and case stay."""
    return Normalizer("basic", "1", _digest("basic", "NFC", APOSTROPHES, BLANKED, "apostrophes within words"), _basic)


@cache
def english_normalizer() -> Normalizer:
    """For English: NFC and one apostrophe, then the rules of Whisper, which know numbers, spellings, contractions.

    Raises `MissingExtra` without the package whisper-normalizer.
    """
    try:
        from whisper_normalizer import basic, english
    except ImportError:
        raise MissingExtra("english", "text.normalizer english") from None
    package = Path(english.__file__).parent
    files = [Path(basic.__file__), Path(english.__file__), package / "normalizers/english.json"]
    rewrite = english.EnglishTextNormalizer()
    return Normalizer(
        "english",
        f"1, whisper-normalizer {version('whisper-normalizer')}",
        _digest("english", "NFC", APOSTROPHES, *(hashlib.sha256(file.read_bytes()).hexdigest() for file in files)),
        lambda text: str(rewrite(_composed(text))),
    )


def _digest(*rules: str) -> str:
    return hashlib.sha256(json.dumps(rules).encode()).hexdigest()


NORMALIZERS: Mapping[str, Callable[[], Normalizer]] = MappingProxyType(
    {"none": none_normalizer, "basic": basic_normalizer, "english": english_normalizer}
)
"""The normalisers a suite may name."""
