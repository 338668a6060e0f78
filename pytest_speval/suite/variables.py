"""References to environment variables: `${NAME}`. They stay unexpanded until a value is used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pytest_speval.errors import SpevalError

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def variables(text: str | Path) -> tuple[str, ...]:
    """The names a text refers to, each once, in the order of their first place."""
    return tuple(dict.fromkeys(_REFERENCE.findall(str(text))))


def malformed(text: str) -> bool:
    """Whether a `${` stands in the text that begins no reference."""
    return "${" in _REFERENCE.sub("", text)


def expand(text: str | Path, environ: Mapping[str, str]) -> str:
    """Put in the values of all variables, once: a value is not looked through for further references.

    Raises SpevalError `unset-variable` when a variable is unset or empty.
    """
    for name in variables(text):
        if not environ.get(name):
            raise SpevalError("unset-variable", f"the environment variable {name} is not set (needed in {text})")
    return _REFERENCE.sub(lambda found: environ[found[1]], str(text))
