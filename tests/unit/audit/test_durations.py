"""Clips of one length, and clips far from all others; no ordinary corpus is accused."""

from __future__ import annotations

import csv
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.audit.durations import outlying
from tests.unit.audit.corpora import audited, clips_of, notices, sound_file


def places(seconds: Any) -> list[int]:
    return list(map(int, outlying(np.asarray(seconds, np.float64))))


@pytest.mark.parametrize(
    ("far", "said"), [(2.0 * 3.4, False), (2.0 * 3.6, True), (2.0 / 3.4, False), (2.0 / 3.6, True)]
)
def test_among_clips_of_one_length_a_factor_of_three_and_a_half_is_far(far: float, said: bool) -> None:
    assert places([2.0] * 30 + [far]) == ([30] if said else [])


def test_the_wider_the_lengths_spread_the_farther_is_far() -> None:
    lengths = np.exp(np.random.default_rng(5).normal(1.0, 0.7, 2000))
    assert places(lengths) == []
    assert places([*lengths, 300.0, 0.01]) == [2000, 2001]
    assert places([*lengths, 20.0, 0.3]) == []


def test_each_side_has_its_own_spread() -> None:
    skewed = np.concatenate([np.linspace(0.5, 10, 100), np.linspace(10, 11, 100)])
    assert places([*skewed, 30.0]) == []
    assert places([*skewed, 40.0]) == [200]
    assert places([*skewed, 1.0]) == []
    steps = np.abs(np.random.default_rng(6).normal(0, 1, 500))
    wide_below = [*np.exp(-steps), *np.exp(0.2 * steps)]
    assert places([*wide_below, np.exp(2.0)]) == [1000]
    assert places([*wide_below, np.exp(-2.0)]) == []


def test_long_tails_are_no_outliers() -> None:
    assert places([2.0] * 95 + [20.0]) == [95]
    assert places([2.0] * 95 + [20.0] * 2) == []
    assert places([2.0] * 300 + [20.0] * 4) == [300, 301, 302, 303]
    assert places([2.0] * 300 + [20.0] * 5) == []


def test_few_clips_have_no_spread_and_a_clip_of_no_length_always_stands_out() -> None:
    assert places([2.0] * 18 + [90.0]) == []
    assert places([2.0] * 19 + [90.0]) == [19]
    assert places([0.0, 2.0]) == [0]
    assert places([0.0] * 5 + [2.0] * 95 + [20.0]) == [0, 1, 2, 3, 4, 100]
    assert places([]) == []


@given(st.lists(st.floats(0.01, 1000), min_size=1, max_size=80), st.floats(0.1, 10), st.randoms())
def test_unit_and_order_of_lengths_do_not_matter(lengths: list[float], unit: float, random: Any) -> None:
    far = {lengths[place] for place in places(lengths)}
    random.shuffle(lengths)
    assert {lengths[place] for place in places(lengths)} == far
    scaled = [length * 2.0 ** round(unit) for length in lengths]
    assert len(places(scaled)) == len(places(lengths))


@given(st.lists(st.floats(1.0, 3.4), min_size=1, max_size=80))
def test_lengths_within_the_least_factor_are_never_far(lengths: list[float]) -> None:
    assert places(lengths) == []


def test_an_outlier_is_named_with_its_length_and_the_median(tmp_path: Path) -> None:
    names = [sound_file(tmp_path, f"{place}.wav", 1600 + place) for place in range(25)]
    names.insert(3, sound_file(tmp_path, "long.wav", 16_000))
    finding = notices(audited(tmp_path, clips_of(names, names)))["duration-outliers"]
    assert finding.message == "1 of 26 clips: 1 s; the median is 0.1008 s"
    assert finding.clips == ("long.wav",)


def test_without_sound_the_declared_lengths_count(tmp_path: Path) -> None:
    ids = [f"c{place}" for place in range(31)]
    clips = clips_of(ids, excluded=["mis-cut", *[None] * 30], seconds=["999", "0", None, *["2.5"] * 27, "304.937"])
    finding = notices(audited(tmp_path, clips))["duration-outliers"]
    assert finding.message == "2 of 29 clips: 0 s, 304.9 s; the median is 2.5 s"
    assert finding.clips == ("c1", "c30")


