"""A part of the eligible clips, the same on every machine, and whether it could have been filled.

Clips are taken one by one in ascending order of the SHA-256 of their sound file, then of split and id. A clip is taken
if the caps still allow it and is never given back. So the order of rows, the time and a model's answers have no say.
Such a selection can miss a full one that exists: `feasible` tells, and changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

SAME_BYTES = "select: same bytes as"
NO_SPEAKER = "select: no speaker"
NO_CLASS = "select: no class"


@dataclass(frozen=True, slots=True)
class Caps:
    """At most so many clips per class and per speaker, and at least so many speakers; None is no rule.

    Each class must have `per_class` clips, no less.
    """

    per_class: int | None = None
    per_speaker: int | None = None
    speakers: int | None = None


@dataclass(frozen=True)
class Pool:
    """The eligible clips as equally long columns, and the classes that must be filled.

    `digests` are the SHA-256 of the sound files in hex, all in one case. `identities` are (split, id), each once.
    `labels` are the classes, each of which must be filled where there is a cap on classes. A speaker may be None: not
    known. So may a class; one that is not among `labels` is no class.
    """

    digests: Sequence[str]
    identities: Sequence[tuple[str, str]]
    classes: Sequence[str | None]
    speakers: Sequence[Hashable | None]
    labels: Sequence[str]
    split_given: bool = True

    def name(self, place: int) -> str:
        """`split/id`, or the id alone where the manifest has no split."""
        split, clip = self.identities[place]
        return f"{split}/{clip}" if self.split_given else clip

    @cached_property
    def order(self) -> list[int]:
        """The places of the clips in the order in which they are looked at."""
        return sorted(range(len(self.digests)), key=lambda place: (self.digests[place], *self.identities[place]))

    @cached_property
    def copies(self) -> dict[int, int]:
        """Place of a clip -> place of the first in order that has the same bytes, for all but that first."""
        first: dict[str, int] = {}
        return {place: kept for place in self.order if (kept := first.setdefault(self.digests[place], place)) != place}


@dataclass(frozen=True, slots=True)
class Selection:
    """Places of the chosen clips, the reason of every other one, and what is short: nothing, or nothing may run."""

    chosen: frozenset[int]
    reasons: Mapping[int, str]
    blocked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Feasibility:
    """Whether any full selection exists at all, None where that was not checked, and a sentence that says so."""

    exists: bool | None
    reason: str


def select(pool: Pool, caps: Caps) -> Selection:
    """Take clips in order as long as the caps allow it.

    Of clips with the same bytes only the first in order can be taken. Under a cap on speakers a clip without a speaker
    cannot be taken, under one on classes one without a class.
    """
    copies = pool.copies
    by_class: Counter[str | None] = Counter()
    by_speaker: Counter[Hashable] = Counter()
    chosen: set[int] = set()
    reasons: dict[int, str] = {}
    for place in pool.order:
        label, speaker = pool.classes[place], pool.speakers[place]
        if place in copies:
            reasons[place] = f"{SAME_BYTES} {pool.name(copies[place])}"
        elif lack := _lack(pool, caps, place):
            reasons[place] = lack
        elif caps.per_class is not None and by_class[label] >= caps.per_class:
            reasons[place] = f"select: class cap of {caps.per_class}"
        elif caps.per_speaker is not None and by_speaker[speaker] >= caps.per_speaker:
            reasons[place] = f"select: speaker cap of {caps.per_speaker}"
        else:
            chosen.add(place)
            by_class[label] += 1
            by_speaker[speaker] += 1
    blocked = (*_short_classes(pool, caps, by_class, reasons), *_short_speakers(pool, caps, chosen, copies))
    return Selection(frozenset(chosen), reasons, blocked)


def feasible(pool: Pool, caps: Caps) -> Feasibility:
    """Say whether some selection fills every class within the speaker cap, with at least `caps.speakers` speakers.

    By two maximum flows from speakers to classes. The first has the caps as given and must reach `per_class` for every
    class. The second lets each speaker give one clip: its value is the greatest number of distinct speakers, and a full
    selection with all of them exists where the first flow is full, for augmenting a flow takes no source from it.
    Copies are set aside as in `select`. Needs scipy.
    """
    copies = pool.copies
    places = [place for place in range(len(pool.digests)) if place not in copies and not _lack(pool, caps, place)]
    if caps.per_class is None:
        return _enough(len({pool.speakers[place] for place in places} - {None}), caps)
    supply = Counter((pool.speakers[place], str(pool.classes[place])) for place in places)
    known = Counter({key: count for key, count in supply.items() if key[0] is not None})
    needed = caps.per_class * len(pool.labels)
    try:
        filled = _flow(supply, pool.labels, caps.per_speaker or len(places), caps.per_class)
        speakers = _flow(known, pool.labels, 1, caps.per_class)
    except ImportError:
        return Feasibility(None, "not checked: needs pytest-speval[statistics]")
    if filled < needed:
        return Feasibility(False, f"no selection exists: at most {filled:,} of {needed:,} clips")
    return _enough(speakers, caps)


def _enough(speakers: int, caps: Caps) -> Feasibility:
    if caps.speakers is not None and speakers < caps.speakers:
        return Feasibility(False, f"no selection exists: at most {speakers:,} of {caps.speakers:,} speakers")
    return Feasibility(True, f"a selection exists, of up to {speakers:,} speakers")


def _lack(pool: Pool, caps: Caps, place: int) -> str | None:
    """What a clip does not have and the caps ask about."""
    if caps.per_class is not None and pool.classes[place] not in pool.labels:
        return NO_CLASS
    return NO_SPEAKER if caps.per_speaker is not None and pool.speakers[place] is None else None


def _short_classes(
    pool: Pool, caps: Caps, taken: Mapping[str | None, int], reasons: Mapping[int, str]
) -> Iterator[str]:
    """The classes that are not filled, and what kept their other clips out: never the cap on classes."""
    if caps.per_class is None:
        return
    eligible = Counter(pool.classes)
    refused = Counter(
        (pool.classes[place], SAME_BYTES if reason.startswith(SAME_BYTES) else reason)
        for place, reason in reasons.items()
    )
    told = (
        (f"select: speaker cap of {caps.per_speaker}", f"blocked by the speaker cap of {caps.per_speaker}"),
        (NO_SPEAKER, "without a speaker"),
        (SAME_BYTES, "with the bytes of another clip"),
    )
    for label in pool.labels:
        short = caps.per_class - taken.get(label, 0)
        if short > 0:
            why = "".join(f", {count:,} {what}" for kind, what in told if (count := refused[label, kind]))
            found = f"{taken.get(label, 0):,} of {caps.per_class:,}, {short:,} short"
            yield f"{label}: {found}; {eligible[label]:,} eligible{why}"


def _short_speakers(pool: Pool, caps: Caps, chosen: Collection[int], copies: Mapping[int, int]) -> Iterator[str]:
    """The speakers that are too few, and how many the cap on classes kept out whole."""
    if caps.speakers is None:
        return
    taken = {pool.speakers[place] for place in chosen} - {None}
    places = set(range(len(pool.digests))) - copies.keys()
    there = {pool.speakers[place] for place in places if not _lack(pool, caps, place)} - {None}
    short = caps.speakers - len(taken)
    if short > 0:
        kept_out = len(there) - len(taken)
        why = f", the class cap of {caps.per_class} blocked every clip of {kept_out:,}" if kept_out else ""
        found = f"{len(taken):,} of {caps.speakers:,}, {short:,} short"
        yield f"speakers: {found}; {len(there):,} have eligible clips{why}"


def _flow(supply: Mapping[tuple[Hashable, str], int], labels: Sequence[str], per_speaker: int, per_class: int) -> int:
    """The most clips that can be taken: source -> speaker -> class -> sink, each speaker and class up to its cap."""
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    speakers = {speaker: 1 + place for place, speaker in enumerate({speaker for speaker, _ in supply})}
    classes = {label: 1 + len(speakers) + place for place, label in enumerate(labels)}
    sink = 1 + len(speakers) + len(classes)
    most = sum(supply.values())  # beyond it a cap is none, and might not fit into 32 bits
    edges = [(0, node, min(per_speaker, most)) for node in speakers.values()]
    edges += [(speakers[speaker], classes[label], count) for (speaker, label), count in supply.items()]
    edges += [(node, sink, min(per_class, most)) for node in classes.values()]
    tails, heads, widths = np.array(edges, dtype=np.int32).T
    graph = csr_array((widths, (tails, heads)), shape=(sink + 1, sink + 1))
    return int(maximum_flow(graph, 0, sink).flow_value)
