"""The watchdog: one thread that ends the process when a call stays inside long after its time.

It starts with the first call it is to watch and lives as long as the process. It can do nothing while native code
holds the interpreter's lock: a model in such code belongs into a process of its own (`use: command`).
"""

from __future__ import annotations

import os
from contextlib import suppress
from threading import Thread
from time import monotonic, sleep
from typing import NoReturn

GRACE = 5.0
STATUS = 6


def patience(seconds: float) -> float:
    """When a call with so many seconds is given up: after as long again, and at least `GRACE` seconds more."""
    return seconds + max(GRACE, seconds)


class Watchdog:
    """Knows every call that is inside; a call is any object that is its own key."""

    def __init__(self) -> None:
        self._inside: dict[object, tuple[float, float, str]] = {}
        self._thread: Thread | None = None
        self._stderr = 2

    def keep_stderr(self) -> None:
        """Speak through what standard error is now; later it may be captured."""
        if self._stderr != 2:
            os.close(self._stderr)
            self._stderr = 2
        with suppress(OSError):
            self._stderr = os.dup(2)

    def watch(self, call: object, started: float, seconds: float, what: str) -> None:
        """Note a call that started at a moment of `time.monotonic`; `what` names its clip."""
        self._inside[call] = (started + patience(seconds), seconds, what)
        if self._thread is None or not self._thread.is_alive():  # a fork leaves the thread behind
            self._thread = Thread(target=self._guard, name="speval-watchdog", daemon=True)
            self._thread.start()

    def forget(self, call: object) -> None:
        """The call came back."""
        self._inside.pop(call, None)

    def _guard(self) -> NoReturn:
        """Look again before any call that starts now can be given up."""
        while True:
            now = monotonic()
            following = now + GRACE
            for limit, seconds, what in tuple(self._inside.values()):
                if now >= limit:
                    self._end(seconds, what)
                following = min(following, limit)
            sleep(following - now)

    def _end(self, seconds: float, what: str) -> NoReturn:
        call = f"the call for {what}" if what else "a call"
        told = f"\nspeval: {call} had {seconds:g} s (run.timeout), is stuck in native code and cannot be interrupted: "
        told += "this process ends, and the clip is unknown\n"
        with suppress(OSError):
            os.write(self._stderr, told.encode(errors="replace"))
        os._exit(STATUS)


WATCHDOG = Watchdog()
"""The one of this process."""
