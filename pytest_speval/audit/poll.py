"""`audit[votes]`: what listeners said about the clips, how far they agree, and how many clips have no reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytest_speval.audit.finding import Audit, Finding
from pytest_speval.corpus.agreement import agreement
from pytest_speval.corpus.votes import Tally, VoteRules, reference

CODES = {
    "votes-counted": "How many listeners voted on how many clips, and how far they agree.",
    "votes-undecided": "Clips whose votes make no reference: they are excluded, with the reason.",
    "votes-elsewhere": "Votes on clips that the suite does not list.",
}


def audit_votes(tallies: Sequence[Tally], names: Sequence[str], rules: VoteRules) -> Audit:
    """Count the votes on listed clips; nothing here stops a suite."""
    found = agreement(tallies, rules.options)
    listeners = "listeners not told" if found.listeners is None else f"{found.listeners:,} listeners"
    alpha = f"undefined ({found.alpha_reason})" if found.alpha is None else f"{found.alpha:.6f}"
    pairwise = f"undefined ({found.pairwise_reason})" if found.pairwise is None else f"{found.pairwise:.6f}"
    told = (
        f"{found.votes:,} votes on {found.clips:,} clips, {found.least:,} to {found.most:,} a clip, {listeners}; "
        f"Krippendorff's alpha {alpha}, mean pairwise agreement {pairwise}, {found.ties:,} clips with a tie"
    )
    reasons = [reference(tally, rules).reason for tally in tallies]
    findings = [Finding("notice", "votes-counted", told)]
    for reason, count in sorted(Counter(reason for reason in reasons if reason is not None).items()):
        clips = tuple(name for name, why in zip(names, reasons, strict=True) if why == reason)
        findings.append(Finding("notice", "votes-undecided", f"{count:,} clips without a reference: {reason}", clips))
    return Audit("votes", tuple(findings))
