"""Moonshine: real speech is written down, nothing is cut short, and what is missing is named."""

from __future__ import annotations

import csv
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import SimpleNamespace

import jiwer
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pytest_speval.adapters import moonshine
from pytest_speval.adapters.moonshine import DECODER, ENCODER, LONGEST, SHORTEST, TOKENS, Moonshine, tokens_in
from pytest_speval.corpus.text import basic_normalizer
from pytest_speval.errors import AdapterFault, AnswerFault, MissingExtra

soundfile = pytest.importorskip("soundfile")
PROSODY = Path(__file__).parents[3] / "fixtures/prosody"
Floats = npt.NDArray[np.float32]


def folder() -> Path:
    try:
        package = distribution("moonshine-voice")
    except PackageNotFoundError:
        pytest.skip("the package moonshine-voice is not installed (extra `moonshine`)")
    return Path(str(package.locate_file("moonshine_voice/assets/tiny-en")))


@pytest.fixture(scope="module")
def engine() -> Moonshine:
    folder()
    pytest.importorskip("onnxruntime")
    warm = Moonshine()
    warm.warm_up()
    return warm


def clip(name: str) -> Floats:
    pcm: Floats = soundfile.read(PROSODY / f"clips/{name}.flac", dtype="float32")[0]
    pcm.flags.writeable = False
    return pcm


