"""Records of JSON Lines and Parquet as rows of strings.

Null is a missing cell. Where a string is wanted, `""` and every other type are errors; a number stays as it is written.
Where several strings may stand in a cell, a list of them is a tuple here: each once, in their order.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from pytest_speval.errors import Fault, FaultyFile, MissingExtra

CODES = {
    "cell-type": "A cell of JSON Lines or Parquet is not a string where a string is wanted, or is empty.",
}


Cell = str | None | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which columns may hold numbers, which must hold strings (None: all others), which may hold lists of strings, and
    in which of those that must hold strings `""` is a text.

    What stands in any other column is kept as its JSON text.
    """

    numeric: Container[str]
    texts: Container[str] | None
    lists: Container[str] = field(default_factory=frozenset)
    blank: Container[str] = field(default_factory=frozenset)

    def text(self, name: str) -> bool:
        """Say whether a column must hold strings."""
        return name not in self.numeric and (self.texts is None or name in self.texts)


@dataclass(frozen=True, slots=True)
class Records:
    """Rows under named columns; `lines` holds the line of each row, None where a row is its own line."""

    names: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    lines: Sequence[int] | None


def json_lines(text: str, shown_as: str, wanted: Wanted) -> Records:
    """One object a line; only line feeds end a line. Raises `FaultyFile` with every fault found."""
    faults: list[Fault] = []
    records: list[tuple[int, dict[str, Any]]] = []
    for line, piece in enumerate(text.split("\n"), start=1):
        piece = piece.removesuffix("\r")
        if not piece.strip(" \t"):
            continue
        try:
            records.append((line, _record(piece)))
        except (ValueError, RecursionError) as error:
            faults.append(Fault(shown_as, line, 0, "manifest-syntax", f"not a JSON object: {error}"))
    names = tuple(dict.fromkeys(name for _, record in records for name in record))
    rows = [
        [_cell(shown_as, line, name, record.get(name), wanted, faults) for name in names] for line, record in records
    ]
    if faults:
        raise FaultyFile(faults)
    return Records(names, rows, [line for line, _ in records])


def parquet(data: bytes, shown_as: str, wanted: Wanted) -> Records:
    """The bytes of a Parquet file. Raises `FaultyFile` with every fault found, `MissingExtra` without pyarrow."""
    try:
        import pyarrow.lib
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("parquet", f"reading {shown_as}") from error
    try:
        table = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data)).read()
    except (OSError, pyarrow.lib.ArrowException) as error:
        raise FaultyFile([Fault(shown_as, 0, 0, "manifest-unreadable", f"not a Parquet file: {error}")]) from error
    faults: list[Fault] = []
    columns = [
        list(_parquet_cells(shown_as, name, column.to_pylist(), wanted, faults))
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    if faults:
        raise FaultyFile(faults)
    return Records(tuple(table.column_names), list(zip(*columns, strict=True)), None)


class _Literal(str):
    """A number, kept as it was written."""

    __slots__ = ()


def _record(piece: str) -> dict[str, Any]:
    record = json.loads(piece, object_pairs_hook=_unique, parse_int=_Literal, parse_float=_Literal)
    if not isinstance(record, dict):
        raise ValueError(f"it is {_shown(record)}")
    if "\\u" in piece:
        json.dumps(record, ensure_ascii=False).encode()  # half a surrogate pair is no text
    return record


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError("a key stands twice")
    return record


def _cell(shown_as: str, line: int, name: str, value: Any, wanted: Wanted, faults: list[Fault]) -> Cell:
    number = isinstance(value, _Literal)
    if value is None or (isinstance(value, str) and (value or name in wanted.blank) and not number):
        return value
    if number and name in wanted.numeric:
        return str(value)
    shown = _shown(value)
    if isinstance(value, list) and name in wanted.lists:
        if all(isinstance(item, str) and item and not isinstance(item, _Literal) for item in value):
            return tuple(sorted(set(value)))
        message = f"`{name}` is {shown} where a string or a flat list of strings is wanted"
    elif name in wanted.numeric:
        message = f"`{name}` is {shown} where a number is wanted"
    elif not wanted.text(name):
        return str(value) if isinstance(value, str) else shown
    elif value == "":
        message = f"`{name}` is an empty string; write null for a missing cell"
    elif number:
        message = f"`{name}` is the number {shown} where a string is wanted; quote it"
    else:
        message = f"`{name}` is {shown} where a string is wanted"
    faults.append(Fault(shown_as, line, 0, "cell-type", message))
    return None


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, _Literal) else json.dumps(value, default=repr)


def _parquet_cells(shown_as: str, name: str, cells: list[Any], wanted: Wanted, faults: list[Fault]) -> Iterator[Cell]:
    for line, value in enumerate(cells, start=1):
        number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
        yield _cell(shown_as, line, name, _Literal(value) if number else value, wanted, faults)
