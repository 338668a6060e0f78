"""Runs that are killed at random points and taken up again, against a model behind a counting server.

Sessions are forked from a process that has loaded everything already, so that most of a session's time is its calls
and not its imports.
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_speval.adapters.base import Usage
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.ledger import Ledger
from pytest_speval.evidence.store import StoredRun

FORKING = """
import json, os, sys
import numpy, onnxruntime, orjson, pydantic, rich.table, sqlite3, soundfile
import pytest, pytest_speval.plugin.session, pytest_speval.reports.terminal, pytest_speval.evidence.ledger

for line in sys.stdin:
    told = json.loads(line)
    child = os.fork()
    if child == 0:
        os.chdir(told["folder"])
        sink = os.open(told["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for stream in (1, 2):
            os.dup2(sink, stream)
        os._exit(pytest.main(told["arguments"]))
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""
MODEL = """
import os, socket
from pytest_speval import EmotionRead, Identity, Usage

class Remote:
    sample_rate = 16000

    def __init__(self, port, paid):
        self.port, self.billable = port, paid

    def identity(self):
        return Identity("remote", version="1")

    def bound(self, seconds, text):
        return Usage(requests=1)

    def classify(self, pcm, sample_rate):
        with socket.create_connection(("127.0.0.1", int(os.environ["PORT"]))) as line:
            line.sendall(b"%d\\n" % (round(float(pcm[0]) * 32768) - 100))
            return EmotionRead(label=line.makefile().readline().strip() or None)

def pytest_speval_adapters():
    return {"remote": Remote}
"""
STEPS = 0.004
"""Seconds after an answer within which a kill meets the steps that follow it."""


@dataclass
class Server:
    """Answers each clip by its number, counts who was asked, and kills the asking process at a chosen call."""

    labels: list[str]
    asked: list[int] = field(default_factory=list)
    victim: int = 0
    at: int = -1
    delay: float | None = None

    def __post_init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        """Hear nobody any more."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._socket.accept()
            except OSError:
                return
            with line, line.makefile() as words:
                text = words.readline()
                if not text:
                    continue
                self.asked.append(int(text))
                fatal = len(self.asked) == self.at
                if fatal and self.delay is None:
                    self._kill()
                    continue
                line.sendall(f"{self.labels[int(text)]}\n".encode())
            if fatal:
                threading.Timer(self.delay or 0, self._kill).start()

    def _kill(self) -> None:
        try:
            os.kill(self.victim, signal.SIGKILL)
        except ProcessLookupError:
            return


@dataclass
class Study:
    """One project, killed until it is done, again and again."""

    folder: Path
    clips: int
    seed: int
    kills: int = 0
    rounds: int = 0

    def __post_init__(self) -> None:
        from tests.plugin.conftest import write_clip

        self.random = random.Random(self.seed)
        self.labels = [self.random.choice(["yes", "no", ""]) for _ in range(self.clips)]
        self.server = Server(self.labels)
        (self.folder / "suites").mkdir(parents=True)
        (self.folder / "pytest.ini").write_text("[pytest]\n")
        (self.folder / "conftest.py").write_text(MODEL)
        for number in range(self.clips):
            write_clip(self.folder / f"{number}.wav", 100 + number)
        rows = [f"c{number},{self.random.choice(['yes', 'no'])},{number}.wav" for number in range(self.clips)]
        (self.folder / "clips.csv").write_text("\n".join(["id,label,audio", *rows]) + "\n")
        self._sessions = subprocess.Popen(
            [sys.executable, "-c", FORKING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=os.environ | {"PORT": str(self.server.port)},
        )  # fmt: skip

    def close(self) -> None:
        """End the process that forks, and the server."""
        self._sessions.communicate()
        self.server.close()

    def session(self, *arguments: str, kill: bool = False) -> int:
        """One session, perhaps killed; returns its wait status."""
        assert self._sessions.stdin is not None
        assert self._sessions.stdout is not None
        told = {
            "folder": str(self.folder),
            "log": str(self.folder / "sessions.txt"),
            "arguments": ["-q", "-p", "no:randomly", "-p", "no:cacheprovider", *arguments],
        }
        server = self.server
        server.at = -1
        self._sessions.stdin.write(json.dumps(told) + "\n")
        self._sessions.stdin.flush()
        server.victim = int(self._sessions.stdout.readline())
        timer = None
        if kill and self.random.random() < 0.2:
            timer = threading.Timer(self.random.uniform(0, 0.5), server._kill)
            timer.start()
        elif kill:
            server.delay = self.random.choice([None, self.random.uniform(0, STEPS), self.random.uniform(0, STEPS)])
            server.at = len(server.asked) + self.random.randint(1, 6)
        status = int(self._sessions.stdout.readline())
        if timer is not None:
            timer.cancel()
        server.at = -1
        return status

    def round(self, *, paid: bool) -> None:
        """Kill one run until it ends; every promise is checked after every kill."""
        name = f"round{self.rounds}"
        self.rounds += 1
        for old in (self.folder / "suites").glob("*.yaml"):
            old.unlink()
        (self.folder / f"suites/{name}.yaml").write_text(
            "task: emotion\ncorpus: {root: .., manifest: clips.csv}\n"
            'labels: {set: ["yes", "no"], absent: zero}\n'
            f"adapter: {{use: remote, port: {self.rounds}, paid: {str(paid).lower()}}}\n"
            f"run: {{max_failed: {self.clips}, once: {str(paid).lower()}}}\n"
        )
        (self.folder / ".speval/ledger.sqlite").unlink(missing_ok=True)
        before = len(self.server.asked)
        ends = 0
        while True:
            finished = self._finished(name)
            start = len(self.server.asked)
            folder = self._folder(name)
            resume = [f"--speval-resume={folder}"] if folder else []
            status = self.session(*resume, f"--speval-spend={name}", kill=True)
            asked = self.server.asked[start:]
            assert not finished & set(asked), f"asked again: {finished & set(asked)}"
            assert len(asked) == len(set(asked)), "a clip was asked twice in one session"
            self._check_ledger(name, len(self.server.asked) - before, paid=paid)
            if not os.WIFSIGNALED(status):
                break
            ends += 1
            unknown = [end for end in self._endings(name) if end.state == "unknown"]
            assert len(unknown) <= (ends if paid else 1), "more than the clip in flight is unknown"
        self.kills += ends
        calls = Counter(self.server.asked[before:])
        assert set(calls) <= set(range(self.clips))
        if paid:
            assert all(count == 1 for count in calls.values()), "a clip that may be asked once was asked twice"
        document = self._document(name)
        assert document["counts"]["unattempted"] == 0
        self._compare(name, document, paid=paid)

    def _compare(self, name: str, document: dict[str, Any], *, paid: bool) -> None:
        """The numbers are those of an undisturbed run, but for calls that never came back and may not be repeated."""
        lines = ((self._folder(name) or Path()) / "clips.jsonl").read_text().splitlines()
        rows = [json.loads(line) for line in lines]
        for number, row in enumerate(rows):
            if paid and row["status"] == "unknown":
                continue
            assert row["status"] == ("answered" if self.labels[number] else "abstained"), row
            assert (row["answer"] or "") == self.labels[number], row
        if not paid:
            assert self.session("--speval-out", f"undisturbed/{name}") == 0
            (path,) = (self.folder / f"undisturbed/{name}/{name}").glob("*/out.json")
            undisturbed = json.loads(path.read_text())
            for key in ("counts", "confusion", "confusionOther", "macroF1", "perClassF1", "gates", "plan"):
                assert document[key] == undisturbed[key], key

    def _check_ledger(self, name: str, calls: int, *, paid: bool) -> None:
        ledger = self.folder / ".speval/ledger.sqlite"
        folder = self._folder(name)
        if paid and calls and folder is not None:
            question = json.loads((folder / "plan.json").read_text())["questionSha256"]
            spent: Usage = Ledger(ledger).spent(question)
            assert spent.requests >= calls, f"the ledger knows of {spent.requests} of {calls} calls"

    def _folder(self, name: str) -> Path | None:
        """The run folder that can be taken up: a kill before its plan was written leaves none."""
        found = sorted(path.parent for path in (self.folder / f".speval/{name}").glob("*/audits.json"))
        return found[-1] if found else None

    def _endings(self, name: str) -> list[Ending]:
        folder = self._folder(name)
        return [] if folder is None else StoredRun.read(folder).endings()

    def _finished(self, name: str) -> set[int]:
        endings = self._endings(name)
        return {number for number, ending in enumerate(endings) if ending.state in ("returned", "failed")}

    def _document(self, name: str) -> dict[str, Any]:
        (path,) = (self.folder / f".speval/{name}").glob("*/out.json")
        document: dict[str, Any] = json.loads(path.read_text())
        return document


def study(folder: Path, clips: int, seed: int, kills: int, report: Any = None) -> Study:
    """Kill runs of so many clips, free and paid in turn, until so many kills have met one."""
    found, started = Study(folder, clips, seed), time.monotonic()
    try:
        while found.kills < kills:
            found.round(paid=found.rounds % 2 == 1)
            if report is not None:
                report(f"{found.kills} kills, {found.rounds} runs, {time.monotonic() - started:.0f} s")
    finally:
        found.close()
    return found
