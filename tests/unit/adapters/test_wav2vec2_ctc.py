"""The recogniser over transformers, held against transformers' own processor, model and pipeline.

The checkpoint has random weights and the real 32 tokens: what it says is noise, how it is heard and spelt is not.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from pytest_speval.adapters.base import ARRAY_HEADER as HEADER
from pytest_speval.adapters.base import Roll, Transcript
from pytest_speval.adapters.ctc_onnx import zero_mean_unit_variance
from pytest_speval.adapters.wav2vec2_ctc import Wav2vec2Ctc
from pytest_speval.audit.fit import Request, audit_adapter
from pytest_speval.errors import AdapterFault, MissingExtra
from pytest_speval.scoring.ctc import Alphabet, spelt
from pytest_speval.scoring.greedy_recount import greedy_difference

ABSENT = "torch and transformers are not installed: pip install 'pytest-speval[hf]'"
pytestmark = pytest.mark.skipif(not all(map(find_spec, ("torch", "transformers"))), reason=ABSENT)
TOKENS = ("<pad>", "<s>", "</s>", "<unk>", "|", *"ETAONIHSRDLUMWCFGYPBVK'XJQZ")
THREADS = 1
COMMIT = "0123456789abcdef0123456789abcdef01234567"
NAME = "speech/tiny-ctc"


@pytest.fixture(scope="session")
def torch() -> Any:
    """Imported when a test runs, not when tests are collected: that takes seconds."""
    return import_module("torch")


@pytest.fixture(scope="session")
def transformers() -> Any:
    return import_module("transformers")


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory, torch: Any, transformers: Any) -> Path:
    """A small network with the layers of wav2vec2-base-960h, saved as its authors would."""
    folder = tmp_path_factory.mktemp("checkpoints") / "tiny-ctc"
    folder.mkdir()
    vocabulary = folder / "vocab.json"
    vocabulary.write_text(json.dumps({token: number for number, token in enumerate(TOKENS)}))
    tokenizer = transformers.Wav2Vec2CTCTokenizer(vocabulary)
    extractor = transformers.Wav2Vec2FeatureExtractor(do_normalize=True, return_attention_mask=False)
    with torch.random.fork_rng():
        torch.manual_seed(7)
        network = transformers.Wav2Vec2ForCTC(
            transformers.Wav2Vec2Config(
                vocab_size=len(TOKENS),
                hidden_size=16,
                num_hidden_layers=2,
                num_attention_heads=2,
                intermediate_size=32,
                conv_dim=(16,) * 7,
                num_conv_pos_embeddings=16,
                num_conv_pos_embedding_groups=2,
                pad_token_id=0,
            )
        )
    network.save_pretrained(folder)
    transformers.Wav2Vec2Processor(feature_extractor=extractor, tokenizer=tokenizer).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def warm(checkpoint: Path, torch: Any) -> Iterator[Wav2vec2Ctc]:
    before = torch.get_num_threads()
    adapter = Wav2vec2Ctc(folder=checkpoint, threads=THREADS)
    adapter.warm_up()
    yield adapter
    torch.set_num_threads(before)


@pytest.fixture
def copied(checkpoint: Path, tmp_path: Path) -> Path:
    """A copy of the checkpoint to be damaged."""
    return Path(shutil.copytree(checkpoint, tmp_path / "copy"))


@pytest.fixture
def hub(checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the Hub that holds the checkpoint under `NAME`, at one commit that is also its `main`."""
    model = tmp_path / "hub" / f"models--{NAME.replace('/', '--')}"
    (model / "refs").mkdir(parents=True)
    (model / "refs" / "main").write_text(COMMIT)
    shutil.copytree(checkpoint, model / "snapshots" / COMMIT)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return model / "snapshots" / COMMIT


def sound(samples: int, seed: int = 3) -> np.ndarray:
    pcm = np.random.default_rng(seed).normal(0.02, 0.1, samples).astype(np.float32)
    pcm.flags.writeable = False
    return pcm


def kept(answer: Transcript) -> dict[str, np.ndarray]:
    assert answer.arrays is not None
    return dict(answer.arrays)


def audited(adapter: Wav2vec2Ctc) -> list[str]:
    request = Request("wav2vec2-ctc", "transcribe", True, True, None, frozenset(), Roll((), (), ()))
    return [f"{finding.code}: {finding.message}" for finding in audit_adapter(adapter, request).audit.findings]


def edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


# --- answers, against transformers itself


