"""The adapters a suite may name: ours, those of installed packages, those of a user's `conftest.py`."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model

from pytest_speval.adapters.base import tamed
from pytest_speval.adapters.class_onnx import ClassOnnx, ClassOnnxKeys
from pytest_speval.adapters.command import Command, CommandKeys
from pytest_speval.adapters.ctc_onnx import CtcOnnx, CtcOnnxKeys
from pytest_speval.adapters.dnsmos import Dnsmos, DnsmosKeys
from pytest_speval.adapters.manifest_outcomes import ManifestOutcomes
from pytest_speval.adapters.moonshine import Moonshine, MoonshineKeys
from pytest_speval.adapters.pocketsphinx import Pocketsphinx, PocketsphinxKeys
from pytest_speval.adapters.predictions import PredictionKeys, Predictions
from pytest_speval.adapters.utmos22 import Utmos22, Utmos22Keys
from pytest_speval.adapters.utmosv2 import Utmosv2, Utmosv2Keys
from pytest_speval.adapters.vad_onnx import VadOnnx, VadOnnxKeys
from pytest_speval.adapters.wav2vec2_ctc import Wav2vec2Ctc, Wav2vec2CtcKeys
from pytest_speval.errors import UsageFault
from pytest_speval.suite.vocabulary import AdapterWord

CODES = {
    "adapter-repeated": "Two adapters are offered under one name.",
    "adapter-not-callable": "What a hook or an entry point offers as an adapter cannot be built.",
}
GROUP = "pytest_speval.adapters"
Factory = Callable[..., Any]

_OURS: Mapping[str, tuple[Factory, type[BaseModel]]] = {
    "predictions": (Predictions, PredictionKeys),
    "vad-onnx": (VadOnnx, VadOnnxKeys),
    "class-onnx": (ClassOnnx, ClassOnnxKeys),
    "command": (Command, CommandKeys),
    "ctc-onnx": (CtcOnnx, CtcOnnxKeys),
    "moonshine": (Moonshine, MoonshineKeys),
    "pocketsphinx": (Pocketsphinx, PocketsphinxKeys),
    "wav2vec2-ctc": (Wav2vec2Ctc, Wav2vec2CtcKeys),
    "dnsmos": (Dnsmos, DnsmosKeys),
    "utmos22": (Utmos22, Utmos22Keys),
    "utmosv2": (Utmosv2, Utmosv2Keys),
}
_UNNAMED: Mapping[str, Factory] = {"manifest": ManifestOutcomes}
"""What answers where a suite names no adapter."""


def gather(offered: Iterable[object] = ()) -> tuple[dict[str, Factory], dict[str, AdapterWord]]:
    """Factories and words of every adapter; raises `UsageFault` where a name is offered twice."""
    factories: dict[str, Factory] = dict(_UNNAMED)
    words: dict[str, AdapterWord] = {}
    for name, (factory, keys) in _OURS.items():
        factories[name], words[name] = factory, AdapterWord(name, keys)
    installed = [{point.name: _loaded(point)} for point in entry_points(group=GROUP)]
    for more in (*installed, *offered):
        if not isinstance(more, Mapping):
            found = f"pytest_speval_adapters returned {type(more).__name__}; it must return {{name: adapter}}"
            raise UsageFault("adapter-not-callable", found)
        for name, factory in more.items():
            if name in factories:
                raise UsageFault("adapter-repeated", f"the adapter `{name}` is offered twice; rename one")
            if not callable(factory):
                raise UsageFault("adapter-not-callable", f"the adapter `{name}` is {factory!r}, which cannot be called")
            factories[name], words[name] = factory, AdapterWord(name, keys_of(name, factory))
    return factories, words


def _loaded(point: EntryPoint) -> Any:
    try:
        return point.load()
    except BaseException as error:
        tame = tamed(error)
        found = f"the adapter `{point.name}` of {point.value} cannot be loaded: {type(tame).__name__}: {tame}"
        raise UsageFault("adapter-not-callable", found) from error


def keys_of(name: str, factory: Factory) -> type[BaseModel]:
    """The key model of a user's adapter, read from its signature; `**keys` takes any key.

    A parameter annotated `Path` is a path relative to the file that names it; other annotations are not enforced.
    """
    fields: dict[str, Any] = {}
    extra = False
    for parameter in _parameters(name, factory):
        if parameter.kind is parameter.VAR_KEYWORD:
            extra = True
        elif parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            default = ... if parameter.default is parameter.empty else parameter.default
            fields[parameter.name] = (_path_or_any(parameter.annotation), default)
    config = ConfigDict(extra="allow" if extra else "forbid", frozen=True, arbitrary_types_allowed=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a key may be called `schema` or `copy`, as methods of models are
        return create_model(f"{name}-keys", __config__=config, **fields)


def _parameters(name: str, factory: Factory) -> Iterable[inspect.Parameter]:
    try:
        return inspect.signature(factory, eval_str=True).parameters.values()
    except Exception:  # annotations are any text
        pass
    try:
        return inspect.signature(factory).parameters.values()
    except ValueError as error:
        raise UsageFault("adapter-not-callable", f"the adapter `{name}` shows no keys: {error}") from error


def _path_or_any(annotation: object) -> object:
    from pathlib import Path

    return annotation if annotation in (Path, Path | None) else Any
