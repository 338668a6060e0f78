"""A run against its baselines: what a report says of them, whatever it is written in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_speval.gates import Verdict
from pytest_speval.judge.against import Comparison, Difference, Swing
from pytest_speval.judge.pairing import Pairing
from pytest_speval.judge.result import Result
from pytest_speval.reports.cohorts import Table
from pytest_speval.reports.wording import number, spread
from pytest_speval.scoring.second_opinion import Opinion

WORST_CLIPS = 20
CHANGES = {
    "new": "new",
    "gone": "gone",
    "relabelled": "relabelled",
    "altered": "altered (other sound or text)",
    "moved": "of the new ones from another split",
}
TESTS = {
    "mcnemar": "McNemar's test on right and wrong clips",
    "matched_pairs": "matched-pairs test on the errors of clips",
}


def against_tables(result: Result) -> Iterator[tuple[str, list[Table]]]:
    """Each comparison's title, and its tables: the estimates, then the clips that changed most."""
    for found in result.comparisons:
        plan = found.baseline.plan
        title = f"{plan.subject}: {plan.question.adapter['name']} ({found.baseline.sha256[:12]})"
        if found.refused is not None:
            yield title, [Table([*_clips(found), f"Not compared: {found.refused}."], (), ())]
            continue
        tables = [Table(_said(found), HEAD, [_row(name, one) for name, one in (found.differences or {}).items()])]
        yield title, [*tables, *_swings(found)]


HEAD = ("estimate", "candidate", "baseline", "difference", "change", "how sure", "smallest detectable")


def _row(name: str, found: Difference) -> Sequence[object]:
    sure = spread(found.estimate) if found.estimate.value is not None else f"undefined: {found.estimate.reason}"
    return (
        name,
        number(found.candidate),
        number(found.baseline),
        signed(found.estimate.value),
        found.change or "—",
        sure,
        number(found.detectable),
    )


def signed(value: float | None) -> str:
    """A difference as a reader wants it, with its sign."""
    return "—" if value is None else f"{value:+.4f}"


def _clips(found: Comparison) -> list[str]:
    return [] if found.pairing is None else [f"Clips: {changes_line(found.pairing)}."]


def changes_line(pairing: Pairing) -> str:
    """How many clips are shared, and which changes no model answers for."""
    told = pairing.as_dict()
    parts = [f"{told['shared']:,} shared"]
    parts += [f"{told[name]:,} {word}" for name, word in CHANGES.items() if told[name] or name != "moved"]
    parts += [f"{told['new_speakers']:,} new speakers"] if told["new_speakers"] else []
    return ", ".join(parts)


def opinion_line(opinion: Opinion) -> str:
    """A second opinion in a line; it takes clips as independent, and says so."""
    name = TESTS[opinion.test]
    if opinion.p is None:
        return f"{name}: none, {opinion.reason}"
    statistic = f"{opinion.statistic:,.0f} of {opinion.n:,} for the candidate" if opinion.test == "mcnemar" else ""
    statistic = statistic or f"Z {opinion.statistic:.3f} over {opinion.n:,} clips"
    return f"{name}: p {opinion.p:.4g}, {statistic}; by clip, whoever spoke"


def _said(found: Comparison) -> list[str]:
    said = [*_clips(found), "Differences are candidate minus baseline, on the shared clips, over the same drawn units."]
    if found.opinion is None:
        return [*said, "No second opinion: the task counts no errors clip by clip."]
    return [*said, f"Second opinion: {opinion_line(found.opinion)}."]


def _swings(found: Comparison) -> Iterator[Table]:
    if found.opinion is None:
        return
    told = (
        f"The candidate made fewer errors on {len(found.wins):,} clips (won) and more on {len(found.losses):,} (lost)."
    )
    rows = [_swing(swing) for swing in found.losses[:WORST_CLIPS]]
    more = len(found.losses) - len(rows)
    said = [told, *([f"The worst {len(rows)} losses; {more:,} more in `out.json`."] if more else [])]
    yield Table(said, ("clip", "reference", "baseline", "candidate", "errors"), rows)


def _swing(swing: Swing) -> Sequence[object]:
    errors = f"{swing.errors_before:g} to {swing.errors_after:g}"
    return swing.clip, swing.reference, _answer(swing.before), _answer(swing.after), errors


def _answer(answer: object) -> object:
    return "(no answer)" if answer is None else answer


def against_lines(result: Result, verdict: Verdict) -> list[str]:
    """What a gate on a baseline adds to its lines in the terminal; nothing where nothing was compared."""
    found = result.comparison(verdict.rule)
    if found is None or found.pairing is None:
        return []
    lines = [f"  clips:    {changes_line(found.pairing)}"]
    difference = (found.differences or {}).get(verdict.rule.metric)
    if difference is None:
        return lines
    values = f"{number(difference.candidate)}, baseline {number(difference.baseline)}"
    lines.insert(0, f"  candidate {values}, difference {signed(difference.estimate.value)}")
    if difference.detectable is not None:
        lines.append(f"  smallest detectable difference: {number(difference.detectable)}")
    if verdict.p is not None and verdict.p_adjusted is not None:
        lines.append(f"  p:        {verdict.p:.4g}, {verdict.p_adjusted:.4g} after the correction of its group")
    if found.opinion is not None:
        lines.append(f"  second opinion: {opinion_line(found.opinion)}")
        lines.append(f"  clips won {len(found.wins):,}, lost {len(found.losses):,}")
    return lines
