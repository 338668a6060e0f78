"""Words held against transcripts: counts, weights, lost clips, empty references, the most frequent errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jiwer
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.adapters.base import EmotionRead, Transcript
from pytest_speval.corpus.cohorts import CohortRule
from pytest_speval.corpus.text import text_rules
from pytest_speval.errors import AnswerFault
from pytest_speval.evidence.ending import UNKNOWN, Ending
from pytest_speval.judge.result import Result
from pytest_speval.scoring.alignment import align
from pytest_speval.suite.text_keys import Text
from pytest_speval.tasks.asr import AsrReading
from pytest_speval.tasks.registry import TASKS
from tests.runs import FAILED, Clip, gate, judged, values

ASR = TASKS["asr"]
WORDS = st.lists(st.sampled_from(["yes", "no", "Red", "bus", "ein", "zwei"]), max_size=6).map(" ".join)
Pair = tuple[str, str | None]
"""A reference and an answer, None for a clip that was lost."""


def heard(text: str | None) -> Ending:
    return FAILED if text is None else Ending("returned", {"text": text}, microseconds=1500)


def run(pairs: Sequence[Pair], *gates: Any, speakers: Sequence[str | None] | None = None, **keys: Any) -> Result:
    said = speakers or [None] * len(pairs)
    clips = [
        Clip(f"c{number}", "", heard(answer), speaker, cells={"transcript": reference})
        for number, ((reference, answer), speaker) in enumerate(zip(pairs, said, strict=True))
    ]
    text = text_rules(Text.model_validate(keys.pop("text", {})))
    return judged(clips, (), *gates, task="asr", text=text, **keys)


def value(pairs: Sequence[Pair], metric: str, **keys: Any) -> float | None:
    return run(pairs, **keys).estimates[metric].value


def test_h16_errors_and_words_are_summed_and_clip_means_have_a_name_of_their_own() -> None:
    pairs = [("yes", "no"), ("please close the front door now", "please close the front door now")]
    found = run(pairs, speakers=["A", "B"])
    assert (found.estimates["wer"].numerator, found.estimates["wer"].denominator) == (1, 7)
    assert values(found)["wer"] == 1 / 7
    assert values(found)["wer_clip_mean"] == 0.5
    assert values(found)["wer_speaker_mean"] == 0.5
    assert {name: found.estimates[name].unit for name in ("wer", "wer_clip_mean", "wer_speaker_mean", "cer")} == {
        "wer": "word", "wer_clip_mean": "clip", "wer_speaker_mean": "speaker", "cer": "character"
    }  # fmt: skip


def test_speakers_weigh_alike_however_many_clips_they_have() -> None:
    pairs = [("a b", "a x"), ("a", "a"), ("a b c", "x y z"), ("a b", "a b")]
    found = run(pairs, speakers=["A", "A", "A", "B"])
    assert values(found)["wer_speaker_mean"] == ((0.5 + 0 + 1) / 3 + 0) / 2
    assert found.estimates["wer_speaker_mean"].n == 2
    assert run(pairs).estimates["wer_speaker_mean"].reason == "no speaker is known"


def test_h17_words_never_slip_into_another_clip() -> None:
    pairs = [("stop", "stop here"), ("here now", "now")]
    assert value(pairs, "wer") == value(pairs[::-1], "wer") == 2 / 3


def test_h18_empty_references_and_rates_above_1() -> None:
    found = values(run([("good morning", "good morning"), ("", "thank you")]))
    assert (found["wer"], found["insertions_on_empty"]) == (1.0, 2)
    assert found["wer_clip_mean"] == 0.0, "a clip without words has no rate"
    silent = run([("", "hello there")], gate("wer", max=0.5))
    assert silent.estimates["wer"].value is None
    assert silent.estimates["wer"].reason == "no reference has a word"
    assert silent.verdicts[0].verdict == "invalid"
    assert values(silent)["insertions_on_empty"] == 2
    nothing = run([("", "")])
    assert (values(nothing)["wer"], values(nothing)["insertions_on_empty"]) == (None, 0)
    assert [row.correct for row in nothing.rows] == [True]
    assert value([("go", "please go away now")], "wer") == 3.0


def test_insertions_elsewhere_are_not_insertions_on_empty() -> None:
    assert value([("a", "a b c"), ("", "")], "insertions_on_empty") == 0


@pytest.mark.parametrize("ops", ["SM", "DIMM", "DDII"])
def test_a_second_count_finds_alignments_that_do_not_hold(ops: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs: list[Pair] = [("a b", "a c"), ("a", "a"), ("a", None)]
    assert run(pairs).checks == {"wer": None}
    monkeypatch.setattr(
        "pytest_speval.tasks.asr.align", lambda said, heard: ops if heard == ["a", "c"] else align(said, heard)
    )
    found = run(pairs, gate("wer", max=9))
    assert found.checks == {"wer": "1 of 3 clips have other word errors when counted another way"}
    assert found.verdicts[0].verdict == "invalid"
    assert found.refused == f"verify[wer] failed: {found.checks['wer']}"


def test_insertions_on_empty_needs_an_answer_to_such_a_clip() -> None:
    found = run([("yes", "yes"), ("", None)])
    assert found.estimates["insertions_on_empty"].reason == "no clip whose reference is empty was answered"


def test_h20_h23_both_sides_go_through_one_normalizer() -> None:
    pytest.importorskip("whisper_normalizer")
    assert value([("thirty six members", "36 members")], "wer") == 2 / 3
    assert value([("thirty six members", "36 members")], "wer", text={"normalizer": "english"}) == 0.0
    pairs = [("mhm", "mhm"), ("good day", "good day")]
    told = run(pairs, text={"normalizer": "english"}).published["transcription"]
    assert (told["emptiedByNormalizer"], told["referenceEmpty"], told["referenceWords"]) == (1, 1, 2)


def test_h24_characters_are_composed_before_they_are_counted() -> None:
    pair = [("café noir", "cafe\u0301 noir")]
    assert (value(pair, "wer"), value(pair, "cer")) == (0.5, 2 / 9)
    basic = {"text": {"normalizer": "basic"}}
    assert (value(pair, "wer", **basic), value(pair, "cer", **basic)) == (0.0, 0.0)


def test_an_empty_answer_and_a_lost_clip_are_all_words_deleted() -> None:
    found = run([("a b c", ""), ("a b", None), ("a", "a")])
    assert [row.more["ops"] for row in found.rows] == ["DDD", "DD", "M"]
    assert [row.status for row in found.rows] == ["answered", "failed", "answered"]
    assert values(found)["wer"] == 5 / 6
    assert values(found)["answered_only.wer"] == 3 / 4
    assert values(found)["coverage"] == 2 / 3


def test_rows_show_the_words_that_count_and_keep_what_was_said() -> None:
    (row,) = run([("Red  bus", "red\tBUS ")], text={"case": "upper"}).rows
    assert (row.reference, row.answer, row.raw) == ("RED BUS", "RED BUS", {"text": "red\tBUS "})
    assert row.as_dict()["ops"] == "MM"


def test_against_text_made_by_a_model_everything_is_called_agreement() -> None:
    found = run([("a b", "a c")], speakers=["A"], text={"reference": "model"}, headline="agreement.wer")
    assert values(found)["agreement.wer"] == 0.5
    assert not [name for name in found.estimates if name.split(".")[-2:][0] in ("wer", "cer", "answered_only")
                and not name.startswith(("agreement.", "answered_only.agreement."))]  # fmt: skip


def test_the_most_frequent_errors_come_first_and_ties_go_by_the_alphabet() -> None:
    pairs: list[Pair] = [("in a", "on"), ("in", "on"), ("b", "c"), ("a", "c"), ("x", "x uh"), ("lost", None)]
    told = run(pairs).published["transcription"]["confusions"]
    assert told == {
        "substitutions": [
            {"reference": "in", "answer": "on", "count": 2},
            {"reference": "a", "answer": "c", "count": 1},
            {"reference": "b", "answer": "c", "count": 1},
        ],
        "deletions": [{"reference": "a", "count": 1}],
        "insertions": [{"answer": "uh", "count": 1}],
    }


def test_flips_of_a_gate_on_words() -> None:
    pairs: list[Pair] = [("a b c", "x y c"), ("a", "b"), ("a b c d", "a b c d")]
    (verdict,) = run(pairs, gate("wer", max=0.2)).verdicts
    assert (verdict.verdict, verdict.flips) == ("fail", 1)


def test_cohorts_have_the_figures_of_their_own_clips() -> None:
    clips = [
        Clip("a", "", heard("a b"), "A", cells={"transcript": "a b", "cohort.accent": "us"}),
        Clip("b", "", heard("x"), "A", cells={"transcript": "a", "cohort.accent": "gb"}),
        Clip("c", "", heard("a"), "B", cells={"transcript": "a", "cohort.accent": "gb"}),
    ]
    found = judged(
        clips, (), task="asr", cohorts=[CohortRule("accent")], corpus={"columns": {"cohorts": {"accent": "accent"}}}
    )
    groups = {group.group.value: group.estimates for group in found.cohorts[0].groups}
    assert groups["gb"]["wer"].value == 0.5
    assert groups["gb"]["wer_speaker_mean"].value == 0.5
    assert groups["us"]["wer"].value == 0.0


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=12), st.data())
def test_the_order_of_rows_changes_nothing(pairs: list[tuple[str, str]], data: st.DataObject) -> None:
    speakers = [data.draw(st.sampled_from(["A", "B", "C", None])) for _ in pairs]
    order = data.draw(st.permutations(range(len(pairs))))
    one = run(pairs, speakers=speakers)
    other = run([pairs[place] for place in order], speakers=[speakers[place] for place in order])
    assert values(one) == values(other)
    assert {name: estimate.interval for name, estimate in one.estimates.items()} == {
        name: estimate.interval for name, estimate in other.estimates.items()
    }


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=12), st.integers(1, 4), st.data())
def test_sums_of_units_are_the_sums_of_all(pairs: list[tuple[str, str]], count: int, data: st.DataObject) -> None:
    units = np.array([data.draw(st.integers(0, count - 1)) for _ in pairs])
    speakers = np.array([data.draw(st.integers(-1, 2)) for _ in pairs])
    reading = AsrReading(text_rules(Text()), [said for said, _ in pairs], [heard(text) for _, text in pairs], speakers)
    parts = reading.per_unit(units, count).sum(axis=0)
    assert parts == pytest.approx(reading.total())
    assert np.array_equal(parts[:6], reading.total()[:6]), "whole numbers add up exactly"


@given(st.lists(st.tuples(WORDS.filter(bool), WORDS), min_size=1, max_size=12))
def test_jiwer_agrees(pairs: list[tuple[str, str]]) -> None:
    references, answers = [said for said, _ in pairs], [text for _, text in pairs]
    assert value(pairs, "wer") == jiwer.wer(references, answers)
    assert value(pairs, "cer") == pytest.approx(jiwer.cer(references, answers))


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=8), st.data())
def test_a_lost_clip_never_makes_anything_better(pairs: list[tuple[str, str]], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(pairs) - 1))
    said, _ = pairs[place]
    right: list[Pair] = [*pairs[:place], (said, said), *pairs[place + 1 :]]
    lost: list[Pair] = [*pairs[:place], (said, None), *pairs[place + 1 :], ("keep", "keep")]
    before, after = values(run([*right, ("keep", "keep")])), values(run(lost))
    for metric in ("wer", "wer_clip_mean", "cer"):
        assert (after[metric] or 0.0) >= (before[metric] or 0.0)


def test_what_is_no_transcript_is_refused() -> None:
    assert ASR.record(Transcript("", latency_ms=3)) == ({"text": ""}, 3.0)
    for read, told in (
        (EmotionRead("yes"), "EmotionRead, not Transcript"),
        ("yes", "str, not Transcript"),
        (Transcript(None), "NoneType, not a string; nothing heard is ''"),  # type: ignore[arg-type]
        (Transcript("\udc80"), "not Unicode text"),
        (Transcript("a", latency_ms=-1), "time does not run backwards"),
    ):
        with pytest.raises(AnswerFault, match=told) as caught:
            ASR.record(read)
        assert caught.value.code == "invalid-answer"


def test_a_clip_that_never_came_back_counts_like_a_failed_one() -> None:
    clips = [
        Clip(f"c{number}", "", ending, cells={"transcript": "a b"})
        for number, ending in enumerate([UNKNOWN, heard("a b")])
    ]
    assert values(judged(clips, (), task="asr"))["wer"] == 0.5
