"""`summary.json` and `summary.md`: every run of a session's suites, failed ones too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_speval.reports.markdown import table
from pytest_speval.reports.wording import number

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One run of one suite: its folder below the output folder and what `out.json` says, or why there is none.

    `origin` says where answers come from that were not all asked for now: `replayed` or `resumed`.
    """

    suite: str
    folder: str | None
    verdict: str
    reason: str | None
    document: Mapping[str, Any] | None
    origin: str | None = None


def summary_document(entries: Sequence[Entry], earlier: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The session as data; `earlier` maps a suite to the folders of its earlier runs."""
    return {
        "schemaVersion": SCHEMA,
        "runs": [
            {
                "suite": entry.suite,
                "folder": entry.folder,
                "verdict": entry.verdict,
                "reason": entry.reason,
                "origin": entry.origin,
                "model": entry.document and entry.document["model"],
                "headline": entry.document and entry.document["headline"],
                "value": entry.document and entry.document["metrics"][entry.document["headline"]]["value"],
                "counts": entry.document and entry.document["counts"],
                "gates": [] if entry.document is None else [
                    {key: gate[key] for key in ("id", "metric", "value", "verdict", "reason")}
                    for gate in entry.document["gates"]
                ],
            }
            for entry in entries
        ],
        "earlier": {suite: list(folders) for suite, folders in sorted(earlier.items()) if folders},
    }  # fmt: skip


def summary_markdown(document: Mapping[str, Any]) -> str:
    """The session for people."""
    rows = [
        (
            run["suite"],
            run["verdict"],
            run["headline"] or "—",
            number(run["value"]),
            "—" if run["counts"] is None else f"{run['counts']['planned']:,}",
            run["reason"] or "",
            run["folder"] or "—",
        )
        for run in document["runs"]
    ]
    head = ("suite", "verdict", "headline", "value", "planned", "reason", "folder")
    lines = ["# Session", "", *table(head, rows)]
    for suite, folders in document["earlier"].items():
        lines += [f"## Earlier runs of {suite}", "", *(f"- {folder}" for folder in folders), ""]
    return "\n".join(lines).rstrip() + "\n"
