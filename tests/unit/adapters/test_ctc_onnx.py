"""Exported CTC models: heard whole, decoded greedily, and refused where they do not fit their vocabulary."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pytest_speval.adapters.base import ARRAY_HEADER as HEADER
from pytest_speval.adapters.base import Roll, Transcript
from pytest_speval.adapters.ctc import Pace
from pytest_speval.adapters.ctc_onnx import CtcOnnx, zero_mean_unit_variance
from pytest_speval.audit.fit import Request, audit_adapter
from pytest_speval.errors import AdapterFault, AnswerFault
from pytest_speval.scoring.ctc import Alphabet
from pytest_speval.scoring.greedy_recount import greedy_difference
from tests.ctc_models import SCALE, TOKENS, sound, speller, write_vocabulary


@pytest.fixture
def vocabulary(tmp_path: Path) -> Path:
    return write_vocabulary(tmp_path / "vocab.json")


@pytest.fixture
def adapter(tmp_path: Path, vocabulary: Path) -> CtcOnnx:
    adapter = CtcOnnx(model=speller(tmp_path / "speller.onnx"), vocabulary=vocabulary)
    adapter.warm_up()
    return adapter


def kept(answer: Transcript) -> dict[str, np.ndarray]:
    assert answer.arrays is not None
    return dict(answer.arrays)


# --- answers


def test_a_clip_is_decoded_from_all_its_frames(adapter: CtcOnnx) -> None:
    said = sound(["H", "H", "E", "<pad>", "L", "L", "<pad>", "L", "O", "|", "|", "O", "'", "H", "<pad>"])
    assert adapter.transcribe(said, 16_000).text == "HELLO O'H"


def test_unknown_tokens_stay_in_the_text(adapter: CtcOnnx) -> None:
    assert adapter.transcribe(sound(["H", "<unk>", "<pad>", "<unk>"]), 16_000).text == "H<unk><unk>"


def test_blanks_alone_are_an_empty_answer(adapter: CtcOnnx) -> None:
    assert adapter.transcribe(sound(["<pad>", "<pad>", "|"]), 16_000).text == ""


def test_between_two_tokens_the_first_wins(adapter: CtcOnnx) -> None:
    half = np.array([3.5 / SCALE], np.float32)
    assert adapter.transcribe(half, 16_000).text == "H"


def test_what_was_heard_and_said_comes_with_the_answer(adapter: CtcOnnx) -> None:
    said = sound(["H", "E", "L", "<pad>", "L", "O"])
    answer = adapter.transcribe(said, 16_000)
    found = kept(answer)
    assert {name: (array.dtype.name, array.shape) for name, array in found.items()} == {
        "input": ("float32", (6,)),
        "logits": ("float32", (6, 8)),
        "argmax": ("int32", (6,)),
    }
    assert found["input"].tolist() == said.tolist()
    assert found["argmax"].tolist() == [3, 4, 5, 0, 5, 6]
    assert greedy_difference(answer.text, found, adapter.identity().components) is None


def test_an_answer_owes_nothing_to_the_clips_before(adapter: CtcOnnx) -> None:
    one, other = sound(["H", "E"]), sound(["O", "L", "|", "L", "O", "O"])
    first = adapter.transcribe(one, 16_000), adapter.transcribe(other, 16_000)
    second = adapter.transcribe(other, 16_000), adapter.transcribe(one, 16_000)
    assert [answer.text for answer in first] == ["HE", "OL LO"] == [answer.text for answer in reversed(second)]


def test_the_blank_and_the_delimiter_are_those_of_the_suite(tmp_path: Path, vocabulary: Path) -> None:
    adapter = CtcOnnx(model=speller(tmp_path / "m.onnx"), vocabulary=vocabulary, blank="'", delimiter="O")
    adapter.warm_up()
    assert adapter.transcribe(sound(["H", "'", "H", "O", "<pad>", "|"]), 16_000).text == "HH <pad>|"


# --- what its arrays take


def test_its_arrays_have_the_names_it_promises(adapter: CtcOnnx) -> None:
    assert tuple(kept(adapter.transcribe(sound(["H"]), 16_000))) == adapter.arrays


@pytest.mark.parametrize("hop", [1, 3, 320])
def test_no_clip_takes_more_bytes_than_foretold(tmp_path: Path, vocabulary: Path, hop: int) -> None:
    adapter = CtcOnnx(model=speller(tmp_path / "m.onnx", hop=hop), vocabulary=vocabulary)
    adapter.warm_up()
    for samples in (1, 16_000, 16_001, 47_123):
        answer = kept(adapter.transcribe(np.zeros(samples, np.float32), 16_000))
        assert sum(array.nbytes + HEADER for array in answer.values()) <= adapter.stored_bytes(samples, 16_000)


@given(st.integers(1, 4000), st.integers(-4000, 4000), st.integers(0, 10**6))
def test_frames_are_bounded_closely_whatever_the_hop(hop: int, offset: int, samples: int) -> None:
    def frames(length: int) -> int:
        return max(0, (length + offset) // hop)

    bound = Pace(16_000, frames(16_000), frames(32_000), 8).most_frames(samples)
    assert frames(max(samples, 16_000)) <= bound <= frames(max(samples, 16_000)) + 4 + 2 * samples // 16_000


# --- normalisation


@pytest.mark.parametrize("normalise", ["none", "zero-mean-unit-variance"])
def test_the_model_hears_the_clip_as_the_suite_wants_it(tmp_path: Path, vocabulary: Path, normalise: str) -> None:
    adapter = CtcOnnx(model=speller(tmp_path / "m.onnx"), vocabulary=vocabulary, normalise=normalise)
    adapter.warm_up()
    pcm = np.random.default_rng(5).normal(0.25, 0.5, 4000).astype(np.float32)
    found = kept(adapter.transcribe(pcm, 16_000))
    values = pcm.astype(float).tolist()
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / len(values)
    wanted = pcm if normalise == "none" else [(value - mean) / math.sqrt(variance + 1e-7) for value in values]
    assert found["input"] == pytest.approx(wanted, abs=2e-6)
    assert found["logits"][7] == pytest.approx(
        [-((float(found["input"][7]) * SCALE - token) ** 2) + abs(float(found["input"][7])) for token in range(8)],
        rel=1e-5,
    )


def test_silence_stays_silence() -> None:
    assert zero_mean_unit_variance(np.full(100, 0.5, np.float32)).tolist() == [0] * 100


# --- what it is


def test_its_identity_is_the_model_and_the_vocabulary(tmp_path: Path, vocabulary: Path) -> None:
    identity = CtcOnnx(model=tmp_path / "absent.onnx", vocabulary=vocabulary).identity()
    assert (identity.name, identity.files) == ("absent", (tmp_path / "absent.onnx", vocabulary))
    assert Alphabet.of(identity.components) == Alphabet(TOKENS, "<pad>", "|")


def test_it_hears_at_the_rate_of_the_suite(vocabulary: Path) -> None:
    assert CtcOnnx(model=Path("m.onnx"), vocabulary=vocabulary).sample_rate == 16_000
    assert CtcOnnx(model=Path("m.onnx"), vocabulary=vocabulary, sample_rate=8000).sample_rate == 8000


@pytest.mark.parametrize(
    "wrong",
    [{"length": {"fixed": 400, "rule": "pad"}}, {"normalise": "peak"}, {"labels": ["a"]}, {"sample_rate": 0}],
)
def test_keys_that_it_does_not_have_are_refused(vocabulary: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        CtcOnnx(model=Path("m.onnx"), vocabulary=vocabulary, **wrong)


# --- models that do not fit


def audited(adapter: CtcOnnx) -> list[str]:
    request = Request("ctc-onnx", "transcribe", True, True, None, frozenset(), Roll((), (), ()))
    return [f"{finding.code}: {finding.message}" for finding in audit_adapter(adapter, request).audit.findings]


def test_a_model_that_fits_passes_its_audit(tmp_path: Path, vocabulary: Path) -> None:
    assert audited(CtcOnnx(model=speller(tmp_path / "m.onnx"), vocabulary=vocabulary)) == []


@pytest.mark.parametrize(
    ("build", "told"),
    [
        ({"width": 7}, "m.onnx gave [1, 16000, 7] where [1, frames, 8] goes with its vocabulary"),
        ({"squeeze": True}, "m.onnx gave [16000, 8] where [1, frames, 8] goes with its vocabulary"),
        ({"extra": "Log"}, "m.onnx gave logits that are NaN or infinite"),
        ({"shape": (1, 400)}, "m.onnx: it hears exactly 400 samples; export it with a free axis of time"),
        ({"shape": (1, "one", "time")}, "m.onnx: its input `wav` is tensor(float) [1, 'one', 'time'], not float32"),
    ],
)
def test_a_model_that_does_not_fit_fails_its_audit(
    tmp_path: Path, vocabulary: Path, build: dict[str, Any], told: str
) -> None:
    (found,) = audited(CtcOnnx(model=speller(tmp_path / "m.onnx", **build), vocabulary=vocabulary))
    assert found.startswith(f"model-unusable: {told}")


def test_logits_that_are_no_numbers_are_no_answer(tmp_path: Path, vocabulary: Path) -> None:
    adapter = CtcOnnx(model=speller(tmp_path / "m.onnx", extra="Sqrt"), vocabulary=vocabulary)
    adapter.warm_up()
    assert adapter.transcribe(sound(["H", "E"]), 16_000).text == "HE"
    with pytest.raises(AnswerFault, match="NaN or infinite") as caught:
        adapter.transcribe(np.array([0.1, -0.1], np.float32), 16_000)
    assert caught.value.code == "invalid-answer"


def test_a_clip_without_a_frame_is_no_answer(adapter: CtcOnnx) -> None:
    with pytest.raises(AnswerFault, match="gave no frame") as caught:
        adapter.transcribe(np.zeros(0, np.float32), 16_000)
    assert caught.value.code == "invalid-answer"


# --- vocabularies that do not fit


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "is no JSON"),
        ('["a", "b"]', "is no object of tokens and their numbers"),
        ("{}", "is no object of tokens and their numbers"),
        ('{"<pad>": 0, "|": 0}', "'|' has 0, which is no number of its own"),
        ('{"<pad>": 0, "|": true}', "'|' has True, which is no number of its own"),
        ('{"<pad>": 0, "|": 2}', "2 tokens, and none has the number 1"),
        ('{"<pad>": 1, "|": 2}', "2 tokens, and none has the number 0"),
        ('{"<blank>": 0, "|": 1}', "the blank '<pad>' is not in the vocabulary"),
        ('{"<pad>": 0, " ": 1}', "the delimiter '|' is not in the vocabulary"),
    ],
)
def test_a_vocabulary_that_numbers_no_outputs_fails_its_audit(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "vocab.json"
    path.write_text(content)
    (found,) = audited(CtcOnnx(model=speller(tmp_path / "m.onnx"), vocabulary=path))
    assert found.startswith("vocabulary-unusable: ")
    assert told in found


def test_a_vocabulary_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(AdapterFault, match=r"absent\.json cannot be read: No such file") as caught:
        CtcOnnx(model=tmp_path / "m.onnx", vocabulary=tmp_path / "absent.json").identity()
    assert caught.value.code == "vocabulary-unusable"
