"""A second count of word errors, by a way that shares nothing with the first: the plain table, row by row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

LARGE = 4096
"""Tables with more cells are walked a row at a time in numpy."""


def fewest_errors(reference: Sequence[str], hypothesis: Sequence[str]) -> int:
    """The edit distance of two sequences (R. Wagner and M. Fischer, The String-to-String Correction Problem, 1974)."""
    if len(reference) * len(hypothesis) > LARGE:
        return _by_rows(reference, hypothesis)
    row = list(range(len(hypothesis) + 1))
    for place, word in enumerate(reference, start=1):
        diagonal, row[0] = row[0], place
        for column, other in enumerate(hypothesis, start=1):
            here = min(diagonal + (word != other), row[column] + 1, row[column - 1] + 1)
            diagonal, row[column] = row[column], here
    return row[-1]


def _by_rows(reference: Sequence[str], hypothesis: Sequence[str]) -> int:
    codes: dict[str, int] = {}
    heard = np.array([codes.setdefault(word, len(codes)) for word in hypothesis])
    steps = np.arange(len(hypothesis) + 1)
    row = steps.copy()
    for place, word in enumerate(reference, start=1):
        below = row + 1
        below[0] = place
        np.minimum(below[1:], row[:-1] + (heard != codes.get(word, -1)), out=below[1:])
        row = np.minimum.accumulate(below - steps) + steps
    return int(row[-1])


def replayed(ops: str, reference: Sequence[str], hypothesis: Sequence[str]) -> tuple[int, int, int, int] | None:
    """Matches, substitutions, deletions and insertions on the way that the operations go.

    None where they do not lead from the reference to the hypothesis, match what differs, or substitute what is alike.
    """
    said, heard = iter(reference), iter(hypothesis)
    counts = dict.fromkeys("MSDI", 0)
    for kind in ops:
        word = next(said, None) if kind in "MSD" else None
        other = next(heard, None) if kind in "MSI" else None
        absent = (kind in "MSD" and word is None) or (kind in "MSI" and other is None)
        if kind not in counts or absent or (kind in "MS" and (word == other) != (kind == "M")):
            return None
        counts[kind] += 1
    if next(said, None) is not None or next(heard, None) is not None:
        return None
    return counts["M"], counts["S"], counts["D"], counts["I"]
