"""The base of every key model, and the kinds of text that several sections share."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, WithJsonSchema

SUITE_NAME = r"^[a-z0-9][a-z0-9_-]*$"
ITEM_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
SHA256 = r"^[0-9a-fA-F]{64}$"
SAID = r"\S"
DOTTED = r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$"
BYTES = r"^[0-9]+(KiB|MiB|GiB)?$"
_UNITS = {None: 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

PATTERNS = {
    SUITE_NAME: "lower-case letters, digits, `-` and `_`, beginning with a letter or digit",
    ITEM_NAME: "letters, digits, `.`, `-` and `_`, beginning with a letter or digit",
    SHA256: "64 hexadecimal digits",
    SAID: "a text that says something",
    DOTTED: "a name of Python such as `package.module.function`",
}
"""Pattern -> what it asks for, as it goes after "expected"."""


class Keys(BaseModel):
    """Frozen and strict: no unknown key, no coercion, no NaN or infinity.

    Adapters derive the model of their own keys from it. A field annotated `pathlib.Path` is a path relative to
    the file that names it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


Said = Annotated[str, Field(pattern=SAID)]
ItemName = Annotated[str, Field(pattern=ITEM_NAME)]
Dotted = Annotated[str, Field(pattern=DOTTED)]
Sha256 = Annotated[str, StringConstraints(pattern=SHA256, to_lower=True)]


def _bytes(value: object) -> object:
    """A size as a number of bytes; what is neither text nor a size is left to the model to refuse."""
    if not isinstance(value, str):
        return value
    if (found := re.fullmatch(BYTES, value)) is None:
        raise ValueError(f"expected whole bytes, or a size in KiB, MiB or GiB such as 45MiB, got `{value}`")
    return int(value.removesuffix(found[1] or "")) * _UNITS[found[1]]


ByteCount = Annotated[
    int,
    Field(ge=0),
    BeforeValidator(_bytes),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": BYTES}]}),
]
"""A number of bytes, written as a whole number or with KiB, MiB or GiB."""


def _listed(value: object) -> object:
    return value if isinstance(value, tuple | list) else (value,)


ColumnNames = Annotated[
    tuple[str, ...],
    Field(min_length=1),
    BeforeValidator(_listed),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
]
"""One column or a list of columns, joined as a tuple."""
