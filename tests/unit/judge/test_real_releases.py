"""Releases of real recognisers, of which it is known whether they differ (nine systems on the Artie bias corpus)."""

from __future__ import annotations

import csv
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from rapidfuzz.distance import Levenshtein
from scipy import stats

from pytest_speval.corpus.trn import trn
from pytest_speval.judge.against import Comparison
from pytest_speval.judge.result import Result
from pytest_speval.judge.sample import IntervalRule
from tests.against import against, baseline_of, compared
from tests.runs import Clip, said

pytestmark = pytest.mark.realdata
RULES: dict[str, Any] = {"run": {"missing": "worst"}, "text": {"normalizer": "none"}}
BY_CLIP = IntervalRule(unit="clip")
PAIRS = {
    "deepspeech/v0-6-0 vs deepspeech/v0-7-3": "better",
    "deepspeech/v0-5-1 vs deepspeech/v0-6-0": "better",
    "google/en-US/dec-4-2019 vs amazon/en-US/dec-9-2019": None,
    "amazon/en-US/dec-9-2019 vs amazon/en-GB/dec-9-2019": None,
}
"""Former and later system, and how the later one differs beyond doubt, if it does."""


@cache
def sentences(file: Path) -> dict[str, str]:
    """Id -> words, from a NIST .trn file."""
    return {str(name): str(words) for name, words in trn(file.read_text(), file.name).rows}


@cache
def speakers(shared: Path) -> dict[str, str]:
    with (shared / "data/artie-bias/artie-bias-corpus.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row["path"].removeprefix("common_voice_en_").removesuffix(".mp3"): row["client_id"] for row in rows}


def transcribed(shared: Path, system: str) -> list[Clip]:
    folder = shared / "data/artie-bias/normalised"
    heard, spoke = sentences(folder / f"{system.replace('/', '_')}.trn"), speakers(shared)
    return [
        Clip(name, "", said(text=heard[name]), spoke[name.removeprefix("cv-")], cells={"transcript": text})
        for name, text in sentences(folder / "ref.trn").items()
    ]


def release(shared: Path, pair: str, rule: IntervalRule = BY_CLIP) -> Result:
    former, later = pair.split(" vs ")
    baseline = baseline_of(transcribed(shared, former), "asr", RULES)
    gates = [
        against(baseline, "wer", id="worse", max_drop=0.0, bound="high"),
        against(baseline, "wer", id="better", min_gain=0.0, bound="high"),
        against(baseline, "wer", id="tolerant", max_drop=0.01, bound="high"),
    ]
    return compared(transcribed(shared, later), baseline, *gates, task="asr", rules=RULES, interval=rule)


def only(result: Result) -> Comparison:
    (found,) = result.comparisons
    return found


@pytest.mark.parametrize("pair", PAIRS)
def test_differences_are_those_of_other_tools(shared: Path, pair: str) -> None:
    expected = json.loads((shared / "data/artie-bias/EXPECTED.json").read_text())["paired"][pair]
    result = release(shared, pair)
    found = (only(result).differences or {})["wer"]
    assert found.estimate.value == pytest.approx(expected["wer_difference_b_minus_a"], abs=1e-6)
    interval = found.estimate.interval
    assert interval is not None
    # another generator drew theirs: the ends agree to a few percent of the width
    assert (interval.low, interval.high) == pytest.approx(expected["paired_bootstrap95"], abs=1.5e-3)
    verdicts = {verdict.rule.id: verdict.verdict for verdict in result.verdicts}
    assert verdicts["better"] == ("pass" if PAIRS[pair] == "better" else "fail")
    assert verdicts["tolerant"] == "pass"


@pytest.mark.parametrize("pair", PAIRS)
def test_clips_won_and_lost_and_the_second_opinion(shared: Path, pair: str) -> None:
    expected = json.loads((shared / "data/artie-bias/EXPECTED.json").read_text())["paired"][pair]
    found = only(release(shared, pair))
    former, later = pair.split(" vs ")
    before, after = ({clip.id: _errors(clip) for clip in transcribed(shared, system)} for system in (former, later))
    signs = Counter((before[name] > after[name]) - (before[name] < after[name]) for name in before)
    assert (len(found.wins), len(found.losses)) == (signs[1], signs[-1])
    put_right = sum(swing.errors_after == 0 for swing in found.wins)
    assert put_right == expected["utterances"]["only_b_right"]
    spoilt = sum(swing.errors_before == 0 for swing in found.losses)
    assert spoilt == expected["utterances"]["only_a_right"]
    change = [after[name] - before[name] for name in before]
    assert found.opinion is not None
    assert found.opinion.statistic == pytest.approx(sum(change) / len(change) / stats.sem(change), rel=1e-5)
    assert ((found.opinion.p or 0) < 0.05) == expected["mapsswe"]["significant_95"]
    assert abs(found.opinion.statistic or 0) == pytest.approx(expected["mapsswe"]["z"], rel=0.1)


def _errors(clip: Clip) -> int:
    heard = (clip.ending.answer or {})["text"]
    return Levenshtein.distance(clip.cells["transcript"].split(), heard.split())


def test_a_release_that_hears_more_words_hears_fewer_letters_and_the_report_says_both(shared: Path) -> None:
    found = only(release(shared, "deepspeech/v0-6-0 vs deepspeech/v0-7-3")).differences or {}
    assert (found["wer"].change, found["cer"].change) == ("better", "worse")
    assert (found["cer"].baseline, found["cer"].candidate) == pytest.approx((0.2498, 0.2585), abs=1e-4)
    assert found["wer"].detectable == pytest.approx(2.8 * (0.0232 - 0.0045) / 3.92, rel=0.06)


def test_by_speaker_the_release_is_still_better(shared: Path) -> None:
    result = release(shared, "deepspeech/v0-6-0 vs deepspeech/v0-7-3", IntervalRule())
    interval = (only(result).differences or {})["wer"].estimate.interval
    assert interval is not None
    assert interval.clusters == 969
    assert interval.high is not None
    assert interval.high < 0
