"""A plan that is said to be frozen: the lock in the folder seals it, and a stamp that is spoken of is there."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pytest_speval.audit.finding import Audit, Finding
from pytest_speval.errors import EvidenceFault, MissingExtra
from pytest_speval.evidence.folder import RunFolder
from pytest_speval.evidence.lock import Lock
from pytest_speval.evidence.plan import Plan
from pytest_speval.evidence.store import StoredRun
from pytest_speval.evidence.timestamp import Stamp
from pytest_speval.verify import locked
from pytest_speval.verify.contents import Contents
from pytest_speval.verify.locked import lock_findings
from tests.folders import killed_run, plan_of

PLAIN = "the plan was frozen in voice.lock.json; not independently time-stamped"
STAMPED = "the plan was frozen in voice.lock.json; time-stamped 2026-11-28T08:00:00+00:00 by CN=tsa, trusted through x"


def told(folder: RunFolder, plan: Plan, message: str | None) -> tuple[str, str]:
    """Severity and text of what is found of a run whose audit says so."""
    findings = () if message is None else (Finding("notice", "locked", message),)
    run = StoredRun(folder, plan, (Audit("corpus", ()), Audit("lock", findings)))
    contents, _ = Contents.look(folder.path, None)
    found = lock_findings(contents, run)
    return (found[0].severity, found[0].message) if found else ("", "")


@pytest.fixture
def plan() -> Plan:
    return plan_of(title="small")


@pytest.fixture
def folder(tmp_path: Path, plan: Plan) -> RunFolder:
    """A run folder with the lock of its plan."""
    made = killed_run(tmp_path, plan=plan)
    other = plan_of(title="other", rules={})
    (made.path / "lock.json").write_bytes(Lock.of("voice", [("small", plan), ("other", other)]).as_bytes())
    return made


def test_a_lock_that_seals_the_plan_proves_it(folder: RunFolder, plan: Plan) -> None:
    assert told(folder, plan, PLAIN) == ("notice", "seals this plan; not independently time-stamped")


def test_without_a_word_of_a_lock_nothing_is_found(folder: RunFolder, plan: Plan) -> None:
    assert told(folder, plan, None) == ("", "")


def test_a_lock_that_is_not_there_or_seals_another_plan_proves_nothing(folder: RunFolder, plan: Plan) -> None:
    for other in (replace(plan, rules={}), replace(plan, title=None)):
        assert told(folder, other, PLAIN) == (
            "error",
            "the audits say that the plan was frozen, and the lock seals another",
        )
    (folder.path / "lock.json").write_bytes(b"{}")
    assert told(folder, plan, PLAIN)[0] == "error"
    (folder.path / "lock.json").unlink()
    assert told(folder, plan, PLAIN) == ("error", "the audits speak of a lock, and there is none")


def test_a_stamp_that_is_spoken_of_must_be_there(folder: RunFolder, plan: Plan) -> None:
    assert told(folder, plan, STAMPED) == ("error", "the audits speak of a time stamp, and there is none")
    (folder.path / "lock.tsr").write_bytes(b"no token")
    (folder.path / "lock.tsa.pem").write_bytes(b"no certificates")
    assert told(folder, plan, STAMPED) == ("error", "the .tsa.pem file holds no PEM certificates")


def test_a_stamp_that_holds_is_told(folder: RunFolder, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder.path / "lock.tsr").write_bytes(b"token")
    (folder.path / "lock.tsa.pem").write_bytes(b"roots")

    def verified(data: bytes, token: bytes, roots: bytes | None) -> Stamp:
        assert (data, token, roots) == ((folder.path / "lock.json").read_bytes(), b"token", b"roots")
        return Stamp(datetime(2026, 11, 28, 8, tzinfo=UTC), "CN=tsa", "1f")

    monkeypatch.setattr(locked, "verify_timestamp", verified)
    severity, message = told(folder, plan, STAMPED)
    assert severity == "notice"
    assert message.startswith("seals this plan; time-stamped 2026-11-28T08:00:00+00:00 by CN=tsa")


@pytest.mark.parametrize(
    ("fault", "severity"),
    [(MissingExtra("timestamp", "x"), "notice"), (EvidenceFault("timestamp-weak", "weak"), "error")],
)
def test_a_stamp_that_cannot_be_checked_or_does_not_hold_is_told(
    folder: RunFolder, plan: Plan, monkeypatch: pytest.MonkeyPatch, fault: Exception, severity: str
) -> None:
    (folder.path / "lock.tsr").write_bytes(b"token")

    def refused(*_: object) -> Stamp:
        raise fault

    monkeypatch.setattr(locked, "verify_timestamp", refused)
    assert told(folder, plan, PLAIN)[0] == severity
