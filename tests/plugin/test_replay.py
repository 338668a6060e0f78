"""Replay: stored answers judged by today's rules, without model, sound, manifest or network (H65)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.plugin.conftest import Project, timeless

WORDS = ["yes", "no", "yes", "", "maybe", "yes", "yes", "no"]
REFERENCES = ["yes", "no", "no", "yes", "yes", "yes", "no", "no"]
NO_NETWORK = """
import socket, pytest

@pytest.fixture(autouse=True, scope="session")
def offline():
    def refuse(*_, **__):
        raise AssertionError("a socket was opened")
    socket.socket = refuse
"""


def recorded(project: Project, extra: str = "", **more: object) -> Path:
    """A finished run of eight clips; afterwards manifest, sound and the model's table are gone."""
    project.write(WORDS, references=REFERENCES, extra=extra, **more)  # type: ignore[arg-type]
    project.run()
    kept = project.folder()
    project.forget_calls()
    for path in (*project.path.glob("*.wav"), project.path / "clips.csv", project.path / "said.json"):
        path.unlink()
    return kept


def replayed(project: Project, stored: Path, *arguments: str) -> pytest.RunResult:
    return project.run(f"--speval-replay={stored}", *arguments)


def test_a_replay_is_the_run_it_replays(project: Project, distributed: tuple[str, ...]) -> None:
    stored = recorded(project)
    before = {path: path.read_bytes() for path in stored.rglob("*") if path.is_file()}
    with (project.path / "conftest.py").open("a") as conftest:
        conftest.write(NO_NETWORK if not distributed or distributed[1] == "0" else "")
    run = replayed(project, stored, *distributed)
    assert run.ret == 0, run.stdout
    one, other = project.documents()
    assert timeless(one) == timeless(other)
    assert one["metrics"] == other["metrics"], "even the clock figures are those of the recording"
    assert (project.folder() / "clips.jsonl").read_bytes() == (stored / "clips.jsonl").read_bytes()
    assert project.calls == []
    assert before == {path: path.read_bytes() for path in stored.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "change",
    [
        "gates.accuracy.min=0.75",
        "gates.accuracy.min=0.76",
        "labels.answers={maybe: 'yes'}",
        "labels.fold_case=true",
        "labels.set=['no', 'yes']",
        "run.missing=withhold",
        "score.headline=uar",
        "score.interval={unit: clip, replicates: 50}",
        "claim.limits=['one room']",
    ],
)
def test_other_rules_give_the_verdict_of_a_fresh_run_and_are_stamped_post_hoc(project: Project, change: str) -> None:
    project.write(WORDS, references=REFERENCES)
    project.run()
    stored = project.folder()
    fresh = project.run("--speval-set", f"voice.{change}")
    again = replayed(project, stored, "--speval-set", f"voice.{change}")
    _, one, other = project.documents()
    assert again.ret == fresh.ret
    changed = other["plan"].pop("postHoc")
    asked_under = other["plan"].pop("askedUnder")
    assert any(change.partition("=")[0].split(".")[-1] in what for what in changed), changed
    assert asked_under == project.documents()[0]["plan"]["planSha256"]
    del one["plan"]["postHoc"], one["plan"]["askedUnder"]
    other["notes"] = [note for note in other["notes"] if not note.startswith("Post hoc")]
    assert timeless(one) == timeless(other)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("corpus.audio.clipping=reject", "corpus.audio.clipping: report then, reject now"),
        ("run.once=true", "once: false then, true now"),
        ("adapter={use: counting, said: other.json}", "adapter.keys.said: absent then, other.json now"),
        ("labels.drop=[maybe]", None),
        ("task=affect", None),
    ],
)
def test_another_question_is_refused_with_its_key(project: Project, change: str, found: str | None) -> None:
    stored = recorded(project)
    run = replayed(project, stored, "--speval-set", f"voice.{change}")
    if found is None:
        return
    assert run.ret == 6
    run.stdout.fnmatch_lines([f"*answers another question: {found}*question-differs*"])
    assert project.calls == []


