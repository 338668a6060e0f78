"""What evaluated clips share with other splits and with inventories."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_speval.audit.finding import Audit, Side, Violation
from pytest_speval.audit.overlap import Parts, audit_duplicates, keys_of
from pytest_speval.corpus.roles import Cell
from tests.parts import Row, audited, keyed, part_of


def speakers(*cells: Cell, name: str = "test") -> Parts:
    """A test split beside a train split of S1 and S2."""
    return Parts((keyed(name, "speaker", cells),), (keyed("train", "speaker", ["S1", "S2"]),))


def told(audit: Audit) -> list[tuple[str, str, str]]:
    return [(finding.severity, finding.code, finding.message) for finding in audit.findings]


def clips(part: str, rows: Sequence[Row]) -> Parts:
    return Parts((part_of(part, rows),))


# --- what is found


def test_h45_shared_speakers_are_named_with_their_clips_and_lines() -> None:
    audit = audited(speakers("S1", "S1", "S3"), "speakers")
    assert told(audit) == [("error", "speakers-shared", "1 of 2 speakers, 2 of 3 clips also in train")]
    assert audit.findings[0].clips == ("test/c0", "test/c1")
    sides = (Side("test", ("test/c0", "test/c1"), (2, 3)), Side("train", ("train/c0",), (2,)))
    assert audit.violations == (Violation("speakers", "S1", sides),)
    assert (audit.failed, audit.compared, audit.headline) == (True, ("train",), audit.findings[0].message)


def test_big_counts_have_separators() -> None:
    parts = speakers(*["S1"] * 1200, *[f"other {number}" for number in range(1300)])
    assert audited(parts, "speakers").headline == "1 of 1,301 speakers, 1,200 of 2,500 clips also in train"


def test_nothing_shared_is_nothing_found() -> None:
    audit = audited(speakers("S3", "S4"), "speakers")
    assert (audit.findings, audit.violations, audit.headline) == ((), (), "nothing found")


def test_every_pair_of_splits_is_compared_and_named() -> None:
    parts = Parts(tuple(keyed(name, "speaker", ["S1", f"S of {name}"]) for name in ("dev", "test", "train")))
    audit = audited(parts, "speakers")
    assert [message for _, _, message in told(audit)] == [
        f"1 of 2 speakers, 1 of 2 clips of {one} also in {other}"
        for one, other in (("dev", "test"), ("dev", "train"), ("test", "train"))
    ]
    assert (len(audit.violations), set(audit.compared)) == (3, {"dev", "test", "train"})


def test_splits_and_each_inventory_are_compared_and_inventories_with_each_other_are_not() -> None:
    one, two = (keyed(name, "speaker", ["S1", "S9"]) for name in ("pretraining", "tuning"))
    parts = Parts((keyed("test", "speaker", ["S1"]),), (keyed("dev", "speaker", ["S9"]),), (one, two))
    sides = [tuple(side.part for side in each.sides) for each in audited(parts, "speakers").violations]
    assert sides == [("test", "pretraining"), ("test", "tuning"), ("dev", "pretraining"), ("dev", "tuning")]
    assert audited(parts, "speakers").compared == ("dev", "pretraining", "tuning")


def test_the_gravest_finding_stands_first() -> None:
    train, other = keyed("train", "speaker", ["S1", "s2"]), keyed("zoo", "speaker", ["S3"])
    parts = Parts((keyed("test", "speaker", ["S2", "S3"]),), (train, other), unavailable=("web",))
    assert [severity for severity, _, _ in told(audited(parts, "speakers"))] == ["error", "notice", "notice"]


def test_joined_keys_are_equal_in_every_piece() -> None:
    test = keyed("test", "session", [("1", "2"), ("12", "3"), None])
    train = keyed("train", "session", [("1", "2"), ("1", "23")])
    (violation,) = audited(Parts((test,), (train,)), "sessions").violations
    assert (violation.key, violation.sides[0].clips) == (("1", "2"), ("test/c0",))
    assert violation.as_dict()["key"] == ["1", "2"]


def test_keys_joined_of_more_columns_on_one_side_are_not_silently_found_disjoint() -> None:
    parts = Parts((keyed("test", "session", [("1", "2")]),), (), (keyed("web", "session", ["1 2"]),))
    for named, severity in ((True, "error"), (False, "warning")):
        (finding,) = audited(parts, "sessions", named=named).findings
        assert (finding.severity, finding.code) == (severity, "not-compared")


# --- texts


def test_h43_texts_are_compared_without_case_punctuation_and_unicode_form() -> None:
    test, train = (
        keyed("test", "text", ["a!", "D", "Café — olé"]),
        keyed("train", "text", ["A", "B", "CAFE\u0301 ole\u0301."]),
    )
    audit = audited(Parts((test,), (train,)), "texts")
    assert told(audit) == [
        ("error", "texts-shared", "2 of 3 texts, 2 of 3 clips also in train (0 clips word for word)")
    ]
    assert [(each.key, each.sides[0].clips) for each in audit.violations] == [
        ("a", ("test/c0",)),
        ("café olé", ("test/c2",)),
    ]


def test_texts_that_stand_word_for_word_are_counted_by_clip() -> None:
    test = keyed("test", "text", ["Yes.", "Yes.", "yes", "no"])
    train = keyed("train", "text", ["Yes.", "no"])
    assert audited(Parts((test,), (train,)), "texts").headline == (
        "2 of 2 texts, 4 of 4 clips also in train (3 clips word for word)"
    )


def test_a_text_is_held_against_transcripts_too() -> None:
    parts = Parts((keyed("test", "text", ["Yes."]),), (), (keyed("web", "transcript", ["Yes."]),))
    assert "1 of 1 clips also in web (1 clips word for word)" in audited(parts, "texts").headline


def test_a_text_of_punctuation_only_is_no_text() -> None:
    parts = Parts((keyed("test", "text", ["...", "a"]),), (keyed("train", "text", ["...", "a"]),))
    audit = audited(parts, "texts")
    assert audit.headline.startswith("1 of 1 texts, 1 of 2 clips also in train (1 clips word for word)")
    assert ("notice", "key-unknown", "1 of 2 clips of test have no text: they were not compared") in told(audit)


# --- digests


@pytest.mark.parametrize(
    ("check", "role", "noun"), [("bytes", "bytes_sha256", "files"), ("samples", "samples_sha256", "recordings")]
)
def test_digests_are_compared_whatever_their_case(check: str, role: str, noun: str) -> None:
    test, train = keyed("test", role, ["ab" * 32, "cd" * 32]), keyed("train", role, ["AB" * 32])
    audit = audited(Parts((test,), (train,)), check)
    assert told(audit) == [("error", f"{check}-shared", f"1 of 2 {noun}, 1 of 2 clips also in train")]
    assert audit.violations[0].key == "ab" * 32


def test_a_31_a_recording_is_found_whoever_is_said_to_speak() -> None:
    rows = {"test": ("A", "ab"), "train": ("B", "ab")}
    one, other = (
        part_of(name, [{"id": "c", "speaker": who, "bytes_sha256": digest}]) for name, (who, digest) in rows.items()
    )
    assert not audited(Parts((one,), (other,)), "speakers").findings
    assert audited(Parts((one,), (other,)), "bytes").failed


# --- what is unknown


def test_h46_clips_without_a_speaker_are_not_proven_disjoint() -> None:
    audit = audited(speakers("S3", "S3", None, "Unknown"), "speakers")
    assert told(audit) == [("error", "key-unknown", "1 of 4 clips of test have no speaker: disjointness is not proven")]
    assert audit.findings[0].clips == ("test/c2",)


def test_quarantine_makes_unknown_speakers_a_warning_and_shared_ones_stay_errors() -> None:
    audit = audited(speakers("S1", None), "speakers", quarantine=True)
    assert [(severity, code) for severity, code, _ in told(audit)] == [
        ("error", "speakers-shared"),
        ("warning", "key-unknown"),
    ]
    assert not audited(speakers("S3", None), "speakers", quarantine=True).failed
    assert not audited(speakers("S3", None), "speakers", quarantine=True).clean


def test_unknown_speakers_of_the_other_side_leave_disjointness_unproven_too() -> None:
    parts = Parts((keyed("test", "speaker", ["S1"]),), (), (keyed("web", "speaker", ["S2", None]),))
    assert audited(parts, "speakers").headline == "1 of 2 clips of web have no speaker: disjointness is not proven"
    assert audited(parts, "speakers").failed


def test_clips_without_another_key_speak_against_a_clean_check() -> None:
    parts = Parts((keyed("test", "session", ["1", None]),), (keyed("train", "session", ["2"]),))
    assert told(audited(parts, "sessions")) == [
        ("warning", "key-unknown", "1 of 2 clips of test have no session: they were not compared")
    ]


def test_a_missing_column_is_an_error_where_the_check_is_named() -> None:
    parts = Parts((keyed("test", "speaker", ["S1"]),), (), (keyed("web", "text", ["a"]),))
    for named, severity in ((True, "error"), (False, "warning")):
        audit = audited(parts, "speakers", named=named)
        assert told(audit) == [(severity, "not-compared", "no speaker is known of web: nothing was compared with it")]
        assert audit.compared == ()


def test_an_inventory_that_cannot_be_had_is_told_and_not_compared() -> None:
    parts = Parts((keyed("test", "speaker", ["S1"]),), unavailable=("pretraining",))
    audit = audited(parts, "speakers")
    assert told(audit) == [
        ("warning", "not-compared", "nothing was compared: nothing is there to compare with"),
        ("notice", "inventory-unavailable", "pretraining is unavailable: nothing was compared with it"),
    ]
    assert (audit.compared, audit.failed) == ((), False)


# --- rows of an evaluated split that are not evaluated themselves


def test_rows_that_where_leaves_out_still_speak_for_their_split() -> None:
    test, dev = keyed("test", "speaker", ["S1"]), keyed("dev", "speaker", ["S2"])
    rest = (keyed("dev", "speaker", ["S1", "S2"]), keyed("test", "speaker", ["S1"]))
    audit = audited(Parts((dev, test), rest=rest), "speakers")
    assert [(side.part, side.clips) for found in audit.violations for side in found.sides] == [
        ("test", ("test/c0",)),
        ("dev", ("dev/c0",)),
    ]
    assert set(audit.compared) == {"dev", "test"}


def test_a_row_that_is_left_out_may_share_with_what_the_model_has_seen() -> None:
    parts = Parts((keyed("test", "speaker", ["S1"]),), rest=(keyed("test", "speaker", ["S9"]),),
                  inventories=(keyed("training", "speaker", ["S9"]),))  # fmt: skip
    assert not audited(parts, "speakers").violations


@pytest.mark.parametrize("check", ["bytes", "samples", "sessions"])
def test_a_named_check_that_compared_nothing_fails(check: str) -> None:
    role = {"bytes": "bytes_sha256", "samples": "samples_sha256", "sessions": "session"}[check]
    parts = Parts((keyed("test", role, ["1", "2"]),), (keyed("train", role, [None, None]),))
    audit = audited(parts, check)
    assert audit.failed
    assert [code for _, code, _ in told(audit)] == ["not-compared"]
    assert audit.compared == ()


def test_an_excluded_clip_without_a_speaker_accuses_nobody() -> None:
    parts = Parts((keyed("test", "speaker", ["S1"]),), (keyed("train", "speaker", ["S2"]),),
                  rest=(keyed("test", "speaker", [None]),))  # fmt: skip
    audit = audited(parts, "speakers")
    assert (told(audit), audit.compared) == ([], ("train",))


# --- waivers


def test_a_waiver_makes_errors_warnings_and_says_why() -> None:
    audit = audited(speakers("S1", None), "speakers", waived="closed cast")
    assert told(audit) == [
        ("warning", "speakers-shared", "1 of 1 speakers, 1 of 2 clips also in train; waived: closed cast"),
        ("warning", "key-unknown", "1 of 2 clips of test have no speaker: disjointness is not proven"),
    ]
    assert (audit.failed, audit.clean, audit.as_dict()["waived"]) == (False, False, "closed cast")


# --- keys that look alike


@pytest.mark.parametrize("spelt", ["s1", "S 1", "S1 ", "\u0053\u0031\u00a0"])
def test_keys_that_look_alike_are_told_and_count_apart(spelt: str) -> None:
    audit = audited(speakers("S3", spelt), "speakers")
    message = f"speakers: `{spelt}` of test and `S1` of train differ only in case, blanks or Unicode form"
    assert told(audit) == [("notice", "near-equal-keys", f"{message}; they count apart")]
    assert (audit.findings[0].clips, audit.violations, audit.clean) == (("test/c1",), (), True)


def test_composed_and_decomposed_keys_look_alike() -> None:
    parts = Parts((keyed("test", "speaker", ["Zoe\u0308"]),), (keyed("train", "speaker", ["Zo\u00eb"]),))
    assert [code for _, code, _ in told(audited(parts, "speakers"))] == ["near-equal-keys"]


def test_a_key_that_is_shared_may_look_like_a_third_one() -> None:
    for ours, theirs in ((["A"], ["A", "a"]), (["A", "a"], ["A"])):
        parts = Parts((keyed("test", "speaker", ours),), (keyed("train", "speaker", theirs),))
        assert [code for _, code, _ in told(audited(parts, "speakers"))] == ["speakers-shared", "near-equal-keys"]


def test_texts_and_digests_have_no_look_alikes() -> None:
    for check, role in (("texts", "text"), ("bytes", "bytes_sha256")):
        parts = Parts((keyed("test", role, ["a b"]),), (keyed("train", role, ["ab"]),))
        assert audited(parts, check).findings == ()


# --- keys


def test_a_part_without_the_column_has_no_keys_and_a_missing_cell_is_none() -> None:
    part = keyed("test", "speaker", ["A", None])
    assert keys_of(part, "speakers") == ["A", None]
    assert keys_of(part, "sessions") is None
    assert keys_of(keyed("test", "text", ["A!", None, "?"]), "texts") == ["a", None, None]


# --- duplicates


def test_h44_recordings_that_stand_twice_in_a_split_are_found_by_bytes_and_by_samples() -> None:
    rows: list[Row] = [
        {"id": "b", "bytes_sha256": "11", "samples_sha256": "aa"},
        {"id": "a", "bytes_sha256": "22", "samples_sha256": "AA"},
        {"id": "c", "bytes_sha256": "33", "samples_sha256": "bb"},
        {"id": "d", "bytes_sha256": "33", "samples_sha256": "bb"},
        {"id": "e", "bytes_sha256": None, "samples_sha256": None},
        {"id": "f", "bytes_sha256": None, "samples_sha256": None},
    ]
    audit = audit_duplicates(clips("test", rows))
    assert [(each.kind, each.key, each.sides[0].clips, each.sides[0].lines) for each in audit.violations] == [
        ("bytes", "33", ("test/c", "test/d"), (4, 5)),
        ("samples", "aa", ("test/a", "test/b"), (3, 2)),
        ("samples", "bb", ("test/c", "test/d"), (4, 5)),
    ]
    assert told(audit) == [
        ("error", "duplicate-audio", "4 clips stand more than once, and the suite forbids duplicates")
    ]


def test_a_recording_in_two_splits_is_no_duplicate_of_one() -> None:
    parts = Parts(tuple(keyed(name, "bytes_sha256", ["11"]) for name in ("dev", "test")))
    assert audit_duplicates(parts).findings == ()
    assert audit_duplicates(clips("test", [{"id": "a"}, {"id": "b"}])) == Audit("duplicates", ())
