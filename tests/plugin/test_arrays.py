"""Arrays that come with answers: kept, bounded, killed in between, taken up, replayed, merged and verified."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.store import StoredRun
from pytest_speval.verify.verification import verify
from tests.plugin.conftest import Project, timeless, write_clip

ADAPTER = '''
import os, pathlib, signal
import numpy as np
from pytest_speval import Transcript
from pytest_speval.adapters.base import ARRAY_HEADER
from pytest_speval.evidence import arrays
from pytest_speval.evidence.journal import Journal

HERE = pathlib.Path(__file__).parent
FATAL = os.environ.get("FATAL")

class Hearing:
    """Says the number of a clip; every call leaves a line in `calls.txt`."""

    sample_rate = 16000

    def __init__(self, per_sample=4, extra=-1):
        self.per_sample, self.extra = per_sample, extra

    def transcribe(self, pcm, sample_rate):
        number = round(float(pcm[0]) * 32768) - 100
        with open(HERE / "calls.txt", "a") as calls:
            calls.write(f'"{number}"\\n')
        longer = np.repeat(pcm, 2) if self.extra == number else pcm
        kept = {} if self.extra is False else {"argmax": np.arange(number), "logits": longer}
        return Transcript(str(number), arrays=kept)

class Bounded(Hearing):
    arrays = ("argmax", "logits")

    def stored_bytes(self, samples, sample_rate):
        return samples * self.per_sample + 2 * ARRAY_HEADER + 8 * 10

class Promising(Hearing):
    arrays = ("argmax", "logits")

def kill():
    os.kill(os.getpid(), signal.SIGKILL)

if FATAL == "writing":  # one of the arrays of a clip is on the disk, the other half
    whole = arrays._write
    def half(path, data, written):
        if path.name.startswith("test+c3.logits"):
            path.write_bytes(data[:100])
            kill()
        whole(path, data, written)
    arrays._write = half

if FATAL in ("returned", "torn"):  # the answer's line is on file, the one about its arrays is not, or not whole
    add = Journal._add
    def fatal(journal, line):
        last = line["event"] == "saved" and line["id"] == "c3"
        if last and FATAL == "returned":
            journal.sync()
            kill()
        add(journal, line)
        if last:
            del journal._pending[-20:]
            journal.sync()
            kill()
    Journal._add = fatal

def pytest_speval_adapters():
    return {"hearing": Hearing, "bounded": Bounded, "promising": Promising}
'''
PLAIN = ("-p", "no:cacheprovider", "-q")


def write(project: Project, adapter: str = "{use: hearing}", extra: str = "", *, clips: int = 6) -> None:
    names = [f"c{number}" for number in range(clips)]
    rows = "".join(f"{name},{name[1:]},{name}.wav,s{number % 3}\n" for number, name in enumerate(names))
    (project.path / "clips.csv").write_text(f"id,transcript,audio,speaker\n{rows}")
    for number, name in enumerate(names):
        write_clip(project.path / f"{name}.wav", 100 + number)
    (project.path / "conftest.py").write_text(ADAPTER)
    (project.path / "suites").mkdir(exist_ok=True)
    (project.path / "suites/voice.yaml").write_text(
        f"task: asr\ncorpus: {{root: .., manifest: clips.csv}}\nadapter: {adapter}\n{extra}\n"
        "score: {interval: {replicates: 20}}\ngates: {words: {metric: wer, max: 0.5, why: because}}\n"
    )


def ended(folder: Path) -> dict[str, Ending]:
    run = StoredRun.read(folder)
    question = run.plan.question
    return {question.ids[place]: ending for place, ending in zip(question.planned, run.endings(), strict=True)}


def rows(folder: Path) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in map(json.loads, (folder / "clips.jsonl").read_text().splitlines())}


def errors(folder: Path) -> list[tuple[str, str, str]]:
    return [(found.code, found.file, found.record) for found in verify(folder) if found.severity == "error"]


def stored(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in (folder / "answers").rglob("*") if path.is_file())


def holds_all(folder: Path, clips: int = 6) -> None:
    """Every clip has both arrays as the adapter made them, the folder holds nothing else, and all of it verifies."""
    found = ended(folder)
    for number in range(clips):
        kept = found[f"c{number}"].arrays
        assert kept is not None
        np.testing.assert_array_equal(kept["argmax"].load(folder), np.arange(number))
        wanted = np.array([100 + number, *range(159)], dtype=np.float32) / 32768
        np.testing.assert_array_equal(kept["logits"].load(folder), wanted)
    assert stored(folder) == sorted(
        record.file for ending in found.values() for record in (ending.arrays or {}).values()
    )
    assert errors(folder) == []


def test_arrays_are_kept_and_verified(project: Project, distributed: tuple[str, ...]) -> None:
    write(project)
    run = project.run(*PLAIN, *distributed)
    assert run.ret == 0, run.stdout
    folder = project.folder()
    holds_all(folder)
    kept = ended(folder)["c2"].arrays
    assert kept is not None
    assert rows(folder)["c2"]["arrays"] == {name: record.sha256 for name, record in kept.items()}
    assert np.load(folder / kept["argmax"].file, allow_pickle=False).tolist() == [0, 1]


def test_the_number_of_workers_changes_no_byte_of_the_result(project: Project) -> None:
    write(project, "{use: bounded}", "run: {max_bytes: 45MiB}")
    for arguments in ((), ("-n", "2")):
        assert project.run(*PLAIN, *arguments).ret == 0
    folders = sorted((project.path / ".speval/voice").iterdir())
    assert len({(folder / "clips.jsonl").read_bytes() for folder in folders}) == 1
    assert len({timeless(document) for document in project.documents()}) == 1


def test_a_run_without_arrays_has_no_folder_for_them(project: Project) -> None:
    write(project, "{use: hearing, extra: false}")
    assert project.run(*PLAIN).ret == 0
    assert not (project.folder() / "answers").exists()
    assert "arrays" not in (project.folder() / "clips.jsonl").read_text()
    assert "saved" not in (project.folder() / "journal/main.jsonl").read_text()


@pytest.mark.parametrize(
    ("fatal", "workers"), [("writing", ()), ("returned", ()), ("torn", ()), ("writing", ("-n", "1"))]
)
def test_a_kill_before_the_arrays_are_noted_leaves_the_clip_unknown(
    project: Project, fatal: str, workers: tuple[str, ...]
) -> None:
    write(project)
    project.run(*PLAIN, *workers, environment={"FATAL": fatal})
    folder = project.folder()
    found = ended(folder)
    assert [ending.state for ending in found.values()][:4] == ["returned"] * 3 + ["unknown"]
    assert found["c3"].code == ("never-came-back" if fatal == "writing" else "never-saved")
    assert found["c3"].arrays is None
    project.forget_calls()
    run = project.run(*PLAIN, f"--speval-resume={folder}", environment={})
    assert run.ret == 0, run.stdout
    assert "3" in project.calls
    assert not {"0", "1", "2"} & set(project.calls)
    holds_all(folder)
    assert rows(folder)["c3"]["attempts"] == 2


def test_a_call_that_may_be_made_once_is_not_repeated_for_its_arrays(project: Project) -> None:
    write(project, extra="run: {once: true}")
    project.run(*PLAIN, environment={"FATAL": "returned"})
    folder, before = project.folder(), stored(project.folder())
    project.forget_calls()
    run = project.run(*PLAIN, f"--speval-resume={folder}", environment={})
    assert run.ret == 6
    assert project.calls == ["4", "5"]
    assert rows(folder)["c3"]["status"] == "unknown"
    assert set(before) <= set(stored(folder))
    assert errors(folder) == []
    assert "array-unclaimed" in [found.code for found in verify(folder)]


@pytest.mark.parametrize("damage", ["changed", "shorter", "missing", "folder"])
def test_damage_to_an_array_is_found_with_its_file_and_clip(project: Project, damage: str) -> None:
    write(project)
    project.run(*PLAIN)
    folder = project.folder()
    file = "answers/main/test+c4.logits.npy"
    path, code, files = folder / file, "array-damaged", [file]
    data = path.read_bytes()
    if damage == "changed":
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    elif damage == "shorter":
        path.write_bytes(data[:-4])
    elif damage == "missing":
        path.unlink()
        code = "array-missing"
    else:
        (folder / "answers").rename(project.path / "gone")
        code, files = (
            "array-missing",
            [f"answers/main/test+c{n}.{a}.npy" for n in range(6) for a in ("argmax", "logits")],
        )
    assert [(found, name) for found, name, _ in errors(folder)] == [(code, name) for name in files]
    assert (code, file, "logits of c4") in errors(folder)
    for option in ("replay", "resume"):
        run = project.run(*PLAIN, f"--speval-{option}={folder}")
        assert run.ret == 6
        run.stdout.fnmatch_lines(["*receipt*"])
    assert len(project.calls) == 6


def test_a_file_that_was_added_is_found(project: Project) -> None:
    write(project)
    project.run(*PLAIN)
    (project.folder() / "answers/main/test+c9.logits.npy").write_bytes(b"")
    assert errors(project.folder()) == [("file-unexpected", "answers/main/test+c9.logits.npy", "")]


@pytest.mark.parametrize("damage", ["changed", "missing"])
def test_an_unfinished_run_with_a_damaged_array_is_not_taken_up(project: Project, damage: str) -> None:
    write(project)
    project.run(*PLAIN, environment={"FATAL": "returned"})
    folder = project.folder()
    path = folder / "answers/main/test+c1.argmax.npy"
    path.unlink() if damage == "missing" else path.write_bytes(path.read_bytes()[:-1] + b"\x01")
    project.forget_calls()
    run = project.run(*PLAIN, f"--speval-resume={folder}", environment={})
    assert run.ret == 6, run.stdout
    run.stdout.fnmatch_lines(["*test+c1.argmax.npy*"])
    assert project.calls == []
    run = project.run(*PLAIN, f"--speval-replay={folder}", environment={})
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*integrity*test+c1.argmax.npy*"])


def test_a_replay_keeps_the_arrays(project: Project) -> None:
    write(project, "{use: bounded}", "run: {max_bytes: 45MiB}")
    project.run(*PLAIN)
    first = project.folder()
    project.forget_calls()
    run = project.run(*PLAIN, f"--speval-replay={first}")
    assert run.ret == 0, run.stdout
    assert project.calls == []
    assert project.folder() != first
    holds_all(project.folder())
    assert (project.folder() / "clips.jsonl").read_bytes() == (first / "clips.jsonl").read_bytes()


def test_shards_become_the_whole(project: Project) -> None:
    write(project)
    project.run(*PLAIN)
    single = project.folder()
    for number in (1, 2):
        assert project.run(*PLAIN, f"--speval-shard={number}/2", f"--speval-out=part{number}").ret == 0
    run = project.run(*PLAIN, "--speval-replay=part1", "--speval-replay=part2")
    assert run.ret == 0, run.stdout
    holds_all(project.folder())
    assert {path.name for path in (project.folder() / "answers").iterdir()} == {"1-main", "2-main"}
    assert (project.folder() / "clips.jsonl").read_bytes() == (single / "clips.jsonl").read_bytes()


def test_a_baseline_keeps_no_arrays(project: Project) -> None:
    write(project)
    project.run(*PLAIN)
    from pytest_speval.plugin.blessing import bless

    assert bless(project.folder(), project.path / "baselines/voice") == 0
    said = (project.path / "baselines/voice/baseline.json").read_text()
    assert "arrays" not in said
    assert "logits" not in said
    suite = project.path / "suites/voice.yaml"
    gate = "same: {metric: wer, baseline: ../baselines/voice, max_drop: 0.01, why: because}"
    suite.write_text(suite.read_text().replace("gates: {words", f"gates: {{{gate}, words"))
    run = project.run(*PLAIN)
    assert run.ret == 0, run.stdout


def test_a_folder_that_cannot_be_made_costs_each_clip_and_says_so(project: Project) -> None:
    write(project)
    adapter = (project.path / "conftest.py").read_text()
    blocked = adapter.replace(
        "    def transcribe(self, pcm, sample_rate):\n",
        "    def transcribe(self, pcm, sample_rate):\n"
        '        (next(HERE.glob(".speval/voice/*")) / "answers").touch()\n',
    )
    (project.path / "conftest.py").write_text(blocked)
    run = project.run(*PLAIN)
    assert run.ret == 6
    found = rows(project.folder())
    assert {row["status"] for row in found.values()} == {"failed"}
    assert found["c1"]["reason"].startswith("storage-failed: cannot keep argmax, logits (")
    assert found["c1"]["raw"] == {"text": "1"}
    assert str(project.path) not in found["c1"]["reason"]
    assert len(project.calls) == 6


def test_arrays_that_cannot_be_kept_are_no_answer(project: Project) -> None:
    write(project)
    adapter = (project.path / "conftest.py").read_text()
    (project.path / "conftest.py").write_text(adapter.replace('"logits": longer', '"logits": longer / 0'))
    run = project.run(*PLAIN, "-W", "ignore")
    assert run.ret == 6
    assert {row["reason"] for row in rows(project.folder()).values()} == {
        "invalid-answer: array logits holds NaN or infinity"
    }
    assert not (project.folder() / "answers").exists()


SIZE = 6 * (160 * 4 + 2 * 128 + 80)


def test_the_bound_is_audited_before_the_first_call(project: Project) -> None:
    write(project, "{use: bounded}", f"run: {{max_bytes: {SIZE}}}")
    run = project.run(*PLAIN)
    assert run.ret == 0, run.stdout
    project.forget_calls()
    write(project, "{use: bounded}", f"run: {{max_bytes: {SIZE - 1}}}")
    run = project.run(*PLAIN, "-rA")
    assert run.ret == 6
    run.stdout.fnmatch_lines([f"*at most {SIZE:,} bytes, and run.max_bytes is {SIZE - 1:,}*"])
    assert any("audit[storage]" in line for line in run.outlines)
    assert project.calls == []


def test_what_a_clip_hears_is_what_it_is_bounded_by(project: Project) -> None:
    write(project, "{use: bounded}", f"run: {{max_bytes: {SIZE // 2}}}")
    suite = project.path / "suites/voice.yaml"
    told = "manifest: clips.csv, audio: {seconds: [0, 0.002], long: head}"
    suite.write_text(suite.read_text().replace("manifest: clips.csv", told))
    run = project.run(*PLAIN)
    assert run.ret == 0, run.stdout
    audit = next(audit for audit in project.document()["audits"] if audit["name"] == "storage")
    assert (
        audit["findings"][0]["message"]
        == f"the arrays of 6 clips take at most {6 * (32 * 4 + 336):,} bytes of {SIZE // 2:,}"
    )


def test_an_adapter_that_promises_arrays_must_say_their_size(project: Project) -> None:
    write(project, "{use: promising}", "run: {max_bytes: 1GiB}")
    run = project.run(*PLAIN)
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*bring argmax, logits, and it has no stored_bytes*"])
    assert project.calls == []


def test_one_that_promises_none_may_not_bring_any(project: Project) -> None:
    write(project, "{use: hearing}", "run: {max_bytes: 1GiB}")
    assert project.run(*PLAIN).ret == 6
    assert {row["reason"].split(":")[0] for row in rows(project.folder()).values()} == {"storage-failed"}


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "n2"])
def test_a_clip_beyond_its_bound_fails_alone(project: Project, workers: tuple[str, ...]) -> None:
    write(project, "{use: bounded, extra: 4}", "run: {max_bytes: 45MiB, max_failed: 1}")
    run = project.run(*PLAIN, *workers)
    assert run.ret == 0, run.stdout
    folder = project.folder()
    found = rows(folder)
    assert [name for name, row in found.items() if row["status"] == "failed"] == ["c4"]
    assert found["c4"]["reason"] == (
        "storage-failed: the arrays take 1,568 bytes, and the adapter's stored_bytes gives this clip 976"
    )
    assert len(stored(folder)) == 10
    assert errors(folder) == []


@pytest.mark.parametrize(("told", "message"), [("-4", "returned -"), ("0.5", "returned "), ("x", "TypeError")])
def test_a_size_that_is_none_stops_the_suite(project: Project, told: str, message: str) -> None:
    write(project, f"{{use: bounded, per_sample: {told}}}", "run: {max_bytes: 45MiB}")
    run = project.run(*PLAIN)
    assert run.ret == 6
    run.stdout.fnmatch_lines([f"*stored_bytes*{message}*"])


def test_a_record_that_leads_elsewhere_is_refused(project: Project, tmp_path: Path) -> None:
    write(project)
    project.run(*PLAIN)
    folder = project.folder()
    kept = ended(folder)["c1"].arrays
    assert kept is not None
    (folder / "answers").rename(tmp_path / "elsewhere")
    (folder / "answers").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(EvidenceFault, match="leads elsewhere"):
        kept["logits"].load(folder)
    assert ("array-damaged", "answers/main/test+c1.logits.npy", "logits of c1") in errors(folder)