def test_at_most_four_lengths_are_shown_and_all_clips_listed(tmp_path: Path) -> None:
    ids = [f"c{place}" for place in range(505)]
    clips = clips_of(ids, seconds=["2"] * 500 + ["30", "40", "50", "60", "0.1"])
    finding = notices(audited(tmp_path, clips))["duration-outliers"]
    assert finding.message == "5 of 505 clips: 60 s, 50 s, 40 s, 0.1 s, ...; the median is 2 s"
    assert finding.clips == tuple(ids[500:])


# --- one length


@pytest.mark.parametrize(
    ("equal", "others", "message"),
    [
        (10, 0, "all 10 clips have exactly 800 frames"),
        (9, 0, None),
        (9, 1, None),
        (18, 2, "18 of 20 clips have exactly 800 frames; these have not"),
        (17, 2, None),
    ],
)
def test_nine_of_ten_clips_and_at_least_ten_of_one_length_are_reported(
    tmp_path: Path, equal: int, others: int, message: str | None
) -> None:
    names = [sound_file(tmp_path, f"e{place}.wav", 800) for place in range(equal)]
    rest = [sound_file(tmp_path, f"o{place}.wav", 900 + place) for place in range(others)]
    found = notices(audited(tmp_path, clips_of(names + rest, names + rest)))
    assert ("equal-durations" in found) is (message is not None)
    if message is not None:
        assert found["equal-durations"].message == message
        assert found["equal-durations"].clips == tuple(rest)


def test_equal_counts_of_frames_at_two_rates_are_two_lengths(tmp_path: Path) -> None:
    names = [sound_file(tmp_path, f"{place}.wav", 800, (8000, 16_000)[place % 2]) for place in range(20)]
    assert not notices(audited(tmp_path, clips_of(names, names)))


# --- real data


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def seconds_of(mark: str) -> float:
    clock, milliseconds = mark.split(",")
    hours, minutes, seconds = map(int, clock.split(":"))
    return timedelta(0, seconds, 0, int(milliseconds), minutes, hours).total_seconds()


@pytest.mark.realdata
def test_the_mis_cut_clips_of_meld_are_found(shared: Path) -> None:
    table = rows(shared / "data/meld/test_sent_emo.csv")
    ids = [f"dia{row['Dialogue_ID']}_utt{row['Utterance_ID']}" for row in table]
    lengths: list[Any] = [f"{seconds_of(row['EndTime']) - seconds_of(row['StartTime']):.3f}" for row in table]
    finding = notices(audited(shared, clips_of(ids, seconds=lengths)))["duration-outliers"]
    assert finding.message == "3 of 2,610 clips: 0 s, 304.9 s, 235.1 s; the median is 2.46 s"
    assert set(finding.clips) == {"dia38_utt4", "dia220_utt0", "dia155_utt3"}
    assert [float(length) for length in lengths if not 0.1 < float(length) < 17] == [304.94, 0.0, 235.068]


@pytest.mark.realdata
def test_ordinary_corpora_have_no_outliers_and_no_common_length(shared: Path) -> None:
    data = shared / "data"
    lengths = {"read-speech": [float(row["seconds"]) for row in rows(data / "read-speech/manifest.csv")]}
    lengths["fsdd"] = [int(row["frames"]) / int(row["samplerate"]) for row in rows(data / "fsdd-test/manifest.csv")]
    lengths["emodb"] = [float(row["original_seconds"]) for row in rows(data / "emodb-copy/labels_all_535.csv")]
    for path in sorted((data / "emobox-splits").glob("*/*.jsonl")):
        lengths[path.stem] = [json.loads(line)["length"] for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(lengths) == 23
    assert not {name for name, seconds in lengths.items() if places(seconds)}
    for folder in ("read-speech", "fsdd-test"):
        names = [row["path"] for row in rows(data / folder / "manifest.csv")]
        assert not notices(audited(data / folder, clips_of(names, names))).keys() - {"over-full-scale"}
