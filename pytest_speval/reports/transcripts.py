"""Transcripts as tables: how words were counted, what became of them, and which are mistaken for which."""

from __future__ import annotations

from pytest_speval.judge.result import Result
from pytest_speval.reports.cohorts import Table

SHOWN = 15
"""How many of the most frequent errors of a kind a report shows."""
MODEL_MADE = (
    "The references were made by a model: these figures say how far two models agree, and nothing of how right either "
    "of them is."
)


def transcript_tables(result: Result) -> list[Table]:
    """The words of a run and its most frequent errors; none for a task without transcripts."""
    found = result.published.get("transcription")
    if found is None:
        return []
    return [
        _words(found),
        *(_errors(found["confusions"][kind], kind) for kind in found["confusions"] if found["confusions"][kind]),
    ]


def _words(found: dict[str, object]) -> Table:
    normalizer = found["normalizer"]
    assert isinstance(normalizer, dict)
    said = [
        f"Words are counted after the normalizer {normalizer['name']} ({normalizer['version']}), case "
        f"{normalizer['case']}; references: {found['reference']}."
    ]
    said += [MODEL_MADE] if found["reference"] == "model" else []
    emptied = found["emptiedByNormalizer"]
    said += [f"References of which the normalizer left no word: {emptied}."] if emptied else []
    kinds = {
        "words in references": "referenceWords",
        "matched": "matches",
        "substituted": "substitutions",
        "deleted": "deletions",
        "inserted": "insertions",
        "references without a word": "referenceEmpty",
    }
    return Table(said, ("words", "count"), [(told, f"{found[name]:,}") for told, name in kinds.items()])


def _errors(rows: list[dict[str, object]], kind: str) -> Table:
    more = len(rows) - SHOWN
    said = [f"The most frequent {kind}{f'; {more} more in `out.json`' if more > 0 else ''}:"]
    return Table(
        said,
        [*rows[0]],
        [[f"{cell:,}" if name == "count" else cell for name, cell in row.items()] for row in rows[:SHOWN]],
    )
