"""Gates by accent and gender on real recognisers (the Artie bias corpus), against plain recounts."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein

from pytest_speval.corpus.cohorts import CohortRule
from pytest_speval.judge.group import SmallGroups
from pytest_speval.judge.result import Result
from pytest_speval.judge.sample import IntervalRule
from tests.runs import Clip, gate, judged, said
from tests.unit.judge.test_real_releases import sentences

pytestmark = pytest.mark.realdata
SYSTEM = "deepspeech/v0-7-3"
SMALL = SmallGroups(10, 3)


@cache
def people(shared: Path) -> dict[str, dict[str, str]]:
    with (shared / "data/artie-bias/artie-bias-corpus.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row["path"].removeprefix("common_voice_en_").removesuffix(".mp3"): row for row in rows}


@cache
def clips(shared: Path) -> tuple[Clip, ...]:
    folder = shared / "data/artie-bias/normalised"
    heard, who = sentences(folder / f"{SYSTEM.replace('/', '_')}.trn"), people(shared)
    found = []
    for name, text in sentences(folder / "ref.trn").items():
        row = who[name.removeprefix("cv-")]
        cells = {f"cohort.{key}": None if row[key] in ("NA", "") else row[key] for key in ("accent", "gender")}
        found.append(Clip(name, "", said(text=heard[name]), row["client_id"], cells={"transcript": text, **cells}))
    return tuple(found)


def wer_by(shared: Path, cohort: str) -> dict[str, float]:
    """The word error rate of every group that is large enough, counted by another tool."""
    groups: dict[str, list[Clip]] = {}
    for clip in clips(shared):
        if clip.cells[f"cohort.{cohort}"] is not None:
            groups.setdefault(clip.cells[f"cohort.{cohort}"], []).append(clip)
    return {
        name: sum(_errors(clip) for clip in group) / sum(len(clip.cells["transcript"].split()) for clip in group)
        for name, group in groups.items()
        if len(group) >= SMALL.min_clips and len({clip.speaker for clip in group}) >= (SMALL.min_speakers or 0)
    }


def _errors(clip: Clip) -> int:
    heard = (clip.ending.answer or {})["text"]
    return Levenshtein.distance(clip.cells["transcript"].split(), heard.split())


@cache
def result(shared: Path) -> Result:
    rules = [
        rule
        for cohort in ("accent", "gender")
        for rule in (
            gate("wer", id=f"{cohort}-floor", cohort=cohort, max=0.45),
            gate("wer", id=f"{cohort}-gap", cohort=cohort, gap=True, max=0.1),
            gate("wer", id=f"{cohort}-luck", cohort=cohort, gap=True, chance=True),
        )
    ]
    cohorts = [CohortRule("accent"), CohortRule("gender")]
    return judged(clips(shared), (), *rules, task="asr", cohorts=cohorts, small_groups=SMALL, interval=IntervalRule())


@pytest.mark.parametrize("cohort", ["accent", "gender"])
def test_the_worst_group_and_the_gap_are_those_of_a_recount(shared: Path, cohort: str) -> None:
    expected = wer_by(shared, cohort)
    worst, best = max(expected, key=expected.__getitem__), min(expected, key=expected.__getitem__)
    floor, gap, _ = (verdict for verdict in result(shared).verdicts if verdict.rule.cohort == cohort)
    assert floor.spread is not None
    assert floor.spread.worst is not None
    assert floor.spread.worst.group is not None
    assert floor.value == pytest.approx(expected[worst])
    assert floor.spread.worst.group.value == worst
    assert floor.verdict == ("pass" if expected[worst] <= 0.45 else "fail")
    assert gap.value == pytest.approx(expected[worst] - expected[best])
    record = gap.as_dict()
    assert (record["group"]["value"], record["best_group"]["value"]) == (worst, best)
    named = {left["group"]["value"] for left in record["not_gated"]}
    everyone = {clip.cells[f"cohort.{cohort}"] for clip in clips(shared)}
    assert named == everyone - expected.keys(), "small groups, and nobody's"


@pytest.mark.parametrize("cohort", ["accent", "gender"])
def test_what_chance_gives_is_what_another_permutation_test_finds(shared: Path, cohort: str) -> None:
    luck = next(verdict for verdict in result(shared).verdicts if verdict.rule.id == f"{cohort}-luck")
    assert luck.spread is not None
    chance = luck.spread.chance
    assert chance is not None
    gated = wer_by(shared, cohort)
    pieces: dict[tuple[str | None, str], tuple[int, int]] = {}
    for clip in clips(shared):
        group = clip.cells[f"cohort.{cohort}"]
        if group in gated:
            errors, words = pieces.get((clip.speaker, group), (0, 0))
            told = errors + _errors(clip), words + len(clip.cells["transcript"].split())
            pieces[clip.speaker, group] = told
    assert chance.units == len(pieces)
    counts, groups = np.array([*pieces.values()], dtype=float), np.array([group for _, group in pieces])
    random, gaps = np.random.default_rng(11), []
    for _ in range(2000):
        dealt = random.permutation(groups)
        rates = [np.divide(*counts[dealt == name].sum(axis=0)) for name in gated]
        gaps.append(max(rates) - min(rates))
    low, high = np.quantile(gaps, [0.935, 0.965])
    assert low <= chance.limit <= high
    assert luck.value is not None
    assert luck.verdict == ("pass" if luck.value <= chance.limit else "fail")
