"""`use: moonshine`: Moonshine tiny-en, from the files in the wheel of the package moonshine-voice, greedily decoded.

The wheel of version 0.0.49 carries the model; later ones carry its tokenizer only and download the rest. The package
itself is never imported. An encoder hears the whole clip, a decoder then names one token a step: always the likeliest,
so that one clip has one text. Of silence and of noise the model often makes a word ("You"): that is its answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from pytest_speval.adapters.base import Identity, Transcript
from pytest_speval.adapters.onnx import SAMPLE_RATE
from pytest_speval.errors import AdapterFault, AnswerFault, MissingExtra

CODES = {
    "moonshine-version": "The installed package moonshine-voice is not the one version that carries the model.",
    "moonshine-unusable": "A file of the Moonshine model cannot be opened or does not fit the others.",
    "moonshine-length": "A clip is shorter than Moonshine can hear, or longer than it is made for.",
    "moonshine-endless": "Moonshine did not end its text within the tokens that so much sound can hold.",
}
PACKAGE, VERSION, FOLDER = "moonshine-voice", "0.0.49", "moonshine_voice/assets/tiny-en"
ENCODER, DECODER, TOKENS = "encoder_model.ort", "decoder_model_merged.ort", "tokenizer.bin"
FILES = (ENCODER, DECODER, TOKENS)
FIRST_TOKEN, LAST_TOKEN = 1, 2
SHORTEST = 895
"""Samples that the encoder's three convolutions need to give one frame."""
LONGEST = 64 * SAMPLE_RATE
"""Samples in 64 s, the most that the authors' own package takes in one call; the model repeats itself beyond."""
Floats = npt.NDArray[np.float32]


class MoonshineKeys(BaseModel):
    """`model` is a folder with the three files, in place of the wheel's own.

    A text may have 8 tokens and `tokens_per_second` for each second of sound; a longer one is no answer.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    model: Path | None = None
    threads: int = Field(default=1, ge=1)
    tokens_per_second: float = Field(default=10.0, gt=0, le=100)


class Moonshine:
    """Writes down clips of 0.056 to 64 s; the longest take about 1 GiB of memory.

    Raises `AnswerFault`, and never cuts: for clips outside that length, and where the text does not end.
    """

    sample_rate = SAMPLE_RATE

    def __init__(self, **keys: Any) -> None:
        self._keys = MoonshineKeys(**keys)
        self._model: _Model | None = None

    def _folder(self) -> tuple[Path, str | None]:
        return _installed() if self._keys.model is None else (self._keys.model, None)

    def identity(self) -> Identity:
        """The three files, and the package's version where they are the wheel's.

        Raises `MissingExtra` without the package, `AdapterFault` where it is another version.
        """
        folder, version = self._folder()
        files = tuple(folder / name for name in FILES)
        return Identity(f"moonshine-{folder.name}", version=version, files=files)

    def warm_up(self) -> Mapping[str, Any]:
        """Open the model."""
        folder, _ = self._folder()
        self._model = _Model(folder, self._keys.threads)
        self._model.check()
        return {"providers": self._model.providers, "threads": self._keys.threads}

    def transcribe(self, pcm: Floats, sample_rate: int) -> Transcript:  # noqa: ARG002
        """What is said in a clip at 16 kHz, with the model's own case and punctuation."""
        assert self._model is not None
        if not SHORTEST <= len(pcm) <= LONGEST:
            found = f"the clip has {len(pcm):,} samples where Moonshine hears {SHORTEST:,} to {LONGEST:,} in one call"
            raise AnswerFault("moonshine-length", found)
        most = 8 + math.ceil(self._keys.tokens_per_second * len(pcm) / SAMPLE_RATE)
        tokens: list[int] = []
        for token in self._model.decode(pcm):
            if len(tokens) == most:
                found = f"no end after {most} tokens for {len(pcm) / SAMPLE_RATE:.1f} s, see tokens_per_second"
                raise AnswerFault("moonshine-endless", f"{found}; a text is not cut short")
            tokens.append(token)
        return Transcript(self._model.text(tokens))

    def close(self) -> None:
        """Let the model go."""
        self._model = None


