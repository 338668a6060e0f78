"""A scorer that is watched: which stretches of a clip it looked at, seen without touching it.

For the length of one call the aliases of its crop function are wrapped. A wrapper calls the original exactly once,
returns the very same object and lets its exceptions pass. What it sees it notes apart: a failed observation is no
failed score, and causes no further call.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_speval.adapters.base import ARRAY_HEADER, Rating
from pytest_speval.errors import AdapterFault
from pytest_speval.scoring.crops import Crop
from pytest_speval.suite.observe_keys import CropKind, Observe

CODES = {"alias-missing": "A function that observe names is not in the scorer, or is none."}
PCM = "pcm"
"""The array that is kept with every answer, so that anybody can rebuild the crops."""
State = tuple[str, npt.NDArray[np.uint32], int, int, float]


@dataclass(frozen=True, slots=True)
class Sighting:
    """One crop that was seen.

    `sha256` is that of the returned samples as `dtype`, `state` that of the generator's state after the call.
    """

    kind: str
    alias: str
    start: int
    length: int
    tiles: int
    dtype: str
    sha256: str
    state: str

    @property
    def crop(self) -> Crop:
        """Where the crop lies."""
        return Crop(self.start, self.length, self.tiles)


@dataclass
class Watch:
    """What is seen in one call about one clip's samples [N]."""

    rule: Observe
    pcm: npt.NDArray[np.float32]
    sightings: list[Sighting] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @contextmanager
    def aliases(self) -> Iterator[None]:
        """Wrap every alias that can be found, and restore them all."""
        found = []
        try:
            for alias in self.rule.aliases:
                try:
                    owner, name = _place(self.rule.module, alias)
                    original = getattr(owner, name)
                except Exception as error:
                    self._fault(f"{alias} cannot be watched", error)
                    continue
                setattr(owner, name, self._wrapped(alias, original))
                found.append((owner, name, original))
            yield
        finally:
            for owner, name, original in reversed(found):
                setattr(owner, name, original)

    def told(self) -> dict[str, Any]:
        """The observation as plain data; complete where every expected crop was seen as expected, and no other."""
        faults = list(dict.fromkeys(self.faults))
        for alias in self.rule.aliases:
            seen = sum(sighting.alias == alias for sighting in self.sightings)
            expected = len(self.rule.expected(alias))
            if seen != expected and not any(fault.startswith(alias) for fault in faults):
                faults.append(f"{alias}: {seen} of {expected} crops")
        crops = [asdict(sighting) for sighting in self.sightings]
        return {"complete": not faults, "faults": faults, "samples": len(self.pcm), "crops": crops}

    def _wrapped(self, alias: str, original: Callable[..., Any]) -> Callable[..., Any]:
        kinds = iter(self.rule.expected(alias))

        def watched(*args: Any, **kwargs: Any) -> Any:
            before = self._state(alias)
            result = original(*args, **kwargs)
            try:
                self._see(alias, next(kinds, None), before, [*args, *kwargs.values()], result)
            except Exception as error:
                self._fault(alias, error)
            return result

        return watched

    def _state(self, alias: str) -> State | None:
        try:
            return _generator_state()
        except Exception as error:
            self._fault(alias, error)
            return None

    def _see(self, alias: str, kind: CropKind | None, before: State | None, given: list[Any], result: object) -> None:
        """Note a crop; raises where what was seen is not what a crop of the clip looks like."""
        if kind is None:
            raise Unlike(f"more than {len(self.rule.expected(alias))} crops")
        if before is None:
            return
        source = next((array for array in given if isinstance(array, np.ndarray)), None)
        if source is None or not isinstance(result, np.ndarray) or source.ndim != 1 or result.ndim != 1:
            raise Unlike("it was not given one line of samples, or returned none")
        tiles, rest = divmod(len(source), len(self.pcm))
        if rest or not np.array_equal(source, np.tile(self.pcm, tiles)):
            raise Unlike("its samples are neither the clip's nor the clip repeated")
        if kind.samples is not None and len(result) != kind.samples:
            raise Unlike(f"a crop of {len(result)} samples where {kind.samples} are expected")
        start, after = _drawn(before, len(source) - len(result))
        if not np.array_equal(source[start : start + len(result)], result):
            raise Unlike("it does not lie where the generator puts it")
        if after != _digest_of(_generator_state()):
            raise Unlike("the generator was used in another way than for one start")
        name = kind.name or alias
        self.sightings.append(
            Sighting(name, alias, start, len(result), tiles, result.dtype.str, samples_sha256(result), after)
        )

    def _fault(self, what: str, error: Exception) -> None:
        told = str(error) if isinstance(error, Unlike) else f"{type(error).__name__}: {error}"
        self.faults.append(f"{what}: {told}")


