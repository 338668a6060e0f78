"""Which clips are asked, and what a selection means for the verdict."""

from __future__ import annotations

import json

import pytest

from tests.plugin.conftest import Project, timeless

TEN = ["yes"] * 10


def test_one_clip_by_its_node_id_gives_no_verdict(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(TEN)
    result = project.run(*distributed, "suites/voice.yaml::clip[c3]")
    assert result.ret == 6
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*1 of 10 clips: no verdict*"])
    assert project.calls == ["c3"]


def test_a_partial_run_wants_no_verdict(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(TEN)
    result = project.run(*distributed, "suites/voice.yaml::clip[c3]", "--speval-partial")
    assert result.ret == 0
    document = project.document()
    assert document["complete"] is False
    assert document["partial"] is True
    assert document["gates"] == []


def test_a_partial_run_has_no_gates(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(["no"] * 10)
    result = project.run(*distributed, "--speval-partial")
    assert result.ret == 0
    result.assert_outcomes(passed=12)


def test_a_clip_has_a_node_id_where_items_hold_many(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(["yes"] * 200, extra="run: {per_item: 64}")
    assert project.run("--collect-only", "-q").stdout.str().count("clips[") == 4
    result = project.run(*distributed, "suites/voice.yaml::clip[c130]", "--speval-partial")
    result.assert_outcomes(passed=1)
    assert project.calls == ["c130"]


def test_items_hold_clips_by_position(project: Project) -> None:
    project.write(["yes"] * 5, extra="run: {per_item: 2}")
    listed = project.run("--collect-only", "-q").stdout.str()
    assert [name for name in ("clips[0..1]", "clips[2..3]", "clips[4..4]") if name in listed] == [
        "clips[0..1]",
        "clips[2..3]",
        "clips[4..4]",
    ]


def test_one_item_may_hold_all_clips(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(TEN, extra="run: {per_item: all}")
    result = project.run(*distributed)
    assert result.ret == 0
    result.assert_outcomes(passed=4)
    assert sorted(project.calls) == sorted(project.ids)


@pytest.mark.parametrize(
    ("selection", "status"),
    [
        (("-k", "voice"), 0),
        (("-k", "gate"), 6),
        (("-k", "clip"), 0),
        (("-k", "c3"), 6),
        (("-m", "speval(suite='voice')"), 0),
        (("-m", "speval(kind='audit')"), 6),
        (("--deselect", "suites/voice.yaml::clip[c3]"), 6),
        (("--deselect", "suites/voice.yaml::gate[accuracy]"), 0),
        (("-k", "nothing_of_that_name"), 5),
    ],
)
def test_a_selection_never_hides_that_clips_are_missing(
    project: Project, distributed: tuple[str, ...], selection: tuple[str, ...], status: int
) -> None:
    project.write(TEN)
    assert project.run(*distributed, *selection).ret == status


@pytest.mark.parametrize("selection", [("-k", "clip"), ("--deselect", "suites/voice.yaml::gate[accuracy]")])
def test_a_gate_is_judged_though_it_is_not_selected(
    project: Project, distributed: tuple[str, ...], selection: tuple[str, ...]
) -> None:
    project.write(["no"] * 10)
    assert project.run(*distributed, *selection).ret == 1


def test_last_failed_on_a_gate_says_that_clips_are_missing(project: Project) -> None:
    project.write(["no"] * 10)
    assert project.run().ret == 1
    result = project.run("--lf")
    assert result.ret == 6
    result.assert_outcomes(failed=1)


def test_last_failed_asks_the_failed_clip_again_even_in_a_large_item(project: Project) -> None:
    project.write([*TEN, "raise"], extra="run: {per_item: 4}")
    project.run("suites/voice.yaml::clip[c10]", "--speval-partial")
    project.forget_calls()
    result = project.run("--lf", "--speval-partial")
    result.assert_outcomes(failed=1)
    assert project.calls == ["c10"]


def test_stopping_at_the_first_failure_ends_without_a_verdict(project: Project) -> None:
    project.write(["raise", *TEN])
    result = project.run("-x")
    assert result.ret == 6
    assert len(project.calls) < 11


def test_stopping_under_xdist_keeps_pytests_own_status(project: Project) -> None:
    project.write(["raise", *["yes"] * 60])
    assert project.run("-x", "-n", "2").ret == 2


def test_collecting_only_changes_and_writes_nothing(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(TEN)
    assert project.run(*distributed, "--collect-only").ret == 0
    assert project.calls == []
    assert not (project.path / ".speval").exists()


def test_an_override_is_listed_and_asks_another_question(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(TEN)
    (project.path / "other.json").write_text(json.dumps(dict.fromkeys(project.ids, "no")))
    result = project.run(*distributed, "--speval-set", "voice.adapter.said=other.json")
    assert result.ret == 1
    assert project.document()["overrides"] == ["voice.adapter.said=other.json"]
    result.stdout.fnmatch_lines(["*overridden: voice.adapter.said=other.json*"])


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("voice.runn.batch=2", "*did you mean `run`*"),
        ("voice.run.batch=two", "*run.batch*"),
        ("choice.run.batch=2", "*no such suite*"),
        ("voice", "*"),
    ],
)
def test_a_faulty_override_is_refused(project: Project, override: str, told: str) -> None:
    project.write(TEN)
    result = project.run("--speval-set", override)
    assert result.ret in (2, 4)
    assert project.calls == []
    (result.stdout if result.ret == 2 else result.stderr).fnmatch_lines([told])


def test_order_of_items_changes_no_byte(project: Project) -> None:
    project.write(["yes", "no", "", "other", "raise"] * 4, references=["yes", "yes", "no", "no"] * 5)
    project.run()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONHASHSEED", "7")
        project.pytester.runpytest_subprocess("-p", "randomly", "-p", "no:cacheprovider", "-n", "2")
    first, second = map(timeless, project.documents())
    assert first == second
