"""A small project with a suite, and a way to run real pytest sessions in it."""

from __future__ import annotations

import array
import csv
import json
import wave
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import onnxruntime  # noqa: F401
import pyarrow.parquet  # noqa: F401
import pytest
import rich.table  # noqa: F401
import scipy.sparse.csgraph  # noqa: F401
import soundfile  # noqa: F401
import soxr  # noqa: F401

# What sessions in this process load must outlive them: native modules cannot be loaded twice.
import pytest_speval.plugin.distribute
import pytest_speval.plugin.session
import pytest_speval.reports.terminal  # noqa: F401

WITHOUT = ("-p", "no:randomly", "-p", "no:hypothesispytest", "-p", "no:anyio")
"""Plugins of other packages that no session here needs; loading them takes half the time of a session with workers."""
CLOCK = ("runStartedAt", "elapsedSeconds", "meanLatencyMs")

COUNTING_ADAPTER = '''
import json, os, pathlib
from pytest_speval import EmotionRead

HERE = pathlib.Path(__file__).parent

class Counting:
    """Knows a clip by its first sample and answers from a table; every call leaves a line in `calls.txt`."""

    sample_rate = 16000

    def __init__(self, said="said.json"):
        self.said = list(json.loads((HERE / said).read_text()).items())

    def classify(self, pcm, sample_rate):
        name, word = self.said[round(float(pcm[0]) * 32768) - 100]
        with open(HERE / "calls.txt", "a") as calls:
            calls.write(json.dumps(name) + "\\n")
        if word == "raise":
            raise RuntimeError(f"no luck with {name}")
        if word == "die":
            os._exit(17)
        return EmotionRead(label=word or None)

def pytest_speval_adapters():
    return {"counting": Counting}
'''


def write_clip(path: Path, first: int) -> None:
    """10 ms of 16-bit sound at 16 kHz whose first sample is given."""
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
        file.writeframes(array.array("h", [first, *range(159)]).tobytes())


@dataclass
class Project:
    """A folder with one suite `voice` whose adapter answers from a table and counts its calls."""

    pytester: pytest.Pytester
    path: Path
    ids: list[str] = field(default_factory=list)

    def write(
        self,
        answers: Sequence[str],
        *,
        references: Sequence[str] | None = None,
        ids: Sequence[str] | None = None,
        extra: str = "",
        gates: str = "gates: {accuracy: {metric: accuracy, min: 0.5, why: chance}}",
        splits: Sequence[str] | None = None,
    ) -> None:
        """Write manifest, answers and suite; references default to `yes`."""
        self.ids = list(ids or [f"c{number}" for number in range(len(answers))])
        with (self.path / "clips.csv").open("w", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(["id", "label", "audio", *(["split"] if splits else [])])
            said = references or ["yes"] * len(answers)
            for place, (name, label) in enumerate(zip(self.ids, said, strict=True)):
                rows.writerow([name, label, f"{place}.wav", *([splits[place]] if splits else [])])
                write_clip(self.path / f"{place}.wav", 100 + place)
        (self.path / "said.json").write_text(json.dumps(dict(zip(self.ids, answers, strict=True))))
        (self.path / "conftest.py").write_text(COUNTING_ADAPTER)
        self.suite("voice", extra=extra, gates=gates)

    def suite(self, name: str, *, extra: str = "", gates: str = "") -> None:
        """Write a suite file over the project's manifest."""
        (self.path / "suites").mkdir(exist_ok=True)
        (self.path / f"suites/{name}.yaml").write_text(
            "task: emotion\n"
            "corpus: {root: .., manifest: clips.csv}\n"
            'labels: {set: ["yes", "no"], absent: zero}\n'
            "adapter: {use: counting}\n"
            f"{extra}\n{gates}\n"
        )

    def run(self, *arguments: str, environment: dict[str, str] | None = None) -> pytest.RunResult:
        """Run pytest: in this process where that is the same, else in one of its own."""
        apart = "-n" in arguments or "--tx" in arguments or environment is not None
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("PYTEST_ADDOPTS", raising=False)
            for worker in ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT"):
                patch.delenv(worker, raising=False)
            for name, value in (environment or {}).items():
                patch.setenv(name, value)
            start = self.pytester.runpytest_subprocess if apart else self.pytester.runpytest_inprocess
            return start(*WITHOUT, *arguments)

    @property
    def calls(self) -> list[str]:
        """The ids asked so far, in order of the calls."""
        file = self.path / "calls.txt"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def forget_calls(self) -> None:
        """Start counting anew."""
        (self.path / "calls.txt").unlink(missing_ok=True)

    def documents(self, suite: str = "voice") -> list[dict[str, Any]]:
        """Every `out.json` of a suite, oldest first."""
        return [json.loads(path.read_text()) for path in sorted((self.path / ".speval" / suite).glob("*/out.json"))]

    def document(self, suite: str = "voice") -> dict[str, Any]:
        """The newest `out.json` of a suite."""
        return self.documents(suite)[-1]

    def folder(self, suite: str = "voice") -> Path:
        """The newest run folder of a suite."""
        return sorted((self.path / ".speval" / suite).iterdir())[-1]


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """An empty project."""
    pytester.makeini("[pytest]\n")
    return Project(pytester, pytester.path)


@pytest.fixture(params=[(), ("-n", "0"), ("-n", "2")], ids=["plain", "n0", "n2"])
def distributed(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Arguments for a plain session, `-n 0` and `-n 2`."""
    arguments: tuple[str, ...] = request.param
    return arguments


def timeless(document: dict[str, Any]) -> str:
    """`out.json` without the figures of clocks, as text."""
    rest = {name: value for name, value in document.items() if name not in CLOCK}
    rest["metrics"] = {
        name: value for name, value in document["metrics"].items() if not name.startswith(("latency_ms.", "rtf"))
    }
    return json.dumps(rest, sort_keys=True)
