"""Sampling rates that single clips have alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_speval.corpus.contract import Contract
from tests.unit.audit.corpora import audited, clips_of, notices, sound_file


def corpus(root: Path, rates: list[int]) -> list[str]:
    return [sound_file(root, f"{place}.wav", 800 + place, rate) for place, rate in enumerate(rates)]


@pytest.mark.parametrize(
    ("usual", "others", "said"),
    [
        (20, [48_000], True),
        (18, [8000, 48_000], True),
        (17, [8000, 48_000], False),
        (9, [48_000], False),
        (20, [], False),
    ],
)
def test_a_rate_of_few_beside_one_of_nine_in_ten_is_an_outlier(
    tmp_path: Path, usual: int, others: list[int], said: bool
) -> None:
    names = corpus(tmp_path, [16_000] * usual + others)
    found = notices(audited(tmp_path, clips_of(names, names)))
    assert ("rate-outliers" in found) is said
    if said:
        finding = found["rate-outliers"]
        rates = ", ".join(f"{rate:,} Hz" for rate in others)
        assert finding.message == f"{len(others)} of {len(names)} clips: {rates}, and all others 16,000 Hz"
        assert finding.clips == tuple(names[usual:])


def test_where_clips_are_resampled_the_outlier_is_still_named(tmp_path: Path) -> None:
    names = corpus(tmp_path, [24_000] * 20 + [48_000])
    found = notices(audited(tmp_path, clips_of(names, names), Contract(rate=16_000, resample=True)))
    assert found.keys() == {"rate-outliers", "resampled"}
    assert found["resampled"].message.startswith("21 of 21 clips, the first: resampled 24000->16000 with soxr ")


def test_where_the_contract_fixes_the_rate_the_clip_is_its_fault_and_named_once(tmp_path: Path) -> None:
    names = corpus(tmp_path, [16_000] * 20 + [48_000])
    (finding,) = audited(tmp_path, clips_of(names, names), Contract(rate=16_000)).audit.findings
    assert (finding.severity, finding.code, finding.clips) == ("error", "wrong-rate", (names[20],))
