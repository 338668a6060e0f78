"""What pytest makes of values, and what is printed, logged and warned, holds no secret; the rest stays as it was."""

from __future__ import annotations

import io
import logging
import re
import sys
import warnings

import pytest
from _pytest._io.saferepr import safeformat, saferepr
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.plugin.redaction import RedactedStream, Redaction, redact_shown, redacted_streams, redacting
from pytest_speval.suite.secrets import SHORTEST, Secrets

KEY = "sesame-0123456789abcdef"
SECRETS = Secrets.hiding({"KEY": KEY})

# Not both kinds of quotes: Python quotes each line of a broken value by itself, and then in two ways.
keys = st.text("abcdefghijklmnopqrstuvwxyz0123456789 /+='\\é", min_size=SHORTEST, max_size=400).filter(
    lambda text: len(text.strip()) >= SHORTEST
)
around = st.text("ABCDEFGHIJ .:\n", max_size=60)


@given(keys, around, around, st.integers(20, 260), st.booleans())
def test_no_beginning_or_end_is_left_where_the_middle_is_cut_out(
    key: str, before: str, after: str, width: int, binary: bool
) -> None:
    value = f"{before}{key}{after}"
    shown = redact_shown(saferepr({"it": value.encode() if binary else value}, width), Secrets.hiding({"KEY": key}))
    whole = repr(key.encode())[2:-1] if binary else repr(f'{key}"')[1:-2]
    assert key not in shown
    for length in range(SHORTEST, len(whole)):
        assert f"{whole[:length]}..." not in shown
        assert f"...{whole[-length:]}" not in shown


@given(keys, around, around, st.booleans())
def test_a_value_broken_over_lines_is_seen(key: str, before: str, after: str, binary: bool) -> None:
    value = f"{before * 3} {key} {after * 3}"
    shown = redact_shown(safeformat([{"it": value.encode() if binary else value}]), Secrets.hiding({"KEY": key}))
    joined = re.sub(r"""['"]\n +b?['"]""", "", shown)
    assert "${KEY}" in shown
    for whole in (key, repr(key)[1:-1], repr(f'{key}"')[1:-2], repr(key.encode())[2:-1]):
        assert whole not in joined


@given(keys, st.text())
def test_what_shows_no_secret_stays_as_it_is(key: str, text: str) -> None:
    secrets = Secrets.hiding({"KEY": key})
    shown = redact_shown(text, secrets)
    assert redact_shown(shown, secrets) == shown
    if key[0] not in text and key[-1] not in text:
        assert shown is text


def test_gaps_of_other_texts_are_left_alone() -> None:
    text = "wait ... sesame... and ...abcde.... done"
    assert redact_shown(text, SECRETS) == "wait ... ${KEY}... and ...abcde.... done"


def test_a_stream_redacts_what_is_written_and_is_otherwise_the_stream() -> None:
    inner = io.StringIO()
    stream = RedactedStream(inner, SECRETS)
    assert stream.write(f"<{KEY}>") == len("<${KEY}>")
    stream.writelines([KEY, "\n"])
    print(KEY, file=stream, flush=True)
    assert inner.getvalue() == "<${KEY}>${KEY}\n${KEY}\n"
    assert stream.encoding == inner.encoding
    assert not stream.closed


def test_streams_are_given_back_unless_somebody_changed_them(monkeypatch: pytest.MonkeyPatch) -> None:
    before, other = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", before)
    monkeypatch.setattr(sys, "stderr", None)
    with redacted_streams(SECRETS):
        sys.stdout.write(KEY)
    assert sys.stdout is before
    assert before.getvalue() == "${KEY}"
    with redacted_streams(SECRETS):
        sys.stdout = other
    assert sys.stdout is other


def record(message: object, *args: object, **more: object) -> logging.LogRecord:
    """A record made by a redacting factory."""
    given = {"name": "n", "level": 20, "pathname": "p", "lineno": 1, "exc_info": None} | more
    return redacting(logging.LogRecord, SECRETS)(**given, msg=message, args=args)


