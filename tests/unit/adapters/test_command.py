"""A process of its own may do anything: each clip gets its own answer or a fault of its own, and nothing stays."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pytest_speval.adapters import process
from pytest_speval.adapters.base import (
    AskedByClip,
    ClipRequest,
    EmotionRead,
    Identity,
    Response,
    Roll,
    Usage,
    Vad,
    traits,
)
from pytest_speval.adapters.command import Command, CommandKeys, size_of
from pytest_speval.audit.fit import Request, audit_adapter
from pytest_speval.errors import AdapterFault, AnswerFault

SHORT = 0.3
LONG = 60.0
PYTHON = (sys.executable, "-I", "-S")

HEAD = """
import json, os, signal, sys
open("starts", "a").write(f"{os.getpid()}\\n")

def say(asked, end="\\n", **answer):
    told = {"split": asked["split"], "id": asked["id"]} | answer
    sys.stdout.write(json.dumps(told) + end)
    sys.stdout.flush()

def hold():
    # It and the children it starts hold the pipe for as long as they live.
    pipe = os.open("held", os.O_WRONLY)
    os.write(pipe, b"here\\n")
    os.set_inheritable(pipe, True)

def leave_child():
    import subprocess
    hold()
    waiting = "import signal; signal.pause()"
    subprocess.Popen([sys.executable, "-I", "-S", "-c", waiting], close_fds=False)
"""
LOOP = """
for line in sys.stdin:
    asked = json.loads(line)
    {body}
