"""A selection is greedy by hash and by nothing else; whether a full one exists is a question of its own."""

from __future__ import annotations

import hashlib
import itertools
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus.selection import Caps, Feasibility, Pool, Selection, feasible, select

LABELS = ("anger", "fear")
SIX = ("anger", "disgust", "fear", "happiness", "neutral", "sadness")
PROTOCOL = Caps(per_class=100, per_speaker=15, speakers=40)
Clip = tuple[str, tuple[str, str], str | None, str | None]
"""Digest, identity, class, speaker."""


def pool(clips: Sequence[Clip], labels: Sequence[str] = LABELS, *, split_given: bool = True) -> Pool:
    digests, identities, classes, speakers = zip(*clips, strict=True) if clips else ((), (), (), ())
    return Pool(digests, identities, classes, speakers, labels, split_given)


def clip(digest: str, label: str | None, speaker: str | None, name: str = "") -> Clip:
    return digest, ("test", name or f"{digest}-{label}-{speaker}"), label, speaker


def named(found: Selection, clips: Sequence[Clip]) -> set[tuple[str, str]]:
    return {clips[place][1] for place in found.chosen}


CAP = st.none() | st.integers(1, 3)
CAPS = st.builds(Caps, CAP, CAP, CAP)
CLIPS = st.lists(
    st.tuples(
        st.sampled_from("0123456789"),
        st.tuples(st.sampled_from(["dev", "test"]), st.sampled_from("abcd")),
        st.sampled_from([*LABELS, None]),
        st.sampled_from(["s1", "s2", "s3", None]),
    ),
    max_size=12,
    unique_by=lambda clip: clip[1],
)


def by_definition(clips: Sequence[Clip], caps: Caps) -> set[tuple[str, str]]:
    """O-20 as it is written, over plain rows: walk in ascending order, count what is taken already."""
    taken: list[Clip] = []
    seen: set[str] = set()
    for row in sorted(clips, key=lambda row: (row[0], row[1][0], row[1][1])):
        digest, _, label, speaker = row
        copy = digest in seen
        seen.add(digest)
        if copy:
            continue
        if caps.per_class is not None:
            if label is None:
                continue
            if len([other for other in taken if other[2] == label]) + 1 > caps.per_class:
                continue
        if caps.per_speaker is not None:
            if speaker is None:
                continue
            if len([other for other in taken if other[3] == speaker]) + 1 > caps.per_speaker:
                continue
        taken.append(row)
    return {row[1] for row in taken}


# --- the greedy selection


@given(CLIPS, CAPS)
def test_it_is_the_greedy_one_of_the_definition(clips: list[Clip], caps: Caps) -> None:
    assert named(select(pool(clips), caps), clips) == by_definition(clips, caps)


@given(CLIPS, CAPS)
def test_no_cap_is_exceeded_and_every_clip_is_chosen_or_has_a_reason(clips: list[Clip], caps: Caps) -> None:
    found = select(pool(clips), caps)
    chosen = [clips[place] for place in found.chosen]
    for cap, column in ((caps.per_class, 2), (caps.per_speaker, 3)):
        if cap is not None:
            held = [row[column] for row in chosen]
            assert None not in held
            assert all(held.count(value) <= cap for value in held)
    assert found.chosen.isdisjoint(found.reasons)
    assert found.chosen | found.reasons.keys() == set(range(len(clips)))
    assert len({row[0] for row in chosen}) == len(chosen)


@given(CLIPS, CAPS)
def test_it_says_what_is_short_exactly_when_something_is(clips: list[Clip], caps: Caps) -> None:
    found = select(pool(clips), caps)
    chosen = [clips[place] for place in found.chosen]
    short = [
        label
        for label in LABELS
        if caps.per_class is not None and sum(row[2] == label for row in chosen) < caps.per_class
    ]
    if caps.speakers is not None and len({row[3] for row in chosen} - {None}) < caps.speakers:
        short.append("speakers")
    assert [line.split(":")[0] for line in found.blocked] == short


@given(CLIPS, CAPS, st.randoms())
def test_the_order_of_rows_changes_nothing(clips: list[Clip], caps: Caps, chance: Any) -> None:
    shuffled = list(clips)
    chance.shuffle(shuffled)
    one, other = select(pool(clips), caps), select(pool(shuffled), caps)
    assert named(one, clips) == named(other, shuffled)
    assert one.blocked == other.blocked
    assert {clips[place][1]: why for place, why in one.reasons.items()} == {
        shuffled[place][1]: why for place, why in other.reasons.items()
    }
    assert feasible(pool(clips), caps) == feasible(pool(shuffled), caps)


