"""Near duplicates: copies are found whatever was done to them, other speech is never accused."""

from __future__ import annotations

import hashlib
import io
import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_speval.audit import near
from pytest_speval.audit.alignment import Fit
from pytest_speval.audit.coarse_index import Candidate, candidates
from pytest_speval.audit.near import Match, near_duplicates, verdict, within
from pytest_speval.corpus.fingerprint import Fingerprint, assessable, fingerprint
from tests.unit.audit.voices import RATE, Pcm, talk

TALKS = [talk(seed, 2 + seed % 2) for seed in range(8)]
BEFORE, AFTER = talk(98, 3), talk(99, 3)
SOUNDS: list[Fingerprint | None] = [fingerprint(each, RATE) for each in TALKS]


def coded(pcm: Pcm, container: str, subtype: str) -> Pcm:
    buffer = io.BytesIO()
    soundfile.write(buffer, pcm, RATE, format=container, subtype=subtype)
    buffer.seek(0)
    found, rate = soundfile.read(buffer, dtype="float32")
    return np.asarray(soxr.resample(found, rate, RATE), np.float32)


def rate_changed(pcm: Pcm, rate: int) -> Pcm:
    return np.asarray(soxr.resample(soxr.resample(pcm, RATE, rate), rate, RATE), np.float32)


def noisy(pcm: Pcm) -> Pcm:
    level = float(np.sqrt(np.mean(pcm**2))) / 10
    return pcm + np.random.default_rng(0).normal(0, level, len(pcm)).astype(np.float32)


def louder(pcm: Pcm, factor: float) -> Pcm:
    return np.asarray(np.clip(pcm * np.float32(factor), -1, 1))


