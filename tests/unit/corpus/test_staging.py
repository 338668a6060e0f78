"""From the keys of a suite to its clips, or to the reason why there are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from pytest_speval.adapters.registry import gather
from pytest_speval.audit.health import audit_corpus
from pytest_speval.corpus.contract import Contract
from pytest_speval.corpus.projections import NAMED, AxesProjection, NameProjection
from pytest_speval.corpus.staging import Staged, Unstaged, contract, label_rules, listing, stage
from pytest_speval.errors import FaultyFile, SpevalError
from pytest_speval.suite.load import load_suite
from pytest_speval.suite.suite import Suite
from pytest_speval.suite.vocabulary import Vocabulary
from pytest_speval.tasks.registry import TASKS

VOCABULARY = Vocabulary(
    tasks={name: task.word for name, task in TASKS.items()},
    adapters=gather()[1],
    projections={name: projection.labels for name, projection in NAMED.items()},
)
SET = ["happy", "sad"]


def suite_of(folder: Path, corpus: dict[str, Any], task: str = "emotion", **more: Any) -> Suite:
    keys = {
        "task": task,
        "corpus": {"root": "data", "manifest": "clips.csv"} | corpus,
        "adapter": {"use": "predictions", "file": "answers.csv"},
    }
    keys |= {"labels": {"set": SET, "absent": "omit"}} if task == "emotion" else {}
    path = folder / "mine.yaml"
    path.write_text(json.dumps(keys | more), encoding="utf-8")
    (folder / "data").mkdir(exist_ok=True)
    return load_suite(path, VOCABULARY)


def staged(suite: Suite, environ: dict[str, str] | None = None) -> Staged:
    found = stage(suite, VOCABULARY.tasks[suite.task], environ or {})
    assert isinstance(found, Staged)
    return found


def fault_of(suite: Suite, environ: dict[str, str] | None = None) -> tuple[str, int, str, str]:
    with pytest.raises(FaultyFile) as caught:
        stage(suite, VOCABULARY.tasks[suite.task], environ or {})
    (fault,) = caught.value.faults
    return fault.file, fault.line, fault.code, fault.message


def write(folder: Path, text: str, name: str = "clips.csv") -> None:
    (folder / "data" / name).write_text(text, encoding="utf-8")


# --- where the corpus lies


@pytest.mark.parametrize("environ", [{}, {"SPEVAL_MINE": ""}])
def test_a_corpus_whose_variable_is_unset_or_empty_is_not_staged(tmp_path: Path, environ: dict[str, str]) -> None:
    suite = suite_of(tmp_path, {"root": "${SPEVAL_MINE}/x"})
    assert stage(suite, VOCABULARY.tasks["emotion"], environ) == Unstaged(
        "not-staged", "the corpus is not staged: set SPEVAL_MINE to its folder"
    )


def test_a_root_that_is_named_and_no_folder_is_missing(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, {"root": "${SPEVAL_MINE}"})
    (tmp_path / "file").touch()
    for place in (tmp_path / "absent", tmp_path / "file"):
        found = stage(suite, VOCABULARY.tasks["emotion"], {"SPEVAL_MINE": str(place)})
        assert found == Unstaged("root-missing", f"corpus.root is {place}, which is no folder")


def test_a_root_is_relative_to_the_suite_or_is_its_folder(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, {})
    write(tmp_path, "id,label\na,happy\n")
    assert staged(suite).root == tmp_path / "data"
    (tmp_path / "clips.csv").write_text("id,label\nb,sad\n", encoding="utf-8")
    alone = json.loads((tmp_path / "mine.yaml").read_text(encoding="utf-8"))
    del alone["corpus"]["root"]
    (tmp_path / "mine.yaml").write_text(json.dumps(alone), encoding="utf-8")
    assert staged(load_suite(tmp_path / "mine.yaml", VOCABULARY)).clips.ids == ["b"]


def test_a_missing_manifest_under_an_existing_root_is_a_fault(tmp_path: Path) -> None:
    file, line, code, message = fault_of(suite_of(tmp_path, {}))
    assert (file, line, code) == ("clips.csv", 0, "manifest-unreadable")
    assert message == "cannot be read: No such file or directory"


def test_h71_a_manifest_outside_its_root_is_refused_unopened(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, {"manifest": "../clips.csv"})
    (tmp_path / "clips.csv").write_text("id,label\na,happy\n", encoding="utf-8")
    assert fault_of(suite)[:3] == ("../clips.csv", 0, "path-outside-root")
    suite = suite_of(tmp_path, {"manifest": "link.csv"})
    (tmp_path / "data" / "link.csv").symlink_to(tmp_path / "clips.csv")
    assert fault_of(suite)[:3] == ("link.csv", 0, "path-outside-root")


def test_a_changed_manifest_is_a_fault(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, {"sha256": "0" * 64})
    write(tmp_path, "id,label\na,happy\n")
    assert fault_of(suite)[1:3] == (0, "manifest-changed")


def test_variables_are_filled_in_wherever_a_path_is_said(tmp_path: Path) -> None:
    suite = suite_of(
        tmp_path,
        {"root": "${HOME_OF}", "manifest": "${PART}.csv", "columns": {"audio_from": "${PART}/{id}.wav"}},
    )
    write(tmp_path, "id,label\na,happy\n", "dev.csv")
    environ = {"HOME_OF": str(tmp_path / "data"), "PART": "dev"}
    assert staged(suite, environ).clips.audio == ["dev/a.wav"]
    with pytest.raises(SpevalError, match="PART is not set") as caught:
        stage(suite, VOCABULARY.tasks["emotion"], {"HOME_OF": str(tmp_path / "data")})
    assert caught.value.code == "unset-variable"


# --- roles


def test_a_role_takes_the_column_of_its_own_name_where_there_is_one(tmp_path: Path) -> None:
    write_to = suite_of(tmp_path, {"columns": {"speaker": ["who", "site"]}})
    write(tmp_path, "id,label,split,speaker,who,site,audio,session,note\na,happy,dev,s,w,x,a.wav,1,n\n")
    clips = staged(write_to).clips
    assert clips.name(0) == "dev/a"
    assert clips.audio == ["a.wav"]
    assert dict(clips.cells) == {"speaker": [("w", "x")], "label": ["happy"], "session": ["1"]}


def test_rivals_of_a_role_keep_it_from_the_column_of_its_own_name(tmp_path: Path) -> None:
    suite = suite_of(
        tmp_path,
        {"columns": {"id_from": ["d", "u"], "audio_from": "{d}.wav", "split": {"is": "test"}}},
    )
    write(tmp_path, "id,audio,split,d,u,label\nx,y.wav,train,1,2,sad\n")
    clips = staged(suite).clips
    assert (clips.name(0), clips.audio) == ("test/1_2", ["1.wav"])


def test_a_suite_without_an_id_column_is_told_how_to_name_one(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, {})
    write(tmp_path, "clip,label\na,happy\n")
    assert fault_of(suite) == (
        "clips.csv",
        0,
        "column-missing",
        "no column `id`: name one in `corpus.columns.id`, or several in `id_from`",
    )


def test_a_task_without_its_column_is_told_which(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, {})
    write(tmp_path, "id,emotion\na,happy\n")
    assert fault_of(suite) == (
        "clips.csv",
        0,
        "column-missing",
        "the task emotion needs a column for label: see `corpus.columns`",
    )


def test_a_row_without_the_cell_of_its_task_is_a_fault_of_its_line(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, {})
    write(tmp_path, "id,label\na,happy\nb,\n")
    assert fault_of(suite) == ("clips.csv", 3, "cell-missing", "no label")


def test_a_label_that_no_planned_clip_has_must_be_ruled_on(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, {"exclude": {"test/b": "mis-cut"}}, labels={"set": SET})
    write(tmp_path, "id,label\na,happy\nb,sad\n")
    assert fault_of(suite) == (
        "clips.csv",
        0,
        "absent-undeclared",
        "no planned clip has sad: say `labels.absent: zero` or `omit`, or shorten `labels.set`",
    )
    write(tmp_path, "id,label\na,happy\nb,sad\nc,sad\n")
    assert len(staged(suite).clips.planned) == 2


def test_numbers_of_json_lines_stand_in_columns_of_numbers(tmp_path: Path) -> None:
    record = '{"id": "a", "label": "happy", "seconds": 2.50, "votes": 3}\n'
    write_to = suite_of(tmp_path, {"manifest": "clips.jsonl"})
    write(tmp_path, record, "clips.jsonl")
    assert staged(write_to).clips.cells["seconds"] == ["2.50"]
    write_to = suite_of(tmp_path, {"manifest": "clips.jsonl", "columns": {"seconds": "votes"}})
    assert staged(write_to).clips.cells["seconds"] == ["3"]
    write_to = suite_of(tmp_path, {"manifest": "clips.jsonl", "columns": {"speaker": "votes"}})
    assert fault_of(write_to) == (
        "clips.jsonl",
        1,
        "cell-type",
        "`votes` is the number 3 where a string is wanted; quote it",
    )


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ('"id": 7, "seconds": 1', "`id` is the number 7 where a string is wanted; quote it"),
        ('"id": "a", "seconds": true', "`seconds` is true where a number is wanted"),
        ('"id": "a", "speaker": ""', "`speaker` is an empty string; write null for a missing cell"),
    ],
)
def test_roles_by_their_own_name_hold_what_their_role_wants(tmp_path: Path, cells: str, message: str) -> None:
    suite = suite_of(tmp_path, {"manifest": "clips.jsonl"})
    write(tmp_path, f'{{"label": "happy", {cells}}}', "clips.jsonl")
    assert fault_of(suite) == ("clips.jsonl", 1, "cell-type", message)


def test_axes_are_held_to_their_declared_range(tmp_path: Path) -> None:
    columns = {"valence": {"column": "v", "range": [1, 5]}}
    suite = suite_of(tmp_path, {"columns": columns}, task="affect", adapter={
        "use": "vad-onnx", "model": "m.onnx", "outputs": ["valence", "arousal", "dominance"],
    })  # fmt: skip
    write(tmp_path, "id,audio,v\na,a.wav,1\nb,b.wav,5\n")
    assert staged(suite).clips.cells["valence"] == ["1", "5"]
    write(tmp_path, "id,audio,v\na,a.wav,1\nb,b.wav,5.5\n")
    assert fault_of(suite) == ("clips.csv", 3, "number-expected", "valence `5.5` is not a number from 1 to 5")


def test_the_format_reaches_the_reader(tmp_path: Path) -> None:
    form = {
        "delimiter": "|",
        "quoting": "none",
        "encoding": "cp1252",
        "na": ["?"],
        "header": False,
        "names": ["id", "label", "speaker"],
    }
    suite = suite_of(tmp_path, {"format": form})
    (tmp_path / "data" / "clips.csv").write_bytes(b'a|happy|"J\xf6rg\nb|sad|?\n')
    clips = staged(suite).clips
    assert (clips.ids, clips.cells["speaker"]) == (["a", "b"], ['"J\xf6rg', None])


def test_where_and_exclusions_reach_the_listing(tmp_path: Path) -> None:
    rules = {
        "where": {"split": ["test"]},
        "exclude": {"test/b": "mis-cut"},
        "exclude_where": [{"column": "fake", "is": ["yes"], "reason": "synthetic"}],
    }
    suite = suite_of(tmp_path, rules, labels={"set": SET, "drop": ["xxx"], "absent": "zero"})
    write(
        tmp_path,
        "id,split,label,fake\na,test,happy,no\nb,test,sad,no\nc,test,sad,yes\nd,test,xxx,no\ne,train,sad,no\n",
    )
    clips = staged(suite).clips
    assert clips.excluded == [None, "mis-cut", "synthetic", "label xxx is dropped"]
    assert len(clips.identities) == 5


def test_without_names_of_columns_only_written_roles_remain(tmp_path: Path) -> None:
    keys = suite_of(tmp_path, {"columns": {"label": "emotion"}}).keys.corpus
    assert listing(keys, (), {}).roles == {"label": ("emotion",)}
    assert listing(keys, ("id", "label", "other"), {}).roles == {"label": ("emotion",), "id": ("id",)}


# --- labels and the audio contract


def test_the_projection_of_a_suite_is_named_or_its_own(tmp_path: Path) -> None:
    def projection(written: Any, names: list[str]) -> object:
        rules = label_rules(suite_of(tmp_path, {}, labels={"set": names, "projection": written}).keys.labels)
        assert rules is not None
        return rules.projection

    assert projection("vad-7", list(NAMED["vad-7"].labels)) is NAMED["vad-7"]
    assert projection({"joy": "happy"}, SET) == NameProjection("names", {"joy": "happy"})
    own = projection({"axes": ["arousal", "valence"], "rows": {"happy": [1, 2], "sad": [0, -2]}}, SET)
    assert isinstance(own, AxesProjection)
    assert own.scores(0.75, 0.6, 0.5) == pytest.approx({"happy": 0.6, "sad": 0.0})
    assert own.abstain_below == 0.0
    assert label_rules(None) is None


def test_the_contract_takes_the_rate_of_the_adapter_where_the_suite_has_none(tmp_path: Path) -> None:
    audio = {"seconds": [0.2, 60], "short": "pad", "channel": "mean", "subtype": "PCM_16", "resample": True}
    keys = suite_of(tmp_path, {"audio": audio}).keys.corpus.audio
    assert contract(keys, 16000) == Contract(
        16000, resample=True, channel="mean", subtype="PCM_16", seconds=(0.2, 60.0), short="pad"
    )
    assert contract(keys, None).rate is None
    keys = suite_of(tmp_path, {"audio": {"rate": 8000}}).keys.corpus.audio
    assert contract(keys, 16000).rate == 8000


# --- links (H71)


def test_h71_a_link_that_leaves_the_root_is_found_by_the_audit_and_not_opened(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, {})
    write(tmp_path, "id,label,audio\na,happy,a.wav\nb,sad,b.wav\n")
    tone = np.sin(np.arange(1600) / 5).astype(np.float32) / 2
    soundfile.write(tmp_path / "outside.wav", tone, 16000)
    soundfile.write(tmp_path / "data" / "a.wav", tone / 2, 16000)
    (tmp_path / "data" / "b.wav").symlink_to(tmp_path / "outside.wav")
    found = staged(suite)
    health = audit_corpus(found.root, found.clips, Contract(), 0)
    (finding,) = health.audit.findings
    assert (finding.severity, finding.code, finding.clips) == ("error", "path-outside-root", ("b",))
    assert (health.bytes_sha256[1], health.frames[1]) == (None, None), "nothing of it is told"


# --- real data


@pytest.mark.realdata
def test_h39_the_bundled_meld_suite_lists_its_2610_clips_and_plans_2608(shared: Path) -> None:
    suites = Path(__file__).resolve().parents[3] / "suites"
    suite = load_suite(suites / "meld.yaml", VOCABULARY)
    clips = staged(suite, {"SPEVAL_MELD": str(shared / "data/meld")}).clips
    assert (len(clips), len(clips.planned)) == (2610, 2608)
    assert clips.name(0) == "test/0_0"
    assert clips.audio is not None
    assert clips.audio[0].endswith("dia0_utt0.wav")


def test_attempts_are_clips_of_their_own_and_need_a_reason(tmp_path: Path) -> None:
    content = "id,label,attempt,try\na,happy,1,x\na,happy,2,x\n"
    suite = suite_of(tmp_path, {"sampling": "Every prompt was read twice."}, labels={"set": SET, "absent": "omit"})
    write(tmp_path, content)
    assert staged(suite).clips.ids == ["a_1", "a_2"]
    assert fault_of(suite_of(tmp_path, {}))[2:] == (
        "sampling-missing",
        "the column `attempt` counts attempts: say why in `corpus.sampling`",
    )
    assert fault_of(suite_of(tmp_path, {"columns": {"attempt": "try"}, "sampling": "Twice."}))[2] == (
        "conflicting-identity"
    )
