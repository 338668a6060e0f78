"""Durations that are odd: nearly all clips of exactly one length, and clips far from the length of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pytest_speval.audit.finding import Finding
from pytest_speval.audit.heard import Heard
from pytest_speval.corpus.clips import Clips

CODES = {
    "equal-durations": "Nine of ten clips or more have exactly one length, as if they were cut or padded.",
    "duration-outliers": "Single clips are far longer or shorter than all others, as if they were cut wrongly.",
}
FEWEST_EQUAL = 10
EQUAL_SHARE = 0.9
FEWEST_FOR_SPREAD = 20
FAR = 5.0
LEAST_SPREAD = 0.25
SHOWN = 4


def odd_durations(clips: Clips, planned: Sequence[int], heard: Sequence[Heard]) -> list[Finding]:
    """Findings on the lengths of planned clips: the decoded ones, or the declared ones where there is no sound."""
    places, seconds = _seconds(clips, planned, heard)
    return _equal(clips, heard) + _outlying(clips, places, seconds)


def outlying(seconds: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """The places of lengths (in seconds, at least 0) that stand far from the others.

    Logarithms of lengths are measured from their median, on either side in units of 1.4826 times that side's median
    deviation (a median absolute deviation for skewed data; Rosenmai, 2013), which counts as 0.25 at least. More than 5
    units are far: at least a factor of 3.5. If more than one clip and one in a hundred are far, the corpus has long
    tails, and none of them stands out. Fewer than 20 clips have no spread to speak of. A length of 0 always stands out.
    """
    empty = np.flatnonzero(seconds <= 0)
    there = np.flatnonzero(seconds > 0)
    if len(there) < FEWEST_FOR_SPREAD:
        return empty
    distance = np.log(seconds[there])
    distance -= np.median(distance)
    below, above = (
        max(1.4826 * float(np.median(np.abs(side))), LEAST_SPREAD)
        for side in (distance[distance <= 0], distance[distance >= 0])
    )
    far = there[(distance < -FAR * below) | (distance > FAR * above)]
    if len(far) > 1 + len(there) // 100:
        return empty
    return np.sort(np.concatenate([empty, far]))


def _seconds(
    clips: Clips, planned: Sequence[int], heard: Sequence[Heard]
) -> tuple[Sequence[int], npt.NDArray[np.float64]]:
    if heard:
        known = [one for one in heard if one.inspection is not None]
        lengths = [one.inspection.seconds for one in known if one.inspection is not None]
        return [one.place for one in known], np.array(lengths)
    cells = clips.cells.get("seconds", ())
    places = [place for place in planned if cells[place] is not None] if cells else []
    return places, np.fromiter((float(str(cells[place])) for place in places), np.float64, len(places))


def _outlying(clips: Clips, places: Sequence[int], seconds: npt.NDArray[np.float64]) -> list[Finding]:
    far = outlying(seconds)
    if not len(far):
        return []
    middle = float(np.median(seconds))
    lengths = sorted(seconds[far].tolist(), key=lambda length: -abs(np.log(max(length, 1e-9) / max(middle, 1e-9))))
    shown = ", ".join(f"{length:.4g} s" for length in lengths[:SHOWN]) + (", ..." if len(lengths) > SHOWN else "")
    message = f"{len(far):,} of {len(places):,} clips: {shown}; the median is {middle:.4g} s"
    return [Finding("notice", "duration-outliers", message, tuple(clips.name(places[at]) for at in far))]


def _equal(clips: Clips, heard: Sequence[Heard]) -> list[Finding]:
    seen = [(one.place, (one.inspection.frames, one.inspection.rate)) for one in heard if one.inspection is not None]
    if not seen:
        return []
    length, count = Counter(length for _, length in seen).most_common(1)[0]
    if count < FEWEST_EQUAL or count < EQUAL_SHARE * len(seen):
        return []
    if count == len(seen):
        return [Finding("notice", "equal-durations", f"all {count:,} clips have exactly {length[0]:,} frames")]
    others = tuple(clips.name(place) for place, other in seen if other != length)
    message = f"{count:,} of {len(seen):,} clips have exactly {length[0]:,} frames; these have not"
    return [Finding("notice", "equal-durations", message, others)]
