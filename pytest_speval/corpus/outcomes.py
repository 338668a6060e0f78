"""Outcomes that a manifest records: what became of a clip that somebody tried."""

from __future__ import annotations

from typing import Literal, get_args

from pytest_speval.corpus.clips import Clips
from pytest_speval.errors import Fault, FaultyFile

CODES = {"outcome-unknown": "A recorded outcome is none of matched, failed, unknown."}
Outcome = Literal["matched", "failed", "unknown"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


def require_outcomes(clips: Clips, entry: str) -> None:
    """Every planned clip needs one of the three outcomes; raises `FaultyFile` with all that have another."""
    cells = clips.cells["outcome"]
    strange = [place for place in clips.planned if cells[place] not in OUTCOMES]
    if strange:
        known = ", ".join(OUTCOMES)
        raise FaultyFile(
            Fault(entry, clips.lines[place], 0, "outcome-unknown", f"the outcome `{cells[place]}` is none of {known}")
            for place in strange
        )
