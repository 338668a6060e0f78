"""A small vocabulary, made by hand: the loader has to do with any."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from pytest_speval.suite.base_keys import Keys
from pytest_speval.suite.vocabulary import AdapterWord, MetricWord, TaskWord, Vocabulary

HERE = Path(__file__).parent
GOOD = sorted((HERE / "good").glob("*.yaml"))
MUTATIONS = sorted((HERE / "mutations").glob("*.yaml"))

COUNTED = (MetricWord("coverage", "higher"), MetricWord("failure_rate", "lower"))

TASKS = (
    TaskWord(
        "emotion",
        (MetricWord("macro_f1", "higher"), MetricWord("uar", "higher"), MetricWord("f1.<label>", "higher"), *COUNTED),
        headline="macro_f1",
        required=(("audio", "audio_from"), ("label",)),
        labelled=True,
    ),
    TaskWord(
        "affect",
        (MetricWord("ccc.<axis>", "higher", -1.0, 1.0, ("valence", "arousal")), *COUNTED),
        headline="ccc.valence",
        required=(("valence", "arousal", "dominance"),),
        missing="withhold",
    ),
    TaskWord("asr", (MetricWord("wer", "lower", 0.0, None), *COUNTED), headline="wer", forbidden=("corpus.where",)),
    TaskWord("mos", (MetricWord("mos", "higher", None, None), *COUNTED), headline="mos", observable=True),
    TaskWord("text-emotion", (MetricWord("macro_f1", "higher"),), headline="macro_f1", labelled=True, sound=False),
)


class Fixed(BaseModel):
    """As an adapter's author may write it: lists, optional numbers, a union."""

    model_config = ConfigDict(extra="forbid", strict=True)

    fixed: Annotated[int, Field(ge=1)]
    rule: Literal["pad", "trim"] = "pad"


class VadKeys(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    model: Path
    outputs: list[Literal["valence", "arousal", "dominance"]]
    threads: int | None = None
    length: Literal["any"] | Fixed = "any"
    softmax: bool = True


class PredictionKeys(Keys):
    file: Path
    columns: Mapping[str, str] = {}
    more: tuple[Path, ...] = ()


class AnyKeys(BaseModel):
    model_config = ConfigDict(extra="allow")


VOCABULARY = Vocabulary(
    tasks={task.name: task for task in TASKS},
    adapters={
        "vad-onnx": AdapterWord("vad-onnx", VadKeys),
        "predictions": AdapterWord("predictions", PredictionKeys),
        "mine": AdapterWord("mine", AnyKeys),
    },
    projections={"vad-3": ("happy", "sad", "angry"), "names-2": ("happy", "sad")},
)
