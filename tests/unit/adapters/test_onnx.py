"""ONNX adapters: the model is what the suite declares of it, or it is not asked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from pytest_speval.adapters.class_onnx import ClassOnnx, ClassOnnxKeys
from pytest_speval.adapters.onnx import FixedLength, OnnxModel, thread_share
from pytest_speval.adapters.vad_onnx import VadOnnx, VadOnnxKeys
from pytest_speval.errors import AdapterFault, AnswerFault
from pytest_speval.tasks.emotion_answer import record_emotion

LABELS = ("angry", "happy", "sad")
MANY = ("neutral", "surprise", "fear", "sadness", "joy", "disgust", "anger")
Shape = Sequence[int | str | None]


def saved(path: Path, nodes: list[Any], constants: dict[str, Any], inputs: list[Any], outputs: list[Any]) -> Path:
    tensors = [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return path


def fixed_row(
    path: Path,
    row: Sequence[float],
    shape: Shape = ("batch", "time"),
    name: str = "wav",
    kind: int = TensorProto.FLOAT,
    more: Sequence[Any] = (),
) -> Path:
    """A model that answers one row whatever it hears."""
    nodes = [
        helper.make_node("Cast", [name], ["floats"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMax", ["floats"], ["peak"], keepdims=0),
        helper.make_node("Mul", ["peak", "zero"], ["nought"]),
        helper.make_node("Add", ["row", "nought"], ["scores"]),
    ]
    constants = {"row": np.array([row], np.float32), "zero": np.float32(0)}
    inputs = [helper.make_tensor_value_info(name, kind, shape), *more]
    outputs = [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, len(row)])]
    return saved(path, nodes, constants, inputs, outputs)


def levels(path: Path, shape: Shape = ("batch", "time")) -> Path:
    """A model that answers [sum, greatest, least] of the samples it hears."""
    nodes = [
        helper.make_node("ReduceSum", ["wav", "axis"], ["sum"], keepdims=1),
        helper.make_node("ReduceMax", ["wav"], ["greatest"], axes=[1], keepdims=1),
        helper.make_node("ReduceMin", ["wav"], ["least"], axes=[1], keepdims=1),
        helper.make_node("Concat", ["sum", "greatest", "least"], ["levels"], axis=1),
    ]
    inputs = [helper.make_tensor_value_info("wav", TensorProto.FLOAT, shape)]
    outputs = [helper.make_tensor_value_info("levels", TensorProto.FLOAT, ["batch", 3])]
    return saved(path, nodes, {"axis": np.array([1], np.int64)}, inputs, outputs)


def first_three(path: Path, fixed: int) -> Path:
    """A model that answers the first three of the samples it hears."""
    inputs = [helper.make_tensor_value_info("wav", TensorProto.FLOAT, [1, fixed])]
    outputs = [helper.make_tensor_value_info("first", TensorProto.FLOAT, [1, 3])]
    constants = {name: np.array([value], np.int64) for name, value in (("from", 0), ("to", 3), ("axis", 1))}
    return saved(
        path,
        [helper.make_node("Slice", ["wav", "from", "to", "axis"], ["first"])],
        constants,
        inputs,
        outputs,
    )


def opened(model: Path, **keys: Any) -> ClassOnnx:
    adapter = ClassOnnx(model=model, labels=LABELS, softmax=False, **keys)
    adapter.warm_up()
    return adapter


def refused(model: Path, **keys: Any) -> tuple[str, str]:
    with pytest.raises(AdapterFault) as caught:
        opened(model, **keys)
    return caught.value.code, caught.value.message


def scores_of(adapter: ClassOnnx, pcm: np.ndarray) -> list[float]:
    scores = adapter.classify(pcm, 16_000).scores
    assert scores is not None
    return list(scores.values())


def ramp(frames: int) -> np.ndarray:
    return np.arange(1, frames + 1, dtype=np.float32)


# --- the file


def test_the_file_is_the_model_and_opened_only_when_warmed_up(tmp_path: Path) -> None:
    adapter = ClassOnnx(model=tmp_path / "absent.onnx", labels=LABELS)
    assert (adapter.identity().name, adapter.identity().files) == ("absent", (tmp_path / "absent.onnx",))
    with pytest.raises(AdapterFault) as caught:
        adapter.warm_up()
    assert (caught.value.code, caught.value.message) == (
        "model-missing",
        f"no model file {tmp_path / 'absent.onnx'}",
    )


def test_a_file_that_is_no_model_is_named(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    code, message = refused(tmp_path / "m.onnx")
    assert code == "model-unusable"
    assert message.startswith(f"{tmp_path / 'm.onnx'} cannot be opened: ")


# --- inputs and outputs (H38)


def test_h38_a_wrong_name_lists_what_the_model_has(tmp_path: Path) -> None:
    model = fixed_row(tmp_path / "m.onnx", [0.1, 0.7, 0.2])
    assert refused(model, input="input") == (
        "model-unusable",
        "m.onnx: input `input` does not exist; its inputs are `wav` tensor(float) ['batch', 'time']",
    )
    assert refused(model, output="logits") == (
        "model-unusable",
        "m.onnx: output `logits` does not exist; its outputs are `scores` tensor(float) [1, 3]",
    )
    assert scores_of(opened(model, input="wav", output="scores"), ramp(5)) == pytest.approx([0.1, 0.7, 0.2])


def test_h38_one_of_several_inputs_must_be_named_and_the_model_must_do_with_it(tmp_path: Path) -> None:
    rate = helper.make_tensor_value_info("rate", TensorProto.INT64, [1])
    model = fixed_row(tmp_path / "m.onnx", [0.1, 0.7, 0.2], more=[rate])
    assert refused(model) == (
        "model-unusable",
        "m.onnx: input must be named; its inputs are `wav` tensor(float) ['batch', 'time']; `rate` tensor(int64) [1]",
    )
    code, message = refused(model, input="wav")
    assert code == "model-unusable"
    assert message.startswith("m.onnx cannot hear 16000 samples of silence: ")
    assert "rate" in message


@pytest.mark.parametrize(
    ("shape", "kind", "said"),
    [
        (["batch", 1, "time"], TensorProto.FLOAT, "tensor(float) ['batch', 1, 'time']"),
        (["time"], TensorProto.FLOAT, "tensor(float) ['time']"),
        (["batch", "time"], TensorProto.DOUBLE, "tensor(double) ['batch', 'time']"),
        (["batch", "time"], TensorProto.INT16, "tensor(int16) ['batch', 'time']"),
    ],
)
def test_h38_an_input_of_another_type_or_rank_is_refused(tmp_path: Path, shape: Shape, kind: int, said: str) -> None:
    model = fixed_row(tmp_path / "m.onnx", [0.1, 0.7, 0.2], shape, kind=kind)
    assert refused(model) == ("model-unusable", f"m.onnx: its input `wav` is {said}, not float32 [1, N]")


def test_h38_a_model_of_two_clips_a_call_is_refused(tmp_path: Path) -> None:
    code, message = refused(fixed_row(tmp_path / "m.onnx", [0.1, 0.7, 0.2], [2, "time"]))
    assert code == "model-unusable"
    assert message.startswith("m.onnx cannot hear 16000 samples of silence: ")


@pytest.mark.parametrize("shape", [("batch", "time"), (1, "time"), (None, None), (1, None)])
def test_h38_a_named_or_open_axis_hears_any_length(tmp_path: Path, shape: Shape) -> None:
    adapter = opened(levels(tmp_path / "m.onnx", shape))
    for frames in (1, 7, 64_601):
        assert scores_of(adapter, np.full(frames, 0.5, np.float32)) == [frames / 2, 0.5, 0.5]


def test_h11_a_width_that_is_not_the_declared_one_is_refused_before_the_first_clip(tmp_path: Path) -> None:
    model = fixed_row(tmp_path / "m.onnx", [0.1, 0.2, 0.3, 0.4])
    assert refused(model) == ("model-unusable", "m.onnx gave [1, 4] where [1, 3] is declared")


def test_an_output_that_changes_its_shape_is_an_invalid_answer(tmp_path: Path) -> None:
    inputs = [helper.make_tensor_value_info("wav", TensorProto.FLOAT, [1, "time"])]
    outputs = [helper.make_tensor_value_info("copy", TensorProto.FLOAT, [1, "time"])]
    model = saved(tmp_path / "m.onnx", [helper.make_node("Identity", ["wav"], ["copy"])], {}, inputs, outputs)
    echo = OnnxModel(ClassOnnxKeys(model=model, labels=LABELS), 16_000)
    echo.open()
    assert echo.run(ramp(16_000)).shape == (16_000,)
    with pytest.raises(AnswerFault) as caught:
        echo.run(ramp(5))
    assert caught.value.code == "invalid-answer"
    assert caught.value.message == "m.onnx gave [1, 5] where [1, 16000] is declared"


# --- fixed lengths (H38)


def test_h38_a_fixed_axis_needs_a_rule(tmp_path: Path) -> None:
    model = levels(tmp_path / "m.onnx", [1, 64_600])
    assert refused(model) == (
        "model-unusable",
        "m.onnx: it hears exactly 64600 samples; declare `length: {fixed: 64600, rule: pad|trim|window}`",
    )
    assert refused(model, length=FixedLength(fixed=64_000, rule="pad")) == (
        "model-unusable",
        "m.onnx: it hears 64600 samples, not 64000",
    )


@pytest.mark.parametrize("rule", ["pad", "trim", "window"])
@pytest.mark.parametrize("fixed", [5, 16_000, 20_000])
def test_h38_a_model_of_any_fixed_length_can_be_warmed_up(tmp_path: Path, fixed: int, rule: str) -> None:
    model = levels(tmp_path / "m.onnx", [1, fixed])
    adapter = opened(model, length=FixedLength.model_validate({"fixed": fixed, "rule": rule}))
    assert scores_of(adapter, np.ones(fixed, np.float32)) == [fixed, 1.0, 1.0]


@pytest.mark.parametrize("rule", ["pad", "trim", "window"])
def test_h38_a_short_clip_is_padded_with_zeros_at_its_end(tmp_path: Path, rule: str) -> None:
    adapter = opened(levels(tmp_path / "m.onnx", [1, 5]), length=FixedLength.model_validate({"fixed": 5, "rule": rule}))
    assert scores_of(adapter, ramp(3)) == [6.0, 3.0, 0.0]
    assert scores_of(adapter, ramp(0)) == [0.0, 0.0, 0.0]
    first = opened(first_three(tmp_path / "f.onnx", 5), length=FixedLength.model_validate({"fixed": 5, "rule": rule}))
    assert scores_of(first, ramp(2)) == [1.0, 2.0, 0.0]


def test_h38_a_long_clip_fails_is_cut_or_is_heard_in_windows(tmp_path: Path) -> None:
    model = levels(tmp_path / "m.onnx", [1, 5])
    with pytest.raises(AnswerFault) as caught:
        opened(model, length=FixedLength(fixed=5, rule="pad")).classify(ramp(7), 16_000)
    assert caught.value.code == "input-too-long"
    assert caught.value.message == "7 samples where m.onnx hears 5"
    assert scores_of(opened(model, length=FixedLength(fixed=5, rule="trim")), ramp(7)) == [15.0, 5.0, 1.0]
    windows = scores_of(opened(model, length=FixedLength(fixed=5, rule="window")), ramp(7))
    assert windows == [(15 + 13) / 2, (5 + 7) / 2, (1 + 0) / 2]
    whole = scores_of(opened(model, length=FixedLength(fixed=5, rule="window")), ramp(10))
    assert whole == [(15 + 40) / 2, (5 + 10) / 2, (1 + 6) / 2]


def test_a_rule_may_be_declared_for_a_model_that_hears_any_length(tmp_path: Path) -> None:
    adapter = opened(levels(tmp_path / "m.onnx"), length=FixedLength(fixed=5, rule="trim"))
    assert scores_of(adapter, ramp(7)) == [15.0, 5.0, 1.0]


# --- providers and threads (H35, H36)


def test_h35_a_provider_that_is_not_installed_is_an_error(tmp_path: Path) -> None:
    assert "CUDAExecutionProvider" not in onnxruntime.get_available_providers(), "this test is for a machine without"
    code, message = refused(fixed_row(tmp_path / "m.onnx", [0, 0, 0]), providers=("CUDAExecutionProvider",))
    assert code == "provider-unavailable"
    assert message.startswith("the provider CUDAExecutionProvider is not there; present: ")
    assert "CPUExecutionProvider" in message


def test_h35_the_session_tells_what_is_used_and_not_the_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library that was built with a provider may still fall back when the session is made."""
    real = onnxruntime.InferenceSession

    def falling_back(path: Path, options: Any, providers: list[str]) -> Any:
        assert providers == ["CUDAExecutionProvider", "CPUExecutionProvider"]
        return real(path, options, providers=["CPUExecutionProvider"])

    monkeypatch.setattr(
        onnxruntime, "get_available_providers", lambda: ["CUDAExecutionProvider", "CPUExecutionProvider"]
    )
    monkeypatch.setattr(onnxruntime, "InferenceSession", falling_back)
    providers = ("CUDAExecutionProvider", "CPUExecutionProvider")
    assert refused(fixed_row(tmp_path / "m.onnx", [0, 0, 0]), providers=providers) == (
        "provider-unavailable",
        "the provider CUDAExecutionProvider is not there; present: CPUExecutionProvider",
    )


