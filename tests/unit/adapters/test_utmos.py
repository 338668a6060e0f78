"""The two UTMOS scorers, called as their authors call them, against stand-ins for what a user has installed."""

from __future__ import annotations

import importlib
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_speval.adapters.base import traits
from pytest_speval.adapters.utmos22 import Utmos22, hub_folder
from pytest_speval.adapters.utmosv2 import SEED, Utmosv2, seeded
from pytest_speval.audit.fit import describe
from pytest_speval.errors import AdapterFault, AnswerFault
from pytest_speval.tasks.mos import Mos

torch = pytest.importorskip("torch")

HUBCONF = """
dependencies = ["torch"]
import torch

class Loudness(torch.nn.Module):
    def forward(self, wave, sr):
        assert wave.dtype == torch.float32 and wave.ndim == 2 and not torch.is_grad_enabled()
        assert not self.training
        return 1 + wave.abs().mean(-1) + sr / 1e6

def utmos22_strong(progress=True, pretrained=True):
    return Loudness()
"""
TORN = "import torchaudio_that_nobody_has\n"
PACKAGE = '''
import pathlib, random
import numpy as np
import torch

class Model:
    """Rates by chance, and remembers how it was asked."""
    calls = []

    def predict(self, **asked):
        self.calls.append(asked)
        return np.float32(asked["data"].mean() + np.random.rand() + random.random() + torch.rand(1).item())

def create_model(**asked):
    Model.made = asked
    if not pathlib.Path(asked["checkpoint_path"]).read_text() == "weights":
        raise RuntimeError("torn weights")
    return Model()
'''
CLIP = np.linspace(-0.5, 0.5, 16000, dtype=np.float32)
CLIP.flags.writeable = False


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in which torch.hub looks for the repository."""
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    folder = tmp_path / "hub/tarepan_SpeechMOS_v1.2.0"
    folder.mkdir(parents=True)
    yield folder
    sys.modules.pop("hubconf.py", None)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A package named utmosv2, and the place where it keeps weights."""
    (tmp_path / "utmosv2.py").write_text(PACKAGE)
    weights = tmp_path / "cache/models/fusion_stage3/fold0_s42_best_model.pth"
    weights.parent.mkdir(parents=True)
    weights.write_text("weights")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("UTMOSV2_CHACHE", str(tmp_path / "cache"))
    importlib.invalidate_caches()
    yield weights
    sys.modules.pop("utmosv2", None)


def fault(ask: Any) -> AdapterFault:
    with pytest.raises(AdapterFault) as caught:
        ask()
    return caught.value


def legacy() -> list[int]:
    """The state of numpy's legacy generator."""
    state: Any = np.random.get_state()
    return [*state[1].tolist(), state[2]]


# --- UTMOS22


def test_utmos22_is_called_with_the_wave_and_its_own_rate(hub: Path) -> None:
    (hub / "hubconf.py").write_text(HUBCONF)
    adapter = Utmos22()
    adapter.warm_up()
    for rate in (16000, 48000):
        rated = Mos().record(adapter.rate(CLIP, rate))[0]["value"]
        assert rated == pytest.approx(1 + np.abs(CLIP).mean() + rate / 1e6, abs=1e-6)
    assert traits(adapter, "utmos22").sample_rate is None
    adapter.close()


def test_utmos22_is_its_code_and_the_weights_beside_it(hub: Path) -> None:
    (hub / "hubconf.py").write_text(HUBCONF)
    (hub / "speechmos").mkdir()
    (hub / "speechmos/model.py").write_text("")
    checkpoints = hub.parent / "checkpoints"
    checkpoints.mkdir()
    (checkpoints / "utmos22_strong_step7459_v1.pt").write_bytes(b"weights")
    (checkpoints / "other.pt").write_bytes(b"")
    said, missing = describe(Utmos22().identity())
    assert (said["name"], said["revision"], missing) == ("utmos22_strong", "v1.2.0", [])
    assert [*said["files"]] == ["hubconf.py", "model.py", "utmos22_strong_step7459_v1.pt"]
    assert said["components"]["torch"] == torch.__version__


