"""A model's manifest held against what its block `evals.emotionClassifier` must be: every error, not only the first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from typing import Any

from pytest_speval.reports.classifier import LEAST_F1, MOST_LATENCY_MS, Classifier

BLOCK = "evals.emotionClassifier"
NUMBERS = (*LEAST_F1, "meanLatencyMs")
_RULE = " and ".join(
    [*(f"{name} >= {least:g}" for name, least in LEAST_F1.items()), f"meanLatencyMs <= {MOST_LATENCY_MS:g}"]
)


def manifest_errors(data: bytes, *, strict: bool = False, measured: Classifier | None = None) -> list[str]:
    """Everything that is wrong with a manifest, in the order of its keys.

    Under `strict`, the release mode, a block that did not pass is an error. `measured` is what the evidence says.
    """
    try:
        manifest = json.loads(data, object_pairs_hook=_once, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        return [f"is not strict JSON: {error}"]
    if not isinstance(manifest, dict):
        return ["must be an object"]
    return list(_errors(manifest, strict, measured))


def _errors(manifest: Mapping[str, Any], strict: bool, measured: Classifier | None) -> Iterator[str]:
    files, evals = manifest.get("files", {}), manifest.get("evals", {})
    for name, section in (("files", files), ("evals", evals)):
        if not isinstance(section, dict):
            yield f"{name}: must be an object"
    models = files.get("emotion", []) if isinstance(files, dict) else []
    if not isinstance(models, list):
        yield "files.emotion: must be a list"
    if not isinstance(evals, dict) or "emotionClassifier" not in evals:
        if models:
            yield f"{BLOCK}: is missing, and files.emotion ships a model"
        elif measured is not None or strict:
            yield f"{BLOCK}: is missing"
        return
    block = evals["emotionClassifier"]
    if not isinstance(block, dict):
        yield f"{BLOCK}: must be an object"
        return
    yield from _block_errors(block, strict, measured)


def _block_errors(block: Mapping[str, Any], strict: bool, measured: Classifier | None) -> Iterator[str]:
    faulty = [f"{BLOCK}.{name}: {what}" for name in NUMBERS if (what := _number_error(block, name)) is not None]
    yield from faulty
    passed = block.get("passed")
    if not isinstance(passed, bool):
        yield f"{BLOCK}.passed: {'must be true or false' if 'passed' in block else 'is missing'}"
    yield from (f"{BLOCK}: unknown key {name!r}" for name in block if name not in (*NUMBERS, "passed"))
    if faulty:
        return
    said = Classifier(**{name: block[name] for name in NUMBERS})
    if isinstance(passed, bool) and passed != said.passed:
        yield f"{BLOCK}.passed: is {_word(passed)}, and its numbers say {_word(said.passed)} ({_RULE})"
    if strict and passed is False:
        yield f"{BLOCK}.passed: is false, and this is a release"
    if measured is not None:
        for name, value in asdict(measured).items():
            if block[name] != value:
                yield f"{BLOCK}.{name}: is {block[name]!r}, and the evidence says {value!r}"


def _number_error(block: Mapping[str, Any], name: str) -> str | None:
    if name not in block:
        return "is missing"
    value = block[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not _finite(value):
        return f"must be a finite number, got {json.dumps(value)[:40]}"
    if value < 0 or (name in LEAST_F1 and value > 1):
        return f"must be {'between 0 and 1' if name in LEAST_F1 else 'at least 0'}, got {value!r}"
    return None


def _finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def _word(passed: bool) -> str:
    return "true" if passed else "false"


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key `{next(name for name in names if names.count(name) > 1)}` stands twice")
    return found


def _refused(word: str) -> Any:
    raise ValueError(f"{word} is no number of JSON")
