"""The values that no artifact may hold: those of the environment variables that adapters' own keys refer to.

Redaction goes by value. Wherever a value stands, plainly or in one of its usual encodings, its reference `${NAME}`
takes its place.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self
from urllib.parse import quote, quote_plus

from pydantic import BaseModel

from pytest_speval.suite.check import adapter_entries
from pytest_speval.suite.document import read_file
from pytest_speval.suite.suite import Suite
from pytest_speval.suite.tree import as_written
from pytest_speval.suite.variables import variables

SHORTEST = 6
"""Values of fewer characters are no secrets: they would be found in every text."""
_CUT = re.compile(r"(\.{3,}|`?…)")
"""The mark of a cut, with dots of the value itself and the quote that ends what was cut."""


@dataclass(frozen=True, slots=True, repr=False)
class Secrets:
    """Every form a secret value may take -> the name of its variable, longest first; false where there is none.

    Equal values of several variables go by the name that comes first in the alphabet.
    """

    forms: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    _pattern: re.Pattern[str] = field(init=False)
    _mask: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_pattern", re.compile("|".join(map(re.escape, self.forms)) or "(?!)"))
        used = {sign for form in self.forms for sign in form}
        object.__setattr__(self, "_mask", next(sign for sign in map(chr, count(ord("•"))) if sign not in used))

    @classmethod
    def of(cls, suites: Iterable[Suite], environ: Mapping[str, str]) -> Self:
        """The secrets of some suites: every variable in an adapter's own keys, but for keys that are paths.

        A value that stands in a suite's labels is none: an answer may say it.
        """
        suites = list(suites)
        names = {name for suite in suites for _, keys in suite.adapters for name in references(keys.own)}
        labels = [suite.keys.labels.model_dump_json() for suite in suites if suite.keys.labels is not None]
        values = {name: environ.get(name, "") for name in names}
        return cls.hiding({name: value for name, value in values.items() if not any(value in said for said in labels)})

    @classmethod
    def suspected(cls, files: Iterable[Path], environ: Mapping[str, str]) -> Self:
        """The secrets of suite files before any key model is known: every variable in an adapter's keys."""
        roots = [root for file in files if (root := read_file(file).root) is not None]
        nodes = [entry.value for root in roots for _, _, entry in adapter_entries(root)]
        names = {name for node in nodes for name in variables(str(as_written(node)))}
        return cls.hiding({name: environ.get(name, "") for name in names})

    @classmethod
    def hiding(cls, values: Mapping[str, str]) -> Self:
        """The secrets with these values, by the names of their variables."""
        forms: dict[str, str] = {}
        for name, value in sorted(values.items()):
            for form in _forms(value):
                forms.setdefault(form, name)
        return cls(MappingProxyType(dict(sorted(forms.items(), key=lambda pair: (-len(pair[0]), pair[0])))))

    def __bool__(self) -> bool:
        return bool(self.forms)

    def __repr__(self) -> str:
        return f"Secrets({', '.join(sorted(set(self.forms.values())))})"

    def redact(self, text: str) -> str:
        """The text with `${NAME}` in place of every secret; the same object where there is none."""
        if not self._pattern.search(text):
            return text
        told = self._pattern.sub(lambda found: f"${{{self.forms[found[0]]}}}", text)
        # A value may itself be made of such references, or arise where one meets the text beside it.
        return self._pattern.sub(self._mask, text) if self._pattern.search(told) else told

    def redact_cut(self, text: str) -> str:
        """The redacted text of which parts may be cut off, marked by `...` or `…`.

        Of a secret that a cut goes through neither its beginning nor its end is left, from 6 characters on.
        """
        told = self.redact(text)
        if self.forms and _CUT.search(told):
            for form, name in self.forms.items():
                if form[:SHORTEST] in told or form[-SHORTEST:] in told:
                    told = _without_ends(told, form, f"${{{name}}}")
        return told

    def redact_data(self, value: Any) -> Any:
        """Plain JSON data with all its strings redacted, keys too; the same object where there is no secret."""
        if not self.forms or value is None or isinstance(value, int | float):
            return value
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, Mapping):
            return self._redact_table(value)
        if isinstance(value, list | tuple):
            items = [self.redact_data(item) for item in value]
            return value if _same(items, value) else items if isinstance(value, list) else tuple(items)
        return value

    def _redact_table(self, table: Mapping[Any, Any]) -> Mapping[Any, Any]:
        keys, values = [self.redact_data(key) for key in table], [self.redact_data(value) for value in table.values()]
        if _same(keys, table) and _same(values, table.values()):
            return table
        told: dict[Any, Any] = {}
        for key, value in zip(keys, values, strict=True):
            told[next(name for name in _numbered(key) if name not in told)] = value
        return told


