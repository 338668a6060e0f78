"""JSON Schema (draft 2020-12) of suite and gate files, for editors: made from the models that check the files."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from pytest_speval.suite.gate_keys import GateFileKeys
from pytest_speval.suite.keys import AdapterSection, SuiteKeys
from pytest_speval.suite.vocabulary import AdapterWord, Vocabulary

Schema = dict[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def suite_schema(vocabulary: Vocabulary) -> Schema:
    """The schema of a suite file with these tasks and adapters."""
    schema = _of(SuiteKeys)
    definitions, properties = schema["$defs"], schema["properties"]
    properties["task"] = {"enum": [*vocabulary.tasks]}
    definitions["AdapterSection"] = {
        "type": "object",
        "required": ["use"],
        "properties": {"use": {"enum": [*vocabulary.adapters]}},
        "allOf": [
            {"if": {"properties": {"use": {"const": name}}}, "then": _adapter(word, definitions)}
            for name, word in vocabulary.adapters.items()
        ],
    }
    if not any("adapter" in task.forbidden for task in vocabulary.tasks.values()):
        schema["oneOf"] = [{"required": ["adapter"]}, {"required": ["adapters"]}]
    return {"$schema": _DIALECT, **schema}


def gates_schema() -> Schema:
    """The schema of a gate file."""
    sections = [{"required": [name]} for name in GateFileKeys.model_fields]
    return {"$schema": _DIALECT, **_of(GateFileKeys), "anyOf": sections}


def _adapter(word: AdapterWord, definitions: Schema) -> Schema:
    common = _of(AdapterSection)
    own = _of(word.keys, f"#/$defs/{word.name}.{{model}}")
    definitions |= {f"{word.name}.{model}": inner for model, inner in own.pop("$defs", {}).items()}
    own["properties"] = common["properties"] | own.get("properties", {})
    own["required"] = ["use", *own.get("required", [])]
    return own


def _of(model: type[BaseModel], reference: str = "#/$defs/{model}") -> Schema:
    schema = model.model_json_schema(ref_template=reference)
    clean: Schema = _clean(schema)
    return clean


def _clean(schema: Any, *, named: bool = False) -> Any:
    """Leave out generated titles, defaults of whole sections, and null, which no key takes; close tables of names.

    `named`: the keys of this table are names that stand in suite files, not words of JSON Schema.
    """
    if isinstance(schema, list):
        return [_clean(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if named:
        return {name: _clean(each) for name, each in schema.items()}
    kept = {
        word: _clean(each, named=word in ("properties", "$defs", "patternProperties"))
        for word, each in schema.items()
        if word not in ("title", "default") or (word == "default" and isinstance(each, str | bool | int | float))
    }
    if "patternProperties" in kept:
        kept["additionalProperties"] = False
    options = kept.get("anyOf", [])
    if {"type": "null"} in options:
        options = [each for each in options if each != {"type": "null"}]
        del kept["anyOf"]
        kept = {**options[0], **kept} if len(options) == 1 else {"anyOf": options, **kept}
    return kept
