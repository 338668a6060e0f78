"""Counts: both sums hold or the error shows both sides."""

from __future__ import annotations

import pytest

from pytest_speval.scoring.counts import Counts


def ten_clips() -> Counts:
    return Counts(listed=12, planned=10, excluded=2, answered=6, abstained=1, failed=1, unknown=1, unattempted=1)


def test_listed_must_be_planned_and_excluded() -> None:
    with pytest.raises(ValueError, match=r"listed 13 != planned 10 \+ excluded 2 = 12"):
        Counts(13, 10, 2, 6, 1, 1, 1, 1)


def test_planned_must_be_where_the_clips_ended() -> None:
    with pytest.raises(ValueError, match=r"planned 10 != answered 5 .* unattempted 1 = 9"):
        Counts(12, 10, 2, 5, 1, 1, 1, 1)


def test_a_negative_count_is_refused_even_where_the_sums_hold() -> None:
    with pytest.raises(ValueError, match="excluded is -1"):
        Counts(listed=0, planned=1, excluded=-1, answered=1, abstained=0, failed=0, unknown=0, unattempted=0)


def test_quarantined_is_counted_beside_the_sums() -> None:
    quarantined = Counts(2, 2, 0, 2, 0, 0, 0, 0, quarantined=2)
    assert (ten_clips() + quarantined).quarantined == 2
    with pytest.raises(ValueError, match="quarantined is -1"):
        Counts(0, 0, 0, 0, 0, 0, 0, 0, quarantined=-1)


def test_counts_add_up_field_by_field() -> None:
    total = ten_clips() + Counts(3, 3, 0, 0, 0, 3, 0, 0)
    assert total == Counts(15, 13, 2, 6, 1, 4, 1, 1)
    assert total + Counts.zero() == total


def test_as_dict_names_the_eight_words_in_order_and_quarantined() -> None:
    assert list(ten_clips().as_dict().items()) == [
        ("listed", 12),
        ("planned", 10),
        ("excluded", 2),
        ("answered", 6),
        ("abstained", 1),
        ("failed", 1),
        ("unknown", 1),
        ("unattempted", 1),
        ("quarantined", 0),
    ]