"""


ABOUT_C1 = 'asked about {"split": "test", "id": "c1"}, it wrote `{"'


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Callable[..., Command]]:
    """Make a `Command` whose program runs `body` for each clip; all are closed in the end."""
    made: list[Command] = []

    def building(body: str = "say(asked, label=asked['id'])", *, script: str | None = None, **keys: Any) -> Command:
        text = LOOP.format(body=body.strip().replace("\n", "\n    ")) if script is None else script
        (tmp_path / "model.py").write_text(HEAD + text)
        command = Command(**{"argv": (*PYTHON, "model.py"), "folder": tmp_path} | keys)
        made.append(command)
        return command

    yield building
    for command in made:
        command.close()


def asked(name: str = "c0", timeout: float | None = LONG, **more: Any) -> ClipRequest:
    return ClipRequest("test", name, "classify", timeout=timeout, **more)


def label(command: Command, name: str = "c0") -> object:
    read = command.answer_clip(asked(name))
    assert isinstance(read, EmotionRead)
    return read.label


def fault(command: Command, name: str = "c0", timeout: float | None = LONG) -> tuple[str, str]:
    with pytest.raises(AnswerFault) as caught:
        command.answer_clip(asked(name, timeout))
    return caught.value.code, caught.value.message


def starts(folder: Path) -> list[str]:
    """The numbers of the processes that were started."""
    return (folder / "starts").read_text().split() if (folder / "starts").exists() else []


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Callable[[], None]]:
    """A pipe `held` for the process; what is yielded waits until every process that held it is dead."""
    os.mkfifo(tmp_path / "held")
    end = os.open(tmp_path / "held", os.O_RDONLY | os.O_NONBLOCK)

    def wait() -> None:
        os.set_blocking(end, True)
        assert os.read(end, 5) == b"here\n"
        while os.read(end, 5):
            pass

    yield wait
    os.close(end)


# --- questions and answers


def test_one_process_answers_every_clip(build: Callable[..., Command], tmp_path: Path) -> None:
    command = build()
    assert [label(command, f"c{number}") for number in range(20)] == [f"c{number}" for number in range(20)]
    assert len(starts(tmp_path)) == 1


def test_the_process_starts_with_its_first_clip(build: Callable[..., Command], tmp_path: Path) -> None:
    command = build()
    command.identity()
    command.warm_up()
    assert starts(tmp_path) == []


def test_the_question_is_one_line_with_five_keys(build: Callable[..., Command]) -> None:
    command = build("say(asked, response=line)")
    sound = Path("/data/ä b.wav")
    read = command.answer_clip(ClipRequest("té\nst", 'c"0', "classify", sound, 16000, "so\u2028 what", LONG))
    assert isinstance(read, EmotionRead)
    assert read.response is not None
    assert read.response.body.count("\n") == 1
    question = {"split": "té\nst", "id": 'c"0', "audio": "/data/ä b.wav", "sample_rate": 16000, "text": "so\u2028 what"}
    assert json.loads(read.response.body) == question


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ({"label": "happy"}, EmotionRead("happy")),
        ({"label": "héureux ☺"}, EmotionRead("héureux ☺")),
        ({"scores": {"a": 0.25, "b": 1}}, EmotionRead(scores={"a": 0.25, "b": 1})),
        ({"vad": {"arousal": 0.2, "valence": 0.1, "dominance": 0.3}}, EmotionRead(vad=Vad(0.1, 0.2, 0.3))),
        ({"label": "a", "latency_ms": 2.5}, EmotionRead("a", latency_ms=2.5)),
        ({}, EmotionRead()),
        ({"label": None, "scores": None, "vad": None, "error": None, "usage": None}, EmotionRead()),
        ({"label": "a", "response": {"x": [1]}}, EmotionRead("a", response=Response({"x": [1]}))),
        ({"request_id": "r1", "revision": "m-3"}, EmotionRead(response=Response(None, "r1", "m-3"))),
        (
            {"usage": {"requests": 2, "audio_seconds": 3, "input_tokens": 4, "output_tokens": 5}},
            EmotionRead(response=Response(usage=Usage(2, 3, 4, 5))),
        ),
        ({"usage": {"input_tokens": 7}}, EmotionRead(response=Response(usage=Usage(1, 0, 7, 0)))),
    ],
)
def test_an_answer_becomes_what_the_method_would_have_returned(
    build: Callable[..., Command], answer: dict[str, Any], read: EmotionRead
) -> None:
    assert build(f"say(asked, **{answer!r})").answer_clip(asked()) == read


@pytest.mark.parametrize(
    ("answer", "code", "told"),
    [
        ({"lable": "happy"}, "invalid-answer", "unknown key `lable` in an answer; known: split, id, error, label, "),
        ({"text": "hello"}, "invalid-answer", "unknown key `text`"),
        ({"vad": [0.1, 0.2, 0.3]}, "invalid-answer", "vad must be an object of valence, arousal, dominance"),
        ({"vad": {"valence": 0.1}}, "invalid-answer", "vad must be an object of valence, arousal, dominance"),
        ({"revision": 3}, "invalid-answer", "revision must be a text"),
        ({"request_id": ["r"]}, "invalid-answer", "request_id must be a text"),
        ({"usage": 3}, "invalid-answer", "usage must be an object of whole numbers: audio_seconds, "),
        ({"usage": {"usd": 1}}, "invalid-answer", "usage must be an object of whole numbers"),
        ({"usage": {"requests": -1}}, "invalid-answer", "usage must be an object of whole numbers"),
        ({"usage": {"requests": True}}, "invalid-answer", "usage must be an object of whole numbers"),
        ({"usage": {"requests": 1.5}}, "invalid-answer", "usage must be an object of whole numbers"),
        ({"error": "the file is empty"}, "reported-error", "the file is empty"),
        ({"error": {"why": 3}, "label": "a"}, "reported-error", "{'why': 3}"),
    ],
)
def test_a_bad_answer_to_the_right_clip_costs_that_clip_and_no_process(
    build: Callable[..., Command], tmp_path: Path, answer: dict[str, Any], code: str, told: str
) -> None:
    command = build(f"say(asked, **({answer!r} if asked['id'] == 'c1' else {{'label': 'good'}}))")
    assert label(command) == "good"
    found = fault(command, "c1")
    assert found[0] == code
    assert found[1].startswith(told)
    assert label(command, "c2") == "good"
    assert len(starts(tmp_path)) == 1


@pytest.mark.parametrize(
    ("body", "code", "told"),
    [
        ("print('loading', flush=True)", "not-json", "`loading` is no JSON: "),
        ("print('', flush=True)", "not-json", "`` is no JSON: "),
        ("print('[' * 100000, flush=True)", "not-json", f"`{'[' * 200}`… is no JSON: "),
        ("print('1' * 5000, flush=True)", "not-json", f"`{'1' * 200}`… is no JSON: "),
        ("os.write(1, bytes([255, 254, 10]))", "not-json", "`��` is no JSON: "),
        ("print('[1]', flush=True)", "not-json", "`[1]` is no JSON object with split and id"),
        ("print('null', flush=True)", "not-json", "`null` is no JSON object with split and id"),
        ("say(asked, label='a', end=', \"label\": \"b\"}\\n')", "not-json", "`{"),
        (
            "print(line.strip().rstrip('}') + ', \"error\": 1, \"error\": 2}', flush=True)",
            "not-json",
            '`{"split":"test","id":"c1","audio":null,"sample_rate":null,"text":null, "error": 1, "error": 2}` '
            "is no JSON: a key stands twice",
        ),
        ("say(asked | {'id': 'c9'}, label='a')", "out-of-step", ABOUT_C1),
        ("say(asked | {'split': 'dev'}, label='a')", "out-of-step", ABOUT_C1),
        ("print('{\"label\": \"a\"}', flush=True)", "out-of-step", ABOUT_C1),
    ],
)  # fmt: skip
def test_a_line_that_answers_nothing_costs_its_clip_and_its_process(
    build: Callable[..., Command], tmp_path: Path, body: str, code: str, told: str
) -> None:
    command = build(f"if asked['id'] == 'c1': {body}\nelse: say(asked, label='good')")
    assert label(command) == "good"
    found = fault(command, "c1")
    assert found[0] == code
    assert found[1].startswith(told)
    assert label(command, "c2") == "good"
    assert len(starts(tmp_path)) == 2


def test_a_line_nobody_asked_for_costs_the_next_clip_never_its_answer(
    build: Callable[..., Command], tmp_path: Path
) -> None:
    """The process knows the order of the clips and answers ahead."""
    ahead = "json.dumps({'split': 'test', 'id': 'c1', 'label': 'guessed'}) + chr(10)"
    command = build(f"say(asked, label='good', end=chr(10) + {ahead} if asked['id'] == 'c0' else chr(10))")
    assert label(command) == "good"
    assert fault(command, "c1") == (
        "out-of-step",
        'it wrote before it was asked: `{"split": "test", "id": "c1", "label": "guessed"}`',
    )
    assert label(command, "c1") == "good"
    assert len(starts(tmp_path)) == 2


def test_an_endless_line_is_cut_off(
    build: Callable[..., Command], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "LONGEST_LINE", 1_000_000)
    command = build("while asked['id'] == 'c1': sys.stdout.write('x' * 10000)\nsay(asked, label='good')")
    assert label(command) == "good"
    assert fault(command, "c1") == ("line-too-long", "a line of more than 1,000,000 bytes")
    assert label(command, "c2") == "good"
    assert len(starts(tmp_path)) == 2


def test_a_long_line_is_read_whole(build: Callable[..., Command]) -> None:
    read = build("say(asked, response='x' * 3_000_000)").answer_clip(asked())
    assert isinstance(read, EmotionRead)
    assert read.response is not None
    assert len(read.response.body) == 3_000_000


def test_a_long_question_is_written_whole(build: Callable[..., Command]) -> None:
    read = build("say(asked, response=len(asked['text']))").answer_clip(asked(text="x" * 3_000_000))
    assert isinstance(read, EmotionRead)
    assert read.response == Response(3_000_000)


def test_what_it_says_beside_never_fills_a_pipe(build: Callable[..., Command]) -> None:
    command = build("sys.stderr.write('x' * 1_000_000)\nsay(asked, label='good')")
    assert [label(command, name) for name in ("c0", "c1")] == ["good", "good"]


def test_the_program_in_the_docs_answers(build: Callable[..., Command], tmp_path: Path) -> None:
    docs = (Path(__file__).parents[3] / "docs/adapters.md").read_text()
    (program,) = re.findall(r"^```python\n(# model\.py\n.*?)^```", docs, flags=re.MULTILINE | re.DOTALL)
    command = build(script="")
    (tmp_path / "model.py").write_text(program)
    here, gone = (
        ClipRequest("test", "c0", "classify", tmp_path / name, 16000, None, LONG) for name in ("model.py", "gone")
    )
    scores = {"angry": 0.7, "happy": 0.2, "neutral": 0.1}
    assert command.answer_clip(here) == EmotionRead(scores=scores)
    with pytest.raises(AnswerFault, match="No such file") as caught:
        command.answer_clip(gone)
    assert caught.value.code == "reported-error"
    assert command.answer_clip(here) == EmotionRead(scores=scores)


# --- time and death


def test_a_clip_that_takes_too_long_is_a_timeout_and_the_next_gets_a_new_process(
    build: Callable[..., Command], tmp_path: Path
) -> None:
    command = build("if asked['id'] == 'c1': signal.pause()\nsay(asked, label='good')")
    assert label(command) == "good"
    assert fault(command, "c1", SHORT) == ("timeout", "no answer within 0.3 s (run.timeout)")
    assert label(command, "c2") == "good"
    assert len(starts(tmp_path)) == 2


def test_a_timeout_tells_the_last_words(build: Callable[..., Command]) -> None:
    command = build("if asked['id'] == 'c1': signal.pause()\nos.write(2, b'one lock\\n')\nsay(asked, label='good')")
    assert label(command) == "good"
    told = "no answer within 0.3 s (run.timeout); its last words: one lock"
    assert fault(command, "c1", SHORT) == ("timeout", told)


def test_a_process_that_reads_nothing_is_a_timeout(build: Callable[..., Command]) -> None:
    command = build(script="signal.pause()")
    with pytest.raises(AnswerFault) as caught:
        command.answer_clip(asked(timeout=SHORT, text="x" * 3_000_000))
    assert caught.value.code == "timeout"


def test_without_a_deadline_it_has_all_the_time(build: Callable[..., Command]) -> None:
    assert build("say(asked, label='good')").answer_clip(asked(timeout=None)) == EmotionRead("good")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("sys.exit(3)", ": exit status 3"),
        ("sys.exit(0)", ": exit status 0"),
        ("sys.exit('no model')", ": exit status 1; its last words: no model"),
        ("os.kill(os.getpid(), signal.SIGKILL)", ": killed by SIGKILL"),
        ("os.abort()", ": killed by SIGABRT"),
        ("os.close(1)\nsum(range(1_000_000))\nos._exit(7)", ": exit status 7"),
        ("os.write(1, b'{\"split\": ')\nos._exit(4)", " in the middle of a line: exit status 4"),
        ("os.write(2, b'y' * 5000)\nos._exit(5)", f": exit status 5; its last words: …{'y' * process.TAIL}"),
    ],
)
def test_a_process_that_dies_costs_its_clip_only(
    build: Callable[..., Command], tmp_path: Path, body: str, told: str
) -> None:
    dying = body.replace("\n", "\n    ")
    command = build(f"if asked['id'] == 'c1':\n    {dying}\nsay(asked, label='good')")
    assert label(command) == "good"
    assert fault(command, "c1") == ("process-died", f"the process ended without an answer{told}")
    assert label(command, "c2") == "good"
    assert len(starts(tmp_path)) == 2


@pytest.mark.parametrize("end", [0, 1])
def test_a_process_that_stops_talking_is_as_good_as_dead(
    build: Callable[..., Command], monkeypatch: pytest.MonkeyPatch, end: int
) -> None:
    monkeypatch.setattr(process, "ENDING", 0.01)
    command = build(f"os.close({end})\nif {end}: signal.pause()\nsay(asked, label='good')\nsignal.pause()")
    if not end:
        assert label(command) == "good"
    assert fault(command, "c1") == (
        "process-died",
        "the process ended without an answer: it closed its input or output",
    )


def test_a_traceback_is_told(build: Callable[..., Command]) -> None:
    code, message = fault(build("raise OSError('no such voice')"))
    assert code == "process-died"
    assert message.endswith("OSError: no such voice")


def test_an_answer_is_taken_from_a_process_that_died_after_it(build: Callable[..., Command], tmp_path: Path) -> None:
    """Whether its death is seen before the next clip or only then, it is always that clip that it costs."""
    command = build("say(asked, label='good')\nos._exit(0)")
    assert label(command) == "good"
    assert fault(command, "c1")[0] == "process-died"
    assert label(command, "c2") == "good"
    assert len(starts(tmp_path)) == 2


def test_a_process_that_dies_at_once_is_started_once_for_each_clip(
    build: Callable[..., Command], tmp_path: Path
) -> None:
    command = build(script="sys.exit(9)")
    assert [fault(command, f"c{number}")[0] for number in range(4)] == ["process-died"] * 4
    assert len(starts(tmp_path)) == 4


def test_a_dead_process_is_noticed_though_its_child_holds_the_pipes(
    build: Callable[..., Command], pipe: Callable[[], None]
) -> None:
    command = build("leave_child()\nos._exit(6)")
    assert fault(command)[1] == "the process ended without an answer: exit status 6"
    pipe()


def test_a_timeout_takes_the_children_too(build: Callable[..., Command], pipe: Callable[[], None]) -> None:
    command = build("if asked['id'] == 'c1': signal.pause()\nleave_child()\nsay(asked, label='good')")
    assert label(command) == "good"
    assert fault(command, "c1", SHORT)[0] == "timeout"
    pipe()


def test_an_interrupt_takes_the_process_and_its_children(
    build: Callable[..., Command], pipe: Callable[[], None]
) -> None:
    command = build("leave_child()\nos.kill(os.getppid(), signal.SIGINT)\nsignal.pause()")
    with pytest.raises(KeyboardInterrupt):
        command.answer_clip(asked())
    pipe()


def test_the_end_takes_the_children_too(build: Callable[..., Command], pipe: Callable[[], None]) -> None:
    command = build("leave_child()\nsay(asked, label='good')")
    assert label(command) == "good"
    command.close()
    pipe()


def test_the_end_is_polite(build: Callable[..., Command], tmp_path: Path) -> None:
    command = build(script=LOOP.format(body="say(asked, label='good')") + "open('saved', 'w').write('all')")
    assert label(command) == "good"
    command.close()
    assert (tmp_path / "saved").read_text() == "all"
    command.close()


def test_who_does_not_go_is_made_to(
    build: Callable[..., Command], pipe: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "CLOSING", 0.01)
    command = build("hold()\nsay(asked, label='good')\nsignal.pause()")
    assert label(command) == "good"
    command.close()
    pipe()


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_the_process_ends_with_whoever_started_it(
    build: Callable[..., Command], tmp_path: Path, pipe: Callable[[], None], end: str
) -> None:
    build("hold()\nsay(asked, label='good')\nsignal.pause()")
    script = f"""
