"""Recorded answers are matched by identity, and read as they are written."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.adapters.base import EmotionRead, Recorded, Roll, Transcript, Vad
from pytest_speval.adapters.predictions import PredictionColumns, PredictionKeys, Predictions
from pytest_speval.corpus.labels import ABSTAINED, LabelRules
from pytest_speval.errors import AdapterFault, AnswerFault
from pytest_speval.suite.corpus_keys import Format, Style
from pytest_speval.tasks.emotion_answer import record_emotion

SCORES = PredictionColumns(scores={"happy": "p_happy", "sad": "p_sad"})


def recorded(folder: Path, text: str, name: str = "answers.csv", /, **columns: Any) -> Predictions:
    (folder / name).write_text(text, encoding="utf-8")
    adapter = Predictions(folder / name, PredictionColumns(**columns) if columns else None)
    adapter.warm_up()
    return adapter


def refused(folder: Path, text: str, name: str = "answers.csv", /, **columns: Any) -> tuple[str, str]:
    with pytest.raises(AdapterFault) as caught:
        recorded(folder, text, name, **columns)
    return caught.value.code, caught.value.message


def roll(every: Sequence[tuple[str, str]], planned: Sequence[tuple[str, str]] | None = None) -> Roll:
    return Roll(frozenset(every), list(every), list(every if planned is None else planned))


# --- identity (H41, H42)


def test_h41_one_id_in_two_splits_is_two_answers(tmp_path: Path) -> None:
    adapter = recorded(tmp_path, "split,id,label\ntrain,dia0_utt0,happy\ntest,dia0_utt0,sad\n")
    assert isinstance(adapter, Recorded)
    assert adapter.recall("train", "dia0_utt0") == EmotionRead("happy")
    assert adapter.recall("test", "dia0_utt0") == EmotionRead("sad")


def test_h42_another_order_of_the_rows_gives_the_same_answers(tmp_path: Path) -> None:
    rows = ["a,happy", "b,sad", "c,calm"]
    for order in (rows, rows[::-1]):
        adapter = recorded(tmp_path, "\n".join(["id,label", *order]))
        assert [adapter.recall("test", name) for name in "abc"] == [*map(EmotionRead, ("happy", "sad", "calm"))]


def test_without_a_split_column_answers_are_asked_by_id_alone(tmp_path: Path) -> None:
    adapter = recorded(tmp_path, "id,label\na,happy\n")
    assert adapter.recall("test", "a") == adapter.recall("dev", "a") == EmotionRead("happy")


def test_answers_by_id_need_ids_that_no_two_listed_clips_share(tmp_path: Path) -> None:
    adapter = recorded(tmp_path, "id,label\na,happy\n")
    assert adapter.compare(roll([("test", "a"), ("dev", "b")])) == []
    with pytest.raises(AdapterFault) as caught:
        adapter.compare(roll([("test", "a"), ("dev", "a")]))
    assert caught.value.code == "predictions-ambiguous"
    assert caught.value.message == "answers.csv has no column `split`, yet `a` is in several splits"


def test_an_id_that_only_unlisted_rows_repeat_is_not_ambiguous(tmp_path: Path) -> None:
    adapter = recorded(tmp_path, "id,label\na,happy\n")
    every = [("test", "a"), ("dev", "a")]
    assert adapter.compare(Roll(frozenset(every), [("test", "a")], [("test", "a")])) == []


def test_two_answers_of_one_identity_are_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, "id,label\na,happy\nb,sad\nb,sad\n") == (
        "predictions-repeated",
        "answers.csv has 2 rows for b, on lines 3 and 4",
    )
    assert refused(tmp_path, "split,id,label\ntest,b,x\ndev,b,x\ntest,b,y\n") == (
        "predictions-repeated",
        "answers.csv has 2 rows for test/b, on lines 2 and 4",
    )


def test_a_planned_clip_without_a_row_has_no_answer(tmp_path: Path) -> None:
    adapter = recorded(tmp_path, "id,label\na,happy\n")
    with pytest.raises(AnswerFault) as caught:
        adapter.recall("test", "b")
    assert (caught.value.code, caught.value.message) == ("no-answer", "answers.csv has no row for test/b")


def test_rows_of_clips_that_are_not_planned_are_counted(tmp_path: Path) -> None:
    adapter = recorded(tmp_path, "id,label\na,happy\nb,sad\nc,sad\n")
    every = [("test", name) for name in "abc"]
    assert adapter.compare(roll(every)) == []
    assert adapter.compare(roll(every, planned=every[:1])) == [
        ("predictions-spare", "2 rows of answers.csv belong to clips that are not planned")
    ]


@pytest.mark.parametrize("split", ["", "test"])
def test_h02_rows_with_an_id_that_no_manifest_row_has_are_an_error(tmp_path: Path, split: str) -> None:
    head, cell = ("split,", f"{split},") if split else ("", "")
    rows = "".join(f"{cell}{name},happy\n" for name in ("a", "z3", "z1"))
    adapter = recorded(tmp_path, f"{head}id,label\n{rows}")
    with pytest.raises(AdapterFault) as caught:
        adapter.compare(roll([("test", "a")]))
    assert caught.value.code == "predictions-unknown-clip"
    assert caught.value.message == "2 rows of answers.csv have an id that no manifest row has: z1, z3"


def test_an_id_of_another_split_is_unknown(tmp_path: Path) -> None:
    adapter = recorded(tmp_path, "split,id,label\ndev,a,happy\n")
    with pytest.raises(AdapterFault, match="an id that no manifest row has: a"):
        adapter.compare(roll([("test", "a")]))


@pytest.mark.parametrize("text", ["", "id,label\n", "split,id,label\n"])
def test_an_empty_file_is_legal_and_answers_nothing(tmp_path: Path, text: str) -> None:
    adapter = recorded(tmp_path, text)
    assert adapter.compare(roll([("test", "a"), ("dev", "a")])) == []
    with pytest.raises(AnswerFault, match="has no row for test/a"):
        adapter.recall("test", "a")


# --- answers


def test_an_empty_label_abstains(tmp_path: Path) -> None:
    texts = {
        "answers.csv": "id,label\na,\nb,NA\n",
        "answers.jsonl": '{"id": "a", "label": ""}\n{"id": "b", "label": "NA"}\n{"id": "c", "label": null}\n',
    }
    for name, text in texts.items():
        adapter = recorded(tmp_path, text, name)
        assert adapter.recall("test", "a") == EmotionRead()
        assert adapter.recall("test", "b") == EmotionRead("NA"), "a word is a label"
    assert adapter.recall("test", "c") == EmotionRead()
    answer, _ = record_emotion(adapter.recall("test", "a"))
    assert LabelRules(("happy",)).read(answer) == ABSTAINED


def test_texts_are_transcripts_and_an_empty_one_is_an_answer(tmp_path: Path) -> None:
    texts = {
        "answers.csv": 'id,text\na,"red\tbus, NA"\nb,\n',
        "answers.jsonl": '{"id": "a", "text": "red\\tbus, NA"}\n{"id": "b", "text": ""}\n{"id": "c", "text": null}\n',
    }
    for name, text in texts.items():
        adapter = recorded(tmp_path, text, name)
        assert adapter.recall("test", "a") == Transcript("red\tbus, NA")
        assert adapter.recall("test", "b") == Transcript("")
    with pytest.raises(AnswerFault, match="the row has no text") as caught:
        adapter.recall("test", "c")
    assert caught.value.code == "no-answer"


def test_a_text_beside_a_label_is_an_answer_only_where_it_is_named(tmp_path: Path) -> None:
    said = "id,text,label\na,red bus,happy\n"
    assert recorded(tmp_path, said).recall("test", "a") == EmotionRead("happy")
    assert recorded(tmp_path, said, text="text").recall("test", "a") == Transcript("red bus")
    other = recorded(tmp_path, "id,heard\na,red bus\n", text="heard")
    assert other.recall("test", "a") == Transcript("red bus")
    assert (
        refused(tmp_path, "id,label\na,x\n", text="heard")[1]
        == "answers.csv has no column `heard`; its columns are id, label"
    )


def test_a_text_that_is_no_string_is_refused(tmp_path: Path) -> None:
    code, message = refused(tmp_path, '{"id": "a", "text": 36}', "answers.jsonl")
    assert code == "predictions-unusable"
    assert "`text` is the number 36 where a string is wanted" in message


def test_axes_and_scores_are_numbers_of_their_columns(tmp_path: Path) -> None:
    adapter = recorded(tmp_path, "id,d,v,a\nx,0.3,0.1,0.2\ny,,,\n", valence="v", arousal="a", dominance="d")
    assert adapter.recall("test", "x") == EmotionRead(vad=Vad(0.1, 0.2, 0.3))
    assert adapter.recall("test", "y") == EmotionRead()
    adapter = recorded(tmp_path, "id,p_sad,p_happy\nx,1e-3,0\ny,,\n", scores=SCORES.scores)
    assert adapter.recall("test", "x") == EmotionRead(scores={"happy": 0.0, "sad": 0.001})
    assert adapter.recall("test", "y") == EmotionRead()


def test_numbers_of_json_lines_are_numbers_in_any_named_column(tmp_path: Path) -> None:
    record = {"id": "x", "v": 0.25, "a": "0.5", "d": 1, "p": 0.75, "latency": 12.5, "top": ["happy"]}
    columns = {"valence": "v", "arousal": "a", "dominance": "d", "scores": {"happy": "p"}}
    adapter = recorded(tmp_path, json.dumps(record), "answers.jsonl", **columns)
    assert adapter.recall("test", "x") == EmotionRead(scores={"happy": 0.75}, vad=Vad(0.25, 0.5, 1.0))


@pytest.mark.parametrize(("cell", "said"), [("true", "true"), ('["a"]', '["a"]'), ('""', ""), ("null", "")])
def test_a_value_of_json_lines_that_is_no_number_is_an_invalid_answer(tmp_path: Path, cell: str, said: str) -> None:
    adapter = recorded(
        tmp_path, f'{{"id": "x", "p_happy": 0.5, "p_sad": {cell}}}', "answers.jsonl", scores=SCORES.scores
    )
    with pytest.raises(AnswerFault) as caught:
        adapter.recall("test", "x")
    assert (caught.value.code, caught.value.message) == ("invalid-answer", f"`{said}` is not a number")


@pytest.mark.parametrize("cell", ["high", "0,5", "", "1_0", "٣", "０.5"])
def test_a_cell_that_is_no_number_is_an_invalid_answer_of_its_clip_alone(tmp_path: Path, cell: str) -> None:
    text = f'id,p_happy,p_sad\nx,0.5,"{cell}"\ny,0.5,0.4\n'
    adapter = recorded(tmp_path, text, scores=SCORES.scores)
    with pytest.raises(AnswerFault) as caught:
        adapter.recall("test", "x")
    assert (caught.value.code, caught.value.message) == ("invalid-answer", f"`{cell}` is not a number")
    assert adapter.recall("test", "y") == EmotionRead(scores={"happy": 0.5, "sad": 0.4})


@pytest.mark.parametrize("cell", ["nan", "inf", "-inf", "1e999"])
def test_h37_a_recorded_score_that_is_not_finite_is_no_answer(tmp_path: Path, cell: str) -> None:
    adapter = recorded(tmp_path, f"id,p_happy,p_sad\nx,0.9,{cell}\n", scores=SCORES.scores)
    with pytest.raises(AnswerFault, match="it must be a finite number") as caught:
        record_emotion(adapter.recall("test", "x"))
    assert caught.value.code == "invalid-answer"


@pytest.mark.parametrize("cell", ["1_0", "٣", "three"])
def test_a_number_is_read_alike_in_every_column(tmp_path: Path, cell: str) -> None:
    axes = {"valence": "v", "arousal": "a", "dominance": "d"}
    files: list[tuple[str, dict[str, Any]]] = [
        (f"id,value\nx,{cell}\n", {}),
        (f"id,value,p\nx,3,{cell}\n", {"value": "value", "scores": {"other": "p"}}),
        (f"id,v,a,d\nx,0.5,{cell},0.5\n", axes),
    ]
    for text, columns in files:
        with pytest.raises(AnswerFault) as caught:
            recorded(tmp_path, text, **columns).recall("test", "x")
        assert (caught.value.code, caught.value.message) == ("invalid-answer", f"`{cell}` is not a number")


# --- references are no answers


def manifest_roll(manifest: Path, references: dict[str, str]) -> Roll:
    every, digest = frozenset({("test", "x")}), hashlib.sha256(manifest.read_bytes()).hexdigest()
    return Roll(every, [*every], [*every], manifest, digest, references)


@pytest.mark.parametrize(
    ("text", "columns", "role", "column"),
    [
        ("id,text\nx,red bus\n", {}, "transcript", "text"),
        ("id,words,heard\nx,red bus,red\n", {"text": "words"}, "transcript", "words"),
        ("id,label\nx,happy\n", {}, "label", "label"),
        ("id,mos,value\nx,3.5,3.4\n", {"value": "mos"}, "rating", "mos"),
        ("id,v,arousal,d\nx,1,1,1\n", {"valence": "v", "dominance": "d"}, "dominance", "d"),
    ],
)
def test_a_column_of_references_holds_no_answers(
    tmp_path: Path, text: str, columns: dict[str, Any], role: str, column: str
) -> None:
    adapter = recorded(tmp_path, text, **columns)
    same = manifest_roll(tmp_path / "answers.csv", {role: column})
    with pytest.raises(AdapterFault) as caught:
        adapter.compare(same)
    assert caught.value.code == "predictions-references"
    assert f"`{column}` of answers.csv holds the references" in caught.value.message
    assert adapter.compare(replace(same, references={role: "another"})) == []
    link, copy, other = (tmp_path / name for name in ("link.csv", "copy.csv", "other.csv"))
    link.symlink_to("answers.csv")
    with pytest.raises(AdapterFault, match="holds the references"):
        adapter.compare(replace(same, manifest=link))
    copy.write_text(text)
    ((code, notice),) = adapter.compare(replace(same, manifest=copy))
    assert code == "predictions-copy"
    assert notice.startswith("answers.csv is byte for byte the manifest")
    other.write_text(text + "\n")
    assert adapter.compare(manifest_roll(other, {role: column})) == []


def test_a_reference_that_is_not_taken_for_an_answer_may_stand_beside_it(tmp_path: Path) -> None:
    text = "id,text,label\nx,red bus,happy\n"
    adapter, roll = recorded(tmp_path, text), manifest_roll(tmp_path / "answers.csv", {"transcript": "text"})
    assert adapter.compare(roll) == []
    with pytest.raises(AdapterFault, match=r"say `columns: \{text: …\}` for the column of the answers, or give"):
        recorded(tmp_path, text, text="text").compare(roll)


# --- files


def test_a_file_that_is_not_there_is_named_when_it_is_read(tmp_path: Path) -> None:
    adapter = Predictions(tmp_path / "absent.csv")
    with pytest.raises(AdapterFault) as caught:
        adapter.warm_up()
    assert caught.value.code == "predictions-unusable"
    assert caught.value.message == f"no file {tmp_path / 'absent.csv'}: it should hold the recorded answers"
    assert adapter.identity().files == (tmp_path / "absent.csv",)


@pytest.mark.parametrize(
    ("text", "columns", "missing"),
    [
        ("clip,label\na,x\n", {}, "id"),
        ("id,label\na,x\n", {"scores": {"happy": "p_happy"}}, "p_happy"),
        ("id,valence,arousal\na,1,1\n", {"dominance": "dom"}, "dom"),
        ("id,label\na,x\n", {"split": "part"}, "part"),
        ("id,label,v\na,x,1\n", {"label": "emotion", "valence": "v"}, "emotion"),
    ],
)
def test_a_column_that_is_named_or_needed_must_be_there(
    tmp_path: Path, text: str, columns: dict[str, Any], missing: str
) -> None:
    code, message = refused(tmp_path, text, **columns)
    assert code == "predictions-unusable"
    head = ", ".join(text.split("\n")[0].split(","))
    assert message == f"answers.csv has no column `{missing}`; its columns are {head}"


def test_a_file_without_any_answers_says_where_they_could_be(tmp_path: Path) -> None:
    code, message = refused(tmp_path, "id,words\na,x\n")
    assert code == "predictions-unusable"
    assert "no column of answers (label, valence, arousal, dominance, text, value)" in message
    assert message.endswith("its columns are id, words: say in `columns` which one holds the answers")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("answers.csv", "id,label\na\n", "answers.csv:2: 1 cells where the header has 2"),
        ("answers.jsonl", '{"id": 7, "label": "x"}', "answers.jsonl:1: `id` is the number 7"),
        ("answers.jsonl", "nope", "answers.jsonl:1: not a JSON object"),
        ("answers.txt", "id,label\na,x\n", "the ending must be one of"),
    ],
)
def test_a_file_that_cannot_be_read_says_where(tmp_path: Path, name: str, text: str, said: str) -> None:
    code, message = refused(tmp_path, text, name)
    assert code == "predictions-unusable"
    assert said in message


def test_keys_are_strict() -> None:
    assert PredictionKeys(file=Path("a.csv")).columns == PredictionColumns()
    for wrong in ({}, {"file": "a.csv"}, {"file": Path("a.csv"), "colums": {}}):
        with pytest.raises(ValueError, match="validation error"):
            PredictionKeys.model_validate(wrong)


# --- laws

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff"), min_size=1, max_size=5)


@given(
    st.dictionaries(st.tuples(st.sampled_from(["dev", "test"]), NAMES), NAMES, min_size=1, max_size=8),
    st.data(),
)
def test_every_answer_is_recalled_under_its_identity_and_no_other(
    tmp_path_factory: pytest.TempPathFactory, answers: dict[tuple[str, str], str], data: st.DataObject
) -> None:
    rows = data.draw(st.permutations(list(answers.items())))
    text = "\n".join(json.dumps({"split": split, "id": name, "label": label}) for (split, name), label in rows)
    adapter = recorded(tmp_path_factory.getbasetemp(), text, "answers.jsonl")
    for (split, name), label in answers.items():
        assert adapter.recall(split, name) == EmotionRead(label or None)
        other = "dev" if split == "test" else "test"
        if (other, name) not in answers:
            with pytest.raises(AnswerFault):
                adapter.recall(other, name)
    planned = data.draw(st.lists(st.sampled_from(list(answers)), unique=True))
    spare = adapter.compare(roll(list(answers), planned))
    counted = int(spare[0][1].split()[0]) if spare else 0
    assert counted == len(answers) - len(planned)
    assert math.isfinite(counted)


# --- files of transcripts


def heard(folder: Path, text: str, name: str, style: Style | None = None, /, **columns: Any) -> Predictions:
    (folder / name).write_text(text, encoding="utf-8")
    adapter = Predictions(folder / name, PredictionColumns(**columns), Format(style=style))
    adapter.warm_up()
    return adapter


@pytest.mark.parametrize(
    ("name", "style", "text"),
    [
        ("hyp.trn", None, "red  bus (a)\n(b)\n"),
        ("text", "kaldi", "a red  bus\nb\n"),
        ("test.match", "sphinx", "red  bus (a -33)\n<s> </s> (b -1)\n"),
    ],
)
def test_transcripts_are_answers_and_an_empty_one_is_too(
    tmp_path: Path, name: str, style: Style | None, text: str
) -> None:
    adapter = heard(tmp_path, text, name, style)
    assert adapter.recall("test", "a") == Transcript("red  bus")
    assert adapter.recall("test", "b") == Transcript("")
    assert adapter.compare(roll([("test", "a"), ("test", "b")])) == []


def test_ids_of_nist_are_compared_without_case_and_that_is_said(tmp_path: Path) -> None:
    adapter = heard(tmp_path, "red (Spk-1)\nbus (spk-2)\n", "hyp.trn")
    assert adapter.recall("test", "sPK-1") == Transcript("red")
    notice = "1 ids of hyp.trn are in another case than the manifest's, such as Spk-1"
    assert adapter.compare(roll([("test", "spk-1"), ("test", "spk-2")])) == [("predictions-case", notice)]
    with pytest.raises(AdapterFault) as caught:
        adapter.compare(roll([("test", "spk-1"), ("test", "SPK-1"), ("test", "spk-2")]))
    assert caught.value.code == "predictions-ambiguous"
    assert "compared without case, and the manifest has both `spk-1` and `SPK-1`" in caught.value.message
    with pytest.raises(AdapterFault, match="has 2 rows for a, on lines 1 and 2"):
        heard(tmp_path, "red (a)\nbus (A)\n", "hyp.trn")


def test_ids_of_kaldi_are_what_they_are(tmp_path: Path) -> None:
    adapter = heard(tmp_path, "a red\nA bus\n", "text", "kaldi")
    assert (adapter.recall("test", "a"), adapter.recall("test", "A")) == (Transcript("red"), Transcript("bus"))
    with pytest.raises(AdapterFault, match="1 rows of text have an id that no manifest row has: A"):
        adapter.compare(roll([("test", "a")]))


@pytest.mark.parametrize(
    ("name", "style", "text"),
    [
        ("hyp.trn", None, "a (x)\n{ b / c } d (y)\n"),
        ("hyp.stm", None, "r 1 s 0 1 { b / }\n"),
        ("hyp.stm", None, "r 1 s 0 1 <ALT_BEGIN> b\n"),
        ("text", "kaldi", "x a\ny { b / c }\n"),
        ("text", "kaldi", "x a\ny <ALT_BEGIN> b <ALT> c <ALT_END>\n"),
        ("a.match", "sphinx", "<s> a </s> (x)\n<alt> b (y -1)\n"),
        ("hyp.csv", None, "id,text\nx,a\ny,{ b / c }\n"),
        ("hyp.jsonl", None, '{"id": "x", "text": "<ALT_BEGIN> b <ALT> c <ALT_END>"}\n'),
    ],
)
def test_answers_with_alternatives_are_refused(tmp_path: Path, name: str, style: Style | None, text: str) -> None:
    with pytest.raises(AdapterFault) as caught:
        heard(tmp_path, text, name, style)
    assert caught.value.code == "predictions-alternatives"
    assert f"{name}:{len(text.splitlines())}: the answer offers alternatives" in caught.value.message


def test_faults_of_a_file_of_transcripts_have_their_lines(tmp_path: Path) -> None:
    with pytest.raises(AdapterFault, match=r"hyp\.trn:2: the line does not end in an id in parentheses"):
        heard(tmp_path, "a (x)\nb\n", "hyp.trn")
    with pytest.raises(AdapterFault, match=r"say `format: \{style: …\}`"):
        heard(tmp_path, "a (x)\n", "hyp.txt")


def test_words_with_times_go_to_the_segments_of_an_stm(tmp_path: Path) -> None:
    (tmp_path / "ref.stm").write_text("Call 1 Ann 0 1 a\nCall 1 Bob 1 2 b\n")
    (tmp_path / "hyp.ctm").write_text("call 1 0.1 0.2 red\ncall 1 0.9 0.2 bus\n")
    adapter = Predictions(tmp_path / "hyp.ctm", segments=tmp_path / "ref.stm")
    adapter.warm_up()
    assert adapter.recall("test", "Call_1_Ann_0_1") == Transcript("red")
    assert adapter.recall("test", "Call_1_Bob_1_2") == Transcript("bus")
    assert adapter.identity().files == (tmp_path / "hyp.ctm", tmp_path / "ref.stm")
    (tmp_path / "hyp.trn").write_text("a (x)\n")
    for file, segments in (("hyp.trn", "ref.stm"), ("hyp.ctm", "absent.stm")):
        with pytest.raises(AdapterFault) as caught:
            Predictions(tmp_path / file, segments=tmp_path / segments).warm_up()
        assert caught.value.code == "predictions-unusable"


def test_the_reference_of_a_manifest_is_never_taken_for_the_answer(tmp_path: Path) -> None:
    line = json.dumps({"audio_filepath": "a.wav", "duration": 1.5, "text": "red bus", "pred_text": ""}) + "\n"
    with pytest.raises(AdapterFault) as caught:
        heard(tmp_path, line, "out.jsonl", id="audio_filepath")
    assert caught.value.code == "predictions-two-texts"
    assert "say `columns: {text: pred_text}`" in caught.value.message
    ways: list[tuple[str, Style | None]] = [("out.jsonl", None), ("out.json", "jsonl")]
    for name, style in ways:
        adapter = heard(tmp_path, line, name, style, id="audio_filepath", text="pred_text")
        assert adapter.recall("test", "a.wav") == Transcript("")


def test_na_words_are_texts_in_a_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text\na,NA\nb,\n")
    adapter = Predictions(tmp_path / "a.csv", format=Format(na=("NA", "")))
    adapter.warm_up()
    assert [adapter.recall("test", name) for name in "ab"] == [Transcript("NA"), Transcript("")]