def test_dropping_other_labels_is_another_question(project: Project) -> None:
    stored = recorded(project, extra="", gates="")
    drop = "voice.labels={set: ['yes'], drop: ['no'], absent: zero}"
    run = replayed(project, stored, "--speval-set", drop)
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*answers another question: clips.excluded[[]1]: null then, label no is dropped now*"])


def test_a_reference_without_a_rule_is_the_collection_error_of_a_fresh_run(project: Project) -> None:
    stored = recorded(project)
    run = replayed(project, stored, "--speval-set", "voice.labels={set: ['yes'], absent: zero}")
    assert run.ret == pytest.ExitCode.INTERRUPTED
    run.stdout.fnmatch_lines(["*the label `no` has no rule*label-unknown*"])


def test_an_incomplete_recording_passes_nothing(project: Project) -> None:
    project.write(["yes"] * 4)
    project.run("--deselect", "suites/voice.yaml::clip[c2]")
    stored = project.folder()
    project.forget_calls()
    run = replayed(project, stored)
    assert run.ret == 6
    run.stdout.fnmatch_lines(["c2: unattempted: not-recorded: the recording has no answer for this clip"])
    run.stdout.fnmatch_lines(["*voice*invalid: 3 of 4 clips: no verdict*"])
    assert project.calls == []


def test_a_suite_without_a_recording_is_invalid(project: Project) -> None:
    stored = recorded(project)
    project.suite("other", gates="gates: {accuracy: {metric: accuracy, min: 0, why: none}}")
    run = replayed(project, stored)
    assert run.ret == 6
    run.stdout.fnmatch_lines(["other (replayed): invalid: *integrity: --speval-replay has no run of other"])
    assert project.calls == []


def test_recordings_that_are_not_used_are_listed(project: Project) -> None:
    project.write(WORDS, references=REFERENCES)
    project.suite("other", gates="gates: {coverage: {metric: coverage, min: 0, why: none}}")
    project.run()
    run = project.run("--speval-replay=.speval", "-k", "voice")
    assert run.ret == 0
    run.stdout.fnmatch_lines(["voice (counting, replayed): pass", "not used: .speval/other/*"])


def test_two_recordings_of_one_suite_are_not_one_run(project: Project) -> None:
    project.write(WORDS, references=REFERENCES)
    for _ in range(2):
        project.run()
    run = replayed(project, project.path / ".speval")
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*integrity: *are both the whole run*shard-repeated*"])


def test_nothing_stored_is_a_usage_error(project: Project) -> None:
    project.write(["yes"])
    (project.path / "empty").mkdir()
    for place in ("empty", "nowhere"):
        run = replayed(project, project.path / place)
        assert run.ret == pytest.ExitCode.USAGE_ERROR
        run.stderr.fnmatch_lines(["*holds no run: no plan.json in it or below*no-recording*"])
    assert project.calls == []


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("plan.json", b'"label":["yes"', b'"label":["nay"'),
        ("plan.json", b'"min":0.5', b'"min":0.4'),
        ("plan.json", b'"schemaVersion":1', b'"schemaVersion":2'),
        ("audits.json", b'"name":"corpus"', b'"name": "corpus"'),
        ("journal/main.jsonl", b'"label":"yes"', b'"label":"nay"'),
    ],
)
def test_damaged_evidence_is_not_judged(project: Project, name: str, old: bytes, new: bytes) -> None:
    stored = recorded(project)
    file = stored / name
    assert old in file.read_bytes()
    file.write_bytes(file.read_bytes().replace(old, new, 1))
    run = replayed(project, stored)
    assert run.ret == 6
    run.stdout.fnmatch_lines(["voice*: invalid: *integrity: *"])


