"""The ledger: what calls cost, and that none is made twice, whatever dies in between."""

from __future__ import annotations

import os
import resource
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from pytest_speval.adapters.base import Usage
from pytest_speval.audit.caps import NOTHING
from pytest_speval.errors import AnswerFault, EvidenceFault
from pytest_speval.evidence.call import Call, Entry, call_key
from pytest_speval.evidence.ledger import Ledger, Refusal
from pytest_speval.suite.keys import Budget, Rates

HAMMER = Path(__file__).with_name("hammer.py")
PRICES = Rates(input=0.75, output=3.75, per=1_000_000, as_of=date(2026, 10, 11))
FREE = Budget()
BOUND = Usage(1, 12, 1000, 200)
CLIP = Call("key of c1", "question", "out/voice/1", "voice", "test", "c1", once=True)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.sqlite")


@contextmanager
def refused(code: str, message: str = ".") -> Iterator[None]:
    with pytest.raises(Refusal, match=message) as caught:
        yield
    assert caught.value.code == code


@contextmanager
def faulty(code: str, message: str = ".") -> Iterator[None]:
    with pytest.raises(EvidenceFault, match=message) as caught:
        yield
    assert caught.value.code == code


def fill(ledger: Ledger, size: int = 300) -> None:
    for number in range(size):
        ledger.reserve(replace(CLIP, key=f"key {number}", id=f"c{number}"), BOUND, FREE)


def test_a_call_counts_at_its_bound_until_it_is_settled_and_then_at_what_it_used(ledger: Ledger) -> None:
    assert ledger.spent("question") == NOTHING
    ledger.reserve(CLIP, BOUND, FREE)
    assert ledger.spent("question") == BOUND
    assert ledger.settle(CLIP, Usage(1, 12, 800, 50), "req-1") == Usage(1, 12, 800, 50)
    assert ledger.spent("question") == Usage(1, 12, 800, 50)
    assert ledger.spent("another question") == NOTHING


def test_every_call_can_be_read_back(ledger: Ledger) -> None:
    other = Call("key of c2", "question", "out/voice/1", "voice", "test", "c2", once=False, attempt=2)
    ledger.reserve(CLIP, BOUND, FREE)
    ledger.reserve(other, Usage(1), FREE)
    ledger.settle(CLIP, Usage(1, 13, 800, 50), "req-1")
    first, second = ledger.entries("question")
    assert first == Entry(CLIP, BOUND, Usage(1, 13, 800, 50), "req-1", first.reserved, first.settled)
    assert second == Entry(other, Usage(1), None, None, second.reserved, None)
    assert ledger.unsettled("question") == [second]
    assert first.settled is not None
    assert datetime.fromisoformat(first.reserved) <= datetime.fromisoformat(first.settled)
    assert datetime.fromisoformat(first.reserved).utcoffset() is not None


def test_nothing_is_made_by_looking(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "out" / "of" / "ledger.sqlite")
    assert ledger.spent("question") == NOTHING
    assert ledger.entries("question") == ledger.unsettled("question") == []
    assert list(tmp_path.iterdir()) == []
    ledger.reserve(CLIP, BOUND, FREE)
    assert [path.name for path in ledger.path.parent.iterdir()] == ["ledger.sqlite"]


def test_names_may_hold_anything(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "50% of? #1 'ledger' é.sqlite")
    call = replace(CLIP, run="/o'ut;--/\n", suite="é", split="sp/lit", id='c"1\x00\U0001f600')
    ledger.reserve(call, BOUND, FREE)
    assert [entry.call for entry in Ledger(ledger.path).entries("question")] == [call]