@pytest.mark.parametrize(
    ("cores", "workers", "threads"), [(2, "2", 1), (2, None, 2), (8, "3", 2), (1, "4", 1), (64, "4", 16)]
)
def test_h36_threads_are_the_usable_cores_over_the_workers(
    monkeypatch: pytest.MonkeyPatch, cores: int, workers: str | None, threads: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    monkeypatch.delenv("PYTEST_XDIST_WORKER_COUNT", raising=False)
    if workers is not None:
        monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", workers)
    assert thread_share() == threads


def test_h36_the_session_has_its_share_of_threads_and_tells_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "2")
    made: list[Any] = []
    real = onnxruntime.InferenceSession

    def kept(*args: Any, **keys: Any) -> Any:
        made.append(real(*args, **keys))
        return made[-1]

    monkeypatch.setattr(onnxruntime, "InferenceSession", kept)
    model = fixed_row(tmp_path / "m.onnx", [0.1, 0.7, 0.2])
    facts = ClassOnnx(model=model, labels=LABELS).warm_up()
    assert facts == {"providers": ["CPUExecutionProvider"], "threads": 1}
    assert ClassOnnx(model=model, labels=LABELS, threads=3).warm_up()["threads"] == 3
    options = [session.get_session_options() for session in made]
    assert [(option.intra_op_num_threads, option.inter_op_num_threads) for option in options] == [
        (1, 1),
        (3, 1),
    ]


