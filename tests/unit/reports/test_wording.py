"""How numbers, counts and verdicts read."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_speval.evidence.ending import UNATTEMPTED
from pytest_speval.judge.sample import IntervalRule
from pytest_speval.reports.verdict import verdict_lines
from pytest_speval.reports.wording import number, spread, sums
from pytest_speval.scoring.counts import Counts
from tests.runs import FAILED, TODAY, Clip, gate, judged, said, waiver


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "—"),
        (0.0, "0.0000"),
        (1.0, "1.0000"),
        (0.69655, "0.6966"),
        (-0.25, "-0.2500"),
        (2.0, "2"),
        (2610, "2,610"),
        (12.5, "12.5000"),
    ],
)
def test_numbers(value: float | None, text: str) -> None:
    assert number(value) == text


def test_both_sums_are_written_out() -> None:
    assert sums(Counts(2612, 2610, 2, 2600, 3, 4, 1, 2)) == (
        "2,612 listed = 2,610 planned + 2 excluded; "
        "planned = 2,600 answered + 3 abstained + 4 failed + 1 unknown + 2 unattempted"
    )
    assert sums(Counts.zero()) == "0 listed = 0 planned + 0 excluded; planned = 0 answered"
    assert sums(Counts(1, 1, 0, 0, 0, 1, 0, 0)).endswith("planned = 0 answered + 1 failed")


def clips_of(right: int, wrong: int, speakers: int, **cells: Any) -> list[Clip]:
    said_so = [said("happy")] * right + [said("sad")] * wrong
    return [Clip(f"c{n}", "happy", ending, f"s{n % speakers}", cells=cells) for n, ending in enumerate(said_so)]


@pytest.mark.parametrize(("level", "text"), [(0.95, "95%"), (0.9, "90%"), (0.975, "97.5%"), (0.999, "99.9%"),
                                             (0.29, "29%")])  # fmt: skip
def test_an_interval_never_claims_another_level(level: float, text: str) -> None:
    found = judged(clips_of(5, 5, 4), interval=IntervalRule(replicates=50, level=level)).estimates["accuracy"]
    assert spread(found).startswith(f"{text} interval ")


def test_how_sure_an_estimate_is() -> None:
    few = spread(judged(clips_of(5, 5, 4)).estimates["accuracy"])
    assert few.endswith("(4 speakers, 3.8 effective, unreliable)")
    alike = spread(judged(clips_of(40, 0, 20)).estimates["accuracy"])
    assert alike == "95% interval 1.0000 to 1.0000 (20 speakers, 20.0 effective, degenerate)"
    families = judged(clips_of(2, 2, 4, family="f"), interval=IntervalRule("family"))
    assert spread(families.estimates["accuracy"]) == "no interval: 1 cluster: an interval needs 3"
    assert spread(judged(clips_of(1, 1, 1)).estimates["clips"]) == "no interval: not sampled"


def test_families_are_families() -> None:
    clips = [
        Clip(f"c{n}", "happy", said("happy" if n % 2 else "sad"), cells={"family": f"f{n % 5}"}) for n in range(15)
    ]
    found = judged(clips, interval=IntervalRule("family", replicates=50)).estimates["accuracy"]
    assert "(5 families, 5.0 effective" in spread(found)


def told(result: Any, place: int = 0) -> list[str]:
    return verdict_lines(result, result.verdicts[place])


def test_a_failing_gate_says_which_how_far_how_sure_on_what_and_why() -> None:
    rule = gate(min=0.8, why="Better than last year's.", owner="speech")
    lines = told(judged(clips_of(6, 4, 4), ("happy", "sad"), rule))
    assert lines[0] == "gate accuracy-gate of voice: FAIL: accuracy 0.6 < 0.8, margin -0.2"
    assert lines[1].startswith("  how sure: 95% interval ")
    assert lines[2:] == [
        "  on what:  10 listed = 10 planned + 0 excluded; planned = 10 answered",
        "  flips:    2 clips would have to change to turn the verdict",
        "  why:      Better than last year's. (owner: speech)",
    ]


def test_a_gate_on_a_bound_says_so() -> None:
    lines = told(judged(clips_of(6, 4, 4), ("happy", "sad"), gate(min=0.05, bound="low")))
    assert lines[0].startswith("gate accuracy-gate of voice: PASS: accuracy (low bound) 0.")
    assert not any("flips" in line for line in lines)


def test_waivers_are_quoted_in_force_or_expired() -> None:
    result = judged(
        clips_of(6, 4, 4),
        ("happy", "sad"),
        gate(min=0.8, waiver=waiver()),
        gate(min=0.8, waiver=waiver(TODAY.min)),
    )
    assert "  waived:   known fault (release)" in told(result)
    assert "  waiver expired, ignored: known fault (release, until 0001-01-01)" in told(result, 1)


def test_an_invalid_gate_gives_its_reason() -> None:
    clips = [*clips_of(6, 4, 4), Clip("d", "sad", UNATTEMPTED)]
    lines = told(judged(clips, ("happy", "sad"), gate(min=0.8)))
    assert lines[0] == "gate accuracy-gate of voice: INVALID: 10 of 11 clips: no verdict"
    lost = told(judged([Clip("d", "sad", FAILED)], ("happy", "sad"), gate(min=0.8)))
    assert lost[:2] == [
        "gate accuracy-gate of voice: INVALID: accuracy is undefined: no clip came back",
        "  how sure: no interval: no value",
    ]


def test_a_value_of_zero_is_told_as_zero() -> None:
    lines = told(judged(clips_of(0, 4, 4), ("happy", "sad"), gate(min=0.5)))
    assert lines[0] == "gate accuracy-gate of voice: FAIL: accuracy 0 < 0.5, margin -0.5"