@pytest.mark.parametrize(
    ("told", "counts"),
    [
        (None, BOUND),
        (Usage(), BOUND),
        (Usage(1, 0, 700, 0), Usage(1, 12, 700, 200)),
        (Usage(0, 0, 0, 90), Usage(1, 12, 1000, 90)),
        (Usage(1, 11, 1, 1), Usage(1, 11, 1, 1)),
    ],
)
def test_a_figure_that_an_adapter_leaves_out_counts_at_its_bound(
    ledger: Ledger, told: Usage | None, counts: Usage
) -> None:
    ledger.reserve(CLIP, BOUND, FREE)
    assert ledger.settle(CLIP, told) == counts
    assert ledger.spent("question") == counts
    assert ledger.unsettled("question") == []


def test_a_usage_above_its_bound_counts_in_full_and_closes_the_cap(ledger: Ledger) -> None:
    caps = Budget(requests=3, usd=0.01, rates=PRICES)
    ledger.reserve(CLIP, BOUND, caps)
    ledger.settle(CLIP, Usage(2, 15, 5000, 2000))
    assert ledger.spent("question") == Usage(2, 15, 5000, 2000)
    with refused("budget-spent", r"run\.budget\.usd allows 0\.01 USD; .* 0\.0015 USD beside 0\.01125 USD"):
        ledger.reserve(replace(CLIP, key="k2", id="c2"), BOUND, caps)


@pytest.mark.parametrize("told", [Usage(1, -1), Usage(1, 0, 1.5), Usage(1, 0, 0, True), {"requests": 1}, 2**70])  # type: ignore[arg-type]
def test_a_usage_that_is_none_stays_at_its_bound(ledger: Ledger, told: Any) -> None:
    ledger.reserve(CLIP, BOUND, FREE)
    with pytest.raises(AnswerFault, match="the adapter's usage") as caught:
        ledger.settle(CLIP, told)
    assert caught.value.code == "usage-invalid"
    assert ledger.spent("question") == BOUND
    assert len(ledger.unsettled("question")) == 1


def test_settling_again_changes_nothing_and_otherwise_is_a_fault(ledger: Ledger) -> None:
    ledger.reserve(CLIP, BOUND, FREE)
    ledger.settle(CLIP, None, "req-1")
    before = ledger.entries("question")
    assert ledger.settle(CLIP, None, "req-1") == BOUND
    assert ledger.entries("question") == before
    with faulty("not-reserved", "test/c1 is settled in .* not at"):
        ledger.settle(CLIP, Usage(1, 12, 1, 1), "req-1")
    with faulty("not-reserved"):
        ledger.settle(CLIP, None, "req-2")
    assert ledger.entries("question") == before


def test_what_was_never_reserved_cannot_be_settled(ledger: Ledger) -> None:
    with faulty("not-reserved", r"test/c1 was never reserved in .*ledger\.sqlite"):
        ledger.settle(CLIP, None)
    ledger.reserve(CLIP, BOUND, FREE)
    for other in (replace(CLIP, attempt=2), replace(CLIP, run="another"), replace(CLIP, id="c2")):
        with faulty("not-reserved"):
            ledger.settle(other, None)


def test_a_cap_is_inclusive_and_never_passed_by_what_is_still_under_way(ledger: Ledger) -> None:
    caps = Budget(requests=3, audio_seconds=36)
    for number in range(3):
        ledger.reserve(replace(CLIP, key=f"k{number}", id=f"c{number}"), BOUND, caps)
    late = replace(CLIP, key="k3", id="c3")
    with refused(
        "budget-spent",
        r"^test/c3: run\.budget\.requests allows 3 requests; this call may need 1 request beside 3 requests spent or"
        r" reserved already, 1 request over; run\.budget\.audio_seconds allows 36 .* 12 audio seconds over ",
    ):
        ledger.reserve(late, BOUND, caps)
    assert ledger.spent("question") == Usage(3, 36, 3000, 600)
    assert len(ledger.entries("question")) == 3
    ledger.settle(replace(CLIP, key="k0", id="c0"), Usage(1, 1, 1, 1))
    with refused("budget-spent", "requests"):
        ledger.reserve(late, BOUND, caps)
    ledger.reserve(replace(late, scope="another question"), BOUND, caps)


