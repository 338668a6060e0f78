"""The ledger: what calls cost and which were made, in one SQLite file for all processes of a machine.

A call is reserved at the most it may cost before its request leaves, and settled at what it did cost after its answer
is on disk. What was reserved and never came back keeps counting. Each step is one transaction that is on disk when it
returns, so neither a kill nor a power cut can make the ledger hold less than was asked for.
"""

from __future__ import annotations

import os
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple
from datetime import UTC, datetime
from pathlib import Path

from pytest_speval.adapters.base import Usage
from pytest_speval.audit.caps import NOTHING, overruns
from pytest_speval.errors import EvidenceFault, SpevalError
from pytest_speval.evidence.call import Call, Entry, came_back
from pytest_speval.suite.keys import Budget

CODES = {
    "asked-before": "This clip was asked of this model before, and may be asked only once.",
    "budget-spent": "A call could pass what is left of a cap of run.budget.",
    "no-ledger": "A file that stands where the ledger should is no ledger.",
    "ledger-version": "A ledger has another schema version than this program.",
    "ledger-damaged": "A ledger cannot be read.",
    "ledger-unwritable": "A ledger cannot be made, opened or written.",
    "ledger-busy": "Another process held the ledger for too long.",
    "ledger-gone": "A ledger that this process has used is no longer there.",
    "not-reserved": "A call was settled that the ledger does not hold, or holds with another usage.",
}
APPLICATION, SCHEMA = 0x5370456C, 1
"""How a ledger is known among SQLite files, and the version of its table."""
TABLE = """
CREATE TABLE calls (
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL, scope TEXT NOT NULL, run TEXT NOT NULL, suite TEXT NOT NULL,
    split TEXT NOT NULL, id TEXT NOT NULL, attempt INTEGER NOT NULL, once INTEGER NOT NULL,
    reserved TEXT NOT NULL, settled TEXT, request_id TEXT,
    bound_requests INTEGER NOT NULL, bound_audio_seconds INTEGER NOT NULL,
    bound_input_tokens INTEGER NOT NULL, bound_output_tokens INTEGER NOT NULL,
    requests INTEGER NOT NULL, audio_seconds INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
    UNIQUE (key, scope, run, split, id, attempt)
);
CREATE INDEX calls_by_scope ON calls (scope);
"""
WHICH = "key = ? AND scope = ? AND run = ? AND split = ? AND id = ? AND attempt = ?"
SUMS = "sum(requests), sum(audio_seconds), sum(input_tokens), sum(output_tokens)"
READ, WRITE = "BEGIN", "BEGIN IMMEDIATE"
PATIENCE = 60.0
"""Seconds to wait for other processes."""
FAULTS = {
    sqlite3.SQLITE_NOTADB: "no-ledger",
    **dict.fromkeys((sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED), "ledger-busy"),
    **dict.fromkeys(
        (
            sqlite3.SQLITE_PERM,
            sqlite3.SQLITE_READONLY,
            sqlite3.SQLITE_IOERR,
            sqlite3.SQLITE_FULL,
            sqlite3.SQLITE_CANTOPEN,
        ),
        "ledger-unwritable",
    ),
}


class Refusal(SpevalError):
    """A call that may not be made: `asked-before` or `budget-spent`."""