@pytest.mark.parametrize("samples", [400, 719, 720, 16_000, 41_234])
def test_it_answers_as_the_official_processor_and_model_do(
    warm: Wav2vec2Ctc, checkpoint: Path, samples: int, torch: Any, transformers: Any
) -> None:
    pcm = sound(samples)
    processor = transformers.AutoProcessor.from_pretrained(checkpoint)
    model = transformers.AutoModelForCTC.from_pretrained(checkpoint, attn_implementation="eager").eval()
    values = processor(pcm, sampling_rate=16_000, return_tensors="pt").input_values
    torch.set_num_threads(THREADS)  # sums in another order differ in their last digits
    with torch.inference_mode():
        logits = model(values).logits
    answer = warm.transcribe(pcm, 16_000)
    arrays = kept(answer)
    assert arrays["input"].tolist() == values[0].tolist()
    assert arrays["logits"].tolist() == logits[0].tolist()
    assert arrays["argmax"].tolist() == logits.argmax(-1)[0].tolist()
    assert answer.text == processor.batch_decode(logits.argmax(-1))[0]
    assert {name: array.dtype.name for name, array in arrays.items()} == {
        "input": "float32",
        "logits": "float32",
        "argmax": "int32",
    }
    assert arrays["logits"].shape == ((samples - 400) // 320 + 1, 32)


def test_it_answers_as_the_official_pipeline_does(warm: Wav2vec2Ctc, checkpoint: Path, transformers: Any) -> None:
    pipeline = transformers.pipeline("automatic-speech-recognition", model=str(checkpoint), device="cpu")
    pcm = sound(48_000)
    said = pipeline({"raw": np.array(pcm), "sampling_rate": 16_000})["text"]
    assert said.strip()
    assert warm.transcribe(pcm, 16_000).text == said


def test_our_own_normalisation_is_the_official_one(transformers: Any) -> None:
    extractor = transformers.Wav2Vec2FeatureExtractor(do_normalize=True)
    for samples in (1, 400, 12_345):
        official = extractor(sound(samples), sampling_rate=16_000)["input_values"][0]
        assert zero_mean_unit_variance(sound(samples)).tolist() == official.tolist()


def test_our_own_decoding_is_the_official_one(checkpoint: Path, transformers: Any) -> None:
    tokenizer = transformers.Wav2Vec2CTCTokenizer.from_pretrained(checkpoint)
    alphabet = Alphabet(TOKENS, "<pad>")
    generator = np.random.default_rng(11)
    for path in (generator.choice(32, length).astype(np.int32) for length in (0, 1, 2, 5, 40, 40, 40, 400)):
        for likely in (path, np.where(path % 3 == 0, 0, path), path % 6):
            text = tokenizer.decode(likely.tolist(), skip_special_tokens=False, clean_up_tokenization_spaces=False)
            assert spelt(likely, alphabet) == text


def test_special_tokens_and_odd_spacing_stay_in_the_text(warm: Wav2vec2Ctc) -> None:
    assert warm._engine is not None
    said = ("<s>", "I", "|", "<pad>", "|", "'", "M", "<unk>", "</s>", "|", "<pad>")
    assert warm._engine.decoded([TOKENS.index(token) for token in said]) == "<s>I  'M<unk></s>"


def test_an_answer_is_spelt_again_from_its_arrays(warm: Wav2vec2Ctc) -> None:
    answer = warm.transcribe(sound(16_000), 16_000)
    assert answer.text
    assert greedy_difference(answer.text, kept(answer), warm.identity().components) is None
    assert greedy_difference(answer.text[1:], kept(answer), warm.identity().components) is not None


def test_an_answer_owes_nothing_to_other_clips(warm: Wav2vec2Ctc) -> None:
    clips = [sound(samples, seed) for seed, samples in enumerate((16_000, 4_000, 30_000))]
    forth = [kept(warm.transcribe(clip, 16_000))["logits"].tobytes() for clip in clips]
    back = [kept(warm.transcribe(clip, 16_000))["logits"].tobytes() for clip in reversed(clips)]
    assert forth == back[::-1]


def test_a_clip_is_heard_whole(warm: Wav2vec2Ctc) -> None:
    pcm = np.array(sound(16_000 * 31))
    before = kept(warm.transcribe(pcm, 16_000))
    pcm[-400:] += 1
    after = kept(warm.transcribe(pcm, 16_000))
    assert len(before["logits"]) == (16_000 * 31 - 400) // 320 + 1
    assert (before["logits"][0] != after["logits"][0]).any()


def test_a_clip_below_one_frame_fails_alone(warm: Wav2vec2Ctc) -> None:
    with pytest.raises(RuntimeError, match="Kernel size can't be greater than actual input size"):
        warm.transcribe(sound(399), 16_000)
    assert kept(warm.transcribe(sound(400), 16_000))["logits"].shape == (1, 32)


def test_sound_at_another_rate_is_refused(warm: Wav2vec2Ctc) -> None:
    with pytest.raises(ValueError, match="16000"):
        warm.transcribe(sound(8000), 8000)


def test_no_clip_takes_more_bytes_than_foretold(warm: Wav2vec2Ctc) -> None:
    for samples in (400, 15_999, 16_000, 50_000):
        answer = kept(warm.transcribe(sound(samples), 16_000))
        assert tuple(answer) == warm.arrays
        assert sum(array.nbytes + HEADER for array in answer.values()) <= warm.stored_bytes(samples, 16_000)


def test_it_runs_in_float32_on_the_cpu_in_eval_mode_with_eager_attention(warm: Wav2vec2Ctc, torch: Any) -> None:
    assert warm._engine is not None
    network = warm._engine._model
    assert {(weight.dtype, weight.device.type) for weight in network.parameters()} == {(torch.float32, "cpu")}
    assert not network.training
    assert network.config._attn_implementation == "eager"


# --- what it is


def test_its_identity_is_read_without_loading_it(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    identity = Wav2vec2Ctc(folder=checkpoint).identity()
    assert (identity.name, identity.revision) == ("tiny-ctc", None)
    assert {path.name for path in identity.files} == {path.name for path in checkpoint.iterdir()}
    assert Alphabet.of(identity.components) == Alphabet(TOKENS, "<pad>", "|")
    for package in ("torch", "transformers"):
        assert identity.components[package] == version(package)


@pytest.mark.parametrize("revision", [None, "main", COMMIT])
def test_a_name_of_the_hub_is_found_in_its_cache(hub: Path, warm: Wav2vec2Ctc, revision: str | None) -> None:
    adapter = Wav2vec2Ctc(model=NAME, revision=revision)
    identity = adapter.identity()
    assert (identity.name, identity.revision) == (NAME, COMMIT)
    assert {path.parent for path in identity.files} == {hub}
    if revision is None:
        assert audited(adapter) == []
        assert adapter.transcribe(sound(5000), 16_000).text == warm.transcribe(sound(5000), 16_000).text


@pytest.mark.parametrize("name", ["speech/absent", "../elsewhere", "a/b/c"])
def test_what_is_not_in_the_cache_is_not_downloaded(hub: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    asked = []

    def refuse(*where: object, **_: object) -> None:
        asked.append(where)
        raise OSError("no network")

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("socket.socket.connect", refuse)
    monkeypatch.setattr("socket.getaddrinfo", refuse)
    assert hub.is_dir()
    (found,) = audited(Wav2vec2Ctc(model=name))
    assert found.startswith(f"checkpoint-missing: {name} is not in the Hub cache, and a run downloads nothing; ")
    assert f"`hf download {name}`" in found
    assert asked == []


def test_a_revision_that_is_not_in_the_cache_is_named(hub: Path) -> None:
    assert hub.is_dir()
    (found,) = audited(Wav2vec2Ctc(model=NAME, revision="v2"))
    assert f"`hf download {NAME} --revision v2`" in found


def test_a_cached_model_whose_weights_are_gone_is_named(hub: Path) -> None:
    (hub / "model.safetensors").unlink()
    (found,) = audited(Wav2vec2Ctc(model=NAME))
    assert found.startswith(f"checkpoint-missing: no model.safetensors in {hub}")


# --- checkpoints that do not fit


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "vocab.json", "*processor_config.json"])
def test_a_file_that_is_gone_is_named(copied: Path, name: str) -> None:
    (path,) = copied.glob(name)
    path.unlink()
    (found,) = audited(Wav2vec2Ctc(folder=copied))
    assert found.startswith("checkpoint-missing: no ")
    assert path.name in found


def test_weights_that_run_code_are_not_opened(copied: Path) -> None:
    (copied / "model.safetensors").rename(copied / "pytorch_model.bin")
    (found,) = audited(Wav2vec2Ctc(folder=copied))
    assert found.startswith("checkpoint-missing: no model.safetensors")


def test_a_layer_without_weights_is_not_made_up(copied: Path) -> None:
    edit(copied / "config.json", num_hidden_layers=3)
    (found,) = audited(Wav2vec2Ctc(folder=copied))
    assert found.startswith("checkpoint-unusable: ")
    assert "wav2vec2.encoder.layers.2." in found


def test_weights_in_several_files_are_all_its_files(copied: Path, warm: Wav2vec2Ctc, transformers: Any) -> None:
    network = transformers.AutoModelForCTC.from_pretrained(copied)
    (copied / "model.safetensors").unlink()
    network.save_pretrained(copied, max_shard_size="20KB")
    shards = {path.name for path in copied.glob("model-*.safetensors")}
    adapter = Wav2vec2Ctc(folder=copied)
    assert len(shards) > 1
    assert shards < {path.name for path in adapter.identity().files}
    assert audited(adapter) == []
    assert adapter.transcribe(sound(5000), 16_000).text == warm.transcribe(sound(5000), 16_000).text
    (copied / min(shards)).unlink()
    (found,) = audited(adapter)
    assert found.startswith(f"checkpoint-missing: no {min(shards)}")


def test_a_vocabulary_of_another_size_than_the_outputs_is_refused(copied: Path) -> None:
    vocabulary = {token: number for number, token in enumerate((*TOKENS, "Ä"))}
    (copied / "vocab.json").write_text(json.dumps(vocabulary))
    (found,) = audited(Wav2vec2Ctc(folder=copied))
    assert found == ("checkpoint-unusable: copy gave [1, 49, 32] where [1, frames, 33] goes with its vocabulary")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"do_lower_case": True}, "its tokenizer lowers case"),
        ({"replace_word_delimiter_char": "_"}, "something other than a space between words"),
        ({"tokenizer_class": "Wav2Vec2PhonemeCTCTokenizer"}, "its tokenizer is Wav2Vec2PhonemeCTCTokenizer"),
    ],
)
def test_a_tokenizer_that_decodes_otherwise_is_refused(copied: Path, changes: dict[str, Any], told: str) -> None:
    edit(copied / "tokenizer_config.json", **changes)
    (found,) = audited(Wav2vec2Ctc(folder=copied))
    assert found.startswith("checkpoint-unusable: ")
    assert told in found