def test_money_that_a_call_did_not_use_is_free_again(ledger: Ledger) -> None:
    caps = Budget(usd=0.0030, rates=PRICES)
    for number in range(2):
        ledger.reserve(replace(CLIP, key=f"k{number}", id=f"c{number}"), BOUND, caps)
    third = replace(CLIP, key="k2", id="c2")
    with refused("budget-spent", r"0\.0015 USD over"):
        ledger.reserve(third, BOUND, caps)
    ledger.settle(replace(CLIP, key="k0", id="c0"), Usage(1, 12, 1, 1))
    with refused("budget-spent", r"0\.0000045 USD over"):
        ledger.reserve(third, BOUND, caps)
    ledger.settle(replace(CLIP, key="k1", id="c1"), Usage(1, 12, 1, 1))
    ledger.reserve(third, BOUND, caps)


@pytest.mark.parametrize("settled", [True, False])
@pytest.mark.parametrize(
    "again",
    [
        replace(CLIP, run="out/voice/2"),
        replace(CLIP, run="out/voice/2", once=False),
        replace(CLIP, scope="another question", run="out/renamed/1", suite="renamed", split="dev", id="x"),
        replace(CLIP, attempt=2),
        CLIP,
    ],
)
def test_a_clip_is_asked_once_whatever_it_is_called(ledger: Ledger, again: Call, settled: bool) -> None:
    ledger.reserve(CLIP, BOUND, FREE)
    if settled:
        ledger.settle(CLIP, None)
    end = "came back" if settled else "never came back, or is still under way"
    with refused("asked-before", f"as test/c1 of suite voice in out/voice/1, and {end}; .* replay or resume that run"):
        ledger.reserve(again, BOUND, FREE)
    assert ledger.spent("question") == BOUND


def test_once_looks_back_at_calls_that_were_free_to_be_repeated(ledger: Ledger) -> None:
    ledger.reserve(replace(CLIP, once=False), BOUND, FREE)
    with refused("asked-before"):
        ledger.reserve(replace(CLIP, run="out/voice/2"), BOUND, FREE)


def test_other_samples_another_model_or_another_clip_of_the_question_stand_in_nobodys_way(ledger: Ledger) -> None:
    ledger.reserve(CLIP, BOUND, FREE)
    ledger.reserve(replace(CLIP, key="other samples", run="out/voice/2"), BOUND, FREE)
    ledger.reserve(replace(CLIP, id="sounds like c1"), BOUND, FREE)
    ledger.reserve(replace(CLIP, id="so does this", run="out/voice/2"), BOUND, FREE)
    assert ledger.spent("question").requests == 4


def test_without_once_a_clip_may_be_asked_again_and_every_request_counts(ledger: Ledger) -> None:
    free = replace(CLIP, once=False)
    for call in (free, replace(free, attempt=2), replace(free, run="out/voice/2")):
        ledger.reserve(call, BOUND, Budget(requests=3))
        with refused("asked-before"):
            ledger.reserve(call, BOUND, Budget(requests=3))
    assert ledger.spent("question").requests == 3
    with refused("budget-spent"):
        ledger.reserve(replace(free, attempt=3), BOUND, Budget(requests=3))


def test_a_reservation_whose_request_never_left_is_taken_up_and_counts_once(ledger: Ledger) -> None:
    caps = Budget(requests=1)
    ledger.reserve(CLIP, BOUND, caps)
    for bound in (BOUND, Usage(1, 13)):
        ledger.reserve(CLIP, bound, caps, take_up=True)
        assert ledger.spent("question") == bound
    with refused("budget-spent", "beside|may need 2 requests"):
        ledger.reserve(CLIP, Usage(2), caps, take_up=True)
    assert ledger.spent("question") == Usage(1, 13), "what was refused leaves the reservation as it was"
    ledger.settle(CLIP, None)
    with refused("asked-before", "came back"):
        ledger.reserve(CLIP, BOUND, caps, take_up=True)


