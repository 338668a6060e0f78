"""`use: pocketsphinx`: PocketSphinx with the en-us models of its own wheel: hidden Markov models and a trigram.

Everything the decoder adapts to, the cepstral mean and the ranking of its densities, is made anew before each clip: a
decoder that has heard other clips may otherwise write another text. Of silence it often makes a word: that is its
answer; where it has no hypothesis, the text is empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from pytest_speval.adapters.base import Identity, Transcript
from pytest_speval.adapters.onnx import SAMPLE_RATE
from pytest_speval.corpus.audio import to_int16
from pytest_speval.errors import AdapterFault, MissingExtra

CODES = {"pocketsphinx-unusable": "PocketSphinx cannot be opened with the models of its wheel."}
PACKAGE, FOLDER = "pocketsphinx", "pocketsphinx/model/en-us"
ACOUSTIC, LANGUAGE, DICTIONARY = "en-us", "en-us.lm.bin", "cmudict-en-us.dict"


class PocketsphinxKeys(BaseModel):
    """No keys: the models are those of the wheel, the search has the package's defaults."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Pocketsphinx:
    """Writes down a clip in lower case, without punctuation."""

    sample_rate = SAMPLE_RATE

    def __init__(self, **keys: Any) -> None:
        PocketsphinxKeys(**keys)
        self._decoder: Any = None

    def identity(self) -> Identity:
        """The acoustic model's files, the language model, the dictionary, and the package's version.

        Raises `MissingExtra` without the package.
        """
        folder, version = _installed()
        acoustic = sorted(path for path in (folder / ACOUSTIC).glob("*") if path.name != "README")
        return Identity("pocketsphinx-en-us", version, files=(*acoustic, folder / LANGUAGE, folder / DICTIONARY))

    def warm_up(self) -> Mapping[str, Any]:
        """Open the decoder."""
        folder, _ = _installed()
        try:
            from pocketsphinx import Decoder
        except ImportError as error:
            raise AdapterFault("pocketsphinx-unusable", f"{PACKAGE} cannot be imported: {error}") from error
        paths = {"hmm": folder / ACOUSTIC, "lm": folder / LANGUAGE, "dict": folder / DICTIONARY}
        try:
            self._decoder = Decoder(
                samprate=SAMPLE_RATE, loglevel="FATAL", **{name: str(path) for name, path in paths.items()}
            )
        except (RuntimeError, ValueError) as error:
            raise AdapterFault("pocketsphinx-unusable", f"{folder} cannot be opened: {error}") from error
        return {"threads": 1}

    def transcribe(self, pcm: npt.NDArray[np.float32], sample_rate: int) -> Transcript:  # noqa: ARG002
        """What is said in a clip at 16 kHz; nothing in one of zeros, of which the decoder makes any word."""
        samples = to_int16(pcm)
        if not samples.any():
            return Transcript("")
        self._decoder.reinit_feat()  # forgets the clips before
        self._decoder.start_utt()
        try:
            # As a whole, so that the mean is this clip's own and not a running one.
            self._decoder.process_raw(samples.tobytes(), full_utt=True)
        finally:
            self._decoder.end_utt()
        hypothesis = self._decoder.hyp()
        return Transcript("" if hypothesis is None else hypothesis.hypstr)

    def close(self) -> None:
        """Let the decoder go."""
        self._decoder = None


def _installed() -> tuple[Path, str]:
    """The folder with the models, and the package's version."""
    try:
        package = distribution(PACKAGE)
    except PackageNotFoundError as error:
        raise MissingExtra("pocketsphinx", "use: pocketsphinx") from error
    return Path(str(package.locate_file(FOLDER))), package.version
