"""A clip that hangs, dies or eats memory costs itself: the other clips are answered and the run still ends."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from pytest_speval.adapters import watchdog
from pytest_speval.corpus.contract import Contract
from pytest_speval.errors import AudioFault
from pytest_speval.evidence.canonical import value_of
from pytest_speval.evidence.ending import endings_of
from pytest_speval.evidence.folder import RunFolder
from pytest_speval.evidence.plan import Question
from pytest_speval.plugin.hearing import Hearing
from tests.plugin.conftest import Project

PLAIN_AND_TWO = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "n2"])


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a project's `conftest.py` does to the watchdog ends with its test."""
    monkeypatch.setattr(watchdog, "GRACE", watchdog.GRACE)


PROGRAM = """
import json, os, signal, sys
for line in sys.stdin:
    asked = json.loads(line)
    with open("asked.txt", "a") as file:
        file.write(line)
    if asked["id"] == "c3":
        {misdeed}
    print(json.dumps({{"split": asked["split"], "id": asked["id"], "label": "yes"}}), flush=True)
"""

IN_PROCESS = '''
import os
from pytest_speval import EmotionRead
from pytest_speval.adapters import watchdog

watchdog.GRACE = 0.05

class Hanging:
    """Answers `yes`, but for the clip whose first sample is 103."""

    def classify(self, pcm, sample_rate):
        if round(float(pcm[0]) * 32768) == 103:
            {misdeed}
        return EmotionRead("yes")

def pytest_speval_adapters():
    return {{"counting": Hanging}}
'''

STUCK = """import ctypes
            libc, lock = ctypes.CDLL(None), ctypes.create_string_buffer(64)
            libc.pthread_mutex_lock(lock)
            libc.pthread_mutex_lock(lock)"""


def command(
    project: Project, misdeed: str = "pass", *, keys: str = "", run: str = "timeout: 20", audio: str = ""
) -> None:
    """Ten clips and a suite whose adapter is a program; it commits the misdeed at the fourth clip."""
    project.write(["yes"] * 10)
    (project.path / "model.py").write_text(PROGRAM.format(misdeed=misdeed))
    (project.path / "suites/voice.yaml").write_text(
        "task: emotion\n"
        f"corpus: {{root: .., manifest: clips.csv, audio: {{{audio}}}}}\n"
        'labels: {set: ["yes", "no"], absent: zero}\n'
        f"adapter: {{use: command, argv: [{json.dumps(sys.executable)}, -I, -S, ../model.py]{keys}}}\n"
        f"run: {{{run}}}\n"
        "gates: {accuracy: {metric: accuracy, min: 0.9, why: chance}}\n"
    )


def asked(project: Project) -> list[dict[str, Any]]:
    """What the program was asked, over all processes."""
    return [json.loads(line) for line in (project.path / "suites/asked.txt").read_text().splitlines()]


def states(project: Project) -> Counter[str]:
    """How the clips of the newest run ended, from its evidence alone."""
    folder = RunFolder(project.folder())
    question = Question.from_dict(value_of((folder.path / "plan.json").read_bytes())["question"])
    return Counter(ending.state for ending in endings_of(question, folder.journal_lines()))


def failures(project: Project) -> Mapping[str, str]:
    """Id -> reason of every clip that failed, as `clips.jsonl` has it."""
    rows = [json.loads(line) for line in (project.folder() / "clips.jsonl").read_text().splitlines()]
    return {row["id"]: row["reason"] for row in rows if row["status"] in ("failed", "unknown")}


# --- a process of its own


@PLAIN_AND_TWO
def test_a_program_answers_a_suite(project: Project, workers: tuple[str, ...]) -> None:
    command(project)
    result = project.run(*workers)
    assert result.ret == 0
    assert project.document()["counts"]["answered"] == 10
    assert project.document()["model"] == "model"
    questions = sorted(asked(project), key=lambda question: str(question["id"]))
    assert questions == [
        {"split": "test", "id": f"c{number}", "audio": str(project.path / f"{number}.wav"), "sample_rate": 16000,
         "text": None}
        for number in range(10)
    ]  # fmt: skip


MISDEEDS = {
    "dies": ("os._exit(3)", "process-died", "exit status 3"),
    "is killed": ("os.kill(os.getpid(), signal.SIGKILL)", "process-died", "killed by SIGKILL"),
    "raises": ("raise OSError('no such voice')", "process-died", "OSError: no such voice"),
    "eats memory": ("bytearray(1 << 30)", "process-died", "MemoryError"),
    "opens files": ("kept = [open('../model.py') for _ in range(99)]", "process-died", "Too many open files"),
    "hangs": ("signal.pause()", "timeout", "no answer within 2 s (run.timeout)"),
    "prints": ("print('hello')", "not-json", "`hello` is no JSON"),
    "says why": ("print(REPORT, flush=True); continue", "reported-error", "too soft"),
}
REPORT = json.dumps({"split": "test", "id": "c3", "error": "too soft"})
LIMITS = ", memory: 512MiB, files: 50"


