"""`audit[corpus]`: what is missing, broken or odd is found before anything is asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import soundfile

from pytest_speval.audit.finding import Audit, Finding
from pytest_speval.audit.health import Health, audit_corpus
from pytest_speval.corpus.audio import decode
from pytest_speval.corpus.clips import Clips
from pytest_speval.corpus.contract import Contract
from pytest_speval.corpus.roles import Cell

RATE = 16_000
Columns = Mapping[str, list[Cell]]


def tone(seconds: float = 0.5, pitch: float = 220.0, rate: int = RATE) -> npt.NDArray[np.float32]:
    time = np.arange(round(seconds * rate)) / rate
    return (0.4 * np.sin(2 * np.pi * pitch * time)).astype(np.float32)


def write(root: Path, name: str, samples: npt.NDArray[np.float32], rate: int = RATE) -> str:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(root / name, (samples * 32767).astype(np.int16), rate, subtype="PCM_16")
    return name


def clips_of(
    audio: Sequence[str] | None,
    cells: Columns | None = None,
    excluded: Sequence[str | None] = (),
    size: int = 0,
) -> Clips:
    count = size if audio is None else len(audio)
    ids = [f"c{place}" for place in range(count)]
    return Clips(
        splits=["test"] * count,
        ids=ids,
        split_given=True,
        cells=cells or {},
        audio=None if audio is None else list(audio),
        excluded=list(excluded) or [None] * count,
        unlisted=frozenset(("test", name) for name in ids),
    )


def audited(root: Path, clips: Clips, contract: Contract | None = None, max_failed: int = 0) -> Health:
    return audit_corpus(root, clips, contract or Contract(), max_failed)


def found(health: Health) -> dict[str, Finding]:
    assert len({finding.code for finding in health.audit.findings}) == len(health.audit.findings)
    return {finding.code: finding for finding in health.audit.findings}


# --- a sound corpus


def test_a_sound_corpus_has_no_findings_and_known_digests(tmp_path: Path) -> None:
    names = [write(tmp_path, f"{pitch}.wav", tone(pitch=pitch)) for pitch in (200.0, 300.0)]
    health = audited(tmp_path, clips_of(names))
    assert health.audit == Audit("corpus", ())
    assert not health.audit.failed
    assert health.bytes_sha256 == [hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in names]
    sounds = [decode((tmp_path / name).read_bytes(), name) for name in names]
    assert health.samples_sha256 == [sound.samples_sha256 for sound in sounds]
    assert (health.frames, health.rates) == ([8000, 8000], [RATE, RATE])
    assert (health.excluded, health.condemned, health.abstains) == ([None, None], {}, frozenset())


def test_a_suite_without_sound_hears_nothing(tmp_path: Path) -> None:
    for health in (
        audited(tmp_path, clips_of(None, size=2)),
        audit_corpus(tmp_path, clips_of(["absent.wav"] * 2), None, 0),
    ):
        assert health.audit.findings == ()
        assert health.bytes_sha256 == health.samples_sha256 == [None, None]
        assert health.frames == health.rates == [None, None]


# --- missing, broken, wrong (H39, H40)


def test_h39_absent_broken_and_overlong_clips_are_three_findings(tmp_path: Path) -> None:
    (tmp_path / "broken.wav").write_bytes(b"RIFF\x24\0\0\0WAVEfmt nonsense, and no sound at all")
    (tmp_path / "noise.wav").write_bytes(bytes(range(256)))
    names = ["absent.wav", "broken.wav", write(tmp_path, "long.wav", tone(2.0)), "noise.wav"]
    names.append(write(tmp_path, "fine.wav", tone(0.5)))
    health = audited(tmp_path, clips_of(names), Contract(seconds=(0.1, 1.0)))
    assert health.audit.failed
    assert {code: (finding.severity, finding.clips) for code, finding in found(health).items()} == {
        "missing": ("error", ("test/c0",)),
        "undecodable": ("error", ("test/c1",)),
        "too-long": ("error", ("test/c2",)),
        "not-audio": ("error", ("test/c3",)),
    }
    assert found(health)["missing"].message == "1 of 5 clips: the file is listed but not there"
    assert found(health)["too-long"].message == "1 of 5 clips: 32000 frames at 16000 Hz, at most 16000 expected"
    assert health.condemned == {}, "a suite that may not be asked has no failed clips yet"


def test_h39_so_many_clips_as_the_suite_allows_are_a_warning_and_failed_clips(tmp_path: Path) -> None:
    names = ["absent.wav", write(tmp_path, "a.wav", tone()), "lost.wav"]
    health = audited(tmp_path, clips_of(names), max_failed=2)
    ((code, finding),) = found(health).items()
    assert (finding.severity, code, finding.clips) == ("warning", "missing", ("test/c0", "test/c2"))
    assert finding.message == "2 of 3 clips: the file is listed but not there"
    assert not health.audit.failed
    assert health.condemned == dict.fromkeys((0, 2), ("missing", "the file is listed but not there"))
    assert audited(tmp_path, clips_of(names), max_failed=1).audit.failed


def test_the_limit_of_failed_clips_counts_all_kinds_together(tmp_path: Path) -> None:
    (tmp_path / "empty.wav").touch()
    names = ["absent.wav", "empty.wav"]
    assert {finding.severity for finding in audited(tmp_path, clips_of(names), max_failed=1).audit.findings} == {
        "error"
    }
    health = audited(tmp_path, clips_of(names), max_failed=2)
    assert {finding.severity for finding in health.audit.findings} == {"warning"}
    assert {code for code, _ in health.condemned.values()} == {"missing", "no-bytes"}


def test_h40_pointer_files_are_one_summary_line_and_not_called_corrupt(tmp_path: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 99999\n"
    names = [f"{place}.wav" for place in range(7)]
    for name in names:
        (tmp_path / name).write_bytes(pointer)
    (finding,) = audited(tmp_path, clips_of(names)).audit.findings
    assert finding.code == "lfs-pointer"
    assert finding.message == "7 of 7 clips: the file is a Git LFS pointer: fetch the audio with `git lfs pull`"
    assert len(finding.clips) == 7
    assert str(finding).endswith("(test/c0, test/c1, test/c2, test/c3, test/c4 and 2 more) [lfs-pointer]")


def test_h40_web_pages_in_place_of_sound_are_one_summary_line(tmp_path: Path) -> None:
    names = [f"{place}.wav" for place in range(1200)]
    for name in names:
        (tmp_path / name).write_bytes(b"\n<!DOCTYPE html><html><body>Sign in</body></html>")
    (finding,) = audited(tmp_path, clips_of(names)).audit.findings
    assert (finding.severity, finding.code, len(finding.clips)) == ("error", "html-page", 1200)
    assert finding.message == (
        "1,200 of 1,200 clips: the file is a web page: the download answered with HTML, fetch it again"
    )


def test_clips_with_unlike_messages_are_summed_up_by_the_first(tmp_path: Path) -> None:
    names = [write(tmp_path, f"{seconds}.wav", tone(seconds)) for seconds in (2.0, 3.0, 0.5)]
    finding = found(audited(tmp_path, clips_of(names), Contract(seconds=(0.1, 1.0))))["too-long"]
    assert finding.message == "2 of 3 clips, the first: 32000 frames at 16000 Hz, at most 16000 expected"


def test_a_folder_in_place_of_a_file_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "a.wav").mkdir()
    (finding,) = audited(tmp_path, clips_of(["a.wav"])).audit.findings
    assert finding.code == "unreadable"


@pytest.mark.parametrize("entry", ["../outside.wav", "sub/../../outside.wav", "link.wav", "folder/outside.wav"])
def test_h71_what_leads_out_of_the_root_is_refused_and_nothing_of_it_is_told(tmp_path: Path, entry: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    write(tmp_path, "outside.wav", tone())
    (root / "link.wav").symlink_to(tmp_path / "outside.wav")
    (root / "folder").symlink_to(tmp_path, target_is_directory=True)
    health = audited(root, clips_of([entry]))
    (finding,) = health.audit.findings
    assert (finding.severity, finding.code) == ("error", "path-outside-root")
    digest = hashlib.sha256((tmp_path / "outside.wav").read_bytes()).hexdigest()
    assert digest not in json.dumps(health.audit.as_dict())
    assert health.bytes_sha256 == health.samples_sha256 == [None]
    assert health.frames == [None]


def test_a_link_within_the_root_is_followed(tmp_path: Path) -> None:
    write(tmp_path, "a.wav", tone())
    (tmp_path / "b.wav").symlink_to(tmp_path / "a.wav")
    assert not audited(tmp_path, clips_of(["b.wav"])).audit.findings


def test_excluded_clips_are_not_heard(tmp_path: Path) -> None:
    names = ["absent.wav", write(tmp_path, "a.wav", tone())]
    health = audited(tmp_path, clips_of(names, excluded=["mis-cut", None]))
    assert not health.audit.findings
    assert health.excluded == ["mis-cut", None]
    assert health.frames == [None, 8000]


# --- the contract's own rules


def test_short_and_long_clips_are_excluded_where_the_contract_says_so(tmp_path: Path) -> None:
    names = [write(tmp_path, f"{seconds}.wav", tone(seconds)) for seconds in (0.1, 0.5, 2.0)]
    health = audited(tmp_path, clips_of(names), Contract(seconds=(0.2, 1.0), short="exclude", long="exclude"))
    assert health.excluded == ["shorter than the suite allows", None, "longer than the suite allows"]
    assert (health.audit.findings, health.condemned) == ((), {})
    assert health.frames == [1600, 8000, 32000], "what they are is still known"


def test_what_is_taken_out_for_its_length_is_counted_in_no_finding(tmp_path: Path) -> None:
    short = tone(0.1)
    names = [write(tmp_path, f"{place}.wav", short) for place in range(2)]
    names += [write(tmp_path, "a.wav", tone(0.5)), "absent.wav"]
    health = audited(tmp_path, clips_of(names), Contract(seconds=(0.2, 1.0), short="exclude"))
    assert [(finding.code, finding.message) for finding in health.audit.findings] == [
        ("missing", "1 of 2 clips: the file is listed but not there")
    ]


def test_short_clips_may_abstain(tmp_path: Path) -> None:
    names = [write(tmp_path, "a.wav", tone(0.1)), write(tmp_path, "b.wav", tone(0.5))]
    health = audited(tmp_path, clips_of(names), Contract(seconds=(0.2, 1.0), short="abstain"))
    assert (health.abstains, health.excluded, health.audit.findings) == (frozenset({0}), [None, None], ())


def test_h32_another_rate_breaks_the_contract_unless_resampling_is_on(tmp_path: Path) -> None:
    names = [write(tmp_path, "a.wav", tone(rate=48_000), 48_000)]
    (finding,) = audited(tmp_path, clips_of(names), Contract(rate=RATE)).audit.findings
    assert (finding.severity, finding.code) == ("error", "wrong-rate")
    (finding,) = audited(tmp_path, clips_of(names), Contract(rate=RATE, resample=True)).audit.findings
    assert (finding.severity, finding.code) == ("notice", "resampled")


# --- what the manifest declares


@pytest.mark.parametrize(("said", "fits"), [("0.5", True), ("0.5014", True), ("0.4986", True), ("0.502", False)])
def test_a_declared_length_may_differ_by_its_rounding_only(tmp_path: Path, said: str, fits: bool) -> None:
    names = [write(tmp_path, "a.wav", tone(0.5))]
    health = audited(tmp_path, clips_of(names, {"seconds": [said]}))
    assert health.audit.failed is not fits
    if not fits:
        (finding,) = health.audit.findings
        assert finding.code == "length-differs"
        assert finding.message == "1 of 1 clips: the manifest says 0.502 s, the file has 0.500 s"


@pytest.mark.parametrize("role", ["bytes_sha256", "samples_sha256"])
def test_declared_digests_are_held_against_the_file(tmp_path: Path, role: str) -> None:
    names = [write(tmp_path, "a.wav", tone(pitch=200.0)), write(tmp_path, "b.wav", tone(pitch=300.0))]
    known = audited(tmp_path, clips_of(names))
    digests = [str(digest) for digest in getattr(known, role)]
    cells: list[Cell] = [digests[0].upper(), None]
    assert not audited(tmp_path, clips_of(names, {role: cells})).audit.findings
    (finding,) = audited(tmp_path, clips_of(names, {role: [digests[1], digests[1]]})).audit.findings
    assert (finding.severity, finding.code, finding.clips) == ("error", "digest-differs", ("test/c0",))
    assert finding.message.endswith(f"the manifest says {role} {digests[1]}, the file has {digests[0]}")


# --- what is odd and only reported


def test_h44_equal_sound_under_two_names_is_one_group(tmp_path: Path) -> None:
    names = [
        write(tmp_path, "a.wav", tone()),
        write(tmp_path, "b.flac", tone()),
        write(tmp_path, "c.wav", tone(0.6)),
    ]
    health = audited(tmp_path, clips_of(names))
    assert health.bytes_sha256[0] != health.bytes_sha256[1]
    finding = found(health)["duplicate-audio"]
    assert (finding.severity, finding.clips) == ("notice", ("test/c0", "test/c1"))
    assert finding.message == "2 clips share their samples with another planned clip, in 1 groups"
    assert not health.audit.failed


def test_silent_clips_are_reported_with_their_count(tmp_path: Path) -> None:
    names = [write(tmp_path, f"{n}.wav", np.zeros(8000 + n, np.float32)) for n in range(2)]
    names.append(write(tmp_path, "a.wav", tone()))
    finding = found(audited(tmp_path, clips_of(names)))["silent"]
    assert (finding.severity, finding.clips) == ("notice", ("test/c0", "test/c1"))
    assert finding.message.startswith("2 of 3 clips: ")


def test_cohort_keys_that_nearly_agree_are_reported_too(tmp_path: Path) -> None:
    health = audited(tmp_path, clips_of(None, {"cohort.accent": ["us", "US", "gb"], "label": ["a", "A", "b"]}, size=3))
    (finding,) = health.audit.findings
    assert finding.message == (
        "cells of cohort.accent that differ only in case, blanks or Unicode form: `US`, `us`; they count apart"
    )


def test_keys_that_nearly_agree_are_reported_and_never_merged(tmp_path: Path) -> None:
    speakers: list[Cell] = ["Zoë", "Zoe\u0308", "zoë ", "Anna", None, "Ben"]
    health = audited(tmp_path, clips_of(None, {"speaker": speakers, "family": ["a"] * 6}, size=6))
    (finding,) = health.audit.findings
    assert (finding.severity, finding.code) == ("notice", "near-equal-keys")
    assert finding.message.startswith("speakers that differ only in case, blanks or Unicode form: ")
    assert all(f"`{key}`" in finding.message for key in ("Zoë", "Zoe\u0308", "zoë "))
    assert finding.message.endswith("they count apart")


def test_notices_of_the_manifest_stand_in_the_audit(tmp_path: Path) -> None:
    clips = Clips(["test"], ["a"], False, {}, None, [None], notices=(("repeated-row", "test/a stands 2 times"),))
    assert audited(tmp_path, clips).audit.findings == (Finding("notice", "repeated-row", "test/a stands 2 times"),)


def test_the_audit_is_the_same_however_the_clips_are_shared_out(tmp_path: Path) -> None:
    names = [write(tmp_path, f"{n}.wav", tone(0.05, 100.0 + n)) for n in range(120)]
    names[70] = "absent.wav"
    health = audited(tmp_path, clips_of(names))
    assert found(health)["missing"].clips == ("test/c70",)
    assert health.frames == [None if place == 70 else 800 for place in range(120)]
    assert len(set(health.samples_sha256)) == 120


# --- findings as data


def test_an_audit_says_its_gravest_finding_first() -> None:
    notice, warning = Finding("notice", "n", "odd"), Finding("warning", "w", "worrying")
    error = Finding("error", "e", "wrong", ("a",))
    assert Audit("corpus", ()).headline == "nothing found"
    assert Audit("corpus", (notice, warning)).headline == "worrying"
    assert not Audit("corpus", (notice, warning)).failed
    audit = Audit("corpus", (notice, warning, error, Finding("error", "e", "more")))
    assert (audit.failed, audit.headline) == (True, "wrong (and 1 more)")
    plain = json.loads(json.dumps(audit.as_dict()))
    assert (plain["name"], plain["verdict"]) == ("corpus", "fail")
    assert tuple(map(Finding.from_dict, plain["findings"])) == audit.findings
