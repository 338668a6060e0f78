"""Numbers as the cells of tables hold them."""

from __future__ import annotations

import re

from pytest_speval.corpus.lines import BLANK

_NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)", re.ASCII | re.IGNORECASE
)


def number_of(cell: str) -> float | None:
    """The number that a cell holds, blanks around it aside; None where it holds none.

    Digits are ASCII and nothing stands between them: `1_0` is no number. `inf` and `nan` are numbers here:
    whoever wants a finite one says so.
    """
    text = cell.strip(BLANK)
    return float(text) if _NUMBER.fullmatch(text) else None
