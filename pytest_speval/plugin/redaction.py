"""Secrets in what pytest itself shows and keeps: reports, captured output, warnings, log records, interrupts.

Registered only where a suite has secrets. What holds none stays as pytest made it.
"""

from __future__ import annotations

import atexit
import logging
import re
import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest

from pytest_speval.suite.secrets import Secrets

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

_JOINT = re.compile(r"""['"]\n(?:E )?[ +-]*b?['"]""")
"""Where pytest breaks a long string or bytes object in two."""


class Redaction:
    """A plugin that redacts before any other plugin shows, sends or writes."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._factory = logging.getLogRecordFactory()
        self._redacting = redacting(self._factory, secrets)
        logging.setLogRecordFactory(self._redacting)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Redact the report of an item."""
        report = self._redacted((yield))
        if hasattr(report, "wasxfail"):
            report.wasxfail = self._secrets.redact(report.wasxfail)
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(self) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Redact the report of a collector."""
        return self._redacted((yield))

    def _redacted(self, report: Report) -> Report:
        if isinstance(report.longrepr, tuple):
            report.longrepr = self._secrets.redact_data(report.longrepr)
        elif report.longrepr is not None:
            shown = str(report.longrepr)
            told = redact_shown(shown, self._secrets)
            report.longrepr = report.longrepr if told == shown else told
        report.sections = self._secrets.redact_data(report.sections)
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage) -> None:
        """Redact a warning before it is kept, or sent to the controller with its arguments."""
        said = str(warning_message.message)
        told = self._secrets.redact(said)
        if told is not said:
            warning_message.message = Warning(told)

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self, excrepr: Any) -> None:
        """Redact a fault of pytest or of a plugin before it is printed or sent."""
        self._redact_traceback(excrepr)

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Redact what will be shown of an interrupt; `--full-trace` shows arguments."""
        getrepr = excinfo.getrepr

        def redacted(*args: Any, **style: Any) -> Any:
            return self._redact_traceback(getrepr(*args, **style))

        setattr(excinfo, "getrepr", redacted)  # noqa: B010

    def _redact_traceback(self, traceback: Any) -> Any:
        shown = str(traceback)
        told = redact_shown(shown, self._secrets)
        if told != shown:
            traceback.toterminal = lambda terminal: terminal.line(told)
        if crash := getattr(traceback, "reprcrash", None):
            crash.message = self._secrets.redact(crash.message)
        return traceback

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None, object, object]:
        """Adapters end here, where nothing is captured; what they leave to the end of the process comes later."""
        try:
            with redacted_streams(self._secrets):
                return (yield)
        finally:
            atexit.register(self._redact_exit)

    def pytest_unconfigure(self) -> None:
        """Give the log records back."""
        if logging.getLogRecordFactory() is self._redacting:
            logging.setLogRecordFactory(self._factory)

    def _redact_exit(self) -> None:
        logging.setLogRecordFactory(self._redacting)
        _redact_streams(self._secrets)


class RedactedStream:
    """A text stream that redacts what is written to it."""

    def __init__(self, stream: Any, secrets: Secrets) -> None:
        self._stream = stream
        self._secrets = secrets

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> Any:
        """Write the redacted text."""
        return self._stream.write(self._secrets.redact(text))

    def writelines(self, lines: Iterable[str]) -> None:
        """Write redacted lines."""
        for line in lines:
            self.write(line)


@contextmanager
def redacted_streams(secrets: Secrets) -> Iterator[None]:
    """Redact what is printed meanwhile; for code of adapters that runs where pytest captures nothing."""
    before = sys.stdout, sys.stderr
    _redact_streams(secrets)
    ours = sys.stdout, sys.stderr
    try:
        yield
    finally:  # capturing may have changed them meanwhile
        sys.stdout = before[0] if sys.stdout is ours[0] else sys.stdout
        sys.stderr = before[1] if sys.stderr is ours[1] else sys.stderr


def _redact_streams(secrets: Secrets) -> None:
    for name in ("stdout", "stderr"):
        if (stream := getattr(sys, name)) is not None:
            setattr(sys, name, RedactedStream(stream, secrets))


def redacting(factory: Callable[..., logging.LogRecord], secrets: Secrets) -> Callable[..., logging.LogRecord]:
    """A factory of log records that hold no secret, neither in the message nor in the text of an exception."""

    def make(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = factory(*args, **kwargs)
        try:
            said = record.getMessage()
        except Exception:  # a message that does not fit its arguments: whoever handles the record says so
            return record
        told = secrets.redact(said)
        if told is not said:
            record.msg, record.args = told, None
        if record.stack_info:
            record.stack_info = secrets.redact(record.stack_info)
        if isinstance(record.exc_info, tuple) and record.exc_info[0] is not None:
            traceback = logging.Formatter().formatException(record.exc_info)
            if (told := secrets.redact(traceback)) is not traceback:
                record.exc_text, record.exc_info = told, None
        return record

    return make


def redact_shown(text: str, secrets: Secrets) -> str:
    """Redact what pytest shows of values: it breaks long ones over lines, or leaves out their middle."""
    told = secrets.redact(text)
    joined = _JOINT.sub("", told)
    while (whole := secrets.redact(joined)) is not joined:
        told, joined = whole, _JOINT.sub("", whole)
    return secrets.redact_cut(told)