import os, signal, sys
from pathlib import Path
from pytest_speval.adapters.base import ClipRequest
from pytest_speval.adapters.command import Command
command = Command(argv={(*PYTHON, "model.py")!r}, folder=Path({str(tmp_path)!r}))
command.answer_clip(ClipRequest("test", "c0", "classify"))
{end}
"""
    subprocess.run([sys.executable, "-c", script], check=False)
    pipe()


def test_it_may_be_asked_from_another_thread(build: Callable[..., Command], tmp_path: Path) -> None:
    command = build("if asked['id'] == 'c1': signal.pause()\nsay(asked, label='good')")
    seen: list[object] = []

    def asking() -> None:
        seen.append(label(command))
        seen.append(fault(command, "c1", SHORT)[0])
        seen.append(label(command, "c2"))

    thread = threading.Thread(target=asking)
    thread.start()
    thread.join()
    while Path(f"/proc/self/task/{thread.native_id}").exists():  # its end is not that of the process it started
        pass
    assert seen == ["good", "timeout", "good"]
    assert label(command, "c3") == "good"
    assert len(starts(tmp_path)) == 2


# --- its surroundings


def surroundings(command: Command) -> Any:
    read = command.answer_clip(asked())
    assert isinstance(read, EmotionRead)
    assert read.response is not None
    return read.response.body


def test_its_environment_is_five_variables_and_env(
    build: Callable[..., Command], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "LANG", "LC_ALL", "TMPDIR", "LC_CTYPE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPEVAL_SECRET", "canary")
    monkeypatch.setenv("HOME", "/home/nobody")
    monkeypatch.setenv("TMPDIR", "/tmp/spoken")
    command = build(
        "say(asked, response=open('/proc/self/environ').read())", env={"VOICE": "a=b, ü", "PATH": "/nowhere"}
    )
    found = dict(pair.split("=", 1) for pair in surroundings(command).split("\0") if pair)
    assert found == {"HOME": "/home/nobody", "TMPDIR": "/tmp/spoken", "PATH": "/nowhere", "VOICE": "a=b, ü"}


def test_it_runs_in_its_folder(build: Callable[..., Command], tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    command = build("say(asked, response=os.getcwd())", argv=(*PYTHON, "../model.py"), folder=tmp_path / "deep")
    assert surroundings(command) == str(tmp_path / "deep")


def test_limits_hold_from_the_start_and_for_its_children(build: Callable[..., Command]) -> None:
    import resource

    show = "import resource as r; print(r.getrlimit(r.RLIMIT_AS) + r.getrlimit(r.RLIMIT_NOFILE))"
    body = (
        f"import subprocess; say(asked, response=subprocess.check_output([sys.executable, '-c', {show!r}], text=True))"
    )
    assert surroundings(build(body, memory="2GiB", files=50)) == f"({2 << 30}, {2 << 30}, 50, 50)\n"
    ours = resource.getrlimit(resource.RLIMIT_AS) + resource.getrlimit(resource.RLIMIT_NOFILE)
    assert surroundings(build(body)) == f"{ours}\n"


def test_more_memory_than_its_limit_costs_the_clip(build: Callable[..., Command], tmp_path: Path) -> None:
    command = build("if asked['id'] == 'c1': bytearray(1 << 30)\nsay(asked, label='good')", memory=256 << 20)
    assert label(command) == "good"
    code, message = fault(command, "c1")
    assert code == "process-died"
    assert message.endswith("MemoryError")
    assert label(command, "c2") == "good"
    assert len(starts(tmp_path)) == 2


def test_signals_are_as_a_program_expects_them(build: Callable[..., Command]) -> None:
    """An interpreter ignores SIGPIPE, and what is ignored is inherited."""
    command = build(argv=("sh", "-c", "read line; grep SigIgn /proc/self/status >&2; exit 3"))
    assert fault(command)[1].endswith("its last words: SigIgn:\t0000000000000000")


def test_a_program_of_any_language_will_do(build: Callable[..., Command]) -> None:
    script = """while read line; do echo '{"split": "test", "id": "c0", "label": "shell"}'; done"""
    assert label(build(argv=("sh", "-c", script))) == "shell"


@pytest.mark.parametrize("word", ["no-such-program", "./no-such-program", "/no/such/program", "./model.py", "./deep"])
def test_a_program_that_cannot_be_run_fails_the_audit(build: Callable[..., Command], tmp_path: Path, word: str) -> None:
    (tmp_path / "deep").mkdir()
    command = build(argv=(word,))
    with pytest.raises(AdapterFault) as caught:
        command.warm_up()
    assert caught.value.code == "command-missing"
    assert caught.value.message.startswith(f"no program `{word}` ")


def test_a_folder_that_is_not_there_fails_the_audit(build: Callable[..., Command], tmp_path: Path) -> None:
    with pytest.raises(AdapterFault, match=r"no folder .*gone to run") as caught:
        build(folder=tmp_path / "gone").warm_up()
    assert caught.value.code == "command-missing"


def test_a_program_is_found_on_the_path_it_is_given(build: Callable[..., Command], tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/speak").write_text(
        """#!/bin/sh\nread line; echo '{"split": "test", "id": "c0", "label": "own"}'"""
    )
    (tmp_path / "bin/speak").chmod(0o755)
    assert label(build(argv=("speak",), env={"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"})) == "own"
    assert label(build(argv=("bin/speak",))) == "own"