@pytest.mark.parametrize("misdeed", MISDEEDS)
def test_a_program_that_fails_at_one_clip_answers_all_others(project: Project, misdeed: str) -> None:
    body, code, told = MISDEEDS[misdeed]
    run = f"timeout: {2 if code == 'timeout' else 20}, max_failed: 1"
    command(project, body.replace("REPORT", repr(REPORT)), keys=LIMITS, run=run)
    result = project.run()
    assert result.ret == 0, result.outlines
    document = project.document()
    assert (document["counts"]["answered"], document["counts"]["failed"]) == (9, 1)
    assert document["metrics"]["accuracy"]["value"] == 0.9
    (reason,) = failures(project).values()
    assert reason.startswith(f"{code}: ")
    assert told in reason
    assert [question["id"] for question in asked(project)] == [f"c{number}" for number in range(10)]


def test_a_program_that_fails_at_many_clips_costs_a_worker_none_of_the_others(project: Project) -> None:
    command(project, run="timeout: 4, max_failed: 4", keys=LIMITS)
    deeds = {"c1": "os._exit(3)", "c3": "signal.pause()", "c5": "bytearray(1 << 30)", "c6": "print('hello')"}
    lines = "".join(f"    if asked['id'] == '{name}': {deed}\n" for name, deed in deeds.items())
    model = project.path / "model.py"
    model.write_text(model.read_text().replace("    if asked", f"{lines}    if asked"))
    result = project.run("-n", "2")
    assert result.ret == 1, result.outlines  # the gate wants 0.9
    codes = {name: reason.partition(":")[0] for name, reason in failures(project).items()}
    assert codes == {"c1": "process-died", "c3": "timeout", "c5": "process-died", "c6": "not-json"}
    assert project.document()["metrics"]["accuracy"]["value"] == 0.6
    assert sorted(question["id"] for question in asked(project)) == [f"c{number}" for number in range(10)]


def test_a_program_that_is_not_there_fails_the_audit_and_asks_nothing(project: Project) -> None:
    command(project)
    result = project.run("--speval-set", "voice.adapter.argv=[no-such-program]")
    assert result.ret == 6
    result.stdout.fnmatch_lines(["error: no program `no-such-program` on PATH that can be run *command-missing*"])
    assert project.document()["counts"]["unattempted"] == 10


def test_a_key_of_its_own_is_checked_where_it_stands(project: Project) -> None:
    command(project, keys=", memory: 2GB, fils: 3, env: {OMP_NUM_THREADS: 1}")
    result = project.run()
    assert result.ret == 2
    result.stdout.fnmatch_lines(
        [
            "*voice.yaml:4:*adapter.memory: `2GB` is no size*",
            "*voice.yaml:4:*adapter.fils: unknown key, did you mean `files`?*",
            "*voice.yaml:4:*adapter.env.OMP_NUM_THREADS: is the number `1`; quote it*",
        ]
    )


def test_variables_reach_the_program_and_no_file(project: Project) -> None:
    keys = ', env: {VOICE: "${CANARY}"}'
    command(project, "assert (os.environ['VOICE'], sys.argv[1]) == ('sing', '-tweet')", keys=keys)
    suite = project.path / "suites/voice.yaml"
    suite.write_text(suite.read_text().replace("../model.py]", '../model.py, "-${CANARY_WORD}"]'))
    assert project.run(environment={"CANARY": "sing", "CANARY_WORD": "tweet"}).ret == 0
    plan = json.loads((project.folder() / "plan.json").read_text())
    adapter = plan["question"]["adapter"]
    assert adapter["keys"]["env"] == {"VOICE": "${CANARY}"}
    assert adapter["keys"]["argv"][-1] == "-${CANARY_WORD}"
    assert set(adapter["identity"]["files"]) == {Path(sys.executable).name, "model.py"}
    result = project.run()
    assert result.ret == 6
    result.stdout.fnmatch_lines(["error: the environment variable CANARY_WORD is not set*unset-variable*"])


def test_the_deadline_is_no_part_of_the_question(project: Project) -> None:
    command(project)
    for seconds in ("20", "21"):
        project.run("--speval-set", f"voice.run.timeout={seconds}")
    plans = [json.loads(path.read_text()) for path in sorted((project.path / ".speval/voice").glob("*/plan.json"))]
    assert plans[0]["questionSha256"] == plans[1]["questionSha256"]
    assert [plan["rules"]["run"]["timeout"] for plan in plans] == [20, 21]


def test_a_sound_that_the_contract_changes_is_lent_as_a_file_of_its_own(project: Project) -> None:
    command(
        project,
        "import shutil; shutil.copy(asked['audio'], '../heard.wav')",
        audio="rate: 16000, seconds: [0.02, 1], short: pad",
    )
    assert project.run().ret == 0
    heard, rate = soundfile.read(project.path / "heard.wav", dtype="float32")
    stored, _ = soundfile.read(project.path / "3.wav", dtype="float32")
    assert rate == 16000
    np.testing.assert_array_equal(heard, np.pad(stored, (0, 320 - 160)))
    lent = {question["audio"] for question in asked(project)}
    assert all(path.startswith(tempfile.gettempdir()) and path.endswith(".wav") for path in lent)
    assert not [path for path in lent if Path(path).exists()]


