"""Which adapters there are, and which keys a user's own takes."""

from __future__ import annotations

import functools
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pytest_speval.adapters import registry
from pytest_speval.adapters.base import (
    EmotionRead,
    Identity,
    Recorded,
    Traits,
    close,
    traits,
    warm_up,
)
from pytest_speval.adapters.registry import GROUP, gather, keys_of
from pytest_speval.errors import UsageFault

OURS = {
    "predictions",
    "vad-onnx",
    "class-onnx",
    "command",
    "ctc-onnx",
    "moonshine",
    "pocketsphinx",
    "wav2vec2-ctc",
    "dnsmos",
    "utmos22",
    "utmosv2",
}


class Mine:
    def __init__(self, model: Path, scale: float, *, note: str = "none", more: Path | None = None) -> None:
        self.keys = (model, scale, note, more)


class Open:
    def __init__(self, model: Path, **keys: Any) -> None:
        self.model, self.keys = model, keys


def installed(monkeypatch: pytest.MonkeyPatch, *points: tuple[str, str]) -> None:
    found = [EntryPoint(name, value, GROUP) for name, value in points]
    monkeypatch.setattr(registry, "entry_points", lambda group: [point for point in found if point.group == group])


def refused(*offered: dict[str, Any]) -> tuple[str, str]:
    with pytest.raises(UsageFault) as caught:
        gather(offered)
    return caught.value.code, caught.value.message


# --- gathering


def test_ours_are_always_there(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch)
    factories, words = gather()
    assert set(words) == OURS
    assert set(factories) == OURS | {"manifest"}, "recorded outcomes have a factory and no name that a suite may use"
    assert all(words[name].name == name for name in OURS)


def test_what_all_hooks_offer_is_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, ("theirs", "fractions:Fraction"))
    factories, words = gather([{"mine": Mine}, {"open": Open}])
    assert set(words) == OURS | {"theirs", "mine", "open"}
    assert set(factories) - set(words) == {"manifest"}
    assert factories["mine"] is Mine


@pytest.mark.parametrize("offered", [[{"mine": Mine}, {"mine": Open}], [{"vad-onnx": Mine}], [{"theirs": Mine}]])
def test_a_name_that_is_offered_twice_is_an_error(
    monkeypatch: pytest.MonkeyPatch, offered: list[dict[str, Any]]
) -> None:
    installed(monkeypatch, ("theirs", "fractions:Fraction"))
    (name,) = offered[-1]
    assert refused(*offered) == ("adapter-repeated", f"the adapter `{name}` is offered twice; rename one")


def test_two_packages_may_not_offer_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, ("theirs", "fractions:Fraction"), ("theirs", "decimal:Context"))
    assert refused() == ("adapter-repeated", "the adapter `theirs` is offered twice; rename one")


def test_what_cannot_be_called_is_no_adapter(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch)
    assert refused({"mine": 7}) == ("adapter-not-callable", "the adapter `mine` is 7, which cannot be called")


def test_what_cannot_be_loaded_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, ("theirs", "no_such_module_of_ours:Adapter"))
    code, message = refused()
    assert code == "adapter-not-callable"
    assert message.startswith("the adapter `theirs` of no_such_module_of_ours:Adapter cannot be loaded: ")


def test_what_shows_no_signature_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch)
    code, message = refused({"mine": dict})
    assert code == "adapter-not-callable"
    assert message.startswith("the adapter `mine` shows no keys: ")


# --- keys of a user's adapter


def test_keys_are_read_from_the_signature() -> None:
    model = keys_of("mine", Mine)
    fields = model.model_fields
    assert list(fields) == ["model", "scale", "note", "more"]
    assert [field.is_required() for field in fields.values()] == [True, True, False, False]
    assert [field.annotation for field in fields.values()] == [Path, Any, Any, Path | None]
    keys = model.model_validate({"model": Path("m"), "scale": "not checked"})
    assert (keys.note, keys.more) == ("none", None)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({"model": Path("m")}, "Field required"),
        ({"model": Path("m"), "scale": 1, "sclae": 2}, "Extra inputs are not permitted"),
        ({"model": 7, "scale": 1}, "path"),
    ],
)
def test_keys_that_do_not_fit_the_signature_are_refused(written: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        keys_of("mine", Mine).model_validate(written)


def test_keys_may_be_open() -> None:
    keys = keys_of("open", Open).model_validate({"model": Path("m"), "anything": [1, 2]})
    assert keys.model_extra == {"anything": [1, 2]}


def test_functions_and_partial_calls_are_adapters_too() -> None:
    def made(model: Path, scale: float = 1.0) -> Mine:
        return Mine(model, scale)

    assert list(keys_of("made", made).model_fields) == ["model", "scale"]
    bound = functools.partial(Mine, note="bound")
    assert keys_of("bound", bound).model_validate({"model": Path("m"), "scale": 1}).note == "bound"  # type: ignore[attr-defined]
    assert list(keys_of("plain", lambda: None).model_fields) == []


def test_a_key_may_have_the_name_of_a_method_of_models() -> None:
    def made(schema: int, copy: str = "x", model_path: Path | None = None) -> None: ...

    keys = keys_of("made", made).model_validate({"schema": 3})
    assert (keys.schema, keys.copy, keys.model_path) == (3, "x", None)  # type: ignore[attr-defined, comparison-overlap]


@pytest.mark.parametrize("annotation", ["no.such.name", "Unknown", "not valid!", "pathlib.Nothing"])
def test_annotations_that_cannot_be_resolved_are_not_enforced(annotation: str) -> None:
    def made(model: object, scale: int = 2) -> None: ...

    made.__annotations__["model"] = annotation
    assert keys_of("made", made).model_validate({"model": "m"}).scale == 2  # type: ignore[attr-defined]


# --- what an adapter says of itself


class Full:
    labels = ("b", "a")
    sample_rate = 8_000

    def __init__(self) -> None:
        self.closed = False

    def identity(self) -> Identity:
        return Identity("full", "1")

    def warm_up(self) -> str:
        return "no mapping"

    def close(self) -> None:
        self.closed = True


class FromFile:
    def recall(self, split: str, id: str) -> EmotionRead:  # noqa: A002
        return EmotionRead(f"{split}/{id}")

    def compare(self, roll: object) -> list[tuple[str, str]]:  # noqa: ARG002
        return []


def test_everything_but_the_method_is_optional() -> None:
    assert traits(object(), "mine") == Traits(Identity("mine"), None, None, recorded=False)
    assert warm_up(object()).keys() == {"warm_up_microseconds"}
    close(object())


def test_what_an_adapter_says_is_taken_as_it_is() -> None:
    adapter = Full()
    assert traits(adapter, "mine") == Traits(Identity("full", "1"), ("b", "a"), 8_000, recorded=False)
    assert warm_up(adapter).keys() == {"warm_up_microseconds"}
    close(adapter)
    assert adapter.closed


def test_an_adapter_that_recalls_is_recorded() -> None:
    assert isinstance(FromFile(), Recorded)
    assert traits(FromFile(), "mine").recorded
