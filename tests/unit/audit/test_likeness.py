"""`audit[near]`: copies elsewhere are found, told and listed; what cannot be judged is counted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from pytest_speval.audit.checks import CheckRule
from pytest_speval.audit.finding import Audit
from pytest_speval.audit.likeness import audit_near
from pytest_speval.audit.overlap import Parts
from pytest_speval.corpus.part import Part

VOICES = sorted((Path(__file__).parents[3] / "fixtures/prosody/clips").glob("*.flac"))
ANOTHER = next(voice for voice in VOICES[24:] if "slow-loud" in voice.name)
RULE = CheckRule("near", named=True)


def part(name: str, folder: Path, files: list[Path]) -> Part:
    entries = [file.relative_to(folder).as_posix() if file.is_relative_to(folder) else None for file in files]
    lines = list(range(2, 2 + len(files)))
    return Part(name, f"{name}.csv", [f"{name}/{n}" for n in range(len(files))], lines, {}, entries, folder)


def quieter(file: Path, folder: Path) -> Path:
    sound, rate = soundfile.read(file, dtype="float32")
    soundfile.write(folder / f"quiet-{file.stem}.flac", 0.25 * sound, rate)
    return folder / f"quiet-{file.stem}.flac"


def codes(audit: Audit) -> list[tuple[str, str]]:
    return [(finding.severity, finding.code) for finding in audit.findings if finding.code != "near-look"]


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    """Four evaluated voices; a quieter copy of the second is in the inventory beside another voice's sentence."""
    evaluated = part("test", VOICES[0].parent, VOICES[:4])
    return Parts((evaluated,), inventories=(part("training", tmp_path, [quieter(VOICES[1], tmp_path)]),))


def test_a_copy_is_a_violation_that_names_both_clips_and_their_lines(parts: Parts) -> None:
    audit = audit_near(RULE, parts, None)
    assert audit.failed
    assert audit.findings[0].message == "1 of 4 clips of test are copies of sound in training"
    (violation,) = audit.violations
    assert [(side.part, side.clips, side.lines) for side in violation.sides] == [
        ("test", ("test/1",), (3,)),
        ("training", ("training/0",), (2,)),
    ]
    assert str(violation.key).startswith("test/1 ~ training/0: waveform 1.000")
    assert audit.compared == ("training",)


def test_a_waiver_makes_it_a_warning_and_says_why(parts: Parts) -> None:
    audit = audit_near(CheckRule("near", named=True, waived="the same broadcast"), parts, None)
    assert not audit.failed
    assert audit.findings[0].severity == "warning"
    assert audit.findings[0].message.endswith("in training; waived: the same broadcast")


def test_what_was_heard_is_kept_and_gives_the_same_audit(parts: Parts, tmp_path: Path) -> None:
    store = tmp_path / "store"
    first = audit_near(RULE, parts, store)
    (kept,) = store.iterdir()
    again = audit_near(RULE, parts, store)
    assert first.as_dict() == again.as_dict() == audit_near(RULE, parts, None).as_dict()
    kept.write_bytes(b"torn")
    assert audit_near(RULE, parts, store).as_dict() == first.as_dict()


def test_a_changed_file_is_heard_anew(parts: Parts, tmp_path: Path) -> None:
    store = tmp_path / "store"
    audit_near(RULE, parts, store)
    sound, rate = soundfile.read(ANOTHER, dtype="float32")
    soundfile.write(tmp_path / f"quiet-{VOICES[1].stem}.flac", sound, rate)
    assert not audit_near(RULE, parts, store).failed


def test_sound_of_which_nothing_can_be_heard_or_judged_fails_the_check(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "short.wav", np.zeros(800, np.float32), 8000)
    (tmp_path / "broken.wav").write_bytes(b"RIFF")
    others = part("training", tmp_path, [tmp_path / "short.wav", tmp_path / "broken.wav"])
    audit = audit_near(RULE, Parts((part("test", VOICES[0].parent, VOICES[:1]),), inventories=(others,)), None)
    assert codes(audit) == [("error", "not-compared"), ("warning", "not-heard"), ("notice", "not-assessable")]
    assert [finding.clips for finding in audit.findings] == [(), ("training/1",), ("training/0",)]
    with_one = replace(others, clips=[*others.clips, "training/2"], lines=[2, 3, 4],
                       entries=[*(others.entries or ()), quieter(ANOTHER, tmp_path).name])  # fmt: skip
    audit = audit_near(RULE, Parts((part("test", VOICES[0].parent, VOICES[:1]),), inventories=(with_one,)), None)
    assert (audit.failed, audit.clean, codes(audit)[0]) == (False, False, ("warning", "not-heard"))


def test_an_inventory_without_sound_fails_the_check_that_is_named() -> None:
    silent = Part("training", "training.csv", ["training/0"], [2], {"speaker": ["S1"]})
    parts = Parts((part("test", VOICES[0].parent, VOICES[:1]),), inventories=(silent,), unavailable=("pretraining",))
    audit = audit_near(RULE, parts, None)
    assert codes(audit) == [("error", "not-compared"), ("notice", "inventory-unavailable")]
    assert audit.compared == ()


def test_copies_among_evaluated_clips_are_reported_only(tmp_path: Path) -> None:
    twin = quieter(VOICES[0], tmp_path)
    soundfile.write(tmp_path / "first.wav", *soundfile.read(VOICES[0], dtype="int16"))
    evaluated = part("test", tmp_path, [tmp_path / "first.wav", twin])
    others = part("training", VOICES[0].parent, [ANOTHER])
    audit = audit_near(RULE, Parts((evaluated,), inventories=(others,)), None)
    assert ("notice", "near-twins") in codes(audit)
    assert not audit.failed
    assert next(found.clips for found in audit.findings if found.code == "near-twins") == ("test/0", "test/1")
