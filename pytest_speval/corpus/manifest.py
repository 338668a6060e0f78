"""A manifest as columns of strings: a table, records or transcripts, read once and never guessed at.

Every cell is a string or missing. A cell of CSV or TSV is missing when it is one of the suite's `na` words; what JSON
Lines and Parquet may hold is said in `records`. Files of transcripts have columns of their own: see `kaldi`, `trn`,
`stm` and `ctm`.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, cast

from pytest_speval.corpus import records, styles
from pytest_speval.corpus.collector import collector_paused
from pytest_speval.corpus.records import Cell
from pytest_speval.errors import Fault, FaultyFile

CODES = {
    "manifest-unreadable": "The manifest cannot be read, or neither its ending nor `format.style` says how.",
    "manifest-encoding": "The manifest's bytes are not text in the declared encoding.",
    "manifest-changed": "The manifest's SHA-256 is not the one the suite pins.",
    "manifest-syntax": "A row breaks the manifest's format: quotes, number of cells, JSON.",
    "no-rows": "The manifest has no rows, or the suite's `where` leaves none.",
    "column-repeated": "Two columns of the manifest have one name.",
    "column-missing": "The suite names a column that the manifest does not have.",
    **records.CODES,
    **styles.CODES,
}
C1_CONTROLS = frozenset(map(chr, range(0x80, 0xA0)))
_MARKS = ((codecs.BOM_UTF32_LE, "UTF-32"), (codecs.BOM_UTF32_BE, "UTF-32"), (codecs.BOM_UTF16_LE, "UTF-16"),
          (codecs.BOM_UTF16_BE, "UTF-16"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Format:
    """How a manifest is written; a None `style` or delimiter follows the file's ending."""

    style: str | None = None
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
    rows: Sequence[Sequence[Cell]]
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
        """The cells of one column that holds no lists; `na` words become None unless `keep_na`."""
        return cast("list[str | None]", self.cells(name, self.na if keep_na else frozenset()))

    def cells(self, name: str, keep: frozenset[str] = frozenset()) -> list[Cell]:
        """The cells of one column; `na` words become None unless they are among those to `keep`."""
        place, na = self._places[name], self.na - keep
        cells = [row[place] for row in self.rows]
        if not any(missing in cells for missing in na):
            return cells
        return [None if cell in na else cell for cell in cells]


def read_manifest(
    path: Path,
    shown_as: str,
    form: Format,
    *,
    sha256: str | None = None,
    numeric: Iterable[str] = (),
    texts: Collection[str] | None = None,
    lists: Collection[str] = (),
    blank: Collection[str] = (),
    empty: bool = False,
) -> Manifest:
    """Read a manifest whole.

    `numeric` names the columns in which JSON Lines and Parquet may hold numbers, `texts` those that must hold strings
    (None: all others), `lists` those in which a list of strings may stand too, `blank` those in which `""` is a text.
    Whatever else these files hold is kept as its JSON text. `empty` allows a file without rows. Raises `FaultyFile`
    with every fault found.
    """
    style = style_of(path, form)
    if style is None:
        endings = " ".join(f".{name}" for name in _READERS if name not in styles.UNTOLD)
        message = f"the ending must be one of {endings}; where it is another, say `format: {{style: …}}`"
        raise FaultyFile([Fault(shown_as, 0, 0, "manifest-unreadable", message)])
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FaultyFile([Fault(shown_as, 0, 0, "manifest-unreadable", f"cannot be read: {error.strerror}")]) from error
    digest = hashlib.sha256(data).hexdigest()
    if sha256 is not None and digest != sha256:
        raise FaultyFile([Fault(shown_as, 0, 0, "manifest-changed", f"SHA-256 is {digest}, the suite pins {sha256}")])
    form = replace(form, style=style, delimiter=form.delimiter or ("\t" if style == "tsv" else ","))
    wanted = records.Wanted(frozenset(numeric), texts, frozenset(lists), blank)
    manifest = _READERS[style](data, digest, shown_as, form, wanted)
    _check_columns(manifest, empty)
    return manifest


def style_of(path: Path, form: Format) -> str | None:
    """How a file is written: what was said, else what its ending says; None where that is nothing known."""
    ending = path.suffix.removeprefix(".")
    return form.style or (ending if ending in _READERS and ending not in styles.UNTOLD else None)


