from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

from pytest_speval.errors import FaultyFile, SpevalError
from pytest_speval.suite.keys import AxesProjection
from pytest_speval.suite.load import load_suite, suite_name
from pytest_speval.suite.tree import MAX_FAULTS
from pytest_speval.suite.vocabulary import AdapterWord, Vocabulary

from .words import GOOD, HERE, VOCABULARY, Fixed

FOLDER = HERE / "good"


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_a_good_suite_loads(path: Path) -> None:
    suite = load_suite(path, VOCABULARY)
    assert suite.file == path.absolute()
    assert suite.name == suite_name(path)


def test_defaults_are_those_of_the_design() -> None:
    suite = load_suite(FOLDER / "smallest.yaml", VOCABULARY)
    keys = suite.keys
    assert suite.name == "smallest"
    assert suite.labels == ("angry", "happy", "sad", "neutral")
    assert (keys.claim.level, keys.claim.exploratory, keys.required) == ("diagnostic", False, False)
    form = keys.corpus.format
    assert (form.delimiter, form.quoting, form.encoding, form.na, form.header) == (None, "csv", "utf-8", ("",), True)
    audio = keys.corpus.audio
    assert (audio.rate, audio.resample, audio.channels, audio.channel, audio.seconds) == (None, False, 1, None, None)
    assert (audio.short, audio.long, audio.clipping) == ("reject", "reject", "report")
    assert (keys.run.per_item, keys.run.batch, keys.run.max_failed, keys.run.missing) == (None, 1, 0, None)
    assert (keys.run.once, keys.run.timeout, keys.run.locked, keys.run.budget) == (None, 30.0, False, None)
    interval = keys.score.interval
    assert (interval.unit, interval.replicates, interval.seed) == ("speaker", 2000, 20260817)
    assert (interval.level, interval.null_unit, keys.score.few_clusters) == (0.95, "exclude", 10)
    assert keys.labels is not None
    assert (keys.labels.absent, keys.labels.strip, keys.labels.fold_case) == (None, False, False)


def test_written_values_arrive_as_python_values() -> None:
    keys = load_suite(FOLDER / "full.yaml", VOCABULARY).keys
    assert keys.protocol is not None
    assert keys.protocol.date == datetime.date(2026, 11, 29)
    columns = keys.corpus.columns
    assert (columns.speaker, columns.session, columns.family) == (("Speaker",), ("Season", "Episode"), ("prompt",))
    assert columns.dominance is not None
    assert columns.dominance.range == (-1.0, 10.0)
    assert columns.split is not None
    assert not isinstance(columns.split, str)
    assert columns.split.is_ == "test"
    assert keys.corpus.sha256 == "0123456789abcdef" * 4, "digests are compared in lower case"
    assert keys.corpus.where["language"] == ("no", "en")
    assert keys.corpus.exclude_where[0].is_ == ("yes",)
    assert keys.labels is not None
    assert isinstance(keys.labels.projection, AxesProjection)
    assert keys.labels.projection.rows["sad"] == (-1.0, -0.5)
    assert keys.run.per_item == "all"
    assert (keys.run.once, keys.run.timeout, keys.run.locked) == (False, 12.5, True)
    budget = keys.run.budget
    assert budget is not None
    assert (budget.requests, budget.audio_seconds, budget.usd) == (600, 7200, 5.0)
    assert budget.rates is not None
    assert (budget.rates.input, budget.rates.output, budget.rates.per) == (0.75, 3.75, 1000)
    assert budget.rates.as_of == datetime.date(2026, 10, 11)


def test_a_gate_of_a_suite_knows_its_suite_and_place() -> None:
    low, high = load_suite(FOLDER / "full.yaml", VOCABULARY, shown_as="suites/full.yaml").gates
    assert (low.id, low.suite, low.metric, low.min, low.max) == ("no-class-lost", "meld", "f1.sad", 0.05, None)
    assert (low.bound, low.owner, low.level, low.waiver) == ("low", "speech-release", "warn", None)
    assert (high.min, high.max, high.bound, high.level) == (None, 1e-3, "point", "block")
    assert str(low.place) == "suites/full.yaml:119:3"


def test_the_other_projections_are_a_name_or_a_table_of_names() -> None:
    named = load_suite(FOLDER / "named.yaml", VOCABULARY).keys.labels
    names = load_suite(FOLDER / "names.yaml", VOCABULARY).keys.labels
    assert named is not None
    assert names is not None
    assert named.projection == "vad-3"
    assert names.projection == {"agree": "yes", "refuse": "no"}


def test_an_adapters_own_keys_are_values_and_stay_readable_as_written() -> None:
    ((name, adapter),) = load_suite(FOLDER / "full.yaml", VOCABULARY).adapters
    assert (name, adapter.use, adapter.name) == (None, "vad-onnx", "wav2small")
    assert adapter.requires == {"onnxruntime": "1.31.1"}
    assert adapter.own == {
        "model": FOLDER / "../models/model.onnx",
        "outputs": ["arousal", "dominance", "valence"],
        "threads": 1,
        "length": Fixed(fixed=64600, rule="trim"),
        "softmax": False,
    }
    assert adapter.raw == {
        "model": "../models/model.onnx",
        "outputs": ["arousal", "dominance", "valence"],
        "threads": 1,
        "length": {"fixed": 64600, "rule": "trim"},
        "softmax": False,
    }