class Unlike(Exception):
    """What was seen is not what a crop of the clip looks like."""


class Observed:
    """An adapter of the task `mos` that is watched; everything else is the adapter's own."""

    def __init__(self, adapter: Any, rule: Observe) -> None:
        self._adapter = adapter
        self._rule = rule

    def __getattr__(self, name: str) -> Any:
        return getattr(self._adapter, name)

    def warm_up(self) -> Any:
        """Load the scorer, and find every alias in it; raises `AdapterFault("alias-missing", …)`."""
        facts = self._adapter.warm_up() if hasattr(self._adapter, "warm_up") else None
        for alias in self._rule.aliases:
            try:
                owner, name = _place(self._rule.module, alias)
                found = callable(getattr(owner, name))
            except Exception as error:
                told = f"observe: {self._rule.module} has no {alias}: {type(error).__name__}: {error}"
                raise AdapterFault("alias-missing", told) from error
            if not found:
                raise AdapterFault("alias-missing", f"observe: {alias} of {self._rule.module} is no function")
        return facts

    def rate(self, pcm: npt.NDArray[np.float32], sample_rate: int) -> object:
        """The adapter's answer, with what was seen while it was made."""
        watch = Watch(self._rule, pcm)
        with watch.aliases():
            rating = self._adapter.rate(pcm, sample_rate)
        if not isinstance(rating, Rating):
            return rating
        return replace(rating, observation=watch.told(), arrays={**(rating.arrays or {}), PCM: pcm})

    @property
    def arrays(self) -> tuple[str, ...]:
        """The arrays that answers bring: the adapter's own, and the clip's samples."""
        return (*getattr(self._adapter, "arrays", ()), PCM)

    def stored_bytes(self, samples: int, sample_rate: int) -> int:
        """At most so many bytes are kept of a clip: the adapter's own arrays, and the clip."""
        own = self._adapter.stored_bytes(samples, sample_rate) if hasattr(self._adapter, "stored_bytes") else 0
        return int(own) + ARRAY_HEADER + samples * np.dtype(np.float32).itemsize


def samples_sha256(samples: npt.NDArray[Any]) -> str:
    """The SHA-256 of an array's bytes in C order."""
    return hashlib.sha256(np.ascontiguousarray(samples).tobytes()).hexdigest()


def _place(module: str, alias: str) -> tuple[Any, str]:
    """The object that holds an alias, and the alias' own name there; submodules are imported on the way."""
    owner: Any = importlib.import_module(module)
    *path, name = alias.split(".")
    trail = module
    for step in path:
        trail = f"{trail}.{step}"
        owner = getattr(owner, step) if hasattr(owner, step) else importlib.import_module(trail)
    return owner, name


def _generator_state() -> State:
    """The state of NumPy's process-wide generator; reading it changes nothing."""
    return np.random.get_state()  # type: ignore[return-value]


def _digest_of(state: State) -> str:
    kind, keys, position, has_gauss, gauss = state
    said = f"{kind} {position} {has_gauss} {gauss!r}".encode()
    return hashlib.sha256(said + np.asarray(keys, dtype="<u4").tobytes()).hexdigest()


def _drawn(before: State, high: int) -> tuple[int, str]:
    """The start that a generator in this state draws from [0, high), and its state after."""
    generator = np.random.RandomState()
    generator.set_state(before)
    start = int(generator.randint(0, high))
    return start, _digest_of(generator.get_state())  # type: ignore[arg-type]