def _check_columns(manifest: Manifest, empty: bool) -> None:
    repeated = sorted({name for name in manifest.names if manifest.names.count(name) > 1})
    if repeated:
        raise FaultyFile(
            [manifest.fault(None, "column-repeated", f"the column `{name}` stands more than once") for name in repeated]
        )
    if not manifest.rows and not empty:
        raise FaultyFile([manifest.fault(None, "no-rows", "manifest has 0 rows")])


def decoded(data: bytes, shown_as: str, encoding: str) -> str:
    """The text of a file without a byte order mark; raises `FaultyFile` for what is none in this encoding."""
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
    except UnicodeError as error:
        raise FaultyFile([Fault(shown_as, 0, 0, "manifest-encoding", f"not {encoding}: {error}")]) from error
    text = text.removeprefix("\ufeff")
    for sign, what in (
        ("\ufeff", "a byte order mark inside the file: were two files joined?"),
        ("\0", "a NUL character"),
    ):
        where = text.find(sign)
        if where >= 0:
            raise FaultyFile([Fault(shown_as, text.count("\n", 0, where) + 1, 0, "manifest-encoding", what)])
    return text


def _delimited(data: bytes, digest: str, shown_as: str, form: Format, _wanted: records.Wanted) -> Manifest:
    text = decoded(data, shown_as, form.encoding)
    delimiter = form.delimiter or ","
    if delimiter in '"\r\n':
        message = f"{delimiter!r} cannot be the delimiter: it already has a meaning in a table"
        raise FaultyFile([Fault(shown_as, 0, 0, "manifest-syntax", message)])
    header = 1 if form.header else 0
    with _fields_of_any_size(text), collector_paused():
        reader = _reader(text, delimiter, form.quoting)
        try:
            rows = [row for row in reader if row]
        except csv.Error as error:
            raise FaultyFile([_quote_fault(text, delimiter, shown_as, str(error))]) from error
        walked = None if reader.line_num == len(rows) else _row_lines(text, delimiter, form.quoting)[header:]
    names = tuple(rows.pop(0)) if form.header and rows else form.names
    manifest = Manifest(shown_as, digest, names, rows, frozenset(form.na), header + 1, walked, _control_notices(text))
    width, whence = len(names), "the header has" if form.header else "`format.names` has"
    if set(map(len, rows)) - {width}:
        raise FaultyFile(
            manifest.fault(index, "manifest-syntax", f"{len(row)} cells where {whence} {width}")
            for index, row in enumerate(rows)
            if len(row) != width
        )
    return manifest


@contextmanager
def _fields_of_any_size(text: str) -> Iterator[None]:
    limit = csv.field_size_limit(max(len(text), 1))
    try:
        yield
    finally:
        csv.field_size_limit(limit)


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


def _json_lines(data: bytes, digest: str, shown_as: str, form: Format, wanted: records.Wanted) -> Manifest:
    text = decoded(data, shown_as, form.encoding)
    read = records.json_lines(text, shown_as, wanted)
    return Manifest(shown_as, digest, read.names, read.rows, frozenset(), 1, read.lines, _control_notices(text))


def _parquet(data: bytes, digest: str, shown_as: str, _form: Format, wanted: records.Wanted) -> Manifest:
    read = records.parquet(data, shown_as, wanted)
    return Manifest(shown_as, digest, read.names, read.rows, frozenset(), 1, read.lines)


def _transcripts(data: bytes, digest: str, shown_as: str, form: Format, _wanted: records.Wanted) -> Manifest:
    text = decoded(data, shown_as, form.encoding)
    read = styles.TRANSCRIPTS[form.style or ""](text, shown_as)
    return Manifest(shown_as, digest, read.names, read.rows, frozenset(), 1, read.lines, _control_notices(text))


_READERS: Mapping[str, Callable[[bytes, str, str, Format, records.Wanted], Manifest]] = {
    "csv": _delimited,
    "tsv": _delimited,
    "jsonl": _json_lines,
    "parquet": _parquet,
    **dict.fromkeys(styles.TRANSCRIPTS, _transcripts),
}