def test_utmos22_looks_where_torch_looks(hub: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert str(hub_folder()) == torch.hub.get_dir()
    monkeypatch.delenv("TORCH_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert str(hub_folder()) == torch.hub.get_dir()
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert str(hub_folder()) == torch.hub.get_dir()
    assert hub.is_dir()


def test_utmos22_downloads_nothing(hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.hub, "load", lambda *_, **__: pytest.fail("it went to the network"))
    for ask in (Utmos22().identity, Utmos22().warm_up):
        found = fault(ask)
        assert found.code == "hub-missing"
        assert str(hub) in found.message
        assert "TORCH_HOME" in found.message


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (TORN, "ModuleNotFoundError: No module named 'torchaudio_that_nobody_has'"),
        ('dependencies = ["torchaudio_that_nobody_has"]\n', "Missing dependencies: torchaudio_that_nobody_has"),
        ("def other(): pass\n", "Cannot find callable utmos22_strong"),
        (HUBCONF.replace("1 + wave", "bad + wave"), "name 'bad' is not defined"),
    ],
)
def test_what_the_repository_raises_is_told_whole(hub: Path, source: str, told: str) -> None:
    (hub / "hubconf.py").write_text(source)
    found = fault(Utmos22().warm_up)
    assert found.code == "hub-unusable"
    assert told in found.message
    assert "Traceback (most recent call last)" in found.message


def test_more_than_one_rating_of_a_clip_is_no_rating(hub: Path) -> None:
    (hub / "hubconf.py").write_text(HUBCONF.replace("wave.abs().mean(-1)", "wave.abs()"))
    found = fault(Utmos22().warm_up)
    assert "gave [1, 16000] where one rating was due" in found.message


def test_without_torch_it_is_named(hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (hub / "hubconf.py").write_text(HUBCONF)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert fault(Utmos22().warm_up).code == "torch-missing"


# --- UTMOSv2


def test_utmosv2_is_called_as_the_plan_says(package: Path) -> None:
    adapter = Utmosv2()
    adapter.warm_up()
    adapter.rate(CLIP, 16000)
    model = adapter._model
    assert model.made == {"pretrained": True, "config": "fusion_stage3", "fold": 0, "checkpoint_path": package}
    ((asked,), model.calls[:]) = (model.calls, [])
    assert np.array_equal(asked.pop("data"), CLIP)
    assert asked == {
        "predict_dataset": "bvcc",
        "device": "cpu",
        "num_workers": 0,
        "num_repetitions": 1,
        "remove_silent_section": False,
        "verbose": False,
    }


@pytest.mark.usefixtures("package")
def test_a_rating_depends_on_nothing_that_was_rated_before_and_leaves_no_trace() -> None:
    adapter = Utmosv2()
    adapter.warm_up()
    first = adapter.rate(CLIP, 16000).value
    adapter.rate(CLIP * np.float32(0.5), 16000)
    random.seed(1)
    np.random.seed(2)
    torch.manual_seed(3)
    before = random.getstate(), legacy(), torch.get_rng_state().tolist()
    assert adapter.rate(CLIP, 16000).value == first
    assert (random.getstate(), legacy(), torch.get_rng_state().tolist()) == before
    with seeded(SEED):
        assert first == pytest.approx(CLIP.mean() + np.random.rand() + random.random() + torch.rand(1).item(), abs=1e-6)
    other = Utmosv2(seed=7)
    other.warm_up()
    assert other.rate(CLIP, 16000).value != first


def test_random_states_come_back_after_an_error() -> None:
    before = legacy()
    with pytest.raises(RuntimeError, match="torn"), seeded(5):
        raise RuntimeError("torn")
    assert legacy() == before


def test_utmosv2_is_its_weights_and_how_it_is_asked(package: Path) -> None:
    said, missing = describe(Utmosv2().identity())
    assert missing == []
    assert [*said["files"]] == ["fold0_s42_best_model.pth"]
    assert said["components"] == {"seed": "20261012", "fold": "0", "dataset": "bvcc"}
    package.unlink()
    (found,) = describe(Utmosv2().identity())[1]
    assert found.code == "model-missing"
    assert str(package) in found.message


def test_without_the_package_it_is_named() -> None:
    found = fault(Utmosv2().identity)
    assert found.code == "utmosv2-missing"
    assert "sarulab-speech/UTMOSv2" in found.message


def test_what_the_package_raises_is_told_whole(package: Path) -> None:
    package.write_text("torn")
    found = fault(Utmosv2().warm_up)
    assert found.code == "utmosv2-unusable"
    assert "RuntimeError: torn weights" in found.message
    (package.parents[3] / "utmosv2.py").write_text(TORN)
    sys.modules.pop("utmosv2", None)
    importlib.invalidate_caches()
    assert "No module named 'torchaudio_that_nobody_has'" in fault(Utmosv2().warm_up).message


@pytest.mark.usefixtures("package")
def test_several_ratings_from_utmosv2_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = Utmosv2()
    adapter.warm_up()
    monkeypatch.setattr(adapter, "_predict", lambda _: np.zeros(2))
    with pytest.raises(AnswerFault, match="where one rating was due"):
        adapter.rate(CLIP, 16000)


@pytest.mark.parametrize("keys", [{"fold": 5}, {"seed": -1}, {"repetitions": 2}])
def test_unknown_keys_and_values_are_refused(keys: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(keys))):
        Utmosv2(**keys)
