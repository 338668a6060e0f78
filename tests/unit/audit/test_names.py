"""Labels, speakers and rates held against file names: what differs is found without being told."""

from __future__ import annotations

import csv
import json
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.audit.names import odd_names
from pytest_speval.corpus.clips import list_clips
from pytest_speval.corpus.contract import Contract
from pytest_speval.corpus.entry import resolve_entry
from pytest_speval.corpus.listing import Listing
from pytest_speval.corpus.manifest import Format, read_manifest
from pytest_speval.corpus.roles import Cell
from tests.unit.audit.corpora import audited, clips_of, notices, sound_file

WORDS = {"W": "anger", "L": "boredom", "E": "disgust", "A": "fear", "F": "happiness", "T": "sadness", "N": "neutral"}
EMODB = [(speaker, letter, take) for speaker in ("03", "08", "16") for letter in WORDS for take in "abcd"]
NAMES = [f"{speaker}a01{letter}{take}" for speaker, letter, take in EMODB]
LABELS: list[Cell] = [WORDS[letter] for _, letter, _ in EMODB]
SPEAKERS: list[Cell] = [speaker for speaker, _, _ in EMODB]


def found(names: list[str] = NAMES, **cells: Any) -> dict[str, Any]:
    clips = clips_of(names, **cells)
    findings = odd_names(clips, clips.planned, [])
    assert {finding.severity for finding in findings} <= {"notice"}
    return {finding.code: (finding.message, finding.clips) for finding in findings}


def test_labels_and_speakers_that_agree_with_the_names_are_not_mentioned() -> None:
    assert not found(label=LABELS, speaker=SPEAKERS)
    synonyms: dict[Cell, Cell] = {"happiness": "Joy", "fear": "anxiety", "anger": "angry"}
    assert not found(label=[synonyms.get(label, label) for label in LABELS])
    assert not found(label=[letter for _, letter, _ in EMODB])
    assert not found()


def test_h13_a_rotated_label_is_found_with_its_pairs_and_clips() -> None:
    rotated: dict[Cell, Cell] = {"happiness": "disgust", "fear": "happiness", "disgust": "anxiety"}
    labels = [rotated.get(label, label) for label in LABELS]
    labels[0] = "sad"
    message, clips = found(label=labels)["label-differs-from-name"]
    assert message == (
        "37 of 84 clips: by the names of EMO-DB, disgust is labelled anxiety (12), fear is labelled happiness (12), "
        "happiness is labelled disgust (12), anger is labelled sad (1)"
    )
    assert clips == tuple(
        name for name, label, right in zip(NAMES, labels, LABELS, strict=True) if label not in (right,)
    )


def test_many_kinds_of_pairs_are_cut_and_counted() -> None:
    labels: list[Cell] = ["calm"] * len(NAMES)
    labels[:4] = ["contempt", "surprise", "sad", "fear"]
    message, clips = found(label=labels)["label-differs-from-name"]
    assert message.startswith("84 of 84 clips: by the names of EMO-DB, boredom is labelled calm (12), ")
    assert message.endswith(" and 5 other pairs")
    assert len(clips) == 84


def test_calm_is_not_neutral() -> None:
    calm: dict[Cell, Cell] = {"neutral": "calm"}
    message, _ = found(label=[calm.get(label, label) for label in LABELS])["label-differs-from-name"]
    assert message == "12 of 84 clips: by the names of EMO-DB, neutral is labelled calm (12)"


def test_labels_that_mean_nothing_known_are_not_compared() -> None:
    assert not found(label=["positive", "negative"] * 42)
    assert not found(label=[None] * 84)
    assert not found(label=[("anger", "sad")] * 84)


def test_letters_are_the_corpus_own_codes_only_if_all_are() -> None:
    english: dict[Cell, Cell] = {"anger": "A", "boredom": "B", "disgust": "D", "fear": "F", "happiness": "H"}
    assert not found(label=[english.get(label, "N") for label in LABELS])
    assert not found(label=["A", "F", "N"] * 28), "anger, fear and neutral, in another language's letters"
    codes: list[Cell] = [letter for _, letter, _ in EMODB]
    codes[0] = "N"
    assert found(label=codes)["label-differs-from-name"][1] == (NAMES[0],)


def test_excluded_clips_are_not_compared() -> None:
    labels = [*LABELS]
    labels[0] = labels[1] = "happiness"
    clips = clips_of(NAMES, excluded=["mis-labelled", *[None] * 83], label=labels)
    (finding,) = odd_names(clips, clips.planned, [])
    assert finding.message == "1 of 83 clips: by the names of EMO-DB, anger is labelled happiness (1)"
    assert finding.clips == (NAMES[1],)