@given(CLIPS, CAPS, st.sampled_from([*LABELS, None]), st.sampled_from(["s1", "s9", None]))
def test_a_clip_with_a_higher_digest_takes_no_place_away(
    clips: list[Clip], caps: Caps, label: str | None, speaker: str | None
) -> None:
    longer = [*clips, ("f", ("test", "new"), label, speaker)]
    assert named(select(pool(longer), caps), longer) - {("test", "new")} == named(select(pool(clips), caps), clips)


def test_each_clip_that_is_not_chosen_says_why() -> None:
    clips = [
        clip("1", "anger", "s1", "a"),
        clip("2", "anger", "s2", "b"),
        clip("2", "fear", "s3", "c"),
        clip("3", "anger", "s3", "d"),
        clip("4", "fear", "s1", "e"),
        clip("5", "fear", None, "f"),
        clip("6", "joy", "s3", "g"),
        clip("7", None, None, "h"),
    ]
    found = select(pool(clips), Caps(per_class=2, per_speaker=1))
    assert found.chosen == {0, 1}
    assert found.reasons == {
        2: "select: same bytes as test/b",
        3: "select: class cap of 2",
        4: "select: speaker cap of 1",
        5: "select: no speaker",
        6: "select: no class",
        7: "select: no class",
    }
    assert found.blocked == (
        "fear: 0 of 2, 2 short; 3 eligible, 1 blocked by the speaker cap of 1, 1 without a speaker, "
        "1 with the bytes of another clip",
    )
    assert select(pool(clips, split_given=False), Caps(per_class=2)).reasons[2] == "select: same bytes as b"


def test_equal_digests_collapse_to_the_first_by_split_and_id() -> None:
    clips = [("7", ("test", "a"), "anger", "s1"), ("7", ("dev", "z"), "anger", "s1"), ("7", ("dev", "y"), "fear", "s2")]
    found = select(pool(clips), Caps(per_class=5))
    assert found.chosen == {2}
    assert found.reasons == {0: "select: same bytes as dev/y", 1: "select: same bytes as dev/y"}


def test_a_class_without_any_clip_is_short() -> None:
    found = select(pool([clip("1", "anger", "s1")]), Caps(per_class=1))
    assert found.blocked == ("fear: 0 of 1, 1 short; 0 eligible",)


def test_too_few_speakers_say_which_cap_kept_others_out() -> None:
    clips = [clip("1", "anger", "s1"), clip("2", "fear", "s1"), clip("3", "anger", "s2")]
    found = select(pool(clips), Caps(per_class=1, speakers=2))
    assert found.blocked == (
        "speakers: 1 of 2, 1 short; 2 have eligible clips, the class cap of 1 blocked every clip of 1",
    )
    assert feasible(pool(clips), Caps(per_class=1, speakers=2)).exists


def test_a_speaker_who_has_only_copies_has_no_eligible_clip() -> None:
    clips = [clip("1", "anger", "s1"), clip("1", "anger", "s2"), clip("2", "fear", "s1")]
    found = select(pool(clips), Caps(per_class=1, speakers=2))
    assert found.blocked == ("speakers: 1 of 2, 1 short; 1 have eligible clips",)


# --- whether a full selection exists


def brute_force(clips: Sequence[Clip], caps: Caps) -> bool:
    """Try every subset of the clips that differ in bytes."""
    first: dict[str, Clip] = {}
    for row in sorted(clips, key=lambda row: (row[0], row[1])):
        first.setdefault(row[0], row)
    return any(
        fits([row for row, kept in zip(first.values(), mask, strict=True) if kept], caps)
        for mask in itertools.product((False, True), repeat=len(first))
    )


def fits(rows: Sequence[Clip], caps: Caps) -> bool:
    labels, speakers = [row[2] for row in rows], [row[3] for row in rows]
    if caps.per_class is not None and sorted(map(str, labels)) != sorted(LABELS * caps.per_class):
        return False
    if caps.per_speaker is not None and (
        None in speakers or any(speakers.count(speaker) > caps.per_speaker for speaker in speakers)
    ):
        return False
    return caps.speakers is None or len(set(speakers) - {None}) >= caps.speakers


ASSORTED = st.lists(
    st.tuples(st.sampled_from(LABELS), st.sampled_from(["s1", "s2", "s3", "s4", "s5", None])), max_size=9
)


@given(ASSORTED, CAPS)
def test_feasibility_of_different_clips_is_what_trying_every_subset_finds(
    pairs: list[tuple[str, str | None]], caps: Caps
) -> None:
    clips = [clip(format(place, "x"), *pair) for place, pair in enumerate(pairs)]
    assert feasible(pool(clips), caps).exists == brute_force(clips, caps)


@given(CLIPS, CAPS)
def test_feasibility_is_what_trying_every_subset_finds(clips: list[Clip], caps: Caps) -> None:
    assert feasible(pool(clips), caps).exists == brute_force(clips, caps)


