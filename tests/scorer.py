"""A small scorer that crops clips as UTMOSv2 does, under two aliases of one function."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_speval.suite.observe_keys import Observe

SEED = 20261012
SSL, SPEC = "ssl.select_random_start", "multi_spec.select_random_start"
RULE = Observe.model_validate(
    {
        "module": "small_scorer",
        "aliases": (SSL, SPEC),
        "seed": SEED,
        "kinds": (
            {"name": "ssl", "alias": SSL, "count": 1, "samples": 48_000},
            {"name": "main", "alias": SPEC, "count": 2, "samples": 22_400},
            {"name": "mixing", "alias": SPEC, "count": 8, "samples": 22_400, "beta": 0.4},
        ),
    }
)
Floats = npt.NDArray[np.float32]

SOURCE = """
import numpy as np

def extend(y, length):
    return y if len(y) > length else np.tile(y, length // len(y) + 1)

def select_random_start(y, length):
    start = np.random.randint(0, len(y) - length)
    return y[start : start + length]
"""
ALIAS = "from small_scorer._crops import extend, select_random_start\n"
SCORE = """
import numpy as np
from small_scorer import multi_spec, ssl

def score(pcm, seed=20261012):
    np.random.seed(seed)
    heard = [ssl.select_random_start(ssl.extend(pcm, 48_000), 48_000)]
    y = multi_spec.extend(pcm, 22_400)
    for _ in range(2):
        heard.append(multi_spec.select_random_start(y, 22_400))
        for _ in range(4):
            other = multi_spec.select_random_start(y, 22_400)
            heard.append(np.random.beta(0.4, 0.4) * other)
    return 3 + float(np.mean([np.mean(part) for part in heard]))
"""


@contextmanager
def installed() -> Iterator[Any]:
    """Make the package `small_scorer` importable, and give its module `scoring`."""
    texts = {"": "", "._crops": SOURCE, ".ssl": ALIAS, ".multi_spec": ALIAS, ".scoring": SCORE}
    modules = {f"small_scorer{suffix}": ModuleType(f"small_scorer{suffix}") for suffix in texts}
    sys.modules.update(modules)
    try:
        for suffix, text in texts.items():
            module = modules[f"small_scorer{suffix}"]
            exec(text, module.__dict__)
            if suffix:
                setattr(modules["small_scorer"], suffix[1:], module)
        yield modules["small_scorer.scoring"]
    finally:
        for name in modules:
            sys.modules.pop(name, None)
