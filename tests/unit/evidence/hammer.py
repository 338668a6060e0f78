"""Three runs that ask for the same clips through one ledger, each killed at random and resumed until it is through.

A call is a line appended to the file `calls`, which no kill can tear or take back. Run as
`python hammer.py FOLDER CAP CLIPS SEED`, a process of its own, because forks are safe only where there are no threads.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pytest_speval.adapters.base import Usage
from pytest_speval.evidence.call import Call
from pytest_speval.evidence.ledger import Ledger, Refusal
from pytest_speval.suite.keys import Budget

RUNS, KILLS = 3, 40
STEP, FAILURE = b".", b"!"


def append(path: Path, line: str) -> None:
    """One whole line, or none."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, f"{line}\n".encode())
    os.close(file)


def ask_all(folder: Path, ledger: Ledger, run: int, cap: int, size: int, tick: int) -> None:
    """Go through all clips as a resumed run does, each run in an order of its own.

    What the journal of the run has entered is never asked again. Writes a byte to `tick` at each step.
    """
    journal = folder / f"journal-{run}"
    entered = set(journal.read_text().splitlines()) if journal.exists() else set()
    for number in random.Random(run).sample(range(size), size):
        clip = f"c{number}"
        call = Call(f"key of {clip}", "question", f"run {run}", f"suite {run}", "test", clip, once=True)
        os.write(tick, STEP)
        if clip in entered:
            continue
        try:
            ledger.reserve(call, Usage(1, 2), Budget(requests=cap), take_up=True)
        except Refusal:
            continue
        os.write(tick, STEP)
        append(journal, clip)
        os.write(tick, STEP)
        append(folder / "calls", clip)
        os.write(tick, STEP)
        ledger.settle(call, None)


def start(work: Callable[[], None], tick: int, *, endless: bool) -> int:
    """Fork a process that works once, or until it is killed; returns its id. It tells of a failure."""
    parent, child = os.getpid(), os.fork()
    if child == 0:
        code = 1
        try:
            work()
            while endless and os.getppid() == parent:
                work()
            code = 0
        except BaseException:
            traceback.print_exc()
            os.write(tick, FAILURE)
        finally:
            os._exit(code)
    return child


def kill(child: int) -> None:
    """Kill a process and wait for its end."""
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def main(folder: Path, cap: int, size: int, seed: int) -> None:
    """Kill a run after every few steps, then let each go through."""
    chance = random.Random(seed)
    ticks, tick = os.pipe()
    ledger = Ledger(folder / "ledger.sqlite")
    work = [partial(ask_all, folder, ledger, run, cap, size, tick) for run in range(RUNS)]
    children = [start(one, tick, endless=True) for one in work]
    try:
        for _ in range(KILLS):
            for _ in range(chance.randint(1, 25)):
                if os.read(ticks, 1) == FAILURE:
                    raise SystemExit("a process failed")
            run = chance.randrange(RUNS)
            kill(children[run])
            children[run] = start(work[run], tick, endless=True)
    finally:
        for child in children:
            kill(child)
    for child in [start(one, tick, endless=False) for one in work]:
        if code := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            raise SystemExit(f"a process ended with {code}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
