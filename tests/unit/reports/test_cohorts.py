"""What a report says of groups: their names cannot take it over, and it compares none with another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.corpus.cohorts import CohortRule
from pytest_speval.evidence.canonical import canonical
from pytest_speval.judge.group import SmallGroups
from pytest_speval.judge.result import Result
from pytest_speval.reports.cohorts import NO_CAUSE
from pytest_speval.reports.document import out_document
from pytest_speval.reports.markdown import markdown_report
from tests.runs import TIMES, Clip, judged, said
from tests.unit.reports.test_markdown import cells_of

HOSTILE = "<script>x</script> | **bold**\n# no"


def run(accents: Sequence[Any], *, small: SmallGroups | None = None, rule: CohortRule | None = None) -> Result:
    clips = [
        Clip(
            f"c{place}", "happy", said("happy"), f"s{place % 3}",
            cells={"cohort.accent": accent, "condition.device": "phone" if place else None},
        )
        for place, accent in enumerate(accents)
    ]  # fmt: skip
    return judged(clips, ("happy", "sad"), cohorts=[rule or CohortRule("accent")], small_groups=small)


def section(result: Result) -> str:
    return markdown_report(result, TIMES).partition("## Cohorts")[2].partition("\n## ")[0]


def test_every_table_of_groups_says_that_a_difference_is_no_cause() -> None:
    shown = section(run(["us", "gb", None]))
    assert NO_CAUSE in shown
    assert "overlap" not in shown
    assert "In all 3 clips of 3 speakers, each counted once." in shown


def test_where_groups_come_from_is_told() -> None:
    rule = CohortRule("accent", source="self-described", version="2")
    assert "Groups: source: self-described, version 2." in section(run(["us"], rule=rule))


def test_a_group_that_is_too_small_is_shown_as_suppressed() -> None:
    shown = section(run(["us", "us", "gb"], small=SmallGroups(2, 1)))
    assert (
        "| “gb” | 1 | 0 | 1 | 1 | — | — | — | — | suppressed: 1 of 2 clips that score.small\\_groups asks for |"
        in shown
    )
    assert "1 suppressed group not shown here." in shown
    assert "“gb”" not in shown.partition("Planned clips by device")[2]


@given(st.lists(st.one_of(st.none(), st.text(min_size=1), st.just(HOSTILE)), min_size=1, max_size=4))
def test_names_of_groups_cannot_take_over_a_report(names: list[str | None]) -> None:
    result = run([name.encode("utf-8", "replace").decode() if name else None for name in names])
    shown = section(result)
    assert "<script>" not in shown
    rows = cells_of(shown)
    assert {len(row) for row in rows if len(row) > 5} == {10}
    assert canonical(out_document(result, TIMES))


def test_without_cohorts_nothing_is_said_of_them() -> None:
    result = judged([Clip("a", "happy", said("happy"))])
    document = out_document(result, TIMES)
    assert document["cohorts"] == {}
    assert "cohortTotals" not in document
    assert "Cohorts" not in markdown_report(result, TIMES)
    assert "cohorts" not in next(iter(result.rows)).as_dict()
