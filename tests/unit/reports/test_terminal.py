"""What a session says at its end."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pytest_speval.judge.result import Result
from pytest_speval.reports.document import out_document
from pytest_speval.reports.summary import Entry
from pytest_speval.reports.terminal import COLOURS, write_summary
from tests.runs import TIMES, Clip, gate, judged, said, waiver


@dataclass
class Reporter:
    """Remembers lines and how they were marked."""

    verbosity: int = 0
    width: int = 100
    lines: list[str] = field(default_factory=list)
    marks: dict[str, dict[str, bool]] = field(default_factory=dict)

    @property
    def config(self) -> Any:
        return SimpleNamespace(get_verbosity=lambda: self.verbosity)

    @property
    def _tw(self) -> Any:
        return SimpleNamespace(fullwidth=self.width)

    def write_sep(self, sep: str, title: str) -> None:
        self.lines.append(f"{sep} {title}")

    def write_line(self, line: str, **marks: bool) -> None:
        self.lines.append(line)
        self.marks[line] = marks


@pytest.mark.parametrize(("speakers", "mark"), [(9, "*"), (10, "~"), (29, "~"), (30, "")])
def test_an_interval_of_fewer_than_thirty_speakers_is_marked(speakers: int, mark: str) -> None:
    clips = [Clip(f"c{n}", "happy", said("sad" if n < 3 else "happy"), f"s{n:02}") for n in range(speakers)]
    result = judged(clips, ("happy", "sad"))
    reporter = told([Entry("voice", "voice/1", "pass", None, out_document(result, TIMES))], [result])
    row = next(line for line in reporter.lines if line.split()[:1] == ["voice"])
    assert row.split()[3].lstrip("0123456789.") == mark
    narrow = "~ somewhat too narrow: fewer than 30 effective clusters"
    assert (narrow in reporter.lines) == (mark == "~")


def run(*gates: Any, suite: str = "voice", verdict: str = "pass", **rules: Any) -> tuple[Entry, Result]:
    clips = [Clip(f"c{n}", "happy", said("happy" if n % 3 else "sad"), f"s{n % 4}") for n in range(1200)]
    result = judged(clips, ("happy", "sad"), *gates, rules=rules)
    return Entry(suite, f"{suite}/1", verdict, result.invalid, out_document(result, TIMES)), result


def told(entries: list[Entry], results: list[Result], **keys: Any) -> Reporter:
    reporter = Reporter(**keys)
    write_summary(cast(pytest.TerminalReporter, reporter), entries, results, ".speval")
    return reporter


def test_a_table_of_verdicts_and_where_the_reports_are() -> None:
    entry, result = run(gate(min=0.5), gate("coverage", min=0.5))
    reporter = told([entry, Entry("meld", None, "skipped", "set SPEVAL_MELD", None)], [result])
    assert reporter.lines[0] == "= speech evaluations"
    (head,) = (line for line in reporter.lines if line.split()[:2] == ["suite", "estimate"])
    assert head.split() == ["suite", "estimate", "value", "interval", "planned", "gates", "verdict"]
    row = next(line for line in reporter.lines if line.split()[:1] == ["voice"])
    assert row.split()[1:3] + row.split()[4:] == ["macro_f1", "0.8000", "1,200", "2/2", "pass"]
    assert row.split()[3].endswith("*")
    assert "* unreliable: too few effective clusters" in reporter.lines
    assert ["meld", *["—"] * 5, "skipped"] in [line.split() for line in reporter.lines]
    assert reporter.marks["voice (small-net): pass"] == {"green": True, "bold": True}
    assert reporter.marks["meld: skipped: set SPEVAL_MELD"] == {"yellow": True, "bold": True}
    assert reporter.lines[-1] == "reports: .speval/summary.md"


def test_what_was_let_through_is_told_in_full_waivers_first() -> None:
    entry, result = run(
        gate(min=0.9, id="warned", level="warn"),
        gate(min=0.9, id="waived", waiver=waiver()),
        gate(min=0.9, id="blocks"),
    )
    heads = [line for line in told([entry], [result]).lines if line.startswith("gate ")]
    assert [line.split()[1] for line in heads] == ["waived", "warned"]


def test_overrides_are_told() -> None:
    entry, result = run(overrides=["run.max_failed=9"])
    assert "voice: overridden: run.max_failed=9" in told([entry], [result]).lines


def test_quiet_sessions_have_no_table() -> None:
    entry, result = run(gate(min=0.5))
    lines = told([entry], [result], verbosity=-1).lines
    assert lines == [
        "= speech evaluations",
        "voice (small-net): pass",
        "unsigned receipt",
        "reports: .speval/summary.md",
    ]


def test_without_a_folder_there_are_no_reports() -> None:
    lines = told([Entry("meld", None, "skipped", "set SPEVAL_MELD", None)], []).lines
    assert not any(line.startswith("reports") for line in lines)


@pytest.mark.parametrize("name", ["voice[small]", "[red]voice[/red]", ":smile:", "a" * 60])
def test_names_are_no_markup(name: str) -> None:
    entry, result = run(suite=name)
    table = "".join("".join(line.split()) for line in told([entry], [result], width=200).lines)
    assert name in table


def test_a_narrow_terminal_folds_and_loses_nothing() -> None:
    entry, result = run(gate(min=0.5))
    lines = told([entry], [result], width=40).lines
    assert all(len(line) <= 40 for line in lines[1:] if "small-net" not in line and "unreliable" not in line)


@pytest.mark.parametrize("verdict", COLOURS)
def test_every_verdict_has_a_colour(verdict: str) -> None:
    reporter = told([Entry("voice", None, verdict, None, None)], [])
    assert reporter.marks[f"voice: {verdict}"][COLOURS[verdict]]
