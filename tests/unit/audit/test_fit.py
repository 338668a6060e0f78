"""`audit[adapter]`: what must hold before an adapter is asked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from pytest_speval.adapters.base import EmotionRead, Identity, Roll, Vad
from pytest_speval.adapters.predictions import Predictions
from pytest_speval.audit.finding import Finding
from pytest_speval.audit.fit import TOLERANCE, Request, audit_adapter, describe
from pytest_speval.corpus.labels import LabelRules
from pytest_speval.corpus.projections import VAD_7
from pytest_speval.errors import AdapterFault

Pcm = npt.NDArray[np.float32]
HAPPY_SAD = LabelRules(("happy", "sad"))
ROLL = Roll({("test", "a"), ("dev", "b")}, [("test", "a")], [("test", "a")])
PLAIN = Request("mine", "classify", True, True, None, frozenset(), ROLL)


class Mine:
    """Answers by the mean level of a clip."""

    labels: Sequence[str] | None = None

    def __init__(self) -> None:
        self.warm = 0

    def warm_up(self) -> Mapping[str, Any]:
        self.warm += 1
        return {"providers": ["mine"]}

    def classify(self, pcm: Pcm, sample_rate: int) -> EmotionRead:
        assert sample_rate == 16_000
        return EmotionRead(scores={"happy": float(pcm.mean()), "sad": 0.5})


class Named(Mine):
    """Knows what it is."""

    def __init__(self, *files: Path, labels: Sequence[str] | None = None) -> None:
        super().__init__()
        self.labels = labels
        self._files = files

    def identity(self) -> Identity:
        return Identity("wav2small", "1.2", "abc", self._files, {"head": "v3"})


def told(adapter: object, request: Request = PLAIN) -> list[tuple[str, str]]:
    findings = audit_adapter(adapter, request).audit.findings
    assert {finding.severity for finding in findings} <= {"error"}
    return [(finding.code, finding.message) for finding in findings]


def sample(value: float, frames: int) -> Any:
    return lambda: (np.full(frames, value, np.float32), 16_000)


# --- identity


def test_an_adapter_that_fits_is_warm_and_says_what_it_is(tmp_path: Path) -> None:
    model = tmp_path / "model.onnx"
    model.write_bytes(b"weights")
    adapter = Named(model)
    fit = audit_adapter(adapter, PLAIN)
    assert (fit.audit.name, fit.audit.findings, adapter.warm) == ("adapter", (), 1)
    assert fit.facts["providers"] == ["mine"]
    assert fit.identity == {
        "labels": None,
        "name": "wav2small",
        "version": "1.2",
        "revision": "abc",
        "components": {"head": "v3"},
        "files": {"model.onnx": hashlib.sha256(b"weights").hexdigest()},
    }


def test_an_adapter_without_an_identity_is_called_as_the_suite_calls_it() -> None:
    assert audit_adapter(Mine(), PLAIN).identity["name"] == "mine"


def test_files_of_one_name_keep_both_digests(tmp_path: Path) -> None:
    paths = [tmp_path / folder / "model.onnx" for folder in ("encoder", "head")]
    for path in paths:
        path.parent.mkdir()
        path.write_text(path.parent.name, encoding="utf-8")
    said, missing = describe(Identity("two", files=tuple(paths)))
    assert not missing
    assert set(said["files"].values()) == {hashlib.sha256(text).hexdigest() for text in (b"encoder", b"head")}


def test_a_model_file_that_is_not_there_is_named_and_nothing_is_loaded(tmp_path: Path) -> None:
    adapter = Named(tmp_path / "absent.onnx")
    assert told(adapter) == [("model-missing", f"no model file {tmp_path / 'absent.onnx'}")]
    assert adapter.warm == 0


# --- pins and assets


def test_pins_are_exact_versions() -> None:
    fitting = replace(PLAIN, requires={"numpy": version("numpy")})
    assert told(Mine(), fitting) == []
    requires = {"numpy": "0.0.1", "no-such-package-of-ours": "1"}
    assert told(Mine(), replace(PLAIN, requires=requires)) == [
        ("pin-not-met", f"numpy is {version('numpy')}, the suite requires 0.0.1"),
        ("pin-not-met", "no-such-package-of-ours is absent, the suite requires 1"),
    ]


def test_assets_must_be_there_and_unchanged(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_bytes(b"x")
    digest = hashlib.sha256(b"x").hexdigest()
    fitting = replace(PLAIN, folder=tmp_path, assets={"labels.txt": digest})
    assert told(Mine(), fitting) == []
    adapter = Mine()
    assert told(adapter, replace(fitting, assets={"labels.txt": "0" * 64, "absent.bin": digest})) == [
        ("asset-changed", f"labels.txt has SHA-256 {digest}, the suite pins {'0' * 64}"),
        ("asset-missing", f"no asset {tmp_path / 'absent.bin'}"),
    ]
    assert adapter.warm == 0, "a model that is not the pinned one is not loaded"


# --- abilities


def test_an_adapter_without_the_method_of_its_task_is_refused() -> None:
    assert told(Mine(), replace(PLAIN, method="transcribe")) == [
        ("no-method", "mine has no method `transcribe`, which the task asks")
    ]


def test_an_adapter_that_hears_needs_sound_and_recorded_answers_do_not(tmp_path: Path) -> None:
    silent = replace(PLAIN, heard=False)
    assert told(Mine(), silent) == [("no-sound", "mine hears clips; give `corpus.columns.audio` or `audio_from`")]
    assert told(Mine(), replace(silent, sound=False)) == []
    (tmp_path / "answers.csv").write_text("id,label\na,happy\n", encoding="utf-8")
    assert told(Predictions(tmp_path / "answers.csv"), silent) == []


@pytest.mark.parametrize("part", ["identity", "warm_up"])
def test_whatever_an_adapter_raises_is_a_finding(part: str) -> None:
    def broken() -> None:
        raise RuntimeError("no space left")

    adapter = Mine()
    setattr(adapter, part, broken)
    assert told(adapter) == [("adapter-broken", "mine: RuntimeError: no space left")]


def test_an_error_on_purpose_keeps_its_code() -> None:
    class Refusing(Mine):
        def warm_up(self) -> Mapping[str, Any]:
            raise AdapterFault("provider-unavailable", "the provider X is not there")

    assert told(Refusing()) == [("provider-unavailable", "the provider X is not there")]


# --- labels (H10)


def reach(labels: Sequence[str] | None, rules: LabelRules, supported: Sequence[str]) -> list[tuple[str, str]]:
    return told(Named(labels=labels), replace(PLAIN, labels=rules, supported=frozenset(supported)))


def test_h10_labels_of_another_vocabulary_are_an_error_that_shows_both_sets() -> None:
    both = "the adapter says LABEL_0, LABEL_1; the set is happy, sad"
    assert reach(["LABEL_0", "LABEL_1"], HAPPY_SAD, ["happy", "sad"]) == [
        (
            "labels-unreached",
            f"no rule for the adapter's LABEL_0, LABEL_1: add to `labels.answers`, `abstain` for no choice; {both}",
        ),
        ("labels-unreached", f"no answer can be happy, sad; {both}"),
    ]


def test_h10_one_class_more_than_the_set_needs_a_rule() -> None:
    ((code, message),) = reach(["happy", "sad", "other"], HAPPY_SAD, ["happy", "sad"])
    assert code == "labels-unreached"
    assert message.startswith("no rule for the adapter's other: ")
    ruled = LabelRules(("happy", "sad"), answers={"other": "abstain"})
    assert reach(["happy", "sad", "other"], ruled, ["happy", "sad"]) == []


def test_h10_a_class_that_can_never_be_answered_is_an_error_if_clips_have_it() -> None:
    ((code, message),) = reach(["happy"], HAPPY_SAD, ["happy", "sad"])
    assert (code, message.partition(";")[0]) == ("labels-unreached", "no answer can be sad")
    assert reach(["happy"], HAPPY_SAD, ["happy"]) == []


def test_the_labels_of_an_axes_projection_are_held_against_the_supported_ones() -> None:
    four = LabelRules(("happy", "sad", "angry", "calm"), projection=VAD_7, answers={"excited": "happy"})
    assert reach(None, four, ["happy", "sad", "angry", "calm"]) == [], "labels it also yields may be outside"
    ((code, message),) = reach(None, LabelRules(("bored", "sad"), projection=VAD_7), ["bored", "sad"])
    assert (code, message.partition(";")[0]) == ("labels-unreached", "no answer can be bored")


def test_an_adapter_that_declares_no_labels_is_asked_all_the_same() -> None:
    assert reach(None, HAPPY_SAD, ["happy", "sad"]) == []


# --- batches (H34)


class Batched(Mine):
    """Pads to the longest clip; `masked` says whether the padding is left out of the mean."""

    def __init__(self, masked: bool = True, slip: float = 0.0) -> None:
        super().__init__()
        self._masked = masked
        self._slip = slip
        self.batches: list[list[int]] = []

    def classify_batch(self, clips: Sequence[Pcm], sample_rate: int) -> list[EmotionRead]:
        self.batches.append([len(clip) for clip in clips])
        longest = max(map(len, clips))
        reads = []
        for clip in clips:
            padded = np.pad(clip, (0, longest - len(clip)))
            read = self.classify(clip if self._masked else padded, sample_rate)
            scores = {name: score + self._slip for name, score in (read.scores or {}).items()}
            reads.append(EmotionRead(scores=scores))
        return reads


BATCHES = replace(PLAIN, batch=8, samples=(sample(0.9, 160_000), sample(0.7, 16_000), sample(0.2, 32_000)))


def test_h34_one_clip_a_call_needs_no_method_for_batches() -> None:
    assert told(Mine(), replace(BATCHES, batch=1)) == []
    assert told(Mine(), BATCHES) == [("no-batch", "run.batch is 8, and mine has no method `classify_batch`")]


def test_h34_a_clip_is_asked_alone_first_and_last_in_a_batch_with_a_longer_one() -> None:
    adapter = Batched()
    assert told(adapter, BATCHES) == []
    assert adapter.batches == [[16_000, 160_000], [160_000, 16_000]]


def test_h34_padding_that_is_not_masked_is_found() -> None:
    assert told(Batched(masked=False), BATCHES) == [
        ("batch-differs", "mine answers a clip otherwise first in a batch than alone; set run.batch to 1")
    ]


@pytest.mark.parametrize(("slip", "fits"), [(0.9 * TOLERANCE, True), (1.1 * TOLERANCE, False)])
def test_h34_scores_may_differ_by_the_tolerance(slip: float, fits: bool) -> None:
    assert (told(Batched(slip=slip), BATCHES) == []) is fits


class Odd(Mine):
    """Gives prepared answers: one alone, and one list for each batch."""

    def __init__(self, alone: EmotionRead, *batches: list[EmotionRead]) -> None:
        super().__init__()
        self._alone = alone
        self._batches = iter(batches)

    def classify(self, pcm: Pcm, sample_rate: int) -> EmotionRead:  # noqa: ARG002
        return self._alone

    def classify_batch(self, clips: Sequence[Pcm], sample_rate: int) -> list[EmotionRead]:  # noqa: ARG002
        return next(self._batches)


SAD, HAPPY = EmotionRead("sad"), EmotionRead("happy")
LOW, HIGH = EmotionRead(vad=Vad(0.1, 0.2, 0.3)), EmotionRead(vad=Vad(0.1, 0.2, 0.4))


@pytest.mark.parametrize(
    ("adapter", "place"),
    [
        (Odd(SAD, [SAD, HAPPY], [HAPPY, SAD]), None),
        (Odd(SAD, [HAPPY, SAD], [SAD, HAPPY]), "first"),
        (Odd(SAD, [SAD, HAPPY], [SAD, HAPPY]), "last"),
        (Odd(LOW, [LOW, HIGH], [HIGH, LOW]), None),
        (Odd(LOW, [HIGH, LOW], [HIGH, LOW]), "first"),
        (Odd(SAD, [SAD]), "first"),
        (Odd(SAD, [SAD, HAPPY], [SAD, HAPPY, SAD]), "last"),
        (Odd(SAD, [EmotionRead("sad", {"sad": 1.0}), HAPPY], []), "first"),
    ],
)
def test_h34_labels_axes_and_the_number_of_answers_are_compared(adapter: Odd, place: str | None) -> None:
    message = f"mine answers a clip otherwise {place} in a batch than alone; set run.batch to 1"
    assert told(adapter, BATCHES) == ([] if place is None else [("batch-differs", message)])


def test_h34_a_single_clip_has_nothing_to_be_compared_with() -> None:
    adapter = Batched(masked=False)
    assert told(adapter, replace(BATCHES, samples=(sample(0.5, 100),))) == []
    assert adapter.batches == []


# --- recorded answers


def test_h42_recorded_answers_are_held_against_the_roll(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("split,id,label\ntest,a,happy\ndev,b,sad\n", encoding="utf-8")
    fit = audit_adapter(Predictions(path), replace(PLAIN, labels=HAPPY_SAD, batch=4))
    assert fit.audit.findings == (
        Finding("notice", "predictions-spare", "1 rows of answers.csv belong to clips that are not planned"),
    )
    assert fit.identity["files"] == {"answers.csv": hashlib.sha256(path.read_bytes()).hexdigest()}
    path.write_text("split,id,label\ntest,a,happy\ntest,b,sad\n", encoding="utf-8")
    ((code, message),) = told(Predictions(path))
    assert code == "predictions-unknown-clip"
    assert message == "1 rows of answers.csv have an id that no manifest row has: b"
