"""The report for people: it parses as Markdown, and no foreign text breaks or takes over the page (H67)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from pytest_speval.audit.finding import Audit, Finding
from pytest_speval.corpus.labels import LabelRules
from pytest_speval.evidence.ending import UNATTEMPTED, Ending
from pytest_speval.judge.result import Result
from pytest_speval.reports.markdown import CELL_LIMIT, WORST_CLIPS, escaped, markdown_report, table
from tests.runs import FAILED, MODEL, TIMES, Clip, gate, judged, said, waiver

PARSER = MarkdownIt("commonmark").enable("table")
LIVE = {"html_inline", "html_block", "link_open", "image", "code_inline", "code_block", "fence", "em_open",
        "strong_open", "s_open", "heading_open", "bullet_list_open", "ordered_list_open", "hr", "blockquote_open",
        "softbreak", "hardbreak"}  # fmt: skip
HOSTILE = [
    "a|b|c",
    "<img src=x onerror=alert(1)>",
    "`` ` ``",
    "[x](javascript:1)",
    "![x](http://example.org/x.png)",
    "one\ntwo\r\nthree\rfour\x0bfive\x0csix\x85seven\u2028eight\u2029nine",
    "**bold** _low_ ~~gone~~ ***",
    "# head",
    "&lt;b&gt; &amp; &#124;",
    "\\| \\` \\",
    "| --- | --- |",
    "</td></table><script>x</script>",
    "http://x.y/?a=1&b=2",
    "\\",
]


def tokens(text: str) -> list[Token]:
    return [inner for token in PARSER.parse(text) for inner in (token, *(token.children or ()))]


def cells_of(text: str) -> list[list[str]]:
    """The text that each cell of each table row shows, as a reader sees it."""
    rows: list[list[str]] = []
    parsed = PARSER.parse(text)
    for place, token in enumerate(parsed):
        if token.type == "tr_open":
            rows.append([])
        if token.type in ("td_open", "th_open"):
            inline = parsed[place + 1]
            rows[-1].append("".join(child.content for child in inline.children or ()))
    return rows


def seen(text: str) -> str:
    """How a text should read in a cell."""
    for end in ("\r\n", "\n", "\r", "\v", "\f", "\x85", "\u2028", "\u2029"):
        text = text.replace(end, "⏎")
    return text.strip()


@pytest.mark.parametrize("text", HOSTILE)
def test_foreign_text_is_shown_as_it_is_and_does_nothing(text: str) -> None:
    page = "\n".join(table(("clip", "said"), [("c1", text), (text, "x")]))
    assert cells_of(page) == [["clip", "said"], ["c1", seen(text)], [seen(text), "x"]]
    assert not {token.type for token in tokens(page)} & LIVE
    assert "\n" not in escaped(text)


def test_special_characters_are_written_as_the_standard_wants() -> None:
    assert escaped("a|b|c") == r"a\|b\|c"
    assert escaped("<img src=x onerror=alert(1)>") == "&lt;img src=x onerror=alert(1)&gt;"
    assert escaped("`` ` ``") == r"\`\` \` \`\`"
    assert escaped("[x](javascript:1)") == r"\[x\](javascript:1)"
    assert escaped("*a* & b") == r"\*a\* &amp; b"
    assert escaped("one\ntwo\r\nthree") == "one⏎two⏎three"
    assert escaped(None) == "None"
    assert escaped(3) == "3"


def test_long_text_is_cut_and_says_how_long_it_was() -> None:
    assert escaped("x" * 100_000) == "x" * CELL_LIMIT + "… (100000 characters)"
    assert escaped("x" * CELL_LIMIT) == "x" * CELL_LIMIT
    assert escaped("<" * 300) == "&lt;" * CELL_LIMIT + "… (300 characters)"


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30), max_size=4))
@settings(max_examples=300, deadline=None)
def test_every_row_has_as_many_cells_as_its_head(texts: list[str]) -> None:
    page = "\n".join(table(("a", "b"), [(text, "end") for text in texts]))
    rows = cells_of(page)
    assert [len(row) for row in rows] == [2] * (len(texts) + 1)
    assert not {token.type for token in tokens(page)} & LIVE
    assert [row[1] for row in rows[1:]] == ["end"] * len(texts)


def report(result: Result) -> str:
    return markdown_report(result, TIMES)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_foreign_text_takes_over_a_whole_report(text: str) -> None:
    def page(word: str) -> str:
        labels = (f"a{word}", "b")
        clips = [
            Clip("c0", labels[0], said(labels[0]), "ann"),
            Clip(f"c{word}", "b", Ending("failed", code="raised", message=word), word),
            Clip("c2", "b", FAILED, excluded=word),
        ]
        rules: dict[str, Any] = {"describe": word, "claim": {"limits": [word]}, "overrides": [word]}
        audits = [Audit("corpus", (Finding("warning", "silent", word),))]
        gates = [gate(min=0.1, id="g", why=word), gate(min=0.9, id="w", why=word, waiver=waiver(reason=word))]
        model = {**MODEL, "name": word, "identity": {"files": {word: word}}}
        result = judged(clips, labels, *gates, rules=rules, audits=audits, adapter=model)
        return report(result)

    hostile, tame = page(text), page("word")

    def shape(markdown: str) -> list[str]:
        return [token.type for token in PARSER.parse(markdown)]

    assert shape(hostile) == shape(tame)
    assert not {token.type for token in tokens(hostile)} & {"html_inline", "html_block", "link_open", "image"}
    assert [len(row) for row in cells_of(hostile)] == [len(row) for row in cells_of(tame)]
    assert any(seen(text) in cell for row in cells_of(hostile) for cell in row)


@pytest.mark.parametrize("describe", ["- item", "1. item", "+ item", "---", "    code", "\tcode", "> said", "=== x"])
def test_a_description_is_a_paragraph_whatever_it_begins_with(describe: str) -> None:
    parsed = PARSER.parse(report(judged([Clip("c", "sad", said("sad"))], rules={"describe": describe})))
    assert [token.type for token in parsed[:9]].count("paragraph_open") == 2
    assert "hr" not in {token.type for token in parsed}


CLIPS = [
    *(Clip(f"c{number}", "happy", said("happy"), f"s{number % 4}") for number in range(6)),
    Clip("c6", "sad", said("happy"), "s1"),
    Clip("c7", "sad", said("glad"), "s2"),
    Clip("c8", "sad", FAILED, "s3"),
    Clip("c9", "calm", FAILED, excluded="mis-cut"),
]


def test_both_sums_and_every_column_are_printed() -> None:
    page = report(judged(CLIPS))
    assert "**10 listed = 9 planned + 1 excluded; planned = 7 answered + 1 abstained + 1 failed.**" in page
    rows = cells_of(page)
    assert ["reference", "happy", "sad", "calm", "abstained", "outside", "failed", "sum"] in rows
    assert ["happy", "6", "0", "0", "0", "0", "0", "6"] in rows
    assert ["sad", "1", "0", "0", "0", "1", "1", "3"] in rows
    assert ["calm", "0", "0", "0", "0", "0", "0", "0"] in rows
    assert ["happy", "6", "0.8571", "0.6667", "1.0000", "0.7778", "0.9231", "0.7179"] in rows
    assert ["sad", "3", "—", "—", "0.0000", "0.0000", "0.0000", "0.0000"] in rows
    assert next(row for row in rows if row[0] == "accuracy")[:4] == ["accuracy", "0.6667", "6 / 9", "9"]
    assert ["mis-cut", "1"] in rows


def test_large_counts_are_printed_in_full() -> None:
    result = judged(CLIPS)
    accuracy = replace(result.estimates["accuracy"], numerator=1_256_789, denominator=2_610_001)
    page = report(replace(result, estimates={**result.estimates, "accuracy": accuracy}))
    assert "| 1,256,789 / 2,610,001 |" in page


def test_an_estimate_without_a_value_says_why() -> None:
    rows = cells_of(report(judged([Clip("c", "sad", FAILED)])))
    (row,) = (row for row in rows if row[0] == "macro_f1" and len(row) == 5)
    assert row == ["macro_f1", "—", "", "1", "undefined: no clip came back"]


def test_values_over_answered_clips_stand_only_where_they_say_something_new() -> None:
    assert "answered\\_only" in report(judged(CLIPS))
    assert "answered\\_only" not in report(judged(CLIPS[:7]))


def test_gates_are_told_with_both_numbers_flips_and_reason() -> None:
    gates = [
        gate(min=0.7, why="Deliberately low."),
        gate("coverage", min=0.5),
        gate("speakers", min=9, level="warn", id="waived", waiver=waiver()),
        gate("macro_f1", min=0.1, bound="low", id="bound"),
    ]
    rows = cells_of(report(judged(CLIPS, ("happy", "sad", "calm"), *gates)))
    told = [row for row in rows if row[0] in ("accuracy-gate", "coverage-gate", "waived", "bound")]
    assert [row[1:3] for row in told] == [
        ["fail", "accuracy 0.66667 < 0.7"],
        ["pass", "coverage 0.77778 >= 0.5"],
        ["fail (waived)", "speakers 4 < 9"],
        ["pass", told[3][2]],
    ]
    assert told[3][2].startswith("macro_f1 (low bound) 0.")
    assert told[0][4:] == ["1", "Deliberately low."]
    assert told[0][3].startswith("95% interval ")


def test_an_invalid_gate_is_told_by_its_reason() -> None:
    rows = cells_of(report(judged([*CLIPS, Clip("d", "sad", UNATTEMPTED)], ("happy", "sad", "calm"), gate(min=0.1))))
    assert next(row for row in rows if row[0] == "accuracy-gate")[1:3] == [
        "invalid",
        "9 of 10 clips: no verdict",
    ]


def test_a_suite_without_gates_says_so_and_a_partial_run_has_none() -> None:
    assert "\nNo gates.\n" in report(judged(CLIPS))
    assert "No gates." not in report(judged(CLIPS, partial=True))
    assert "Partial run: no verdict was wanted." in report(judged(CLIPS, partial=True))


@pytest.mark.parametrize("given", [True, False])
def test_lost_clips_are_named_up_to_a_limit(given: bool) -> None:
    clips = [Clip(f"c{number:02}", "sad", FAILED) for number in range(WORST_CLIPS + 5)]
    page = report(judged(clips, split_given=given))
    first = "test/c00" if given else "c00"
    assert [first, "failed", "raised: RuntimeError: no luck (classify, line 7)"] in cells_of(page)
    assert page.count("no luck") == WORST_CLIPS
    assert "5 more in `clips.jsonl`." in page


def test_audits_are_listed_with_all_their_findings() -> None:
    audits = [
        Audit("corpus", (Finding("notice", "silent", "one clip is silent", ("test/c1",)),)),
        Audit("adapter", ()),
    ]
    page = report(judged(CLIPS, audits=audits))
    assert ["corpus", "pass", "notice", "silent", "one clip is silent", "1"] in cells_of(page)
    assert "Nothing found by adapter." in page


def test_affect_has_no_table_of_labels() -> None:
    vad = {"valence": 0.25, "arousal": 0.5, "dominance": 0.75}
    clips = [Clip(f"c{n}", "", said(vad=vad), cells={"valence": str(n / 4)}) for n in range(4)]
    page = report(judged(clips, task="affect", ranges={"valence": (0.0, 1.0)}))
    assert "## Labels" not in page
    rows = cells_of(page)
    assert next(row for row in rows if row[0] == "mae.valence")[1:3] == ["0.2500", "1.0000 / 4"]
    assert next(row for row in rows if row[0] == "ccc.arousal")[4] == "undefined: the corpus has no column `arousal`"


def test_the_plan_can_be_found_again() -> None:
    result = judged(CLIPS, adapter={**MODEL, "identity": {"files": {"a.onnx": "f" * 64}}})
    rows = cells_of(report(result))
    assert ["question SHA-256", result.plan.question.digest] in rows
    assert ["plan SHA-256", result.plan.digest] in rows
    assert ["model file a.onnx", "f" * 64] in rows
    assert ["version of pytest-speval", "0"] in rows


def test_a_report_ends_with_one_line_end_and_has_no_trailing_blank_lines() -> None:
    page = report(judged(CLIPS, label_rules=LabelRules(("happy", "sad", "calm"), absent="zero")))
    assert page.endswith("\nunsigned receipt\n")
    assert "\n\n\n" not in page
