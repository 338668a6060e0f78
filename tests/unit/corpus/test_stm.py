"""NIST's segments: fields, times, labels."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus.stm import COLUMNS, stm
from tests.unit.corpus.transcripts_written import NAMES, TEXTS, TIMES, faults, table

LABELS = st.none() | st.lists(NAMES, max_size=3).map(",".join)
SEGMENTS = st.tuples(NAMES, NAMES, NAMES, st.tuples(TIMES, TIMES).map(sorted), LABELS, TEXTS)


@given(segments=st.lists(SEGMENTS, max_size=5))
def test_what_is_written_is_read(
    segments: list[tuple[str, str, str, list[Decimal], str | None, str]],
) -> None:
    written = [
        f"{recording} {channel}\t{speaker} {begin} {end} {'' if labels is None else f'<{labels}> '}{words}"
        for recording, channel, speaker, (begin, end), labels, words in segments
    ]
    read = [dict(zip(COLUMNS, row, strict=True)) for row in stm("\n".join(written), "a.stm").rows]
    assert [
        (row["recording"], row["channel"], row["speaker"], [Decimal(str(row["begin"])), Decimal(str(row["end"]))],
         row["labels"], row["transcript"])
        for row in read
    ] == segments  # fmt: skip


def test_fields_labels_and_comments(tmp_path: Path) -> None:
    content = """;; LABEL "O" "Overall" "Overall Scores"
talk 1 Ann 0.00 16.09 <NA> ignore_time_segment_in_scoring
talk A Ann 16.090 17.10 <o,f0,female> well  <unk> so

  talk A Bob 17.1 17.1
"""
    read = table(tmp_path, content, "ref.stm")
    assert [tuple(row) for row in read.rows] == [
        ("talk_1_Ann_0_16.09", "talk", "1", "Ann", "0", "16.09", "NA", "ignore_time_segment_in_scoring"),
        ("talk_A_Ann_16.09_17.1", "talk", "A", "Ann", "16.09", "17.1", "o,f0,female", "well  <unk> so"),
        ("talk_A_Bob_17.1_17.1", "talk", "A", "Bob", "17.1", "17.1", None, ""),
    ]
    assert [read.line(row) for row in range(3)] == [2, 3, 5]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("talk 1 Ann 0.0", "stm-syntax"),
        ("talk", "stm-syntax"),
        ("talk 1 Ann 2 1 words", "stm-time"),
        ("talk 1 Ann -1 1 words", "stm-time"),
        ("talk 1 Ann 0 nan words", "stm-time"),
        ("talk 1 Ann 0 inf words", "stm-time"),
        ("talk 1 Ann 0 1_0 words", "stm-time"),
        ("talk 1 Ann 0 1,5 words", "stm-time"),
        ("talk 1 Ann 0 ١ words", "stm-time"),
        ("talk 1 Ann 0 1e999999 words", "stm-time"),
        ("talk 1 Ann words were said", "stm-time"),
    ],
)
def test_faults_have_their_lines(tmp_path: Path, line: str, code: str) -> None:
    assert faults(tmp_path, f"talk 1 Ann 0 1 a\n{line}\n", "ref.stm") == [f"ref.stm:2 {code}"]


@pytest.mark.parametrize("tag", ["<ALT_BEGIN>", "<alt>"])
def test_a_tag_of_alternatives_is_no_label(tag: str) -> None:
    (row,) = stm(f"r 1 s 0 1 {tag} cat", "ref.stm").rows
    assert row[-2:] == (None, f"{tag} cat")
