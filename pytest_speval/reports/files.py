"""The files that a result amounts to: what a run leaves beside its evidence, and what a verifier writes anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pytest_speval.evidence.canonical import canonical
from pytest_speval.judge.result import Result
from pytest_speval.reports.document import Times
from pytest_speval.reports.markdown import markdown_report


def result_files(
    result: Result, document: Mapping[str, Any], times: Times, keyid: str | None
) -> dict[str, Iterable[bytes]]:
    """Name -> content in pieces, to be gone through once; `document` is that of `out.json`.

    `keyid` names the key that the run's receipt is signed with.
    """
    return {
        "clips.jsonl": (canonical(row.as_dict()) + b"\n" for row in result.rows),
        "out.json": (canonical(document) + b"\n",),
        "report.md": (markdown_report(result, times, keyid).encode(),),
    }
