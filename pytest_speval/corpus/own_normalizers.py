"""Normalisers of a user's own, offered by name through the hook `pytest_speval_normalizers`.

They hold for one process and session, as the words of a suite do: the roof registers them before it reads a suite.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from pytest_speval.corpus import text
from pytest_speval.corpus.text import NORMALIZERS, Normalizer
from pytest_speval.errors import UsageFault
from pytest_speval.suite import text_keys

CODES = {
    "normalizer-repeated": "Two normalisers are offered under one name.",
    "normalizer-unusable": "What a hook offers as a normaliser cannot be called, or shows no source to be digested.",
    "normalizer-failed": "A user's normaliser raised, or returned something that is no text in UTF-8.",
}
HOOK = "pytest_speval_normalizers"


def register(offered: Iterable[object]) -> None:
    """Make these, and only these, the session's own normalisers: each is `{name: callable}`, text to text.

    Raises `UsageFault` for what cannot be used.
    """
    found: dict[str, Normalizer] = {}
    for more in offered:
        if not isinstance(more, Mapping):
            message = f"{HOOK} returned {type(more).__name__}; it must return {{name: callable}}"
            raise UsageFault("normalizer-unusable", message)
        for name, rewrite in more.items():
            if name in found or name in NORMALIZERS:
                raise UsageFault("normalizer-repeated", f"the normalizer `{name}` is offered twice; rename one")
            found[name] = own_normalizer(name, rewrite)
    text.registered.clear()
    text.registered.update(found)
    text_keys.registered.clear()
    text_keys.registered.update(found)


def own_normalizer(name: object, rewrite: Any) -> Normalizer:
    """A normaliser from a callable; raises `UsageFault`.

    The digest is that of the name, the version and the file that defines the callable. The version is its attribute
    `version`, a text, else the beginning of that file's digest.
    """
    if not isinstance(name, str) or not name.strip():
        raise UsageFault("normalizer-unusable", f"the name of a normalizer is {name!r}; a text is wanted")
    if not callable(rewrite):
        raise UsageFault("normalizer-unusable", f"the normalizer `{name}` is {rewrite!r}, which cannot be called")
    source = hashlib.sha256(_source(name, rewrite)).hexdigest()
    version = getattr(rewrite, "version", source[:8])
    if not isinstance(version, str) or not version.strip():
        raise UsageFault("normalizer-unusable", f"the version of the normalizer `{name}` is {version!r}, not a text")
    rules = (name, version, source, getattr(rewrite, "__qualname__", type(rewrite).__qualname__))
    digest = hashlib.sha256(json.dumps(rules).encode()).hexdigest()
    return Normalizer(name, version, digest, _checked(name, rewrite))


def _source(name: str, rewrite: Callable[[str], str]) -> bytes:
    shown = rewrite if inspect.isroutine(rewrite) else type(rewrite).__call__
    try:
        return Path(inspect.getsourcefile(shown) or "").read_bytes()
    except (TypeError, OSError):
        message = f"the normalizer `{name}` has no source file, so a change of it could not be told"
        raise UsageFault("normalizer-unusable", f"{message}: offer a function that a Python file defines") from None


def _checked(name: str, rewrite: Callable[[str], object]) -> Callable[[str], str]:
    def checked(said: str) -> str:
        try:
            found = rewrite(said)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # sys.exit and pytest.skip would end more than this text
            message = f"the normalizer `{name}` raised {type(error).__name__} for `{said[:60]}`: {error}"
            raise UsageFault("normalizer-failed", message) from error
        if not isinstance(found, str):
            message = f"the normalizer `{name}` returned {type(found).__name__} for `{said[:60]}`; a text is wanted"
            raise UsageFault("normalizer-failed", message)
        try:
            found.encode()
        except UnicodeEncodeError as error:
            half = f"{found[error.start]!a}, half a character that UTF-8 cannot hold"
            message = f"the normalizer `{name}` returned {half}, for `{said[:60]}`; a whole text is wanted"
            raise UsageFault("normalizer-failed", message) from None
        return found

    return checked