def test_a_log_record_is_redacted_in_message_exception_and_stack() -> None:
    assert record("%s and %r", KEY, [KEY]).getMessage() == "${KEY} and ['${KEY}']"
    assert record({"it": KEY}).getMessage() == "{'it': '${KEY}'}"
    assert record("x", sinfo=f"Stack: {KEY}").stack_info == "Stack: ${KEY}"
    try:
        raise ValueError(KEY)
    except ValueError:
        made = record("x", exc_info=sys.exc_info())
    assert KEY not in logging.Formatter().format(made)
    assert "ValueError: ${KEY}" in logging.Formatter().format(made)
    assert made.exc_info is None


def test_a_log_record_without_secrets_is_left_alone() -> None:
    try:
        raise ValueError("calm")
    except ValueError:
        made = record("%s", 5, exc_info=sys.exc_info())
    assert (made.msg, made.args) == ("%s", (5,))
    assert made.exc_info is not None
    assert made.exc_text is None
    assert record("%d", "no number").args == ("no number",)


@pytest.fixture
def redaction() -> Redaction:
    """The plugin, without its hold on log records."""
    factory = logging.getLogRecordFactory()
    plugin = Redaction(SECRETS)
    logging.setLogRecordFactory(factory)
    return plugin


def test_a_warning_keeps_its_category_and_loses_its_secret(redaction: Redaction) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(UserWarning(KEY, 5), stacklevel=1)
        warnings.warn("calm", DeprecationWarning, stacklevel=1)
    calm = caught[1].message
    for warning in caught:
        redaction.pytest_warning_recorded(warning)
    assert str(caught[0].message) == "('${KEY}', 5)"
    assert isinstance(caught[0].message, Warning)
    assert KEY not in repr(caught[0].message.args)
    assert caught[0].category is UserWarning
    assert caught[1].message is calm


def redacted(redaction: Redaction, report: pytest.TestReport) -> pytest.TestReport:
    """A report as it comes out of the wrapper of the hook."""
    hook = redaction.pytest_runtest_makereport()
    next(hook)
    with pytest.raises(StopIteration) as stopped:
        hook.send(report)
    made: pytest.TestReport = stopped.value.value
    return made


def report(longrepr: object, sections: list[tuple[str, str]] | None = None) -> pytest.TestReport:
    outcome = "passed" if longrepr is None else "failed"
    return pytest.TestReport("a::b", ("a", 1, "b"), {}, outcome, longrepr, "call", sections or [])  # type: ignore[arg-type]


def test_a_report_without_secrets_keeps_the_very_same_parts(redaction: Redaction) -> None:
    with pytest.raises(ValueError, match="calm") as caught:
        raise ValueError("calm")
    shown = caught.getrepr()
    given = report(shown, [("Captured stdout call", "calm")])
    sections = given.sections
    made = redacted(redaction, given)
    assert made.longrepr is shown
    assert made.sections is sections
    assert redacted(redaction, report(None)).longrepr is None


def test_a_report_with_a_secret_is_told_as_text(redaction: Redaction) -> None:
    with pytest.raises(ValueError, match="sesame") as caught:
        raise ValueError(KEY)
    made = redacted(redaction, report(caught.getrepr(showlocals=True), [("Captured stdout call", f"say {KEY}")]))
    assert isinstance(made.longrepr, str)
    assert "ValueError: ${KEY}" in made.longrepr
    assert KEY not in made.longrepr
    assert made.sections == [("Captured stdout call", "say ${KEY}")]


def test_the_reason_of_a_skip_or_an_expected_failure_is_redacted(redaction: Redaction) -> None:
    made = report(("a.py", 5, f"Skipped: {KEY}"))
    made.wasxfail = f"reason: {KEY}"
    made = redacted(redaction, made)
    assert made.longrepr == ("a.py", 5, "Skipped: ${KEY}")
    assert made.wasxfail == "reason: ${KEY}"
