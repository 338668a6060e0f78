"""What pydantic complains about, in our words: one table, kind of complaint -> code and message."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pydantic_core import ErrorDetails

from pytest_speval.suite.base_keys import PATTERNS
from pytest_speval.suite.scalars import AMBIGUOUS, described, resolve
from pytest_speval.suite.tree import Items, Node, Scalar

WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "date_type": "a date such as 2026-12-31",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a table of keys and values",
    "mapping_type": "a table of keys and values",
    "model_type": "a table of keys and values",
    "is_instance_of": "a path",
}
"""Kind of complaint -> what was wanted."""

LIMITS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "more than"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "less than"),
}
"""Kind of complaint -> where the limit stands in its context, and how it is said."""

GATE_HINT = "; a bare value does not say which way is better: write metric, why, and min or max"
HINTS = {"GateKeys": GATE_HINT, "SuiteGateKeys": GATE_HINT}
"""Model -> what to add where something else stands in its place (H05)."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """One complaint about a value: its kind, its context, and pydantic's own words as a last resort."""

    kind: str
    context: dict[str, Any]
    words: str

    @classmethod
    def of(cls, detail: ErrorDetails) -> Complaint:
        return cls(detail["type"], detail.get("ctx", {}), detail["msg"])

    @property
    def wanted(self) -> str | None:
        """What was wanted, where the complaint is about the kind of value."""
        if self.kind == "literal_error":
            return re.sub(r"'([^']*)'", r"`\1`", self.context["expected"]).replace("``", '""')
        if self.kind == "string_pattern_mismatch":
            pattern = self.context["pattern"]
            return PATTERNS.get(pattern, f"a text like {pattern}")
        return WANTED.get(self.kind)


def complain(node: Node, complaints: Sequence[Complaint]) -> tuple[str, str]:
    """Give code and message for a value that was refused; several complaints are alternatives."""
    wanted = list(dict.fromkeys(said for each in complaints if (said := each.wanted)))
    if isinstance(node, Scalar) and node.kind in AMBIGUOUS:
        return "ambiguous-value", ambiguous(node, wanted)
    first = complaints[0]
    if len(wanted) < len(complaints):
        first = next(each for each in complaints if not each.wanted)
        return _other(node, first)
    if first.kind in ("literal_error", "string_pattern_mismatch") and len(complaints) == 1:
        return "bad-value", f"expected {wanted[0]}, got {_got(node)}{_near(node, first)}"
    if wanted == ["text"] and isinstance(node, Scalar):
        return "wrong-type", f"is {_got(node)}; quote it"
    hint = HINTS.get(first.context.get("class_name", ""), "") or _unquote(node, wanted)
    return "wrong-type", f"expected {' or '.join(wanted)}, got {_got(node)}{hint}"


def ambiguous(scalar: Scalar, wanted: Sequence[str] = ()) -> str:
    """Say what an ambiguous scalar is and how to write what was meant."""
    what = f"is {described(scalar.kind, scalar.text)}"
    if not scalar.text:
        return f"is empty; expected {' or '.join(wanted)}" if wanted else "is empty; give a value or leave the key out"
    if scalar.kind == "old-boolean" and (not wanted or "true or false" in wanted):
        return f"{what}; write true or false" + ("" if wanted else ", or quote it")
    if "a number" in wanted or "a whole number" in wanted:
        return f"{what}; write a {'smaller' if scalar.kind == 'large' else 'plain decimal'} number"
    if wanted and "text" not in wanted:
        return f"{what}; expected {' or '.join(wanted)}"
    return f"{what}; quote it"


def _other(node: Node, complaint: Complaint) -> tuple[str, str]:
    context = complaint.context
    if complaint.kind in LIMITS:
        key, words = LIMITS[complaint.kind]
        limit = f"{context[key]:,}" if isinstance(context[key], int) else f"{context[key]:g}"
        return "out-of-range", f"must be {words} {limit}, got {_got(node)}"
    match complaint.kind:
        case "finite_number":
            return "not-finite", f"must be a finite number, got {_got(node)}"
        case "too_short":
            return "bad-value", f"needs at least {context['min_length']:,}, got {_got(node)}"
        case "too_long":
            return "bad-value", f"takes at most {context['max_length']:,}, got {_got(node)}"
        case "string_too_short":
            return "bad-value", f"needs at least {context['min_length']:,} characters, got {_got(node)}"
        case "string_too_long":
            return "bad-value", f"takes at most {context['max_length']:,} characters, got {_got(node)}"
        case "missing":
            return "bad-value", f"needs more values, got {_got(node)}"
        case "value_error":
            return "bad-value", str(context["error"])
    return "bad-value", complaint.words


def _got(node: Node) -> str:
    if isinstance(node, Scalar):
        return described(node.kind, node.text)
    if isinstance(node, Items):
        return f"a list of {len(node.items)}" if node.items else "an empty list"
    return f"a table of {len(node.entries)}" if node.entries else "an empty table"


def _near(node: Node, complaint: Complaint) -> str:
    known = re.findall(r"'([^']*)'", complaint.context.get("expected", ""))
    near = get_close_matches(node.text, known, n=1) if isinstance(node, Scalar) else []
    return f", did you mean `{near[0]}`?" if near else ""


def _unquote(node: Node, wanted: Sequence[str]) -> str:
    """The quotes are too much where the bare text would be what was wanted."""
    if not isinstance(node, Scalar) or node.kind != "text":
        return ""
    kinds = {"a number": ("integer", "real"), "a whole number": ("integer",), "true or false": ("boolean",)}
    bare = resolve(node.text)[0]
    fits = any(bare in kinds.get(each, ("date",) if each.startswith("a date") else ()) for each in wanted)
    return "; remove the quotes" if fits else ""
