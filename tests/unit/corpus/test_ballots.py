"""A file of votes is read whole and strictly: every vote kept, every fault with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus.ballots import Ballots, read_ballots
from pytest_speval.corpus.manifest import Format
from pytest_speval.corpus.votes import NO_VOTES, Tally, Vote, VoteRules
from pytest_speval.errors import FaultyFile
from pytest_speval.suite.choice_keys import VoteColumns

OPTIONS = ("anger", "fear", "other")
RULES = VoteRules(OPTIONS, OPTIONS[:2])
WIDE = VoteColumns(counts={"anger": "A", "fear": "F", "other": "O"})
LISTED = [("test", "c1"), ("test", "c2")]


def ballots(
    folder: Path, content: str, columns: VoteColumns | None = None, name: str = "votes.csv", **how: Any
) -> Ballots:
    (folder / name).write_text(content)
    how = {"form": Format(), "columns": columns or VoteColumns(), "rules": RULES, "listed": LISTED, **how}
    return read_ballots(folder / name, name, **how)


def faults(folder: Path, content: str, columns: VoteColumns | None = None, **how: Any) -> list[tuple[int, str]]:
    with pytest.raises(FaultyFile) as caught:
        ballots(folder, content, columns, **how)
    return [(fault.line, fault.code) for fault in caught.value.faults]


def message(folder: Path, content: str, columns: VoteColumns | None = None, **how: Any) -> str:
    with pytest.raises(FaultyFile) as caught:
        ballots(folder, content, columns, **how)
    return caught.value.message


# --- one vote a row


def test_every_vote_is_kept_with_listener_and_weight(folder: Path) -> None:
    read = ballots(folder, "clip,listener,vote,weight\nc2,l2,fear,0.5\nc1,l1,anger,1\nc2,l1,fear,2e0\n")
    assert read.tallies == [
        Tally({"anger": 1}, (Vote("anger", "l1", 1.0),)),
        Tally({"fear": 2}, (Vote("fear", "l1", 2.0), Vote("fear", "l2", 0.5))),
    ]
    assert (read.elsewhere, read.votes_elsewhere, read.notices) == (0, 0, ())


def test_roles_take_the_columns_that_are_named(folder: Path) -> None:
    columns = VoteColumns(clip="file", vote="emotion", listener="rater")
    read = ballots(folder, "file,emotion,rater,weight,listener\nc1,anger,l1,3,x\n", columns)
    assert read.tallies[0].votes == (Vote("anger", "l1", 3.0),)


def test_without_a_column_of_listeners_equal_rows_are_two_votes(folder: Path) -> None:
    read = ballots(folder, "clip,vote\nc1,anger\nc1,anger\nc1,fear\n")
    assert read.tallies == [Tally({"anger": 2, "fear": 1}), NO_VOTES]
    assert read.notices == ()


def test_votes_on_clips_that_are_not_listed_are_counted(folder: Path) -> None:
    read = ballots(folder, "clip,vote\nc1,anger\nx,fear\nx,fear\ny,fear\n")
    assert (read.elsewhere, read.votes_elsewhere) == (2, 3)
    assert read.tallies == [Tally({"anger": 1}), NO_VOTES]


def test_an_equal_row_of_one_listener_is_one_vote_and_a_notice(folder: Path) -> None:
    read = ballots(folder, "clip,listener,vote\nc1,l1,anger\nc1,l2,fear\nc1,l1,anger\nc1,l1,anger\n")
    assert read.tallies[0].counts == {"anger": 1, "fear": 1}
    assert read.notices == (
        ("repeated-vote", "2 rows repeat an earlier one, cell for cell, and no vote is counted twice: 4, 5"),
    )


@pytest.mark.parametrize("second", ["c1,l1,fear,x", "c1,l1,anger,y"])
def test_an_unequal_row_of_one_listener_names_both_lines(folder: Path, second: str) -> None:
    content = f"clip,listener,vote,note\nc1,l1,anger,x\nc2,l1,anger,x\n{second}\n"
    assert faults(folder, content) == [(4, "vote-conflict")]
    wanted = "the vote of `l1` on `c1` also stands on line 2, with other cells"
    assert message(folder, content) == wanted


def test_an_unknown_option_names_the_nearest(folder: Path) -> None:
    content = "clip,vote\nc1,anger\nc1,angre\nx,joy\n"
    assert faults(folder, content) == [(3, "vote-option-unknown"), (4, "vote-option-unknown")]
    assert message(folder, content) == "`angre` is not in votes.options, did you mean `anger`?"


@pytest.mark.parametrize("weight", ["0", "-1", "nan", "inf", "1e7", "1_0", " 1", "0x1", ".", "1e999", "٣"])
def test_a_weight_is_a_number_above_zero(folder: Path, weight: str) -> None:
    assert faults(folder, f"clip,vote,weight\nc1,anger,{weight}\n") == [(2, "vote-weight")]


def test_missing_cells_are_faults_each_once(folder: Path) -> None:
    content = "clip,split,listener,vote,weight\n,test,l,fear,1\n,test,l,anger,1\nc1,,l,fear,1\n"
    content += "c1,test,,fear,1\nc1,test,,anger,1\nc1,test,l,,1\nc1,test,l2,fear,\n"
    found = faults(folder, content)
    assert found == [(line, "vote-cell-missing") for line in range(2, 9)]


# --- one clip a row


def test_counts_are_kept(folder: Path) -> None:
    read = ballots(folder, "clip,A,F,O\nc2,0,3,1\nz,1,1,1\n", WIDE)
    assert read.tallies == [NO_VOTES, Tally({"fear": 3, "other": 1})]
    assert (read.elsewhere, read.votes_elsewhere) == (1, 3)


@pytest.mark.parametrize("count", ["-1", "1.5", "1e2", "x", "1000000000", " 1", "²", "٣", "9" * 5000, "1."])
def test_a_count_is_a_whole_number(folder: Path, count: str) -> None:
    assert faults(folder, f"clip,A,F,O\nc1,{count},0,0\n", WIDE) == [(2, "vote-count")]


def test_a_whole_number_may_have_been_written_as_a_real_one(folder: Path) -> None:
    assert ballots(folder, "clip,A,F,O\nc1,3.0,0.0,007\n", WIDE).tallies[0].counts == {"anger": 3, "other": 7}


def test_a_missing_count_is_not_nought(folder: Path) -> None:
    assert faults(folder, "clip,A,F,O\nc1,1,,0\n", WIDE) == [(2, "vote-cell-missing")]


def test_an_equal_row_of_counts_is_one_and_an_unequal_one_a_fault(folder: Path) -> None:
    read = ballots(folder, "clip,A,F,O\nc1,1,2,0\nc1,1,2,0\n", WIDE)
    assert read.tallies[0].total == 3
    assert read.notices == (
        ("repeated-vote", "1 row repeats an earlier one, cell for cell, and no vote is counted twice: 3"),
    )
    content = "clip,A,F,O\nc1,1,2,0\nc1,1,2,1\n"
    assert faults(folder, content, WIDE) == [(3, "vote-conflict")]
    assert message(folder, content, WIDE) == "the clip `c1` also stands on line 2, with other cells"


# --- which clip


def test_with_a_split_clips_are_matched_by_split_and_id(folder: Path) -> None:
    listed = [("dev", "c1"), ("test", "c1")]
    read = ballots(folder, "clip,split,vote\nc1,test,fear\nc1,train,anger\n", listed=listed)
    assert read.tallies == [NO_VOTES, Tally({"fear": 1})]
    assert read.elsewhere == 1


@pytest.mark.parametrize(
    ("listed", "unlisted"), [([("dev", "c1"), ("test", "c1")], []), ([("test", "c1")], [("dev", "c1")])]
)
def test_without_a_split_an_id_of_two_splits_is_ambiguous(
    folder: Path, listed: list[tuple[str, str]], unlisted: list[tuple[str, str]]
) -> None:
    content = "clip,vote\nc2,anger\nc1,anger\nc1,fear\n"
    found: dict[str, Any] = {"listed": listed, "unlisted": frozenset(unlisted)}
    assert faults(folder, content, **found) == [(3, "vote-clip-ambiguous")]
    assert "dev, test" in message(folder, content, **found)
    assert ballots(folder, "clip,vote\nc2,anger\n", **found).elsewhere == 1


# --- the file


def test_columns_that_are_not_there_are_named_with_the_nearest(folder: Path) -> None:
    columns = VoteColumns(clip="clpi", listener="rater")
    assert faults(folder, "clip,vote\nc1,anger\n", columns) == [(0, "column-missing")] * 2
    assert message(folder, "clip,votes\nc1,anger\n") == "no column `vote` for `vote`, did you mean `votes`?"
    assert "`counts.other`" in message(folder, "clip,A,F\nc1,1,1\n", WIDE)


def test_a_file_without_rows_is_a_fault(folder: Path) -> None:
    assert message(folder, "clip,vote\n") == "the file of votes has 0 rows"


def test_json_lines_may_hold_counts_and_weights_as_numbers(folder: Path) -> None:
    wide = ballots(folder, '{"clip": "c1", "A": 2, "F": 0, "O": 1}\n', WIDE, name="votes.jsonl")
    assert wide.tallies[0].counts == {"anger": 2, "other": 1}
    long = ballots(folder, '{"clip": "c1", "vote": "fear", "weight": 0.25}\n', name="votes.jsonl")
    assert long.tallies[0].votes == (Vote("fear", None, 0.25),)
    beside = ballots(folder, '{"clip": "c1", "A": 1, "F": 0, "O": 0, "vote": 3}\n', WIDE, name="votes.jsonl")
    assert beside.tallies[0].counts == {"anger": 1}
    yes = '{"clip": "c1", "A": true, "F": 0, "O": 1}\n'
    assert faults(folder, yes, WIDE, name="votes.jsonl") == [(1, "vote-count")]
    null = '{"clip": "c1", "A": null, "F": 0, "O": 1}\n'
    assert faults(folder, null, WIDE, name="votes.jsonl") == [(1, "vote-cell-missing")]


ROWS = st.lists(
    st.tuples(st.sampled_from(["c1", "c2", "c3"]), st.sampled_from("abcdef"), st.sampled_from(OPTIONS)),
    min_size=1,
    unique_by=lambda row: row[:2],
)


@given(ROWS, st.randoms())
def test_no_vote_is_lost_and_the_order_of_rows_changes_nothing(
    folder: Path, rows: list[tuple[str, str, str]], chance: Any
) -> None:
    def read(rows: list[tuple[str, str, str]]) -> Ballots:
        return ballots(folder, "clip,listener,vote\n" + "".join(",".join(row) + "\n" for row in rows))

    first = read(rows)
    kept = {
        (clip, vote.listener, vote.option)
        for (_, clip), tally in zip(LISTED, first.tallies, strict=True)
        for vote in tally.votes
    }
    assert kept == {row for row in rows if row[0] != "c3"}
    assert first.votes_elsewhere == len(rows) - len(kept)
    chance.shuffle(rows)
    again = read(rows)
    assert (again.tallies, again.elsewhere) == (first.tallies, first.elsewhere)


@given(ROWS)
def test_both_forms_of_one_set_of_votes_count_the_same(folder: Path, rows: list[tuple[str, str, str]]) -> None:
    long = ballots(folder, "clip,listener,vote\n" + "".join(",".join(row) + "\n" for row in rows))
    clips = sorted({clip for clip, _, _ in rows})
    lines = [
        ",".join([clip, *(str(sum(row[0] == clip and row[2] == option for row in rows)) for option in OPTIONS)])
        for clip in clips
    ]
    wide = ballots(folder, "\n".join(["clip,A,F,O", *lines]), WIDE)
    assert [tally.counts for tally in wide.tallies] == [tally.counts for tally in long.tallies]
    assert wide.votes_elsewhere == long.votes_elsewhere


@pytest.mark.realdata
def test_real_votes_repeat_ten_rows_and_contradict_themselves_in_four(shared: Path, tmp_path: Path) -> None:
    content = (shared / "data/mos-listener-votes/TRAINSET_external.txt").read_text()
    form = Format(header=False, names=("system", "clip", "vote", "scale", "listener"))
    scale = ("1", "2", "3", "4", "5")
    how: dict[str, Any] = {"form": form, "rules": VoteRules(scale, scale), "listed": []}
    assert [code for _, code in faults(tmp_path, content, **how)] == ["vote-conflict"] * 4
    lines = content.splitlines(keepends=True)
    with pytest.raises(FaultyFile) as caught:
        ballots(tmp_path, content, **how)
    wrong = {fault.line for fault in caught.value.faults}
    read = ballots(tmp_path, "".join(line for n, line in enumerate(lines, 1) if n not in wrong), **how)
    ((code, told),) = read.notices
    assert (code, told.split()[0]) == ("repeated-vote", "10")
    assert (read.elsewhere, read.votes_elsewhere) == (789, 2467 - 14)
