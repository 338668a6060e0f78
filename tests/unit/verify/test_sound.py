"""The sound of a run against the digests in its plan: every file below the root, and none beyond it."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from pytest_speval.errors import UsageFault
from pytest_speval.evidence.plan import Question
from pytest_speval.verify.finding import Finding
from pytest_speval.verify.sound import compare_sound
from tests.runs import Clip, question_of, said

FILES = {"a.wav": "PCM_16", "b.flac": "PCM_16", "sub/c.wav": "FLOAT", "d.ogg": "VORBIS"}


def samples_digest(path: Path) -> str:
    """The digest of decoded samples, by the definition in the docs and soundfile alone."""
    info = soundfile.info(path)
    kind = "int16" if info.subtype == "PCM_16" else "float32"
    data, rate = soundfile.read(path, dtype=kind, always_2d=True)
    head = f"{rate} {data.shape[1]} {kind}\n".encode()
    return hashlib.sha256(head + data.astype(f"<{kind[0]}{data.itemsize}").tobytes()).hexdigest()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    chance = np.random.default_rng(1)
    (tmp_path / "corpus/sub").mkdir(parents=True)
    for name, subtype in FILES.items():
        soundfile.write(tmp_path / "corpus" / name, chance.uniform(-0.5, 0.5, 1600), 16_000, subtype=subtype)
    return tmp_path / "corpus"


@pytest.fixture
def question(root: Path) -> Question:
    clips = [Clip(f"c{number}", "happy", said("happy")) for number in range(len(FILES))]
    return question_of(
        clips,
        entries=list(FILES),
        bytes_sha256=[hashlib.sha256((root / name).read_bytes()).hexdigest() for name in FILES],
        samples_sha256=[samples_digest(root / name) for name in FILES],
        audio={"rate": 16_000},
    )


def errors(findings: list[Finding]) -> list[tuple[str, str, str]]:
    return [(found.code, found.file, found.record) for found in findings if found.severity == "error"]


def test_the_files_that_were_asked_about_are_all_the_same(question: Question, root: Path) -> None:
    (found,) = compare_sound(question, root)
    assert str(found) == "4 of 4 sound files are those of the plan [sound-compared]"


@pytest.mark.parametrize("name", FILES)
def test_a_changed_byte_is_found(question: Question, root: Path, name: str) -> None:
    data = bytearray((root / name).read_bytes())
    data[-20] ^= 1
    (root / name).write_bytes(data)
    clip = f"clip test/c{list(FILES).index(name)}"
    found = compare_sound(question, root)
    assert errors(found) == [("sound-differs", name, clip)]
    assert "3 of 4" in str(found[-1])


def test_right_bytes_that_decode_otherwise_are_found(question: Question, root: Path) -> None:
    other = replace(question, samples_sha256=["ab" * 32] * 4)
    found = compare_sound(other, root)
    assert [code for code, _, _ in errors(found)] == ["sound-differs"] * 4
    assert [name for name, one in zip(FILES, found, strict=False) if "another decoder" in str(one)] == ["d.ogg"]


def test_a_missing_file_and_one_that_is_no_sound_are_told(question: Question, root: Path) -> None:
    (root / "a.wav").unlink()
    (root / "b.flac").write_bytes(b"fLaC")
    broken = replace(question, bytes_sha256=[None, hashlib.sha256(b"fLaC").hexdigest(), *question.bytes_sha256[2:]])
    assert errors(compare_sound(broken, root)) == [("sound-unusable", "b.flac", "clip test/c1")]
    assert errors(compare_sound(question, root))[0] == ("sound-unusable", "a.wav", "clip test/c0")


@pytest.mark.parametrize("entry", ["../secret.wav", "/etc/hostname", "sub/../../secret.wav", "link.wav"])
def test_nothing_beyond_the_root_is_opened(question: Question, root: Path, entry: str) -> None:
    secret = root.parent / "secret.wav"
    secret.write_bytes((root / "a.wav").read_bytes())
    (root / "link.wav").symlink_to(secret)
    outside = replace(question, entries=[entry, *question.entries[1:]])
    found = compare_sound(outside, root)
    assert errors(found) == [("sound-unusable", entry, "clip test/c0")]
    assert "was not opened" in str(found[0])


def test_without_soundfile_bytes_are_still_compared(
    question: Question, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "soundfile", None)
    (found,) = compare_sound(question, root)
    told = "4 of 4 sound files are those of the plan, 3 of them by their bytes alone: soundfile is not installed"
    assert found.message == told


def test_a_run_without_sound_says_so(root: Path) -> None:
    (found,) = compare_sound(question_of([Clip("c0", "happy", said("happy"))]), root)
    assert found.message == "this run heard no sound"


def test_a_root_that_is_no_folder_is_a_usage_fault(question: Question, root: Path) -> None:
    with pytest.raises(UsageFault, match="is no folder") as caught:
        compare_sound(question, root / "a.wav")
    assert caught.value.code == "sound-root"