# --- answers (H11, H37)


def test_h11_scores_have_the_names_in_the_declared_order(tmp_path: Path) -> None:
    model = fixed_row(tmp_path / "m.onnx", [0.1, 0.1, 0.05, 0.05, 0.6, 0.05, 0.05])
    adapter = ClassOnnx(model=model, labels=MANY)
    adapter.warm_up()
    scores = adapter.classify(ramp(9), 16_000).scores
    assert scores is not None
    assert tuple(scores) == adapter.labels == MANY
    assert max(scores, key=lambda name: scores[name]) == "joy"


def test_softmax_turns_logits_into_shares(tmp_path: Path) -> None:
    model = fixed_row(tmp_path / "m.onnx", [1000.0, 1001.0, -1000.0])
    adapter = ClassOnnx(model=model, labels=LABELS)
    adapter.warm_up()
    e = np.exp(1.0)
    assert scores_of(adapter, ramp(3)) == pytest.approx([1 / (1 + e), e / (1 + e), 0.0])
    assert scores_of(opened(model), ramp(3)) == [1000.0, 1001.0, -1000.0]


@pytest.mark.parametrize("softmax", [True, False])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_h37_a_score_that_is_not_finite_is_named_and_no_class(tmp_path: Path, bad: float, softmax: bool) -> None:
    adapter = ClassOnnx(model=fixed_row(tmp_path / "m.onnx", [0.2, bad, 0.9]), labels=LABELS, softmax=softmax)
    adapter.warm_up()
    with pytest.raises(AnswerFault) as caught:
        record_emotion(adapter.classify(ramp(3), 16_000))
    assert caught.value.code == "invalid-answer"
    assert caught.value.message == f"the score of `happy` is {bad}: it must be a finite number"


