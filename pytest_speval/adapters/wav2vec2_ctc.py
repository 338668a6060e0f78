"""`use: wav2vec2-ctc`: a CTC checkpoint over transformers, such as facebook/wav2vec2-base-960h.

A clip is heard whole and alone: no padding, truncation, attention mask or pieces; float32, eager attention, on the
CPU. Normalisation and decoding are those of the checkpoint's own feature extractor and tokenizer; special tokens stay
in the text, and no space is tidied. Nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, model_validator

from pytest_speval.adapters.base import Identity, Transcript
from pytest_speval.adapters.checkpoint import Checkpoint, cached
from pytest_speval.adapters.ctc import ARRAYS, Floats, Pace, checked_logits
from pytest_speval.adapters.onnx import thread_share
from pytest_speval.errors import AdapterFault, AnswerFault, MissingExtra
from pytest_speval.scoring.ctc import Alphabet, best_path

SAMPLE_RATE = 16_000
PACKAGES = ("torch", "transformers")
TRAINED_WITH = "masked_spec_embed"
"""A weight that published checkpoints lack, and that only training uses."""


class Wav2vec2CtcKeys(BaseModel):
    """`model` is a name of the Hub, looked up in its cache at `revision`; or `folder` holds a checkpoint."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    model: str | None = None
    revision: str | None = None
    folder: Path | None = None
    threads: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _one_place(self) -> Wav2vec2CtcKeys:
        if (self.model is None) == (self.folder is None):
            raise ValueError("must have `model` (a name of the Hub) or `folder` (a checkpoint), not both")
        if self.folder is not None and self.revision is not None:
            raise ValueError("`revision` goes with `model`: a folder has none")
        return self


class Wav2vec2Ctc:
    """A recogniser made of a feature extractor, a network and a tokenizer that belong together."""

    sample_rate = SAMPLE_RATE
    arrays = ARRAYS

    def __init__(self, **keys: Any) -> None:
        self._keys = Wav2vec2CtcKeys(**keys)
        self._threads = self._keys.threads or thread_share()
        self._engine: _Engine | None = None
        self._pace: Pace | None = None

    @property
    def _name(self) -> str:
        return self._keys.model or Path(str(self._keys.folder)).name

    def _checkpoint(self) -> Checkpoint:
        if self._keys.folder is not None:
            return Checkpoint(self._keys.folder)
        return cached(self._name, self._keys.revision)

    def identity(self) -> Identity:
        """The checkpoint's files, its commit in the Hub cache, its vocabulary, and the versions of what runs it.

        Raises `AdapterFault` where a file is missing, `MissingExtra` without torch or transformers.
        """
        try:
            versions = {package: version(package) for package in PACKAGES}
        except PackageNotFoundError as error:
            raise MissingExtra("hf", f"running {self._name}") from error
        checkpoint = self._checkpoint()
        files, components = checkpoint.files(), checkpoint.alphabet().components()
        return Identity(self._name, revision=checkpoint.revision, files=files, components=components | versions)

    def warm_up(self) -> Mapping[str, Any]:
        """Load the model and hear a second of silence; returns where it runs, and its threads."""
        self._engine = _Engine(self._checkpoint(), self._name, self._threads)
        try:
            self.transcribe(np.zeros(SAMPLE_RATE, np.float32), SAMPLE_RATE)
        except AnswerFault as fault:
            raise AdapterFault("checkpoint-unusable", fault.message) from fault
        return {"device": "cpu", "threads": self._threads}

    def transcribe(self, pcm: npt.NDArray[np.float32], sample_rate: int) -> Transcript:
        """What is said in a clip, with its arrays `input` [N], `logits` [T, V] and `argmax` [T].

        What torch raises passes, such as for a clip that is shorter than one frame (400 samples for wav2vec2).
        """
        assert self._engine is not None
        heard = self._engine.normalised(pcm, sample_rate)
        logits = self._engine.logits(heard)
        path = best_path(logits)
        text = self._engine.decoded(path.tolist())
        return Transcript(text, arrays=dict(zip(ARRAYS, (heard, logits, path), strict=True)))

    def stored_bytes(self, samples: int, sample_rate: int) -> int:  # noqa: ARG002
        """How many bytes the arrays of a clip take at most; the warm model tells on silence how fast it goes."""
        assert self._engine is not None
        self._pace = self._pace or Pace.measured(self._engine.logits, SAMPLE_RATE)
        return self._pace.stored_bytes(samples)

    def close(self) -> None:
        """Let the model go."""
        self._engine = None


class _Engine:
    """The three parts of a loaded checkpoint."""

    def __init__(self, checkpoint: Checkpoint, name: str, threads: int) -> None:
        try:
            from transformers import AutoModelForCTC, Wav2Vec2CTCTokenizer, Wav2Vec2FeatureExtractor
        except ImportError as error:
            raise MissingExtra("hf", f"running {name}") from error
        self._name = name
        self._threads = threads
        self._alphabet = checkpoint.alphabet()
        here: dict[str, Any] = {"local_files_only": True}
        try:
            self._extractor = Wav2Vec2FeatureExtractor.from_pretrained(checkpoint.folder, **here)
            self._tokenizer = Wav2Vec2CTCTokenizer.from_pretrained(checkpoint.folder, **here)
            model, told = AutoModelForCTC.from_pretrained(
                checkpoint.folder, attn_implementation="eager", use_safetensors=True, output_loading_info=True, **here
            )
        except Exception as error:
            found = f"{checkpoint.folder} cannot be loaded: {type(error).__name__}: {error}"
            raise AdapterFault("checkpoint-unusable", found) from error
        absent = sorted(name for name in told["missing_keys"] if not name.endswith(TRAINED_WITH))
        if absent:  # transformers would fill them with random numbers
            raise AdapterFault("checkpoint-unusable", f"{checkpoint.folder} has no weights for {', '.join(absent)}")
        self._model = model.float().eval()
        self._check_tokenizer(self._alphabet)

    def _check_tokenizer(self, alphabet: Alphabet) -> None:
        """The official tokenizer must read the files as we do: what the plan holds decodes the arrays again."""
        tokenizer = self._tokenizer
        tokens = tuple(tokenizer.convert_ids_to_tokens(list(range(len(alphabet.tokens)))))
        marks = (tokenizer.pad_token, tokenizer.word_delimiter_token)
        if tokens != alphabet.tokens or marks != (alphabet.blank, alphabet.delimiter):
            found = f"{self._name}: its tokenizer has other tokens, or another blank or delimiter, than its files"
            raise AdapterFault("checkpoint-unusable", found)
        if tokenizer.do_lower_case or tokenizer.replace_word_delimiter_char != " ":
            found = f"{self._name}: its tokenizer lowers case, or puts something other than a space between words"
            raise AdapterFault("checkpoint-unusable", found)

    def normalised(self, pcm: Floats, sample_rate: int) -> Floats:
        """The whole clip [N] as the official feature extractor makes it; another rate than the model's is an error."""
        out = self._extractor(
            pcm, sampling_rate=sample_rate, padding=False, truncation=False, return_attention_mask=False
        )
        return np.asarray(out["input_values"][0], np.float32)

    def logits(self, heard: Floats) -> Floats:
        """The network's output [T, V] for an input [N]."""
        import torch

        torch.set_num_threads(self._threads)
        with torch.inference_mode():
            output = self._model(torch.from_numpy(heard.copy())[None]).logits.numpy()
        return checked_logits(output, len(self._alphabet.tokens), self._name)

    def decoded(self, path: list[int]) -> str:
        """The text of a path, by the official tokenizer."""
        text: str = self._tokenizer.decode(path, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return text
