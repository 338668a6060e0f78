"""The JSON Schema is for editors: it must accept what loads and know the same keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from pydantic import BaseModel

from pytest_speval.suite.document import read_file
from pytest_speval.suite.gate_keys import GateFileKeys
from pytest_speval.suite.keys import AdapterSection, SuiteKeys
from pytest_speval.suite.schema import gates_schema, suite_schema
from pytest_speval.suite.tree import as_written

from .words import GOOD, HERE, MUTATIONS, VOCABULARY, Fixed, VadKeys

SUITE = suite_schema(VOCABULARY)
GATES = gates_schema()


def complaints(schema: dict[str, Any], path: Path) -> list[str]:
    checker = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker(["date"]))
    document = read_file(path)
    assert document.root is not None
    return [error.message for error in checker.iter_errors(as_written(document.root))]


def models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        for field in annotation.model_fields.values():
            yield from models(field.annotation)
    for inner in get_args(annotation):
        yield from models(inner)


@pytest.mark.parametrize("schema", [SUITE, GATES])
def test_it_is_a_schema(schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_it_accepts_every_suite_that_loads(path: Path) -> None:
    assert complaints(SUITE, path) == []


def test_it_accepts_a_gate_file_that_loads(tmp_path: Path) -> None:
    (tmp_path / "gates.yaml").write_text(
        "gates: {a: {suite: s, metric: uar, min: 0.5, why: b}}\nwaivers: {a: {reason: c, until: 2026-12-31}}\n", "utf-8"
    )
    assert complaints(GATES, tmp_path / "gates.yaml") == []


@pytest.mark.parametrize("root", [SuiteKeys, GateFileKeys])
def test_its_keys_are_those_of_the_models(root: type[BaseModel]) -> None:
    schema = SUITE if root is SuiteKeys else GATES
    for model in {*models(root)} - {AdapterSection}:
        written = schema if model is root else schema["$defs"][model.__name__]
        names = {info.alias or name for name, info in model.model_fields.items()}
        assert written["properties"].keys() == names, model
        required = {info.alias or name for name, info in model.model_fields.items() if info.is_required()}
        assert set(written.get("required", [])) == required, model
        assert written["additionalProperties"] is False


def test_an_adapter_has_the_common_keys_and_its_own() -> None:
    branches = {
        branch["if"]["properties"]["use"]["const"]: branch["then"]
        for branch in SUITE["$defs"]["AdapterSection"]["allOf"]
    }
    assert branches.keys() == VOCABULARY.adapters.keys()
    vad = branches["vad-onnx"]
    assert vad["properties"].keys() == AdapterSection.model_fields.keys() | VadKeys.model_fields.keys()
    assert set(vad["required"]) == {"use", "model", "outputs"}
    assert vad["additionalProperties"] is False
    assert branches["mine"]["additionalProperties"] is True
    assert SUITE["$defs"]["vad-onnx.Fixed"]["properties"].keys() == Fixed.model_fields.keys()


@pytest.mark.parametrize(
    "name",
    [
        *("unknown_key_top", "unknown_key_nested", "unknown_key_gate", "unknown_key_adapter", "unknown_key_projection"),
        *("missing_task", "missing_why", "missing_adapter", "missing_adapter_key", "adapter_and_adapters"),
        *("limit_both", "limit_missing", "limit_quoted", "gate_bare_number", "gate_id", "gate_suite_key", "gate_words"),
        *(
            "unknown_task",
            "unknown_adapter",
            "adapter_union",
            "sha256_short",
            "whole_number",
            "split_is",
            "claim_level",
        ),
        *("text_number", "boolean_quoted", "interval_bounds", "seconds_order", "adapters_empty", "budget_bounds"),
        *("gates_bare_number", "gates_suite_missing", "gates_unknown_key", "gates_waiver_words", "gates_nothing"),
    ],
)
def test_an_editor_sees_the_faults_of_keys_types_and_limits(name: str) -> None:
    assert HERE / "mutations" / f"{name}.yaml" in MUTATIONS
    assert complaints(GATES if name.startswith("gates_") else SUITE, HERE / "mutations" / f"{name}.yaml")
