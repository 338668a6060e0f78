"""What a session says at its end, through pytest's own reporter; rich only renders the table."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from pytest_speval.judge.result import Result
from pytest_speval.reports.against import worsened
from pytest_speval.reports.document import unshared
from pytest_speval.reports.observation import unseen
from pytest_speval.reports.summary import Entry
from pytest_speval.reports.verdict import left_out, verdict_lines
from pytest_speval.reports.wording import number, receipt_line
from pytest_speval.scoring.bootstrap import ENOUGH_CLUSTERS

COLOURS = {
    "shard": "yellow",
    "pass": "green",
    "no gates": "green",
    "fail": "red",
    "invalid": "red",
    "skipped": "yellow",
    "partial": "yellow",
}
UNRELIABLE, NARROW = "*", "~"
"""Marks behind an interval."""


def write_summary(
    reporter: pytest.TerminalReporter,
    entries: Sequence[Entry],
    results: Sequence[Result],
    shown_out: str,
    keyid: str | None = None,
    notices: Sequence[str] = (),
) -> None:
    """The verdict table, the gates that need attention, where the reports are, and who signed their receipts."""
    reporter.write_sep("=", "speech evaluations")
    if reporter.config.get_verbosity() >= 0:
        for line in _table(entries, reporter._tw.fullwidth).splitlines():
            reporter.write_line(line.rstrip())
    for result in results:
        for audit in result.audits:
            if audit.waived is not None:
                reporter.write_line(f"{result.plan.suite}: audit[{audit.name}] waived: {audit.headline}")
        for told in (*unshared(result), *worsened(result), *unseen(result)):
            reporter.write_line(f"{result.plan.suite}: {told}")
        for changed in result.plan.post_hoc:
            reporter.write_line(f"{result.plan.suite}: post hoc: {changed}")
        if result.plan.rules.get("overrides"):
            reporter.write_line(f"{result.plan.suite}: overridden: {', '.join(result.plan.rules['overrides'])}")
        for told in left_out(result):
            reporter.write_line(f"{result.plan.suite}: {told}")
        for verdict in sorted(result.verdicts, key=lambda one: one.waived is None):
            if verdict.verdict == "fail" and not verdict.blocks:
                for line in verdict_lines(result, verdict):
                    reporter.write_line(line)
    for entry in entries:
        mark = {COLOURS[entry.verdict]: True, "bold": True}
        between = " " if entry.verdict == "shard" else ": "
        reason = f"{between}{entry.reason}" if entry.reason else ""
        about = [str(entry.document["model"])] if entry.document else []
        about += [entry.origin] if entry.origin else []
        shown = f" ({', '.join(about)})" if about else ""
        reporter.write_line(f"{entry.suite}{shown}: {entry.verdict}{reason}", **mark)
    for notice in notices:
        reporter.write_line(notice)
    if results:
        reporter.write_line(receipt_line(keyid))
    if any(entry.folder for entry in entries):
        reporter.write_line(f"reports: {shown_out}/summary.md")


def _table(entries: Sequence[Entry], width: int) -> str:
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    for head in ("suite", "estimate", "value", "interval", "planned", "gates", "verdict"):
        right = head in ("value", "planned", "gates")
        table.add_column(head, justify="right" if right else "left", overflow="fold")
    for entry in entries:
        table.add_row(*_row(entry))
    console = Console(file=io.StringIO(), width=width, no_color=True, highlight=False, markup=False, emoji=False)
    console.print(table)
    legend = {
        UNRELIABLE: "unreliable: too few effective clusters",
        NARROW: f"somewhat too narrow: fewer than {ENOUGH_CLUSTERS} effective clusters",
    }
    for mark, meaning in legend.items():
        if any(row[3].endswith(mark) for row in map(_row, entries)):
            console.print(f"{mark} {meaning}")
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def _mark(interval: Mapping[str, Any]) -> str:
    """How far an interval says too much."""
    if interval["unreliable"]:
        return UNRELIABLE
    return NARROW if interval["effective_clusters"] < ENOUGH_CLUSTERS else ""


def _row(entry: Entry) -> list[str]:
    document = entry.document
    if document is None:
        return [entry.suite, *["—"] * 5, entry.verdict]
    metric = document["metrics"][document["headline"]]
    interval = metric["interval"]
    sure = "—" if interval is None else f"{interval['low']:.3f}..{interval['high']:.3f}{_mark(interval)}"
    passed = sum(gate["verdict"] == "pass" for gate in document["gates"])
    gates = f"{passed}/{len(document['gates'])}" if document["gates"] else "none"
    planned = f"{document['counts']['planned']:,}"
    return [entry.suite, document["headline"], number(metric["value"]), sure, planned, gates, entry.verdict]