NO_SECRETS = Secrets()


def references(value: object) -> Iterator[str]:
    """The variables that the values of an adapter's keys refer to; a `Path` is a place and no secret."""
    if isinstance(value, str):
        yield from variables(value)
    elif isinstance(value, BaseModel):
        yield from references(dict(value))
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from references(inner)


def _same(new: Iterable[object], old: Iterable[object]) -> bool:
    return all(one is other for one, other in zip(new, old, strict=True))


def _numbered(key: Any) -> Iterator[Any]:
    """A key, and further ones for others that were redacted to the same."""
    yield key
    yield from (f"{key} ({number})" for number in count(2))


def _without_ends(text: str, form: str, reference: str) -> str:
    """A text with a reference for a form's beginning before every cut, and for its end after every cut."""
    pieces = _CUT.split(text)
    lengths = range(len(form) - 1, SHORTEST - 1, -1)
    for place in range(0, len(pieces), 2):
        piece = pieces[place]
        head = next((n for n in lengths if place < len(pieces) - 1 and piece.endswith(form[:n])), 0)
        piece = piece[: len(piece) - head] + reference if head else piece
        tail = next((n for n in lengths if place and piece.startswith(form[-n:])), 0)
        pieces[place] = reference + piece[tail:] if tail else piece
    return "".join(pieces)


def _forms(value: str) -> Iterator[str]:
    """A value, its lines, and what they look like in URLs, JSON, Python's own notation and base64."""
    for part in dict.fromkeys((value, value.strip(), *map(str.strip, value.splitlines()))):
        if len(part) >= SHORTEST:
            escaped = {part, *_escaped(part)}
            yield from escaped
            for once in escaped:
                yield from _escaped(once)
            yield from _in_url(part)
            yield from _in_base64(part.encode("utf-8", "surrogateescape"))


def _escaped(text: str) -> Iterator[str]:
    """A text inside JSON, and inside what Python shows of strings and bytes, in either kind of quotes."""
    yield json.dumps(text)[1:-1]
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    shown: list[Callable[[str], str]] = [repr, ascii, lambda text: repr(text.encode("utf-8", "surrogateescape"))[1:]]
    for show in shown:
        single = show(f'{text}"')[1:-2]  # a double quote inside makes Python choose single ones
        yield single
        yield single.replace("\\'", "'")


def _in_url(text: str) -> Iterator[str]:
    for quoted in (quote(text, "", errors="surrogateescape"), quote(text, errors="surrogateescape"),
                   quote_plus(text, errors="surrogateescape")):  # fmt: skip
        yield quoted
        yield re.sub("%..", lambda found: found[0].lower(), quoted)


def _in_base64(data: bytes) -> Iterator[str]:
    """Data alone, and the part of a longer text that depends on the data alone, wherever it begins there."""
    for alphabet in (base64.b64encode, base64.urlsafe_b64encode):
        yield alphabet(data).decode()
        yield alphabet(data).decode().rstrip("=")
        for before in range(3):
            first, last = -(-before * 8 // 6), (before + len(data)) * 8 // 6
            yield alphabet(bytes(before) + data).decode()[first:last]