@pytest.mark.parametrize("other", [replace(CLIP, run="out/voice/2"), replace(CLIP, scope="q2", id="c2")])
def test_only_a_runs_own_reservation_can_be_taken_up(ledger: Ledger, other: Call) -> None:
    ledger.reserve(other, BOUND, FREE)
    with refused("asked-before"):
        ledger.reserve(CLIP, BOUND, FREE, take_up=True)
    assert ledger.unsettled(other.scope)


def test_the_key_is_the_model_and_what_it_is_given() -> None:
    model: dict[str, Any] = {"name": "net", "version": None, "revision": "r1", "components": {}, "files": {"m": "ab"}}
    keys = [
        call_key(model, "a" * 64),
        call_key(model | {"revision": "r2"}, "a" * 64),
        call_key(model | {"files": {"m": "ac"}}, "a" * 64),
        call_key(model, "b" * 64),
        call_key(model, text="a" * 64),
        call_key(model, "a" * 64, "a" * 64),
        call_key(model, text=""),
    ]
    assert len(set(keys)) == len(keys)
    assert call_key(dict(reversed(model.items())), "a" * 64) == keys[0]
    assert all(len(key) == 64 for key in keys)
    with pytest.raises(ValueError, match="samples, a text, or both"):
        call_key(model)


@pytest.mark.parametrize("content", [b"", b"clip,label\nc1,sad\n" * 100, b"SQLite format 3\x00" + bytes(4080)])
def test_a_file_that_is_no_ledger_is_left_alone(ledger: Ledger, content: bytes) -> None:
    ledger.path.write_bytes(content)
    for step in (lambda: ledger.reserve(CLIP, BOUND, FREE), lambda: ledger.spent("question")):
        with faulty("no-ledger", r"ledger\.sqlite"):
            step()
    assert ledger.path.read_bytes() == content


def test_somebody_elses_database_is_no_ledger(ledger: Ledger) -> None:
    with closing(sqlite3.connect(ledger.path)) as rows, rows:
        rows.execute("CREATE TABLE calls (number)")
    with faulty("no-ledger", "is no ledger: move it away, or name another file"):
        ledger.reserve(CLIP, BOUND, FREE)


def test_a_ledger_of_another_version_is_left_alone(ledger: Ledger) -> None:
    ledger.reserve(CLIP, BOUND, FREE)
    with closing(sqlite3.connect(ledger.path)) as rows, rows:
        rows.execute("PRAGMA user_version = 2")
    content = ledger.path.read_bytes()
    with faulty("ledger-version", "has schema version 2, this program knows 1"):
        ledger.settle(CLIP, None)
    assert ledger.path.read_bytes() == content


