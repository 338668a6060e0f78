"""`audit[storage]`: the bytes that arrays may take, clip by clip, against `run.max_bytes`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.audit.storage import storage
from pytest_speval.corpus.audio import Sound
from pytest_speval.corpus.contract import Contract, prepare
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.plan import Question
from pytest_speval.suite.keys import Run
from tests.runs import Clip, question_of

CONTRACT = Contract(rate=8000)


def asked(*lengths: int | None, rate: int = 8000, contract: Contract = CONTRACT, **more: Any) -> Question:
    """A question about clips of so many frames."""
    clips = [Clip(f"c{place}", "yes", Ending("returned")) for place in range(len(lengths))]
    return question_of(clips, frames=lengths, rates=[rate] * len(lengths), audio=asdict(contract), **more)


class Loud:
    """Keeps two bytes a sample and 100 a clip, and notes what it was told."""

    arrays = ("logits",)

    def __init__(self) -> None:
        self.told: list[tuple[int, int]] = []

    def stored_bytes(self, samples: int, sample_rate: int) -> int:
        self.told.append((samples, sample_rate))
        return 2 * samples + 100


def test_the_sum_may_reach_the_limit_and_not_pass_it() -> None:
    found = storage(asked(10, 20), Loud(), 260)
    assert (found.audit.failed, found.room) == (False, {0: 120, 1: 140})
    assert found.audit.headline == "the arrays of 2 clips take at most 260 bytes of 260"
    found = storage(asked(10, 20), Loud(), 259)
    assert (found.audit.failed, found.audit.findings[0].code, found.room) == (True, "over-storage", {})
    assert "at most 260 bytes, and run.max_bytes is 259" in found.audit.headline


def test_clips_that_are_not_asked_take_nothing() -> None:
    question = asked(10, 20, 30, 40, condemned={1: ("silent", "x")}, abstains=frozenset({2}))
    assert storage(question, Loud(), 10**6).room == {0: 120, 3: 180}
    excluded = asked(10, 20, excluded=["no", None])
    assert storage(excluded, Loud(), 10**6).room == {1: 140}


@given(
    frames=st.integers(1, 3000),
    source=st.sampled_from([8000, 11025, 44100]),
    target=st.sampled_from([None, 8000, 16000]),
    seconds=st.sampled_from([None, (0.0, 0.05), (0.02, 0.1), (0.1, 60.0)]),
    long=st.sampled_from(["tail", "head"]),
)
def test_the_adapter_is_told_the_length_that_it_will_hear(
    frames: int,
    source: int,
    target: int | None,
    seconds: tuple[float, float] | None,
    long: Literal["tail", "head"],
) -> None:
    contract = Contract(rate=target, resample=True, seconds=seconds, short="pad", long=long)
    heard = prepare(Sound("", source, "WAV", "PCM_16", np.zeros((frames, 1), np.int16)), contract)
    adapter = Loud()
    storage(asked(frames, rate=source, contract=contract), adapter, 10**9)
    assert adapter.told == [(len(heard.pcm), heard.rate)]


def test_an_adapter_that_promises_nothing_has_no_room() -> None:
    found = storage(asked(10), object(), 10**6)
    assert (found.audit.failed, found.room) == (False, {})


def test_one_that_promises_arrays_must_say_their_size() -> None:
    class Silent:
        arrays = ("logits", "argmax")

    found = storage(asked(10), Silent(), 10**6).audit
    assert (found.failed, found.findings[0].code) == (True, "storage-unknown")
    assert "logits, argmax" in found.headline


def test_a_clip_of_unknown_length_stops_the_suite() -> None:
    found = storage(asked(10, None), Loud(), 10**6).audit
    assert (found.findings[0].code, found.findings[0].clips) == ("storage-unknown", ("test/c1",))
    assert storage(asked(), Loud(), 0).audit.headline == "the arrays of 0 clips take at most 0 bytes of 0"


@pytest.mark.parametrize("said", [-1, 1.0, True, "9", None, float("nan")])
def test_what_is_no_number_of_bytes_stops_the_suite(said: object) -> None:
    class Odd:
        def stored_bytes(self, *_: int) -> object:
            return said

    found = storage(asked(10), Odd(), 10**6).audit
    assert (found.failed, found.findings[0].code) == (True, "storage-invalid")


def test_one_that_raises_stops_the_suite_and_not_the_session() -> None:
    class Leaving:
        def stored_bytes(self, *_: int) -> int:
            raise SystemExit(0)

    assert storage(asked(10), Leaving(), 10**6).audit.findings[0].code == "storage-invalid"


@pytest.mark.parametrize(
    ("text", "size"),
    [(0, 0), (47185920, 47185920), ("512", 512), ("1KiB", 1024), ("45MiB", 47185920), ("2GiB", 2147483648)],
)
def test_a_limit_is_bytes_or_a_size(text: object, size: int) -> None:
    assert Run.model_validate({"max_bytes": text}).max_bytes == size


@pytest.mark.parametrize("text", [-1, 1.5, True, "45MB", "45 MiB", "MiB", "1.5MiB", "-1KiB", "", "45mib", "1KiB\n"])
def test_what_is_neither_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="max_bytes"):
        Run.model_validate({"max_bytes": text})
