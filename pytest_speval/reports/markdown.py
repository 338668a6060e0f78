"""`report.md`: a run for people. Text that users or models wrote cannot break or take over the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pytest_speval.gates import judged
from pytest_speval.judge.result import Result
from pytest_speval.reports.against import against_tables
from pytest_speval.reports.cohorts import Table, cohort_tables, outcome_table
from pytest_speval.reports.document import Times, claims, level, notes
from pytest_speval.reports.labels import label_tables
from pytest_speval.reports.observation import observation_tables
from pytest_speval.reports.ratings import rating_tables, uncompared
from pytest_speval.reports.transcripts import transcript_tables
from pytest_speval.reports.verdict import how_sure
from pytest_speval.reports.wording import number, receipt_line, spread, sums

CELL_LIMIT = 200
WORST_CLIPS = 20
OWN = ("ccc.", "mae.", "known_only.", "agreement.", "pearson.", "spearman.", "mse.")
"""How estimates begin that have a dot and are no label's."""
_SPECIAL = re.compile(r"([\\`*_\[\]|~#])")


def escaped(text: object) -> str:
    """Foreign text as one line of inert Markdown, cut at 200 characters with its length."""
    whole = str(text)
    cut = whole if len(whole) <= CELL_LIMIT else f"{whole[:CELL_LIMIT]}… ({len(whole)} characters)"
    entities = cut.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"\r\n|[\n\r\v\f\x85\u2028\u2029]", "⏎", _SPECIAL.sub(r"\\\1", entities))


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A Markdown table; every cell is escaped."""
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    return lines + [f"| {' | '.join(map(escaped, row))} |" for row in rows] + [""]


def markdown_report(result: Result, times: Times, keyid: str | None = None) -> str:
    """The whole report of one run; `keyid` names the key that its receipt is signed with."""
    parts = (
        _head(result, times),
        _gates(result),
        _estimates(result),
        _labels(result),
        _outcomes(result),
        _transcripts(result),
        _ratings(result),
        _observation(result),
        _cohorts(result),
        _against(result),
        _clips(result),
        _claims(result),
        _audits(result),
        _plan(result, keyid),
    )
    return "\n".join(line for part in parts for line in part).rstrip() + "\n"


def _head(result: Result, times: Times) -> list[str]:
    plan = result.plan
    describe = plan.rules.get("describe")
    lines = [f"# {escaped(plan.suite)}: {escaped(plan.question.adapter['name'])}", ""]
    lines += [f"About: {escaped(describe)}", ""] if describe else []
    lines += [f"Task {plan.question.task}, started {times.started:%Y-%m-%dT%H:%M:%SZ}, {times.elapsed:.1f} s.", ""]
    lines += [f"**{sums(result.counts)}.**", ""]
    found = notes(result)
    return lines + [f"- {escaped(note)}" for note in found] + ([""] if found else [])


def _gates(result: Result) -> list[str]:
    if not result.verdicts:
        return ["No gates.", ""] if not result.partial else []
    rows = []
    for verdict in result.verdicts:
        rule = verdict.rule
        told = verdict.reason or judged(rule, verdict.value or 0.0)
        flips = "—" if verdict.flips is None else f"{verdict.flips:,}"
        shown = f"{verdict.verdict}{' (waived)' if verdict.waived else ''}"
        rows.append((rule.id, shown, told, how_sure(verdict), flips, rule.why))
    return ["## Gates", "", *table(("gate", "verdict", "judged", "how sure", "flips", "why"), rows)]


def _estimates(result: Result) -> list[str]:
    rows, whole = [], result.counts.answered == result.counts.planned
    for name, estimate in result.estimates.items():
        if not _shown(name, whole) or uncompared(result, name):
            continue
        ratio = "" if estimate.denominator is None else f"{_sum(estimate.numerator)} / {_sum(estimate.denominator)}"
        sure = spread(estimate) if estimate.value is not None else f"undefined: {estimate.reason}"
        rows.append((name, number(estimate.value), ratio, f"{estimate.n:,}", sure))
    return ["## Estimates", "", *table(("estimate", "value", "ratio", "n", "how sure"), rows)]


def _sum(value: int | float | None) -> str:
    """A count in full, or a sum of measured values."""
    return f"{value:,}" if isinstance(value, int) else number(value)


def _shown(name: str, whole: bool) -> bool:
    """Labels have a table of their own; figures over answered clips say nothing new where all answered."""
    if name.startswith("answered_only."):
        return not whole
    return "." not in name or name.startswith((*OWN, "latency_ms."))


def _labels(result: Result) -> list[str]:
    lines = [line for found in label_tables(result) for line in _told(found)]
    return ["## Labels", "", *lines] if lines else []


def _outcomes(result: Result) -> list[str]:
    found = outcome_table(result)
    return [] if found is None else ["## Outcomes", "", *_told(found)]


def _transcripts(result: Result) -> list[str]:
    lines = [line for found in transcript_tables(result) for line in _told(found)]
    return ["## Words", "", *lines] if lines else []


def _ratings(result: Result) -> list[str]:
    lines = [line for found in rating_tables(result) for line in _told(found)]
    return ["## Ratings", "", *lines] if lines else []


def _observation(result: Result) -> list[str]:
    lines = [line for found in observation_tables(result) for line in _told(found)]
    return ["## Observation", "", *lines] if lines else []


def _cohorts(result: Result) -> list[str]:
    lines = ["## Cohorts", ""] if result.cohorts else []
    for name, tables in cohort_tables(result):
        lines += [f"### {escaped(name)}", "", *(line for found in tables for line in _told(found))]
    return lines


def _against(result: Result) -> list[str]:
    lines = ["## Against the baseline", ""] if result.comparisons else []
    for title, tables in against_tables(result):
        lines += [f"### {escaped(title)}", "", *(line for found in tables for line in _told(found))]
    return lines


def _told(found: Table) -> list[str]:
    said = [line for text in found.said for line in (escaped(text), "")]
    return said + (table([*map(escaped, found.head)], found.rows) if found.rows else [])


def _clips(result: Result) -> list[str]:
    name = result.plan.question.name
    rows = enumerate(result.rows) if result.counts.failed + result.counts.unknown else ()
    lost = [(name(place), row.status, row.reason) for place, row in rows if row.status in ("failed", "unknown")]
    lines: list[str] = []
    if lost:
        lines += ["## Clips that did not come back", "", *table(("clip", "status", "reason"), lost[:WORST_CLIPS])]
        lines += [f"{len(lost) - WORST_CLIPS:,} more in `clips.jsonl`.", ""] if len(lost) > WORST_CLIPS else []
    if result.exclusions:
        lines += ["## Excluded", "", *table(("reason", "clips"), result.exclusions.items())]
    return lines


def _claims(result: Result) -> list[str]:
    said: dict[bool | str, str] = {True: "yes", False: "no"}
    rows = [(line.claim, said.get(line.supported, str(line.supported)), line.why) for line in claims(result)]
    return ["## Claims", "", f"{level(result)}.".capitalize(), "", *table(("claim", "supported", "why"), rows)]


def _audits(result: Result) -> list[str]:
    rows = [
        (
            audit.name,
            "fail" if audit.failed else "pass",
            finding.severity,
            finding.code,
            finding.message,
            len(finding.clips) or "",
        )
        for audit in result.audits
        for finding in audit.findings
    ]
    clean = [audit.name for audit in result.audits if not audit.findings]
    lines = ["## Audits", ""]
    lines += [f"Nothing found by {', '.join(clean)}.", ""] if clean else []
    return lines + (table(("audit", "verdict", "severity", "code", "finding", "clips"), rows) if rows else [])


def _plan(result: Result, keyid: str | None) -> list[str]:
    plan = result.plan
    identity = plan.question.adapter["identity"]
    lock = next((audit.headline for audit in result.audits if audit.name == "lock"), "none: nothing was frozen")
    rows = [("question SHA-256", plan.question.digest), ("plan SHA-256", plan.digest), ("lock", lock)]
    rows += [(f"model file {name}", digest) for name, digest in sorted(identity["files"].items())]
    rows += [(f"version of {name}", version) for name, version in sorted(plan.versions.items())]
    return ["## Plan", "", *table(("what", "value"), rows), receipt_line(keyid), ""]
