"""`observe`: a scorer that is watched in whole sessions, and `verify[crops]`, which cuts every crop again."""

from __future__ import annotations

import json
import wave
from typing import Any

import numpy as np
import pytest

from pytest_speval.command import main
from pytest_speval.scoring.crops import Crop, selected
from tests.plugin.conftest import Project
from tests.scorer import ALIAS, RULE, SCORE, SOURCE
from tests.unit.scoring.test_crops import GOLDEN

ADAPTER = """
from pytest_speval import Rating
from small_scorer import scoring

class Small:
    sample_rate = 16000

    def __init__(self, seed=20261012, broken=None):
        self.seed, self.broken = seed, broken

    def rate(self, pcm, sample_rate):
        if self.broken == len(pcm):
            raise RuntimeError("no luck")
        return Rating(scoring.score(pcm, self.seed))

def pytest_speval_adapters():
    return {"small": Small}
"""
SUITE = """task: mos
corpus: {root: .., manifest: clips.csv}
adapter: {use: small}
"""
LENGTHS = [80_000, 33_040, 48_000]


def write(project: Project, rule: dict[str, Any] | None = None, extra: str = "") -> None:
    """Three clips, the scorer as a package, and a suite that watches it."""
    package = project.path / "small_scorer"
    package.mkdir()
    for name, text in {"__init__": "", "_crops": SOURCE, "ssl": ALIAS, "multi_spec": ALIAS, "scoring": SCORE}.items():
        (package / f"{name}.py").write_text(text)
    (project.path / "conftest.py").write_text(ADAPTER)
    for samples in LENGTHS:
        sound = np.random.default_rng(samples).integers(-9_000, 9_000, samples).astype("<i2")
        with wave.open(str(project.path / f"{samples}.wav"), "wb") as file:
            file.setparams((1, 2, 16_000, 0, "NONE", ""))
            file.writeframes(sound.tobytes())
    rows = [f"c{samples},{samples}.wav" for samples in LENGTHS]
    (project.path / "clips.csv").write_text("\n".join(["id,audio", *rows]) + "\n")
    (project.path / "suites").mkdir()
    watched = f"observe: {json.dumps(rule or RULE.model_dump(mode='json', exclude_none=True))}\n"
    (project.path / "suites/quality.yaml").write_text(SUITE + watched + extra)


