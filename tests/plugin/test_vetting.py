"""Votes, selection, leakage and readiness in real sessions: what they decide, print and refuse under replay."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import soundfile

from tests.plugin.conftest import Project, timeless

VOTES = """
votes:
  file: ../votes.csv
  options: ["yes", "no", other]
  targets: ["yes", "no"]
"""


def manifest(project: Project, rows: Sequence[Sequence[str]], head: str = "id,audio,split,speaker,label") -> None:
    """Write the manifest anew; the sound of place N is `N.wav`."""
    project.path.joinpath("clips.csv").write_text("\n".join([head, *(",".join(row) for row in rows), ""]))


def suite(project: Project, extra: str, *, corpus: str = "", gates: str | None = None) -> None:
    gates = "gates: {accuracy: {metric: accuracy, min: 0.5, why: chance}}" if gates is None else gates
    project.path.joinpath("suites/voice.yaml").write_text(
        f"task: emotion\ncorpus: {{root: .., manifest: clips.csv{corpus}}}\n"
        f'labels: {{set: ["yes", "no"], absent: zero}}\nadapter: {{use: counting}}\n{extra}\n{gates}\n'
    )


def audits(project: Project) -> dict[str, Any]:
    return {audit["name"]: audit for audit in json.loads((project.folder() / "audits.json").read_bytes())}


def polled(project: Project, extra: str = "") -> None:
    """Five clips, three votes each but one: a majority, a tie, no target, too few, a majority."""
    project.write(["yes", "yes", "yes", "yes", "no"])
    manifest(project, [[f"c{place}", f"{place}.wav"] for place in range(5)], "id,audio")
    says = ["yes yes no", "yes no other", "other other yes", "no no", "no no no"]
    rows = [f"c{clip},l{who},{vote}" for clip, votes in enumerate(says) for who, vote in enumerate(votes.split())]
    project.path.joinpath("votes.csv").write_text("\n".join(["clip,listener,vote", *rows, "z,l1,yes", ""]))
    suite(project, VOTES + extra)


def leaking(project: Project, extra: str = "", corpus: str = ", where: {split: [test]}") -> None:
    """Two evaluated clips, one of a speaker whom the split `train` has too."""
    project.write(["yes"] * 4)
    speakers = [("train", "S1"), ("train", "S2"), ("test", "S2"), ("test", "S3")]
    manifest(project, [[f"c{n}", f"{n}.wav", split, who, "yes"] for n, (split, who) in enumerate(speakers)])
    suite(project, extra, corpus=corpus)


def test_votes_are_the_references_and_undecided_clips_are_excluded(
    project: Project, distributed: tuple[str, ...]
) -> None:
    polled(project)
    run = project.run(*distributed)
    assert run.ret == 0, run.stdout
    found = project.document()
    assert found["counts"]["planned"] == found["counts"]["answered"] == 2
    assert found["exclusions"] == {
        "votes: 2 of 3 listeners": 1,
        "votes: most for other, no target": 1,
        "votes: no 2 agree on a target": 1,
    }
    assert found["metrics"]["accuracy"]["numerator"] == 2
    counted = audits(project)["votes"]["findings"][0]["message"]
    assert counted.startswith("14 votes on 5 clips, 2 to 3 a clip, 3 listeners; Krippendorff's alpha 0.")
    assert sorted(project.calls) == ["c0", "c4"]


def test_every_vote_is_in_the_plan_and_a_replay_needs_no_file_of_votes(project: Project) -> None:
    polled(project)
    project.run()
    stored = project.folder()
    cells = json.loads((stored / "plan.json").read_bytes())["question"]["clips"]["cells"]["votes"]
    assert json.loads(cells[0]) == [["l0", "yes"], ["l1", "yes"], ["l2", "no"]]
    (project.path / "votes.csv").unlink()
    assert project.run(f"--speval-replay={stored}").ret == 0
    one, other = project.documents()
    assert timeless(one) == timeless(other)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("votes.agree=3", "votes.agree: 2 then, 3 now"),
        ("votes.listeners=1", "votes.listeners: 3 then, 1 now"),
        ("select={speakers: 1}", "select: absent then"),
    ],
)
def test_a_replay_under_other_rules_of_reference_is_refused_by_name(project: Project, change: str, named: str) -> None:
    polled(project)
    manifest(project, [[f"c{place}", f"{place}.wav", f"S{place}"] for place in range(5)], "id,audio,speaker")
    project.run()
    run = project.run(f"--speval-replay={project.folder()}", f"--speval-set=voice.{change}")
    assert run.ret == 6
    run.stdout.fnmatch_lines([f"*{named}*question-differs*"])


def test_a_selection_takes_the_lowest_hashes_and_counts_the_others(project: Project) -> None:
    project.write(["yes"] * 6)
    rows = [[f"c{place}", f"{place}.wav", "test", f"S{place % 2}", "yes"] for place in range(6)]
    manifest(project, rows)
    suite(project, "select: {per_class: 2, per_speaker: 1, speakers: 2}")
    assert project.run().ret == 0
    ordered = sorted(range(6), key=lambda place: hashlib.sha256((project.path / f"{place}.wav").read_bytes()).digest())
    first = {f"S{who}": next(place for place in ordered if place % 2 == who) for who in (0, 1)}
    assert sorted(project.calls) == sorted(f"c{place}" for place in first.values())
    assert project.document()["counts"] == {
        "listed": 6, "planned": 2, "excluded": 4, "answered": 2, "abstained": 0, "failed": 0, "unknown": 0,
        "unattempted": 0, "quarantined": 0,
    }  # fmt: skip
    project.forget_calls()
    manifest(project, rows[::-1])
    assert project.run().ret == 0
    assert sorted(project.calls) == sorted(f"c{place}" for place in first.values())


def test_a_selection_that_cannot_be_filled_asks_nothing(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(["yes"] * 3)
    manifest(project, [[f"c{place}", f"{place}.wav", "test", "S1", "yes"] for place in range(3)])
    suite(project, "select: {per_class: 2, per_speaker: 1, speakers: 1}")
    run = project.run(*distributed)
    assert run.ret == 6
    assert project.calls == []
    findings = audits(project)["selection"]["findings"]
    assert [finding["severity"] for finding in findings] == ["error", "notice", "notice"]
    assert "1 of 2" in findings[0]["message"]
    assert "no selection" in findings[1]["message"].lower()


def test_a_shared_speaker_stops_the_suite_before_its_first_call(project: Project, distributed: tuple[str, ...]) -> None:
    leaking(project)
    run = project.run(*distributed)
    assert run.ret == 6
    assert project.calls == []
    run.stdout.fnmatch_lines(["error: 1 of 2 speakers, 1 of 2 clips also in train (test/c2) [[]speakers-shared[]]"])


def test_a_waiver_runs_and_stands_on_top_of_every_report(project: Project, distributed: tuple[str, ...]) -> None:
    leaking(project, "audit: {speakers: {waived: closed cast}}")
    run = project.run(*distributed)
    assert run.ret == 0, run.stdout
    told = "1 of 2 speakers, 1 of 2 clips also in train; waived: closed cast"
    run.stdout.fnmatch_lines([f"voice: audit[[]speakers[]] waived: {told}"])
    assert project.document()["notes"][0] == f"Waived: audit[speakers]: {told}."
    claims = {line["claim"]: line for line in project.document()["claims"]}
    assert claims["known-key separation"]["supported"] is False
    assert "closed cast" in claims["known-key separation"]["why"]


def test_a_check_that_is_left_out_is_said(project: Project) -> None:
    leaking(project, "audit: {speakers: unchecked}")
    assert project.run().ret == 0
    assert "speakers" not in audits(project)
    assert "Not checked: speakers (audit.speakers: unchecked)." in project.document()["notes"]


def test_a_check_with_nothing_to_compare_is_a_collection_error(project: Project) -> None:
    leaking(project, "audit: {sessions: disjoint}")
    run = project.run()
    assert run.ret == 2
    run.stdout.fnmatch_lines(["*audit.sessions: the clips have no column for session*nothing-to-compare*"])
    leaking(project, "audit: {speakers: disjoint}", corpus=", columns: {split: {is: test}}")
    run = project.run()
    assert run.ret == 2
    run.stdout.fnmatch_lines(["*audit.speakers: there is no other split and no inventory*nothing-to-compare*"])


def test_rows_of_an_evaluated_split_serve_the_audits_where_they_are_not_listed(project: Project) -> None:
    project.write(["yes"] * 3)
    manifest(
        project,
        [
            ["c0", "0.wav", "train", "S1", "yes", "m"],
            ["c1", "1.wav", "test", "S1", "yes", "f"],
            ["c2", "2.wav", "train", "S2", "yes", "f"],
        ],
        "id,audio,split,speaker,label,sex",
    )
    suite(project, "", corpus=", where: {sex: [f]}")
    assert project.run().ret == 6
    assert (
        audits(project)["speakers"]["findings"][0]["message"] == "1 of 1 speakers, 1 of 1 clips of test also in train"
    )


def test_clips_without_a_speaker_are_quarantined_when_the_suite_says_so(project: Project) -> None:
    project.write(["yes"] * 6)
    who = ["S1", "S2", "S3", "", "S9", "S8"]
    rows = [[f"c{n}", f"{n}.wav", "train" if n > 3 else "test", name, "yes"] for n, name in enumerate(who)]
    manifest(project, rows)
    suite(project, "", corpus=", where: {split: [test]}")
    assert project.run().ret == 6
    assert "disjointness is not proven" in audits(project)["speakers"]["findings"][0]["message"]
    suite(
        project,
        "audit: {unknown_speakers: quarantine}\nscore: {interval: {null_unit: singleton}}",
        corpus=", where: {split: [test]}",
    )
    assert project.run().ret == 0
    found = project.document()
    assert (found["counts"]["quarantined"], found["counts"]["planned"]) == (1, 4)
    assert found["metrics"]["accuracy"]["interval"]["clusters"] == 3, "a quarantined clip is no unit of its own"


def inventoried(project: Project) -> Path:
    project.write(["yes"] * 2)
    manifest(project, [[f"c{n}", f"{n}.wav", "test", f"S{n}", "yes"] for n in range(2)])
    inventory = project.path / "train.csv"
    inventory.write_text("speaker\nS7\n")
    suite(project, "audit: {against: {training: ../train.csv}}")
    assert project.run().ret == 0
    assert audits(project)["speakers"]["compared"] == ["training"]
    return inventory


def test_a_replay_needs_no_inventory_and_refuses_another_one(project: Project) -> None:
    inventory = inventoried(project)
    stored = project.folder()
    inventory.write_text("speaker\nS8\n")
    run = project.run(f"--speval-replay={stored}")
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*audit.against.training.sha256*question-differs*"])
    inventory.unlink()
    assert project.run(f"--speval-replay={stored}").ret == 0
    suite(project, "audit: {speakers: unchecked, against: {training: ../train.csv}}")
    assert project.run(f"--speval-replay={stored}").ret == 6


def test_a_missing_inventory_is_a_collection_error(project: Project) -> None:
    inventoried(project).unlink()
    run = project.run()
    assert run.ret == 2
    run.stdout.fnmatch_lines(["*train.csv*manifest-unreadable*"])


def test_a_needed_inventory_must_be_given_or_said_to_be_unavailable(project: Project) -> None:
    inventoried(project)
    suite(project, "audit: {against: {training: ../train.csv}, needs: [training, pretraining]}")
    run = project.run()
    assert run.ret == 2
    run.stdout.fnmatch_lines(["*audit.against does not say where the inventory `pretraining` is*"])
    suite(project, "audit: {against: {training: ../train.csv, pretraining: unavailable}, needs: [pretraining]}")
    assert project.run().ret == 0
    assert "inventory-unavailable" in {finding["code"] for finding in audits(project)["speakers"]["findings"]}


def test_an_independent_claim_without_a_readiness_file_fails_its_audit(project: Project) -> None:
    inventoried(project)
    suite(project, "claim: {level: independent}\naudit: {against: {training: ../train.csv}}")
    assert project.run().ret == 6
    assert [finding["code"] for finding in audits(project)["readiness"]["findings"]] == ["readiness-missing"]


def test_a_claim_is_narrowed_by_itself_and_never_raised_afterwards(project: Project) -> None:
    polled(project, "claim: {level: diagnostic}")
    project.run()
    stored = project.folder()
    suite(project, VOTES + "claim: {level: listener-labelled}")
    assert project.run(f"--speval-replay={stored}").ret == 0
    assert project.document()["claim"]["level"] == "diagnostic"
    project.write(["yes"] * 2)
    suite(project, "claim: {level: listener-labelled}")
    assert project.run().ret == 0
    found = project.document()
    assert (found["claim"]["level"], found["claimSupported"]) == ("listener-labelled", "diagnostic")
    assert any(note.startswith("Narrowed claim: listener-labelled declared") for note in found["notes"])


def test_a_near_copy_in_an_inventory_stops_the_suite(project: Project, distributed: tuple[str, ...]) -> None:
    voices = sorted((Path(__file__).parents[2] / "fixtures/prosody/clips").glob("*.flac"))[:3]
    project.write(["yes"] * 3)
    for place, voice in enumerate(voices):
        shutil.copy(voice, project.path / f"{place}.wav")
    manifest(project, [[f"c{n}", f"{n}.wav", "test", f"S{n}", "yes"] for n in range(3)])
    (project.path / "seen").mkdir()
    sound, rate = soundfile.read(voices[2], dtype="float32")
    soundfile.write(project.path / "seen/x.flac", 0.5 * sound[800:], rate)
    project.path.joinpath("seen/train.csv").write_text("id,audio\nx,x.flac\n")
    suite(project, "audit: {near: disjoint, speakers: unchecked, against: {training: ../seen/train.csv}}")
    run = project.run(*distributed)
    assert run.ret == 6
    assert project.calls == []
    run.stdout.fnmatch_lines(
        ["error: 1 of 3 clips of test are copies of sound in training (test/c2) [[]near-copies[]]"]
    )


@pytest.mark.parametrize("digest", [" " + "a" * 64, "sha256:" + "a" * 64, "a" * 63, "zz"])
@pytest.mark.parametrize("where", ["manifest", "inventory"])
def test_a_digest_that_is_none_is_a_collection_error_with_its_line(project: Project, digest: str, where: str) -> None:
    project.write(["yes"])
    said = {"manifest": "b" * 64, "inventory": "c" * 64} | {where: digest}
    manifest(project, [["c0", "test", "yes", said["manifest"]]], "id,split,label,bytes_sha256")
    (project.path / "train.csv").write_text(f"id,bytes_sha256\nx,{said['inventory']}\n")
    suite(project, "audit: {against: {training: ../train.csv}}")
    run = project.run()
    assert run.ret == 2
    run.stdout.fnmatch_lines(["*csv:2: bytes_sha256 * is not 64 hexadecimal digits*digest-malformed*"])


def test_a_selection_needs_sound(project: Project) -> None:
    project.write(["yes"] * 2)
    manifest(project, [[f"c{n}", "test", f"S{n}", "yes"] for n in range(2)], "id,split,speaker,label")
    suite(project, "select: {per_speaker: 1}")
    run = project.run()
    assert run.ret == 2
    run.stdout.fnmatch_lines(["*no column for audio*nothing-to-select*"])


def test_a_clip_that_cannot_be_heard_does_not_leave_by_way_of_a_selection(project: Project) -> None:
    project.write(["yes"] * 3)
    manifest(project, [[f"c{n}", f"{n}.wav", "test", f"S{n}", "yes"] for n in range(3)])
    (project.path / "1.wav").unlink()
    suite(project, "select: {speakers: 2}\nrun: {max_failed: 1}")
    assert project.run().ret == 6
    assert project.calls == []
    assert audits(project)["selection"]["findings"][0]["code"] == "selection-unheard"
    assert "selection" in project.document()["notes"][0]
    assert project.document()["counts"]["planned"] == 3
