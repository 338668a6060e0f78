"""Shards: each asks its part, together they are the single run."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

from tests.plugin.conftest import Project, timeless

WORDS = ["yes", "no", "", "yes", "maybe", "yes", "no", "yes", "yes", "no", "yes", "yes", "yes", "yes", "yes", "no",
         "yes", "yes"]  # fmt: skip
REFERENCES = ["yes", "no"] * 9


def shards(project: Project, count: int, *arguments: str) -> list[Path]:
    """Run every shard; returns their run folders."""
    found: list[Path] = []
    for number in range(1, count + 1):
        run = project.run(f"--speval-shard={number}/{count}", f"--speval-out=part{number}", *arguments)
        assert run.ret == 0, run.stdout
        found += (project.path / f"part{number}/voice").iterdir()
    return found


def whole(project: Project) -> tuple[str, bytes]:
    project.run()
    return timeless(project.document()), (project.folder() / "clips.jsonl").read_bytes()


@pytest.mark.parametrize("count", [1, 2, 5, 16])
def test_shards_in_any_order_are_the_single_run(project: Project, count: int) -> None:
    project.write(WORDS, references=REFERENCES)
    single = whole(project)
    project.forget_calls()
    parts = shards(project, count)
    assert sorted(project.calls) == sorted(project.ids)
    random.Random(count).shuffle(parts)
    assert project.run(*[f"--speval-replay={part}" for part in parts]).ret == 0
    assert (timeless(project.document()), (project.folder() / "clips.jsonl").read_bytes()) == single
    assert sorted(project.calls) == sorted(project.ids), "merging asks nobody"


def test_shards_may_be_distributed_and_hold_many_clips_an_item(project: Project) -> None:
    project.write(WORDS, references=REFERENCES, extra="run: {per_item: 4}")
    single = whole(project)
    parts = shards(project, 3, "-n", "2")
    assert project.run("--speval-replay=.", *[f"--speval-replay={part}" for part in parts]).ret == 6
    shutil.rmtree(project.path / ".speval")
    assert project.run("--speval-replay=.").ret == 0, "a folder of output folders"
    assert (timeless(project.document()), (project.folder() / "clips.jsonl").read_bytes()) == single


def test_a_shard_judges_nothing_and_says_so(project: Project) -> None:
    project.write(["no"] * 6)
    run = project.run("--speval-shard=1/2")
    assert run.ret == 0, "its clips came back, all of them wrong"
    run.stdout.fnmatch_lines(["*voice (counting): shard 1/2: nothing is judged before all shards are together"])
    document = project.document()
    assert (document["gates"], document["complete"]) == ([], False)
    assert document["plan"]["shard"] == [1, 2]
    assert document["counts"]["unattempted"] == 3


def test_a_shard_without_all_its_clips_is_invalid(project: Project) -> None:
    project.write(["yes"] * 6)
    assert project.run("--speval-shard=1/2", "-k", "c0 or c1 or c2").ret == 6
    project.write(["raise"] * 6)
    assert project.run("--speval-shard=1/2").ret == 6


@pytest.mark.parametrize(
    ("break_it", "found"),
    [
        (lambda parts: shutil.rmtree(parts[1]), "there is no shard 2/3*shard-missing"),
        (lambda parts: shutil.copytree(parts[1], parts[1].with_name("copy")), "are both shard 2/3*shard-repeated"),
        (lambda parts: _cut(parts[2]), "(shard 3/3) lacks 1 of 2 clips: c*shard-truncated"),
        (lambda parts: _swap(*parts[:2]), "(shard 1/3) holds c*, which is not its clip*shard-foreign"),
    ],
)
def test_what_is_wrong_with_a_shard_is_named(project: Project, break_it: object, found: str) -> None:
    project.write(["yes"] * 6)
    parts = shards(project, 3)
    break_it(parts)  # type: ignore[operator]
    run = project.run(*[f"--speval-replay=part{number}" for number in (1, 2, 3) if (parts[number - 1].exists())])
    assert run.ret == 6
    run.stdout.fnmatch_lines([f"error: integrity: *{found}*".replace("[", "[[]")])


def _cut(part: Path) -> None:
    journal = part / "journal/main.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-2]))
    (part / "receipt.json").unlink(missing_ok=True)


def _swap(one: Path, other: Path) -> None:
    """Two shards with each other's answers."""
    journals = [part / "journal/main.jsonl" for part in (one, other)]
    first, second = (journal.read_bytes() for journal in journals)
    for part, journal, answers in zip((one, other), journals, (second, first), strict=True):
        journal.write_bytes(answers)
        (part / "receipt.json").unlink(missing_ok=True)


def test_shards_of_other_questions_are_foreign(project: Project) -> None:
    project.write(["yes"] * 6)
    project.run("--speval-shard=1/2", "--speval-out=part1")
    project.write(["yes"] * 5 + ["no"], references=["yes"] * 5 + ["no"])
    project.run("--speval-shard=2/2", "--speval-out=part2")
    run = project.run("--speval-replay=part1", "--speval-replay=part2")
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*asked another question than*: clips.cells.label[[]5]*shard-foreign*"])


def test_a_killed_shard_can_be_taken_up_again(project: Project) -> None:
    project.write(["yes", "yes", "die", "yes", "yes", "yes"])
    for number in (1, 2):
        project.run(f"--speval-shard={number}/2", f"--speval-out=part{number}", environment={"HOME": "."})
    (project.path / "said.json").write_text(json.dumps(dict.fromkeys(project.ids, "yes")))
    for number in (1, 2):
        (folder,) = (project.path / f"part{number}/voice").iterdir()
        run = project.run(f"--speval-resume={folder}", f"--speval-out=part{number}")
        assert run.ret == 0
        run.stdout.fnmatch_lines([f"*shard {number}/2: nothing is judged*"])
    assert project.run("--speval-replay=part1", "--speval-replay=part2").ret == 0


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2", ""])
def test_a_shard_must_be_one_of_so_many(project: Project, text: str) -> None:
    project.write(["yes"])
    run = project.run(f"--speval-shard={text}")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(["*expected I/N, for example 2/4*shard-form*"])
