"""A manifest as columns of strings: CSV, TSV, JSON Lines or Parquet, read once and never guessed at.

Every cell is a string or missing. A cell of CSV or TSV is missing when it is one of the suite's `na` words; in JSON
Lines and Parquet null is missing and `""` an error. Numbers are kept as they are written.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pytest_speval.errors import Fault, FaultyFile, MissingExtra

CODES = {
    "manifest-unreadable": "The manifest cannot be read, or its ending is none of .csv .tsv .jsonl .parquet.",
    "manifest-encoding": "The manifest's bytes are not text in the declared encoding.",
    "manifest-changed": "The manifest's SHA-256 is not the one the suite pins.",
    "manifest-syntax": "A row breaks the manifest's format: quotes, number of cells, JSON.",
    "no-rows": "The manifest has no rows, or the suite's `where` leaves none.",
    "column-repeated": "Two columns of the manifest have one name.",
    "column-missing": "The suite names a column that the manifest does not have.",
    "cell-type": "A cell of JSON Lines or Parquet is not a string where a string is wanted, or is empty.",
}
C1_CONTROLS = frozenset(map(chr, range(0x80, 0xA0)))
_MARKS = ((codecs.BOM_UTF32_LE, "UTF-32"), (codecs.BOM_UTF32_BE, "UTF-32"), (codecs.BOM_UTF16_LE, "UTF-16"),
          (codecs.BOM_UTF16_BE, "UTF-16"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Format:
    """How a manifest is written; a None delimiter follows the file's ending."""

    delimiter: str | None = None
    quoting: str = "csv"
    encoding: str = "utf-8"
    na: tuple[str, ...] = ("",)
    header: bool = True
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Manifest:
    """Rows of strings under named columns, with the SHA-256 of the file's bytes."""

    shown_as: str
    sha256: str
    names: tuple[str, ...]
    rows: Sequence[Sequence[str | None]]
    na: frozenset[str]
    first_line: int
    lines: Sequence[int] | None
    notices: tuple[tuple[str, str], ...] = ()

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    def line(self, row: int) -> int:
        """The line of the file, from 1, on which a row starts."""
        return self.lines[row] if self.lines is not None else self.first_line + row

    def fault(self, row: int | None, code: str, message: str) -> Fault:
        """A fault at a row of this manifest, or at the whole file."""
        return Fault(self.shown_as, 0 if row is None else self.line(row), 0, code, message)

    def has(self, name: str) -> bool:
        """Say whether there is a column of this name."""
        return name in self._places

    def column(self, name: str, *, keep_na: bool = False) -> list[str | None]:
        """The cells of one column; `na` words become None unless `keep_na`."""
        place = self._places[name]
        if keep_na or not self.na:
            return [row[place] for row in self.rows]
        if len(self.na) == 1:
            (missing,) = self.na
            return [None if (cell := row[place]) == missing else cell for row in self.rows]
        return [None if (cell := row[place]) in self.na else cell for row in self.rows]


def read_manifest(
    path: Path,
    shown_as: str,
    form: Format,
    *,
    sha256: str | None = None,
    numeric: Iterable[str] = (),
    empty: bool = False,
) -> Manifest:
    """Read a manifest whole.

    `numeric` names the columns in which JSON Lines and Parquet may hold numbers; `empty` allows a file without rows.
    Raises `FaultyFile` with every fault found.
    """
    readers: dict[str, Callable[..., Manifest]] = {
        ".csv": _delimited,
        ".tsv": _delimited,
        ".jsonl": _json_lines,
        ".parquet": _parquet,
    }
    reader = readers.get(path.suffix)
    if reader is None:
        raise FaultyFile(
            [Fault(shown_as, 0, 0, "manifest-unreadable", f"the ending must be one of {' '.join(readers)}")]
        )
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FaultyFile([Fault(shown_as, 0, 0, "manifest-unreadable", f"cannot be read: {error.strerror}")]) from error
    digest = hashlib.sha256(data).hexdigest()
    if sha256 is not None and digest != sha256:
        raise FaultyFile([Fault(shown_as, 0, 0, "manifest-changed", f"SHA-256 is {digest}, the suite pins {sha256}")])
    manifest = reader(data, digest, path, shown_as, form, frozenset(numeric))
    _check_columns(manifest, empty)
    return manifest


