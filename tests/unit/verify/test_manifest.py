"""A model's manifest: written from numbers, and every error in one that others wrote (E-30 to E-32)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.reports.classifier import Classifier
from pytest_speval.verify.manifest import manifest_errors

GOOD = {"macroF1Meld": 0.355, "macroF1Iemocap": 0.61, "meanLatencyMs": 12.5, "passed": True}
WHERE = "evals.emotionClassifier"


def errors(block: Any = GOOD, *, models: Any = ("a.onnx",), **keys: Any) -> list[str]:
    manifest = {"files": {"emotion": list(models)}, "evals": {"emotionClassifier": block, "textEval": {"score": 1}}}
    return manifest_errors(json.dumps(manifest).encode(), **keys)


def run(f1: float | None = 0.5, latency: float | None = 10.0, n: int = 100) -> dict[str, Any]:
    return {"macroF1": f1, "metrics": {"latency_ms.mean": {"value": latency, "n": n, "reason": "no call returned"}}}


def test_a_block_that_agrees_with_itself_holds() -> None:
    assert errors() == errors(strict=True) == []
    assert errors({**GOOD, "macroF1Iemocap": 0.0, "passed": False}) == []


@pytest.mark.parametrize(
    ("meld", "iemocap", "latency", "passed"),
    [
        (0.35, 0.60, 30.0, True),
        (0.3499999999999999, 0.60, 30.0, False),
        (0.35, 0.5999999999999999, 30.0, False),
        (0.35, 0.60, 30.000000000000004, False),
        (0.3550, 0.0, 5.0, False),
    ],
)
def test_all_three_limits_hold_inclusively(meld: float, iemocap: float, latency: float, passed: bool) -> None:
    found = Classifier(meld, iemocap, latency)
    assert found.passed is passed
    block = found.as_dict()
    assert errors(block) == []
    (wrong,) = errors({**block, "passed": not passed})
    assert wrong.startswith(f"{WHERE}.passed: is {str(not passed).lower()}, and its numbers say {str(passed).lower()}")


def test_a_model_that_is_shipped_without_its_block_is_an_error() -> None:
    missing = [f"{WHERE}: is missing, and files.emotion ships a model"]
    assert manifest_errors(b'{"files": {"emotion": ["a.onnx"]}}') == missing
    assert manifest_errors(b'{"files": {"emotion": ["a.onnx"]}, "evals": {}}') == missing
    assert manifest_errors(b'{"files": {"emotion": []}, "evals": {}}') == []
    assert manifest_errors(b"{}", strict=True) == [f"{WHERE}: is missing"]


def test_a_release_needs_a_pass() -> None:
    block = {**GOOD, "macroF1Meld": 0.2, "passed": False}
    assert errors(block, strict=True) == [f"{WHERE}.passed: is false, and this is a release"]


def test_every_error_is_listed() -> None:
    block = {"macroF1Meld": 1.2, "macroF1Iemocap": "0.6", "passed": "false", "accuracy": 1}
    assert errors(block, strict=True) == [
        f"{WHERE}.macroF1Meld: must be between 0 and 1, got 1.2",
        f'{WHERE}.macroF1Iemocap: must be a finite number, got "0.6"',
        f"{WHERE}.meanLatencyMs: is missing",
        f"{WHERE}.passed: must be true or false",
        f"{WHERE}: unknown key 'accuracy'",
    ]


@pytest.mark.parametrize("value", [True, None, [], {}, "1", 10**400, -0.1])
def test_only_numbers_are_numbers(value: Any) -> None:
    for name in ("macroF1Meld", "macroF1Iemocap", "meanLatencyMs"):
        assert [line for line in errors({**GOOD, name: value}) if line.startswith(f"{WHERE}.{name}: must be")]


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b"{", b'{"a": 1, "a": 2}', b'{"evals": NaN}', b"\xff", b'{"evals": []}', b'{"files": {"emotion": {}}}',
     b'{"evals": {"emotionClassifier": null}}', b"[" * 100_000],
)  # fmt: skip
def test_what_is_no_manifest_is_an_error_and_no_crash(text: bytes) -> None:
    assert manifest_errors(text)


NAMES = st.sampled_from(["files", "evals", "emotion", "emotionClassifier", "passed", "macroF1Meld"])
LEAVES = st.none() | st.booleans() | st.floats() | st.text()


@given(st.recursive(LEAVES, lambda inner: st.dictionaries(NAMES, inner) | st.lists(inner)))
def test_anything_is_answered(value: Any) -> None:
    assert isinstance(manifest_errors(json.dumps(value).encode(), strict=True), list)


def test_the_block_takes_both_runs_and_weighs_latency_by_calls() -> None:
    found = Classifier.of(run(0.4, 10.0, 300), run(0.7, 50.0, 100))
    assert found.as_dict() == {"macroF1Meld": 0.4, "macroF1Iemocap": 0.7, "meanLatencyMs": 20.0, "passed": True}


@pytest.mark.parametrize("documents", [(run(None), run()), (run(), run(latency=None)), (run(latency=None), run())])
def test_what_was_not_measured_makes_no_block(documents: tuple[Any, Any]) -> None:
    with pytest.raises(ValueError, match=r"^(meld|iemocap) has no (macro_f1|latency)"):
        Classifier.of(*documents)


def test_numbers_that_the_evidence_does_not_bear_out_are_errors() -> None:
    measured = Classifier(0.31, 0.61, 12.5)
    assert errors(measured=measured) == [f"{WHERE}.macroF1Meld: is 0.355, and the evidence says 0.31"]
    assert errors(measured.as_dict(), measured=measured) == []