def test_tokens_that_are_read_otherwise_than_the_tokenizer_does_are_refused(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = Wav2vec2Ctc(folder=copied)
    other = Alphabet((*TOKENS[:-2], "Z", "Q"), "<pad>")
    monkeypatch.setattr("pytest_speval.adapters.checkpoint.Checkpoint.alphabet", lambda _: other)
    with pytest.raises(AdapterFault, match="has other tokens") as caught:
        adapter.warm_up()
    assert caught.value.code == "checkpoint-unusable"


@pytest.mark.parametrize("older", [False, True])
def test_tokens_added_later_belong_to_the_vocabulary(copied: Path, older: bool) -> None:
    vocabulary, settings = (json.loads((copied / name).read_text()) for name in ("vocab.json", "tokenizer_config.json"))
    added = {token: vocabulary.pop(token) for token in ("Q", "Z")}
    (copied / "vocab.json").write_text(json.dumps(vocabulary))
    if older:
        del settings["added_tokens_decoder"]
        (copied / "tokenizer_config.json").write_text(json.dumps(settings))
        (copied / "added_tokens.json").write_text(json.dumps(added))
    else:
        more = {str(number): {"content": token, "special": False} for token, number in added.items()}
        more |= settings["added_tokens_decoder"]
        edit(copied / "tokenizer_config.json", added_tokens_decoder=more)
    adapter = Wav2vec2Ctc(folder=copied)
    assert Alphabet.of(adapter.identity().components).tokens == TOKENS
    assert audited(adapter) == []


def test_weights_that_are_damaged_are_refused(copied: Path) -> None:
    (copied / "model.safetensors").write_bytes(b"no weights")
    (found,) = audited(Wav2vec2Ctc(folder=copied))
    assert found.startswith(f"checkpoint-unusable: {copied} cannot be loaded: ")


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_without_its_packages_the_extra_is_named(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    def without(name: str) -> str:
        if name == package:
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr("pytest_speval.adapters.wav2vec2_ctc.version", without)
    with pytest.raises(MissingExtra, match=r"running tiny-ctc needs pytest-speval\[hf\]"):
        Wav2vec2Ctc(folder=checkpoint).identity()


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"model": "a/b", "folder": Path("a")},
        {"folder": Path("a"), "revision": "main"},
        {"model": "a/b", "device": "cuda"},
        {"model": "a/b", "threads": 0},
    ],
)
def test_keys_that_do_not_name_one_model_are_refused(keys: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Wav2vec2Ctc(**keys)
