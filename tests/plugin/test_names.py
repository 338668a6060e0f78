"""What users call their clips never breaks a node id."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.plugin.names import LONGEST, safe
from tests.plugin.conftest import Project

AWKWARD = [
    "a::b",
    "x[y]",
    "tab\there",
    "new\nline",
    "ünï",
    "long" * 75,
    "../up",
    "a b",
    "50%",
    "a@b",
    "日本語",
    "dia0_utt0.wav",
]


@pytest.mark.parametrize("name", AWKWARD)
def test_the_printed_node_id_runs_exactly_that_clip(project: Project, name: str) -> None:
    project.write(["yes"] * len(AWKWARD), ids=AWKWARD)
    project.run(f"suites/voice.yaml::clip[{safe(name)}]", "--speval-partial").assert_outcomes(passed=1)
    assert project.calls == [name]


def test_awkward_names_all_run_under_workers(project: Project) -> None:
    project.write(["yes"] * len(AWKWARD), ids=AWKWARD)
    assert project.run("-n", "2").ret == 0


def test_the_last_failure_of_an_awkward_name_is_selected(project: Project) -> None:
    project.write(["yes"] * 5 + ["raise"], ids=[*AWKWARD[:5], "x[y]::z"])
    project.run()
    project.forget_calls()
    result = project.run("--lf", "--speval-partial")
    result.assert_outcomes(failed=1)
    assert project.calls == ["x[y]::z"]


@given(st.text(max_size=200))
def test_safe_names_hold_only_safe_signs_and_stay_short(text: str) -> None:
    name = safe(text)
    assert len(name) <= LONGEST
    assert all(sign.isalnum() or sign in "-_.%" for sign in name)


@given(st.text(max_size=60), st.text(max_size=60))
def test_different_names_stay_different(one: str, other: str) -> None:
    assert (safe(one) == safe(other)) == (one == other)


def test_ids_of_two_splits_are_two_clips(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(["yes", "yes"], ids=["a", "b"], splits=["train", "test"])
    text = (project.path / "clips.csv").read_text().replace("b,yes,1.wav", "a,yes,1.wav")
    (project.path / "clips.csv").write_text(text)
    result = project.run(*distributed)
    result.assert_outcomes(passed=5)
    assert sorted(project.calls) == ["a", "b"]
