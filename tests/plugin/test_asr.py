"""A suite of transcripts in whole sessions: recorded answers, replays under other rules for text, verification."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_speval.verify.verification import verify
from tests.plugin.conftest import Project, timeless, write_clip

MANIFEST = """\
id,transcript,speaker,accent
a,Please close the front door now,A,us
b,Yes,A,us
c,don’t stop,B,gb
d,red bus,C,gb
"""
ANSWERS = """\
id,text
a,Please close the front door now
b,No
c,don't stop there
d,
"""
SUITE = """\
task: asr
corpus: {{root: .., manifest: {manifest}, columns: {{cohorts: {{accent: accent}}}}}}
adapter: {{use: predictions, file: ../{answers}}}
text: {text}
score: {{cohorts: [accent], small_groups: {{min_clips: 1}}, interval: {{replicates: 50}}}}
gates: {gates}
"""
GATES = '{words: {metric: wer, max: 0.6, why: "As last year."}}'


def write(
    project: Project,
    manifest: str = MANIFEST,
    answers: str = ANSWERS,
    *,
    text: str = "{}",
    gates: str = GATES,
    names: tuple[str, str] = ("clips.csv", "heard.csv"),
) -> None:
    for name, content in zip(names, (manifest, answers), strict=True):
        (project.path / name).write_text(content)
    (project.path / "suites").mkdir(exist_ok=True)
    suite = SUITE.format(manifest=names[0], answers=names[1], text=text, gates=gates)
    (project.path / "suites/words.yaml").write_text(suite)


def rows(project: Project) -> dict[str, dict[str, Any]]:
    lines = (project.folder("words") / "clips.jsonl").read_text().splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


def codes(project: Project) -> list[str]:
    return [found.code for found in verify(project.folder("words"))]


def test_recorded_transcripts_are_counted_word_by_word(project: Project, distributed: tuple[str, ...]) -> None:
    write(project)
    run = project.run(*distributed)
    assert run.ret == 0, run.stdout
    document = project.document("words")
    assert (document["task"], document["headline"]) == ("asr", "wer")
    wer = document["metrics"]["wer"]
    assert (wer["numerator"], wer["denominator"], wer["unit"]) == (5, 11, "word")
    assert document["metrics"]["wer_clip_mean"]["value"] == (0 + 1 + 1 + 1) / 4
    assert document["metrics"]["wer_speaker_mean"]["value"] == pytest.approx((0.5 + 1 + 1) / 3)
    found = rows(project)
    assert {name: row["ops"] for name, row in found.items()} == {"a": "MMMMMM", "b": "S", "c": "SMI", "d": "DD"}
    assert found["c"]["raw"] == {"text": "don't stop there"}
    assert (found["d"]["status"], found["d"]["answer"], found["d"]["correct"]) == ("answered", "", False)
    told = document["transcription"]
    assert (told["referenceWords"], told["emptiedByNormalizer"], told["normalizer"]["name"]) == (11, 0, "none")
    assert told["confusions"]["substitutions"] == [
        {"reference": "Yes", "answer": "No", "count": 1}, {"reference": "don’t", "answer": "don't", "count": 1}
    ]  # fmt: skip
    groups = {group["group"]["value"]: group["metrics"]["wer"] for group in document["cohorts"]["accent"]}
    assert {name: (one["numerator"], one["denominator"]) for name, one in groups.items()} == {
        "gb": (4, 4), "us": (1, 7)
    }  # fmt: skip
    assert codes(project) == ["unsigned", "verified"]
    report = (project.folder("words") / "report.md").read_text()
    assert "## Words" in report
    assert "| Yes | No | 1 |" in report


def test_another_normalizer_under_replay_is_post_hoc(project: Project, distributed: tuple[str, ...]) -> None:
    write(project)
    project.run()
    stored = project.folder("words")
    (project.path / "clips.csv").unlink()
    run = project.run(f"--speval-replay={stored}", *distributed)
    assert run.ret == 0, run.stdout
    one, other = project.documents("words")
    assert timeless(one) == timeless(other)
    run = project.run(f"--speval-replay={stored}", "--speval-set", "words.text={normalizer: basic, case: lower}")
    assert run.ret == 0, run.stdout
    document = project.document("words")
    assert document["metrics"]["wer"]["numerator"] == 4, "one apostrophe is as good as the other"
    assert any("text.normalizer" in what for what in document["plan"]["postHoc"])
    assert any("text.sha256" in what for what in document["plan"]["postHoc"])
    assert rows(project)["c"]["raw"] == {"text": "don't stop there"}
    assert codes(project)[-1] == "verified"


def test_a_count_that_another_way_of_counting_does_not_find_gives_no_verdict(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project)
    run = project.run("-v")
    run.stdout.fnmatch_lines(["*::verify[[]wer[]] PASSED*", "*::gate[[]words[]] PASSED*"])
    monkeypatch.setattr("pytest_speval.tasks.asr.align", lambda said, heard: "D" * len(said) + "I" * len(heard))
    run = project.run()
    assert run.ret == 6
    run.stdout.fnmatch_lines(["verify wer of words: FAIL: 3 of 4 clips have other word errors*"])
    assert project.document("words")["gates"][0]["verdict"] == "invalid"
    assert any("verify[wer] failed" in note for note in project.document("words")["notes"])
    assert project.run("-k", "clip").ret == 6, "no selection leaves the second count out"


def test_recounts_run_on_the_controller(project: Project, distributed: tuple[str, ...]) -> None:
    write(project)
    run = project.run("-v", "-k", "verify or gate", *distributed)
    assert "verify[wer]" in str(run.stdout)
    assert run.ret == 6, "clips that were not selected are not attempted"


def test_against_text_made_by_a_model_nothing_is_called_wer(project: Project) -> None:
    write(project, text="{reference: model}")
    run = project.run()
    assert run.ret == 2
    run.stdout.fnmatch_lines(
        ["*gates.words.metric: no metric `wer`: against text made by a model it is agreement.wer*"]
    )
    write(project, text="{reference: model}", gates=GATES.replace("wer", "agreement.wer"))
    assert project.run().ret == 0
    document = project.document("words")
    assert document["headline"] == "agreement.wer"
    assert not [name for name in document["metrics"] if name.startswith(("wer", "cer", "answered_only.wer"))]
    assert "nothing of how right" in (project.folder("words") / "report.md").read_text()
    (project.path / "gates").mkdir()
    (project.path / "gates/release.yaml").write_text("gates: {more: {suite: words, metric: cer, max: 1, why: x}}")
    run = project.run()
    assert run.ret == 4
    assert "no metric `cer`: against text made by a model it is agreement.cer" in str(run.stderr) + str(run.stdout)


def test_distributed_text_has_no_agreement(project: Project) -> None:
    write(project, gates=GATES.replace("wer", "agreement.wer"))
    run = project.run()
    assert run.ret == 2
    run.stdout.fnmatch_lines(["*no metric `agreement.wer`*"])


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_an_empty_reference_must_be_allowed(project: Project, form: str) -> None:
    pairs = [("a", "good morning", "good morning"), ("b", "", "thank you")]
    if form == "csv":
        manifest = "id,transcript,accent\n" + "".join(f"{name},{said},us\n" for name, said, _ in pairs)
        answers = "id,text\n" + "".join(f"{name},{heard}\n" for name, _, heard in pairs)
    else:
        manifest = "\n".join(json.dumps({"id": name, "transcript": said, "accent": "us"}) for name, said, _ in pairs)
        answers = "\n".join(json.dumps({"id": name, "text": heard}) for name, _, heard in pairs)
    names = (f"clips.{form}", f"heard.{form}")
    gates = '{words: {metric: insertions_on_empty, max: 0, why: "Silence stays silent."}}'
    write(project, manifest, answers, names=names, gates=gates)
    run = project.run()
    assert run.ret == 2
    run.stdout.fnmatch_lines([f"*clips.{form}:{3 if form == 'csv' else 2}*the transcript has no word*"])
    write(project, manifest, answers, names=names, gates=gates, text="{empty: reference}")
    assert project.run().ret == 1
    document = project.document("words")
    assert document["metrics"]["wer"]["value"] == 1.0
    assert document["metrics"]["insertions_on_empty"]["value"] == 2
    assert document["transcription"]["referenceEmpty"] == 1
    stored = project.folder("words")
    run = project.run(f"--speval-replay={stored}", "--speval-set", "words.text.empty=error")
    assert run.ret == 2
    run.stdout.fnmatch_lines(["*plan.json*the transcript has no word*"])


def test_alternatives_in_references_are_refused(project: Project) -> None:
    write(project, MANIFEST.replace("red bus", "{ red / read } bus"))
    run = project.run()
    assert run.ret == 2
    run.stdout.fnmatch_lines(["*clips.csv:5: the transcript offers alternatives, `{ red / read }`*"])
    text = (project.path / "suites/words.yaml").read_text()
    (project.path / "suites/words.yaml").write_text(
        text.replace("corpus: {", "corpus: {exclude: {test/d: alternatives}, ")
    )
    assert project.run().ret == 0
    assert project.document("words")["metrics"]["wer"]["denominator"] == 9


def test_lost_clips_count_as_all_words_deleted(project: Project) -> None:
    write(project, answers=ANSWERS.replace("b,No\n", ""), gates="{}")
    project.run("--speval-set", "words.run.max_failed=1")
    document = project.document("words")
    assert document["metrics"]["wer"]["numerator"] == 5
    assert document["metrics"]["answered_only.wer"]["value"] == 4 / 10
    assert rows(project)["b"]["ops"] == "D"
    project.run("--speval-set", "words.run.missing=withhold")
    document = project.document("words")
    assert document["metrics"]["wer"]["reason"] == "3 of 4 answered"
    assert rows(project)["b"]["ops"] is None


def test_an_unknown_normalizer_and_a_section_out_of_place_are_refused(project: Project) -> None:
    write(project, text="{normalizer: englisch}")
    run = project.run()
    assert run.ret == 2
    run.stdout.fnmatch_lines(["*text.normalizer: *none*basic*english*"])
    project.write(["yes"], extra="text: {case: upper}")
    (project.path / "suites/words.yaml").unlink()
    run = project.run()
    assert run.ret == 2
    run.stdout.fnmatch_lines(["*text: the task emotion has no use for it*"])


ADAPTER = """
from pytest_speval import Transcript

class Ears:
    sample_rate = 16000

    def transcribe(self, pcm, sample_rate):
        return Transcript(("red bus", " Red\\tBUS ")[int(round(float(pcm[0]) * 32768)) - 100])

def pytest_speval_adapters():
    return {"ears": Ears}
"""


def test_a_model_that_hears(project: Project) -> None:
    for place in (0, 1):
        write_clip(project.path / f"{place}.wav", 100 + place)
    (project.path / "clips.csv").write_text("id,audio,transcript\na,0.wav,RED BUS\nb,1.wav,RED BUS\n")
    (project.path / "conftest.py").write_text(ADAPTER)
    (project.path / "suites").mkdir()
    (project.path / "suites/words.yaml").write_text(
        "task: asr\ncorpus: {root: .., manifest: clips.csv}\nadapter: {use: ears}\ntext: {case: upper}\n"
        "gates: {words: {metric: wer, max: 0, why: x}}\n"
    )
    run = project.run()
    assert run.ret == 0, run.stdout
    assert rows(project)["b"]["raw"] == {"text": " Red\tBUS "}
    assert rows(project)["b"]["answer"] == "RED BUS"
    assert codes(project)[-1] == "verified"