@given(CLIPS, CAPS)
def test_what_the_greedy_one_fills_exists(clips: list[Clip], caps: Caps) -> None:
    if not select(pool(clips), caps).blocked:
        assert feasible(pool(clips), caps).exists


def test_the_greedy_one_can_miss_a_full_selection_and_is_not_changed_by_that() -> None:
    clips = [clip("1", "anger", "s1"), clip("2", "anger", "s2"), clip("3", "fear", "s1")]
    caps = Caps(per_class=1, per_speaker=1)
    found = select(pool(clips), caps)
    assert found.chosen == {0}
    assert found.blocked == ("fear: 0 of 1, 1 short; 1 eligible, 1 blocked by the speaker cap of 1",)
    assert feasible(pool(clips), caps) == Feasibility(True, "a selection exists, of up to 2 speakers")


def test_clips_without_a_speaker_fill_classes_and_are_no_speaker() -> None:
    clips = [clip("1", "anger", "s1"), clip("2", "fear", None), clip("3", "fear", None)]
    caps = Caps(per_class=1, speakers=2)
    assert select(pool(clips), caps).blocked == ("speakers: 1 of 2, 1 short; 1 have eligible clips",)
    assert feasible(pool(clips), caps).reason == "no selection exists: at most 1 of 2 speakers"
    assert feasible(pool(clips), replace(caps, speakers=1)).exists


def test_a_cap_may_be_any_number() -> None:
    huge = Caps(per_class=10**12, per_speaker=10**12)
    found = feasible(pool([clip("1", "anger", "s1")]), huge)
    assert found.reason == "no selection exists: at most 1 of 2,000,000,000,000 clips"
    assert feasible(pool([]), Caps(per_class=1, speakers=1)).reason == "no selection exists: at most 0 of 2 clips"


def test_without_scipy_it_is_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    found = feasible(pool([clip("1", "anger", "s1")]), Caps(per_class=1))
    assert found == Feasibility(None, "not checked: needs pytest-speval[statistics]")


# --- 600 clips: 100 of each of six classes, 40 speakers, 15 of each at most


def corpus(per_class: Sequence[Sequence[int]]) -> list[Clip]:
    """So many clips of each speaker (row) and class (column), under the hash of their name."""
    names = [
        (f"{speaker:03}_{label}_{number}", label, f"{speaker:03}")
        for speaker, row in enumerate(per_class)
        for label, count in zip(SIX, row, strict=True)
        for number in range(count)
    ]
    return [(hashlib.sha256(name.encode()).hexdigest(), ("test", name), *rest) for name, *rest in names]  # type: ignore[misc]


TIGHT = [[3 if (speaker + column) % 2 else 2 for column in range(6)] for speaker in range(40)]
"""15 clips of each speaker, 100 of each class: the only full selection is all of them."""


def test_forty_speakers_fill_six_hundred_only_if_each_gives_fifteen() -> None:
    assert [sum(row) for row in TIGHT] == [15] * 40
    assert [sum(column) for column in zip(*TIGHT, strict=True)] == [100] * 6
    clips = corpus(TIGHT)
    found = select(pool(clips, SIX), PROTOCOL)
    assert (len(found.chosen), found.blocked) == (600, ())
    assert feasible(pool(clips, SIX), PROTOCOL).exists
    fewer = [row for row in clips if row[1][1] != "007_fear_0"]
    short = select(pool(fewer, SIX), PROTOCOL)
    assert short.blocked == ("fear: 99 of 100, 1 short; 99 eligible",)
    assert feasible(pool(fewer, SIX), PROTOCOL) == Feasibility(False, "no selection exists: at most 599 of 600 clips")


def test_with_clips_to_spare_the_greedy_one_misses_a_tight_selection_that_exists() -> None:
    clips = corpus([[count + 1 for count in row] for row in TIGHT])
    found = select(pool(clips, SIX), PROTOCOL)
    assert named(found, clips) == by_definition(clips, PROTOCOL)
    assert len(found.chosen) < 600
    assert found.blocked
    assert all("blocked by the speaker cap of 15" in line for line in found.blocked)
    assert feasible(pool(clips, SIX), PROTOCOL) == Feasibility(True, "a selection exists, of up to 40 speakers")


def test_thirty_nine_speakers_cannot_fill_it_and_sixty_can() -> None:
    few = feasible(pool(corpus([[10] * 6] * 39), SIX), PROTOCOL)
    assert few == Feasibility(False, "no selection exists: at most 585 of 600 clips")
    loose = replace(PROTOCOL, per_speaker=20)
    assert (
        feasible(pool(corpus([[10] * 6] * 39), SIX), loose).reason == "no selection exists: at most 39 of 40 speakers"
    )
    found = select(pool(corpus([[10] * 6] * 60), SIX), PROTOCOL)
    assert (len(found.chosen), found.blocked) == (600, ())
