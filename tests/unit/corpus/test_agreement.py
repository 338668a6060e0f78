"""Agreement is counted over all votes, and compared with the figures of real listeners."""

from __future__ import annotations

import csv
import itertools
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus.agreement import NO_PAIRS, ONE_OPTION, agreement
from pytest_speval.corpus.ballots import read_ballots
from pytest_speval.corpus.manifest import Format
from pytest_speval.corpus.votes import Tally, Vote, VoteRules, from_cell, reference, to_cell
from pytest_speval.suite.choice_keys import VoteColumns

OPTIONS = ("a", "b", "c")
CLIPS = st.lists(st.lists(st.sampled_from(OPTIONS), max_size=5), max_size=8)
CREMA = ("A", "D", "F", "H", "N", "S")


def tallies(clips: Sequence[Sequence[str]]) -> list[Tally]:
    return [Tally.of_votes(Vote(option, f"l{place}") for place, option in enumerate(votes)) for votes in clips]


def coincidence_alpha(clips: Sequence[Sequence[str]]) -> float | None:
    """Krippendorff's alpha by walking all pairs of votes (Krippendorff 2011, the nominal case)."""
    observed: dict[tuple[str, str], float] = {}
    for votes in clips:
        for one, other in itertools.permutations(votes, 2):
            observed[one, other] = observed.get((one, other), 0.0) + 1 / (len(votes) - 1)
    values = {option: sum(n for (one, _), n in observed.items() if one == option) for option in OPTIONS}
    total = sum(values.values())
    differing = sum(n for (one, other), n in observed.items() if one != other)
    chance = sum(values[one] * values[other] for one, other in itertools.permutations(OPTIONS, 2))
    return 1 - (total - 1) * differing / chance if chance else None


@given(CLIPS)
def test_alpha_and_pairwise_agreement_are_what_walking_all_pairs_gives(clips: list[list[str]]) -> None:
    found = agreement(tallies(clips), OPTIONS)
    shares = [
        sum(one == other for one, other in pairs) / len(pairs)
        for votes in clips
        if (pairs := list(itertools.combinations(votes, 2)))
    ]
    assert found.alpha == pytest.approx(coincidence_alpha(clips))
    assert found.pairwise == (pytest.approx(sum(shares) / len(shares)) if shares else None)
    assert found.paired == len(shares)
    assert (found.alpha is None) == (found.alpha_reason is not None)
    assert (found.pairwise is None) == (found.pairwise_reason is not None)


@given(CLIPS)
def test_counts_are_those_of_the_votes(clips: list[list[str]]) -> None:
    found = agreement(tallies(clips), OPTIONS)
    sizes = [len(votes) for votes in clips]
    assert (found.clips, found.votes) == (len(clips), sum(sizes))
    assert (found.least, found.most) == (min(sizes, default=0), max(sizes, default=0))
    assert found.listeners == (max(sizes, default=0) or None)
    assert found.ties == sum(len(tops(votes)) > 1 for votes in clips)


def tops(votes: Sequence[str]) -> set[str]:
    return {option for option in votes if votes.count(option) == max(map(votes.count, votes))}


def test_undefined_agreement_says_why() -> None:
    alone = agreement(tallies(["a", "b"]), OPTIONS)
    assert (alone.alpha, alone.alpha_reason, alone.pairwise, alone.pairwise_reason) == (None, NO_PAIRS, None, NO_PAIRS)
    single = agreement(tallies(["aa", "aaa", "b"]), OPTIONS)
    assert (single.alpha, single.alpha_reason) == (None, ONE_OPTION)
    assert (single.pairwise, single.pairwise_reason) == (1.0, None)


def test_without_the_package_there_is_no_alpha_and_the_reason_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "krippendorff", None)
    found = agreement(tallies(["ab", "aa"]), OPTIONS)
    assert (found.alpha, found.alpha_reason, found.pairwise) == (None, "needs pytest-speval[votes]", 0.5)


