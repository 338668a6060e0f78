"""Real listening tests through the task and its cohorts, held against published means and against scipy."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from scipy import stats

from pytest_speval.corpus.cohorts import CohortRule
from pytest_speval.evidence.ending import Ending
from pytest_speval.judge.group import SmallGroups
from pytest_speval.judge.result import Result
from pytest_speval.judge.sample import IntervalRule
from tests.runs import Clip, judged

pytestmark = pytest.mark.realdata
SYSTEM = CohortRule("system")


def compared(rows: Sequence[tuple[str, str, str | None, float, float]]) -> Result:
    """A judged run of (id, system, speaker, answer, human rating)."""
    clips = [
        Clip(
            name,
            "",
            Ending("returned", {"value": answer}, microseconds=1000),
            speaker=speaker,
            cells={"rating": repr(human), "cohort.system": system},
        )
        for name, system, speaker, answer, human in rows
    ]
    return judged(
        clips,
        (),
        task="mos",
        missing="withhold",
        cohorts=[SYSTEM],
        small_groups=SmallGroups(),
        interval=IntervalRule(replicates=40),
    )


def means(result: Result) -> dict[str, float]:
    """The mean rating of each system, as the cohort has it."""
    (cohort,) = result.cohorts
    return {str(group.group.value): float(group.estimates["mos"].value or 0) for group in cohort.groups}


@pytest.fixture(scope="module")
def vcc(shared: Path) -> tuple[Result, Mapping[str, float], Any]:
    """VCC 2018: the mean scores of utterances as answers, the published mean of their system as human rating."""
    folder = shared / "data/mos-vcc2018"
    with (folder / "vcc2018_system.csv").open() as file:
        published = {row["system_ID"]: float(row["mean"]) for row in csv.DictReader(file)}
    rows = []
    with (folder / "mos_list.txt").open() as file:
        for row in csv.DictReader(file):
            system, speaker, *_, task = row["filename"].removesuffix(".wav").split("_")
            name = f"{task}_{system}"
            rows.append((row["filename"], name, speaker, float(row["mos"]), published[name]))
    return compared(rows), published, json.loads((folder / "EXPECTED.json").read_text())


def test_vcc_system_means_equal_the_published_ones_for_37_of_38(vcc: Any) -> None:
    result, published, expected = vcc
    found = means(result)
    assert len(found) == len(published) == expected["systems"]
    apart = {name: abs(mean - published[name]) for name, mean in found.items() if abs(mean - published[name]) > 5e-7}
    assert apart.keys() == {expected["system_with_that_difference"]}
    assert max(apart.values()) == pytest.approx(expected["max_abs_difference_to_published"], abs=1e-6)
    sizes = {str(group.group.value): group.counts.planned for group in result.cohorts[0].groups}
    for name, (mean, count) in expected["system_mean_from_utterances"].items():
        assert found[name] == pytest.approx(mean, abs=5e-7)
        assert sizes[name] == count


def test_vcc_systems_are_ordered_as_published(vcc: Any) -> None:
    result, published, expected = vcc
    found = result.estimates
    assert found["spearman.system"].value == pytest.approx(expected["spearman"], abs=1e-12)
    assert found["pearson.system"].value == pytest.approx(expected["pearson"], abs=5e-7)
    assert found["mse.system"].value == pytest.approx(expected["max_abs_difference_to_published"] ** 2 / 38, rel=1e-3)
    assert found["spearman.system"].n == len(published)
    assert found["mos"].value == pytest.approx(expected["mean"], abs=5e-7)
    interval = found["pearson.system"].interval
    assert interval is not None
    assert interval.low is not None
    assert 0.9 < interval.low <= 1


def test_vcc_utterances_correlate_with_their_systems_as_scipy_has_it(vcc: Any) -> None:
    result, _, expected = vcc
    answers, human = np.array([(row.answer, row.reference) for row in result.rows]).T
    assert len(answers) == expected["utterances"]
    assert result.estimates["pearson"].value == pytest.approx(stats.pearsonr(human, answers).statistic, abs=1e-9)
    assert result.estimates["spearman"].value == pytest.approx(stats.spearmanr(human, answers).statistic, abs=1e-9)
    assert result.estimates["spearman"].interval is None
    assert result.estimates["mse"].value == pytest.approx(np.mean((human - answers) ** 2))


def test_two_halves_of_a_listening_panel_are_compared_as_scipy_has_it(shared: Path) -> None:
    folder = shared / "data/mos-listener-votes"
    expected = json.loads((folder / "EXPECTED.json").read_text())
    halves: tuple[defaultdict[tuple[str, str], list[int]], ...] = (defaultdict(list), defaultdict(list))
    with (folder / "TRAINSET_external.txt").open() as file:
        votes = list(csv.reader(file))
    half_of = {who: place % 2 for place, who in enumerate(sorted({vote[4] for vote in votes}))}
    for system, name, rating, _, who in votes:
        halves[half_of[who]][name, system].append(int(rating))
    both = sorted(halves[0].keys() & halves[1].keys())
    x, y = (np.array([fmean(half[key]) for key in both]) for half in halves)
    systems = [system for _, system in both]
    result = compared(
        [(name, system, None, b, a) for (name, system), a, b in zip(both, x.tolist(), y.tolist(), strict=True)]
    )
    assert len(half_of) == expected["listeners"]
    assert len(both) > 300
    assert result.estimates["pearson"].value == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
    assert result.estimates["spearman"].value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
    names = sorted(set(systems))
    a, b = (np.array([fmean(side[np.array(systems) == name]) for name in names]) for side in (x, y))
    assert result.estimates["spearman.system"].value == pytest.approx(stats.spearmanr(a, b).statistic, abs=1e-9)
    assert means(result) == pytest.approx(dict(zip(names, b.tolist(), strict=True)))


def test_every_vote_of_a_panel_weighs_alike(shared: Path) -> None:
    folder = shared / "data/mos-listener-votes"
    expected = json.loads((folder / "EXPECTED.json").read_text())
    with (folder / "TRAINSET_external.txt").open() as file:
        votes = list(csv.reader(file))
    rows = [
        (f"v{place}", system, who, float(rating), float(rating))
        for place, (system, _, rating, _, who) in enumerate(votes)
    ]
    found = compared(rows).estimates
    assert found["mos"].value == pytest.approx(expected["mean"], abs=5e-7)
    assert (found["mos"].denominator, found["mos_speaker_mean"].n) == (expected["rows"], expected["listeners"])
    assert (found["pearson"].value, found["spearman"].value, found["mse"].value) == (1.0, 1.0, 0.0)
