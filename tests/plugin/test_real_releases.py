"""Real releases in whole sessions: one recogniser blessed, the next one gated against it (Artie bias corpus)."""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pytest_speval.command import main
from pytest_speval.corpus.trn import trn
from tests.plugin.conftest import Project

pytestmark = pytest.mark.realdata
SUITE = """\
task: asr
corpus:
  root: ..
  manifest: clips.csv
  columns: {{cohorts: {{accent: accent, gender: gender}}}}
adapter: {{use: predictions, name: {system}, file: ../heard.trn}}
text: {{normalizer: none}}
score:
  interval: {{unit: clip}}
  cohorts: [accent, gender]
  small_groups: {{min_clips: 20, min_speakers: 2}}
gates: {gates}
"""
NO_WORSE = "{{words: {{metric: wer, baseline: ../baseline, {limit}, bound: high, why: Heard as well as before.}}}}"


@cache
def sentences(file: Path) -> dict[str, str]:
    """Id -> words, from a NIST .trn file."""
    return {str(name): str(words) for name, words in trn(file.read_text(), file.name).rows}


def write(project: Project, shared: Path, system: str, gates: str = "{}") -> None:
    folder = shared / "data/artie-bias"
    said = sentences(folder / "normalised/ref.trn")
    with (folder / "artie-bias-corpus.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    with (project.path / "clips.csv").open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["id", "transcript", "speaker", "accent", "gender"])
        for row in rows:
            name = "cv-" + row["path"].removesuffix(".mp3").rpartition("_")[2]
            lines.writerow([name, said[name], row["client_id"], row["accent"], row["gender"]])
    heard = folder / f"normalised/{system.replace('/', '_')}.trn"
    (project.path / "heard.trn").write_bytes(heard.read_bytes())
    (project.path / "suites").mkdir(exist_ok=True)
    (project.path / "suites/artie.yaml").write_text(SUITE.format(system=system.replace("/", "-"), gates=gates))


def release(project: Project, shared: Path, former: str, later: str, limit: str) -> pytest.RunResult:
    """Bless one system, then run the next one against it."""
    write(project, shared, former)
    assert project.run().ret == 0
    assert main(["bless", str(project.folder("artie")), "baseline"]) == 0
    write(project, shared, later, NO_WORSE.format(limit=limit))
    return project.run()


def only(project: Project) -> dict[str, Any]:
    (found,) = project.document("artie")["comparisons"]
    assert isinstance(found, dict)
    return found


def by_name(project: Project, cohort: str) -> dict[str, dict[str, Any]]:
    return {row["group"]["value"]: row for row in only(project)["cohorts"][cohort]}


def test_a_release_that_is_better_beyond_doubt_says_what_got_worse(project: Project, shared: Path) -> None:
    told = json.loads((shared / "data/artie-bias/EXPECTED.json").read_text())
    former, later = "deepspeech/v0-6-0", "deepspeech/v0-7-3"
    run = release(project, shared, former, later, "min_gain: 0")
    assert run.ret == 0, run.stdout.str()
    wer = only(project)["metrics"]["wer"]
    assert wer["difference"] == pytest.approx(-0.0139, abs=5e-5)
    assert (wer["interval"]["low"], wer["interval"]["high"]) == pytest.approx((-0.0232, -0.0045), abs=1.5e-3)
    for cohort in ("accent", "gender"):
        before, after = (told["systems"][system][f"wer_by_{cohort}"] for system in (former, later))
        groups = by_name(project, cohort)
        assert {name: row["clips"] for name, row in groups.items()} == {name: n for name, (_, n) in before.items()}
        for name, row in groups.items():
            assert (row["suppressed"] is not None) == (row["clips"] < 20)
            if row["suppressed"] is not None:
                assert row["metrics"] == {}
                continue
            found = row["metrics"]["wer"]
            assert (found["baseline"], found["candidate"]) == pytest.approx((before[name][0], after[name][0]), abs=1e-6)
            assert found["difference"] == pytest.approx(after[name][0] - before[name][0], abs=2e-6)
    assert by_name(project, "accent")["england"]["metrics"]["wer"]["change"] == "worse"
    worse = {(one["cohort"], (one["group"] or {}).get("value"), one["metric"]) for one in only(project)["worse"]}
    assert {(None, None, "cer"), ("accent", "england", "wer")} <= worse
    report = (project.folder("artie") / "report.md").read_text()
    against = report.partition("## Against the baseline")[2]
    (cer,) = (line for line in against.splitlines() if line.startswith("| all shared clips | cer "))
    assert "| 0.2585 | 0.2498 | +0.0087 | yes | 95% interval 0.00" in cer
    (england,) = (line for line in against.splitlines() if line.startswith("| accent “england” | wer "))
    assert "| 0.4059 | 0.4002 | +0.0057 | no | 95% interval -0.0" in england
    (gated,) = (line for line in against.splitlines() if line.startswith("| wer "))
    assert "| 0.4112 | 0.4251 | -0.0139 | better | 95% interval -0.02" in gated
    assert "| “england” | 131 |" in against
    assert "| “wales” | 3 |" in against
    assert "suppressed: 3 of 20 clips that score.small\\_groups asks for" in against
    assert "A difference between groups is not a cause" in against
    head = report.partition("## Gates")[0]
    assert "interval excludes 0: cer +0.0087" in head
    assert "wer of accent “england” +0.0057" in head
    run.stdout.fnmatch_lines(["artie: Worse than baseline *: cer +0.0087*wer of accent “england” +0.0057*"])


def test_two_systems_that_do_not_differ_are_not_told_apart(project: Project, shared: Path) -> None:
    told = json.loads((shared / "data/artie-bias/EXPECTED.json").read_text())
    former, later = "google/en-US/dec-4-2019", "amazon/en-US/dec-9-2019"
    run = release(project, shared, former, later, "min_gain: 0")
    assert run.ret == 1
    wer = only(project)["metrics"]["wer"]
    expected = told["paired"][f"{former} vs {later}"]
    assert wer["difference"] == pytest.approx(expected["wer_difference_b_minus_a"], abs=1e-6)
    assert wer["interval"]["low"] < 0 < wer["interval"]["high"]
    run.stdout.fnmatch_lines([
        "gate words of artie: FAIL: wer change (high bound) 0.0*",
        "  by accent: *“england” *suppressed (a difference is not a cause)",
        "  by gender: “NA” *; “female” *; “male” *; 1 suppressed (a difference is not a cause)",
    ])  # fmt: skip