def test_a_program_the_system_refuses_says_why(build: Callable[..., Command], tmp_path: Path) -> None:
    (tmp_path / "speak").write_bytes(b"\x7fELF nothing")
    (tmp_path / "speak").chmod(0o755)
    told = f"exit status 126; its last words: cannot run {tmp_path}/speak: Exec format error"
    assert fault(build(argv=("./speak",)))[1].endswith(told)


def test_words_that_name_files_are_its_identity(build: Callable[..., Command], tmp_path: Path) -> None:
    (tmp_path / "weights.bin").write_bytes(b"1")
    (tmp_path / "run").write_text("")
    words = ("weights.bin", "--model=weights.bin", "x" * 5000, "weights.bin/", "nul\0", ".")
    known = build(argv=("python", "model.py", *words)).identity()
    assert known == Identity("model", files=(tmp_path / "model.py", tmp_path / "weights.bin"))
    assert build(argv=("./run", "weights.bin")).identity().files == (tmp_path / "run", tmp_path / "weights.bin")
    assert build(argv=("./run", "fast")).identity() == Identity("run", files=(tmp_path / "run",))
    assert build(argv=("sox",)).identity() == Identity("sox")


# --- keys and audit


@pytest.mark.parametrize(
    ("text", "size"), [("1", 1), ("64KiB", 65536), ("3MiB", 3 << 20), ("2GiB", 2 << 30), ("2 GiB", 2 << 30)]
)
def test_sizes_are_read(text: str, size: int) -> None:
    assert size_of(text) == size


