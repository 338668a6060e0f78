"""`use: utmos22`: UTMOS22 strong (Saeki et al., Interspeech 2022), from a folder of torch.hub that is there already.

The call is the one that its authors show: `torch.hub.load("tarepan/SpeechMOS:v1.2.0", "utmos22_strong")`, then
`model(wave, sample_rate)`. The model resamples by itself and hears the whole clip. The repository is not downloaded.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from pytest_speval.adapters.base import Identity, Rating
from pytest_speval.errors import AdapterFault, AnswerFault

CODES = {
    "torch-missing": "The package torch is not installed.",
    "hub-missing": "The folder of torch.hub does not hold the repository that the adapter loads.",
    "hub-unusable": "The repository in the folder of torch.hub cannot be loaded; its own error stands in the message.",
}
REPOSITORY = "tarepan/SpeechMOS"
TAG = "v1.2.0"
MODEL = "utmos22_strong"
SECOND = 16_000


class Utmos22Keys(BaseModel):
    """No keys: the repository, its tag and the model are fixed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Utmos22:
    """Rates how natural a clip sounds, about 1..5."""

    def __init__(self, **keys: Any) -> None:
        Utmos22Keys(**keys)
        self._model: Any = None

    def identity(self) -> Identity:
        """The repository's code, the weights that lie beside it, and the versions of torch and torchaudio.

        Raises `AdapterFault` where the repository is not there.
        """
        folder = _repository()
        code = sorted(path for path in folder.rglob("*.py"))
        weights = sorted((hub_folder() / "checkpoints").glob(f"{MODEL}*"))
        components = {name: found for name in ("torch", "torchaudio") if (found := _version(name)) is not None}
        return Identity(MODEL, revision=TAG, files=(*code, *weights), components=components)

    def warm_up(self) -> Mapping[str, Any]:
        """Load the model and rate a second of silence.

        Raises `AdapterFault`: `torch-missing`, `hub-missing`, or `hub-unusable` with what the repository raised.
        """
        try:
            import torch
        except ImportError as error:
            raise AdapterFault("torch-missing", f"use: utmos22 needs torch: {error}") from error
        _repository()
        try:
            hub: Any = torch.hub
            self._model = hub.load(f"{REPOSITORY}:{TAG}", MODEL, trust_repo=True).eval()
            self.rate(np.zeros(SECOND, np.float32), SECOND)
        except Exception as error:
            told = "".join(traceback.format_exception(error)).strip()
            raise AdapterFault("hub-unusable", f"{REPOSITORY}:{TAG} cannot be loaded: {told}") from error
        return {"threads": torch.get_num_threads()}

    def rate(self, pcm: npt.NDArray[np.float32], sample_rate: int) -> Rating:
        """Rate a clip at any sample rate, alone: padding beside longer clips would change its rating."""
        import torch

        with torch.inference_mode():
            rated = self._model(torch.tensor(pcm)[None], sample_rate)
        if rated.numel() != 1:
            raise AnswerFault("invalid-answer", f"{MODEL} gave {list(rated.shape)} where one rating was due")
        return Rating(float(rated))

    def close(self) -> None:
        """Let the model go."""
        self._model = None


def hub_folder() -> Path:
    """Where torch.hub keeps what it loads, found as torch finds it, without loading torch."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache"))
    return Path(os.environ.get("TORCH_HOME", cache / "torch")).expanduser() / "hub"


def _repository() -> Path:
    """The repository's folder, as torch.hub names it."""
    folder = hub_folder() / f"{REPOSITORY.replace('/', '_')}_{TAG}"
    if not (folder / "hubconf.py").is_file():
        found = f"{folder} holds no hubconf.py: put {REPOSITORY} {TAG} there, or say in TORCH_HOME where it is"
        raise AdapterFault("hub-missing", f"{found}; torch.hub.load('{REPOSITORY}:{TAG}', '{MODEL}') downloads it once")
    return folder


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
