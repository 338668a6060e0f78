"""A run against its baselines: what a report says of them, whatever it is written in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_speval.gates import Verdict
from pytest_speval.judge.against import Comparison, Swing
from pytest_speval.judge.difference import Difference
from pytest_speval.judge.pairing import Pairing
from pytest_speval.judge.result import Result
from pytest_speval.judge.shared_groups import SharedGroup, Worse
from pytest_speval.reports.cohorts import NO_CAUSE, Table
from pytest_speval.reports.wording import number, spread
from pytest_speval.scoring.second_opinion import Opinion

WORST_CLIPS = 20
NAMED = 4
"""How many of the estimates that got worse, surely or not, are named in a line."""
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
    """Each comparison's title, and its tables: the estimates, what got worse, groups, the clips that changed most."""
    for found in result.comparisons:
        plan = found.baseline.plan
        title = f"{plan.subject}: {plan.question.adapter['name']} ({found.baseline.sha256[:12]})"
        if found.refused is not None:
            yield title, [Table([*_clips(found), f"Not compared: {found.refused}."], (), ())]
            continue
        tables = [Table(_said(found), HEAD, [_row(name, one) for name, one in (found.differences or {}).items()])]
        yield title, [*tables, _worse(result, found), *_by_group(result, found), *_swings(found)]


HEAD = ("estimate", "candidate", "baseline", "difference", "change", "how sure", "smallest detectable")


def _row(name: str, found: Difference) -> Sequence[object]:
    return (*_change(name, found), number(found.detectable))


def _change(name: str, found: Difference) -> Sequence[object]:
    sure = spread(found.estimate) if found.estimate.value is not None else f"undefined: {found.estimate.reason}"
    values = number(found.candidate), number(found.baseline), signed(found.estimate.value)
    return (name, *values, found.change or "—", sure)


def _worse(result: Result, found: Comparison) -> Table:
    """What got worse, whatever became of the gated estimate."""
    worse = _told_worse(result, found)
    if not worse:
        return Table(["Nothing got worse: no estimate, and no group that is shown."], (), ())
    looked = len(found.differences or {}) + sum(len(group.differences) for group in found.groups)
    chance = f"{50 * (1 - result.bench.interval.level):g}%"
    said = [
        f"Worse: {len(worse):,}, of which {sum(one.difference.sure for one in worse):,} with an interval that excludes "
        f"0. {looked:,} differences were looked at, none corrected for that: where nothing changed, about {chance} of "
        "the intervals say worse by chance.",
    ]
    head = ("worse in", "estimate", "candidate", "baseline", "difference", "interval excludes 0", "how sure")
    rows = []
    for one in worse:
        name, now, before, change, _, sure = _change(one.metric, one.difference)
        rows.append((_where(one), name, now, before, change, "yes" if one.difference.sure else "no", sure))
    return Table(said, head, rows)


def _told_worse(result: Result, found: Comparison) -> list[Worse]:
    """Of the whole every estimate, of groups those with an interval that excludes 0 and those a reader asked for."""
    asked = _asked(result, found)
    return [one for one in found.worse if one.group is None or one.difference.sure or one.metric in asked]


def _asked(result: Result, found: Comparison) -> list[str]:
    """The headline and the estimates that gates on this baseline are on."""
    gated = [
        verdict.rule.metric
        for verdict in result.verdicts
        if verdict.rule.against is not None and verdict.rule.against.sha256 == found.baseline.sha256
    ]
    return list(dict.fromkeys([result.bench.headline, *gated]))


def _where(one: Worse) -> str:
    return "all shared clips" if one.group is None else f"{one.group.cohort} {one.group.group}"


def _by_group(result: Result, found: Comparison) -> Iterator[Table]:
    """One table a cohort: the differences of each of its groups."""
    for cohort in dict.fromkeys(group.cohort for group in found.groups):
        said = [f"By {cohort}, as the candidate's clips are grouped; groups are not summed.", NO_CAUSE]
        groups = [group for group in found.groups if group.cohort == cohort]
        head = ("group", "clips", "speakers", "estimate", "candidate", "baseline", "difference", "change", "how sure")
        yield Table(said, head, [row for group in groups for row in _group_rows(group, _asked(result, found))])


def _group_rows(group: SharedGroup, metrics: Sequence[str]) -> Iterator[Sequence[object]]:
    size = group.group, f"{len(group.clips):,}", "—" if group.speakers is None else f"{group.speakers:,}"
    if group.suppressed is not None:
        yield (*size, *["—"] * 5, f"suppressed: {group.suppressed}")
    for metric in metrics:
        if metric in group.differences:
            yield (*size, *_change(metric, group.differences[metric]))


def worsened(result: Result) -> Iterator[str]:
    """What got worse against each baseline in a line; what a reader asked for first."""
    for found in result.comparisons:
        asked = _asked(result, found)
        worse = sorted(_told_worse(result, found), key=lambda one: one.metric not in asked)
        sure = [_short(one) for one in worse if one.difference.sure]
        rest = [_short(one) for one in worse if not one.difference.sure]
        told = [f"interval excludes 0: {_named(sure)}"] if sure else []
        told += [f"by value alone: {_named(rest)}"] if rest else []
        if told:
            yield f"Worse than baseline {found.baseline.sha256[:12]}, {'; '.join(told)}"


def _named(told: Sequence[str]) -> str:
    return ", ".join(told[:NAMED]) + (f" and {len(told) - NAMED:,} more" if len(told) > NAMED else "")


def _short(one: Worse) -> str:
    where = "" if one.group is None else f" of {_where(one)}"
    return f"{one.metric}{where} {signed(one.difference.estimate.value)}"


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
    return [*lines, *_group_lines(found, verdict.rule.metric)]


def _group_lines(found: Comparison, metric: str) -> Iterator[str]:
    """The gated difference in each group, a line a cohort."""
    for cohort in dict.fromkeys(group.cohort for group in found.groups):
        groups = [group for group in found.groups if group.cohort == cohort]
        told = [_in_group(group, group.differences[metric]) for group in groups if metric in group.differences]
        left = sum(group.suppressed is not None for group in groups)
        told += [f"{left:,} suppressed"] if left else []
        yield f"  by {cohort}: {'; '.join(told) or 'no groups'} (a difference is not a cause)"


def _in_group(group: SharedGroup, found: Difference) -> str:
    interval = found.estimate.interval
    sure = "" if interval is None else f", {number(interval.low)} to {number(interval.high)}"
    return f"{group.group} {signed(found.estimate.value)} ({found.change or 'undefined'}{sure})"
