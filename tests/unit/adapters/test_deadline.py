"""A call has its time and no more; whoever else uses the alarm notices nothing."""

from __future__ import annotations

import itertools
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from signal import ITIMER_REAL, SIGALRM
from types import FrameType

import pytest

from pytest_speval.adapters.deadline import Expired, deadline
from pytest_speval.adapters.watchdog import WATCHDOG, patience
from pytest_speval.errors import AnswerFault

SHORT = 0.02
LONG = 1000.0


class Rung(Exception):
    """What a foreign handler raises."""


def ringing(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    raise Rung


@pytest.fixture(autouse=True)
def untouched() -> Iterator[None]:
    """Nobody's alarm is set before a test, and none is left after it."""
    signal.setitimer(ITIMER_REAL, 0)
    before = signal.signal(SIGALRM, signal.SIG_DFL)
    yield
    left, handler = signal.setitimer(ITIMER_REAL, 0), signal.signal(SIGALRM, before)
    assert (left, handler) == ((0.0, 0.0), signal.SIG_DFL)


def for_ever() -> None:
    for _ in itertools.count():
        pass


def fault_of(call: Callable[[], object], seconds: float = SHORT) -> AnswerFault:
    with pytest.raises(AnswerFault) as caught, deadline(seconds):
        call()
    assert caught.value.code == "timeout"
    return caught.value


def test_a_call_in_time_is_left_alone() -> None:
    with deadline(LONG):
        answer = 42
    assert answer == 42


def test_without_a_deadline_no_alarm_is_set() -> None:
    with deadline(None):
        assert signal.getitimer(ITIMER_REAL) == (0.0, 0.0)
        assert signal.getsignal(SIGALRM) == signal.SIG_DFL


@pytest.mark.parametrize(("seconds", "told"), [(SHORT, "0.02"), (0.1, "0.1")])
def test_a_call_that_never_returns_is_ended(seconds: float, told: str) -> None:
    assert fault_of(for_ever, seconds).message == f"no answer within {told} s (run.timeout)"


def test_no_except_exception_holds_the_end_back() -> None:
    def stubborn() -> None:
        while True:
            with suppress(Exception):
                for_ever()

    assert fault_of(stubborn).__cause__ is None


def test_an_answer_that_comes_late_in_spite_of_the_alarm_is_a_timeout() -> None:
    def swallowing() -> int:
        try:
            for_ever()
        except BaseException:
            return 42
        return 0

    fault_of(swallowing)


def test_another_error_that_comes_late_is_a_timeout_and_is_told() -> None:
    def turning() -> None:
        try:
            for_ever()
        except BaseException as error:
            raise RuntimeError("lost the thread") from error

    assert isinstance(fault_of(turning).__cause__, RuntimeError)


def test_an_error_in_time_passes() -> None:
    with pytest.raises(ZeroDivisionError), deadline(LONG):
        _ = 1 // 0


@pytest.mark.parametrize("seconds", [1e-9, LONG])
def test_a_keyboard_interrupt_always_passes(seconds: float) -> None:
    def interrupted() -> None:
        try:
            if seconds < 1:
                for_ever()
        finally:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), deadline(seconds):
        interrupted()


def test_a_waiting_main_thread_is_ended() -> None:
    fault_of(threading.Event().wait)


def test_hours_are_no_trouble() -> None:
    with deadline(1e300):
        assert signal.getitimer(ITIMER_REAL)[0] > LONG


def test_an_alarm_that_rings_on_the_doorstep_never_escapes() -> None:
    """Whenever it rings, also while the deadline is being set or taken away, there is an answer or a timeout."""
    chance = random.Random(7)
    seen = {"in time": 0, "late": 0}
    for _ in range(3000):
        try:
            with deadline(chance.uniform(1e-7, 2e-5)):
                sum(range(chance.randrange(300)))
            seen["in time"] += 1
        except AnswerFault:
            seen["late"] += 1
        assert signal.getitimer(ITIMER_REAL) == (0.0, 0.0)
        assert signal.getsignal(SIGALRM) == signal.SIG_DFL
    assert seen["late"] > 100


def test_their_alarm_on_the_doorstep_leaves_nothing_behind() -> None:
    """Whenever theirs rings and raises, the timer, the handler and the watchdog are as they were."""
    chance = random.Random(7)
    seen = {"in time": 0, "late": 0, "theirs": 0}
    for _ in range(3000):
        try:
            signal.signal(SIGALRM, ringing)
            signal.setitimer(ITIMER_REAL, chance.uniform(1e-6, 4e-5))
            try:
                with deadline(chance.uniform(1e-7, 2e-5)):
                    sum(range(chance.randrange(300)))
                seen["in time"] += 1
            except AnswerFault:
                seen["late"] += 1
            signal.setitimer(ITIMER_REAL, 0)
        except Rung:
            seen["theirs"] += 1
        assert signal.signal(SIGALRM, signal.SIG_DFL) is ringing
        assert not WATCHDOG._inside
    assert seen["theirs"] > 100


