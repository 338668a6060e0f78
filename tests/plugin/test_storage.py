"""Storage that fails: a clear failure, no call that leaves no trace, earlier evidence as it was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.plugin.conftest import Project

SMALL_DISK = """
import errno

def pytest_runtest_setup(item):
    if item.name == "clip[c3]":     # from now on the disk takes ten more bytes of the journal and no more
        import pytest_speval.evidence.journal as journal
        room, write = [10], os.write

        def full(file, data):
            if not room:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return write(file, bytes(data[:room.pop()]))

        journal.os = type("FullDisk", (), {**vars(os), "write": staticmethod(full)})
"""
REMOVING = """
import shutil

def pytest_runtest_setup(item):
    if item.name == "clip[c3]":
        shutil.rmtree(item.config.rootpath / ".speval/voice")
"""


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def with_hook(project: Project, hook: str) -> None:
    with (project.path / "conftest.py").open("a") as conftest:
        conftest.write(hook)


def test_a_full_disk_ends_the_asking_and_keeps_what_was_written(project: Project) -> None:
    project.write(["yes"] * 3)
    assert project.run().ret == 0
    first = project.folder()
    before = contents(first)
    project.write(["yes"] * 8)
    with_hook(project, SMALL_DISK)
    project.forget_calls()
    run = project.run("-p", "no:cacheprovider", environment={"HOME": str(project.path)})
    assert run.ret == 6
    run.stdout.fnmatch_lines(
        ["*cannot write *main.jsonl: No space left on device; no clip is asked*journal-unwritable*"]
    )
    run.stdout.fnmatch_lines(["*voice: invalid: integrity: cannot write*"])
    assert project.calls == ["c0", "c1", "c2"], "no call without its line in the journal"
    assert contents(first) == before
    head, _, tail = (project.path / "conftest.py").read_text().partition(SMALL_DISK)
    (project.path / "conftest.py").write_text(head + tail)
    assert project.run(f"--speval-resume={project.folder()}").ret == 0
    assert sorted(project.calls) == sorted(project.ids), "what was answered is not asked again"


def test_a_run_folder_that_is_removed_half_way_is_no_verdict(project: Project) -> None:
    project.write(["yes"] * 6)
    with_hook(project, REMOVING)
    run = project.run("-p", "no:cacheprovider")
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*voice: invalid: integrity: *is not there any more*folder-gone*"])


def test_a_run_folder_that_is_removed_under_workers_is_no_verdict(project: Project) -> None:
    project.write(["yes"] * 6)
    with_hook(project, REMOVING)
    run = project.run("-p", "no:cacheprovider", "-n", "2")
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*voice: invalid: *"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_output_folder_is_a_usage_error(project: Project) -> None:
    project.write(["yes"])
    (project.path / ".speval").mkdir(mode=0o555)
    run = project.run()
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(["*is no folder that can be written to*out-unusable*"])


def test_an_output_folder_that_is_a_file_is_a_usage_error(project: Project) -> None:
    project.write(["yes"])
    (project.path / "out").write_text("")
    run = project.run("--speval-out=out")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(["*out-unusable*"])
    assert project.calls == []


def test_a_suite_folder_that_cannot_be_made_asks_nobody(project: Project) -> None:
    project.write(["yes"])
    (project.path / ".speval").mkdir()
    (project.path / ".speval/voice").write_text("in the way")
    run = project.run()
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*cannot make *voice*folder-unwritable*"])
    assert project.calls == []


def test_a_report_that_cannot_be_written_is_no_verdict(project: Project) -> None:
    project.write(["yes"] * 2)
    with_hook(project, "\ndef pytest_runtest_setup(item):\n"
                       "    if item.name == 'clip[c1]':\n"
                       "        folder, = item.config.rootpath.glob('.speval/voice/*')\n"
                       "        (folder / 'out.json').mkdir()\n")  # fmt: skip
    run = project.run("-p", "no:cacheprovider")
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*voice: invalid: integrity: cannot write *out.json*"])