def _check_columns(manifest: Manifest, empty: bool) -> None:
    repeated = sorted({name for name in manifest.names if manifest.names.count(name) > 1})
    if repeated:
        raise FaultyFile(
            [manifest.fault(None, "column-repeated", f"the column `{name}` stands more than once") for name in repeated]
        )
    if not manifest.rows and not empty:
        raise FaultyFile([manifest.fault(None, "no-rows", "manifest has 0 rows")])


def _text(data: bytes, shown_as: str, encoding: str) -> str:
    for mark, name in _MARKS:
        if data.startswith(mark):
            message = f"the file starts with a {name} byte order mark; save it as UTF-8 or declare `format.encoding`"
            if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
                raise FaultyFile([Fault(shown_as, 1, 0, "manifest-encoding", message)])
    try:
        text = data.decode(encoding)
    except LookupError:
        raise FaultyFile([Fault(shown_as, 0, 0, "manifest-encoding", f"unknown encoding `{encoding}`")]) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"byte {error.start} (0x{data[error.start]:02x}) is not {encoding}"
        message = f"{found}; if the file is Windows text try `encoding: cp1252`"
        raise FaultyFile([Fault(shown_as, line, 0, "manifest-encoding", message)]) from error
    text = text.removeprefix("\ufeff")
    for sign, what in (
        ("\ufeff", "a byte order mark inside the file: were two files joined?"),
        ("\0", "a NUL character"),
    ):
        where = text.find(sign)
        if where >= 0:
            raise FaultyFile([Fault(shown_as, text.count("\n", 0, where) + 1, 0, "manifest-encoding", what)])
    return text


def _delimited(data: bytes, digest: str, path: Path, shown_as: str, form: Format, _numeric: frozenset[str]) -> Manifest:
    text = _text(data, shown_as, form.encoding)
    delimiter = form.delimiter or ("\t" if path.suffix == ".tsv" else ",")
    reader = _reader(text, delimiter, form.quoting)
    faults: list[Fault] = []
    limit = csv.field_size_limit(max(len(text), 1))
    try:
        rows = [row for row in reader if row]
    except csv.Error as error:
        faults.append(_quote_fault(text, delimiter, shown_as, str(error)))
        rows = []
    finally:
        csv.field_size_limit(limit)
    if faults:
        raise FaultyFile(faults)
    names = tuple(rows.pop(0)) if form.header and rows else form.names
    header_lines = 1 if form.header else 0
    lines = (
        None
        if reader.line_num == len(rows) + header_lines
        else _row_lines(text, delimiter, form.quoting)[header_lines:]
    )
    manifest = Manifest(
        shown_as, digest, names, rows, frozenset(form.na), header_lines + 1, lines, _control_notices(text)
    )
    width = len(names)
    faults = [
        manifest.fault(index, "manifest-syntax", f"{len(row)} cells where the header has {width}")
        for index, row in enumerate(rows)
        if len(row) != width
    ]
    if faults:
        raise FaultyFile(faults)
    return manifest


def _reader(text: str, delimiter: str, quoting: str) -> Any:
    style: Literal[0, 3] = csv.QUOTE_NONE if quoting == "none" else csv.QUOTE_MINIMAL
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=style, strict=True)


def _row_lines(text: str, delimiter: str, quoting: str) -> list[int]:
    """The line each row starts on; only walked when rows and lines differ."""
    reader = _reader(text, delimiter, quoting)
    lines, start = [], 1
    for row in reader:
        if row:
            lines.append(start)
        start = reader.line_num + 1
    return lines


