"""A scorer that is watched answers as if nobody looked, and what was seen can be told from seed and length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_speval.adapters.base import Rating
from pytest_speval.adapters.observation import Observed, samples_sha256
from pytest_speval.scoring.crops import Crop, Draw, replayed, slice_of
from pytest_speval.suite.observe_keys import Observe
from tests.scorer import RULE, SEED, SPEC, SSL, Floats, installed
from tests.unit.scoring.test_crops import GOLDEN


class Small:
    """The small scorer as an adapter."""

    def __init__(self, scoring: Any, seed: int = SEED) -> None:
        self._scoring = scoring
        self._seed = seed
        self.calls = 0
        self.sample_rate = 16_000

    def rate(self, pcm: Floats, _: int) -> object:
        self.calls += 1
        return Rating(self._scoring.score(pcm, self._seed))


@pytest.fixture
def scoring() -> Iterator[Any]:
    with installed() as module:
        yield module


def sound(samples: int) -> Floats:
    return np.random.default_rng(samples).standard_normal(samples).astype(np.float32)


def seen(scoring: Any, samples: int, rule: Observe = RULE) -> dict[str, Any]:
    rating = Observed(Small(scoring), rule).rate(sound(samples), 16_000)
    assert isinstance(rating, Rating)
    assert rating.observation is not None
    return dict(rating.observation)


@pytest.mark.parametrize("samples", GOLDEN)
def test_crops_are_seen_where_the_seed_puts_them(scoring: Any, samples: int) -> None:
    found = seen(scoring, samples)
    assert [crop["start"] for crop in found["crops"]] == GOLDEN[samples]
    assert [crop["kind"] for crop in found["crops"]] == ["ssl", *["main", *["mixing"] * 4] * 2]
    assert found["complete"]
    assert found["faults"] == []


@pytest.mark.parametrize("samples", GOLDEN)
def test_every_slice_can_be_rebuilt_from_the_kept_samples(scoring: Any, samples: int) -> None:
    rating = Observed(Small(scoring), RULE).rate(sound(samples), 16_000)
    assert isinstance(rating, Rating)
    assert rating.arrays is not None
    assert rating.observation is not None
    for crop in rating.observation["crops"]:
        again = slice_of(rating.arrays["pcm"], Crop(crop["start"], crop["length"], crop["tiles"]))
        assert samples_sha256(again.astype(crop["dtype"])) == crop["sha256"]


def test_the_score_is_the_one_that_nobody_watched(scoring: Any) -> None:
    pcm = sound(33_040)
    rating = Observed(Small(scoring), RULE).rate(pcm, 16_000)
    assert isinstance(rating, Rating)
    assert rating.value == scoring.score(pcm)


def test_originals_are_called_once_and_give_the_very_same_object(scoring: Any) -> None:
    given: list[Any] = []
    taken: list[Any] = []
    spec = scoring.multi_spec
    original = spec.select_random_start

    def counted(y: Floats, length: int) -> Floats:
        result: Floats = original(y, length)
        given.append(result)
        return result

    spec.select_random_start = counted

    def noted(part: Floats) -> object:
        taken.append(part)
        return np.mean(part)

    scoring.np = type("", (), {**vars(np), "mean": noted})
    assert seen(scoring, 80_000)["complete"]
    assert len(given) == 10
    assert given[0] is taken[1], "the first crop of spectra reaches the scorer as it was returned"
    assert spec.select_random_start is counted


def test_the_generator_of_the_process_goes_on_as_if_nobody_looked(scoring: Any) -> None:
    pcm = sound(80_000)
    scoring.score(pcm)
    bare = np.random.random()
    Observed(Small(scoring), RULE).rate(pcm, 16_000)
    assert np.random.random() == bare


def test_exceptions_pass_and_aliases_are_restored(scoring: Any) -> None:
    original = scoring.multi_spec.select_random_start
    calls = []

    def breaks(y: Floats, length: int) -> Floats:
        calls.append(length)
        if len(calls) == 3:
            raise MemoryError("too long")
        return original(y, length)  # type: ignore[no-any-return]

    scoring.multi_spec.select_random_start = breaks
    before = (scoring.ssl.select_random_start, scoring.multi_spec.select_random_start)
    with pytest.raises(MemoryError, match="too long"):
        Observed(Small(scoring), RULE).rate(sound(80_000), 16_000)
    assert (scoring.ssl.select_random_start, scoring.multi_spec.select_random_start) == before
    assert len(calls) == 3


def test_aliases_are_restored_after_a_call_that_went_well(scoring: Any) -> None:
    before = (scoring.ssl.select_random_start, scoring.multi_spec.select_random_start)
    seen(scoring, 80_000)
    assert (scoring.ssl.select_random_start, scoring.multi_spec.select_random_start) == before


def otherwise(**changes: Any) -> Observe:
    return Observe.model_validate({**RULE.model_dump(), **changes})


def test_a_missing_alias_costs_the_observation_and_not_the_score(scoring: Any) -> None:
    rule = otherwise(
        aliases=(SSL, SPEC, "ssl.gone"), kinds=(*RULE.model_dump()["kinds"], {"alias": "ssl.gone", "count": 1})
    )
    adapter = Small(scoring)
    rating = Observed(adapter, rule).rate(sound(80_000), 16_000)
    assert isinstance(rating, Rating)
    assert rating.value == scoring.score(sound(80_000))
    assert rating.observation is not None
    assert not rating.observation["complete"]
    assert "ssl.gone cannot be watched" in rating.observation["faults"][0]
    assert adapter.calls == 1, "an observation causes no further call"


def scores_by(scoring: Any, crop: Any) -> dict[str, Any]:
    """An observation of a scorer whose function for spectra is another."""
    scoring.multi_spec.select_random_start = crop
    return seen(scoring, 80_000)


def test_another_rule_of_cropping_is_not_taken_for_the_known_one(scoring: Any) -> None:
    found = scores_by(scoring, lambda y, length: y[:length])
    assert not found["complete"]
    assert "it does not lie where the generator puts it" in found["faults"][0]


def test_a_second_draw_is_seen(scoring: Any) -> None:
    original = scoring.multi_spec.select_random_start

    def twice(y: Floats, length: int) -> object:
        crop = original(y, length)
        np.random.random()
        return crop

    assert "another way than for one start" in scores_by(scoring, twice)["faults"][0]


def test_samples_that_are_not_the_clips_are_seen(scoring: Any) -> None:
    scoring.multi_spec.extend = lambda y, _: y * np.float32(0.5)
    found = seen(scoring, 80_000)
    assert "neither the clip's nor the clip repeated" in found["faults"][0]
    assert [crop["kind"] for crop in found["crops"]] == ["ssl"]


@pytest.mark.parametrize(("count", "told"), [(1, "more than 5 crops"), (3, "10 of 15 crops")])
def test_fewer_or_more_crops_than_expected_are_incomplete(scoring: Any, count: int, told: str) -> None:
    ssl, main, mixing = RULE.model_dump()["kinds"]
    found = seen(scoring, 80_000, otherwise(kinds=(ssl, {**main, "count": count}, {**mixing, "count": count * 4})))
    assert not found["complete"]
    assert told in found["faults"][0]


def test_what_is_no_rating_is_handed_on(scoring: Any) -> None:
    class Odd(Small):
        def rate(self, *_: object) -> object:
            return 4.0

    assert Observed(Odd(scoring), RULE).rate(sound(80_000), 16_000) == 4.0


def test_everything_else_is_the_adapters_own(scoring: Any) -> None:
    observed = Observed(Small(scoring), RULE)
    assert observed.sample_rate == 16_000
    assert not hasattr(observed, "labels")
    assert observed.stored_bytes(1000, 16_000) >= 4000


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 120_000), st.integers(0, 2**32 - 1))
def test_what_is_seen_is_what_seed_and_length_say(samples: int, seed: int) -> None:
    with installed() as scoring:
        rating = Observed(Small(scoring, seed), RULE).rate(sound(samples), 16_000)
    assert isinstance(rating, Rating)
    assert rating.observation is not None
    draws = [Draw(kind.samples or 0, kind.beta) for kind in RULE.sequence]
    found = [Crop(crop["start"], crop["length"], crop["tiles"]) for crop in rating.observation["crops"]]
    assert found == replayed(samples, draws, seed)
