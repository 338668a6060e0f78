"""From spellings and answers to the closed set of a suite."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus.labels import ABSTAINED, DROPPED, OUTSIDE, LabelRules, winner
from pytest_speval.corpus.manifest import Format, read_manifest
from pytest_speval.corpus.projections import GOEMOTIONS_7, VAD_7, AxesProjection, NameProjection, Term
from pytest_speval.errors import AnswerFault

TAGS = VAD_7.labels
IEMOCAP = LabelRules(
    TAGS,
    reference={
        "ang": "angry", "anger": "angry", "hap": "happy", "joy": "happy", "exc": "excited", "sadness": "sad",
        "neu": "calm", "neutral": "calm", "fea": "nervous", "fear": "nervous", "fru": "angry", "frustration": "angry",
        "sur": "excited", "surprise": "excited", "dis": "angry", "disgust": "angry",
    },
    drop=("xxx", "oth"),
    strip=True,
    fold_case=True,
)  # fmt: skip
MELD = LabelRules(
    TAGS,
    reference={
        "anger": "angry", "disgust": "angry", "fear": "nervous", "joy": "happy", "neutral": "calm",
        "sadness": "sad", "surprise": "excited",
    },
)  # fmt: skip


# --- references


def test_a_name_of_the_set_stands_for_itself_and_nothing_else_is_guessed() -> None:
    rules = LabelRules(("happy", "sad"))
    assert [rules.reference_of(cell) for cell in ("happy", "sad", "Happy", "happy ", "hapy", "")] == [
        "happy", "sad", None, None, None, None,
    ]  # fmt: skip


def test_h12_merging_keeps_every_clip_and_dropping_is_counted() -> None:
    counts = Counter(neu=1708, fru=1849, ang=1103, sad=1084, hap=595, exc=1041, unlabelled=53)
    rules = LabelRules(
        ("happy", "sad", "angry", "calm"),
        reference={"hap": "happy", "exc": "happy", "ang": "angry", "neu": "calm"},
        drop=("fru", "unlabelled"),
    )
    found: Counter[str | None] = Counter()
    for cell, count in counts.items():
        found[rules.reference_of(cell)] += count
    assert found == {"happy": 1636, "sad": 1084, "angry": 1103, "calm": 1708, DROPPED: 1902}
    assert sum(found.values()) - found[DROPPED] == 5531
    assert sum(found.values()) == 7433


def test_h12_a_raw_label_without_a_rule_has_none() -> None:
    rules = LabelRules(("happy", "sad"), reference={"hap": "happy"}, drop=("fru",))
    assert [rules.reference_of(cell) for cell in ("hap", "sad", "fru", "exc")] == [
        "happy",
        "sad",
        DROPPED,
        None,
    ]


def test_dropping_acts_before_any_other_rule() -> None:
    rules = LabelRules(("happy",), reference={"xxx": "happy"}, drop=("xxx", "happy"))
    assert (rules.reference_of("xxx"), rules.reference_of("happy")) == (DROPPED, DROPPED)


@pytest.mark.parametrize(
    ("strip", "fold", "joined"),
    [
        (False, False, {"joy"}),
        (True, False, {"joy", "joy "}),
        (False, True, {"joy", "Joy"}),
        (True, True, {"joy", "joy ", "Joy"}),
    ],
)
def test_h13_case_and_blanks_count_unless_the_suite_says_otherwise(strip: bool, fold: bool, joined: set[str]) -> None:
    rules = LabelRules(("joy",), strip=strip, fold_case=fold)
    cells = ("Joy", "joy", "joy ", "Superise")
    assert {cell for cell in cells if rules.reference_of(cell) == "joy"} == joined
    assert {cell for cell in cells if rules.answer_of(cell) == "joy"} == joined


def test_folding_reaches_the_maps_and_yields_the_spelling_of_the_set() -> None:
    rules = LabelRules(
        ("Happy",), reference={"JOY": "happy"}, drop=("Other",), answers={"Glad": "HAPPY"}, fold_case=True
    )
    assert [rules.reference_of(cell) for cell in ("joy", "HAPPY", "OTHER")] == ["Happy", "Happy", DROPPED]
    assert [rules.answer_of(name) for name in ("glad", "happy", "joy")] == ["Happy", "Happy", OUTSIDE]


@pytest.mark.parametrize(
    ("cell", "label"),
    [
        ("ang", "angry"), ("anger", "angry"), ("hap", "happy"), ("happy", "happy"), ("joy", "happy"),
        ("exc", "excited"), ("excited", "excited"), ("sad", "sad"), ("sadness", "sad"), ("neu", "calm"),
        ("neutral", "calm"), ("fea", "nervous"), ("fear", "nervous"), ("fru", "angry"), ("frustration", "angry"),
        ("sur", "excited"), ("surprise", "excited"), ("dis", "angry"), ("disgust", "angry"), (" ANG\t", "angry"),
        ("xxx", DROPPED), ("oth", DROPPED), ("bored", None),
    ],
)  # fmt: skip
def test_the_map_of_iemocap(cell: str, label: str | None) -> None:
    assert IEMOCAP.reference_of(cell) == label


@pytest.mark.realdata
def test_the_map_of_meld_leaves_no_clip_of_the_test_split_without_a_label(shared: Path) -> None:
    path = shared / "data/meld/test_sent_emo.csv"
    cells = read_manifest(path, path.name, Format()).column("Emotion")
    assert Counter(MELD.reference_of(str(cell)) for cell in cells) == {
        "calm": 1256, "happy": 402, "angry": 345 + 68, "excited": 281, "sad": 208, "nervous": 50,
    }  # fmt: skip
    assert MELD.reachable(tuple(map(str, set(cells)))) == frozenset(), "reference maps are no maps of answers"


# --- answers


def test_h11_the_class_is_read_in_the_order_the_adapter_declares() -> None:
    names = ("neutral", "surprise", "fear", "sadness", "joy", "disgust", "anger")
    scores = dict(zip(names, (0.1, 0.1, 0.05, 0.05, 0.6, 0.05, 0.05), strict=True))
    assert winner(scores) == "joy"
    assert LabelRules(names).read({"scores": scores}) == "joy"
    alphabetical = dict(zip(sorted(names), scores.values(), strict=True))
    assert winner(alphabetical) == "neutral", "what a guessed order would say"


def test_a_winner_outside_the_set_is_outside_and_never_the_next_label() -> None:
    rules = LabelRules(("happy", "sad"), answers={"unknown": "abstain"})
    assert rules.read({"scores": {"other": 0.5, "happy": 0.3, "sad": 0.2}}) == OUTSIDE
    assert rules.read({"scores": {"unknown": 0.5, "happy": 0.3, "sad": 0.2}}) == ABSTAINED


def test_a_tie_for_the_best_score_abstains() -> None:
    rules = LabelRules(("happy", "sad", "calm"))
    assert rules.read({"scores": {"happy": 0.4, "sad": 0.4, "calm": 0.2}}) == ABSTAINED
    assert rules.read({"scores": {"happy": 0.3, "sad": 0.3, "calm": 0.4}}) == "calm"
    assert rules.read({"scores": {"other": 0.4, "sad": 0.4}}) == ABSTAINED, "also with a name outside the set"


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_h37_a_score_that_is_not_finite_is_an_invalid_answer_and_no_class(bad: float) -> None:
    for place in range(3):
        scores = [0.2, 0.4, 0.9]
        scores[place] = bad
        with pytest.raises(AnswerFault) as caught:
            LabelRules(("a", "b", "c")).read({"scores": dict(zip("abc", scores, strict=True))})
        assert caught.value.code == "invalid-answer"
        assert caught.value.message == f"the score of `{'abc'[place]}` is {bad}: scores must be finite"


def test_the_limit_for_abstaining_is_inclusive_and_acts_on_the_winner() -> None:
    rules = LabelRules(("happy", "sad"), answers={"joy": "happy"}, abstain_below=0.35)
    assert rules.read({"scores": {"joy": 0.35, "sad": 0.2}}) == "happy"
    assert rules.read({"scores": {"joy": 0.3499, "sad": 0.2}}) == ABSTAINED
    assert rules.read({"label": "joy"}) == "happy", "a label alone has no score"


def test_an_answer_without_a_choice_abstains() -> None:
    rules = LabelRules(("happy",))
    answers: list[dict[str, object]] = [{}, {"scores": {}}, {"vad": {"valence": 1.0}}]
    assert [rules.read(answer) for answer in answers] == [ABSTAINED] * 3


def test_maps_of_answers_do_not_reach_references_nor_the_other_way_round() -> None:
    rules = LabelRules(("calm",), reference={"neu": "calm"}, answers={"neutral": "calm"})
    assert (rules.reference_of("neutral"), rules.answer_of("neutral")) == (None, "calm")
    assert (rules.reference_of("neu"), rules.answer_of("neu")) == ("calm", OUTSIDE)
    assert LabelRules(("calm",), reference={"neu": "calm"}, answers={"n": "neu"}).answer_of("n") == OUTSIDE


def test_a_rule_goes_before_the_name_itself() -> None:
    rules = LabelRules(("calm", "sad"), answers={"calm": "abstain", "sad": "calm"})
    assert (rules.answer_of("calm"), rules.answer_of("sad")) == (ABSTAINED, "calm")


def test_words_of_our_own_are_no_words_of_a_model() -> None:
    rules = LabelRules(("happy",), drop=("xxx",))
    for word in (ABSTAINED, OUTSIDE, DROPPED):
        assert rules.answer_of(word) == OUTSIDE
        assert rules.reference_of(word) is None


def test_h10_labels_of_two_vocabularies_reach_nothing() -> None:
    rules = LabelRules(("happy", "sad"))
    assert rules.reachable(("LABEL_0", "LABEL_1")) == frozenset()
    mapped = LabelRules(("happy", "sad"), answers={"LABEL_0": "happy", "LABEL_1": "abstain"})
    assert mapped.reachable(("LABEL_0", "LABEL_1")) == {"happy"}


# --- projections within the rules


def test_a_name_projection_maps_references_and_answers_alike() -> None:
    rules = LabelRules(TAGS, projection=GOEMOTIONS_7, answers={"grief": "abstain"}, reference={"pride": "calm"})
    assert (rules.reference_of("annoyance"), rules.answer_of("annoyance")) == ("angry", "angry")
    assert (rules.reference_of("grief"), rules.answer_of("grief")) == ("sad", ABSTAINED)
    assert (rules.reference_of("pride"), rules.answer_of("pride")) == ("calm", "happy")
    assert (rules.reference_of("whisper"), rules.answer_of("whisper")) == ("whisper", "whisper")
    assert (rules.reference_of("boredom"), rules.answer_of("boredom")) == (None, OUTSIDE)


def test_the_winner_is_found_before_names_are_joined() -> None:
    rules = LabelRules(TAGS, projection=GOEMOTIONS_7)
    scores = {"anger": 0.3, "annoyance": 0.3, "joy": 0.4}
    assert rules.read({"scores": scores}) == "happy", "not the 0.6 of the joined `angry`"


def test_a_projection_out_of_the_set_maps_nothing() -> None:
    rules = LabelRules(("happy",), projection=NameProjection("mine", {"joy": "happy", "grief": "sad"}))
    assert (rules.reference_of("grief"), rules.answer_of("grief")) == (None, OUTSIDE)


def test_an_axes_projection_reads_the_axes_alone() -> None:
    rules = LabelRules(TAGS, projection=VAD_7)
    vad = {"valence": 0.8, "arousal": 0.6, "dominance": 0.5}
    assert rules.read({"vad": vad, "label": "sad", "scores": {"angry": 1.0}}) == "happy"
    assert rules.read({"label": "sad", "scores": {"angry": 1.0}}) == ABSTAINED
    assert rules.read({"vad": dict.fromkeys(vad, 0.5)}) == ABSTAINED


def test_the_labels_of_an_axes_projection_go_through_the_map_of_answers() -> None:
    rules = LabelRules(("happy", "sad", "angry", "calm"), projection=VAD_7, answers={"excited": "happy"})
    assert rules.read({"vad": {"valence": 0.85, "arousal": 0.95, "dominance": 0.5}}) == "happy"
    assert rules.read({"vad": {"valence": 0.3, "arousal": 0.65, "dominance": 0.2}}) == OUTSIDE, "nervous"


def test_the_suite_may_set_the_limit_of_an_axes_projection() -> None:
    vad = {"valence": 0.55, "arousal": 0.35, "dominance": 0.5}
    assert LabelRules(TAGS, projection=VAD_7).read({"vad": vad}) == ABSTAINED
    assert LabelRules(TAGS, projection=VAD_7, abstain_below=0.2).read({"vad": vad}) == "calm"
    own = AxesProjection("axes", {"up": (Term(1.0, "valence"),), "down": (Term(-1.0, "valence"),)}, 0.0)
    assert LabelRules(("up", "down"), projection=own).read({"vad": vad}) == "up"


# --- laws

NAMES = st.text(alphabet="abAB ", min_size=1, max_size=3)
MAPS = st.dictionaries(NAMES, NAMES, max_size=4)
RULES = st.builds(
    LabelRules,
    st.lists(NAMES, min_size=1, max_size=4, unique=True).map(tuple),
    reference=MAPS,
    drop=st.lists(NAMES, max_size=2).map(tuple),
    answers=MAPS | st.dictionaries(NAMES, st.just("abstain"), max_size=2),
    projection=st.none() | MAPS.map(lambda names: NameProjection("mine", names)) | st.just(VAD_7),
    abstain_below=st.none() | st.floats(0, 1),
    strip=st.booleans(),
    fold_case=st.booleans(),
)
UNIT = st.floats(0, 1)
ANSWERS = st.fixed_dictionaries(
    {},
    optional={
        "label": NAMES,
        "scores": st.dictionaries(NAMES, UNIT, max_size=4),
        "vad": st.fixed_dictionaries({"valence": UNIT, "arousal": UNIT, "dominance": UNIT}),
    },
)


@given(RULES, ANSWERS)
def test_an_answer_is_a_label_of_the_set_or_abstained_or_outside(
    rules: LabelRules, answer: Mapping[str, object]
) -> None:
    assert rules.read(answer) in {*rules.set, ABSTAINED, OUTSIDE}


@given(RULES, NAMES)
def test_a_name_is_a_label_of_the_set_or_has_no_rule(rules: LabelRules, name: str) -> None:
    assert rules.reference_of(name) in {*rules.set, DROPPED, None}
    assert rules.answer_of(name) in {*rules.set, ABSTAINED, OUTSIDE}
    assert rules.reachable((name,)) == {rules.answer_of(name)} - {ABSTAINED, OUTSIDE}


@given(st.dictionaries(NAMES, st.integers(-3, 3).map(float), min_size=1), st.randoms(use_true_random=False))
def test_the_winner_is_the_one_maximum_in_any_order(scores: dict[str, float], random: object) -> None:
    best = [name for name, score in scores.items() if score == max(scores.values())]
    wanted = best[0] if len(best) == 1 else None
    items = list(scores.items())
    random.shuffle(items)  # type: ignore[attr-defined]
    assert winner(scores) == winner(dict(items)) == wanted