def test_the_names_of_sound_files_come_before_ids() -> None:
    ids = [f"clip{place}" for place in range(84)]
    clips = clips_of(ids, [f"wav/{name}.wav" for name in NAMES], label=["anger"] * 84)
    (finding,) = odd_names(clips, clips.planned, [])
    assert len(finding.clips) == 72
    clips = clips_of(NAMES, [f"{name}.wav" for name in ids], label=["anger"] * 84)
    (finding,) = odd_names(clips, clips.planned, [])
    assert len(finding.clips) == 72


# --- speakers


def test_keys_of_any_form_are_fine_if_they_part_the_clips_as_the_names_do() -> None:
    assert not found(speaker=[{"03": "anna", "08": "ben", "16": "cid"}[speaker] for speaker, _, _ in EMODB])
    assert not found(speaker=[(speaker, "x") for speaker, _, _ in EMODB])
    assert not found(speaker=[None] * 84)


def test_a_clip_under_another_speaker_s_key_is_found() -> None:
    speakers = [*SPEAKERS]
    speakers[0] = speakers[1] = "08"
    message, clips = found(speaker=speakers)["speaker-differs-from-name"]
    assert message == "2 of 84 clips: by the names of EMO-DB, speaker 03 has the key `08` (2)"
    assert clips == tuple(NAMES[:2])


def test_one_speaker_under_two_keys_is_found() -> None:
    speakers = [*SPEAKERS]
    speakers[0] = ("03", "again")
    message, clips = found(speaker=speakers)["speaker-differs-from-name"]
    assert (message, clips) == (
        "1 of 84 clips: by the names of EMO-DB, speaker 03 has the key `03_again` (1)",
        (NAMES[0],),
    )


def test_two_speakers_under_one_key_are_found() -> None:
    speakers: list[Cell] = ["a" if speaker == "03" else "b" for speaker, _, _ in EMODB]
    message, clips = found(speaker=speakers)["speaker-differs-from-name"]
    assert message == "28 of 84 clips: by the names of EMO-DB, speaker 16 has the key `b` (28)"
    assert clips == tuple(NAMES[56:])


@given(st.data())
def test_any_planted_fault_is_found_in_any_order(data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(84)))
    wrong = data.draw(st.sets(st.sampled_from(range(84)), max_size=5))
    others = {label: LABELS[(place + 4) % 84] for place, label in enumerate(LABELS)}
    labels = [others[LABELS[place]] if place in wrong else LABELS[place] for place in order]
    speakers: list[Cell] = ["stranger" if place in wrong else SPEAKERS[place] for place in order]
    names = [NAMES[place] for place in order]
    got = found(names, label=labels, speaker=speakers)
    planted = {NAMES[place] for place in wrong}
    assert {code: set(clips) for code, (_, clips) in got.items()} == (
        {"label-differs-from-name": planted, "speaker-differs-from-name": planted} if wrong else {}
    )


# --- words in paths


def test_a_folder_that_contradicts_the_label_is_found() -> None:
    names = [f"{('angry', 'happy', 'sad')[place % 3]}/{place}.wav" for place in range(30)]
    labels: list[Cell] = [("anger", "joy", "Sad")[place % 3] for place in range(30)]
    assert not found(names, label=labels)
    labels[4] = "sad"
    assert found(names, label=labels) == {
        "label-differs-from-name": (
            "1 of 30 clips: by folder or file name, happiness is labelled sad (1)",
            ("happy/4.wav",),
        )
    }


def test_ids_are_read_where_files_have_other_names() -> None:
    ids = [f"{('yes', 'maybe')[place % 2]}-{place}" for place in range(30)]
    labels: list[Cell] = [("yes", "maybe")[place % 2] for place in range(30)]
    labels[3] = "yes"
    clips = clips_of(ids, [f"{place}.wav" for place in range(30)], label=labels)
    (finding,) = odd_names(clips, clips.planned, [])
    assert finding.message == "1 of 30 clips: by folder or file name, maybe is labelled yes (1)"
    assert not odd_names(clips_of(ids), range(30), [])


# --- the published rate


