"""What published corpora say in the names of their files: the speaker, the emotion, and at which rate they were made.

The rules are those of the corpora's own pages: EMO-DB (Burkhardt et al., 2005), RAVDESS (Livingstone and Russo, 2018),
CREMA-D (Cao et al., 2014), SAVEE (Haq and Jackson, 2010), TESS (Pichora-Fuller and Dupuis, 2020). A rule is recognised
by nearly all names of a manifest together, never by a few.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

FEWEST_NAMES = 20
NEARLY_ALL = 0.9
SAMPLE = 200
"""Names that are tried before all are read: most manifests follow no rule."""
_SPELLINGS = {
    "anger": "angry ang wut ärger",
    "boredom": "bored boring boredem langeweile",
    "calm": "calmness",
    "contempt": "contemptuous",
    "disgust": "disgusted dis ekel",
    "excitement": "excited exc",
    "fear": "fearful afraid scared anxiety anxious fea angst",
    "frustration": "frustrated fru",
    "happiness": "happy joy joyful hap freude",
    "neutral": "neutrality neu",
    "sadness": "sad trauer",
    "surprise": "surprised sur ps pleasant_surprise pleasant_surprised",
}
_EMOTIONS = {word: emotion for emotion, words in _SPELLINGS.items() for word in (emotion, *words.split())}
_WORD = re.compile(r"[^\W\d_]+")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NamingRule:
    """How one corpus names its files.

    `pattern` matches a whole path, with or without folders and suffix, whatever its case; its groups are `label` and
    `speaker`. `labels` leads from the code in lower case to the emotion. `rate` is the sampling rate in Hz at which the
    corpus is published.
    """

    corpus: str
    pattern: re.Pattern[str]
    labels: Mapping[str, str]
    rate: int


@dataclass(frozen=True, slots=True)
class Told:
    """What the names of a manifest tell under its rule, in order; None where a name is silent."""

    rule: NamingRule
    labels: list[str | None]
    speakers: list[str | None]


def _rule(corpus: str, pattern: str, labels: str, rate: int) -> NamingRule:
    codes = dict(pair.split("=") for pair in labels.split())
    return NamingRule(corpus, re.compile(rf"(?:.*?/)??{pattern}(?:\.[^/]*)?", re.IGNORECASE), codes, rate)


RULES = (
    _rule(
        "EMO-DB",
        r"(?P<speaker>03|08|09|1[0-6])[ab](?:0[1-57-9]|10)(?P<label>[WLEAFTN])[a-z]",
        "w=anger l=boredom e=disgust a=fear f=happiness t=sadness n=neutral",
        16_000,
    ),
    _rule(
        "RAVDESS",
        r"0[1-3]-0[12]-(?P<label>0[1-8])-0[12]-0[12]-0[12]-(?P<speaker>[012]\d)",
        "01=neutral 02=calm 03=happiness 04=sadness 05=anger 06=fear 07=disgust 08=surprise",
        48_000,
    ),
    _rule(
        "CREMA-D",
        r"(?P<speaker>1[01]\d\d)_[A-Z]{3}_(?P<label>ANG|DIS|FEA|HAP|NEU|SAD)_(?:LO|MD|HI|XX|X)",
        "ang=anger dis=disgust fea=fear hap=happiness neu=neutral sad=sadness",
        16_000,
    ),
    _rule(
        "TESS",
        r"(?P<speaker>[OY]A)F?_[a-z]+_(?P<label>angry|disgust|fear|happy|neutral|ps|sad)",
        "angry=anger disgust=disgust fear=fear happy=happiness neutral=neutral ps=surprise sad=sadness",
        24_414,
    ),
    _rule(
        "SAVEE",
        r"(?:(?P<speaker>DC|JE|JK|KL)[_/])?(?P<label>sa|su|[adfhn])\d\d",
        "a=anger d=disgust f=fear h=happiness n=neutral sa=sadness su=surprise",
        44_100,
    ),
)


def told_by(names: Sequence[str]) -> Told | None:
    """What file names (with or without folders and suffix) tell, or None if they follow no known rule.

    A rule is recognised by at least 20 names, if it fits nine of ten and at least half of its emotions occur.
    """
    for rule in RULES:
        matches = _nearly_all(names, rule.pattern.fullmatch)
        if matches is None:
            continue
        labels = [None if match is None else rule.labels[match["label"].lower()] for match in matches]
        if 2 * len(set(labels) - {None}) < len(rule.labels):
            continue
        speakers = [
            None if match is None or match["speaker"] is None else match["speaker"].upper() for match in matches
        ]
        return Told(rule, labels, speakers)
    return None


def emotion_of(cell: str, codes: Mapping[str, str]) -> str | None:
    """The emotion that a label means, by the words in use for it or by a corpus's own `codes`; None if unknown.

    Calm is not neutral, and excitement is not happiness.
    """
    word = re.sub(r"[\s-]+", "_", cell.strip().casefold())
    return codes.get(word) or _EMOTIONS.get(word)


def meaning(word: str) -> str:
    """A label in lower case, or the emotion that it means."""
    plain = word.strip().casefold()
    return _EMOTIONS.get(plain, plain)


def words_in(names: Sequence[str], labels: Collection[str]) -> list[str | None] | None:
    """The one label that stands as a word in each path, as its meaning: `angry/clip1.wav`, `x_happy_3.wav`.

    Words are runs of letters in folders and name. A path with several labels tells none. Words have at least three
    letters; shorter ones and numbers stand in paths for other things. None unless at least 20 names are there,
    nine of ten carry one, and at least half of the labels, and two, occur.
    """
    known = {meaning(label) for label in labels if label.isalpha()}

    def word_in(name: str) -> str | None:
        found = {meaning(word) for word in _WORD.findall(name) if len(word) > 2} & known
        return found.pop() if len(found) == 1 else None

    told = _nearly_all(names, word_in) if len(known) > 1 else None
    if told is None or len({word for word in told if word}) < max(2, len(known) / 2):
        return None
    return told


def _nearly_all(names: Sequence[str], read: Callable[[str], T | None]) -> list[T | None] | None:
    """What each name reads as, if nine of ten read as anything; a sample of names is tried first."""
    if len(names) < FEWEST_NAMES:
        return None
    for some in (names[:: -(-len(names) // SAMPLE)], names):
        found = [read(name) for name in some]
        if sum(one is not None for one in found) < NEARLY_ALL * len(some):
            return None
    return found
