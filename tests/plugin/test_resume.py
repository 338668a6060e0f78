"""Going on with a run after a kill: nothing finished is asked twice, and the end is that of an undisturbed run.

H59 (one outcome, attempts counted), H61 (torn line), H63 (a failure is no answer), H64 (what makes a run another).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_speval.evidence.hold import Hold
from tests.plugin.conftest import Project, timeless

WORDS = ["yes", "no", "yes", "die", "yes", "yes", "", "yes"]
RUN = ("-p", "no:cacheprovider")


def answers(project: Project, words: list[str]) -> None:
    """Let the model say something else from now on: its table is no file that the question knows of."""
    (project.path / "said.json").write_text(json.dumps(dict(zip(project.ids, words, strict=True))))


def killed(project: Project, extra: str = "", words: list[str] | None = None) -> Path:
    """A run that dies while it asks for `c3`."""
    project.write(words or WORDS, extra=extra)
    run = project.run(*RUN, environment={"HOME": str(project.path)})
    assert run.ret == 17
    answers(project, ["yes" if word == "die" else word for word in words or WORDS])
    return project.folder()


def undisturbed(project: Project) -> str:
    project.forget_calls()
    assert project.run(*RUN, "--speval-out", "undisturbed").ret == 0
    (document,) = (project.path / "undisturbed/voice").glob("*/out.json")
    return timeless(json.loads(document.read_text()))


def test_only_what_never_came_back_is_asked_again(project: Project, distributed: tuple[str, ...]) -> None:
    folder = killed(project)
    assert project.calls == ["c0", "c1", "c2", "c3"]
    project.forget_calls()
    resumed = project.run(*RUN, f"--speval-resume={folder}", *distributed)
    assert resumed.ret == 0
    assert sorted(project.calls) == ["c3", "c4", "c5", "c6", "c7"]
    assert project.folder() == folder, "no second run folder"
    rows = [json.loads(line) for line in (folder / "clips.jsonl").read_text().splitlines()]
    assert [row["attempts"] for row in rows] == [1, 1, 1, 2, 1, 1, 1, 1]
    assert timeless(project.document()) == undisturbed(project)


def test_a_call_that_may_be_made_once_stays_unknown(project: Project) -> None:
    folder = killed(project, "run: {once: true}")
    project.forget_calls()
    assert project.run(*RUN, f"--speval-resume={folder}").ret == 6
    assert project.calls == ["c4", "c5", "c6", "c7"]
    assert project.document()["counts"]["unknown"] == 1


def test_what_failed_is_never_asked_again(project: Project) -> None:
    words = ["raise", *WORDS[1:]]
    folder = killed(project, "run: {max_failed: 1}", words)
    answers(project, ["yes"] * 8)
    project.forget_calls()
    project.run(*RUN, f"--speval-resume={folder}")
    assert "c0" not in project.calls
    assert project.document()["counts"]["failed"] == 1


def test_a_failure_is_no_answer_that_a_later_run_takes_for_one(project: Project) -> None:
    project.write(["raise", "yes"])
    assert project.run(*RUN).ret == 6
    failed = project.folder() / "journal/main.jsonl"
    before = failed.read_bytes()
    answers(project, ["yes", "yes"])
    assert project.run(*RUN).ret == 0
    assert project.calls == ["c0", "c1", "c0", "c1"]
    assert failed.read_bytes() == before
    assert b'"event":"failed","id":"c0"' in before


def test_a_run_can_be_killed_and_taken_up_again_and_again(project: Project) -> None:
    project.write(["die"] * 3 + ["yes"])
    for _ in range(3):
        resume = [f"--speval-resume={project.folder()}"] if (project.path / ".speval").exists() else []
        assert project.run(*RUN, *resume, environment={"HOME": str(project.path)}).ret == 17
        answers(project, ["die" if name in {"c1", "c2"} - {*project.calls} else "yes" for name in project.ids])
    assert project.run(*RUN, f"--speval-resume={project.folder()}").ret == 0
    assert project.calls == ["c0", "c0", "c1", "c1", "c2", "c2", "c3"]
    assert len(project.documents()) == 1


def test_a_torn_last_line_is_set_aside(project: Project) -> None:
    folder = killed(project)
    journal = folder / "journal/main.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole + b'{"event":"returned","id":"c3","sco')
    assert project.run(*RUN, f"--speval-resume={folder}").ret == 0
    assert journal.read_bytes() == whole
    assert (folder / "journal/main.torn").read_bytes() == b'{"event":"returned","id":"c3","sco\n'
    assert project.document()["counts"]["answered"] == 7


def test_damage_elsewhere_stops_with_its_line_and_changes_nothing(project: Project) -> None:
    folder = killed(project)
    journal = folder / "journal/main.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b"yes", b"nay")
    journal.write_bytes(b"".join(lines))
    project.forget_calls()
    run = project.run(*RUN, f"--speval-resume={folder}")
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*main.jsonl, line 3: not what was written*"])
    assert project.calls == []
    assert journal.read_bytes() == b"".join(lines)


def test_a_changed_question_is_refused_with_its_key(project: Project) -> None:
    folder = killed(project)
    before = sorted((path, path.read_bytes()) for path in folder.rglob("*") if path.is_file())
    project.forget_calls()
    run = project.run(*RUN, f"--speval-resume={folder}", "--speval-set", "voice.corpus.audio.clipping=reject")
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*answers another question: audio.clipping: report then, reject now*"])
    assert project.calls == []
    assert before == sorted((path, path.read_bytes()) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("part", "old", "new"),
    [
        ("suites/voice.yaml", "{use: counting}", "{use: counting, said: ./said.json}"),
        ("suites/voice.yaml", "{use: counting}", "{use: counting, name: other}"),
        ("suites/voice.yaml", "{use: counting}", "{use: counting, requires: {pytest: '0'}}"),
        ("suites/voice.yaml", "corpus: {", "corpus: {audio: {clipping: reject}, "),
        ("suites/voice.yaml", "corpus: {", "corpus: {exclude: {test/c7: 'cut'}, "),
        ("clips.csv", "c0,yes", "c0,no"),
        ("clips.csv", "c0,yes,0.wav\n", ""),
        ("conftest.py", "sample_rate = 16000", "labels = ('yes', 'no', 'maybe')\n    sample_rate = 16000"),
    ],
)
def test_whatever_can_change_an_answer_changes_the_question(project: Project, part: str, old: str, new: str) -> None:
    folder = killed(project)
    file = project.path / part
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    project.forget_calls()
    assert project.run(*RUN, f"--speval-resume={folder}").ret == 6
    assert project.calls == []


def test_one_changed_sample_is_another_question(project: Project) -> None:
    folder = killed(project)
    sound = project.path / "7.wav"
    sound.write_bytes(sound.read_bytes()[:-1] + b"\x07")
    project.forget_calls()
    run = project.run(*RUN, f"--speval-resume={folder}")
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*answers another question: clips.bytes_sha256*"])
    assert project.calls == []


def test_another_limit_is_stamped_post_hoc(project: Project) -> None:
    folder = killed(project)
    project.run(*RUN, f"--speval-resume={folder}", "--speval-set", "voice.gates.accuracy.min=0.99")
    document = project.document()
    assert document["gates"][0]["verdict"] == "fail"
    assert "rules.gates[accuracy].min: 0.5 then, 0.99 now" in document["plan"]["postHoc"]
    assert document["plan"]["askedUnder"] is not None


def test_a_folder_that_another_process_writes_to_is_left_alone(project: Project) -> None:
    folder = killed(project)
    hold = Hold.take(folder, "the folder")
    try:
        project.forget_calls()
        run = project.run(*RUN, f"--speval-resume={folder}", environment={"HOME": str(project.path)})
    finally:
        hold.release()
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*another process is at work on*"])
    assert project.calls == []


def test_a_finished_run_has_nothing_left_to_ask(project: Project) -> None:
    project.write(["yes", "yes", "no"])
    assert project.run(*RUN).ret == 0
    project.forget_calls()
    assert project.run(*RUN, f"--speval-resume={project.folder()}").ret == 0
    assert project.calls == []


def test_several_runs_of_one_suite_are_ambiguous(project: Project) -> None:
    project.write(["yes", "yes"])
    for _ in range(2):
        project.run(*RUN)
    run = project.run(*RUN, "--speval-resume=.speval")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(["*several runs of voice*resume-ambiguous*"])


def test_a_run_of_a_suite_that_is_not_in_the_session_is_no_verdict(project: Project) -> None:
    project.write(["yes", "yes"])
    project.suite("other")
    assert project.run(*RUN).ret == 0
    run = project.run(*RUN, "-k", "voice", f"--speval-resume={project.folder('other')}")
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*--speval-resume names a run of other, which is not in this session*"])


def test_a_resumed_shard_is_no_release(project: Project) -> None:
    project.write(["no"] * 4)
    assert project.run(*RUN, "--speval-shard=1/2").ret == 0
    run = project.run(*RUN, "--speval-release", f"--speval-resume={project.folder()}")
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*is about shard 1/2, and --speval-release asks for a verdict*"])


def test_a_run_that_is_killed_again_leaves_no_results_that_do_not_follow(project: Project) -> None:
    project.write(["yes"] * 3)
    project.run(*RUN, "--deselect", "suites/voice.yaml::clip[c2]")
    answers(project, ["yes", "yes", "die"])
    resume = f"--speval-resume={project.folder()}"
    assert project.run(*RUN, resume, environment={"HOME": str(project.path)}).ret == 17
    left = {path.name for path in project.folder().iterdir()}
    assert left == {"plan.json", "audits.json", "journal"}


def test_a_project_without_an_output_folder_can_take_up_a_run(project: Project) -> None:
    project.write(["yes"] * 2)
    assert project.run(*RUN, "--speval-out=elsewhere").ret == 0
    (folder,) = (project.path / "elsewhere/voice").iterdir()
    assert project.run(*RUN, f"--speval-resume={folder}").ret == 0


def test_a_clip_that_killed_its_worker_is_not_asked_again_by_a_rerun(project: Project) -> None:
    project.write(["yes"] * 3 + ["die"] + ["yes"] * 4, extra="run: {max_failed: 1}")
    run = project.run(*RUN, "-n", "2", "--reruns", "1")
    assert run.ret in (0, 1)
    assert project.calls.count("c3") == 1
    assert project.document()["counts"]["unknown"] == 1