def test_a_rate_other_than_the_published_one_is_reported_even_where_it_breaks_the_contract(tmp_path: Path) -> None:
    rates = [16_000] * 82 + [22_050, 8000]
    names = [sound_file(tmp_path, f"{name}.wav", 400 + at, rates[at]) for at, name in enumerate(NAMES)]
    clips = clips_of(names, names)
    finding = notices(audited(tmp_path, clips))["published-rate-differs"]
    assert finding.message == (
        "2 of 84 clips: 8,000 Hz, 22,050 Hz, and EMO-DB, which their names belong to, is published at 16,000 Hz: "
        "resampled?"
    )
    assert finding.clips == tuple(names[82:])
    findings = audited(tmp_path, clips, Contract(rate=16_000)).audit.findings
    assert [(one.severity, one.code) for one in findings] == [
        ("error", "wrong-rate"),
        ("notice", "published-rate-differs"),
    ]


# --- real data


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.realdata
def test_the_wrong_labels_of_the_emodb_copy_are_found_by_its_names_alone(shared: Path) -> None:
    folder = shared / "data/emodb-copy"
    expected = json.loads((folder / "EXPECTED.json").read_text(encoding="utf-8"))
    table = rows(folder / "labels_all_535.csv")
    labels: list[Cell] = [row["label_in_copy_csv"] for row in table]
    got = found([row["file"] for row in table], label=labels, speaker=[row["speaker"] for row in table])
    assert got.keys() == {"label-differs-from-name"}
    message, clips = got["label-differs-from-name"]
    assert message == (
        "186 of 535 clips: by the names of EMO-DB, happiness is labelled disgust (71), fear is labelled happiness "
        "(69), disgust is labelled anxiety (46)"
    )
    assert len(clips) == expected["label_rows_disagreeing_with_file_name"]
    pairs = Counter(f"{row['emotion']}->{row['label_in_copy_csv']}" for row in table if row["file"] in clips)
    assert pairs == expected["disagreement_pairs"]
    described = {row["Filename"]: row["Speaker Info"] for row in rows(folder / "audio_labels.csv")}
    assert not found([*described], speaker=[*described.values()])


@pytest.mark.realdata
def test_the_defects_of_the_emodb_copy_are_found_without_being_told(shared: Path, tmp_path: Path) -> None:
    folder = shared / "data/emodb-copy"
    table = [row for row in rows(folder / "labels_all_535.csv") if row["path"]]
    lines = [f"{row['path']},{row['speaker']},{row['label_in_copy_csv']}\n" for row in table]
    (tmp_path / "copy.csv").write_text("file,who,emotion\n" + "".join(lines), encoding="utf-8")
    roles = {"id": ("file",), "audio": ("file",), "speaker": ("who",), "label": ("emotion",)}
    manifest = read_manifest(tmp_path / "copy.csv", "copy.csv", Format())
    clips = list_clips(manifest, Listing(roles), None, ("label",), partial(resolve_entry, folder))
    health = audited(folder, clips)
    got = notices(health)
    wrong = {row["path"] for row in table if row["emotion_code"] in "FAE"}
    assert set(got) == {"equal-durations", "label-differs-from-name", "published-rate-differs"}
    assert got["equal-durations"].message == "all 105 clips have exactly 44,100 frames"
    assert set(got["label-differs-from-name"].clips) == wrong
    assert got["label-differs-from-name"].message.startswith("42 of 105 clips: ")
    assert got["published-rate-differs"].message.startswith("105 of 105 clips: 22,050 Hz, and EMO-DB, ")


@pytest.mark.realdata
def test_the_lone_rate_in_tess_is_found(shared: Path, tmp_path: Path) -> None:
    text = (shared / "data/emobox-splits/tess/tess_test_fold_1.jsonl").read_text(encoding="utf-8")
    table = [json.loads(line) for line in text.splitlines()]
    names = [
        sound_file(tmp_path, Path(row["wav"]).name, row["sample_rate"] // 50 + place % 100, row["sample_rate"])
        for place, row in enumerate(table)
    ]
    got = notices(audited(tmp_path, clips_of(names, names, label=[row["emo"] for row in table])))
    assert got.keys() == {"rate-outliers", "published-rate-differs"}
    assert got["rate-outliers"].message == "1 of 700 clips: 96,000 Hz, and all others 24,414 Hz"
    assert got["rate-outliers"].clips == got["published-rate-differs"].clips == ("OAF_food_fear.wav",)


@pytest.mark.realdata
@pytest.mark.parametrize("folder", ["emodb", "ravdess", "cremad", "tess", "savee"])
def test_the_labels_of_emobox_agree_with_its_names(shared: Path, folder: str) -> None:
    for path in sorted((shared / "data/emobox-splits" / folder).glob("*.jsonl")):
        table = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert not found([row["wav"] for row in table], label=[row["emo"] for row in table])
