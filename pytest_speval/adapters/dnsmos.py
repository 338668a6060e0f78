"""`use: dnsmos`: DNSMOS P.835, from the ONNX files in the wheel of the package speechmos.

The model hears 9.01 s. A shorter clip is doubled until it is long enough; a longer one is heard every second, and the
windows' ratings are averaged. Each raw output goes through the polynomial that the authors fitted to listeners'
ratings (Reddy, Gopal, Cutler, ICASSP 2022; polynomials and windows as in `dnsmos.py` of speechmos 0.0.1.1). The package
itself is never imported: it would want librosa and more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from pytest_speval.adapters.base import Identity, Rating
from pytest_speval.adapters.onnx import SAMPLE_RATE, FixedLength, Floats, OnnxKeys, OnnxModel
from pytest_speval.errors import AdapterFault, AnswerFault, MissingExtra

CODES = {
    "dnsmos-file-missing": "The installed package speechmos lacks the model file: another version, or another package.",
    "clip-empty": "A clip without a sample cannot be rated.",
}
PACKAGE = "speechmos"
SECONDS = 9.01
WINDOW = 144_160
"""Samples in 9.01 s."""
DIMENSIONS = ("SIG", "BAK", "OVRL")
"""Speech, background, overall: the order of the model's output."""
MODELS: Mapping[str, tuple[str, tuple[tuple[float, ...], ...]]] = {
    "dnsmos": (
        "dnsmos_models/sig_bak_ovr.onnx",
        (
            (-0.08397278, 1.22083953, 0.0052439),
            (-0.13166888, 1.60915514, -0.39604546),
            (-0.06766283, 1.11546468, 0.04602535),
        ),
    ),
    "dnsmos_personalized": (
        "pdnsmos_models/sig_bak_ovr.onnx",
        (
            (-0.01019296, 0.02751166, 1.19576786, -0.24348726),
            (-0.04976499, 0.44276479, -0.1644611, 0.96883132),
            (-0.00533021, 0.005101, 1.18058466, -0.11236046),
        ),
    ),
}
"""Model -> its file in the package, and the polynomial of each dimension, highest power first."""


class DnsmosKeys(BaseModel):
    """`model_type` is the package's own word: the personalized model also minds other people's voices."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    model_type: Literal["dnsmos", "dnsmos_personalized"] = "dnsmos"
    threads: int | None = Field(default=None, ge=1)


class Dnsmos:
    """Rates how a clip sounds overall, about 1..5; how the speech and the background sound stands in `scores`."""

    sample_rate = SAMPLE_RATE

    def __init__(self, **keys: Any) -> None:
        self._keys = DnsmosKeys(**keys)
        self._file, self._polynomials = MODELS[self._keys.model_type]
        self._model: OnnxModel | None = None

    def identity(self) -> Identity:
        """The model file and the package's version.

        Raises `MissingExtra` without the package, `AdapterFault` where it lacks the file.
        """
        path, version = _installed(self._file)
        return Identity(self._keys.model_type, version=version, files=(path,))

    def warm_up(self) -> Mapping[str, Any]:
        """Open the model."""
        path, _ = _installed(self._file)
        heard = FixedLength(fixed=WINDOW, rule="trim")
        self._model = OnnxModel(OnnxKeys(model=path, threads=self._keys.threads, length=heard), len(DIMENSIONS))
        return self._model.open()

    def rate(self, pcm: Floats, sample_rate: int) -> Rating:  # noqa: ARG002
        """Rate a clip at 16 kHz; what lies beyond full scale, as after resampling, is cut to it first."""
        assert self._model is not None
        if not len(pcm):
            raise AnswerFault("clip-empty", "the clip has no sample, and nothing can be rated")
        raw = [self._model.run(window) for window in windows(np.clip(pcm, -1, 1))]
        rated = [
            float(np.mean([np.polyval(polynomial, float(output[place])) for output in raw]))
            for place, polynomial in enumerate(self._polynomials)
        ]
        *others, overall = zip(DIMENSIONS, rated, strict=True)
        return Rating(overall[1], dict(others))

    def close(self) -> None:
        """Let the model go."""
        if self._model is not None:
            self._model.close()


def windows(pcm: Floats) -> Iterator[Floats]:
    """What the model hears of a clip: pieces of 9.01 s that begin a second apart.

    The products are rounded as in the original: those that come out a sample short (at 7 to 23 s, and again from
    119 s) are left out there too, and ratings stay comparable.
    """
    while len(pcm) < WINDOW:
        pcm = np.concatenate([pcm, pcm])
    for second in range(int(len(pcm) // SAMPLE_RATE - SECONDS) + 1):
        piece = pcm[second * SAMPLE_RATE : int((second + SECONDS) * SAMPLE_RATE)]
        if len(piece) == WINDOW:
            yield piece


def _installed(file: str) -> tuple[Path, str]:
    """Where a file of the package lies, and the package's version."""
    try:
        package = distribution(PACKAGE)
    except PackageNotFoundError as error:
        raise MissingExtra("dnsmos", "use: dnsmos") from error
    path = Path(str(package.locate_file(f"{PACKAGE}/{file}")))
    if not path.is_file():
        found = (
            f"{PACKAGE} {package.version} has no {file}: pip install 'pytest-speval[dnsmos]' gets the version that has"
        )
        raise AdapterFault("dnsmos-file-missing", found)
    return path, package.version
