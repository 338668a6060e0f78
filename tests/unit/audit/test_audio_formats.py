"""62 files that projects keep for regression: each gets the finding that its set's README names, and no other."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import pytest

from pytest_speval.audit.health import Health
from pytest_speval.corpus.contract import Contract
from tests.unit.audit.corpora import audited, clips_of

pytestmark = pytest.mark.realdata

ODD_BITS = [f"scipy/test-8000Hz-le-3ch-5S-{bits}bit.wav" for bits in (36, 45, 53, 64)]
EARLY = "scipy/test-44100Hz-le-1ch-4bytes-"
BROKEN = {
    "undecodable": {"pocketsphinx/bad.wav", "pocketsphinx/evil.wav", *ODD_BITS},
    "truncated": {f"{EARLY}{what}.wav" for what in ("early-eof", "early-eof-no-data", "incomplete-chunk")},
    "not-audio": {"pocketsphinx/goforward.raw", "soundfile/mono.raw"},
    "no-frames": {"pocketsphinx/null.wav"},
}
UNOPENED_BY_LIBSNDFILE = {
    name for names in BROKEN.values() for name in names
} - {"pocketsphinx/null.wav", f"{EARLY}early-eof.wav"}  # fmt: skip
ODD = {
    "silent": {"pocketsphinx/awful.wav"},
    "implausible-rate": {"pocketsphinx/awful.wav", "scipy/test-1234Hz-le-1ch-10S-20bit-extra.wav"},
    "contradictory-header": {"pocketsphinx/awful.wav", "scipy/test-8000Hz-le-3ch-5S-24bit-inconsistent.wav"},
    "over-full-scale": {"soundfile/stereo.wav"},
    "equal-channels": {
        "pocketsphinx/chan3.2chan.wav",
        "scipy/test-44100Hz-2ch-32bit-float-be.wav",
        "scipy/test-44100Hz-2ch-32bit-float-le.wav",
        "scipy/test-48000Hz-2ch-64bit-float-le-wavex.wav",
        "speech_recognition/audio-stereo-24-bit-44100Hz.wav",
    },
}
SAME_SAMPLES = [
    ["lhotse/stereo.sph", "lhotse/stereo.wav"],
    [f"scipy/test-44100Hz-{kind}.wav" for kind in ("be-1ch-4bytes", "le-1ch-4bytes-rf64", "le-1ch-4bytes")],
    [
        "scipy/test-8000Hz-be-3ch-5S-24bit.wav",
        "scipy/test-8000Hz-le-3ch-5S-24bit-inconsistent.wav",
        "scipy/test-8000Hz-le-3ch-5S-24bit-rf64.wav",
        "scipy/test-8000Hz-le-3ch-5S-24bit.wav",
    ],
    [f"speech_recognition/audio-mono-{bits}-bit-44100Hz.wav" for bits in (24, 32)],
]


@pytest.fixture(scope="module")
def expected(shared: Path) -> dict[str, dict[str, str]]:
    with (shared / "data/audio-formats/expected.csv").open(encoding="utf-8", newline="") as file:
        return {row["path"]: row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def health(shared: Path, expected: dict[str, dict[str, str]]) -> Health:
    return audited(shared / "data/audio-formats", clips_of([*expected], [*expected]), Contract(channel=0))


def test_the_files_that_do_not_open_are_errors_by_name_and_all_others_none(
    health: Health, expected: dict[str, dict[str, str]]
) -> None:
    errors = {finding.code: set(finding.clips) for finding in health.audit.findings if finding.severity == "error"}
    assert errors == BROKEN
    assert {name for name, row in expected.items() if row["error"]} == UNOPENED_BY_LIBSNDFILE
    assert len(UNOPENED_BY_LIBSNDFILE) == 10


def test_what_opens_has_the_frames_and_rate_that_were_read(health: Health, expected: dict[str, dict[str, str]]) -> None:
    broken = set().union(*BROKEN.values())
    said = zip(expected.items(), health.frames, health.rates, strict=True)
    for (name, row), frames, rate in said:
        if name not in broken:
            assert (str(frames), str(rate)) == (row["read_frames"], row["samplerate"]), name


def test_what_is_odd_about_a_file_is_found_in_just_these(health: Health) -> None:
    notices = {finding.code: set(finding.clips) for finding in health.audit.findings if finding.severity == "notice"}
    assert {code: notices.get(code) for code in ODD} == ODD
    assert notices.keys() - ODD.keys() == {"dc-offset", "duplicate-audio"}


def test_the_announcement_of_a_lying_header_is_told(health: Health) -> None:
    messages = {finding.code: finding.message for finding in health.audit.findings}
    assert messages["contradictory-header"].endswith("1,092,676 Hz in frames of 2 bytes, and 88,200 bytes a second")
    assert messages["over-full-scale"] == "1 of 62 clips: 2 samples beyond full scale, peak 1.75"
    assert messages["no-frames"] == "1 of 62 clips: the file is valid and holds no frames"


def test_lossless_copies_have_one_digest(health: Health, expected: dict[str, dict[str, str]]) -> None:
    groups: dict[str, list[str]] = defaultdict(list)
    for name, digest in zip(expected, health.samples_sha256, strict=True):
        if digest is not None:
            groups[digest].append(name)
    assert [names for names in groups.values() if len(names) > 1] == SAME_SAMPLES


def test_without_a_channel_to_listen_to_every_file_of_several_is_an_error(
    shared: Path, expected: dict[str, dict[str, str]]
) -> None:
    names = [*expected]
    findings = audited(shared / "data/audio-formats", clips_of(names, names)).audit.findings
    several = {name for name, row in expected.items() if row["channels"] not in ("", "1")}
    assert {finding.code: set(finding.clips) for finding in findings}["wrong-channels"] == several
    assert len(several) == 22