def test_a_logit_of_minus_infinity_is_a_share_of_nothing(tmp_path: Path) -> None:
    adapter = ClassOnnx(model=fixed_row(tmp_path / "m.onnx", [0.0, -np.inf, 0.0]), labels=LABELS)
    adapter.warm_up()
    assert scores_of(adapter, ramp(3)) == [0.5, 0.0, 0.5]


def test_the_axes_come_in_the_declared_order_of_the_model(tmp_path: Path) -> None:
    model = fixed_row(tmp_path / "m.onnx", [0.1, 0.2, 0.3])
    for outputs in (("arousal", "dominance", "valence"), ("valence", "arousal", "dominance")):
        adapter = VadOnnx(model=model, outputs=outputs)
        adapter.warm_up()
        vad = adapter.classify(ramp(3), 16_000).vad
        assert vad is not None
        assert vad._asdict() == pytest.approx(dict(zip(outputs, (0.1, 0.2, 0.3), strict=True)))


def test_h37_an_axis_that_is_not_finite_is_an_invalid_answer(tmp_path: Path) -> None:
    model = fixed_row(tmp_path / "m.onnx", [0.1, np.nan, 0.3])
    adapter = VadOnnx(model=model, outputs=("arousal", "dominance", "valence"))
    adapter.warm_up()
    with pytest.raises(AnswerFault, match="dominance is nan"):
        record_emotion(adapter.classify(ramp(3), 16_000))


