"""`run.blocks`: so many speakers an item, asked in order by one process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.plugin.conftest import Project, timeless

SPEAKERS = ["s3", "s1", "s2", "s1", "s4", "s2", "s5", "s3"]
ORDER = ["c1", "c3", "c2", "c5", "c0", "c7", "c4", "c6"]
BLOCKS = "run: {blocks: {by: speaker, size: 2}}"


def write(project: Project, answers: list[str] | None = None, extra: str = BLOCKS) -> None:
    project.write(answers or ["yes"] * 8, extra=extra)
    rows = [f"{name},yes,{place}.wav,{SPEAKERS[place]}" for place, name in enumerate(project.ids)]
    (project.path / "clips.csv").write_text("\n".join(["id,label,audio,speaker", *rows]) + "\n")


def processes(project: Project) -> list[list[str]]:
    """The ids that each process was asked, in order."""
    lines = [path.read_text().splitlines() for path in sorted((project.folder() / "journal").iterdir())]
    asked = [[json.loads(line) for line in journal] for journal in lines]
    return [[line["id"] for line in journal if line["event"] == "entered"] for journal in asked]


def test_blocks_are_items_in_lexical_order(project: Project) -> None:
    write(project)
    run = project.run("-v")
    run.stdout.fnmatch_lines(["*::block?1? PASSED*", "*::block?2? PASSED*", "*::block?3? PASSED*"])
    assert project.calls == ORDER
    assert run.ret == 0


def test_a_block_is_asked_by_one_worker_in_order(project: Project) -> None:
    write(project)
    assert project.run("-n", "2").ret == 0
    blocks = [["c1", "c3", "c2", "c5"], ["c0", "c7", "c4"], ["c6"]]
    for asked in processes(project):
        assert asked in [[name for block in chosen for name in block] for chosen in subsets(blocks)]


def subsets(blocks: list[list[str]]) -> list[list[list[str]]]:
    """Every choice of blocks, in their order."""
    return [[block for place, block in enumerate(blocks) if mask >> place & 1] for mask in range(1 << len(blocks))]


def test_a_single_clip_can_still_be_asked_for(project: Project) -> None:
    write(project)
    assert project.run("suites/voice.yaml::clip[c4]", "--speval-partial").ret == 0
    assert project.calls == ["c4"]


def test_shards_take_whole_blocks_and_make_the_single_run(project: Project) -> None:
    write(project, ["yes", "no"] * 4)
    project.run()
    single = timeless(project.document())
    parts = []
    for number in (1, 2):
        project.forget_calls()
        project.run(f"--speval-shard={number}/2", f"--speval-out=part{number}")
        parts.append(project.calls)
    assert sorted(parts, key=len) in ([["c0", "c7", "c4", "c6"], ORDER[:4]], [ORDER[:4], ["c0", "c7", "c4", "c6"]])
    project.run("--speval-replay=part1", "--speval-replay=part2")
    assert timeless(project.document()) == single


def test_blocks_are_part_of_the_question(project: Project) -> None:
    write(project)
    project.run()
    run = project.run("--speval-replay=.speval", "--speval-set=voice.run.blocks.size=3")
    run.stdout.fnmatch_lines(["*another question*blocks.size*"])
    assert run.ret == 6


@pytest.mark.parametrize(
    ("extra", "told"),
    [
        ("run: {per_item: 3, blocks: {by: speaker, size: 2}}", "*run.blocks or run.per_item, not both*"),
        ("run: {blocks: {by: session, size: 2}}", "*run.blocks go by session*no such column*"),
        ("run: {blocks: {by: speaker, size: 0}}", "*run.blocks.size*"),
        ("run: {blocks: {by: accent, size: 2}}", "*run.blocks.by*"),
    ],
)
def test_blocks_that_cannot_be_are_collection_errors(project: Project, extra: str, told: str) -> None:
    write(project, extra=extra)
    run = project.run()
    run.stdout.fnmatch_lines([told])
    assert run.ret == 2
    assert not Path(project.path / "calls.txt").exists()
