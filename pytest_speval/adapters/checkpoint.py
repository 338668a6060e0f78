"""A transformers checkpoint of a CTC model as files: found without the network, read without loading the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_speval.adapters.ctc import alphabet_of, json_in, tokens_by_number
from pytest_speval.errors import AdapterFault, MissingExtra
from pytest_speval.scoring.ctc import Alphabet

CODES = {
    "checkpoint-missing": "A checkpoint, or a file of it, is not on this machine; a run downloads nothing.",
    "checkpoint-unusable": "A checkpoint cannot be loaded, or is not decoded as a Wav2Vec2CTCTokenizer does.",
}
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
VOCABULARY, CONFIG = "vocab.json", "config.json"
EXTRACTOR = ("preprocessor_config.json", "processor_config.json")
SETTINGS = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")
TOKENIZER = "Wav2Vec2CTCTokenizer"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A folder with the files of one model; `revision` is the commit that the Hub cache has it under."""

    folder: Path
    revision: str | None = None

    def files(self) -> tuple[Path, ...]:
        """All files that the model, its tokenizer and its feature extractor are made from.

        Raises `AdapterFault` `checkpoint-missing`.
        """
        there = [self.folder / name for name in (CONFIG, VOCABULARY, *EXTRACTOR, *SETTINGS)]
        found = [path for path in there if path.is_file()]
        names = {path.name for path in found}
        for wanted in ((CONFIG,), (VOCABULARY,), EXTRACTOR):
            if not names.intersection(wanted):
                raise AdapterFault("checkpoint-missing", f"no {' or '.join(wanted)} in {self.folder}")
        return (*found, *self._weights())

    def _weights(self) -> list[Path]:
        index = self.folder / INDEX
        names = set(json_in(index)["weight_map"].values()) if index.is_file() else {WEIGHTS}
        for name in sorted(names):
            if not (self.folder / name).is_file():
                told = "other formats of weights are not opened: they may run code"
                raise AdapterFault("checkpoint-missing", f"no {name} in {self.folder}; {told}")
        return [self.folder / name for name in sorted(names)] + [index] * index.is_file()

    def alphabet(self) -> Alphabet:
        """The vocabulary with its blank and delimiter; raises `AdapterFault`."""
        said = self._settings()
        kind = said.get("tokenizer_class", TOKENIZER)
        if kind != TOKENIZER:
            raise AdapterFault("checkpoint-unusable", f"its tokenizer is {kind}; only {TOKENIZER} is decoded here")
        numbers = {**json_in(self.folder / VOCABULARY), **self._added(said)}
        shown = f"{VOCABULARY} of {self.folder}"
        tokens = tokens_by_number(numbers, shown)
        blank, delimiter = (_content(said.get(name)) for name in ("pad_token", "word_delimiter_token"))
        return alphabet_of(tokens, blank or "<pad>", delimiter or "|", shown)

    def _settings(self) -> dict[str, Any]:
        """The tokenizer's settings; those of an older file are the ones that a newer leaves out."""
        there = [self.folder / name for name in reversed(SETTINGS[:2])]
        return {name: said for path in there if path.is_file() for name, said in json_in(path).items()}

    def _added(self, said: Mapping[str, Any]) -> dict[str, int]:
        """Tokens beside the vocabulary's; an older file counts where the settings name none."""
        if "added_tokens_decoder" in said:
            return {_content(token): int(number) for number, token in said["added_tokens_decoder"].items()}
        path = self.folder / SETTINGS[2]
        return json_in(path) if path.is_file() else {}


def _content(token: object) -> Any:
    """A token's text; settings hold it plain or with how it was added."""
    return token.get("content") if isinstance(token, Mapping) else token


def cached(model: str, revision: str | None) -> Checkpoint:
    """A model of the Hub as its cache on this machine holds it; `revision` is a branch, tag or commit.

    Raises `AdapterFault` `checkpoint-missing`, and `MissingExtra`.
    """
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise MissingExtra("hf", f"running {model}") from error
    try:
        folder = Path(snapshot_download(model, revision=revision, local_files_only=True))
    except Exception as error:
        get = f"hf download {model}" + (f" --revision {revision}" if revision else "")
        found = f"{model} is not in the Hub cache, and a run downloads nothing; get it by `{get}`"
        raise AdapterFault("checkpoint-missing", f"{found} ({type(error).__name__})") from error
    return Checkpoint(folder, folder.name)
