"""The lock: what was sealed is read back, no altered byte goes unseen, and what differs is named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.canonical import canonical, digest
from pytest_speval.evidence.ending import UNATTEMPTED
from pytest_speval.evidence.lock import Lock, Sealed
from pytest_speval.evidence.plan import Plan, Question
from tests.runs import MODEL, Clip, question_of

GATE = {"id": "macro-f1", "metric": "macro_f1", "min": 0.5, "max": None}
RULES: dict[str, Any] = {"labels": {"set": ["happy", "sad"]}, "gates": [GATE], "run": {"max_failed": 0}}
VERSIONS = {"python": "3.11.9", "numpy": "2.4.0"}


def question(**more: Any) -> Question:
    clips = [
        Clip("c1", "sad", UNATTEMPTED, "ann"),
        Clip("c2", "happy", UNATTEMPTED, None, excluded="mis-cut"),
        Clip("c3", "sad", UNATTEMPTED, "bob"),
    ]
    heard: dict[str, Any] = {
        "bytes_sha256": ["a" * 64, None, "b" * 64],
        "samples_sha256": ["c" * 64, None, "d" * 64],
        "frames": [16000, None, 8000],
        "rates": [16000, None, 16000],
        "condemned": {2: ("truncated", "cut")},
        "abstains": frozenset({0}),
        "audio": {"rate": 16000},
    }
    return question_of(clips, **(heard | more))


def plan(**more: Any) -> Plan:
    return replace(Plan("voice", question(), RULES, VERSIONS), **more)


def sealed(made: Plan | None = None, title: str | None = None) -> Sealed:
    """The plan after it was written to a lock and read back."""
    entry = Lock.of("voice", [(title, made or plan())]).entries[0]
    return Sealed.from_dict("voice", json.loads(canonical(entry.as_dict())))


def at(folder: Path, data: bytes) -> Path:
    path = folder / "voice.lock.json"
    path.write_bytes(data)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(EvidenceFault) as caught:
        Lock.read(path)
    assert path.name in caught.value.message
    return caught.value.code


def rewritten(change: Callable[[dict[str, Any]], object]) -> bytes:
    """A lock that somebody changed with care: canonical, and its own digest holds."""
    content = json.loads(Lock.of("voice", [(None, plan())]).as_bytes())
    del content["lockSha256"]
    change(content)
    return canonical(content | {"lockSha256": digest(content)}) + b"\n"


def test_what_was_sealed_is_read_back(tmp_path: Path) -> None:
    plans = [("small", plan()), ("large", plan(question=question(adapter=MODEL | {"name": "large-net"})))]
    lock = Lock.of("voice", plans)
    again = Lock.read(at(tmp_path, lock.as_bytes()))
    assert again.as_bytes() == lock.as_bytes()
    assert again.suite == "voice"
    assert [(entry.title, entry.plan_sha256) for entry in again.entries] == [
        (title, each.digest) for title, each in plans
    ]
    assert [entry.name for entry in again.entries] == ["voice[small]", "voice[large]"]


def test_a_sealed_plan_is_found_by_its_question_and_by_its_title() -> None:
    other = plan(question=question(batch=2))
    lock = Lock.of("voice", [("small", plan()), ("large", other)])
    assert lock.titled("large") == lock.entries[1]
    assert lock.titled("small") == lock.entries[0]
    assert lock.titled(None) is None


def test_a_lock_holds_columns_as_digests_and_all_else_whole() -> None:
    entry = sealed()
    clips = entry.question["clips"]
    labels = hashlib.sha256(b'["sad","happy","sad"]').hexdigest()
    assert clips["cells"]["label"] == {"sha256": labels, "count": 3}
    assert clips["cells"]["speaker"]["count"] == 2
    assert clips["excluded"] == {"sha256": hashlib.sha256(b'[null,"mis-cut",null]').hexdigest(), "count": 1}
    assert clips["frames"] == {"sha256": hashlib.sha256(b"[16000,null,8000]").hexdigest(), "count": 2}
    assert {"split", "id", "bytes_sha256", "samples_sha256", "rate"} < clips.keys()
    whole = question().as_dict()
    for key in whole.keys() - {"clips"}:
        assert canonical(entry.question[key]) == canonical(whole[key])
    assert entry.rules == RULES
    assert entry.versions == VERSIONS


def test_a_lock_does_not_grow_with_its_corpus() -> None:
    def size(clips: int) -> int:
        many = question_of([Clip(f"c{number}", "sad", UNATTEMPTED) for number in range(clips)])
        return len(Lock.of("voice", [(None, plan(question=many))]).as_bytes())

    assert size(2000) - size(2) < 100


@given(st.data())
def test_no_changed_byte_of_a_lock_goes_unseen(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    written = bytearray(Lock.of("voice", [(None, plan())]).as_bytes())
    place = data.draw(st.integers(0, len(written) - 1))
    written[place] ^= data.draw(st.integers(1, 255))
    assert refusal(at(tmp_path_factory.mktemp("lock"), bytes(written))).startswith("lock-")


def test_a_cut_or_lengthened_lock_is_damaged(tmp_path: Path) -> None:
    whole = Lock.of("voice", [(None, plan())]).as_bytes()
    for damaged in (b"", whole[:-1], whole[: len(whole) // 2], whole + b"\n", b"\xef\xbb\xbf" + whole, b" " + whole):
        assert refusal(at(tmp_path, damaged)) == "lock-damaged"


def test_a_lock_that_was_laid_out_anew_is_damaged(tmp_path: Path) -> None:
    content = json.loads(Lock.of("voice", [(None, plan())]).as_bytes())
    assert refusal(at(tmp_path, json.dumps(content, indent=2).encode())) == "lock-damaged"


@pytest.mark.parametrize("content", [[], {}, None, 1, {"schemaVersion": 1, "suite": "voice"}, plan().as_dict()],
                         ids=["list", "empty", "null", "number", "suite", "plan"])  # fmt: skip
def test_a_file_that_is_no_lock_is_foreign(tmp_path: Path, content: Any) -> None:
    assert refusal(at(tmp_path, canonical(content) + b"\n")) == "lock-foreign"


def test_a_lock_of_another_schema_is_foreign(tmp_path: Path) -> None:
    assert refusal(at(tmp_path, rewritten(lambda content: content.update(schemaVersion=2)))) == "lock-foreign"


def test_a_lock_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    assert refusal(tmp_path / "voice.lock.json") == "lock-unreadable"


FORGED: dict[str, Callable[[dict[str, Any]], object]] = {
    "suite": lambda content: content.update(suite="other"),
    "question": lambda content: content["sealed"][0].update(questionSha256="0" * 64),
    "plan": lambda content: content["sealed"][0].update(planSha256="0" * 64),
    "rules": lambda content: content["sealed"][0]["rules"]["gates"][0].update(min=0.4),
    "versions": lambda content: content["sealed"][0]["versions"].update(numpy="2.3.1"),
    "twice": lambda content: content["sealed"].append(content["sealed"][0]),
    "titles": lambda content: content.update(sealed=[{**content["sealed"][0], "title": "small"}] * 2),
    "none": lambda content: content["sealed"].clear(),
}


@pytest.mark.parametrize("part", FORGED)
def test_a_plan_digest_must_follow_from_what_the_lock_holds(tmp_path: Path, part: str) -> None:
    assert refusal(at(tmp_path, rewritten(FORGED[part]))) == "lock-inconsistent"


@pytest.mark.parametrize("part", ["title", "questionSha256", "planSha256", "suite"])
@pytest.mark.parametrize("value", [1, [], {}, ["a"]])
def test_a_lock_with_other_kinds_of_values_is_foreign(tmp_path: Path, part: str, value: Any) -> None:
    def change(content: dict[str, Any]) -> None:
        (content if part == "suite" else content["sealed"][0])[part] = value

    assert refusal(at(tmp_path, rewritten(change))) == "lock-foreign"


def test_a_key_too_many_is_damage(tmp_path: Path) -> None:
    assert refusal(at(tmp_path, rewritten(lambda content: content["sealed"][0].update(note="x")))) == "lock-damaged"


def test_the_sealed_plan_does_not_differ() -> None:
    assert sealed().differences(plan()) == []
    assert sealed(title="small").differences(plan()) == []


NAMED: list[tuple[Mapping[str, Any], list[str]]] = [
    ({"task": "affect"}, ["question.task: emotion in the lock, affect now"]),
    ({"adapter": MODEL | {"name": "x"}}, ["question.adapter.name: small-net in the lock, x now"]),
    ({"ids": ["c1", "c2", "c4"], "condemned": {}, "abstains": frozenset()},
     ["question.abstains", "question.clips.id differs", "question.condemned"]),
    ({"splits": ["dev"] * 3, "condemned": {}, "abstains": frozenset()},
     ["question.abstains", "question.clips.split differs", "question.condemned"]),
    ({"cells": {"label": ["sad", "happy", "sad"], "speaker": ["ann", None, "eve"]}},
     ["question.clips.cells.speaker differs"]),
    ({"cells": {"label": ["sad", "happy", None], "speaker": ["ann", None, "bob"]}},
     ["question.clips.cells.label.count: 3 in the lock, 2 now", "question.clips.cells.label differs"]),
    ({"cells": {"label": ["sad", "happy", "sad"]}}, ["question.clips.cells.speaker: 2 values in the lock, absent now"]),
    ({"excluded": [None, "other reason", None]}, ["question.clips.excluded differs"]),
    ({"bytes_sha256": ["a" * 64, None, "e" * 64]}, ["question.clips.bytes_sha256 differs"]),
    ({"samples_sha256": ["c" * 64, None, "e" * 64]}, ["question.clips.samples_sha256 differs"]),
    ({"frames": [16000, None, 8001]}, ["question.clips.frames differs"]),
    ({"rates": [16000, None, 8000]}, ["question.clips.rate differs"]),
    ({"condemned": {2: ("truncated", "cut earlier")}}, ["question.condemned[0][3]: cut in the lock, cut earlier now"]),
    ({"abstains": frozenset()}, ['question.abstains: [["test","c1"]] in the lock, [] now']),
    ({"audio": {"rate": 8000}}, ["question.audio.rate: 16000 in the lock, 8000 now"]),
    ({"batch": 2}, ["question.batch: 1 in the lock, 2 now"]),
    ({"once": True}, ["question.once: false in the lock, true now"]),
    ({"split_given": False}, ["question.split_given: true in the lock, false now"]),
]  # fmt: skip


@pytest.mark.parametrize(("change", "named"), NAMED, ids=lambda value: next(iter(value)) if value else "")
def test_what_differs_in_the_question_is_named(change: Mapping[str, Any], named: list[str]) -> None:
    found = sealed().differences(plan(question=replace(question(), **change)))
    assert len(found) == len(named)
    for line, start in zip(found, named, strict=True):
        assert line.startswith(start)


def test_what_differs_in_the_rules_and_versions_is_named() -> None:
    other = plan(rules=RULES | {"gates": [GATE | {"min": 0.4}]}, versions={"python": "3.11.9", "numpy": "2.3.1"})
    assert sealed().differences(other) == [
        "rules.gates[macro-f1].min: 0.5 in the lock, 0.4 now",
        "versions.numpy: 2.4.0 in the lock, 2.3.1 now",
    ]


def test_the_plan_of_another_suite_differs() -> None:
    assert sealed().differences(plan(suite="other")) == ["suite: voice in the lock, other now"]


def test_a_lock_that_lies_about_its_question_does_not_fit_the_plan_of_its_digest() -> None:
    entry = sealed()
    lying = replace(entry, question={**entry.question, "task": "affect"})
    assert lying.differences(plan()) == ["question.task: affect in the lock, emotion now"]
    lying = replace(entry, question_sha256="0" * 64)
    assert lying.differences(plan()) == [
        f"questionSha256: 000000000000… in the lock, {plan().question.digest[:12]}… now"
    ]
