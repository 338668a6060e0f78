"""Real sessions of the task `mos`: recorded and heard ratings, human ratings beside them, and a run judged again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.plugin.conftest import write_clip

CLIPS = """id,audio,speaker,system,rating
a,0.wav,s1,x,1.0
b,1.wav,s2,x,2.0
c,2.wav,s3,y,3.0
d,3.wav,s1,y,4.5
e,4.wav,s2,z,4.0
f,5.wav,s3,z,5.0
"""
VALUES = "id,value,sig\na,1.5,2\nb,1.0,2\nc,3.5,3\nd,4.0,3\ne,4.5,4\nf,4.25,4\n"
SUITE = """
task: mos
corpus:
  manifest: ../clips.csv
  root: ..
  columns: {cohorts: {system: system}, rating: {column: rating, range: [1, 5]}}
score: {cohorts: [system], small_groups: {min_clips: 1}}
adapter: {use: predictions, file: ../values.csv, columns: {value: value, scores: {SIG: sig}}}
gates:
  mean: {metric: mos, min: 3.0, why: made up}
  order: {metric: spearman.system, min: 1.0, why: made up}
  worst-system: {metric: mos, cohort: system, min: 1.0, why: made up}
"""
HEARD = """
from pytest_speval import Rating

class Loudness:
    sample_rate = 16000

    def rate(self, pcm, sample_rate):
        return Rating(float(pcm[0]) * 32768 - 99, {"peak": float(abs(pcm).max())})

def pytest_speval_adapters():
    return {"loudness": Loudness}
"""


@pytest.fixture
def folder(pytester: pytest.Pytester) -> Path:
    (pytester.path / "clips.csv").write_text(CLIPS)
    (pytester.path / "values.csv").write_text(VALUES)
    (pytester.path / "suites").mkdir()
    (pytester.path / "suites/mos.yaml").write_text(SUITE.replace("../clips.csv", "clips.csv"))
    (pytester.path / "conftest.py").write_text(HEARD)
    for place in range(6):
        write_clip(pytester.path / f"{place}.wav", 100 + place)
    return pytester.path


def document(folder: Path, out: str = ".speval") -> dict[str, Any]:
    (found,) = (folder / out / "mos").glob("*/out.json")
    said: dict[str, Any] = json.loads(found.read_text())
    return said


def report(folder: Path) -> str:
    (found,) = (folder / ".speval/mos").glob("*/report.md")
    return found.read_text()


def test_recorded_ratings_are_held_against_human_ones(folder: Path, pytester: pytest.Pytester) -> None:
    assert pytester.runpytest("suites").ret == 0
    said = document(folder)
    values = {name: metric["value"] for name, metric in said["metrics"].items()}
    assert values["mos"] == pytest.approx(18.75 / 6)
    assert values["mos_speaker_mean"] == pytest.approx(18.75 / 6)
    assert values["spearman.system"] == 1.0
    assert values["mse"] == pytest.approx((0.25 + 1 + 0.25 + 0.25 + 0.25 + 0.5625) / 6)
    assert said["headline"] == "mos"
    assert said["ratings"] == {
        "rated": 6,
        "humanMean": 3.25,
        "systems": 3,
        "scores": {"SIG": {"mean": 3.0, "clips": 6}},
    }
    assert [group["metrics"]["mos"]["value"] for group in said["cohorts"]["system"]] == [1.25, 3.75, 4.375]
    text = report(folder)
    assert "| spearman.system | 1.0000 |" in text
    assert "6 of 6 clips have a human rating, 3 systems; their mean is 3.2500." in text
    assert "| SIG | 3 | 6 of 6 |" in text


def test_ratings_that_are_heard_and_a_missing_one(folder: Path, pytester: pytest.Pytester) -> None:
    suite = folder / "suites/mos.yaml"
    text = suite.read_text().replace("use: predictions, file: ../values.csv", "use: loudness")
    suite.write_text(text.replace(", columns: {value: value, scores: {SIG: sig}}", ""))
    assert pytester.runpytest("suites").ret == 0
    assert document(folder)["metrics"]["mos"]["value"] == pytest.approx(3.5)
    (folder / "conftest.py").write_text(HEARD.replace("return Rating(", "return pcm[0] > 0.003130 or Rating("))
    run = pytester.runpytest("suites", "--speval-out", "second")
    assert run.ret == 6
    said = document(folder, "second")
    assert said["metrics"]["mos"] | {"interval": 0} == said["metrics"]["mos"] | {"interval": 0, "value": None}
    assert said["metrics"]["mos"]["reason"] == "3 of 6 answered"
    assert said["metrics"]["answered_only.mos"]["value"] is not None


def test_without_human_ratings_the_report_says_so_and_shows_no_comparison(
    folder: Path, pytester: pytest.Pytester
) -> None:
    (folder / "clips.csv").write_text(CLIPS.replace(",rating", ",other"))
    suite = folder / "suites/mos.yaml"
    text = suite.read_text().replace(", rating: {column: rating, range: [1, 5]}", "")
    suite.write_text(text.replace("  order: {metric: spearman.system, min: 1.0, why: made up}\n", ""))
    assert pytester.runpytest("suites").ret == 0
    assert document(folder)["metrics"]["pearson"]["reason"] == "the corpus has no column `rating`"
    text = report(folder)
    assert "No human ratings" in text
    assert "pearson" not in text


@pytest.mark.parametrize(
    ("cell", "told"),
    [("45", "rating `45` is not a number from 1 to 5"), ("good", "rating `good` is not a number from 1 to 5")],
)
def test_a_human_rating_off_its_scale_is_a_fault_of_the_manifest(
    folder: Path, pytester: pytest.Pytester, cell: str, told: str
) -> None:
    (folder / "clips.csv").write_text(CLIPS.replace("4.5", cell))
    run = pytester.runpytest("suites")
    assert run.ret == 2
    run.stdout.fnmatch_lines([f"*clips.csv:5*{told}*"])


def test_an_order_of_the_scale_that_is_wrong_is_a_fault_of_the_suite(folder: Path, pytester: pytest.Pytester) -> None:
    suite = folder / "suites/mos.yaml"
    suite.write_text(suite.read_text().replace("[1, 5]", "[5, 1]"))
    run = pytester.runpytest("suites")
    assert run.ret == 2
    run.stdout.fnmatch_lines(["*mos.yaml:6:*the first number must be below the second*"])


def test_a_run_is_judged_again_from_its_evidence(folder: Path, pytester: pytest.Pytester) -> None:
    assert pytester.runpytest("suites").ret == 0
    first = document(folder)
    (folder / "values.csv").unlink()
    assert pytester.runpytest("suites", "--speval-replay", ".speval", "--speval-out", "again").ret == 0
    second = document(folder, "again")
    assert {name: found["value"] for name, found in first["metrics"].items() if "latency" not in name} == {
        name: found["value"] for name, found in second["metrics"].items() if "latency" not in name
    }
    assert second["ratings"] == first["ratings"]
    assert second["cohorts"] == first["cohorts"]
