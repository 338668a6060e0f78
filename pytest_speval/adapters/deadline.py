"""The deadline of a call in this process.

In the main thread an alarm (SIGALRM, ITIMER_REAL) raises `Expired` inside the call as soon as its time is up and the
interpreter gets to run. What no alarm reaches, a call that stays in native code, is left to the `watchdog`. Outside
the main thread there is no alarm: a late call is a timeout once it is back, and one that stays is left to the watchdog.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import math
from contextlib import AbstractContextManager, nullcontext
from signal import ITIMER_REAL, SIGALRM, setitimer
from threading import get_ident, main_thread
from time import monotonic
from types import FrameType, TracebackType
from typing import Any

from pytest_speval.adapters.watchdog import WATCHDOG
from pytest_speval.errors import AnswerFault

CODES = {"timeout": "No answer came within `run.timeout` seconds."}
LONGEST, LEAST, LATER = 1e8, 1e-6, 1e-3
signal = _signal.signal  # what `signal.signal` wraps around it makes handlers enumerations: slower than all else here


class Expired(BaseException):
    """Raised inside a call whose time is up: no adapter's `except Exception` may hold it back."""


def too_late(seconds: float) -> AnswerFault:
    """The fault of an answer that did not come in time."""
    return AnswerFault("timeout", f"no answer within {seconds:g} s (run.timeout)")


def deadline(seconds: float | None, what: str = "") -> AbstractContextManager[None]:
    """Give what runs inside so many seconds; None gives it all the time there is. `what` names the clip.

    Raises `AnswerFault` `timeout` where it takes longer, also where it returns or raises late in spite of the alarm.
    A timer and a handler that somebody else had set go on as if there were no deadline.
    """
    return nullcontext() if seconds is None else Deadline(min(seconds, LONGEST), what)


class Deadline:
    """The time of one call; see `deadline`."""

    __slots__ = ("_alarm", "_seconds", "_started", "_what")

    def __init__(self, seconds: float, what: str) -> None:
        self._seconds = seconds
        self._what = what
        self._started = 0.0
        self._alarm: Alarm | None = None

    def __enter__(self) -> None:
        self._started = monotonic()
        if get_ident() == main_thread().ident:
            self._alarm = Alarm(self._started + self._seconds)
        WATCHDOG.watch(self, self._started, self._seconds, self._what)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        late = monotonic() - self._started >= self._seconds
        WATCHDOG.forget(self)
        if self._alarm is not None:
            self._alarm.stop()  # last, for their alarm may ring at once
        if late and not isinstance(error, KeyboardInterrupt):
            raise too_late(self._seconds) from (None if isinstance(error, Expired) else error)


class Alarm:
    """Rings at a moment, and rings for whoever had set the timer before in between."""

    __slots__ = ("_due", "_every", "_handler", "_stopped", "_theirs")

    def __init__(self, due: float) -> None:
        self._due = due
        self._stopped = False
        left, self._every = setitimer(ITIMER_REAL, 0)
        self._theirs = monotonic() + left if left else math.inf
        self._handler: Any = signal(SIGALRM, self._ring)
        self._set()

    def stop(self) -> None:
        """Put back what was there."""
        self._stopped = True
        setitimer(ITIMER_REAL, 0)
        signal(SIGALRM, self._handler)
        if self._theirs < math.inf:
            setitimer(ITIMER_REAL, max(LEAST, self._theirs - monotonic()), self._every)

    def _set(self) -> None:
        setitimer(ITIMER_REAL, max(LEAST, min(self._due, self._theirs) - monotonic()))

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if self._stopped:  # it rang just before the timer was stopped, and theirs is set anew
            return
        if _on_the_doorstep(frame):  # what is raised there would escape before everything is put back
            setitimer(ITIMER_REAL, LATER)
            return
        now = monotonic()
        if self._due <= now < self._theirs:
            raise Expired
        if now >= self._theirs:
            self._theirs = now + self._every if self._every else math.inf
        self._set()
        if callable(self._handler):
            self._handler(number, frame)


def _on_the_doorstep(frame: FrameType | None) -> bool:
    """Whether code of this module is running."""
    while frame is not None and frame.f_globals is not globals():
        frame = frame.f_back
    return frame is not None