def test_an_adapter_that_takes_any_key_gets_plain_values() -> None:
    ((_, adapter),) = load_suite(FOLDER / "names.yaml", VOCABULARY).adapters
    assert adapter.own == {"beam": 4, "deep": {"lists": (1, 2.5, "a", True)}}
    assert adapter.raw == {"beam": 4, "deep": {"lists": [1, 2.5, "a", True]}}


def test_several_adapters_keep_their_names_and_order() -> None:
    suite = load_suite(FOLDER / "affect.yaml", VOCABULARY)
    assert [name for name, _ in suite.adapters] == ["small", "large"]
    assert [adapter.own["softmax"] for _, adapter in suite.adapters] == [True, True], "defaults are part of `own`"


def test_paths_begin_at_the_file_that_names_them_and_variables_stay() -> None:
    small, large = (adapter for _, adapter in load_suite(FOLDER / "affect.yaml", VOCABULARY).adapters)
    assert small.own["model"] == Path("${MODELS}/small.onnx")
    assert large.own["model"] == FOLDER / "large.onnx"
    full = load_suite(FOLDER / "full.yaml", VOCABULARY)
    assert full.root == Path("${SPEVAL_MELD}")
    assert full.keys.claim.provenance[0].evidence == FOLDER / "../evidence/licence.pdf"
    assert load_suite(FOLDER / "affect.yaml", VOCABULARY).root == FOLDER, "no root: the suite's folder"


def test_paths_are_expanded_when_they_are_used() -> None:
    full = load_suite(FOLDER / "full.yaml", VOCABULARY)
    assert full.place(full.root, {"SPEVAL_MELD": "/corpora/meld"}) == Path("/corpora/meld")
    assert full.place(full.root, {"SPEVAL_MELD": "meld"}) == FOLDER / "meld"
    with pytest.raises(SpevalError, match=r"SPEVAL_MELD is not set .*\[unset-variable\]"):
        full.place(full.root, {"SPEVAL_MELD": ""})


def test_paths_do_not_depend_on_the_current_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    suite = load_suite(Path("smallest.yaml"), VOCABULARY)
    assert suite.root == FOLDER / "../data"
    assert suite.file == FOLDER / "smallest.yaml"


def test_a_suite_cannot_be_changed() -> None:
    suite = load_suite(FOLDER / "smallest.yaml", VOCABULARY)
    with pytest.raises(ValidationError, match="frozen"):
        suite.keys.run.batch = 2  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("suite: other\nunknown: 1\n", "other"),
        ("suite: [a]\n", "stem"),
        ("suite: NOT GOOD\n", "stem"),
        ("suite: other\n\t: x", "stem"),
        ("suite: other\nsuite: again\n", "stem"),
        ("suite: yes\n", "stem"),
        ("- a\n", "stem"),
        ("", "stem"),
    ],
)
def test_the_name_alone_is_read_without_the_other_faults(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / "stem.yaml").write_text(text, "utf-8")
    assert suite_name(tmp_path / "stem.yaml") == name


def test_a_stem_that_is_no_name_needs_the_key_suite(tmp_path: Path) -> None:
    text = (FOLDER / "smallest.yaml").read_text("utf-8")
    (tmp_path / "My Suite.yaml").write_text(text, "utf-8")
    with pytest.raises(FaultyFile, match=r"1:1: suite: the file's stem `My Suite` is no name for a suite"):
        load_suite(tmp_path / "My Suite.yaml", VOCABULARY)
    (tmp_path / "My Suite.yaml").write_text(f"suite: mine\n{text}", "utf-8")
    assert load_suite(tmp_path / "My Suite.yaml", VOCABULARY).name == "mine"


def test_a_missing_file_is_a_fault_of_the_whole_file(tmp_path: Path) -> None:
    with pytest.raises(FaultyFile, match=r"^x\.yaml: cannot be read: No such file or directory \[unreadable-file\]$"):
        load_suite(tmp_path / "x.yaml", VOCABULARY, shown_as="x.yaml")
    with pytest.raises(FaultyFile, match=r"^x\.yaml: is not a regular file \[unreadable-file\]$"):
        load_suite(tmp_path, VOCABULARY, shown_as="x.yaml")
    assert suite_name(tmp_path / "x.yaml") == "x"


def test_a_key_model_that_would_drop_unknown_keys_is_refused() -> None:
    class Careless(BaseModel):
        pass

    words = Vocabulary(VOCABULARY.tasks, {"predictions": AdapterWord("predictions", Careless)})
    with pytest.raises(TypeError, match="extra='forbid'"):
        load_suite(FOLDER / "smallest.yaml", words)


def test_a_file_full_of_faults_lists_the_first_of_each_pass(tmp_path: Path) -> None:
    text = (FOLDER / "smallest.yaml").read_text("utf-8")
    (tmp_path / "x.yaml").write_text(text + "".join(f"key{number}: on\n" for number in range(20_000)), "utf-8")
    with pytest.raises(FaultyFile) as caught:
        load_suite(tmp_path / "x.yaml", VOCABULARY)
    assert [fault.code for fault in caught.value.faults].count("unknown-key") == MAX_FAULTS
    assert caught.value.faults[0].line == len(text.splitlines()) + 1
