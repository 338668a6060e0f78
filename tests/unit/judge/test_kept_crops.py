"""Crops that are cut and drawn once more from a clip's kept samples."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from pytest_speval.adapters.base import Rating
from pytest_speval.adapters.observation import Observed
from pytest_speval.judge.kept_crops import crops_difference, recorded_rule
from tests.scorer import RULE, SEED, Floats, installed


class Small:
    def __init__(self, scoring: Any) -> None:
        self._scoring = scoring

    def rate(self, pcm: Floats, _: int) -> Rating:
        return Rating(self._scoring.score(pcm, SEED))


@pytest.fixture
def seen() -> tuple[dict[str, Any], Floats]:
    """An observation, and the samples that are kept beside it."""
    pcm = np.random.default_rng(1).standard_normal(33_040).astype(np.float32)
    with installed() as scoring:
        rating = Observed(Small(scoring), RULE).rate(pcm, 16_000)
    assert isinstance(rating, Rating)
    assert rating.observation is not None
    return deepcopy(dict(rating.observation)), pcm


def test_what_was_seen_is_made_again(seen: tuple[dict[str, Any], Floats]) -> None:
    assert crops_difference(*seen, RULE) is None


def test_the_rule_is_the_one_of_the_suite() -> None:
    assert recorded_rule(RULE.model_dump(mode="json", exclude_none=True)) == RULE


def test_other_samples_are_found(seen: tuple[dict[str, Any], Floats]) -> None:
    observation, pcm = seen
    other = pcm.copy()
    other[12_000] += 1
    found = crops_difference(observation, other, RULE)
    assert found is not None
    assert "is not what the samples hold there" in found


def test_another_length_is_found(seen: tuple[dict[str, Any], Floats]) -> None:
    observation, pcm = seen
    assert crops_difference(observation, pcm[:-1], RULE) == "33039 samples are kept, and 33040 were observed"


@pytest.mark.parametrize(
    ("place", "key", "value", "told"),
    [
        (0, "start", 10_042, "crop 1 (ssl at 10042) is not what the samples hold there"),
        (3, "sha256", "0" * 64, "crop 4 (mixing"),
        (0, "start", -1, "crop 1 (ssl at -1)"),
        (0, "tiles", 1, "crop 1 (ssl at 10041)"),
        (0, "length", 10**9, "crop 1 (ssl at 10041)"),
        (0, "dtype", "|O", "crop 1 (ssl at 10041)"),
        (1, "kind", "mixing", "they are not the 11 that are expected"),
    ],
)
def test_a_changed_crop_is_found(
    seen: tuple[dict[str, Any], Floats], place: int, key: str, value: object, told: str
) -> None:
    observation, pcm = seen
    observation["crops"][place][key] = value
    found = crops_difference(observation, pcm, RULE)
    assert found is not None
    assert told in found


def test_a_crop_that_was_left_out_is_found(seen: tuple[dict[str, Any], Floats]) -> None:
    observation, pcm = seen
    del observation["crops"][5]
    assert crops_difference(observation, pcm, RULE) == (
        "10 crops are called complete, and they are not the 11 that are expected"
    )


def test_another_seed_is_found(seen: tuple[dict[str, Any], Floats]) -> None:
    found = crops_difference(*seen, RULE.model_copy(update={"seed": 1}))
    assert found is not None
    assert "a crop (ssl) lies at 10041, and the seed puts it at" in found


def test_an_incomplete_observation_is_held_against_what_it_says_itself(seen: tuple[dict[str, Any], Floats]) -> None:
    observation, pcm = seen
    observation |= {"complete": False, "faults": ["ssl: 0 of 1 crops"], "crops": observation["crops"][1:]}
    assert crops_difference(observation, pcm, RULE) is None
    observation["crops"][0]["start"] += 1
    assert crops_difference(observation, pcm, RULE) is not None
    assert crops_difference(observation | {"faults": [], "crops": []}, pcm, RULE) is not None


def test_an_answer_without_an_observation_is_a_difference(seen: tuple[dict[str, Any], Floats]) -> None:
    assert crops_difference(None, seen[1], RULE) is not None
    assert crops_difference(seen[0], None, RULE) is not None
