"""Which checks of a suite are in force."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from pytest_speval.audit.checks import CheckRule, checks_in_force, nothing_to_compare
from pytest_speval.suite.audit_keys import CHECKS, AuditSection

ROLES = {"speaker", "session", "family", "source", "text", "bytes_sha256", "samples_sha256"}


def section(**said: Any) -> AuditSection:
    return AuditSection.model_validate(said)


def names(said: AuditSection, roles: Collection[str] = ROLES, *, others: bool = True) -> list[str]:
    return [rule.name for rule in checks_in_force(said, roles, others=others)]


def test_without_a_word_the_keys_that_are_there_are_compared_and_design_is_not_judged() -> None:
    assert names(section()) == ["speakers", "sessions", "sources", "bytes", "samples"]
    assert names(section(), {"speaker", "text"}) == ["speakers"]
    assert names(section(), set()) == []


def test_without_another_split_or_inventory_nothing_is_in_force_by_itself() -> None:
    assert names(section(), others=False) == []


def test_a_check_that_is_named_is_in_force_whatever_is_there() -> None:
    found = checks_in_force(section(families="disjoint", texts="disjoint", near="disjoint"), set(), others=False)
    assert found == [CheckRule(name, named=True) for name in ("families", "texts", "near")]


def test_a_check_that_is_unchecked_is_not_in_force() -> None:
    assert names(section(speakers="unchecked", bytes="unchecked")) == ["sessions", "sources", "samples"]


def test_a_waiver_keeps_the_check_in_force_with_its_reason() -> None:
    waived = section(speakers={"waived": "closed cast"})
    (rule,) = checks_in_force(waived, {"speaker"}, others=True)
    assert rule == CheckRule("speakers", named=True, waived="closed cast")


def test_checks_come_in_the_order_of_their_items() -> None:
    everything = section(**dict.fromkeys(reversed(CHECKS), "disjoint"))
    assert names(everything) == list(CHECKS)


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("speakers", "the clips have no column for speaker"),
        ("texts", "the clips have no column for text or transcript"),
        ("bytes", "the clips have no sound"),
        ("near", "the clips have no sound"),
    ],
)
def test_a_check_is_in_vain_where_the_clips_have_nothing_for_it(name: str, missing: str) -> None:
    assert nothing_to_compare(section(**{name: "disjoint"}), set(), others=True, sound=False) == [(name, missing)]


def test_a_check_is_in_vain_where_there_is_nothing_to_compare_with() -> None:
    vain = section(speakers={"waived": "why"}, near="disjoint")
    found = nothing_to_compare(vain, {"speaker"}, others=False, sound=True)
    assert found == [(name, "there is no other split and no inventory") for name in ("speakers", "near")]


@pytest.mark.parametrize("role", ["text", "transcript"])
def test_texts_are_texts_or_transcripts(role: str) -> None:
    assert nothing_to_compare(section(texts="disjoint"), {role}, others=True, sound=False) == []


def test_digests_of_a_manifest_stand_for_sound_but_not_for_near_duplicates() -> None:
    said = section(bytes="disjoint", samples="disjoint", near="disjoint")
    roles = {"bytes_sha256", "samples_sha256"}
    assert nothing_to_compare(said, roles, others=True, sound=False) == [("near", "the clips have no sound")]


def test_a_check_that_is_not_named_is_never_in_vain() -> None:
    assert nothing_to_compare(section(), set(), others=False, sound=False) == []
    assert nothing_to_compare(section(near="unchecked"), set(), others=False, sound=False) == []
