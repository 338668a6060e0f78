"""`use: utmosv2`: UTMOSv2 (Baba et al., SLT 2024), from the package utmosv2 where the user has installed it.

The scorer cuts random pieces out of a clip, so the random state is set to one seed before every call: a clip's rating
depends on nothing that was rated before it. After the call every state is as it was. Nothing is downloaded.
"""

from __future__ import annotations

import os
import random
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from pytest_speval.adapters.base import Identity, Rating
from pytest_speval.errors import AdapterFault, AnswerFault

CODES = {
    "utmosv2-missing": "The package utmosv2 is not installed.",
    "utmosv2-unusable": "The package utmosv2 cannot be loaded; its own error stands in the message.",
}
PACKAGE = "utmosv2"
SAMPLE_RATE = 16_000
SEED = 20261012
CONFIG = "fusion_stage3"
TRAINED_WITH = 42
"""The seed that the published checkpoints were trained with; it is part of their names."""


class Utmosv2Keys(BaseModel):
    """`seed` is set before every call. `fold` is the checkpoint, `dataset` the listening test whose scale is wanted."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    seed: int = Field(default=SEED, ge=0, lt=2**32)
    fold: int = Field(default=0, ge=0, le=4)
    dataset: str = "bvcc"


class Utmosv2:
    """Rates how natural a clip sounds, about 1..5."""

    sample_rate = SAMPLE_RATE

    def __init__(self, **keys: Any) -> None:
        self._keys = Utmosv2Keys(**keys)
        self._model: Any = None

    @property
    def _checkpoint(self) -> Path:
        """Where the package keeps the weights of the fold; the variable is spelt as it spells it."""
        cache = Path(os.environ.get("UTMOSV2_CHACHE", "~/.cache/utmosv2")).expanduser()
        return cache / "models" / CONFIG / f"fold{self._keys.fold}_s{TRAINED_WITH}_best_model.pth"

    def identity(self) -> Identity:
        """The weights, the package's version, and how the scorer is called.

        Raises `AdapterFault("utmosv2-missing", …)` without the package.
        """
        if find_spec(PACKAGE) is None:
            found = "use: utmosv2 needs the package utmosv2 of sarulab-speech/UTMOSv2, which is not installed"
            raise AdapterFault("utmosv2-missing", found)
        keys = self._keys
        called = {"seed": str(keys.seed), "fold": str(keys.fold), "dataset": keys.dataset}
        return Identity(PACKAGE, version=_version(), files=(self._checkpoint,), components=called)

    def warm_up(self) -> None:
        """Load the model; raises `AdapterFault("utmosv2-unusable", …)` with all that the package raised."""
        try:
            package = import_module(PACKAGE)
            self._model = package.create_model(
                pretrained=True, config=CONFIG, fold=self._keys.fold, checkpoint_path=self._checkpoint
            )
        except Exception as error:
            told = "".join(traceback.format_exception(error)).strip()
            raise AdapterFault("utmosv2-unusable", f"utmosv2 cannot be loaded: {told}") from error

    def rate(self, pcm: npt.NDArray[np.float32], sample_rate: int) -> Rating:  # noqa: ARG002
        """Rate a clip at 16 kHz."""
        with seeded(self._keys.seed):
            rated = np.asarray(self._predict(np.array(pcm)))
        if rated.size != 1:
            raise AnswerFault("invalid-answer", f"utmosv2 gave {list(rated.shape)} where one rating was due")
        return Rating(float(rated.reshape(())))

    def _predict(self, pcm: npt.NDArray[np.float32]) -> Any:
        """The one call of the scorer: once, on the CPU, with its silence; a process of its own would not be seeded."""
        return self._model.predict(
            data=pcm,
            predict_dataset=self._keys.dataset,
            device="cpu",
            num_workers=0,
            num_repetitions=1,
            remove_silent_section=False,
            verbose=False,
        )

    def close(self) -> None:
        """Let the model go."""
        self._model = None


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Set the random states of Python, numpy and torch to a seed, and put back what they were, whatever happens."""
    import torch

    python, legacy, tensor = random.getstate(), np.random.get_state(), torch.get_rng_state()
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(legacy)
        torch.set_rng_state(tensor)


def _version() -> str | None:
    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        return None