def test_weights_do_not_enter_agreement() -> None:
    weighed = [Tally.of_votes([Vote("a", "x", 9.0), Vote("b", "y", 0.1)]), Tally.of_votes([Vote("a", "x", 2.0)] * 2)]
    plain = tallies(["ab", "aa"])
    found, wanted = agreement(weighed, OPTIONS), agreement(plain, OPTIONS)
    assert (found.alpha, found.pairwise, found.ties, found.votes) == (
        wanted.alpha, wanted.pairwise, wanted.ties, wanted.votes,
    )  # fmt: skip


# --- real listeners


@pytest.mark.realdata
@pytest.mark.parametrize(("digit", "presentation"), [("1", "voice"), ("2", "face"), ("3", "audiovisual")])
def test_crema_d_has_its_published_ties_and_agreement(
    shared: Path, tmp_path: Path, digit: str, presentation: str
) -> None:
    source = shared / "data/crema-d-votes"
    expected = json.loads((source / "EXPECTED.json").read_text())["modality"][presentation]
    with (source / "tabulatedVotes.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    rows = [row for row in rows if row[0].startswith(digit)]
    with (tmp_path / "votes.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    clips = [row[header.index("fileName")] for row in rows]
    columns = VoteColumns(clip="fileName", counts={option: option for option in CREMA})
    rules = VoteRules(CREMA, CREMA, listeners=1, agree=1)
    ballots = read_ballots(
        tmp_path / "votes.csv", "votes.csv", Format(), columns, rules, [("test", clip) for clip in clips]
    )
    assert [from_cell(to_cell(tally)) for tally in ballots.tallies] == ballots.tallies
    found = agreement(ballots.tallies, CREMA)
    assert (found.clips, found.votes, found.ties) == (expected["clips"], expected["votes"], expected["tied_clips"])
    assert (found.least, found.most) == (expected["min_votes"], expected["max_votes"])
    assert found.pairwise == pytest.approx(expected["mean_pairwise_agreement"], abs=5e-7)
    assert found.alpha == pytest.approx(expected["krippendorff_alpha_nominal"], abs=5e-7)
    labels = [reference(tally, rules).label for tally in ballots.tallies]
    untied = [(label, clip.split("_")[2][0]) for label, clip in zip(labels, clips, strict=True) if label]
    assert len(untied) == expected["untied_clips"]
    share = sum(label == intended for label, intended in untied) / len(untied)
    assert share == pytest.approx(expected["majority_equals_intended_untied"], abs=5e-7)


MOS: dict[str, Any] = {
    "form": Format(header=False, names=("system", "clip", "vote", "scale", "who")),
    "rules": VoteRules(("1", "2", "3", "4", "5"), ("1", "2", "3", "4", "5"), listeners=1, agree=1),
}


@pytest.mark.realdata
def test_votes_without_listeners_count_every_row(shared: Path, tmp_path: Path) -> None:
    source = shared / "data/mos-listener-votes"
    content = (source / "TRAINSET_external.txt").read_bytes()
    (tmp_path / "votes.csv").write_bytes(content)
    clips = sorted({line.split(",")[1] for line in content.decode().splitlines()})
    expected = json.loads((source / "EXPECTED.json").read_text())
    ballots = read_ballots(
        tmp_path / "votes.csv", "votes.csv", MOS["form"], VoteColumns(), MOS["rules"], [("test", c) for c in clips]
    )
    found = agreement(ballots.tallies, MOS["rules"].options)
    assert (found.clips, found.votes, found.listeners) == (expected["files"], expected["rows"], None)
    assert (found.least, found.most) == (expected["votes_per_file"]["min"], expected["votes_per_file"]["max"])
    assert found.clips - found.paired == expected["votes_per_file"]["files_with_one_vote"]
    assert found.alpha == pytest.approx(0.407178, abs=5e-7)
