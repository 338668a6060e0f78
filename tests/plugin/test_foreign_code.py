"""An adapter's own code may do anything: it costs its clip or its suite, never the session or the verdict."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Project

LEAVING = {
    "exit": "import sys; sys.exit(0)",
    "skip": "import pytest; pytest.skip('not here')",
    "cancel": "import asyncio; raise asyncio.CancelledError",
}


def planted(project: Project, where: str, what: str) -> None:
    """The project's adapter with one more line at the start of a method."""
    project.write(["yes"] * 4)
    conftest = project.path / "conftest.py"
    text = conftest.read_text()
    if where == "warm_up":
        text = text.replace("    def classify", "    def warm_up(self):\n        pass\n\n    def classify")
    start = text.index(f"    def {where}(")
    end = text.index("\n", start)
    conftest.write_text(f"{text[:end]}\n        {what}{text[end:]}")


@pytest.mark.parametrize("where", ["__init__", "warm_up", "classify"])
@pytest.mark.parametrize("what", LEAVING)
def test_leaving_the_program_is_a_fault_of_the_adapter(project: Project, where: str, what: str) -> None:
    planted(project, where, LEAVING[what])
    result = project.run()
    assert result.ret == 6
    result.stdout.fnmatch_lines(["*adapter-left*" if where != "classify" else "*the adapter's code raised*"])
    if where == "classify":
        assert project.document()["counts"]["failed"] == 4


@pytest.mark.parametrize("where", ["__init__", "warm_up", "classify"])
def test_leaving_the_program_never_ends_a_distributed_run_in_green(project: Project, where: str) -> None:
    planted(project, where, LEAVING["exit"])
    assert project.run("-n", "2").ret == 6


def test_an_adapter_that_starts_only_on_the_controller_blocks_its_clips(project: Project) -> None:
    planted(project, "warm_up", "assert 'PYTEST_XDIST_WORKER' not in os.environ")
    result = project.run("-n", "2")
    assert result.ret == 6
    assert project.calls == []
    assert project.document()["counts"]["unattempted"] == 4


@pytest.mark.filterwarnings("default")
def test_an_adapter_that_cannot_be_closed_leaves_the_answers(project: Project) -> None:
    project.write(["yes"] * 4)
    conftest = project.path / "conftest.py"
    conftest.write_text(
        conftest.read_text().replace(
            "    def classify", "    def close(self):\n        raise OSError(9)\n\n    def classify"
        )
    )
    result = project.run()
    assert result.ret == 0
    assert project.document()["counts"]["answered"] == 4
    result.stdout.fnmatch_lines(["*the adapter was not closed: OSError*"])


@pytest.mark.parametrize("hook", ["return ['mine']", "raise ValueError('no adapters today')"])
def test_a_hook_that_offers_nothing_usable_is_a_usage_error(project: Project, hook: str) -> None:
    project.write(["yes"])
    conftest = project.path / "conftest.py"
    conftest.write_text(conftest.read_text().replace('return {"counting": Counting}', hook))
    result = project.run()
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*pytest_speval_adapters*adapter-not-callable*"])