@pytest.mark.parametrize("change", ["last answer", "cut at a line", "another journal", "no journal", "receipt"])
def test_evidence_that_its_receipt_does_not_fit_is_not_judged(project: Project, change: str) -> None:
    stored = recorded(project, extra="run: {max_failed: 9}")
    journal = stored / "journal/main.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    if change == "last answer":
        assert b'"label":"no"' in lines[-1]
        journal.write_bytes(b"".join([*lines[:-1], lines[-1].replace(b'"label":"no"', b'"label":"yes"')]))
    elif change == "cut at a line":
        journal.write_bytes(b"".join(lines[:-1]))
    elif change == "another journal":
        (stored / "journal/more.jsonl").write_bytes(lines[0])
    elif change == "no journal":
        journal.unlink()
    else:
        receipt = stored / "receipt.json"
        receipt.write_bytes(receipt.read_bytes()[:-2] + b"\n")
    for option in ("replay", "resume"):
        run = project.run(f"--speval-{option}={stored}")
        assert run.ret != 0
    assert replayed(project, stored).ret == 6
    assert project.calls == []


def test_a_plan_that_cannot_be_read_is_a_usage_error(project: Project) -> None:
    stored = recorded(project)
    (stored / "plan.json").write_bytes(b" " + (stored / "plan.json").read_bytes())
    run = replayed(project, stored)
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(["*plan.json cannot be read as it was written: not canonical*plan-damaged*"])


def with_model(project: Project) -> None:
    """A project of three clips whose model is a file."""
    project.write(["yes"] * 3)
    (project.path / "model.onnx").write_bytes(b"weights")
    with (project.path / "conftest.py").open("a") as conftest:
        conftest.write(
            "\nclass WithFile(Counting):\n"
            "    def __init__(self, model: pathlib.Path):\n        super().__init__()\n        self.model = model\n"
            "    def identity(self):\n"
            "        from pytest_speval import Identity\n        return Identity('mine', files=(self.model,))\n"
            "\ndef pytest_speval_adapters():\n    return {'counting': Counting, 'with-file': WithFile}\n"
        )
    suite = project.path / "suites/voice.yaml"
    suite.write_text(suite.read_text().replace("{use: counting}", "{use: with-file, model: ../model.onnx}"))


@pytest.mark.parametrize("change", ["write_bytes(b'other')", "unlink()"])
def test_a_model_that_changes_while_it_is_asked_gives_no_verdict(
    project: Project, change: str, distributed: tuple[str, ...]
) -> None:
    with_model(project)
    with (project.path / "conftest.py").open("a") as conftest:
        conftest.write(
            "\ndef pytest_runtest_teardown(item):\n"
            f"    if item.name == 'clip[c1]':\n        (HERE / 'model.onnx').{change}\n"
        )
    run = project.run(*distributed)
    assert run.ret == 6
    run.stdout.fnmatch_lines(["voice*: invalid: audit[[]files] failed: model.onnx changed while clips were asked"])
    assert replayed(project, project.folder()).ret == 6


def test_the_model_need_not_be_there(project: Project) -> None:
    with_model(project)
    suite = project.path / "suites/voice.yaml"
    assert project.run().ret == 0
    stored = project.folder()
    (project.path / "model.onnx").unlink()
    assert replayed(project, stored).ret == 0
    (project.path / "model.onnx").write_bytes(b"another")
    run = replayed(project, stored)
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*answers another question: adapter.keys.model.sha256*"])
    suite.write_text(suite.read_text().replace("../model.onnx", "../gone.onnx"))
    run = replayed(project, stored)
    assert run.ret == 6, "an absent model of another name is not the one that was asked"


def test_replay_excludes_asking(project: Project) -> None:
    stored = recorded(project)
    for other in (f"--speval-resume={stored}", "--speval-shard=1/2", "--speval-spend=voice"):
        run = replayed(project, stored, other)
        assert run.ret == pytest.ExitCode.USAGE_ERROR
        run.stderr.fnmatch_lines(["*--speval-replay and --speval-*options-contradict*"])


def test_a_replay_can_itself_be_replayed(project: Project) -> None:
    stored = recorded(project)
    replayed(project, stored, "--speval-set", "voice.gates.accuracy.min=0.75")
    second = project.folder()
    run = replayed(project, second, "--speval-set", "voice.gates.accuracy.min=0.7")
    plan = json.loads((project.folder() / "plan.json").read_text())
    assert run.ret == 1
    assert plan["askedUnder"] == json.loads((stored / "plan.json").read_text())["planSha256"]
    assert any("0.5 then" in what for what in plan["postHoc"])
    assert any("0.75 then" in what for what in plan["postHoc"])