CHANGES: dict[str, Callable[[Pcm], Pcm]] = {
    "same": lambda pcm: pcm,
    "flac": lambda pcm: coded(pcm, "FLAC", "PCM_16"),
    "softer": lambda pcm: louder(pcm, 0.25),
    "clipped": lambda pcm: louder(pcm / np.abs(pcm).max(), 4),
    "inverted": lambda pcm: -pcm,
    "mp3": lambda pcm: coded(pcm, "MP3", "MPEG_LAYER_III"),
    "opus": lambda pcm: coded(pcm, "OGG", "OPUS"),
    "gsm": lambda pcm: coded(pcm, "WAV", "GSM610"),
    "mu-law": lambda pcm: coded(pcm, "WAV", "ULAW"),
    "8 kHz": lambda pcm: rate_changed(pcm, 8000),
    "22.05 kHz": lambda pcm: rate_changed(pcm, 22050),
    "44.1 kHz": lambda pcm: rate_changed(pcm, 44100),
    "first 0.5 s cut": lambda pcm: pcm[RATE // 2 :],
    "delayed": lambda pcm: np.concatenate([np.zeros(int(0.37 * RATE), np.float32), pcm]),
    "middle 60 %": lambda pcm: pcm[len(pcm) // 5 : -len(pcm) // 5],
    "noise 20 dB": noisy,
    "in a longer file": lambda pcm: np.concatenate([BEFORE, pcm, AFTER]),
}


def found_pairs(matches: list[Match]) -> set[tuple[int, int]]:
    return {(each.evaluated, each.other) for each in matches if each.kind == "duplicate"}


@pytest.mark.parametrize("change", CHANGES)
def test_copies_of_made_up_voices_are_found_and_nothing_else(change: str) -> None:
    copies = [fingerprint(CHANGES[change](pcm), RATE) for pcm in TALKS]
    assert found_pairs(near_duplicates(copies, SOUNDS)) == {(place, place) for place in range(len(TALKS))}


def test_a_match_says_where_the_copy_lies() -> None:
    part = fingerprint(TALKS[3][RATE : RATE + 24000], RATE)
    (found,) = near_duplicates([None, part], [*SOUNDS[:2], None, SOUNDS[3]])
    assert (found.evaluated, found.other, found.kind) == (1, 3, "duplicate")
    assert found.lag_seconds == pytest.approx(1, abs=0.001)
    assert found.overlap_seconds == pytest.approx(1.5, abs=0.001)
    assert found.waveform > 0.99
    (found,) = near_duplicates([SOUNDS[3]], [part])
    assert found.lag_seconds == pytest.approx(-1, abs=0.001)


@settings(max_examples=5)
@given(st.permutations(range(8)), st.integers(0, 8))
def test_order_and_company_change_no_match(order: list[int], cut: int) -> None:
    sounds = SOUNDS[:4] + [fingerprint(noisy(pcm[8000:]), RATE) for pcm in TALKS[:4]]
    expected = {(place, place + 4) for place in range(4)}
    inside = within([sounds[place] for place in order])
    assert [(each.evaluated, each.other) for each in inside] == sorted((e.evaluated, e.other) for e in inside)
    pairs = [sorted((order[one], order[two])) for one, two in found_pairs(inside)]
    assert sorted(map(tuple, pairs)) == sorted(expected)
    across = near_duplicates([sounds[place] for place in order[:cut]], [sounds[place] for place in order[cut:]])
    sides = {tuple(sorted((order[one], order[cut + two]))) for one, two in found_pairs(across)}
    assert sides == {pair for pair in expected if (pair[0] in order[:cut]) != (pair[1] in order[:cut])}
    alone = {
        (each.waveform, each.logmel)
        for one, two in itertools.product(order[:cut], order[cut:])
        for each in near_duplicates([sounds[one]], [sounds[two]])
    }
    assert {(each.waveform, each.logmel) for each in across} == alone


def test_what_is_not_assessable_matches_nothing_not_even_itself() -> None:
    short, silent = fingerprint(TALKS[0][:15900], RATE), fingerprint(np.zeros(32000, np.float32), RATE)
    assert near_duplicates([short, silent, None], [short, silent, SOUNDS[0], None]) == []
    assert within([short, short, silent, silent, None, None]) == []
    assert within([]) == []


@pytest.mark.parametrize("turned", [False, True])
def test_copies_within_are_found_from_either_side(turned: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def one_side(*sides: list[Fingerprint | None]) -> list[Candidate]:
        return [each for each in candidates(*sides) if (each.first > each.second) is turned]

    monkeypatch.setattr(near, "candidates", one_side)
    (found,) = within([SOUNDS[0], SOUNDS[1], fingerprint(TALKS[0][8000:], RATE)])
    assert (found.evaluated, found.other) == (0, 2)
    assert found.lag_seconds == pytest.approx(-0.5, abs=0.001)


@pytest.mark.parametrize(
    ("waveform", "logmel", "audible", "expected"),
    [
        (0.75, 0.0, 98, "duplicate"),
        (0.749, 0.9549, 98, "look"),
        (0.0, 0.955, 98, "duplicate"),
        (0.0, 0.80, 98, "look"),
        (0.74, 0.7999, 98, None),
        (0.90, 0.0, 97, "duplicate"),
        (0.899, 0.99, 97, None),
    ],
)
def test_the_rule_at_its_limits(waveform: float, logmel: float, audible: int, expected: str | None) -> None:
    assert verdict(Fit(waveform, 0, 8000, audible), Fit(logmel, 0, 8000, audible)) == expected


_IN_PROCESS = """
import hashlib, sys
import numpy as np
from pytest_speval.audit.near import near_duplicates
from pytest_speval.corpus.fingerprint import fingerprint
sounds = [fingerprint(pcm, 16000) for pcm in np.load(sys.argv[1])]
print(hashlib.sha256(repr(near_duplicates(sounds, sounds[::-1])).encode()).hexdigest())
"""


def test_the_number_of_threads_changes_no_digit(tmp_path: Path) -> None:
    path = tmp_path / "sounds.npy"
    np.save(path, np.stack([pcm[: 2 * RATE] for pcm in TALKS] + [noisy(TALKS[0][: 2 * RATE])]))
    said = set()
    for threads in ("1", "2"):
        environment = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        command = [sys.executable, "-c", _IN_PROCESS, str(path)]
        said.add(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)
    assert len(said) == 1
    assert said != {hashlib.sha256(b"[]").hexdigest() + "\n"}


@pytest.mark.realdata
def test_copies_of_real_speech_are_found_and_nothing_else(shared: Path) -> None:
    paths = sorted((shared / "data" / "read-speech").rglob("*.mp3"))[:100:10]
    paths += sorted((shared / "data" / "emodb-copy" / "audio").rglob("*.wav"))[::20]
    clips = [soundfile.read(path, dtype="float32") for path in paths]
    speech = [np.asarray(soxr.resample(pcm, rate, RATE), np.float32) for pcm, rate in clips]
    held: list[Fingerprint | None] = [fingerprint(pcm, RATE) for pcm in speech]
    for change in CHANGES.values():
        copies = [fingerprint(change(pcm), RATE) for pcm in speech]
        right = {(place, place) for place, each in enumerate(copies) if assessable(each)}
        found = found_pairs(near_duplicates(copies, held))
        assert found <= right
        assert len(found) >= 0.95 * len(right)
        if change in (CHANGES["same"], CHANGES["flac"]):
            assert found == right


@pytest.mark.realdata
def test_second_takes_of_words_are_no_duplicates(shared: Path) -> None:
    """Five takes of a string of digits, each from recordings of its own, and of a digit in silence."""
    folder = shared / "data" / "fsdd-test" / "audio"
    takes: list[Fingerprint | None] = []
    for speaker in ("jackson", "nicolas", "theo"):
        for take in range(5):
            digits = [soundfile.read(folder / f"{digit}_{speaker}_{take}.wav", dtype="float32")[0] for digit in "70358"]
            takes.append(fingerprint(np.concatenate(digits), 8000))
            quiet = np.random.default_rng(take).normal(0, 1e-4, 4000).astype(np.float32)
            takes.append(fingerprint(np.concatenate([quiet, digits[0], quiet[::-1]]), 8000))
    assert sum(each is not None and assessable(each) for each in takes) > 20
    # Each recording also stands in a string: that is a copy. Strings and words are held apart.
    assert found_pairs(within(takes[::2])) == set()
    assert found_pairs(within(takes[1::2])) == set()
