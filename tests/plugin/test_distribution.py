"""Suites under pytest-xdist: each clip once, audits before the first, gates after the last."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.plugin.conftest import Project, timeless


@pytest.mark.parametrize("workers", ["1", "2", "4"])
def test_every_clip_is_asked_exactly_once(project: Project, workers: str) -> None:
    project.write(["yes", "no"] * 30)
    result = project.run("-n", workers)
    assert result.ret == 0
    result.assert_outcomes(passed=63)
    assert sorted(project.calls) == sorted(project.ids)


@pytest.mark.parametrize("mode", ["load", "worksteal", "loadscope", "loadfile", "loadgroup"])
def test_every_scheduler_gives_the_same_document(project: Project, mode: str) -> None:
    project.write(["yes", "no", "", "raise"] * 5, references=["yes", "no", "yes", "no"] * 5)
    project.run()
    project.run("-n", "2", "--dist", mode)
    first, second = map(timeless, project.documents())
    assert first == second


def test_more_workers_than_clips(project: Project) -> None:
    project.write(["yes"])
    result = project.run("-n", "4")
    assert result.ret == 0
    result.assert_outcomes(passed=4)


def test_dist_each_is_a_usage_error(project: Project) -> None:
    project.write(["yes"])
    result = project.run("--dist", "each", "--tx", "2*popen")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--dist each would ask every clip once per worker*"])


def test_a_failed_audit_on_the_controller_stops_the_workers(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(["yes"] * 10)
    suite = project.path / "suites/voice.yaml"
    suite.write_text(suite.read_text().replace("{use: counting}", "{use: counting, requires: {numpy: 0.0.1}}"))
    result = project.run(*distributed)
    assert result.ret == 6
    result.assert_outcomes(passed=1, failed=2, skipped=10)
    assert project.calls == []
    assert project.document()["counts"]["unattempted"] == 10


def test_a_dying_worker_costs_its_clip_only(project: Project) -> None:
    project.write(["yes"] * 7 + ["die"] + ["yes"] * 12, extra="run: {max_failed: 1}")
    result = project.run("-n", "2")
    document = project.document()
    assert document["counts"]["unknown"] == 1
    assert document["counts"]["answered"] + document["counts"]["unattempted"] == 19
    assert sorted(set(project.calls)) == sorted(project.calls)
    assert result.ret in (1, 6)
    rows = [json.loads(line) for line in (project.folder() / "clips.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows if row["status"] == "unknown"] == ["c7"]


def test_a_clip_that_killed_its_worker_is_not_asked_again(project: Project) -> None:
    project.write(["yes"] * 3 + ["die"] + ["yes"] * 8, extra="run: {max_failed: 12}")
    project.run("-n", "1", "--dist", "loadfile")
    assert project.calls.count("c3") == 1
    document = project.document()
    assert document["counts"]["unknown"] == 1
    assert document["gates"][0]["verdict"] == "pass"


def test_a_worker_that_may_not_be_replaced_leaves_no_verdict(project: Project) -> None:
    project.write(["yes"] * 7 + ["die"] + ["yes"] * 52)
    result = project.run("-n", "1", "--max-worker-restart", "0")
    assert result.ret == 6
    assert project.document()["counts"]["unattempted"] > 0


def test_a_faulty_suite_stops_a_distributed_run_before_the_first_call(
    project: Project, distributed: tuple[str, ...]
) -> None:
    project.write(["yes"] * 10)
    (project.path / "suites/broken.yaml").write_text("task: emotion\ncorpsu: {}\n")
    result = project.run(*distributed)
    assert result.ret == 2
    result.stdout.fnmatch_lines(["*suites/broken.yaml:2:1: corpsu: unknown key, did you mean `corpus`?*"])
    assert project.calls == []


def test_collection_errors_may_be_passed_over(project: Project) -> None:
    project.write(["yes"] * 10)
    (project.path / "suites/broken.yaml").write_text("task: emotion\ncorpsu: {}\n")
    assert project.run("-n", "2", "--continue-on-collection-errors").ret == 1
    assert len(project.calls) == 10


def test_the_progress_ends_at_a_hundred_percent(project: Project) -> None:
    project.write(["yes"] * 30)
    result = project.run("-n", "2")
    assert "collected" not in result.stdout.str()
    result.stdout.fnmatch_lines(["*100%*"])


@pytest.mark.parametrize("seed", ["0", "1", "2", "random"])
def test_workers_collect_alike_under_any_hash_seed(project: Project, seed: str) -> None:
    project.write(["yes", "no"] * 10, splits=["test", "dev"] * 10)
    result = project.run("-n", "2", environment={"PYTHONHASHSEED": seed})
    assert result.ret == 0
    assert len(project.calls) == 20


def test_a_rerun_asks_nothing_twice(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(["yes", "raise", "yes"])
    result = project.run(*distributed, "--reruns", "2")
    assert result.ret == 6
    assert sorted(project.calls) == ["c0", "c1", "c2"]


def test_suites_live_beside_ordinary_tests(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(["yes"] * 5)
    (project.path / "test_plain.py").write_text("def test_one(): pass\ndef test_two(): assert False\n")
    result = project.run(*distributed)
    assert result.ret == 1
    result.assert_outcomes(passed=9, failed=1)


def test_many_workers_leave_the_records_of_a_serial_run(project: Project) -> None:
    """200 clips, four workers: no record is lost, none is there twice (H60)."""
    project.write(["yes", "no", "", "maybe"] * 50)
    project.run()
    serial = project.folder()
    project.run("-n", "4")
    spread = project.folder()
    assert len(list((spread / "journal").iterdir())) > 1
    assert _records(spread) == _records(serial)
    assert len(_records(spread)) == 400
    assert (spread / "clips.jsonl").read_bytes() == (serial / "clips.jsonl").read_bytes()


def _records(folder: Path) -> list[tuple[str, str, str]]:
    """Event, id and answer of every line about a clip, sorted."""
    lines = [
        json.loads(line) for path in (folder / "journal").glob("*.jsonl") for line in path.read_bytes().splitlines()
    ]
    return sorted((line["event"], line["id"], str(line.get("answer"))) for line in lines if "id" in line)
