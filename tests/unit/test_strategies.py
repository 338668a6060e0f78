"""What users get from `pytest_speval.strategies`; the laws of `tests/properties/test_leakage.py` rest on it."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import tempfile
import unicodedata
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_speval.strategies import KINDS, Kind, PlantedManifest, clean_manifests, leaky_manifests

COLUMNS = ("speaker", "session", "family", "source", "text", "bytes_sha256", "samples_sha256")
ANY = st.one_of(clean_manifests(unknown_speakers=True, cohorts=True), leaky_manifests(unknown_speakers=True))


def shared(manifest: PlantedManifest, column: str) -> set[str]:
    """Keys in more than one split, by brute force."""
    by_split: dict[str | None, set[str]] = {}
    for row in manifest.rows:
        cell = row[column]
        if cell is not None:
            by_split.setdefault(row["split"], set()).add(plain(cell) if column == "text" else cell.lower())
    keys = [key for found in by_split.values() for key in found]
    return {key for key in keys if keys.count(key) > 1}


def plain(text: str) -> str:
    """Letters and numbers of a text in one case and form."""
    whole = unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())
    return " ".join("".join(letter for letter in whole if unicodedata.category(letter)[0] in "LMNZ").split())


@settings(max_examples=60)
@given(clean_manifests(decoys=False, unknown_speakers=True, cohorts=True))
def test_a_clean_manifest_shares_no_key_of_any_kind(manifest: PlantedManifest) -> None:
    assert {column: shared(manifest, column) for column in COLUMNS} == {column: set() for column in COLUMNS}
    assert (manifest.clean, manifest.planted, manifest.decoys) == (True, None, ())
    assert 2 <= len(manifest.splits) <= 5


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40)
@given(data=st.data())
def test_what_is_planted_stands_where_it_is_said_and_nowhere_else(kind: Kind, data: st.DataObject) -> None:
    manifest = data.draw(leaky_manifests(kind))
    plant = manifest.planted
    assert plant is not None
    assert (plant.kind, manifest.clean) == (kind, False)
    wanted = {key.casefold() if plant.column.endswith("sha256") else key for key in plant.keys}
    holders: dict[str, list[str]] = {}
    for row in manifest.rows:
        cell = str(row[plant.column])
        cell = plain(cell) if kind == "texts" else cell.lower() if plant.column.endswith("sha256") else cell
        if cell in {plain(key) if kind == "texts" else key for key in wanted} and (
            kind != "conflicting-row" or row["split"] == plant.sides[0][0]
        ):
            holders.setdefault(str(row["split"]), []).append(f"{row['split']}/{row['id']}")
    assert tuple(sorted((split, tuple(sorted(set(clips)))) for split, clips in holders.items())) == tuple(
        sorted(plant.sides)
    )
    assert len(plant.sides) == 1 if kind in ("duplicates", "conflicting-row") else len(plant.sides) >= 2


@settings(max_examples=60)
@given(ANY)
def test_csv_and_json_lines_hold_the_same_rows(manifest: PlantedManifest) -> None:
    table = [
        {name: cell or None for name, cell in row.items()}
        for row in csv.DictReader(io.StringIO(manifest.as_csv(), newline=""))
    ]
    lines = [json.loads(line) for line in manifest.as_jsonl().split("\n") if line]
    assert table == lines == [dict(row) for row in manifest.rows]


@settings(max_examples=10)
@given(ANY)
def test_rows_and_plants_cannot_be_changed(manifest: PlantedManifest) -> None:
    with pytest.raises(FrozenInstanceError):
        manifest.rows = ()  # type: ignore[misc]
    with pytest.raises(TypeError):
        manifest.rows[0]["id"] = "other"  # type: ignore[index]


def test_manifests_are_as_varied_as_they_are_said_to_be() -> None:
    seen: set[str] = set()

    @settings(max_examples=300, derandomize=True, database=None)
    @given(leaky_manifests(unknown_speakers=True, cohorts=True))
    def look(manifest: PlantedManifest) -> None:
        ids = {str(row["id"]) for row in manifest.rows}
        splits = [str(row["split"]) for row in manifest.rows]
        assert manifest.planted is not None
        facts = {
            manifest.planted.kind: True,
            f"{len(manifest.splits)} splits": True,
            "unknown": any(row["speaker"] is None for row in manifest.rows),
            "accent": any(row["accent"] == "south" for row in manifest.rows),
            "unicode": any(not str(row["speaker"]).isascii() for row in manifest.rows),
            "decoy": bool(manifest.decoys),
            "case": len({name.lower() for name in ids}) < len(ids),
            "mixed": splits != sorted(splits),
        }
        seen.update(name for name, true in facts.items() if true)

    look()
    assert seen == {*KINDS, *(f"{count} splits" for count in range(2, 6))} | {
        "unknown", "accent", "unicode", "decoy", "case", "mixed"
    }  # fmt: skip


@settings(max_examples=5)
@given(leaky_manifests("speakers"))
def test_a_written_folder_has_a_manifest_answers_and_a_suite(manifest: PlantedManifest) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = manifest.write(Path(name) / "new", where=manifest.splits[:1])
        assert path == Path(name, "new", "suites", "planted.yaml")
        assert f'"where": {{"split": ["{manifest.splits[0]}"]}}' in path.read_text(encoding="utf-8")
        assert Path(name, "new", "clips.csv").read_text(encoding="utf-8") == manifest.as_csv()
        with Path(name, "new", "answers.csv").open(encoding="utf-8", newline="") as file:
            assert {row["split"] for row in csv.DictReader(file)} == {manifest.splits[0]}


def test_without_hypothesis_the_import_says_what_to_install() -> None:
    code = "import sys; sys.modules['hypothesis'] = None\nimport pytest_speval.strategies"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert "pytest_speval.strategies needs pytest-speval[strategies]" in last
    assert last.endswith("[extra-missing]")
