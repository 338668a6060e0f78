"""Faults of files are told once, with their place, and nothing of a faulty suite runs."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.plugin.conftest import Project


def test_an_empty_manifest_is_a_collection_error(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(["yes"])
    (project.path / "clips.csv").write_text("id,label\n")
    result = project.run(*distributed)
    assert result.ret == 2
    result.stdout.fnmatch_lines(["*clips.csv: manifest has 0 rows*no-rows*"])


def test_a_missing_manifest_is_a_collection_error(project: Project) -> None:
    project.write(["yes"])
    (project.path / "clips.csv").unlink()
    result = project.run()
    assert result.ret == 2
    result.stdout.fnmatch_lines(["*clips.csv*manifest-unreadable*"])


def test_a_missing_root_fails_the_audit(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(["yes"])
    result = project.run(*distributed, "--speval-set", "voice.corpus.root=nowhere")
    assert result.ret == 6
    result.assert_outcomes(failed=2, passed=1)
    result.stdout.fnmatch_lines(["*corpus.root is *nowhere, which is no folder*"])


def test_two_unequal_rows_of_one_identity_are_refused_with_both_lines(
    project: Project, distributed: tuple[str, ...]
) -> None:
    project.write(["yes", "yes", "yes"])
    (project.path / "clips.csv").write_text("id,label,audio\nc0,yes,0.wav\nc1,yes,1.wav\nc0,no,0.wav\n")
    result = project.run(*distributed)
    assert result.ret == 2
    result.stdout.fnmatch_lines(["*clips.csv:4: `*c0` also stands on line 2*"])
    assert project.calls == []


def test_a_label_without_references_needs_a_rule(project: Project) -> None:
    project.write(["yes"] * 3)
    suite = project.path / "suites/voice.yaml"
    suite.write_text(suite.read_text().replace(", absent: zero", ""))
    result = project.run()
    assert result.ret == 2
    result.stdout.fnmatch_lines(["*no planned clip has no: say `labels.absent: zero` or `omit`*"])


def test_a_faulty_gate_file_is_a_usage_error(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(["yes"])
    (project.path / "gates").mkdir()
    (project.path / "gates/bad.yaml").write_text("gates:\n  f1: {suite: voice, metric: macro_f2, min: 0.5, why: x}\n")
    result = project.run(*distributed)
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*gates/bad.yaml:2:*did you mean `macro_f1`*"])


def test_a_gate_on_no_suite_is_a_usage_error(project: Project) -> None:
    project.write(["yes"])
    (project.path / "gates").mkdir()
    (project.path / "gates/bad.yaml").write_text("gates:\n  f1: {suite: vioce, metric: macro_f1, min: 0.5, why: x}\n")
    result = project.run()
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*no suite `vioce`*voice*"])


def test_a_gate_on_a_faulty_suite_is_told_by_the_suite(project: Project) -> None:
    project.write(["yes"])
    (project.path / "gates").mkdir()
    (project.path / "gates/all.yaml").write_text("gates:\n  f1: {suite: broken, metric: macro_f1, min: 0.5, why: x}\n")
    (project.path / "suites/broken.yaml").write_text("task: emotion\n")
    result = project.run()
    assert result.ret == 2
    result.stdout.fnmatch_lines(["*suites/broken.yaml*corpus*"])


def test_two_suites_of_one_name_are_a_usage_error(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(["yes"])
    (project.path / "suites/second.yaml").write_text(
        "suite: voice\n" + (project.path / "suites/voice.yaml").read_text()
    )
    result = project.run(*distributed)
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*suites/voice.yaml and suites/second.yaml are both the suite `voice`*"])


def test_an_adapter_offered_twice_is_a_usage_error(project: Project) -> None:
    project.write(["yes"])
    conftest = project.path / "conftest.py"
    conftest.write_text(
        conftest.read_text()
        + '\n_offer = pytest_speval_adapters\n\ndef pytest_speval_adapters():\n    return {"predictions": Counting}\n'
    )
    result = project.run()
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*`predictions` is offered twice*"])


def test_an_unknown_key_of_an_own_adapter_is_refused(project: Project) -> None:
    project.write(["yes"])
    suite = project.path / "suites/voice.yaml"
    suite.write_text(suite.read_text().replace("{use: counting}", "{use: counting, siad: x}"))
    result = project.run()
    assert result.ret == 2
    result.stdout.fnmatch_lines(["*adapter.siad: unknown key, did you mean `said`?*"])


def test_an_output_folder_that_is_a_file_is_a_usage_error(project: Project) -> None:
    project.write(["yes"])
    (project.path / "out").write_text("")
    result = project.run("--speval-out", "out")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--speval-out*out*no folder*"])


@pytest.mark.parametrize("name", ["gates/all.yml", "gates/all.YAML", "gates/sub/all.yaml", "suites/second.yml"])
def test_a_file_that_no_pattern_finds_is_a_usage_error(
    project: Project, distributed: tuple[str, ...], name: str
) -> None:
    project.write(["yes"])
    (project.path / "gates/sub").mkdir(parents=True)
    (project.path / name).write_text("gates: {}\n")
    result = project.run(*distributed)
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*{name} is not read: end its name in .yaml*"])


def test_a_folder_called_like_a_gate_file_is_a_usage_error(project: Project) -> None:
    project.write(["yes"])
    (project.path / "gates/all.yaml").mkdir(parents=True)
    result = project.run()
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*gates/all.yaml is not read: it is a folder*"])


def test_a_gate_file_that_is_a_link_to_nothing_is_a_usage_error(project: Project) -> None:
    project.write(["yes"])
    (project.path / "gates").mkdir()
    (project.path / "gates/all.yaml").symlink_to("elsewhere.yaml")
    result = project.run()
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*gates/all.yaml is a link that leads to no file*"])


def test_a_suite_whose_clips_are_all_excluded_measures_nothing(project: Project) -> None:
    project.write(["yes", "yes"], gates="")
    suite = project.path / "suites/voice.yaml"
    rule = "exclude_where: [{column: label, is: ['yes'], reason: none wanted}]"
    text = suite.read_text().replace("manifest: clips.csv}", f"manifest: clips.csv, {rule}}}")
    suite.write_text(text)
    result = project.run()
    assert result.ret == 6
    result.stdout.fnmatch_lines(["*none of 2 listed clips is planned: there is nothing to measure*"])


@pytest.mark.parametrize("name", ["speval_suites", "speval_gates"])
def test_a_pattern_that_fits_no_file_is_a_usage_error(project: Project, name: str) -> None:
    project.write(["no"])
    result = project.run("-o", f"{name}=elsewhere/*.yaml")
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*{name} is elsewhere/*pattern-empty*"])


def test_an_output_folder_cannot_hide_the_suites(project: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    project.write(["no"] * 4)
    out = tmp_path_factory.mktemp("out")
    result = project.run("--speval-out", str(out))
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*write --speval-out=*"])
    assert project.run(f"--speval-out={out}").ret == 1


def test_a_batch_has_items_that_can_hold_it(project: Project) -> None:
    project.write(["yes"] * 5, extra="run: {batch: 3}")
    listed = project.run("--collect-only", "-q").stdout.str()
    assert "clips[0..2]" in listed
    assert "clips[3..4]" in listed


def test_several_adapters_have_items_of_their_own(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(["yes", "no"], references=["yes", "no"])
    (project.path / "other.json").write_text('{"c0": "no", "c1": "no"}')
    suite = project.path / "suites/voice.yaml"
    text = suite.read_text().replace(
        "adapter: {use: counting}", "adapters: {good: {use: counting}, bad: {use: counting, said: other.json}}"
    )
    suite.write_text(text.replace("min: 0.5", "min: 0.9"))
    result = project.run(*distributed)
    assert result.ret == 1
    result.assert_outcomes(passed=9, failed=1)
    assert len(project.documents()) == 2
    result.stdout.fnmatch_lines(["*voice?good?*: pass*", "*voice?bad?*: fail*"])
    project.forget_calls()
    project.run(*distributed, "suites/voice.yaml::bad::clip[c1]", "--speval-partial").assert_outcomes(passed=1)
    assert project.calls == ["c1"]


def test_files_outside_the_suites_folder_are_not_ours(project: Project) -> None:
    project.write(["yes"])
    (project.path / "other.yaml").write_text("a: 1\n")
    assert project.run("other.yaml").ret == 4


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (
            "set: [neutral, joy, anger, surprise, sadness, disgust, fear]",
            {"macro_f1": 0.092824, "accuracy": 0.481226, "uar": 1 / 7, "macro_f1_supported": 0.092824},
        ),
        (
            "set: [happy, sad, angry, nervous, calm, excited, whisper]\n"
            "  reference: {anger: angry, disgust: angry, fear: nervous, joy: happy,\n"
            "              neutral: calm, sadness: sad, surprise: excited}\n"
            "  answers: {neutral: calm}\n"
            "  absent: zero",
            {"macro_f1": 0.092824, "accuracy": 0.481226, "macro_f1_supported": 0.108295},
        ),
    ],
    ids=["native", "tags"],
)
def test_meld_answered_neutral_throughout(
    project: Project, shared: Path, labels: str, expected: dict[str, float]
) -> None:
    manifest = shared / "data/meld/test_sent_emo.csv"
    with manifest.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with (project.path / "neutral.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "label"])
        table.writerows([[f"{row['Dialogue_ID']}_{row['Utterance_ID']}", "neutral"] for row in rows])
    (project.path / "suites").mkdir()
    (project.path / "suites/meld_neutral.yaml").write_text(
        "task: emotion\n"
        f"corpus:\n  root: {manifest.parent}\n  manifest: test_sent_emo.csv\n"
        "  columns: {id_from: [Dialogue_ID, Utterance_ID], label: Emotion, split: {is: test},\n"
        "            speaker: Speaker, session: [Season, Episode]}\n"
        f"labels:\n  {labels}\n"
        "adapter: {use: predictions, file: ../neutral.csv}\n"
    )
    result = project.run()
    assert result.ret == 0, result.stdout.str()
    document = project.document("meld_neutral")
    assert document["counts"]["planned"] == document["counts"]["answered"] == 2610
    for name, value in expected.items():
        assert document["metrics"][name]["value"] == pytest.approx(value, abs=5e-7)
    interval = document["metrics"]["macro_f1"]["interval"]
    assert interval["effective_clusters"] == pytest.approx(8.7, abs=0.05)
    assert interval["unreliable"] is True
    if "absent" in labels:
        assert document["ceiling"] == pytest.approx(6 / 7)
        assert "6/7" in document["notes"][0] or "0.857143" in " ".join(document["notes"])