class Ledger:
    """One ledger file, opened anew for each step, so that threads and forks need no care.

    Every step raises `EvidenceFault` where the file cannot be used: `no-ledger`, `ledger-version`, `ledger-damaged`,
    `ledger-unwritable`, `ledger-busy`, `ledger-gone`.
    """

    def __init__(self, path: Path, patience: float = PATIENCE) -> None:
        self.path = path.absolute()
        self._patience = patience
        self._seen = False

    def reserve(self, call: Call, bound: Usage, caps: Budget, *, take_up: bool = False) -> None:
        """Reserve a call at its bound; it is on disk when this returns, and only then may the request leave.

        Raises `Refusal`: `asked-before` or `budget-spent`. With `take_up` the caller vouches, by its journal, that no
        request ever left for a reservation of this very call; that one is then used. A clip is a clip of its question:
        clips that sound alike within one question do not stand in each other's way.
        """
        figures = astuple(bound)
        values = (*astuple(call), _now(), *figures, *figures)
        with self._step(WRITE) as rows:
            if take_up:
                rows.execute(f"DELETE FROM calls WHERE {WHICH} AND settled IS NULL", _which(call))
            _refuse_repetition(rows, call)
            passed = list(overruns(_held(rows, call.scope), bound, caps, "this call"))
            if passed:
                raise Refusal("budget-spent", f"{call.clip}: {'; '.join(passed)}")
            rows.execute(
                "INSERT INTO calls (key, scope, run, suite, split, id, once, attempt, reserved,"
                " bound_requests, bound_audio_seconds, bound_input_tokens, bound_output_tokens,"
                f" requests, audio_seconds, input_tokens, output_tokens) VALUES ({', '.join('?' * len(values))})",
                values,
            )

    def settle(self, call: Call, told: Usage | None, request_id: str | None = None) -> Usage:
        """Note that a reserved call came back and what it used, None where nobody said; returns what now counts.

        See `came_back`. A usage above the bound counts in full. To settle again with the same figures changes nothing;
        a call without a reservation, or one settled otherwise, is an `EvidenceFault("not-reserved", …)`.
        """
        with self._step(WRITE) as rows:
            row = rows.execute(f"SELECT * FROM calls WHERE {WHICH}", _which(call)).fetchone()
            if row is None:
                raise EvidenceFault("not-reserved", f"{call.clip} was never reserved in {self.path}")
            entry = _entry(row)
            usage = came_back(entry.bound, told)
            if entry.usage is None:
                rows.execute(
                    "UPDATE calls SET settled = ?, request_id = ?, requests = ?, audio_seconds = ?, input_tokens = ?,"
                    " output_tokens = ? WHERE number = ?",
                    (_now(), request_id, *astuple(usage), row["number"]),
                )
            elif (entry.usage, entry.request_id) != (usage, request_id):
                message = f"{call.clip} is settled in {self.path} at {entry.usage}, not at {usage}"
                raise EvidenceFault("not-reserved", message)
        return usage

    def spent(self, scope: str) -> Usage:
        """What counts for a question: settled calls at what they used, all others at their bound."""
        if not self._exists():
            return NOTHING
        with self._step(READ) as rows:
            return _held(rows, scope)

    def entries(self, scope: str) -> list[Entry]:
        """Every call for a question, in the order of their reservation."""
        if not self._exists():
            return []
        with self._step(READ) as rows:
            return [
                _entry(row) for row in rows.execute("SELECT * FROM calls WHERE scope = ? ORDER BY number", (scope,))
            ]

    def unsettled(self, scope: str) -> list[Entry]:
        """The calls for a question that nobody knows the end of."""
        return [entry for entry in self.entries(scope) if entry.usage is None]

    def _exists(self) -> bool:
        seen = self._seen  # before the look: another thread may make the file meanwhile
        try:
            there = self.path.stat() is not None
        except FileNotFoundError:
            there = False
        except OSError as error:
            raise EvidenceFault("ledger-unwritable", f"{self.path}: {error.strerror}") from error
        if seen and not there:
            raise EvidenceFault("ledger-gone", f"{self.path} is no longer there: what was spent is not known")
        return there

    @contextmanager
    def _step(self, begin: str) -> Iterator[sqlite3.Connection]:
        """One transaction, on disk at the end; whatever is raised inside undoes it."""
        try:
            if not self._exists():
                self._make()
            with closing(self._open(self.path, "rw")) as rows:
                rows.row_factory = sqlite3.Row
                # FULL leaves a moment in which a power cut revives the rollback journal and so undoes a commit.
                rows.execute("PRAGMA synchronous = EXTRA")
                rows.execute(begin)
                self._check(rows)
                self._seen = True
                yield rows
                rows.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._fault(error) from error
        except OSError as error:
            raise EvidenceFault("ledger-unwritable", f"{self.path}: {error.strerror}") from error

    def _open(self, path: Path, mode: str) -> sqlite3.Connection:
        uri = f"{path.as_uri()}?mode={mode}"
        return sqlite3.connect(uri, uri=True, timeout=self._patience, isolation_level=None)

    def _make(self) -> None:
        """Make the file elsewhere and link it into place, so that what stands there is always a whole ledger."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        neighbour = self.path.with_name(f".{self.path.name}.{uuid.uuid4().hex}")
        try:
            with closing(self._open(neighbour, "rwc")) as rows:
                marks = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {SCHEMA};"
                rows.executescript(f"BEGIN; {marks} {TABLE} COMMIT;")
            with suppress(FileExistsError):
                os.link(neighbour, self.path)
        finally:
            neighbour.unlink(missing_ok=True)

    def _check(self, rows: sqlite3.Connection) -> None:
        if rows.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
            raise EvidenceFault("no-ledger", f"{self.path} is no ledger: move it away, or name another file")
        version = rows.execute("PRAGMA user_version").fetchone()[0]
        if version != SCHEMA:
            what = (
                f"{self.path} has schema version {version}, this program knows {SCHEMA}: use the program that made it"
            )
            raise EvidenceFault("ledger-version", what)

    def _fault(self, error: sqlite3.Error) -> EvidenceFault:
        code = FAULTS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, "ledger-damaged")
        hint = f" (waited {self._patience:g} s for another process)" if code == "ledger-busy" else ""
        return EvidenceFault(code, f"{self.path}: {error}{hint}")


def _which(call: Call) -> tuple[str | int, ...]:
    return call.key, call.scope, call.run, call.split, call.id, call.attempt


def _refuse_repetition(rows: sqlite3.Connection, call: Call) -> None:
    """A row of this key stands in the way if it is of another question, or of this clip of this question."""
    row = rows.execute(
        "SELECT * FROM calls WHERE key = ? AND (scope != ? OR (split = ? AND id = ?))"
        " AND (once OR ? OR (run = ? AND attempt = ?)) ORDER BY number",
        (call.key, call.scope, call.split, call.id, call.once, call.run, call.attempt),
    ).fetchone()
    if row is None:
        return
    before = _entry(row)
    end = "came back" if before.usage is not None else "never came back, or is still under way"
    raise Refusal(
        "asked-before",
        f"{call.clip} was asked of this model before, as {before.call.clip} of suite {before.call.suite} in"
        f" {before.call.run}, and {end}; a clip is asked only once: replay or resume that run",
    )


def _held(rows: sqlite3.Connection, scope: str) -> Usage:
    sums = rows.execute(f"SELECT {SUMS} FROM calls WHERE scope = ?", (scope,)).fetchone()
    return Usage(*(total or 0 for total in sums))


def _entry(row: sqlite3.Row) -> Entry:
    figures = ("requests", "audio_seconds", "input_tokens", "output_tokens")
    call = Call(
        row["key"], row["scope"], row["run"], row["suite"], row["split"], row["id"], bool(row["once"]), row["attempt"]
    )
    return Entry(
        call,
        Usage(*(row[f"bound_{name}"] for name in figures)),
        None if row["settled"] is None else Usage(*(row[name] for name in figures)),
        row["request_id"],
        row["reserved"],
        row["settled"],
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
