"""What is merely odd about a corpus: reported, and no reason to stop."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from pytest_speval.audit.durations import odd_durations
from pytest_speval.audit.finding import Finding
from pytest_speval.audit.heard import Heard, counted
from pytest_speval.audit.names import odd_names
from pytest_speval.corpus.clips import UNITS, Clips
from pytest_speval.corpus.spelling import folded

CODES = {
    "duplicate-audio": "Two planned clips have the same decoded samples.",
    "rate-outliers": "Single clips have another sampling rate than all others.",
    "near-equal-keys": "Two keys differ only in case, blanks or Unicode form.",
}
FEWEST_OF_ONE_RATE = 10
ONE_RATE_SHARE = 0.9


def odd(clips: Clips, planned: Sequence[int], heard: Sequence[Heard]) -> list[Finding]:
    """All that is odd about planned clips; `heard` is empty where the suite has no sound."""
    return [
        *_noticed(clips, heard),
        *_twins(clips, heard),
        *odd_durations(clips, planned, heard),
        *_rates(clips, heard),
        *odd_names(clips, planned, heard),
        *_near_keys(clips),
    ]


def _noticed(clips: Clips, heard: Sequence[Heard]) -> list[Finding]:
    """What single clips show, one finding for each code."""
    shown: dict[str, dict[int, str]] = defaultdict(dict)
    for one in heard:
        for notice in one.inspection.notices if one.inspection is not None else ():
            shown[notice.code][one.place] = notice.message
    return [
        Finding("notice", code, counted([*said.values()], len(heard)), tuple(map(clips.name, said)))
        for code, said in sorted(shown.items())
    ]


def _twins(clips: Clips, heard: Sequence[Heard]) -> list[Finding]:
    groups: dict[str, list[int]] = defaultdict(list)
    for one in heard:
        if one.inspection is not None:
            groups[one.inspection.samples_sha256].append(one.place)
    twins = [places for places in groups.values() if len(places) > 1]
    if not twins:
        return []
    message = f"{sum(map(len, twins)):,} clips share their samples with another planned clip, in {len(twins):,} groups"
    return [
        Finding("notice", "duplicate-audio", message, tuple(clips.name(place) for places in twins for place in places))
    ]


def _rates(clips: Clips, heard: Sequence[Heard]) -> list[Finding]:
    """Few clips beside many of one rate. Where the contract fixes a rate and does not resample, they are its faults."""
    seen = [(one.place, one.inspection.rate) for one in heard if one.inspection is not None and one.fault is None]
    if not seen:
        return []
    usual, count = Counter(rate for _, rate in seen).most_common(1)[0]
    others = [(place, rate) for place, rate in seen if rate != usual]
    if not others or count < FEWEST_OF_ONE_RATE or count < ONE_RATE_SHARE * len(seen):
        return []
    rates = ", ".join(f"{rate:,} Hz" for rate in sorted({rate for _, rate in others}))
    message = f"{len(others):,} of {len(seen):,} clips: {rates}, and all others {usual:,} Hz"
    return [Finding("notice", "rate-outliers", message, tuple(clips.name(place) for place, _ in others))]


def _near_keys(clips: Clips) -> list[Finding]:
    findings = []
    for role in (*UNITS, *sorted(role for role in clips.cells if role.startswith("cohort."))):
        spellings: dict[str, set[str]] = defaultdict(set)
        for cell in set(clips.cells.get(role, ())):
            if isinstance(cell, str):
                spellings[folded(cell)].add(cell)
        for alike in spellings.values():
            if len(alike) > 1:
                shown = ", ".join(f"`{key}`" for key in sorted(alike))
                kind = f"{role.removeprefix('cohort.')}s" if role in UNITS else f"cells of {role}"
                message = f"{kind} that differ only in case, blanks or Unicode form: {shown}; they count apart"
                findings.append(Finding("notice", "near-equal-keys", message))
    return findings
