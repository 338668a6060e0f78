"""The named projections are the tables of the bench they come from."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus.manifest import Format, read_manifest
from pytest_speval.corpus.projections import (
    GOEMOTIONS_7,
    NAMED,
    VAD_7,
    AxesProjection,
    NameProjection,
    Term,
    geometry,
)

TAGS = ("happy", "sad", "angry", "nervous", "calm", "excited", "whisper")
GOLDEN = [
    ((0.80, 0.60, 0.50), (0.48, 0, 0, 0, 0.30, 0.43, 0), "happy"),
    ((0.20, 0.25, 0.30), (0, 0.70, 0, 0.225, 0.24, 0, 0.63), "sad"),
    ((0.15, 0.80, 0.80), (0, 0.13, 1, 0.155, 0, 0.165, 0), "angry"),
    ((0.30, 0.65, 0.20), (0, 0.28, 0.10, 0.635, 0, 0.06, 0.21), "nervous"),
    ((0.75, 0.20, 0.50), (0.35, 0, 0, 0, 0.71, 0, 0.42), "calm"),
    ((0.85, 0.95, 0.50), (0.76, 0, 0.155, 0.16, 0, 1, 0), "excited"),
    ((0.50, 0.10, 0.10), (0, 0.48, 0, 0.12, 0.36, 0, 1), "whisper"),
    ((0.50, 0.50, 0.50), (0, 0, 0, 0, 0, 0, 0), None),
    ((0.55, 0.35, 0.50), (0.07, 0.05, 0, 0, 0.25, 0, 0.21), None),
    ((1, 1, 1), (0.80, 0, 0.55, 0, 0, 1, 0), "excited"),
    ((0, 0, 0), (0, 1, 0, 0.50, 0.45, 0, 1), "sad"),
]
EMOTIONS = [
    "admiration", "amusement", "anger", "annoyance", "approval", "caring", "confusion", "curiosity", "desire",
    "disappointment", "disapproval", "disgust", "embarrassment", "excitement", "fear", "gratitude", "grief", "joy",
    "love", "nervousness", "optimism", "pride", "realization", "relief", "remorse", "sadness", "surprise", "neutral",
]  # fmt: skip
UNIT = st.floats(0, 1)


def vad_7(points: np.ndarray) -> np.ndarray:
    """The table as one array expression: points [N, 3] to scores [N, 7]."""
    v, a, d = points.T - 0.5
    rows = (
        1.4 * v + 0.6 * np.maximum(0, a) - 0.4 * abs(d),
        -1.4 * v - 0.8 * a - 0.4 * d,
        -1.1 * v + 1.2 * a + 1.0 * d,
        -0.7 * v + 0.9 * a - 1.2 * d,
        1.4 * np.maximum(0, v) - 1.2 * a - 0.3 * abs(d),
        0.9 * v + 1.6 * a,
        -1.4 * a - 1.4 * d,
    )
    return np.stack(rows, axis=1).clip(0, 1)


@pytest.mark.parametrize(("axes", "scores", "label"), GOLDEN, ids=[str(row[0]) for row in GOLDEN])
def test_vad_7_gives_the_golden_scores_and_label(
    axes: tuple[float, float, float], scores: tuple[float, ...], label: str | None
) -> None:
    found = VAD_7.scores(*axes)
    assert tuple(found) == TAGS
    assert list(found.values()) == pytest.approx(list(scores), abs=1e-12)
    assert VAD_7.label(*axes) == label


def test_a_tie_goes_to_the_earlier_label() -> None:
    scores = VAD_7.scores(0, 0, 0)
    assert scores["sad"] == scores["whisper"] == 1.0
    assert VAD_7.label(0, 0, 0) == "sad"
    swapped = AxesProjection("swapped", dict(reversed(list(VAD_7.rows.items()))), VAD_7.abstain_below)
    assert swapped.label(0, 0, 0) == "whisper"


@given(UNIT, UNIT, UNIT)
def test_vad_7_is_its_table(v: float, a: float, d: float) -> None:
    assert list(VAD_7.scores(v, a, d).values()) == pytest.approx(vad_7(np.array([[v, a, d]]))[0].tolist(), abs=1e-12)


@given(st.floats(-10, 10), st.floats(-10, 10), st.floats(-10, 10))
def test_axes_beyond_their_range_are_clamped_first(v: float, a: float, d: float) -> None:
    inside = [min(1.0, max(0.0, axis)) for axis in (v, a, d)]
    assert VAD_7.scores(v, a, d) == VAD_7.scores(*inside)
    assert VAD_7.label(v, a, d) in {*TAGS, None}


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", range(3))
def test_an_axis_that_is_not_finite_scores_nothing_and_abstains(bad: float, place: int) -> None:
    axes = [0.85, 0.95, 0.5]
    axes[place] = bad
    assert VAD_7.scores(*axes) == dict.fromkeys(TAGS, 0.0)
    assert VAD_7.label(*axes) is None


def test_the_limit_is_inclusive_and_may_be_set() -> None:
    assert VAD_7.scores(0.75, 0.5, 0.5)["happy"] == 0.35
    assert VAD_7.label(0.75, 0.5, 0.5) == "happy"
    assert VAD_7.label(0.75, 0.5, 0.5, abstain_below=0.36) is None
    assert VAD_7.label(0.55, 0.35, 0.5, abstain_below=0.25) == "calm"


def test_goemotions_7_maps_all_28_labels_and_whisper_is_reached_by_none() -> None:
    assert sorted(GOEMOTIONS_7.names) == sorted(EMOTIONS)
    assert len(EMOTIONS) == 28
    assert set(GOEMOTIONS_7.labels) == set(TAGS) - {"whisper"}
    assert Counter(GOEMOTIONS_7.names.values()) == {
        "happy": 7, "sad": 4, "angry": 4, "nervous": 4, "calm": 5, "excited": 4,
    }  # fmt: skip
    assert GOEMOTIONS_7.names["neutral"] == "calm"


def test_goemotions_7_is_not_the_official_grouping() -> None:
    """Nine names go elsewhere than in the grouping to six emotions; a report may not call them the same."""
    official = {
        "angry": "anger annoyance disapproval",
        "disgust": "disgust",
        "nervous": "fear nervousness",
        "happy": "joy amusement approval excitement gratitude love optimism relief pride admiration desire caring",
        "sad": "sadness disappointment embarrassment grief remorse",
        "excited": "surprise realization confusion curiosity",
        "calm": "neutral",
    }
    grouped = {name: label for label, names in official.items() for name in names.split()}
    differing = {name for name in EMOTIONS if GOEMOTIONS_7.names[name] != grouped[name]}
    assert differing == {
        "approval", "caring", "relief", "confusion", "realization", "embarrassment", "desire", "excitement", "disgust",
    }  # fmt: skip


@pytest.mark.realdata
def test_goemotions_7_covers_the_published_names(shared: Path) -> None:
    folder = shared / "data/goemotions"
    assert (folder / "emotions.txt").read_text(encoding="utf-8").split() == EMOTIONS
    mapping = json.loads((folder / "ekman_mapping.json").read_text(encoding="utf-8"))
    assert {name for names in mapping.values() for name in names} < set(GOEMOTIONS_7.names)
    manifest = read_manifest(folder / "test.tsv", "test.tsv", Format(header=False, names=("text", "labels", "id")))
    numbers = [int(number) for cell in manifest.column("labels") for number in str(cell).split(",")]
    found = Counter(GOEMOTIONS_7.names[EMOTIONS[number]] for number in numbers)
    assert found.total() == 6329
    assert found["calm"] == 351 + 135 + 145 + 11 + 1787


def test_the_named_projections_are_found_by_their_names() -> None:
    assert dict(NAMED) == {"vad-7": VAD_7, "goemotions-7": GOEMOTIONS_7}
    assert NameProjection("mine", {"a": "x", "b": "y", "c": "x"}).labels == ("x", "y")


# --- geometry


def test_happy_wins_two_percent_of_the_cube_and_a_tenth_abstains() -> None:
    found = geometry(VAD_7)
    assert found.shares["happy"] == pytest.approx(0.019, abs=0.001)
    assert found.abstained == pytest.approx(0.103, abs=0.002)
    assert all(0.11 < share < 0.18 for label, share in found.shares.items() if label != "happy")
    assert sum(found.shares.values()) + found.abstained == pytest.approx(1)


def test_the_shares_are_those_of_random_points() -> None:
    scores = vad_7(np.random.default_rng(20261129).random((400_000, 3)))
    abstained = scores.max(axis=1) < 0.35
    found = geometry(VAD_7)
    assert found.abstained == pytest.approx(abstained.mean(), abs=0.003)
    for place, label in enumerate(TAGS):
        share = np.mean((scores.argmax(axis=1) == place) & ~abstained)
        assert found.shares[label] == pytest.approx(share, abs=0.003)


def test_the_corners_of_the_cube_are_listed_with_their_labels() -> None:
    corners = dict(geometry(VAD_7, steps=2).corners)
    assert len(corners) == 8
    assert corners[(1.0, 1.0, 1.0)] == "excited"
    assert corners[(0.0, 0.0, 0.0)] == "sad"
    for corner, label in corners.items():
        scores = vad_7(np.array([corner]))[0]
        assert label == TAGS[scores.argmax()]


def test_ties_are_counted_where_they_decide() -> None:
    halves = AxesProjection("halves", {"one": (Term(1.0, "valence"),), "two": (Term(1.0, "valence"),)}, 0.25)
    found = geometry(halves, steps=8)
    assert found.shares["two"] == 0.0
    assert found.tied == found.shares["one"] == 1 - found.abstained
    assert found.shares["one"] == 0.25, "the quarter of the cube with valence of at least 0.75"