@pytest.mark.parametrize("text", ["", "0", "2GB", "2gib", "-1KiB", "1.5GiB", "GiB", "2  GiB", " 1", "1\n", "\u0663KiB"])
def test_other_sizes_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no size: write bytes"):
        size_of(text)


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"argv": ()},
        {"argv": "python model.py"},
        {"argv": (1,)},
        {"argv": ("x",), "env": {"A": 1}},
        {"argv": ("x",), "env": {"": "1"}},
        {"argv": ("x",), "env": {"A=B": "1"}},
        {"argv": ("x",), "env": {"A\0": "1"}},
        {"argv": ("x",), "memory": 0},
        {"argv": ("x",), "memory": "2GB"},
        {"argv": ("x",), "memory": 1.5},
        {"argv": ("x",), "files": 0},
        {"argv": ("x",), "files": "50"},
        {"argv": ("x",), "timeout": 3},
    ],
)
def test_keys_are_strict(keys: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Command(**keys)


def test_a_size_may_be_a_variable_until_it_is_used() -> None:
    assert CommandKeys(argv=("x",), memory="${LIMIT}").memory == "${LIMIT}"
    with pytest.raises(ValueError, match="is no size"):
        Command(argv=("x",), memory="${LIMIT}")


def audited(command: Command, **more: Any) -> list[tuple[str, str]]:
    request = Request("command", "classify", True, True, None, frozenset(), Roll((), (), ()))
    findings = audit_adapter(command, replace(request, **more)).audit.findings
    return [(finding.code, finding.message) for finding in findings]


def test_the_audit_finds_what_it_cannot_do(build: Callable[..., Command], tmp_path: Path) -> None:
    command = build()
    assert audited(command) == []
    assert audited(build(argv=("no-such-program",)))[0][0] == "command-missing"
    assert audited(command, method="review")[0][0] == "no-method"
    assert audited(command, batch=4)[0][0] == "no-batch"
    assert audited(command, heard=False)[0][0] == "no-sound"
    assert starts(tmp_path) == []


def test_it_is_asked_by_clip() -> None:
    command = Command(argv=("x",))
    assert isinstance(command, AskedByClip)
    assert command.answers("classify")
    assert command.answers("transcribe")
    assert not command.answers("review")
    assert traits(command, "command").sample_rate is None
