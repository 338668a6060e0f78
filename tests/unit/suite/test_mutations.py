"""A corpus of damaged files: each has its faults, as a user would read them, in the text file beside it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
import yaml

from pytest_speval.errors import FaultyFile
from pytest_speval.suite import document
from pytest_speval.suite.codes import CODES
from pytest_speval.suite.gate import GateFile
from pytest_speval.suite.load import load_gates, load_suite
from pytest_speval.suite.scalars import Kind
from pytest_speval.suite.suite import Suite

from .words import GOOD, MUTATIONS, VOCABULARY

SUITES = {suite.name: suite for suite in (load_suite(path, VOCABULARY) for path in GOOD)}
ELSEWHERE = {
    "duplicate-gate",
    "duplicate-waiver",
    "file-too-large",
    "override-form",
    "override-path",
    "too-many-nodes",
    "unknown-gate",
    "unknown-tier",
    "unmeasured-gate",
    "unreadable-file",
    "unset-variable",
}
"""Codes that no single file can show; their tests stand in the other modules of this folder."""


def load(path: Path) -> Suite | GateFile:
    if path.stem.startswith("gates_"):
        return load_gates(path, SUITES, VOCABULARY, path.name)
    return load_suite(path, VOCABULARY, shown_as=path.name)


def faults_of(path: Path) -> str:
    with pytest.raises(FaultyFile) as caught:
        load(path)
    return f"{caught.value}\n"


@pytest.mark.parametrize("path", MUTATIONS, ids=lambda path: path.stem)
def test_a_damaged_file_is_refused_with_all_its_faults(path: Path) -> None:
    expected = path.with_suffix(".txt").read_text("utf-8")
    if "is not YAML" in expected and document.LOADER is yaml.SafeLoader:
        pytest.skip("the words of a syntax error are libyaml's")
    assert faults_of(path) == expected


@pytest.mark.parametrize("path", MUTATIONS, ids=lambda path: path.stem)
def test_faults_are_the_same_without_libyaml(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "LOADER", yaml.SafeLoader)
    found, expected = faults_of(path), path.with_suffix(".txt").read_text("utf-8")
    if "is not YAML" in expected:
        place = re.compile(r"^(\S+: )", re.MULTILINE)
        found, expected = str(place.findall(found)), str(place.findall(expected))
    assert found == expected


def test_there_are_at_least_sixty_of_them_and_each_has_its_text() -> None:
    assert len(MUTATIONS) >= 60
    assert all(path.with_suffix(".txt").is_file() for path in MUTATIONS)


def test_every_code_is_described_and_has_an_example() -> None:
    texts = [path.with_suffix(".txt").read_text("utf-8") for path in MUTATIONS]
    shown = {code for text in texts for code in re.findall(r"\[([a-z0-9-]+)\]$", text, re.MULTILINE)}
    assert shown | ELSEWHERE == set(CODES)


def test_every_code_in_the_source_is_described() -> None:
    """Wherever a slug stands as a whole string in the source, it is a code or one of a few other words."""
    folder = Path(document.__file__).parent
    source = "".join(path.read_text("utf-8") for path in folder.glob("*.py") if path.stem != "codes")
    slugs = set(re.findall(r'"([a-z0-9]+(?:-[a-z0-9]+)+|alias|syntax|tag|contradiction)"', source))
    assert set(CODES) - slugs == {"duplicate-gate", "duplicate-waiver"}, "these two are put together"
    claims = {
        "not-asked",
        "third-party",
        "operator-assertion",
        "independent-verification",
        "acted-intended",
        "listener-labelled",
    }
    assert slugs - set(CODES) <= {*get_args(Kind), "utf-8", "utf-8-sig"} | claims
