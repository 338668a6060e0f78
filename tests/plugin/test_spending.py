"""Calls that cost: nothing leaves without a go-ahead and a reservation, nothing is asked twice, no cap is passed."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from pytest_speval.adapters.base import Usage
from pytest_speval.command import main
from pytest_speval.evidence.ledger import Ledger
from tests.plugin.conftest import Project

BILLABLE = """
from pytest_speval import Identity, Response, Usage

class Paid(Counting):
    billable = True

    def identity(self):
        return Identity("paid-model", version="1")

    def bound(self, seconds, text):
        return Usage(requests=1, input_tokens=100, output_tokens=50)

    def classify(self, pcm, sample_rate):
        read = super().classify(pcm, sample_rate)
        body = {"id": "r1", "headers": {"authorization": "Bearer x"}, "choice": read.label}
        usage = Usage(input_tokens=80, output_tokens=20)
        return EmotionRead(label=read.label, response=Response(body, f"req-{read.label}", None, usage))

def pytest_speval_adapters():
    return {"counting": Counting, "paid": Paid}
"""
RUN = ("-p", "no:cacheprovider")
BUDGET = "run: {budget: {requests: 9, usd: 0.01, rates: {input: 10, output: 20, as_of: 2026-10-11}}}"


def paid(project: Project, words: list[str], extra: str = "") -> None:
    """A project whose model costs money."""
    project.write(words, extra=extra)
    with (project.path / "conftest.py").open("a") as conftest:
        conftest.write(BILLABLE)
    suite = project.path / "suites/voice.yaml"
    suite.write_text(suite.read_text().replace("use: counting", "use: paid"))


def spent(project: Project) -> Usage:
    """All that the ledger holds."""
    with sqlite3.connect(project.path / ".speval/ledger.sqlite") as rows:
        (scope,) = {row[0] for row in rows.execute("SELECT scope FROM calls")}
    return Ledger(project.path / ".speval/ledger.sqlite").spent(scope)


def lines(folder: Path) -> list[dict[str, Any]]:
    journal = [line for path in sorted((folder / "journal").glob("*.jsonl")) for line in path.read_bytes().splitlines()]
    return [json.loads(line) for line in journal]


def test_nothing_is_bought_without_a_go_ahead(project: Project, distributed: tuple[str, ...]) -> None:
    paid(project, ["yes"] * 3)
    run = project.run(*RUN, *distributed)
    assert run.ret == 0
    run.stdout.fnmatch_lines(["*not authorised: it costs money to ask; --speval-spend voice is the go-ahead*"])
    assert project.calls == []
    assert project.run(*RUN, "--speval-release", *distributed).ret == 6
    assert project.calls == []
    assert not (project.path / ".speval/ledger.sqlite").exists()


def test_a_go_ahead_asks_every_clip_once_and_settles_it(project: Project, distributed: tuple[str, ...]) -> None:
    paid(project, ["yes"] * 4, BUDGET)
    run = project.run(*RUN, "--speval-spend=voice", *distributed)
    assert run.ret == 0, run.stdout
    assert sorted(project.calls) == project.ids
    assert spent(project) == Usage(requests=4, audio_seconds=4, input_tokens=320, output_tokens=80)
    events = [line["event"] for line in lines(project.folder()) if line.get("id") == "c1"]
    assert events == ["reserved", "entered", "returned"]
    (answer,) = [line for line in lines(project.folder()) if line["event"] == "returned" and line["id"] == "c1"]
    assert answer["response"] == {
        "body": {"id": "r1", "choice": "yes"},
        "request_id": "req-yes",
        "revision": None,
        "usage": {"requests": 1, "audio_seconds": 0, "input_tokens": 80, "output_tokens": 20},
    }


def test_a_clip_is_asked_once_for_ever(project: Project, distributed: tuple[str, ...]) -> None:
    paid(project, ["yes"] * 3)
    assert project.run(*RUN, "--speval-spend=voice", *distributed).ret == 0
    first = project.folder()
    project.forget_calls()
    again = project.run(*RUN, "--speval-spend=voice", *distributed)
    assert again.ret == 6
    again.stdout.fnmatch_lines(
        [f"c0: unattempted: asked-before: *was asked of this model before*voice/{first.name}*replay or resume*"]
    )
    assert project.calls == []
    assert project.run(*RUN, f"--speval-replay={first}", *distributed).ret == 0


def test_another_name_of_the_suite_changes_nothing(project: Project) -> None:
    paid(project, ["yes"] * 3)
    assert project.run(*RUN, "--speval-spend=voice").ret == 0
    project.forget_calls()
    (project.path / "suites/voice.yaml").rename(project.path / "suites/renamed.yaml")
    assert project.run(*RUN, "--speval-spend=renamed", "--speval-out=elsewhere").ret == 6
    assert project.calls == []


def test_a_budget_that_cannot_be_kept_is_found_before_the_first_call(project: Project) -> None:
    paid(project, ["yes"] * 10, BUDGET)
    run = project.run(*RUN, "--speval-spend=voice")
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*run.budget.requests allows 9 requests; the plan's 10 calls may need 10 requests*"])
    assert project.calls == []


def test_a_paid_call_that_never_came_back_passes_nothing(project: Project) -> None:
    paid(project, ["yes", "die", "yes", "yes"], "run: {max_failed: 1}")
    assert project.run(*RUN, "--speval-spend=voice", environment={"HOME": "."}).ret == 17
    folder = project.folder()
    assert spent(project) == Usage(requests=2, audio_seconds=2, input_tokens=180, output_tokens=70)
    project.forget_calls()
    (project.path / "said.json").write_text(json.dumps(dict.fromkeys(project.ids, "yes")))
    resumed = project.run(*RUN, "--speval-spend=voice", f"--speval-resume={folder}")
    assert project.calls == ["c2", "c3"], "what was entered is never asked again"
    assert resumed.ret == 6, "one clip may fail, but what it cost is open"
    resumed.stdout.fnmatch_lines(
        ["*voice (paid-model, resumed): invalid: audit[[]ledger] failed: 1 call was paid for and*"]
    )
    replayed = project.run(*RUN, f"--speval-replay={folder}")
    assert replayed.ret == 6


@pytest.mark.parametrize("after", ["reserve", "reserved", "entered", "returned"])
def test_a_kill_between_any_two_steps_is_made_good(project: Project, after: str) -> None:
    """Whatever stands in the ledger and the journal when the process dies, no clip is asked twice or lost."""
    paid(project, ["yes"] * 4, BUDGET.replace("requests: 9", "requests: 4"))
    step = {
        "reserve": ("pytest_speval.evidence.ledger", "Ledger.reserve"),
        "reserved": ("pytest_speval.evidence.journal", "Journal.reserved"),
        "entered": ("pytest_speval.evidence.journal", "Journal.entered"),
        "returned": ("pytest_speval.evidence.journal", "Journal.sync"),
    }[after]
    kill = f"""
