"""The laws of leakage: what is planted is found, all of it and nothing else; nobody is accused without cause."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, get_args

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pytest_speval.adapters.registry import gather
from pytest_speval.audit.finding import Audit, Violation
from pytest_speval.audit.health import audit_corpus
from pytest_speval.audit.identity import identity_findings
from pytest_speval.audit.overlap import Parts, audit_duplicates
from pytest_speval.corpus.cohorts import CohortRule
from pytest_speval.corpus.projections import NAMED
from pytest_speval.corpus.staging import Staged, stage
from pytest_speval.errors import FaultyFile
from pytest_speval.plugin.comparison import compare
from pytest_speval.strategies import Leak, Plant, PlantedManifest, clean_manifests, leaky_manifests
from pytest_speval.suite.load import load_suite
from pytest_speval.suite.vocabulary import Vocabulary
from pytest_speval.tasks.registry import TASKS
from tests.parts import audited, parts_of, split_parts

COHORTS = {"accent": CohortRule("accent")}
LEAKS: tuple[Leak, ...] = get_args(Leak)
VOCABULARY = Vocabulary(
    tasks={name: task.word for name, task in TASKS.items()},
    adapters=gather()[1],
    projections={name: projection.labels for name, projection in NAMED.items()},
)
Found = set[tuple[str, str | tuple[str, ...], frozenset[tuple[str, tuple[str, ...]]]]]
each_leak = pytest.mark.parametrize("kind", LEAKS)


@st.composite
def arrangements(draw: st.DrawFn, manifest: PlantedManifest) -> Parts:
    """Some splits evaluated, at least one; the others left out by `where` or kept in inventories."""
    names = draw(st.permutations(manifest.splits))
    first = draw(st.integers(1, len(names)))
    second = draw(st.integers(first, len(names)))
    return parts_of(manifest, unlisted=names[first:second], inventories=names[second:])


def planted(plant: Plant, parts: Parts) -> Found:
    """The violations that a plant amounts to: one for every two sides, of which one at least is a split."""
    kept = {part.name for part in parts.inventories}
    (key,) = plant.keys
    return {
        (plant.kind, key, frozenset((one, other)))
        for one, other in combinations(plant.sides, 2)
        if not (one[0] in kept and other[0] in kept)
    }


def found(violations: tuple[Violation, ...]) -> Found:
    named = [(each.kind, each.key, frozenset((side.part, side.clips) for side in each.sides)) for each in violations]
    assert len(set(named)) == len(named)
    return set(named)


def accusations(audit: Audit) -> list[str]:
    return [finding.code for finding in audit.findings if finding.severity != "notice"]


def without_lines(audit: Audit) -> str:
    data = audit.as_dict()
    for violation in data.get("violations", ()):
        for side in violation["sides"]:
            assert len(side.pop("lines")) == len(side["clips"])
    return json.dumps(data, ensure_ascii=False)


def renamed(manifest: PlantedManifest, names: Mapping[tuple[str | None, str | None], str]) -> PlantedManifest:
    """The next revision of a manifest: speakers by (split, speaker) have other keys."""
    rows = tuple({**row, "speaker": names.get((row["split"], row["speaker"]), row["speaker"])} for row in manifest.rows)
    return PlantedManifest(rows)


# --- found


@each_leak
@settings(max_examples=60)
@given(data=st.data())
def test_a_planted_leak_is_found_with_its_key_and_its_clips(kind: Leak, data: st.DataObject) -> None:
    manifest = data.draw(leaky_manifests(kind, unknown_speakers=kind != "speakers", cohorts=True))
    parts = data.draw(arrangements(manifest))
    assert manifest.planted is not None
    expected = planted(manifest.planted, parts)
    audit = audited(parts, kind)
    assert found(audit.violations) == expected
    assert audit.failed == bool(expected)
    told = [finding for finding in audit.findings if finding.code == f"{kind}-shared"]
    assert len(told) == len({sides for _, _, sides in expected})
    lines = {f"{row['split']}/{row['id']}": line for line, row in enumerate(manifest.rows, start=2)}
    for violation in audit.violations:
        for side in violation.sides:
            assert side.lines == tuple(lines[clip] for clip in side.clips)


@each_leak
@settings(max_examples=25)
@given(data=st.data())
def test_a_leak_of_one_kind_is_no_leak_of_another(kind: Leak, data: st.DataObject) -> None:
    manifest = data.draw(leaky_manifests(kind))
    parts = data.draw(arrangements(manifest))
    others = set(LEAKS) - {kind} - ({"samples"} if kind == "bytes" else set())
    assert {other: accusations(audited(parts, other)) for other in others} == {other: [] for other in others}


@settings(max_examples=60)
@given(data=st.data())
def test_a_recording_that_stands_twice_in_a_split_is_found(data: st.DataObject) -> None:
    manifest = data.draw(leaky_manifests("duplicates", unknown_speakers=True))
    plant = manifest.planted
    assert plant is not None
    ((split, clips),) = plant.sides
    audit = audit_duplicates(parts_of(manifest))
    assert audit.failed
    assert {violation.kind: violation.sides[0].clips for violation in audit.violations} == {
        "bytes": clips,
        "samples": clips,
    }
    assert audit.violations[0].key == plant.keys[0]
    assert not audit_duplicates(parts_of(manifest, unlisted=[split])).violations


@settings(max_examples=60)
@given(data=st.data())
def test_keys_that_look_alike_are_told_and_count_apart(data: st.DataObject) -> None:
    manifest = data.draw(leaky_manifests("near-equal", decoys=False))
    plant = manifest.planted
    assert plant is not None
    kind = {"family": "families"}.get(plant.column, f"{plant.column}s")
    audit = audited(parts_of(manifest), kind)
    (finding,) = audit.findings
    assert (finding.severity, finding.code, audit.violations) == ("notice", "near-equal-keys", ())
    assert all(f"`{key}`" in finding.message for key in plant.keys)
    assert finding.clips in [clips for _, clips in plant.sides]


# --- never accused


@each_leak
@settings(max_examples=40)
@given(data=st.data())
def test_a_clean_corpus_is_never_accused(kind: Leak, data: st.DataObject) -> None:
    manifest = data.draw(clean_manifests(cohorts=True))
    parts = data.draw(arrangements(manifest))
    audit = audited(parts, kind)
    assert (accusations(audit), audit.violations, audit.clean) == ([], (), True)
    assert not audit_duplicates(parts).findings
    assert not identity_findings(parts.whole, COHORTS)


@settings(max_examples=60)
@given(data=st.data())
def test_unknown_speakers_are_all_named_and_never_taken_for_one_person(data: st.DataObject) -> None:
    manifest = data.draw(clean_manifests(unknown_speakers=True))
    parts = data.draw(arrangements(manifest))
    unknown = {f"{row['split']}/{row['id']}" for row in manifest.rows if row["speaker"] is None}
    for quarantine, severity in ((False, "error"), (True, "warning")):
        audit = audited(parts, "speakers", quarantine=quarantine)
        told = [finding for finding in audit.findings if finding.code == "key-unknown"]
        assert {clip for finding in told for clip in finding.clips} == unknown
        assert {finding.severity for finding in told} <= {severity}
        assert not audit.violations


# --- what does not matter


@settings(max_examples=60)
@given(data=st.data())
def test_the_order_of_rows_changes_nothing_but_line_numbers(data: st.DataObject) -> None:
    manifest = data.draw(leaky_manifests(unknown_speakers=True, cohorts=True))
    other = replace(manifest, rows=tuple(data.draw(st.permutations(manifest.rows))))
    unlisted = data.draw(st.sampled_from([(), manifest.splits[:1]]))
    one, two = (parts_of(each, unlisted=unlisted) for each in (manifest, other))
    for kind in LEAKS:
        assert without_lines(audited(one, kind)) == without_lines(audited(two, kind))
    assert without_lines(audit_duplicates(one)) == without_lines(audit_duplicates(two))
    assert identity_findings(one.whole, COHORTS) == identity_findings(two.whole, COHORTS)


@each_leak
@settings(max_examples=25)
@given(data=st.data())
def test_a_waiver_finds_the_same_as_a_warning(kind: Leak, data: st.DataObject) -> None:
    manifest = data.draw(leaky_manifests(unknown_speakers=True))
    parts = data.draw(arrangements(manifest))
    strict, waived = audited(parts, kind), audited(parts, kind, waived="closed cast")
    assert waived.violations == strict.violations
    assert (waived.failed, waived.waived) == (False, "closed cast")
    milder = {"error": "warning", "warning": "warning", "notice": "notice"}
    assert [(found.severity, found.code, found.clips) for found in waived.findings] == [
        (milder[found.severity], found.code, found.clips) for found in strict.findings
    ]


@each_leak
@settings(max_examples=40)
@given(data=st.data())
def test_two_inventories_together_tell_what_each_tells_alone(kind: Leak, data: st.DataObject) -> None:
    manifest = data.draw(leaky_manifests(kind))
    assume(len(manifest.splits) > 2)
    parts = split_parts(manifest)
    names = data.draw(st.permutations(manifest.splits))
    evaluated, one, other = (parts[name] for name in names[:3])
    alone = [found(audited(Parts((evaluated,), (), (each,)), kind).violations) for each in (one, other)]
    assert found(audited(Parts((evaluated,), (), (one, other)), kind).violations) == alone[0] | alone[1]


# --- identity correction


@settings(max_examples=60)
@given(data=st.data())
def test_merging_two_speakers_makes_the_violation_appear_and_splitting_makes_it_go(data: st.DataObject) -> None:
    before = data.draw(clean_manifests(decoys=False))
    one, other = data.draw(st.permutations(before.splits))[:2]
    keys = [sorted({str(row["speaker"]) for row in before.rows if row["split"] == split}) for split in (one, other)]
    kept, gone = (data.draw(st.sampled_from(each)) for each in keys)
    merged = renamed(before, {(other, gone): kept})
    assert not audited(parts_of(before), "speakers").failed
    audit = audited(parts_of(merged), "speakers")
    (violation,) = audit.violations
    assert (audit.failed, violation.key) == (True, kept)
    assert {side.part: set(side.clips) for side in violation.sides} == {
        split: {f"{split}/{row['id']}" for row in before.rows if (row["split"], row["speaker"]) == (split, key)}
        for split, key in ((one, kept), (other, gone))
    }
    parted = renamed(merged, {(other, kept): gone})
    assert without_lines(audited(parts_of(parted), "speakers")) == without_lines(audited(parts_of(before), "speakers"))


# --- through files


def audits_of(folder: Path, manifest: PlantedManifest, suffix: Literal[".csv", ".jsonl"], where: list[str]) -> Any:
    suite = load_suite(manifest.write(folder, suffix=suffix, where=where), VOCABULARY)
    staged = stage(suite, VOCABULARY.tasks["emotion"], {})
    assert isinstance(staged, Staged)
    return compare(suite, staged, audit_corpus(staged.root, staged.clips, None, 0), None)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
@settings(max_examples=40)
@given(data=st.data())
def test_written_files_are_read_back_with_what_was_planted(
    suffix: Literal[".csv", ".jsonl"], data: st.DataObject
) -> None:
    manifest = data.draw(st.one_of(clean_manifests(cohorts=True), leaky_manifests(cohorts=True)))
    plant = manifest.planted
    where = data.draw(st.lists(st.sampled_from(manifest.splits), unique=True))
    with tempfile.TemporaryDirectory() as folder:
        if plant is not None and plant.kind == "conflicting-row":
            ((split, _),) = plant.sides
            with pytest.raises(FaultyFile) as caught:
                audits_of(Path(folder), manifest, suffix, [split])
            (fault,) = caught.value.faults
            first = 2 if suffix == ".csv" else 1
            lines = [
                line
                for line, row in enumerate(manifest.rows, start=first)
                if (row["split"], row["id"]) == (split, plant.keys[0])
            ]
            assert (fault.code, fault.line) == ("conflicting-identity", lines[1])
            assert f"line {lines[0]}," in fault.message
            return
        corpus, audits = audits_of(Path(folder), manifest, suffix, where)
    assert not corpus.failed
    evaluated = where or list(manifest.splits)
    parts = parts_of(manifest, unlisted=set(manifest.splits) - set(evaluated))
    expected: set[str] = {plant.kind} if plant is not None and plant.kind in LEAKS else set()
    if plant is not None and plant.kind == "duplicates" and plant.sides[0][0] in evaluated:
        expected = {"duplicates"}
    assert {audit.name for audit in audits if audit.failed} - (
        {"samples"} if "bytes" in expected else set()
    ) == expected
    for audit in audits:
        if plant is not None and audit.name == plant.kind and audit.name in LEAKS:
            assert found(audit.violations) == planted(plant, parts)
