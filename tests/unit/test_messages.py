"""Every code that can be printed has a line in the docs, and every line has its code."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest_speval

DOCS = Path(__file__).resolve().parents[2] / "docs/messages.md"
SOURCE = Path(pytest_speval.__file__).parent


def tables() -> dict[str, dict[str, str]]:
    """Module -> its table of codes."""
    found = {}
    for info in pkgutil.walk_packages(pytest_speval.__path__, "pytest_speval."):
        table = getattr(importlib.import_module(info.name), "CODES", None)
        if table is not None:
            found[info.name] = dict(table)
    return found


def documented() -> dict[str, str]:
    """Code -> meaning, as the docs have it."""
    return dict(re.findall(r"^\| `([a-z0-9-]+)` \| (.+?) \|", DOCS.read_text(), flags=re.MULTILINE))


def test_the_docs_have_every_code_with_its_meaning() -> None:
    meanings: dict[str, str] = {}
    for table in tables().values():
        for code, meaning in table.items():
            assert meanings.setdefault(code, meaning) == meaning, f"{code} has two meanings"
    assert documented() == meanings


def test_codes_in_the_source_are_in_a_table() -> None:
    known = {code for table in tables().values() for code in table}
    raised = re.compile(
        r"(?:AudioFault|AdapterFault|AnswerFault|EvidenceFault|UsageFault|SpevalError|Refusal)\(\s*\"([a-z0-9-]+)\""
    )
    finding = re.compile(r"Finding\(\s*\"(?:error|warning|notice)\", \"([a-z0-9-]+)\"")
    used: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        used |= set(raised.findall(text)) | set(finding.findall(text))
    assert used <= known, sorted(used - known)


def test_a_code_is_a_slug() -> None:
    for table in tables().values():
        for code, meaning in table.items():
            assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)
            assert meaning.endswith(".")