def test_a_read_only_clip_is_heard_and_left_as_it_is(tmp_path: Path) -> None:
    pcm = ramp(6)
    pcm.flags.writeable = False
    adapter = opened(levels(tmp_path / "m.onnx"))
    assert scores_of(adapter, pcm) == [21.0, 6.0, 1.0]
    assert (pcm == ramp(6)).all()
    adapter.close()
    adapter.warm_up()
    assert scores_of(adapter, pcm) == [21.0, 6.0, 1.0]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            {"outputs": ("arousal", "arousal", "valence")},
            "must name valence, arousal and dominance once each",
        ),
        ({"outputs": ("arousal", "valence")}, "must name valence, arousal and dominance once each"),
        ({}, "Field required"),
        ({"outputs": ("arousal", "dominance", "valence"), "thread": 1}, "Extra inputs are not permitted"),
        ({"outputs": ("arousal", "dominance", "valence"), "threads": 0}, "greater than or equal to 1"),
    ],
)
def test_keys_of_the_axes_are_checked(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        VadOnnxKeys.model_validate({"model": Path("m.onnx")} | keys)


@pytest.mark.parametrize("labels", [("a",), ("a", "b", "a")])
def test_labels_are_at_least_two_and_distinct(labels: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="labels"):
        ClassOnnxKeys(model=Path("m.onnx"), labels=labels)