def rows(project: Project) -> list[dict[str, Any]]:
    lines = (project.folder("quality") / "clips.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_crops_are_seen_and_made_again(project: Project, distributed: tuple[str, ...]) -> None:
    write(project)
    run = project.run("-v", *distributed)
    run.stdout.fnmatch_lines(["*::verify?crops? PASSED*"])
    assert run.ret == 0
    found = project.document("quality")["observation"]
    assert (found["complete"], found["incomplete"], found["unobserved"], found["faults"]) == (3, 0, 0, {})
    for row, samples in zip(rows(project), LENGTHS, strict=True):
        crops = row["raw"]["observation"]["crops"]
        assert [crop["start"] for crop in crops] == GOLDEN[samples]
        union = selected(samples, [Crop(crop["start"], crop["length"], crop["tiles"]) for crop in crops])
        assert row["selected"] == {"samples": union, "of": samples}
    assert found["share"]["min"] == pytest.approx(0.8711, abs=5e-5)
    assert main(["verify", str(project.folder("quality"))]) == 0


def test_the_report_says_what_a_union_is(project: Project) -> None:
    write(project)
    project.run()
    report = (project.folder("quality") / "report.md").read_text()
    assert "## Observation" in report
    assert "neither attention, nor the weight of what is mixed in" in report
    assert "| complete" in report
    assert "3 of 3" in report


def test_an_observation_that_fails_is_no_failed_rating(project: Project) -> None:
    rule = RULE.model_dump(mode="json", exclude_none=True)
    rule["kinds"][0]["count"] = 2
    write(project, rule, "gates: {mos: {metric: mos, min: 1, why: a}}\n")
    assert project.run().ret == 0
    document = project.document("quality")
    assert document["counts"]["answered"] == 3
    assert document["observation"]["complete"] == 0
    assert document["observation"]["share"] is None
    assert document["observation"]["faults"] == {"ssl.select_random_start: 1 of 2 crops": 3}


def test_a_failed_rating_is_unobserved(project: Project) -> None:
    write(project, extra="run: {max_failed: 1}\n")
    assert project.run("--speval-set=quality.adapter.broken=48000").ret == 0
    document = project.document("quality")
    assert document["observation"] | {"complete": 2, "unobserved": 1} == document["observation"]
    assert document["metrics"]["mos"]["value"] is None


def test_another_seed_than_the_rules_is_found(project: Project) -> None:
    write(project, extra="gates: {mos: {metric: mos, min: 1, why: a}}\n")
    run = project.run("--speval-set=quality.adapter.seed=7")
    run.stdout.fnmatch_lines(["*verify crops of quality: FAIL: 3 of 3 answers*the seed puts it at*"])
    assert run.ret == 6


def test_a_replay_cuts_the_crops_again(project: Project) -> None:
    write(project)
    project.run()
    for path in project.path.glob("*.wav"):
        path.unlink()
    run = project.run("-v", "--speval-replay=.speval")
    run.stdout.fnmatch_lines(["*::verify?crops? PASSED*"])
    assert run.ret == 0


def test_samples_that_were_changed_are_found(project: Project) -> None:
    write(project)
    project.run()
    folder = project.folder("quality")
    kept = next(path for path in sorted((folder / "answers").rglob("*")) if path.is_file())
    data = bytearray(kept.read_bytes())
    data[5_000] ^= 1
    kept.write_bytes(bytes(data))
    assert main(["verify", str(folder)]) == 1
    assert project.run(f"--speval-replay={folder}").ret == 6


def test_kept_samples_are_bounded_before_the_run(project: Project) -> None:
    write(project, extra="run: {max_bytes: 1KiB}\n")
    run = project.run()
    run.stdout.fnmatch_lines(["*audit storage of quality: FAIL*", "*run.max_bytes*"])
    assert run.ret == 6


def test_recorded_answers_cannot_be_watched(project: Project) -> None:
    write(project)
    (project.path / "answers.csv").write_text("id,value\n" + "".join(f"c{samples},3\n" for samples in LENGTHS))
    suite = project.path / "suites/quality.yaml"
    suite.write_text(suite.read_text().replace("{use: small}", "{use: predictions, file: ../answers.csv}"))
    assert project.run().ret == 6


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("small_scorer", "small_scorer.nope", "small_scorer.nope has no ssl.select_random_start: ModuleNotFoundError"),
        ("ssl.select_random_start", "ssl.zzz", "small_scorer has no ssl.zzz: "),
        ("ssl.select_random_start", "ssl.np.pi", "small_scorer has no ssl.np.pi: "),
    ],
)
def test_a_function_that_is_not_there_fails_the_audit(project: Project, old: str, new: str, told: str) -> None:
    write(project)
    suite = project.path / "suites/quality.yaml"
    suite.write_text(suite.read_text().replace(old, new))
    run = project.run()
    assert run.ret == 6
    assert told in run.stdout.str()
    assert "alias-missing" in run.stdout.str()


def test_what_is_no_function_cannot_be_watched(project: Project) -> None:
    write(project)
    (project.path / "small_scorer/ssl.py").write_text(ALIAS + "number = 3\n")
    suite = project.path / "suites/quality.yaml"
    suite.write_text(suite.read_text().replace("ssl.select_random_start", "ssl.number"))
    run = project.run()
    run.stdout.fnmatch_lines(["*observe: ssl.number of small_scorer is no function*"])
    assert run.ret == 6


def test_a_scorer_that_never_crops_is_told_and_nothing_is_called_verified(project: Project) -> None:
    write(project)
    (project.path / "small_scorer/scoring.py").write_text(
        "from small_scorer import multi_spec, ssl\n\ndef score(pcm, seed):\n    return 3.0\n"
    )
    run = project.run("-rs")
    run.stdout.fnmatch_lines(
        ["quality: 3 of 3 observations are incomplete*", "*nothing was kept that crops could be worked out from*"]
    )
    found = project.document("quality")["observation"]["faults"]
    assert found == {"multi_spec.select_random_start: 0 of 10 crops": 3, "ssl.select_random_start: 0 of 1 crops": 3}
    assert main(["verify", str(project.folder("quality"))]) == 0
