"""Inventories: read like a manifest, without what only evaluated clips have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_speval.corpus.inventory import read_inventory
from pytest_speval.corpus.part import Part
from pytest_speval.errors import FaultyFile
from pytest_speval.suite.audit_keys import Inventory
from pytest_speval.suite.corpus_keys import Corpus


def inventory(
    folder: Path,
    text: str,
    said: dict[str, Any] | None = None,
    corpus: dict[str, Any] | None = None,
    name: str = "t.csv",
) -> Part:
    """An inventory with columns of its own, or with those of the corpus."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    own = Inventory.model_validate({"file": path} | said) if said is not None else path
    keys = Corpus.model_validate({"manifest": "clips.csv"} | (corpus or {}))
    return read_inventory("training", own, path, path.name, keys, {"PART": "wavs"})


def test_columns_take_their_roles_by_name(tmp_path: Path) -> None:
    part = inventory(tmp_path, "id,speaker,text,label,note\nx,S1,Yes.,happy,n\n")
    assert (part.name, part.shown_as, list(part.clips), list(part.lines)) == ("training", "t.csv", ["x"], [2])
    assert part.cells == {"speaker": ["S1"], "text": ["Yes."]}


def test_an_inventory_has_the_columns_of_the_corpus_as_far_as_they_are_there(tmp_path: Path) -> None:
    columns: dict[str, Any] = {
        "id_from": ("dialogue", "turn"),
        "speaker": ("Speaker",),
        "session": ("Season", "Episode"),
    }
    columns |= {"label": "Emotion", "cohorts": {"accent": "Accent"}}
    text = "dialogue,turn,Speaker,Season,Accent\n1,2,Joey,3,us\n"
    part = inventory(tmp_path, text, corpus={"columns": columns})
    assert list(part.clips) == ["1_2"]
    assert part.cells == {"speaker": ["Joey"], "cohort.accent": ["us"]}


def test_columns_of_its_own_must_be_there_and_the_corpus_has_no_say(tmp_path: Path) -> None:
    corpus = {"columns": {"speaker": ("Speaker",)}}
    part = inventory(tmp_path, "who,Speaker\nS1,x\n", {"columns": {"speaker": ("who",)}}, corpus)
    assert (list(part.clips), part.cells) == (["line 2"], {"speaker": ["S1"]})
    with pytest.raises(FaultyFile) as caught:
        inventory(tmp_path, "who\nS1\n", {"columns": {"speaker": ("whom",)}})
    assert (caught.value.code, caught.value.faults[0].file) == ("column-missing", "t.csv")


def test_a_format_of_its_own_or_that_of_the_corpus(tmp_path: Path) -> None:
    form = {"delimiter": "|", "na": ("-",)}
    for said, corpus in (({"format": form}, None), (None, {"format": form})):
        assert inventory(tmp_path, "id|speaker\na|S1\nb|-\n", said, corpus).cells == {"speaker": ["S1", None]}


def test_json_lines_serve_too(tmp_path: Path) -> None:
    part = inventory(tmp_path, '{"id": "a", "speaker": null}\n{"id": "b", "speaker": "S1"}\n', name="t.jsonl")
    assert (part.cells, list(part.lines)) == ({"speaker": [None, "S1"]}, [1, 2])


def test_splits_of_an_inventory_mean_nothing(tmp_path: Path) -> None:
    part = inventory(tmp_path, "id,split,speaker\na,train,S1\na,test,S2\n")
    assert (list(part.clips), part.cells["speaker"]) == (["a", "a"], ["S1", "S2"])


def test_sound_files_lie_below_the_inventory(tmp_path: Path) -> None:
    part = inventory(tmp_path, "id,audio\na,x/a.wav\nb,\n")
    assert (part.entries, part.root) == (["x/a.wav", None], tmp_path)
    template = {"columns": {"audio_from": "${PART}/{id}.wav"}}
    assert inventory(tmp_path, "id\na\n", template).entries == ["wavs/a.wav"]
    assert inventory(tmp_path, "id\na\n", corpus=template).entries is None  # it spells out folders of the corpus


def test_where_exclusions_and_pin_of_the_corpus_are_not_the_inventorys(tmp_path: Path) -> None:
    corpus = {"where": {"split": ("test",)}, "exclude": {"a": "bad"}, "sha256": "0" * 64,
              "exclude_where": ({"column": "synthetic", "is": ("yes",), "reason": "no voice"},)}  # fmt: skip
    assert len(inventory(tmp_path, "id,speaker\na,S1\n", corpus=corpus)) == 1


@pytest.mark.parametrize(("text", "code"), [("id,speaker\n", "no-rows"), ("id,id\na,b\n", "column-repeated")])
def test_a_faulty_inventory_is_a_fault_of_its_file(tmp_path: Path, text: str, code: str) -> None:
    with pytest.raises(FaultyFile) as caught:
        inventory(tmp_path, text)
    assert (caught.value.code, caught.value.faults[0].file) == (code, "t.csv")
