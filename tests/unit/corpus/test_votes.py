"""Votes amount to a reference by one rule, and every vote can be read back from a plan."""

from __future__ import annotations

import json
import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus.votes import (
    MAX_WEIGHT,
    NO_VOTES,
    Decision,
    Tally,
    Vote,
    VoteRules,
    from_cell,
    reference,
    to_cell,
)
from pytest_speval.errors import EvidenceFault

TARGETS = ("anger", "disgust", "fear", "happiness", "neutral", "sadness")
OPTIONS = (*TARGETS, "other", "uncertain")
RULES = VoteRules(OPTIONS, TARGETS)
PLURALITY = VoteRules(OPTIONS, TARGETS, listeners=1, agree=1)
COUNTS = st.dictionaries(st.sampled_from(OPTIONS), st.integers(0, 4))
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
WEIGHTS = st.none() | st.floats(0, MAX_WEIGHT, exclude_min=True)
VOTES = st.lists(st.builds(Vote, NAMES, NAMES, WEIGHTS), unique_by=lambda vote: vote.listener)
UNNAMED = st.lists(st.builds(Vote, NAMES, st.none(), WEIGHTS))


def decided(counts: dict[str, int], rules: VoteRules = RULES) -> Decision:
    return reference(Tally.of_counts(counts), rules)


# --- the rule


@pytest.mark.parametrize(
    ("counts", "label"),
    [
        ({"anger": 3}, "anger"),
        ({"anger": 2, "fear": 1}, "anger"),
        ({"anger": 3, "fear": 2}, "anger"),
        ({"fear": 2, "other": 1}, "fear"),
        ({"fear": 2, "other": 2}, "fear"),
        ({"fear": 2, "other": 3, "uncertain": 1}, "fear"),
    ],
)
def test_two_that_agree_on_a_target_make_a_reference(counts: dict[str, int], label: str) -> None:
    assert decided(counts) == Decision(label, None)


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ({}, "votes: 0 of 3 listeners"),
        ({"anger": 2}, "votes: 2 of 3 listeners"),
        ({"anger": 2, "fear": 2}, "votes: targets tie"),
        ({"sadness": 2, "anger": 2, "fear": 2, "other": 5}, "votes: targets tie"),
        ({"anger": 1, "fear": 1, "sadness": 1}, "votes: no 2 agree on a target"),
        ({"anger": 1, "other": 1, "uncertain": 1}, "votes: no 2 agree on a target"),
        ({"anger": 1, "other": 2}, "votes: most for other, no target"),
        ({"other": 2, "uncertain": 2}, "votes: most for other and uncertain, no target"),
    ],
)
def test_a_clip_without_a_reference_says_why(counts: dict[str, int], reason: str) -> None:
    assert decided(counts) == Decision(None, reason)


def test_two_of_four_against_two_is_ambiguous_whatever_their_weights() -> None:
    votes = [Vote("anger", "a", 9.0), Vote("anger", "b", 9.0), Vote("fear", "c", 0.1), Vote("fear", "d", 0.1)]
    assert reference(Tally.of_votes(votes), RULES).reason == "votes: targets tie"


def test_a_weight_makes_no_listener() -> None:
    votes = [Vote("anger", "a", 5.0), Vote("anger", "b", 5.0)]
    assert reference(Tally.of_votes(votes), RULES).reason == "votes: 2 of 3 listeners"


@given(COUNTS)
def test_one_listener_and_one_vote_is_the_plurality_among_targets(counts: dict[str, int]) -> None:
    ranked = Counter({name: count for name, count in counts.items() if name in TARGETS and count}).most_common()
    unique = bool(ranked) and (len(ranked) == 1 or ranked[0][1] > ranked[1][1])
    assert decided(counts, PLURALITY).label == (ranked[0][0] if unique else None)


