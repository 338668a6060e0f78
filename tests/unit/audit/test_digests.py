"""Sound that is only compared with is heard as far as it is there."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import soundfile

from pytest_speval.audit.digests import with_digests
from pytest_speval.audit.overlap import Parts
from pytest_speval.corpus.audio import decode
from pytest_speval.corpus.part import Part
from pytest_speval.corpus.roles import Cell
from tests.parts import audited

BOTH = ("bytes", "samples")
NOISE = (np.random.default_rng(7).standard_normal(400) * 3000).astype(np.int16)


def sound(folder: Path, name: str, samples: np.ndarray[tuple[int], np.dtype[np.int16]] = NOISE) -> str:
    soundfile.write(folder / name, samples, 16_000, subtype="PCM_16")
    return name


def with_list_chunk(folder: Path, name: str, source: str) -> str:
    """The same sound with one more chunk, as editors write it."""
    wave = (folder / source).read_bytes() + b"LIST" + (8).to_bytes(4, "little") + b"INFOIART"
    (folder / name).write_bytes(wave[:4] + (len(wave) - 8).to_bytes(4, "little") + wave[8:])
    return name


def part(folder: Path, entries: Sequence[str | None] | None, cells: dict[str, list[Cell]] | None = None) -> Part:
    count = len(entries or next(iter((cells or {}).values())))
    names = [f"c{place}" for place in range(count)]
    return Part("train", "t.csv", names, list(range(2, count + 2)), cells or {}, entries, folder)


def test_digests_are_those_of_the_file_and_of_its_samples(tmp_path: Path) -> None:
    found, told = with_digests(part(tmp_path, [sound(tmp_path, "a.wav")]), BOTH)
    data = (tmp_path / "a.wav").read_bytes()
    assert told == []
    assert found.cells["bytes_sha256"] == [hashlib.sha256(data).hexdigest()]
    assert found.cells["samples_sha256"] == [decode(data, "a.wav").samples_sha256]


@pytest.mark.parametrize(("check", "role"), [("bytes", "bytes_sha256"), ("samples", "samples_sha256")])
def test_only_what_a_check_compares_is_heard(tmp_path: Path, check: str, role: str) -> None:
    silent = part(tmp_path, [sound(tmp_path, "a.wav")])
    assert list(with_digests(silent, [check])[0].cells) == [role]
    assert with_digests(silent, ["speakers", "near"]) == (silent, [])


def test_digests_of_the_manifest_are_trusted_and_its_gaps_are_filled(tmp_path: Path) -> None:
    entries = [sound(tmp_path, "a.wav"), "absent.wav"]
    given = part(tmp_path, entries, {"bytes_sha256": ["11", "22"]})
    assert with_digests(given, ["bytes"]) == (given, [])
    gap = part(tmp_path, [entries[0], sound(tmp_path, "b.wav", NOISE[:300])], {"bytes_sha256": [None, "22"]})
    found, told = with_digests(gap, ["bytes"])
    assert found.cells["bytes_sha256"] == [hashlib.sha256((tmp_path / "a.wav").read_bytes()).hexdigest(), "22"]
    assert told == []


def test_a_part_without_sound_is_left_as_it_is(tmp_path: Path) -> None:
    silent = part(tmp_path, None, {"speaker": ["S1"]})
    assert with_digests(silent, BOTH) == (silent, [])


def test_what_cannot_be_heard_is_counted_and_has_no_digest(tmp_path: Path) -> None:
    (tmp_path / "broken.wav").write_bytes(b"RIFF")
    found, told = with_digests(part(tmp_path, [sound(tmp_path, "a.wav"), "absent.wav", None, "broken.wav"]), BOTH)
    (finding,) = told
    assert (finding.severity, finding.code, finding.clips) == ("notice", "not-heard", ("c1", "c2", "c3"))
    assert finding.message == "3 of 4 sound files of train cannot be heard: no copy of them can be found"
    assert found.cells["samples_sha256"][1:] == [None, None, None]
    assert found.cells["bytes_sha256"][1:] == [None, None, hashlib.sha256(b"RIFF").hexdigest()]


def test_h71_a_link_that_leads_out_of_the_root_is_not_heard(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    sound(tmp_path, "outside.wav")
    (tmp_path / "in" / "link.wav").symlink_to(tmp_path / "outside.wav")
    found, told = with_digests(part(tmp_path / "in", ["link.wav"]), BOTH)
    assert ([finding.code for finding in told], found.cells["bytes_sha256"]) == (["not-heard"], [None])


def test_order_is_kept_over_many_files(tmp_path: Path) -> None:
    names = [sound(tmp_path, f"{place}.wav", NOISE + place) for place in range(120)]
    found, _ = with_digests(part(tmp_path, names), ["bytes"])
    assert found.cells["bytes_sha256"] == [hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in names]


def test_h44_a_recording_under_two_names_is_found_by_its_samples_not_by_its_bytes(tmp_path: Path) -> None:
    sound(tmp_path, "a.wav")
    train = part(tmp_path, [with_list_chunk(tmp_path, "b.wav", "a.wav")])
    test = Part("test", "m.csv", ["test/a"], [2], {}, ["a.wav"], tmp_path)
    parts = Parts((with_digests(test, BOTH)[0],), (with_digests(train, BOTH)[0],))
    assert not audited(parts, "bytes").findings
    assert audited(parts, "samples").headline == "1 of 1 recordings, 1 of 1 clips also in train"


def test_sound_that_is_missing_in_the_other_split_is_told_as_not_compared(tmp_path: Path) -> None:
    heard, _ = with_digests(part(tmp_path, ["absent.wav"]), BOTH)
    test = Part("test", "m.csv", ["test/a"], [2], {"bytes_sha256": ["11"]})
    audit = audited(Parts((test,), (heard,)), "bytes")
    assert [finding.message for finding in audit.findings] == [
        "no digest of bytes is known of train: nothing was compared with it"
    ]
    assert audit.failed, "a named check that compared nothing has shown nothing"