# --- in the process of the session


@pytest.mark.parametrize(
    ("misdeed", "workers"),
    [("while True: pass", ()), ("while True: pass", ("-n", "2")), ("os.read(os.pipe()[0], 1)", ())],
    ids=["loops", "loops-n2", "waits"],
)
def test_an_adapter_that_hangs_in_python_costs_its_clip(
    project: Project, misdeed: str, workers: tuple[str, ...]
) -> None:
    project.write(["yes"] * 10, extra="run: {timeout: 1, max_failed: 1}")
    (project.path / "conftest.py").write_text(IN_PROCESS.format(misdeed=misdeed))
    result = project.run(*workers)
    assert result.ret == 0, result.outlines
    assert project.document()["metrics"]["accuracy"]["value"] == 0.9
    assert failures(project) == {"c3": "timeout: no answer within 1 s (run.timeout)"}


def test_an_adapter_stuck_in_native_code_ends_a_plain_session_in_red(project: Project) -> None:
    project.write(["yes"] * 10, extra="run: {timeout: 1, max_failed: 1}")
    (project.path / "conftest.py").write_text(IN_PROCESS.format(misdeed=STUCK))
    result = project.run(environment={})
    assert result.ret == 6
    result.stderr.fnmatch_lines(["speval: the call for test/c3 had 1 s (run.timeout), is stuck in native code*"])
    assert states(project) == {"returned": 3, "unknown": 1, "unattempted": 6}
    assert not (project.folder() / "out.json").exists()


def test_an_adapter_stuck_in_native_code_costs_a_worker_its_clip(project: Project) -> None:
    project.write(["yes"] * 10, extra="run: {timeout: 1, max_failed: 1}")
    (project.path / "conftest.py").write_text(IN_PROCESS.format(misdeed=STUCK))
    result = project.run("-n", "2")
    assert project.document()["counts"]["unknown"] == 1
    assert project.document()["counts"]["unattempted"] == 0
    assert project.document()["metrics"]["accuracy"]["value"] == 0.9
    assert result.ret == 1  # xdist fails the item at which a worker died
    result.stderr.fnmatch_lines(["speval: the call for test/c3 had 1 s (run.timeout), is stuck in native code*"])


# --- the file that is lent


def lending(folder: Path, contract: Contract, **more: Any) -> Hearing:
    names = sorted(path.name for path in folder.glob("*.wav"))
    digests = [hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names]
    return Hearing(folder, names, contract, **({"bytes_sha256": digests} | more))


@pytest.mark.parametrize("relative", [True, False])
def test_a_sound_that_fits_is_lent_by_its_own_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, relative: bool
) -> None:
    soundfile.write(tmp_path / "a.wav", np.zeros(100), 8000, subtype="PCM_16")
    monkeypatch.chdir(tmp_path)
    hearing = lending(Path() if relative else tmp_path, Contract(8000))
    with hearing.lend(0) as lent:
        assert lent == (tmp_path / "a.wav", 8000)
    assert (tmp_path / "a.wav").exists()


@pytest.mark.parametrize(
    "contract",
    [
        Contract(16000, resample=True, channel=1),
        Contract(8000, channel="mean"),
        Contract(channel=0, seconds=(0.02, 1), short="pad"),
        Contract(channel=0, seconds=(0, 0.005), long="tail"),
    ],
)
def test_a_sound_that_is_changed_is_lent_as_it_would_be_heard(tmp_path: Path, contract: Contract) -> None:
    chance = np.random.default_rng(3)
    soundfile.write(tmp_path / "a.wav", chance.uniform(-0.5, 0.5, (100, 2)), 8000, subtype="PCM_16")
    hearing = lending(tmp_path, contract)
    pcm, rate = hearing.hear(0)
    with hearing.loan_of(0)() as (path, said):
        assert path is not None
        heard, found = soundfile.read(path, dtype="float32")
    assert (found, said) == (rate, rate)
    np.testing.assert_array_equal(heard, pcm)
    assert not path.exists()


def test_a_sound_that_was_not_audited_is_not_lent(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.zeros(100), 8000, subtype="PCM_16")
    hearing = lending(tmp_path, Contract(8000), bytes_sha256=["0" * 64])
    with pytest.raises(AudioFault) as caught, hearing.lend(0):
        raise AssertionError("lent")
    assert caught.value.code == "changed-since-audit"


def test_a_suite_without_sound_lends_nothing() -> None:
    with Hearing(Path(), None, None, ()).lend(0) as lent:
        assert lent == (None, None)


def test_no_process_is_left_behind(project: Project) -> None:
    """Whoever held the pipe is gone when the session is: reading it comes to an end."""
    command(project, "held = os.open('../held', os.O_WRONLY)")
    os.mkfifo(project.path / "held")
    end = os.open(project.path / "held", os.O_RDONLY | os.O_NONBLOCK)
    assert project.run().ret == 0
    os.set_blocking(end, True)
    assert os.read(end, 1) == b""
    os.close(end)
