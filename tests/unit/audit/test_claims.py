"""The claims table: what audits support, what is only declared, and why the rest is not supported."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.audit.claims import LEVELS, ClaimLine, Level, claims_table, supported_level
from pytest_speval.audit.finding import Audit, Finding, Severity

INVENTORIES = ("training", "pretraining", "validation", "calibration", "selection")
SEEN = ("train", *INVENTORIES)
READ = Finding("notice", "readiness-read", "read")
SEPARATE = Finding("notice", "dates-separate", "declared, not verified: began later")
CLEAN = {
    **{name: Audit(name, (), compared=SEEN) for name in ("speakers", "sessions", "bytes", "samples", "near")},
    "readiness": Audit("readiness", (READ, SEPARATE)),
    "corpus": Audit("corpus", ()),
}
QUESTION: Mapping[str, Any] = {
    "corpus": {"identity": {"key": "speaker", "map_revision": "3"}},
    "audit": {"against": {name: {"sha256": "0" * 64} for name in INVENTORIES}},
}
RULES: Mapping[str, Any] = {"claim": {"level": "independent"}, "protocol": {"consent": "written"}}


def table(
    audits: Mapping[str, Audit] = CLEAN, question: Mapping[str, Any] = QUESTION, rules: Mapping[str, Any] = RULES
) -> dict[str, ClaimLine]:
    return {line.claim: line for line in claims_table([*audits.values()], question, rules)}


def level(
    audits: Mapping[str, Audit] = CLEAN, question: Mapping[str, Any] = QUESTION, rules: Mapping[str, Any] = RULES
) -> Level:
    return supported_level([*audits.values()], question, rules)


def claiming(name: str) -> dict[str, Any]:
    return {"claim": {"level": name}}


def broken(name: str, severity: Severity = "error", code: str = "shared", message: str = "3 of 4 shared") -> Audit:
    return replace(CLEAN[name], findings=(*CLEAN[name].findings, Finding(severity, code, message)))


def without(*names: str) -> dict[str, Audit]:
    return {name: audit for name, audit in CLEAN.items() if name not in names}


def section(**more: Any) -> dict[str, Any]:
    return {**QUESTION, "audit": {**QUESTION["audit"], **more}}


def test_what_clean_evidence_supports() -> None:
    assert {claim: line.supported for claim, line in table().items()} == {
        "known-key separation": True,
        "real-speaker identity": "declared",
        "exact-copy separation": True,
        "near-copy separation": True,
        "temporal separation": "declared",
        "independence": "declared",
        "causal explanation": False,
    }
    against = "held the clips against train, training, pretraining, validation, calibration, selection: none shared"
    lines = table()
    assert lines["known-key separation"].why == f"audit[speakers] {against}; audit[sessions] {against}"
    assert lines["exact-copy separation"].why.endswith("re-encoded and cut copies have other digests")
    assert lines["real-speaker identity"].why == f"identity map revision 3; audit[speakers] {against}"
    assert level() == Level("independent", "independent")
    assert str(level()) == "claim: independent"


def test_nothing_known_supports_nothing() -> None:
    lines = table({}, {}, {})
    assert not any(line.supported for line in lines.values())
    assert all(line.why for line in lines.values())
    assert level({}, {}, {}) == Level("diagnostic", "diagnostic")


@pytest.mark.parametrize(
    ("claim", "audits", "question", "why"),
    [
        ("known-key separation", without("speakers"), section(speakers="unchecked"), "speakers unchecked"),
        ("known-key separation", without("speakers"), QUESTION, "audit[speakers] was not in force"),
        ("known-key separation", without("sessions"), section(sessions="unchecked"), "sessions unchecked"),
        ("known-key separation", {**CLEAN, "sessions": broken("sessions")}, QUESTION, "audit[sessions]: 3 of 4 shared"),
        (
            "known-key separation",
            {**CLEAN, "speakers": replace(CLEAN["speakers"], waived="closed cast")},
            QUESTION,
            "audit[speakers] is waived: closed cast",
        ),
        (
            "known-key separation",
            {**CLEAN, "speakers": broken("speakers", "warning", "key-unknown", "5 of 9 clips have no speaker")},
            QUESTION,
            "audit[speakers]: 5 of 9 clips have no speaker",
        ),
        (
            "known-key separation",
            {**CLEAN, "speakers": replace(CLEAN["speakers"], compared=())},
            QUESTION,
            "audit[speakers] held the clips against nothing",
        ),
        ("exact-copy separation", without("samples"), QUESTION, "audit[samples] was not in force"),
        ("exact-copy separation", {**CLEAN, "bytes": broken("bytes")}, QUESTION, "audit[bytes]: 3 of 4 shared"),
        ("near-copy separation", without("near"), QUESTION, "audit[near] was not in force"),
        ("real-speaker identity", CLEAN, {**QUESTION, "corpus": {}}, "corpus.identity is not given"),
        (
            "real-speaker identity",
            CLEAN,
            {**QUESTION, "corpus": {"identity": {"key": "account", "map_revision": "3"}}},
            "corpus.identity.key is account: an account is not a speaker",
        ),
        (
            "real-speaker identity",
            CLEAN,
            {**QUESTION, "corpus": {"identity": {"key": "speaker"}}},
            "corpus.identity.map_revision is not given",
        ),
        (
            "real-speaker identity",
            {**CLEAN, "corpus": broken("corpus", "warning", "recording-of-two-speakers", "3 files stand under two")},
            QUESTION,
            "audit[corpus]: 3 files stand under two",
        ),
        ("real-speaker identity", {**CLEAN, "speakers": broken("speakers")}, QUESTION, "audit[speakers]: 3 of 4"),
        ("temporal separation", without("readiness"), QUESTION, "the dates of collection"),
        (
            "temporal separation",
            {**CLEAN, "readiness": broken("readiness", "warning", "collection-before-freeze", "not younger")},
            QUESTION,
            "not younger",
        ),
        (
            "temporal separation",
            {**CLEAN, "readiness": broken("readiness", "error", "dates-contradict", "cannot be")},
            QUESTION,
            "cannot be",
        ),
    ],
)  # fmt: skip
def test_a_claim_without_its_evidence_is_not_supported_and_says_why(
    claim: str, audits: Mapping[str, Audit], question: Mapping[str, Any], why: str
) -> None:
    line = table(audits, question)[claim]
    assert line.supported is False
    assert why in line.why


def test_identity_needs_consent() -> None:
    for protocol in ({}, {"consent": " "}, {"consent": None}):
        line = table(rules={"claim": {"level": "independent"}, "protocol": protocol})["real-speaker identity"]
        assert (line.supported, "protocol.consent" in line.why) == (False, True)


def test_what_limits_a_supported_claim_is_told() -> None:
    notices = (
        Finding("notice", "inventory-unavailable", "pretraining is unavailable"),
        Finding("notice", "key-unknown", "2 of 9 clips were not compared", ("a", "b")),
        Finding("notice", "not-compared", "validation has no column for session"),
    )
    line = table({**CLEAN, "sessions": replace(CLEAN["sessions"], findings=notices)})["known-key separation"]
    assert line.supported is True
    assert line.why.endswith("none shared; pretraining is unavailable; 2 of 9 clips were not compared")


Damage = Callable[[dict[str, Audit], dict[str, Any]], None]


def _waive(name: str) -> Damage:
    return lambda audits, _: audits.update({name: replace(audits[name], waived="known")})


def _drop(name: str) -> Damage:
    def act(audits: dict[str, Audit], _: dict[str, Any]) -> None:
        del audits[name]

    return act


def _break(name: str, severity: Severity) -> Damage:
    return lambda audits, _: audits.update({name: broken(name, severity)})


def _unheld(name: str) -> Damage:
    return lambda audits, _: audits.update({name: replace(audits[name], compared=SEEN[:-1])})


def _against(name: str, value: object) -> Damage:
    return lambda _, question: question.update(
        audit={**question["audit"], "against": {**question["audit"]["against"], name: value}}
    )


def _unchecked(name: str) -> Damage:
    def act(audits: dict[str, Audit], question: dict[str, Any]) -> None:
        audits.pop(name)
        question.update(audit={**question["audit"], name: "unchecked"})

    return act


DAMAGES: dict[str, tuple[Damage, str]] = {
    **{f"{name} unavailable": (_against(name, "unavailable"), f"{name} is unavailable") for name in INVENTORIES},
    **{f"{name} absent": (_against(name, None), f"audit.against does not name {name}") for name in INVENTORIES},
    **{
        f"{name} {severity}": (_break(name, severity), f"audit[{name}]")
        for name in ("speakers", "sessions", "bytes", "samples", "near", "readiness")
        for severity in ("error", "warning")
    },
    **{f"{name} waived": (_waive(name), "is waived") for name in ("speakers", "sessions", "bytes", "samples", "near")},
    **{
        f"{name} not held": (_unheld(name), f"audit[{name}] could not be held against selection")
        for name in ("speakers", "sessions", "bytes", "samples", "near")
    },
    "no bytes": (_drop("bytes"), "audit[bytes] was not in force"),
    "no samples": (_drop("samples"), "audit[samples] was not in force"),
    "no readiness": (_drop("readiness"), "there is no readiness file"),
    "unchecked speakers": (_unchecked("speakers"), "speakers unchecked"),
}


@pytest.mark.parametrize("name", DAMAGES)
@pytest.mark.parametrize("voted", [False, True])
def test_any_gap_narrows_an_independent_claim(name: str, voted: bool) -> None:
    damage, reason = DAMAGES[name]
    audits, question = dict(CLEAN), dict(QUESTION)
    damage(audits, question)
    if voted:
        question["votes"] = {"agree": 2}
    found = level(audits, question)
    assert found.supported == ("listener-labelled" if voted else "diagnostic")
    assert len(found.reasons) == 1
    assert reason in found.reasons[0]
    assert str(found) == f"claim: independent declared, {found.supported} supported: {found.reasons[0]}"
    assert table(audits, question)["independence"].supported is False


def test_what_need_not_be_there_is_no_gap() -> None:
    assert not level(without("near", "sessions", "speakers")).narrowed, "checks without a column are not in force"
    older = {**CLEAN, "readiness": broken("readiness", "warning", "collection-before-freeze", "not younger")}
    assert not level(older).narrowed, "an old corpus may be unknown to the model"


def test_a_readiness_audit_without_the_file_is_no_readiness() -> None:
    audits = {**CLEAN, "readiness": Audit("readiness", (SEPARATE,))}
    assert level(audits).reasons == ("there is no readiness file",)


def test_votes_support_listeners_and_nothing_more() -> None:
    voted = {**QUESTION, "votes": {"agree": 2}}
    assert level(question=voted, rules=claiming("listener-labelled")) == Level("listener-labelled", "listener-labelled")
    narrowed = level(rules=claiming("listener-labelled"))
    assert (narrowed.supported, len(narrowed.reasons)) == ("diagnostic", 1)
    line = table(question=voted, rules=claiming("listener-labelled"))["independence"]
    assert (line.supported, line.why) == (False, "claim.level is listener-labelled: no more is claimed")


@given(st.sampled_from(LEVELS), st.sets(st.sampled_from(sorted(DAMAGES)), max_size=4), st.booleans())
def test_a_level_is_never_raised_and_a_replay_finds_the_same(declared: str, names: set[str], voted: bool) -> None:
    audits, question = dict(CLEAN), dict(QUESTION)
    for name in sorted(names):
        try:
            DAMAGES[name][0](audits, question)
        except KeyError:  # another damage took that audit away
            continue
    if voted:
        question["votes"] = {"agree": 2}
    rules = claiming(declared)
    found = level(audits, question, rules)
    assert LEVELS.index(found.supported) <= LEVELS.index(declared)
    assert found.narrowed is bool(found.reasons)
    if names and declared == "independent":
        assert found.supported != "independent"
    stored = json.loads(json.dumps([[audit.as_dict() for audit in audits.values()], question, rules]))
    again = {data["name"]: Audit.from_dict(data) for data in stored[0]}
    assert level(again, *stored[1:]) == found
    assert table(again, *stored[1:]) == table(audits, question, rules)
    assert table(audits, question, rules)["causal explanation"].supported is False
