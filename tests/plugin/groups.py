"""A project whose clips have speakers and accents, and whose gates stand in a file of their own."""

from __future__ import annotations

import csv
from collections.abc import Sequence

from tests.plugin.conftest import Project

REFERENCES = ["yes", "no"] * 4
GOOD_AND_BAD = [*REFERENCES[:4], "no", "yes", "no", "yes"]
"""All of `gb` is right, all of `us` is wrong."""
ACCENTS = ["gb"] * 4 + ["us"] * 4
SCORE = "score: {cohorts: [accent], small_groups: {min_clips: 2}, interval: {replicates: 200}}"


def write(
    project: Project,
    gates: str,
    answers: Sequence[str] = GOOD_AND_BAD,
    accents: Sequence[str] = ACCENTS,
    references: Sequence[str] = REFERENCES,
    score: str = SCORE,
) -> None:
    """Write a suite `voice` and `gates/voice.yaml`; every clip has a speaker of its own."""
    project.write(answers, references=references, extra=score, gates="")
    manifest = project.path / "clips.csv"
    head, *rows = csv.reader(manifest.read_text().splitlines())
    with manifest.open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow([*head, "speaker", "accent"])
        lines.writerows(
            [*row, f"s{place}", accent] for place, (row, accent) in enumerate(zip(rows, accents, strict=True))
        )
    suite = project.path / "suites/voice.yaml"
    said = suite.read_text().replace("clips.csv}", "clips.csv, columns: {cohorts: {accent: accent}}}")
    suite.write_text(said)
    (project.path / "gates").mkdir(exist_ok=True)
    (project.path / "gates/voice.yaml").write_text(gates)
