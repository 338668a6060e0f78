"""`out.json`: a run as data, under the names that publishing pipelines know."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pytest_speval.audit.claims import ClaimLine, Level, claims_table, supported_level
from pytest_speval.judge.reference import random_reference
from pytest_speval.judge.result import Result
from pytest_speval.reports.against import worsened
from pytest_speval.reports.observation import unseen
from pytest_speval.scoring.bootstrap import ENOUGH_CLUSTERS, LOST_SHARE

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Times:
    """When a run started, and how long it took in seconds."""

    started: datetime
    elapsed: float


def out_document(result: Result, times: Times) -> dict[str, Any]:
    """The whole run as plain data; apart from its times it is a function of plan and answers."""
    plan, published = result.plan, dict(result.published)
    latency = result.estimates["latency_ms.mean"].value
    return {
        "schemaVersion": SCHEMA,
        "suite": plan.suite,
        "model": plan.question.adapter["name"],
        "task": plan.question.task,
        "macroF1": published.pop("macroF1", None) if _measured(result, "macro_f1") else None,
        "perClassF1": published.pop("perClassF1", None) if _measured(result, "macro_f1") else None,
        "confusion": published.pop("confusion", None),
        "confusionOther": published.pop("confusionOther", None),
        "labels": published.pop("labels", None),
        "meanLatencyMs": latency,
        "n": result.counts.planned,
        "runStartedAt": times.started.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "elapsedSeconds": times.elapsed,
        "abstentionRate": result.estimates["abstention_rate"].value,
        "notes": notes(result),
        "counts": result.counts.as_dict(),
        "exclusions": dict(result.exclusions),
        "headline": result.bench.headline,
        "metrics": {name: estimate.as_dict() for name, estimate in result.estimates.items()},
        "absentLabels": published.get("absentLabels"),
        "ceiling": published.get("ceiling"),
        "cohorts": {cohort.rule.name: [group.as_dict() for group in cohort.groups] for cohort in result.cohorts},
        **_additions(result),
        "audits": [audit.as_dict() for audit in result.audits],
        "gates": [verdict.as_dict() for verdict in result.verdicts],
        "claim": plan.rules.get("claim"),
        "claimSupported": level(result).supported,
        "claims": [line.as_dict() for line in claims(result)],
        "plan": {
            "questionSha256": plan.question.digest,
            "planSha256": plan.digest,
            "postHoc": list(plan.post_hoc),
            "askedUnder": plan.asked_under,
            "shard": None if plan.shard is None else list(plan.shard),
        },
        "versions": dict(plan.versions),
        "overrides": list(plan.rules.get("overrides", ())),
        "complete": result.complete and not result.partial,
        "partial": result.partial,
    }


def _additions(result: Result) -> dict[str, Any]:
    """Fields of runs that have labels, cohorts, baselines, recorded outcomes, transcripts or ratings."""
    found: dict[str, Any] = {}
    reference = random_reference(result)
    if reference is not None:
        found["reference"] = reference.as_dict()
    if result.cohorts:
        found["cohortTotals"] = {one.rule.name: one.totals() for one in result.cohorts}
    if result.comparisons:
        found["comparisons"] = [one.as_dict() for one in result.comparisons]
    return found | {
        name: said
        for name, said in result.published.items()
        if name in ("outcomes", "transcription", "ratings", "observation")
    }


def unshared(result: Result) -> list[str]:
    """The baselines that lack a part of the clips: a gate against them speaks of the shared ones alone."""
    told = []
    for one in result.comparisons:
        if one.pairing is not None and any(one.pairing.changes.values()):
            changes = ", ".join(f"{len(clips):,} {name}" for name, clips in one.pairing.changes.items() if clips)
            shared = f"{len(one.pairing):,} of {result.counts.planned:,} clips"
            told.append(f"Baseline {one.baseline.sha256[:12]} shares {shared}, the others are not compared: {changes}")
    return told


def unchecked(result: Result) -> list[str]:
    """The checks that the suite leaves out, though it could make them."""
    section = result.plan.question.sections.get("audit", {})
    return [name for name, said in section.items() if said == "unchecked"]


def claims(result: Result) -> tuple[ClaimLine, ...]:
    """What the evidence of a run can be said to show, and what not."""
    return claims_table(result.audits, _evidence(result), result.plan.rules)


def level(result: Result) -> Level:
    """The level of the claim: declared, and supported by the evidence."""
    return supported_level(result.audits, _evidence(result), result.plan.rules)


def _evidence(result: Result) -> dict[str, Any]:
    question = result.plan.question
    return {"corpus": question.corpus, **question.sections}


def _measured(result: Result, metric: str) -> bool:
    return metric in result.estimates and result.estimates[metric].value is not None


def notes(result: Result) -> list[str]:
    """What a reader must know before the numbers, most important first."""
    found = []
    if result.invalid:
        found.append(f"No verdict: {result.invalid.removesuffix(': no verdict')}.")
    if result.partial:
        found.append("Partial run: no verdict was wanted.")
    if result.plan.shard is not None:
        found.append("Shard {} of {}: nothing is judged before all shards are together.".format(*result.plan.shard))
    found += [f"Waived: audit[{a.name}]: {a.headline}." for a in result.audits if a.waived is not None]
    found += [f"{told}." for told in (*unshared(result), *worsened(result), *unseen(result))]
    found += [f"Not checked: {name} (audit.{name}: unchecked)." for name in unchecked(result)]
    if result.counts.quarantined:
        found.append(f"Quarantined: {result.counts.quarantined:,} clips without a speaker, kept out of intervals.")
    found += [f"Post hoc, not in the plan the clips were asked under: {what}." for what in result.plan.post_hoc]
    if result.plan.rules.get("overrides"):
        found.append(f"Overridden: {', '.join(result.plan.rules['overrides'])}.")
    found += [f"Waived: {v.rule.id}: {v.waived}." for v in result.verdicts if v.waived]
    found += [
        f"Only a warning: {v.rule.id}: {v.reason}."
        for v in result.verdicts
        if v.verdict == "fail" and v.rule.level == "warn" and not v.waived
    ]
    found += [f"Waiver expired and ignored: {v.rule.id}: {v.lapsed}." for v in result.verdicts if v.lapsed]
    absent = result.published.get("absentLabels")
    if absent:
        rule = f"it counts 0, so macro_f1 reaches at most {result.published['ceiling']:.6g}"
        left_out = "it is left out of macro_f1"
        rule = rule if result.published["ceiling"] < 1 else left_out
        found.append(f"No reference has {', '.join(absent)}: {rule}.")
    found += _how_sure(result)
    supported = level(result)
    if supported.narrowed:
        found.append(f"Narrowed {supported}.")
    claim = result.plan.rules.get("claim") or {}
    return found + [f"Limit: {limit}" for limit in claim.get("limits", ())]


def _how_sure(result: Result) -> list[str]:
    """Why intervals may say too much."""
    interval = result.estimates[result.bench.headline].interval
    if interval is None:
        return []
    drawn = f"{interval.effective_clusters:.1f} effective clusters of unit {interval.unit}"
    found = []
    if interval.unreliable:
        found.append(f"Intervals are unreliable: {drawn}.")
    elif interval.effective_clusters < ENOUGH_CLUSTERS:
        less = f"below {ENOUGH_CLUSTERS} they hold the true value less often than in {100 * interval.level:g}% of cases"
        found.append(f"Intervals are somewhat too narrow: {drawn}; {less}.")
    lost = {label: share for label, share in interval.replicates_without_class.items() if share > LOST_SHARE}
    if lost:
        told = ", ".join(f"{label} in {100 * share:.1f}%" for label, share in lost.items())
        found.append(f"Labels that replicates lost, and that are left out of means over labels there: {told}.")
    return found