def carried(name: str) -> Floats:
    """A recording that the wheel carries; the 16 kHz one, or every third sample of the 48 kHz one after a mean."""
    pcm, rate = soundfile.read(folder().parent / name, dtype="float32")
    return np.asarray(pcm if rate == 16_000 else pcm[: len(pcm) // 3 * 3].reshape(-1, 3).mean(axis=1), np.float32)


def plain(text: str) -> str:
    return " ".join(basic_normalizer().rewrite(text).lower().split())


def test_the_bundled_clips_are_recognised(engine: Moonshine) -> None:
    with (PROSODY / "clips.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["speaker"] == "slt"]
    heard = [engine.transcribe(clip(row["clip_id"]), 16_000).text for row in rows]
    assert jiwer.wer([plain(row["sentence"]) for row in rows], [plain(text) for text in heard]) < 0.15
    assert not {"moonshine_voice", "sounddevice"} & set(sys.modules), "the files are enough; nothing of it is imported"


def test_44_seconds_are_heard_to_the_end(engine: Moonshine) -> None:
    text = plain(engine.transcribe(carried("two_cities.wav"), 16_000).text)
    assert "best of times" in text
    assert "winter of despair" in text
    assert "superlative degree of comparison only" in text


def test_a_text_is_whole_or_no_answer(engine: Moonshine) -> None:
    pcm = carried("beckett.wav")
    whole = engine.transcribe(pcm, 16_000).text
    assert plain(whole) == "ever tried ever failed no matter try again fail again fail better"
    warm = Moonshine(tokens_per_second=1.0)  # 8 and 10 tokens for 9.96 s: just what this text has
    warm.warm_up()
    assert warm.transcribe(pcm, 16_000).text == whole
    tight = Moonshine(tokens_per_second=0.9)
    tight.warm_up()
    with pytest.raises(AnswerFault, match=r"no end after 17 tokens for 10\.0 s") as caught:
        tight.transcribe(pcm, 16_000)
    assert caught.value.code == "moonshine-endless"


@pytest.mark.parametrize("samples", [0, 1, SHORTEST - 1, LONGEST + 1])
def test_a_clip_of_a_length_the_model_cannot_hear_is_no_answer(engine: Moonshine, samples: int) -> None:
    with pytest.raises(AnswerFault, match=f"{samples:,} samples where Moonshine hears 895 to 1,024,000") as caught:
        engine.transcribe(np.zeros(samples, np.float32), 16_000)
    assert caught.value.code == "moonshine-length"


@pytest.mark.parametrize("samples", [SHORTEST, 1_600, 16_000])
def test_silence_has_an_answer(engine: Moonshine, samples: int) -> None:
    assert len(engine.transcribe(np.zeros(samples, np.float32), 16_000).text.split()) <= 1


def test_answers_depend_on_neither_order_nor_threads(engine: Moonshine) -> None:
    names = ["awb-01-quick-loud", "kal16-03-slow-soft", "rms-02-quick-soft"]
    first = [engine.transcribe(clip(name), 16_000).text for name in names]
    other = Moonshine(threads=2)
    assert other.warm_up()["threads"] == 2
    assert [other.transcribe(clip(name), 16_000).text for name in reversed(names)] == first[::-1]


def test_the_identity_names_the_files_and_the_version() -> None:
    wheel = folder()
    identity = Moonshine().identity()
    assert (identity.name, identity.version) == ("moonshine-tiny-en", "0.0.49")
    assert identity.files == tuple(wheel / name for name in (ENCODER, DECODER, TOKENS))
    assert all(path.is_file() for path in identity.files)


def linked(tmp_path: Path, *without: str) -> Path:
    """A folder of the model's files, less some."""
    for path in folder().iterdir():
        if path.name not in without:
            (tmp_path / path.name).symlink_to(path)
    return tmp_path


def test_a_folder_of_the_users_serves_without_the_package(
    engine: Moonshine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Moonshine(model=linked(tmp_path))
    monkeypatch.setattr(moonshine, "distribution", absent)
    own.warm_up()
    assert own.identity().version is None
    heard, same = (each.transcribe(clip("slt-02-slow-loud"), 16_000).text for each in (own, engine))
    assert heard == same


@pytest.mark.parametrize("name", [ENCODER, DECODER, TOKENS])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    pytest.importorskip("onnxruntime")
    with pytest.raises(AdapterFault, match=name) as caught:
        Moonshine(model=linked(tmp_path, name)).warm_up()
    assert caught.value.code == "model-missing"


@pytest.mark.parametrize(
    ("name", "content"),
    [(ENCODER, b"no graph"), (DECODER, b""), (TOKENS, b""), (TOKENS, b"\x01a\x01b"), (TOKENS, b"\x05ab")],
)
def test_a_file_that_does_not_fit_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    pytest.importorskip("onnxruntime")
    model = linked(tmp_path, name)
    (model / name).write_bytes(content)
    with pytest.raises(AdapterFault, match=name) as caught:
        Moonshine(model=model).warm_up()
    assert caught.value.code == "moonshine-unusable"


def absent(name: str) -> SimpleNamespace:
    raise PackageNotFoundError(name)


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moonshine, "distribution", absent)
    for ask in (Moonshine().identity, Moonshine().warm_up):
        with pytest.raises(MissingExtra, match=r"needs pytest-speval\[moonshine\]"):
            ask()


def test_another_version_is_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moonshine, "distribution", lambda _: SimpleNamespace(version="0.1.5"))
    with pytest.raises(AdapterFault, match=r"0\.1\.5; only the wheel of 0\.0\.49 carries the model") as caught:
        Moonshine().identity()
    assert caught.value.code == "moonshine-version"


@pytest.mark.parametrize("keys", [{"threads": 0}, {"tokens_per_second": 0}, {"beam": 4}, {"model": 3}])
def test_keys_are_checked(keys: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Moonshine(**keys)


def written(token: bytes) -> bytes:
    low, rest = len(token) % 128, len(token) // 128
    return (bytes([low + 128, rest]) if len(token) >= 128 else bytes([low])) + token


@given(st.lists(st.one_of(st.binary(max_size=4), st.integers(126, 700).map(lambda size: b"\x80" * size))))
def test_tokens_are_read_back(tokens: list[bytes]) -> None:
    content = b"".join(map(written, tokens))
    assert tokens_in(content) == tokens
    if content and tokens[-1]:
        with pytest.raises(AdapterFault, match="a broken copy"):
            tokens_in(content[:-1])