def test_a_truncated_ledger_is_damaged(ledger: Ledger) -> None:
    fill(ledger)
    os.truncate(ledger.path, ledger.path.stat().st_size // 2)
    with faulty("ledger-damaged", r"ledger\.sqlite: .*malformed"):
        ledger.spent("question")


def test_a_ledger_without_its_table_is_damaged(ledger: Ledger) -> None:
    ledger.reserve(CLIP, BOUND, FREE)
    with closing(sqlite3.connect(ledger.path)) as rows, rows:
        rows.execute("DROP TABLE calls")
    with faulty("ledger-damaged", "no such table"):
        ledger.spent("question")


def test_a_ledger_that_disappears_is_not_begun_again(ledger: Ledger) -> None:
    ledger.reserve(CLIP, BOUND, FREE)
    ledger.path.unlink()
    for step in (lambda: ledger.reserve(CLIP, BOUND, FREE), lambda: ledger.spent("question")):
        with faulty("ledger-gone", "what was spent is not known"):
            step()


def test_a_place_where_no_ledger_can_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere" / "at all")
    for path in (tmp_path / "file" / "ledger", tmp_path / "folder", tmp_path / "dangling"):
        with faulty("ledger-unwritable", str(path)):
            Ledger(path).reserve(CLIP, BOUND, FREE)


def test_a_ledger_that_is_held_too_long_is_told_and_nothing_is_reserved(ledger: Ledger) -> None:
    ledger.reserve(CLIP, BOUND, FREE)
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with faulty("ledger-busy", r"locked \(waited 0 s for another process\)"):
            Ledger(ledger.path, patience=0).reserve(replace(CLIP, key="k2", id="c2"), BOUND, FREE)
        assert Ledger(ledger.path, patience=0).spent("question") == BOUND, "readers do not wait"
    assert len(ledger.entries("question")) == 1


def test_a_file_that_may_only_be_read_can_be_read(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.reserve(CLIP, BOUND, FREE)
    opened = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda at, **more: opened(at.replace("mode=rw", "mode=ro"), **more))
    assert ledger.spent("question") == BOUND
    with faulty("ledger-unwritable", "readonly"):
        ledger.settle(CLIP, None)


@contextmanager
def disk_full_at(size: int) -> Iterator[None]:
    """No file of this process may grow beyond so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_reserves_nothing_and_loses_nothing(ledger: Ledger) -> None:
    fill(ledger, 20)
    calls = [replace(CLIP, key=f"late {number}", id=f"late {number}") for number in range(1000)]
    reserved = []
    with disk_full_at(ledger.path.stat().st_size), faulty("ledger-unwritable"):
        for call in calls:
            ledger.reserve(call, BOUND, FREE)
            reserved.append(call)
    entries = ledger.entries("question")
    assert [entry.call for entry in entries[20:]] == reserved
    assert ledger.spent("question").requests == 20 + len(reserved)
    ledger.reserve(calls[-1], BOUND, FREE)
    assert len(ledger.entries("question")) == 21 + len(reserved)


def test_a_step_waits_for_others_and_outlives_a_power_cut(ledger: Ledger) -> None:
    """In this mode SQLite syncs the file before, and the folder after, the rollback journal is taken away."""
    with ledger._step("BEGIN IMMEDIATE") as rows:
        assert rows.execute("PRAGMA synchronous").fetchone()[0] == 3
        assert rows.execute("PRAGMA journal_mode").fetchone()[0] == "delete"
        assert rows.execute("PRAGMA busy_timeout").fetchone()[0] == 60_000


def test_what_is_raised_half_way_undoes_the_step(ledger: Ledger) -> None:
    ledger.reserve(CLIP, BOUND, FREE)
    with pytest.raises(ValueError, match="needs rates"):
        ledger.reserve(replace(CLIP, key="k2", id="c2"), BOUND, Budget(usd=5.0))
    assert ledger.spent("question") == BOUND
    ledger.reserve(replace(CLIP, key="k2", id="c2"), BOUND, FREE)


def test_threads_share_one_ledger_object_and_its_caps(ledger: Ledger) -> None:
    def reserve(number: int) -> bool:
        try:
            ledger.reserve(replace(CLIP, key=f"key {number}", id=f"c{number}"), BOUND, Budget(requests=10))
        except Refusal:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(reserve, range(30))) == 10
    assert ledger.spent("question").requests == 10


@pytest.mark.parametrize("seed", range(3))
def test_killed_processes_never_ask_more_than_the_cap_nor_more_than_the_ledger_holds(seed: int, tmp_path: Path) -> None:
    """Three runs of one question race for the same clips under a cap, each killed and resumed again and again."""
    cap, clips = 40, 60
    done = subprocess.run(
        [sys.executable, HAMMER, tmp_path, str(cap), str(clips), str(seed)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    calls = (tmp_path / "calls").read_text().splitlines()
    ledger = Ledger(tmp_path / "ledger.sqlite")
    entries = ledger.entries("question")
    assert len(calls) <= cap
    assert max(Counter(calls).values()) == 1, "no clip was asked twice"
    assert set(calls) <= {entry.call.id for entry in entries}
    assert ledger.spent("question").requests == len(entries) == cap
    assert {entry.call.id for entry in entries if entry.usage} <= set(calls)
