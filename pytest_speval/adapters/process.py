"""A program of its own that is asked line by line, in its own process group, and never waited for too long."""

from __future__ import annotations

import os
import select
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import IO, cast

from pytest_speval.adapters.deadline import too_late
from pytest_speval.errors import AnswerFault

CODES = {
    "process-died": "The process of a `command` adapter ended without an answer.",
    "line-too-long": "The process of a `command` adapter wrote a line that never ends.",
    "out-of-step": "The process of a `command` adapter wrote a line that answers nothing it was asked.",
}
LONGEST_LINE = 16 * 1024 * 1024
"""Bytes of one answer."""
TAIL = 1000
"""Bytes of standard error that are kept for messages."""
SHOWN = 200
CHUNK = 65536
CLOSING = 2.0
"""Seconds a process has to end by itself once its input has ended."""
ENDING = 1.0
"""Seconds between the end of a process's output and its own end."""
REAPING = 10.0
"""Seconds a killed process has; the system may hold one for ever."""
LONGEST_POLL = 1e6


class Process:
    """A running program.

    After any exception of `exchange` question and answer may be out of step: `kill` it then.
    """

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self._popen = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=dict(environment),
            process_group=0,
            bufsize=0,
        )
        self._stdin, self._stdout, self._stderr = (
            cast(IO[bytes], pipe) for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        )
        self._life = os.pidfd_open(self._popen.pid)
        self._events = select.poll()
        for pipe in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(pipe.fileno(), False)
        for ready in (self._stdout.fileno(), self._stderr.fileno(), self._life):
            self._events.register(ready, select.POLLIN)
        self._unread = bytearray()
        self._tail = bytearray()
        self._asked = False
        self._ended = False

    def exchange(self, question: bytes, seconds: float | None) -> bytes:
        """Write one line and read one, both without their end.

        Raises `AnswerFault`: `timeout`, `process-died`, `line-too-long`, and `out-of-step` where there is output
        that nobody asked for.
        """
        until = None if seconds is None else monotonic() + seconds
        if self._asked:
            self._refuse_unasked()
        self._asked = True
        unsent = memoryview(question + b"\n")
        seen = 0
        while True:
            unsent = self._send(unsent)
            end = self._unread.find(b"\n", seen)
            if end >= 0:
                line = bytes(self._unread[:end])
                del self._unread[: end + 1]
                return line
            seen = len(self._unread)
            if seen > LONGEST_LINE:
                raise AnswerFault("line-too-long", f"a line of more than {LONGEST_LINE:,} bytes")
            if self._ended:
                raise self._died()
            left = None if until is None else until - monotonic()
            if left is not None and left <= 0:
                assert seconds is not None
                raise self._with_tail(too_late(seconds))
            self._gather(left, writing=bool(unsent))

    def close(self) -> None:
        """End its input, and kill it where that does not end it."""
        self._stdin.close()
        self._await_end(CLOSING)
        self.kill()

    def kill(self) -> None:
        """End the process and its group at once; does nothing the second time."""
        if self._life < 0:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)  # not reaped yet, it still owns its number
        if self._await_end(REAPING):
            self._popen.wait()
        for pipe in (self._stdin, self._stdout, self._stderr):
            pipe.close()
        os.close(self._life)
        self._life = -1

    def _refuse_unasked(self) -> None:
        if not self._unread and not self._ended:
            self._gather(0, writing=False)
        if self._unread:
            raise AnswerFault("out-of-step", f"it wrote before it was asked: {shown(bytes(self._unread))}")

    def _send(self, unsent: memoryview) -> memoryview:
        if not unsent or self._ended:
            return unsent
        try:
            return unsent[os.write(self._stdin.fileno(), unsent) :]
        except BlockingIOError:
            return unsent
        except BrokenPipeError:
            self._ended = True
            return unsent

    def _gather(self, seconds: float | None, *, writing: bool) -> None:
        """Wait until something happens, and take in what is there."""
        if writing:
            self._events.register(self._stdin.fileno(), select.POLLOUT)
        ready = dict(self._events.poll(None if seconds is None else min(seconds, LONGEST_POLL) * 1000))
        if writing:
            self._events.unregister(self._stdin.fileno())
        if self._stderr.fileno() in ready:
            self._hear_stderr()
        if self._stdout.fileno() in ready:
            self._hear_stdout()
        if self._life in ready:
            self._ended = True
            self._drain()

    def _hear_stdout(self) -> bool:
        """Take in a piece of what it wrote; False where there is none."""
        try:
            piece = os.read(self._stdout.fileno(), CHUNK)
        except BlockingIOError:
            return False
        self._unread += piece
        self._ended = self._ended or not piece
        return bool(piece)

    def _hear_stderr(self) -> None:
        """Keep the end of what it said; one read empties a pipe."""
        with suppress(BlockingIOError):
            piece = os.read(self._stderr.fileno(), CHUNK)
            self._tail = (self._tail + piece)[-TAIL:]
            if not piece:
                with suppress(KeyError):
                    self._events.unregister(self._stderr.fileno())

    def _drain(self) -> None:
        """Take in what a dead process left in its pipes, at most one line's worth."""
        while len(self._unread) <= LONGEST_LINE and self._hear_stdout():
            pass

    def _await_end(self, seconds: float) -> bool:
        """Wait for the process itself to end; it stays unreaped."""
        life = select.poll()
        life.register(self._life, select.POLLIN)
        return bool(life.poll(seconds * 1000))

    def _died(self) -> AnswerFault:
        by_itself = self._await_end(ENDING)
        self._hear_stderr()
        self.kill()
        how, status = "it closed its input or output", self._popen.returncode
        if by_itself:
            how = f"exit status {status}" if status >= 0 else f"killed by {signal.Signals(-status).name}"
        place = " in the middle of a line" if self._unread else ""
        return self._with_tail(AnswerFault("process-died", f"the process ended without an answer{place}: {how}"))

    def _with_tail(self, fault: AnswerFault) -> AnswerFault:
        cut = "…" if len(self._tail) == TAIL else ""
        said = cut + self._tail.decode("utf-8", "replace").strip()
        return AnswerFault(fault.code, f"{fault.message}; its last words: {said}") if said else fault


def shown(line: bytes) -> str:
    """The beginning of what a process wrote, for a message."""
    return f"`{line[:SHOWN].decode('utf-8', 'replace').strip()}`{'…' if len(line) > SHOWN else ''}"
