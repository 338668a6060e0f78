"""Reference transcripts must be texts whose words can be counted."""

from __future__ import annotations

import pytest

from pytest_speval.corpus import transcripts
from pytest_speval.corpus.own_normalizers import register
from pytest_speval.corpus.transcripts import require_transcripts
from pytest_speval.errors import FaultyFile, MissingExtra
from pytest_speval.suite.text_keys import Text


def faults(*cells: str, keys: Text | None = None, planned: list[int] | None = None) -> list[str]:
    places = list(range(len(cells))) if planned is None else planned
    try:
        require_transcripts(keys or Text(), cells, places, "clips.csv", range(2, len(cells) + 2))
    except FaultyFile as faulty:
        return [str(fault) for fault in faulty.faults]
    return []


def test_all_are_named_with_their_lines() -> None:
    assert faults("yes", "", " \t", "{ um / uh } yes", "yes { / }") == [
        "clips.csv:3: the transcript has no word; exclude the clip, or say `text.empty: reference` [transcript-empty]",
        "clips.csv:4: the transcript has no word; exclude the clip, or say `text.empty: reference` [transcript-empty]",
        "clips.csv:5: the transcript offers alternatives, `{ um / uh }`, which cannot be counted: write the words that "
        "were said, or exclude the clip [transcript-alternatives]",
        "clips.csv:6: the transcript offers alternatives, `{ / }`, which cannot be counted: write the words that "
        "were said, or exclude the clip [transcript-alternatives]",
    ]


def test_references_without_a_word_may_be_allowed() -> None:
    assert not faults("yes", "", keys=Text(empty="reference"))


def test_clips_that_are_not_planned_need_no_words() -> None:
    assert not faults("", "yes", "{ a / b }", planned=[1])


@pytest.mark.parametrize("mark", ["IGNORE_TIME_SEGMENT_IN_SCORING", "ignore_time_segment_in_scoring"])
def test_segments_that_are_not_to_be_scored_are_excluded_by_the_suite_or_refused(mark: str) -> None:
    (found,) = faults("yes", mark)
    assert found == (
        f"clips.csv:3: the segment is marked `{mark}`: exclude such clips with a reason, "
        f"`exclude_where: [{{column: transcript, is: [{mark}], reason: …}}]` [transcript-ignored]"
    )
    assert not faults("yes", mark, planned=[0])


@pytest.mark.parametrize("tag", ["<ALT_BEGIN>", "<ALT>", "<ALT_END>", "<alt>", "<Alt_Begin>"])
def test_tags_around_alternatives_are_no_words(tag: str) -> None:
    (found,) = faults("yes", f"yes {tag} no")
    assert found.startswith(f"clips.csv:3: the transcript offers alternatives, `{tag}`, which cannot be counted")


@pytest.mark.parametrize(
    "said", ["<ALTO>", "ALT", "< ALT >", "and/or { this }", "km/h", "{a/b}", "a / b", "1 / 2 { half }"]
)
def test_braces_and_strokes_alone_are_no_alternatives(said: str) -> None:
    assert not faults(said)


def test_a_text_that_ones_own_normalizer_fails_at_is_named_with_its_line() -> None:
    def leaves(said: str) -> str:
        raise SystemExit(said == "no")

    try:
        register([{"leaves": leaves}])
        (found,) = faults("no", keys=Text(normalizer="leaves"))
    finally:
        register(())
    assert found == "clips.csv:2: the normalizer `leaves` raised SystemExit for `no`: True [normalizer-failed]"


def test_a_normalizer_that_is_not_installed_is_a_fault_of_the_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(_: Text) -> None:
        raise MissingExtra("english", "text.normalizer english")

    monkeypatch.setattr(transcripts, "text_rules", absent)
    (found,) = faults("yes")
    assert "text.normalizer: text.normalizer english needs pytest-speval[english]" in found