class _Model:
    """Encoder, decoder and tokens of one folder."""

    def __init__(self, folder: Path, threads: int) -> None:
        self._shown = folder.name
        for name in FILES:
            if not (folder / name).is_file():
                raise AdapterFault("model-missing", f"no model file {folder / name}")
        self._encoder = _session(folder / ENCODER, threads)
        self._decoder = _session(folder / DECODER, threads)
        self._tokens = tokens_in((folder / TOKENS).read_bytes())
        self._empty = {
            node.name: np.zeros((1, node.shape[1], 0, node.shape[3]), np.float32)
            for node in self._decoder.get_inputs()
            if node.name.startswith("past_key_values.")
        }

    @property
    def providers(self) -> list[str]:
        """What the sessions run on."""
        found: list[str] = self._encoder.get_providers()
        return found

    def check(self) -> None:
        """Decode a step of silence; raises `AdapterFault` where the files do not belong together."""
        try:
            next(self.decode(np.zeros(SHORTEST, np.float32)), None)
        except AdapterFault:
            raise
        except Exception as error:
            raise AdapterFault("moonshine-unusable", f"{self._shown} cannot hear silence: {error}") from error

    def decode(self, pcm: Floats) -> Iterator[int]:
        """The likeliest token, step after step, until the model ends its text.

        What earlier steps computed is handed back as `past_key_values`. The encoder's share of it is made by the first
        step alone, which begins with none of it.
        """
        sound = pcm[np.newaxis]
        whole = np.ones(sound.shape, np.int64)  # both graphs thin this mask of samples down to frames themselves
        (frames,) = self._encoder.run(None, {"input_values": sound, "attention_mask": whole})
        fixed = {"encoder_hidden_states": frames, "encoder_attention_mask": whole}
        past, grows = dict(self._empty), list(self._empty)
        token = FIRST_TOKEN
        while True:
            known = np.array([token != FIRST_TOKEN])
            asked = {"input_ids": np.array([[token]], np.int64), "use_cache_branch": known}
            wanted = ["logits", *(name.replace("past_key_values", "present") for name in grows)]
            logits, *made = self._decoder.run(wanted, fixed | asked | past)
            past |= dict(zip(grows, made, strict=True))
            token = self._likeliest(logits[0, -1])
            if token == LAST_TOKEN:
                return
            yield token
            grows = [name for name in self._empty if ".decoder." in name]

    def _likeliest(self, logits: Floats) -> int:
        if len(logits) != len(self._tokens):
            found = f"{self._shown}: {DECODER} knows {len(logits):,} tokens, {TOKENS} has {len(self._tokens):,}"
            raise AdapterFault("moonshine-unusable", found)
        if not np.isfinite(logits).all():
            raise AnswerFault("invalid-answer", f"{self._shown} gave scores that are not finite")
        return int(logits.argmax())

    def text(self, tokens: list[int]) -> str:
        """Tokens as text: they are pieces of UTF-8, in which U+2581 stands for a space."""
        written = b"".join(self._tokens[token] for token in tokens)
        return written.decode("utf-8", "replace").replace("\u2581", " ").strip()


def tokens_in(content: bytes) -> list[bytes]:
    """The entries of a `tokenizer.bin`, each behind its length.

    A length below 128 takes one byte, a longer one two: 128 and its low seven bits, then the rest. Raises
    `AdapterFault` where the last entry is cut off.
    """
    tokens, place = [], 0
    while place < len(content):
        length = content[place]
        place += 1
        if length >= 128 and place < len(content):
            length += 128 * (content[place] - 1)
            place += 1
        tokens.append(content[place : place + length])
        place += length
    if place != len(content):
        raise AdapterFault("moonshine-unusable", f"{TOKENS} ends within token {len(tokens) - 1:,}: a broken copy")
    return tokens


def _session(path: Path, threads: int) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtra("moonshine", "use: moonshine") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise AdapterFault("moonshine-unusable", f"{path} cannot be opened: {error}") from error


def _installed() -> tuple[Path, str]:
    """The folder with the model, and the package's version."""
    try:
        package = distribution(PACKAGE)
    except PackageNotFoundError as error:
        raise MissingExtra("moonshine", "use: moonshine") from error
    if package.version != VERSION:
        found = (
            f"{PACKAGE} is {package.version}; only the wheel of {VERSION} carries the model, later ones its tokenizer "
            "alone: pip install 'pytest-speval[moonshine]', or name a folder with the files as `model`"
        )
        raise AdapterFault("moonshine-version", found)
    return Path(str(package.locate_file(FOLDER))), VERSION