import importlib
module, path = {step!r}
owner = getattr(importlib.import_module(module), path.partition(".")[0])
name = path.partition(".")[2]
original = getattr(owner, name)

def dying(self, *given, **more):
    original(self, *given, **more)
    told = repr(given)
    if "'c2'" in told or (name == "sync" and b'"event":"returned","id":"c2"' in self.path.read_bytes()):
        os._exit(9)

setattr(owner, name, dying)
"""
    conftest = project.path / "conftest.py"
    whole = conftest.read_text()
    conftest.write_text(whole + kill)
    assert project.run(*RUN, "--speval-spend=voice", environment={"HOME": "."}).ret == 9
    conftest.write_text(whole)
    before = len(project.calls)
    resumed = project.run(*RUN, "--speval-spend=voice", f"--speval-resume={project.folder()}")
    counts = project.document()["counts"]
    assert len(project.calls) == len(set(project.calls)), "no clip is asked twice"
    if after in ("reserve", "returned"):
        assert resumed.ret == 0, resumed.stdout
        assert counts["answered"] == 4
        assert spent(project) == Usage(requests=4, audio_seconds=4, input_tokens=320, output_tokens=80)
    else:
        assert resumed.ret == 6
        assert (counts["answered"], counts["unknown"]) == (3, 1)
        assert spent(project) == Usage(requests=4, audio_seconds=4, input_tokens=340, output_tokens=110)
    assert before == (3 if after == "returned" else 2)


def test_a_ledger_that_is_none_stops_before_the_first_call(project: Project) -> None:
    paid(project, ["yes"] * 2, BUDGET)
    (project.path / ".speval").mkdir()
    (project.path / ".speval/ledger.sqlite").write_text("not a ledger, and long enough to be looked at as one" * 20)
    run = project.run(*RUN, "--speval-spend=voice")
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*no-ledger*"])
    assert project.calls == []


def test_a_local_model_may_be_asked_once_for_ever_too(project: Project) -> None:
    project.write(["yes"] * 3, extra="run: {once: true}")
    assert project.run(*RUN).ret == 0
    project.forget_calls()
    assert project.run(*RUN).ret == 6
    assert project.calls == []


def test_clips_that_sound_alike_do_not_stand_in_each_others_way(project: Project) -> None:
    paid(project, ["yes"] * 3)
    (project.path / "1.wav").write_bytes((project.path / "0.wav").read_bytes())
    assert project.run(*RUN, "--speval-spend=voice").ret == 0
    assert len(project.calls) == 3


def test_recorded_answers_cost_nothing(project: Project) -> None:
    project.write(["yes"] * 2, extra="run: {once: true}")
    (project.path / "said.csv").write_text("id,label\nc0,yes\nc1,yes\n")
    suite = project.path / "suites/voice.yaml"
    suite.write_text(suite.read_text().replace("{use: counting}", "{use: predictions, file: ../said.csv}"))
    for _ in range(2):
        assert project.run(*RUN).ret == 0
    assert not (project.path / ".speval/ledger.sqlite").exists()


def test_a_paid_model_is_not_tried_out_in_batches(project: Project) -> None:
    paid(project, ["yes"] * 4, "run: {batch: 2, per_item: 2}")
    with (project.path / "conftest.py").open("a") as conftest:
        conftest.write(
            "\nPaid.classify_batch = lambda self, heard, rate: [self.classify(pcm, rate) for pcm in heard]\n"
        )
    run = project.run(*RUN, "--speval-spend=voice")
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*set run.batch to 1*batch-unchecked*"])
    assert main(["plan", "voice"]) == 1
    assert project.calls == []


@pytest.mark.parametrize("extra", [(), ("--dist=loadfile",)])
def test_a_paid_clip_that_killed_its_worker_is_not_asked_by_another(project: Project, extra: tuple[str, ...]) -> None:
    paid(project, ["yes"] * 3 + ["die"] + ["yes"] * 4)
    project.run(*RUN, "--speval-spend=voice", "-n", "2", "--reruns", "1", *extra)
    assert project.calls.count("c3") == 1
    assert project.document()["counts"]["unknown"] == 1
    assert main(["verify", str(project.folder())]) == 0


def test_a_copy_of_a_run_folder_asks_nothing_that_the_run_asked(project: Project) -> None:
    paid(project, ["yes", "die", "yes"])
    assert project.run(*RUN, "--speval-spend=voice", environment={"HOME": "."}).ret == 17
    folder = project.folder()
    copy = project.path / "copies" / folder.name
    shutil.copytree(folder, copy)
    journal = copy / "journal/main.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-2]))  # as it was before the second clip was entered
    (project.path / "said.json").write_text(json.dumps(dict.fromkeys(project.ids, "yes")))
    assert project.run(*RUN, "--speval-spend=voice", f"--speval-resume={copy}").ret == 6
    assert project.calls.count("c1") == 1


def test_a_go_ahead_for_no_suite_is_a_usage_error(project: Project) -> None:
    paid(project, ["yes"])
    run = project.run(*RUN, "--speval-spend=vioce")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(["*--speval-spend vioce: no such suite; there is voice*"])


def test_a_moved_run_settles_its_own_calls(project: Project) -> None:
    paid(project, ["yes", "yes", "die"])
    assert project.run(*RUN, "--speval-spend=voice", environment={"HOME": "."}).ret == 17
    folder = project.folder()
    ledger = project.path / ".speval/ledger.sqlite"
    with sqlite3.connect(ledger) as rows:  # as if the kill had come before the second answer was settled
        rows.execute("UPDATE calls SET settled = NULL WHERE id = 'c1'")
    moved = project.path / "moved" / folder.name
    moved.parent.mkdir()
    folder.rename(moved)
    assert project.run(*RUN, "--speval-spend=voice", f"--speval-resume={moved}").ret == 6
    with sqlite3.connect(ledger) as rows:
        assert [name for (name,) in rows.execute("SELECT id FROM calls WHERE settled IS NULL")] == ["c2"]
    assert len(project.calls) == 3


def test_what_an_abandoned_run_owes_is_not_settled_by_another(project: Project) -> None:
    paid(project, ["yes", "die"], "run: {once: false}")
    assert project.run(*RUN, "--speval-spend=voice", environment={"HOME": "."}).ret == 17
    abandoned = project.folder()
    (project.path / "said.json").write_text(json.dumps(dict.fromkeys(project.ids, "yes")))
    assert project.run(*RUN, "--speval-spend=voice").ret == 0, "another run, whose calls all came back"
    with sqlite3.connect(project.path / ".speval/ledger.sqlite") as rows:
        owed = rows.execute("SELECT id, run FROM calls WHERE settled IS NULL").fetchall()
    assert owed == [("c1", str(abandoned.resolve()))]