def test_another_thread_has_no_alarm_and_its_late_answer_is_a_timeout() -> None:
    seen: list[object] = []

    def asking() -> None:
        with deadline(LONG):
            seen.append(signal.getitimer(ITIMER_REAL))
        try:
            with deadline(1e-9):
                seen.append(42)
        except AnswerFault as fault:
            seen.append(fault.code)

    thread = threading.Thread(target=asking)
    thread.start()
    thread.join()
    assert seen == [(0.0, 0.0), 42, "timeout"]


# --- other people's alarms


def test_a_timer_that_somebody_had_set_goes_on() -> None:
    signal.signal(SIGALRM, ringing)
    signal.setitimer(ITIMER_REAL, 500, 7)
    with deadline(LONG):
        assert 400 < signal.getitimer(ITIMER_REAL)[0] <= 500
    with deadline(100):
        assert signal.getitimer(ITIMER_REAL)[0] <= 100
    fault_of(for_ever)
    left, every = signal.getitimer(ITIMER_REAL)
    assert 400 < left < 500
    assert every == 7
    assert signal.signal(SIGALRM, signal.SIG_DFL) is ringing
    signal.setitimer(ITIMER_REAL, 0)


def test_their_alarm_rings_in_the_middle_of_a_call_and_what_it_raises_passes() -> None:
    signal.signal(SIGALRM, ringing)
    signal.setitimer(ITIMER_REAL, SHORT)
    with pytest.raises(Rung), deadline(LONG):
        for_ever()
    assert signal.getitimer(ITIMER_REAL) == (0.0, 0.0)
    assert signal.signal(SIGALRM, signal.SIG_DFL) is ringing


def test_their_alarm_rings_again_and_again_and_ours_after_it() -> None:
    rung: list[int] = []
    signal.signal(SIGALRM, lambda number, _: rung.append(number))
    signal.setitimer(ITIMER_REAL, SHORT / 10, SHORT / 10)
    fault_of(for_ever, SHORT * 3)
    signal.setitimer(ITIMER_REAL, 0)
    signal.signal(SIGALRM, signal.SIG_DFL)
    assert len(rung) > 1
    assert set(rung) == {SIGALRM}


def test_an_alarm_from_outside_goes_to_the_handler_that_was_there() -> None:
    rung: list[int] = []
    signal.signal(SIGALRM, lambda number, _: rung.append(number))
    with deadline(LONG):
        signal.raise_signal(SIGALRM)
        assert signal.getitimer(ITIMER_REAL)[0] > 1
    signal.signal(SIGALRM, signal.SIG_DFL)
    assert rung == [SIGALRM]


def test_deadlines_nest() -> None:
    def outer() -> None:
        with deadline(LONG):
            for_ever()

    fault_of(outer)
    with deadline(LONG):
        fault_of(for_ever)
        assert 1 < signal.getitimer(ITIMER_REAL)[0] <= LONG


def test_the_inner_of_two_deadlines_lets_the_outer_pass() -> None:
    with pytest.raises(Expired), deadline(LONG):
        raise Expired


# --- the watchdog

STUCK = """
import ctypes, os
from pytest_speval.adapters import watchdog
from pytest_speval.adapters.deadline import deadline
watchdog.GRACE = 0.05
watchdog.WATCHDOG.keep_stderr()
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)        # as pytest does when it captures

def stuck():
    libc, lock = ctypes.CDLL(None), ctypes.create_string_buffer(64)
    libc.pthread_mutex_lock(lock)
    libc.pthread_mutex_lock(lock)                   # never returns, whatever signals come
"""


def ended(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", STUCK + script], capture_output=True, text=True, check=False)


TOLD = "is stuck in native code and cannot be interrupted: this process ends, and the clip is unknown\n"


def test_a_call_stuck_in_native_code_ends_the_process_and_names_its_clip() -> None:
    done = ended("with deadline(0.05, 'test/c4'):\n    stuck()")
    assert done.returncode == 6
    assert done.stderr == f"\nspeval: the call for test/c4 had 0.05 s (run.timeout), {TOLD}"


@pytest.mark.parametrize(("seconds", "given_up"), [(0.3, 5.3), (5, 10), (30, 60)])
def test_the_watchdog_is_patient(seconds: float, given_up: float) -> None:
    assert patience(seconds) == given_up


def test_the_watchdog_sees_calls_of_any_thread() -> None:
    done = ended("""
import threading
def asking():
    with deadline(0.05):
        stuck()
with deadline(1000, 'test/c1'):
    thread = threading.Thread(target=asking)
    thread.start()
    thread.join()
""")
    assert done.returncode == 6
    assert done.stderr == f"\nspeval: a call had 0.05 s (run.timeout), {TOLD}"


def test_the_watchdog_is_there_again_after_a_fork() -> None:
    done = ended("""
with deadline(1000):
    pass
child = os.fork()
if child == 0:
    with deadline(0.05):
        stuck()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    assert (done.returncode, done.stdout) == (0, "6\n")


def test_a_call_that_came_back_is_forgotten() -> None:
    done = ended("""
for _ in range(1000):
    with deadline(0.05):
        pass
assert not watchdog.WATCHDOG._inside
""")
    assert (done.returncode, done.stderr) == (0, "")


def test_there_is_one_watchdog_for_all_calls() -> None:
    for _ in range(10):
        with deadline(LONG):
            names = [thread.name for thread in threading.enumerate()]
        assert names.count("speval-watchdog") == 1
