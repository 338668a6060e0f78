"""Estimates that every task has: rates, sizes and times; and the intervals of all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_speval.evidence.ending import UNATTEMPTED, UNKNOWN, Ending
from pytest_speval.judge.estimation import withheld
from pytest_speval.judge.sample import IntervalRule
from pytest_speval.scoring.bootstrap import Interval, draw_weights
from pytest_speval.scoring.counts import Counts
from tests.runs import FAILED, Clip, gate, judged, said

RIGHT, WRONG = said("happy"), said("sad")


def clips_of(endings: list[Ending], speakers: list[str | None] | None = None, label: str = "happy") -> list[Clip]:
    names = speakers or [None] * len(endings)
    return [Clip(f"c{place}", label, ending, names[place]) for place, ending in enumerate(endings)]


def interval_of(result: Any, metric: str = "accuracy") -> Interval:
    interval = result.estimates[metric].interval
    assert interval is not None
    assert interval.low is not None
    assert interval.high is not None
    return interval  # type: ignore[no-any-return]


def test_rates_are_shares_of_planned_clips() -> None:
    endings = [RIGHT, WRONG, said(), said("joy"), FAILED, UNKNOWN, UNATTEMPTED, RIGHT]
    result = judged([*clips_of(endings), Clip("out", "sad", UNATTEMPTED, excluded="mis-cut")])
    for name, numerator in (("coverage", 3), ("abstention_rate", 2), ("failure_rate", 3)):
        found = result.estimates[name]
        assert (found.value, found.numerator, found.denominator, found.n, found.unit) == (
            numerator / 8, numerator, 8, 8, "clip"
        )  # fmt: skip
    assert result.estimates["clips"].value == 8.0


@pytest.mark.parametrize("missing", ["worst", "withhold"])
@pytest.mark.parametrize("endings", [[FAILED, UNKNOWN, UNATTEMPTED], [FAILED] * 3, []])
def test_when_no_clip_came_back_nothing_of_quality_is_known(endings: list[Ending], missing: str) -> None:
    gates = [gate(metric, min=0.0) for metric in ("accuracy", "macro_f1", "recall.happy", "coverage")]
    result = judged(clips_of(endings), ("happy", "sad", "calm"), *gates, missing=missing)
    reason = f"0 of {len(endings)} answered" if missing == "withhold" and endings else "no clip came back"
    for name, found in result.estimates.items():
        if name.partition(".")[0] in ("macro_f1", "macro_f1_supported", "weighted_f1", "uar", "accuracy", "f1",
                                      "precision", "recall", "support"):  # fmt: skip
            assert (found.value, found.reason, found.interval) == (None, reason, None), name
            assert found.interval_reason == "no value"
        if name.startswith("answered_only."):
            assert (found.value, found.reason) == (None, "no clip was answered")
    if endings:
        assert (result.estimates["coverage"].value, result.estimates["failure_rate"].value) == (0.0, 1.0)
    else:
        assert result.estimates["coverage"].reason == "no clip is planned"  # H03
    if UNATTEMPTED not in endings:
        assert [found.verdict for found in result.verdicts] == ["invalid"] * 3 + (["pass"] if endings else ["invalid"])


def test_abstentions_alone_are_a_result() -> None:
    result = judged(clips_of([said(), said("joy")]))
    assert (result.estimates["accuracy"].value, result.estimates["accuracy"].numerator) == (0.0, 0)
    assert result.estimates["answered_only.accuracy"].value is None


@pytest.mark.parametrize(
    ("missing", "answered", "abstained", "failed", "expected"),
    [
        ("withhold", 118, 0, 2, "118 of 120 answered"),
        ("withhold", 1119, 1, 0, "1,119 of 1,120 answered"),
        ("withhold", 120, 0, 0, None),
        ("withhold", 0, 0, 0, "no clip came back"),
        ("worst", 118, 0, 2, None),
        ("worst", 0, 1, 119, None),
        ("worst", 0, 0, 120, "no clip came back"),
    ],
)
def test_why_quality_is_withheld(
    missing: str, answered: int, abstained: int, failed: int, expected: str | None
) -> None:
    planned = answered + abstained + failed
    assert withheld(missing, Counts(planned, planned, 0, answered, abstained, failed, 0, 0)) == expected


def test_sizes_count_planned_clips_and_their_speakers() -> None:
    clips = clips_of([RIGHT] * 6, ["ann", "ann", "ann", "bob", "bob", None])
    result = judged([*clips, Clip("out", "sad", UNATTEMPTED, "zoe", excluded="mis-cut")])
    assert result.estimates["clips"].value == 6.0
    for name, value in (("speakers", 2.0), ("effective_speakers", 25 / 13)):
        found = result.estimates[name]
        assert (found.n, found.unit) == (5, "speaker")
        assert found.value == pytest.approx(value)
    bare = judged(clips_of([RIGHT]), ("happy", "sad"), gate("speakers", min=1.0))
    assert (bare.estimates["speakers"].value, bare.estimates["speakers"].reason) == (
        None,
        "no speaker column",
    )
    assert bare.verdicts[0].verdict == "invalid"


def test_times_are_those_of_calls_that_returned() -> None:
    spans = [1000, 2000, 4000, 13000]
    endings = [said("happy", microseconds=span) for span in spans]
    endings += [Ending("failed", {"raw": "3"}, "invalid-answer", "no", 10**9), FAILED, UNKNOWN]
    heard: dict[str, Any] = {
        "frames": [16000] * 4 + [32000] * 3,
        "rates": [16000] * 7,
        "audio": {"rate": 16000},
    }
    found = judged(clips_of(endings), **heard).estimates
    assert found["latency_ms.mean"].value == 5.0
    assert found["latency_ms.p50"].value == np.quantile([1, 2, 4, 13], 0.5) == 3.0
    assert found["latency_ms.p95"].value == pytest.approx(np.quantile([1, 2, 4, 13], 0.95))
    assert found["rtf"].value == pytest.approx(0.020 / 4)
    assert {found[name].n for name in ("latency_ms.mean", "latency_ms.p50", "rtf")} == {4}
    assert found["latency_ms.reported"].reason == "the adapter reports no latency"


def test_the_adapters_own_latency_is_only_reported() -> None:
    endings = [Ending("returned", {"label": "happy"}, microseconds=9000, reported_ms=ms) for ms in (1.0, 2.0, 6.0)]
    found = judged(clips_of([*endings, RIGHT])).estimates
    assert (found["latency_ms.reported"].value, found["latency_ms.reported"].n) == (3.0, 3)
    assert found["latency_ms.mean"].value == (3 * 9 + 1.5) / 4


@pytest.mark.parametrize("endings", [[FAILED], [UNATTEMPTED], []])
def test_without_a_call_that_returned_there_is_no_time(endings: list[Ending]) -> None:
    found = judged(clips_of(endings)).estimates
    for name in ("latency_ms.mean", "latency_ms.p50", "latency_ms.p95"):
        assert (found[name].value, found[name].reason) == (None, "no call returned")
    assert (found["rtf"].value, found["rtf"].reason) == (None, "no sound was heard")


def test_an_answer_by_rule_has_no_time() -> None:
    found = judged(clips_of([Ending("returned", {}, "short-abstains", "short")])).estimates
    assert found["latency_ms.mean"].value is None


def test_times_do_not_depend_on_the_order_of_clips() -> None:
    draw = np.random.default_rng(3)
    spans = draw.integers(1, 10**7, 200)
    frames = draw.integers(1, 10**6, 200)
    names = ("latency_ms.mean", "latency_ms.p95", "latency_ms.reported", "rtf")

    def found(order: Any) -> list[float | None]:
        endings = [
            Ending("returned", {"label": "sad"}, microseconds=int(spans[place]), reported_ms=spans[place] / 7)
            for place in order
        ]
        heard: dict[str, Any] = {"frames": frames[order].tolist(), "rates": [16000] * 200, "audio": {}}
        estimates = judged(clips_of(endings), **heard).estimates
        return [estimates[name].value for name in names]

    assert found(np.arange(200)) == found(draw.permutation(200)) == found(draw.permutation(200))


def speakers_of(sizes: dict[str, int]) -> list[str | None]:
    return [name for name, size in sizes.items() for _ in range(size)]


def test_speakers_are_drawn_whole() -> None:
    endings = [RIGHT] * 50 + [WRONG] * 50  # H73
    names = speakers_of({"a": 25, "b": 25, "c": 25, "d": 25})
    rule = IntervalRule(replicates=2000)
    found = interval_of(judged(clips_of(endings, names), interval=rule))
    assert (found.low, found.high) == (0.0, 1.0)
    assert (found.clusters, found.effective_clusters, found.unreliable, found.degenerate) == (
        4,
        4.0,
        True,
        False,
    )
    clipwise = interval_of(judged(clips_of(endings, names), interval=IntervalRule("clip", replicates=2000)))
    assert [clipwise.low, clipwise.high] == pytest.approx([0.40, 0.60], abs=0.015)
    assert (clipwise.unit, clipwise.clusters, clipwise.unreliable) == ("clip", 100, False)


def test_an_interval_is_that_of_a_plain_loop_over_draws() -> None:
    draw = np.random.default_rng(11)
    right = draw.random(60) < 0.6
    owners = draw.integers(0, 7, 60)
    clips = clips_of([RIGHT if one else WRONG for one in right], [f"s{owner}" for owner in owners])
    found = interval_of(judged(clips, interval=IntervalRule(replicates=300, seed=42, level=0.9)))
    values = []
    for weights in np.vstack(list(draw_weights(7, 300, 42))):
        taken = np.concatenate([np.flatnonzero(owners == unit) for unit in range(7) for _ in range(int(weights[unit]))])
        values.append(right[taken].mean())
    assert (found.low, found.high) == tuple(np.quantile(values, [0.05, 0.95]))
    assert (found.level, found.replicates, found.seed) == (0.9, 300, 42)


def test_rates_and_qualities_share_their_draws() -> None:
    names = speakers_of(dict.fromkeys("abcdef", 5))
    endings = [RIGHT if number % 3 else FAILED for number in range(30)]
    result = judged(clips_of(endings, names))
    coverage, accuracy = interval_of(result, "coverage"), interval_of(result)
    assert (coverage.low, coverage.high) == (accuracy.low, accuracy.high)
    failures = interval_of(result, "failure_rate")
    assert coverage.low is not None
    assert coverage.high is not None
    assert [failures.low, failures.high] == pytest.approx([1 - coverage.high, 1 - coverage.low])


def test_replicates_that_are_all_alike_are_marked() -> None:
    names = speakers_of(dict.fromkeys("abcde", 4))  # H74
    rules = [gate(min=0.9), gate(min=0.9, bound="low", id="low")]
    result = judged(clips_of([RIGHT] * 20, names), ("happy", "sad"), *rules)
    found = interval_of(result)
    assert (found.low, found.high, found.degenerate) == (1.0, 1.0, True)
    assert [verdict.verdict for verdict in result.verdicts] == ["pass", "invalid"]


def test_a_label_that_a_replicate_lost_is_left_out_of_it_and_reported() -> None:
    labels = ["happy"] * 4 + ["sad"] * 4 + ["happy", "sad", "fear"]  # H75
    names = ["a"] * 4 + ["b"] * 4 + ["c"] * 3
    clips = [Clip(f"c{place}", label, said(label), names[place]) for place, label in enumerate(labels)]
    result = judged(clips, ("happy", "sad", "fear"), interval=IntervalRule(replicates=2000))
    found = interval_of(result, "macro_f1")
    assert (found.low, found.high) == (1.0, 1.0)
    assert found.replicates_without_class["fear"] == pytest.approx((2 / 3) ** 3, abs=0.03)
    assert found.replicates_without_class["happy"] == pytest.approx((1 / 3) ** 3, abs=0.02)
    assert interval_of(result, "coverage").replicates_without_class == {}


def test_two_speakers_have_no_interval_and_no_column_none() -> None:
    result = judged(clips_of([RIGHT] * 4, ["a", "a", "b", "b"]))
    assert result.estimates["accuracy"].interval_reason == "2 clusters: an interval needs 3"
    assert judged(clips_of([RIGHT])).estimates["accuracy"].interval_reason == "no speaker column"
    assert judged(clips_of([RIGHT])).estimates["clips"].interval_reason == "not sampled"