def _quote_fault(text: str, delimiter: str, shown_as: str, complaint: str) -> Fault:
    """Name the line on which the quote that broke the file was opened."""
    reader = _reader(text, delimiter, "csv")
    line = 1
    try:
        for _ in reader:
            line = reader.line_num + 1
    except csv.Error:
        pass
    if "unexpected end" in complaint:
        message = f"quote opened on line {line} not closed; if quotes are text here, set `format.quoting: none`"
    else:
        message = f"{complaint}; if quotes are text here, set `format.quoting: none`"
    return Fault(shown_as, line, 0, "manifest-syntax", message)


def _control_notices(text: str) -> tuple[tuple[str, str], ...]:
    if text.isascii():
        return ()
    count = sum(map(text.count, C1_CONTROLS))
    return (
        (("c1-control-characters", f"{count} C1 control characters: Windows-1252 bytes repaired wrongly?"),)
        if count
        else ()
    )


def _json_lines(
    data: bytes, digest: str, _path: Path, shown_as: str, form: Format, numeric: frozenset[str]
) -> Manifest:
    text = _text(data, shown_as, form.encoding)
    faults: list[Fault] = []
    records: list[tuple[int, dict[str, Any]]] = []
    for line, piece in enumerate(text.split("\n"), start=1):
        piece = piece.removesuffix("\r")
        if not piece.strip(" \t"):
            continue
        try:
            record = json.loads(piece, object_pairs_hook=_unique, parse_int=_Literal, parse_float=_Literal)
        except ValueError as error:
            faults.append(Fault(shown_as, line, 0, "manifest-syntax", f"not a JSON object: {error}"))
            continue
        if isinstance(record, dict):
            records.append((line, record))
        else:
            faults.append(Fault(shown_as, line, 0, "manifest-syntax", "not a JSON object"))
    names = tuple(dict.fromkeys(name for _, record in records for name in record))
    rows = [
        [_cell(shown_as, line, name, record.get(name), numeric, faults) for name in names] for line, record in records
    ]
    if faults:
        raise FaultyFile(faults)
    return Manifest(
        shown_as, digest, names, rows, frozenset(), 1, [line for line, _ in records], _control_notices(text)
    )


class _Literal(str):
    """A JSON number, kept as it was written."""

    __slots__ = ()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError("a key stands twice")
    return record


def _cell(shown_as: str, line: int, name: str, value: Any, numeric: frozenset[str], faults: list[Fault]) -> str | None:
    if value is None or (isinstance(value, str) and value and not isinstance(value, _Literal)):
        return value
    if isinstance(value, _Literal) and name in numeric:
        return str(value)
    if value == "":
        message = f"`{name}` is an empty string; write null for a missing cell"
    elif isinstance(value, _Literal):
        message = f"`{name}` is the number {value} where a string is wanted; quote it"
    else:
        message = f"`{name}` is {json.dumps(value)} where a string is wanted"
    faults.append(Fault(shown_as, line, 0, "cell-type", message))
    return None


def _parquet(_data: bytes, digest: str, path: Path, shown_as: str, _form: Format, numeric: frozenset[str]) -> Manifest:
    try:
        import pyarrow.lib
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("parquet", f"reading {shown_as}") from error
    try:
        table = pyarrow.parquet.read_table(path)
    except (OSError, pyarrow.lib.ArrowException) as error:
        raise FaultyFile([Fault(shown_as, 0, 0, "manifest-unreadable", f"not a Parquet file: {error}")]) from error
    faults: list[Fault] = []
    columns = [
        list(_parquet_cells(shown_as, name, table.column(name).to_pylist(), numeric, faults))
        for name in table.column_names
    ]
    if faults:
        raise FaultyFile(faults)
    rows = list(zip(*columns, strict=True))
    return Manifest(shown_as, digest, tuple(table.column_names), rows, frozenset(), 1, None)


def _parquet_cells(
    shown_as: str, name: str, cells: list[Any], numeric: frozenset[str], faults: list[Fault]
) -> Iterator[str | None]:
    for line, value in enumerate(cells, start=1):
        plain_number = isinstance(value, int | float) and not isinstance(value, bool)
        yield _cell(shown_as, line, name, _Literal(repr(value)) if plain_number else value, numeric, faults)
