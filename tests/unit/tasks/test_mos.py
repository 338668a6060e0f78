"""The task `mos` against scipy; ratings of a part of the clips are never passed off as those of the whole."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pytest_speval.adapters.base import EmotionRead, Rating
from pytest_speval.corpus.ratings import LARGEST
from pytest_speval.errors import AnswerFault
from pytest_speval.evidence.ending import UNATTEMPTED, UNKNOWN, Ending
from pytest_speval.judge.result import Result
from pytest_speval.judge.sample import IntervalRule
from pytest_speval.scoring.bootstrap import draw_weights
from pytest_speval.tasks import mos_figures
from pytest_speval.tasks.base import Rules
from pytest_speval.tasks.mos import Mos
from pytest_speval.tasks.registry import TASKS
from pytest_speval.tasks.stand_in import STAND_INS
from tests.runs import FAILED, Clip, gate, judged

COMPARED = ("pearson", "spearman", "mse", "pearson.system", "spearman.system", "mse.system")
FEW = IntervalRule(replicates=60)
Array = np.ndarray[Any, Any]


def rated(value: float, **scores: float) -> Ending:
    return Ending("returned", {"value": value} | ({"scores": scores} if scores else {}), microseconds=1500)


def clips_of(
    answers: Sequence[float] | Array,
    human: Sequence[float | None] | Array | None = None,
    systems: Sequence[Any] | None = None,
    lost: Mapping[int, Ending] | None = None,
    speakers: int = 7,
) -> list[Clip]:
    """Clips with ratings and systems, where they are given."""
    columns: dict[str, list[Any]] = {}
    if human is not None:
        columns["rating"] = [None if rating is None else repr(float(rating)) for rating in human]
    if systems is not None:
        columns["cohort.system"] = list(systems)
    return [
        Clip(
            f"c{number:03}",
            "",
            (lost or {}).get(number) or rated(float(answer)),
            speaker=f"s{number % speakers}",
            cells={name: cells[number] for name, cells in columns.items()},
        )
        for number, answer in enumerate(answers)
    ]


def mos(clips: Sequence[Clip], *gates: Any) -> Result:
    return judged(clips, (), *gates, task="mos", missing="withhold", interval=FEW)


def drawn(seed: int = 0, n: int = 84, systems: int = 6) -> tuple[Array, Array, list[str]]:
    """Answers and human ratings that agree somewhat, of unequal systems."""
    draw = np.random.default_rng(seed)
    names = [f"sys{int(number)}" for number in draw.integers(0, systems, n)]
    quality = dict(zip(sorted(set(names)), draw.normal(3, 0.7, len(set(names))), strict=True))
    human = np.round(np.clip([quality[name] + draw.normal(0, 0.5) for name in names], 1, 5) * 4) / 4
    return human + draw.normal(0, 0.6, n), human, names


def by_system(values: Array, names: Sequence[str]) -> Array:
    return np.array([values[np.array(names) == name].mean() for name in sorted(set(names))])


def expected(answers: Array, human: Array, names: Sequence[str]) -> dict[str, float]:
    """Every comparison by scipy."""
    x, y = by_system(human, names), by_system(answers, names)
    return {
        "pearson": stats.pearsonr(human, answers).statistic,
        "spearman": stats.spearmanr(human, answers).statistic,
        "mse": np.mean((human - answers) ** 2),
        "pearson.system": stats.pearsonr(x, y).statistic,
        "spearman.system": stats.spearmanr(x, y).statistic,
        "mse.system": np.mean((x - y) ** 2),
    }


@pytest.mark.parametrize("seed", range(4))
def test_all_estimates_are_those_of_numpy_and_scipy(seed: int) -> None:
    answers, human, names = drawn(seed)
    result = mos(clips_of(answers, human, names))
    assert next(iter(result.estimates)) == "mos"
    found = result.estimates
    assert found["mos"].value == pytest.approx(answers.mean(), abs=1e-12)
    assert found["mos"].numerator == pytest.approx(answers.sum())
    assert found["mos"].denominator == 84
    speakers = [answers[speaker::7].mean() for speaker in range(7)]
    assert found["mos_speaker_mean"].value == pytest.approx(np.mean(speakers), abs=1e-12)
    assert (found["mos_speaker_mean"].n, found["mos_speaker_mean"].unit) == (7, "speaker")
    for name, value in expected(answers, human, names).items():
        assert found[name].value == pytest.approx(value, abs=1e-9), name
        assert (found[name].n, found[name].unit) == ((6, "system") if ".system" in name else (84, "clip"))
        assert found[f"answered_only.{name}"].value == found[name].value
    assert found["mse"].numerator == pytest.approx(((human - answers) ** 2).sum())


def test_speakers_weigh_alike_whatever_their_number_of_clips() -> None:
    clips = [
        *(Clip(f"a{number}", "", rated(1.0), speaker="a") for number in range(9)),
        Clip("b", "", rated(5.0), speaker="b"),
        Clip("nobody", "", rated(4.0)),
    ]
    found = mos(clips).estimates
    assert (found["mos_speaker_mean"].value, found["mos_speaker_mean"].n) == (3.0, 2)
    assert found["mos"].value == pytest.approx(18 / 11)
    alone = mos([Clip("x", "", rated(2.0))]).estimates["mos_speaker_mean"]
    assert (alone.value, alone.reason) == (None, "no speaker is known")


def test_intervals_are_those_of_estimates_made_anew_from_the_drawn_clips() -> None:
    answers, human, names = drawn(5)
    result = mos(clips_of(answers, human, names))
    (weights,) = draw_weights(7, FEW.replicates, FEW.seed)
    values: dict[str, list[float]] = {name: [] for name in ("mos", "mos_speaker_mean", *COMPARED)}
    for weight in weights.astype(int):
        chosen = np.repeat(np.arange(84), weight[np.arange(84) % 7])
        for name, value in expected(answers[chosen], human[chosen], [names[clip] for clip in chosen]).items():
            values[name].append(value)
        values["mos"].append(answers[chosen].mean())
        values["mos_speaker_mean"].append(np.average([answers[s::7].mean() for s in range(7)], weights=weight))
    for name, replicates in values.items():
        interval = result.estimates[name].interval
        assert interval is not None, name
        wanted = np.quantile(replicates, [0.025, 0.975])
        assert [interval.low, interval.high] == pytest.approx(wanted.tolist(), abs=1e-9), name


@pytest.mark.parametrize("lost", [(FAILED, UNKNOWN), (UNATTEMPTED, FAILED)])
def test_nothing_is_estimated_unless_all_answered(lost: tuple[Ending, Ending]) -> None:
    answers, human, names = drawn(1, 120)
    clips = clips_of(answers, human, names, {7: lost[0], 70: lost[1]})
    result = mos(clips, gate("mos", min=-100.0), gate("mse", max=1e6))
    for name in ("mos", "mos_speaker_mean", *COMPARED):
        found = result.estimates[name]
        assert (found.value, found.reason, found.interval) == (None, "118 of 120 answered", None)
    assert [found.verdict for found in result.verdicts] == ["invalid", "invalid"]
    kept = np.delete(np.arange(120), [7, 70])
    wanted = expected(answers[kept], human[kept], [names[clip] for clip in kept])
    for name, value in (wanted | {"mos": answers[kept].mean()}).items():
        assert result.estimates[f"answered_only.{name}"].value == pytest.approx(value, abs=1e-9)
    speakers = [answers[[clip for clip in kept if clip % 7 == speaker]].mean() for speaker in range(7)]
    assert result.estimates["answered_only.mos_speaker_mean"].value == pytest.approx(np.mean(speakers), abs=1e-12)
    assert result.estimates["coverage"].value == 118 / 120


def test_what_the_corpus_does_not_say_is_a_reason() -> None:
    answers, human, names = drawn(2, 20)

    def reasons(*columns: Any) -> tuple[str | None, str | None]:
        found = mos(clips_of(answers, *columns)).estimates
        assert found["mos"].value == pytest.approx(answers.mean())
        assert found["answered_only.spearman"].reason == found["spearman"].reason
        return found["pearson"].reason, found["mse.system"].reason

    none = "the corpus has no column `rating`"
    assert reasons(None, names) == (none, none)
    assert reasons(human, None) == (None, "no cohort is called `system`")
    some = [None, *human[1:]]
    assert reasons(some, names) == ("19 of 20 clips have a human rating",) * 2
    assert reasons(human, [None, ("a", "b"), *names[2:]]) == (None, "18 of 20 clips have one system")


def test_what_does_not_vary_has_no_correlation() -> None:
    for answers, human, still in (
        ([3, 3, 3, 3], [1, 2, 3, 4], "the answers do"),
        ([1, 2, 3, 4], [3, 3, 3, 3], "the human ratings do"),
        ([3, 3, 3, 3], [3, 3, 3, 3], "the human ratings and the answers do"),
    ):
        found = mos(clips_of(answers, human, ["a", "a", "b", "b"])).estimates
        for name in ("pearson", "spearman"):
            assert (found[name].value, found[name].reason) == (None, f"{still} not vary from clip to clip")
            assert found[f"{name}.system"].reason == f"{still} not vary by system"
        assert found["mse"].value == pytest.approx(np.mean(np.subtract(answers, human) ** 2))
    balanced = mos(clips_of([1, 3, 3, 1], [1, 2, 3, 4], ["a", "a", "b", "b"])).estimates
    assert balanced["pearson"].value is not None
    assert balanced["pearson.system"].reason == "the answers do not vary by system"
    lone = mos(clips_of([3.5], [3.0], ["a"])).estimates
    assert lone["pearson"].reason == "the human ratings and the answers do not vary from clip to clip"
    assert lone["mse.system"].value == 0.25


def test_nobody_answered() -> None:
    result = mos(clips_of([1, 2, 3], [1, 2, 3], ["a", "b", "c"], dict.fromkeys(range(3), FAILED)))
    for name in ("mos", "mos_speaker_mean", *COMPARED):
        assert result.estimates[name].reason == "0 of 3 answered"
        assert result.estimates[f"answered_only.{name}"].reason == "no clip was answered"


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_the_order_of_rows_changes_nothing(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 14))
    values = st.sampled_from([1.1, 2.3, 3.7, 4.9, 0.1])
    answers, human = (data.draw(st.lists(values, min_size=n, max_size=n)) for _ in range(2))
    names = data.draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n))
    lost = dict.fromkeys(data.draw(st.sets(st.integers(0, n - 1))), FAILED)
    clips = clips_of(answers, human, names, lost, speakers=4)
    other = clips.copy()
    random.Random(data.draw(st.integers(0, 99))).shuffle(other)
    one, two = mos(clips), mos(other)
    assert one.estimates == two.estimates
    assert one.published == two.published
    assert one.counts == two.counts


@given(st.lists(st.tuples(*[st.sampled_from([1.0, 2.5, 4.0])] * 2), min_size=2, max_size=12), st.data())
@settings(max_examples=40, deadline=None)
def test_a_failure_never_yields_an_estimate(pairs: list[tuple[float, float]], data: st.DataObject) -> None:
    answers, human = zip(*pairs, strict=True)
    lost = data.draw(st.sets(st.integers(0, len(pairs) - 1), min_size=1))
    result = mos(clips_of(answers, human, ["a", "b"] * 12, dict.fromkeys(lost, FAILED)))
    assert all(result.estimates[name].value is None for name in ("mos", "mos_speaker_mean", *COMPARED))
    assert result.estimates["coverage"].value == (len(pairs) - len(lost)) / len(pairs)


def test_too_many_clips_to_rank_anew_have_a_value_and_no_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    answers, human, names = drawn(3)
    full = mos(clips_of(answers, human, names)).estimates
    monkeypatch.setattr(mos_figures, "MOST_RANKED", 83)
    found = mos(clips_of(answers, human, names)).estimates
    assert found["spearman"].value == pytest.approx(full["spearman"].value, abs=1e-12)
    assert (found["spearman"].interval, found["spearman"].interval_reason) == (
        None,
        "none of 60 replicates has a value",
    )
    assert found["spearman.system"] == full["spearman.system"]
    assert found["pearson"] == full["pearson"]


def test_a_part_is_read_as_if_the_suite_had_planned_no_other_clips() -> None:
    answers, human, names = drawn(4)
    ratings = [None if name == "sys0" else rating for name, rating in zip(names, human, strict=True)]
    clips = clips_of(answers, ratings, names)
    assert mos(clips).estimates["pearson"].reason is not None
    kept = [place for place, name in enumerate(names) if name != "sys0"]
    question = judged(clips, (), task="mos", missing="withhold").plan.question
    reading = Mos().read(question, Rules(None, {}, "withhold"), [clip.ending for clip in clips])
    part = reading.part(np.array(kept))
    alone = expected(answers[kept], human[kept], [names[place] for place in kept])
    values = part.estimates(part.total())
    assert {name: float(values[name]) for name in COMPARED} == pytest.approx(alone)


def test_rows_show_both_ratings_and_right_or_wrong_is_not_a_question() -> None:
    result = mos(clips_of([3.25, 4.0], [3.0, None], None, {1: FAILED}))
    rows = [(row.status, row.reference, row.answer, row.correct) for row in result.rows]
    assert rows == [("answered", 3.0, 3.25, None), ("failed", None, None, None)]


def test_further_scores_are_reported_with_the_number_of_their_clips() -> None:
    clips = [Clip("a", "", rated(3.0, SIG=3.5, BAK=4.0)), Clip("b", "", rated(2.0, SIG=2.5)), Clip("c", "", FAILED)]
    assert mos(clips).published["ratings"] == {
        "rated": 0,
        "humanMean": None,
        "systems": None,
        "scores": {"BAK": {"mean": 4.0, "clips": 1}, "SIG": {"mean": 3.0, "clips": 2}},
    }


def test_gates_on_any_scale_and_no_number_of_clips_turns_them() -> None:
    answers, human, names = drawn(6)
    loud = clips_of(answers * 20, human * 20, names)
    verdicts = mos(loud, gate("mos", min=30.0), gate("pearson", min=1.0), gate("mse", max=1e4)).verdicts
    assert [(found.verdict, found.flips) for found in verdicts] == [("pass", None), ("fail", None), ("pass", None)]


# --- answers


@pytest.mark.parametrize("value", [3, 3.5, np.float32(3.5), np.int64(3), -1.5])
def test_any_finite_number_is_a_rating(value: Any) -> None:
    answer, latency = Mos().record(Rating(value, {"SIG": float(np.float32(2.5))}, latency_ms=12))
    assert answer == {"value": float(value), "scores": {"SIG": 2.5}}
    assert type(answer["value"]) is float
    assert latency == 12.0


@pytest.mark.parametrize(
    ("read", "told"),
    [
        (EmotionRead("happy"), "rate returned EmotionRead, not Rating"),
        (3.5, "rate returned float, not Rating"),
        (Rating(float("nan")), "the value is nan, which is no rating"),
        (Rating(float("inf")), "the value is inf"),
        (Rating(True), "the value is bool, not a number"),
        (Rating("3.5"), "the value is str, not a number"),  # type: ignore[arg-type]
        (Rating(None), "the value is NoneType, not a number"),  # type: ignore[arg-type]
        (Rating(np.array([3.5])), "the value is ndarray, not a number"),  # type: ignore[arg-type]
        (Rating(10**400), "too great"),
        (Rating(1e200), "at most 1,000,000,000 in size"),
        (Rating(-1.1e9), "at most 1,000,000,000 in size"),
        (Rating(3.0, {"SIG": float("nan")}), "the score `SIG` is nan"),
        (Rating(3.0, {3: 1.0}), "a score is named 3"),  # type: ignore[dict-item]
        (Rating(3.0, {"\ud800": 1.0}), "a name must be a printable text"),
        (Rating(3.0, [1.0]), "scores is list"),  # type: ignore[arg-type]
        (Rating(3.0, latency_ms=-1.0), "time does not run backwards"),
    ],
)
def test_what_is_no_rating_is_refused(read: object, told: str) -> None:
    with pytest.raises(AnswerFault, match="invalid-answer") as caught:
        Mos().record(read)
    assert told in caught.value.message


def test_the_largest_ratings_are_still_numbers_together() -> None:
    said = [LARGEST, -LARGEST, LARGEST, -LARGEST / 2] * 3
    found = mos(clips_of(np.array(said), np.array(said[::-1]), [f"s{place % 4}" for place in range(12)]))
    assert all(np.isfinite(found.estimates[name].value or 0.0) for name in ("mos", "pearson", "spearman", "mse"))


def test_the_task_asks_for_no_labels_and_withholds() -> None:
    word = TASKS["mos"].word
    assert (word.headline, word.missing, word.labelled, word.sound) == ("mos", "withhold", False, True)
    assert {"mos", "mos_speaker_mean", *COMPARED} <= set(word.names(()))


def test_the_stand_in_is_the_mean_human_rating_or_nothing() -> None:
    stand_in, rules = STAND_INS["mos"], Rules(None, {}, "withhold")
    assert stand_in.constant([1.0, None, 4.0], rules) == {"value": 2.5}
    assert stand_in.constant([None, None], rules) is None
    assert stand_in.silence == {"value": 0.0}
