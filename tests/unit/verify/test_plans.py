"""Which part of a plan was altered: every byte of one, in the place where it stands."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from pytest_speval.evidence.canonical import canonical
from pytest_speval.verify.plans import altered_part
from tests.damage import Change, record_of
from tests.folders import plan_of

PLAN: dict[str, Any] = plan_of(shard=(1, 2), post_hoc=("rules.gates differs",), asked_under="ab" * 32).as_dict()
TEXT = canonical(PLAN) + b"\n"
KNOWN = {key: value for key, value in PLAN.items() if key not in ("question", "rules", "written")}


@pytest.mark.parametrize("seed", range(4))
def test_every_changed_byte_is_told_by_its_part(seed: int) -> None:
    chance = random.Random(seed)
    for offset in range(len(TEXT)):
        value = (TEXT[offset] + chance.randrange(1, 256)) % 256
        altered = TEXT[:offset] + bytes([value]) + TEXT[offset + 1 :]
        assert altered_part(altered, KNOWN) == record_of(Change("plan.json", offset, value), TEXT), offset


@pytest.mark.parametrize("part", ["question", "rules", "written"])
def test_a_part_that_is_another_is_told(part: str) -> None:
    other = json.loads(TEXT) | {part: {"another": True}}
    assert altered_part(canonical(other) + b"\n", KNOWN) == part


def test_rules_that_say_the_same_in_other_words_are_told() -> None:
    assert altered_part(TEXT.replace(b'"max_failed":1', b'"max_failed": 1'), KNOWN) == "rules"


def test_a_value_that_others_vouch_for_is_told_by_its_key() -> None:
    for key, value in (("suite", "vowel"), ("title", "x"), ("shard", [2, 2]), ("postHoc", []), ("askedUnder", None)):
        other = json.loads(TEXT) | {key: value}
        assert altered_part(canonical(other) + b"\n", KNOWN).partition("[")[0] == key


def test_a_cut_or_empty_plan_has_no_part_to_tell() -> None:
    for text in (b"", TEXT[:-1], TEXT + b" ", b"nothing like it"):
        assert altered_part(text, KNOWN) == ""
    assert altered_part(TEXT[:40], KNOWN) in ("askedUnder", "")
