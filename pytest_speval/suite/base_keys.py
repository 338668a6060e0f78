"""The base of every key model, and the kinds of text that several sections share."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, WithJsonSchema

SUITE_NAME = r"^[a-z0-9][a-z0-9_-]*$"
ITEM_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
SHA256 = r"^[0-9a-fA-F]{64}$"
SAID = r"\S"
MANIFEST = r"(\.(csv|tsv|jsonl|parquet)|\})$"

PATTERNS = {
    SUITE_NAME: "lower-case letters, digits, `-` and `_`, beginning with a letter or digit",
    ITEM_NAME: "letters, digits, `.`, `-` and `_`, beginning with a letter or digit",
    SHA256: "64 hexadecimal digits",
    SAID: "a text that says something",
    MANIFEST: "a file that ends in .csv, .tsv, .jsonl or .parquet",
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
Sha256 = Annotated[str, StringConstraints(pattern=SHA256, to_lower=True)]


def _listed(value: object) -> object:
    return value if isinstance(value, tuple | list) else (value,)


ColumnNames = Annotated[
    tuple[str, ...],
    Field(min_length=1),
    BeforeValidator(_listed),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
]
"""One column or a list of columns, joined as a tuple."""