@given(COUNTS, st.integers(1, 6), st.integers(1, 4))
def test_a_reference_is_what_its_definition_says(counts: dict[str, int], listeners: int, agree: int) -> None:
    found = decided(counts, VoteRules(OPTIONS, TARGETS, listeners, agree))
    good = [
        target
        for target in TARGETS
        if sum(counts.values()) >= listeners
        and counts.get(target, 0) >= agree
        and all(counts.get(other, 0) < counts.get(target, 0) for other in TARGETS if other != target)
    ]
    assert good == ([found.label] if found.label else [])
    assert (found.label is None) != (found.reason is None)


# --- every vote kept


def test_a_cell_is_json_that_anyone_can_read() -> None:
    assert to_cell(NO_VOTES) == "{}"
    assert to_cell(Tally.of_counts({"fear": 1, "anger": 3, "other": 0})) == '{"anger":3,"fear":1}'
    votes = [Vote("fear", "l2"), Vote("anger", "l1", 0.5), Vote("fear")]
    assert to_cell(Tally.of_votes(votes)) == '[[null,"fear"],["l1","anger",0.5],["l2","fear"]]'
    assert to_cell(Tally.of_votes([Vote("fear"), Vote("anger"), Vote("fear")])) == '{"anger":1,"fear":2}'


@given(VOTES | UNNAMED)
def test_votes_are_read_back_from_their_cell(votes: list[Vote]) -> None:
    tally = Tally.of_votes(votes)
    assert from_cell(to_cell(tally)) == tally
    assert tally.total == len(votes)
    assert not tally.votes or Counter(tally.votes) == Counter(votes)


@given(st.dictionaries(NAMES, st.integers(0, 10**9)))
def test_counts_are_read_back_from_their_cell(counts: dict[str, int]) -> None:
    tally = Tally.of_counts(counts)
    assert from_cell(to_cell(tally)) == tally
    assert tally.total == sum(counts.values())


@given(VOTES | UNNAMED, st.randoms())
def test_the_order_of_votes_changes_no_cell(votes: list[Vote], chance: object) -> None:
    shuffled = list(votes)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert to_cell(Tally.of_votes(shuffled)) == to_cell(Tally.of_votes(votes))


@pytest.mark.parametrize(
    "cell",
    [
        *("", "[]", "7", "null", '"anger"', "{", '{"anger":0}', '{"anger":-1}', '{"anger":1.0}', '{"anger":true}'),
        *('{"anger":"1"}', '{"fear":1,"anger":1}', '{"anger": 1}', '{"anger":1,"anger":1}', '[["l1"]]', '["l1"]'),
        *(
            '[["l1","anger",0.0]]',
            '[["l1","anger",NaN]]',
            '[["l1","anger",Infinity]]',
            '[["l1","anger",1e+300]]',
            '[["l1","anger",1]]',
        ),
        *('[[1,"anger"]]', '[["l1",null]]', '[[null,"anger"]]', '[["l2","anger"],["l1","anger"]]'),
        *('[["l1","anger"],["l1","fear"]]', '[["l1","anger",1.0,2.0]]', "[" * 100_000),
    ],
)
def test_a_cell_that_was_not_written_so_is_refused(cell: str) -> None:
    with pytest.raises(EvidenceFault) as caught:
        from_cell(cell)
    assert caught.value.code == "votes-damaged"


@given(VOTES | UNNAMED)
def test_soft_counts_add_up_the_weights(votes: list[Vote]) -> None:
    soft = Tally.of_votes(votes).soft
    for option in {vote.option for vote in votes}:
        weights = [1.0 if vote.weight is None else vote.weight for vote in votes if vote.option == option]
        assert soft[option] == math.fsum(weights)
    assert set(soft) == {vote.option for vote in votes}


def test_the_cell_of_single_votes_keeps_who_gave_them() -> None:
    votes = [["l1", "anger"], ["l2", "anger"], ["l3", "fear"]]
    tally = from_cell(json.dumps(votes, separators=(",", ":")))
    assert reference(tally, RULES) == Decision("anger", None)
    assert [vote.listener for vote in tally.votes] == ["l1", "l2", "l3"]
