"""From a suite's keys to its clips: where the corpus lies, which columns play which role, what is listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_speval.corpus.clips import Clips, list_clips
from pytest_speval.corpus.cohorts import CohortRule, require_one_group
from pytest_speval.corpus.contract import Contract
from pytest_speval.corpus.entry import resolve_entry
from pytest_speval.corpus.labels import LabelRules
from pytest_speval.corpus.listing import (
    COHORT,
    RATING,
    Exclusion,
    Listing,
    list_columns,
    numeric_columns,
    text_columns,
)
from pytest_speval.corpus.manifest import Manifest, read_manifest
from pytest_speval.corpus.outcomes import require_outcomes
from pytest_speval.corpus.part import Part, unlisted_parts
from pytest_speval.corpus.poll import form_of, pollster
from pytest_speval.corpus.projections import AXES, NAMED, AxesProjection, NameProjection, Projection, Term
from pytest_speval.corpus.ratings import require_ratings
from pytest_speval.corpus.roles import Cell
from pytest_speval.corpus.transcripts import require_transcripts
from pytest_speval.errors import AudioFault, Fault, FaultyFile
from pytest_speval.suite.corpus_check import UNITS
from pytest_speval.suite.corpus_keys import AudioContract, Axis, Cohort, Columns, Constant, Corpus, Scale
from pytest_speval.suite.keys import AxesProjection as AxesKeys
from pytest_speval.suite.keys import Labels
from pytest_speval.suite.suite import Suite
from pytest_speval.suite.text_check import transcribed
from pytest_speval.suite.variables import expand, variables
from pytest_speval.suite.vocabulary import TaskWord

CODES = {
    "not-staged": "A variable that says where a corpus lies is unset.",
    "root-missing": "The folder that `corpus.root` names does not exist.",
    "sampling-missing": "Clips are tried several times, and the suite does not say why.",
    "absent-undeclared": "A label of the set has no reference, and the suite does not say how it counts.",
}
BY_NAME = (
    *("id", "audio", "text", "transcript", "label", "split", "speaker", "session", "family", "source"),
    *("seconds", "bytes_sha256", "samples_sha256", RATING, "outcome", "attempt"),
)
"""Roles that take the column of their own name, where the suite names none."""


@dataclass(frozen=True, slots=True)
class Staged:
    """A corpus that is there: its root, its clips, and what they are held against.

    `unlisted` are the rows that `where` leaves out, by split; `inventories` is filled where runs are judged.
    """

    root: Path
    clips: Clips
    unlisted: tuple[Part, ...] = ()
    inventories: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Unstaged:
    """A corpus that is not there: `not-staged` where no one said where it lies, `root-missing` where they did."""

    code: str
    message: str


def stage(suite: Suite, task: TaskWord, environ: Mapping[str, str]) -> Staged | Unstaged:
    """Read the manifest of a suite; raises `FaultyFile` with every fault of it."""
    keys = suite.keys.corpus
    unset = [name for name in variables(suite.root) if not environ.get(name)]
    if unset:
        return Unstaged("not-staged", f"the corpus is not staged: set {unset[0]} to its folder")
    root = suite.place(suite.root, environ)
    if not root.is_dir():
        return Unstaged("root-missing", f"corpus.root is {root}, which is no folder")
    entry = expand(keys.manifest, environ)
    path = _manifest_path(root, entry)
    manifest = read(path, entry, keys, environ)
    rules = label_rules(suite.keys.labels) if task.labelled else None
    chosen = listing(keys, manifest.names, environ)
    votes = suite.keys.votes
    poll = None if votes is None else pollster(votes, suite.place(votes.file, environ))
    given = {*chosen.roles, *(["label"] if poll else [])}
    needed = [role for group in task.required for role in group if role in given]
    if "id" not in chosen.roles:
        message = "no column `id`: name one in `corpus.columns.id`, or several in `id_from`"
        raise FaultyFile([Fault(entry, 0, 0, "column-missing", message)])
    if "attempt" in chosen.roles and keys.sampling is None:
        message = f"the column `{chosen.roles['attempt'][0]}` counts attempts: say why in `corpus.sampling`"
        raise FaultyFile([Fault(entry, 0, 0, "sampling-missing", message)])
    for group in task.required:
        if not any(role in given for role in group):
            message = f"the task {task.name} needs a column for {' or '.join(group)}: see `corpus.columns`"
            raise FaultyFile([Fault(entry, 0, 0, "column-missing", message)])
    blocks = suite.keys.run.blocks
    if blocks is not None and blocks.by not in given:
        message = f"run.blocks go by {blocks.by}, and there is no such column: see `corpus.columns`"
        raise FaultyFile([Fault(entry, 0, 0, "column-missing", message)])
    if rules is not None and votes is not None:
        _require_rule_for_targets(rules, votes.targets, suite.file.name)
    clips = list_clips(manifest, chosen, rules, needed, lambda name: resolve_entry(root, name), poll)
    if "outcome" in needed:
        require_outcomes(clips, entry)
    if transcribed(task):
        require_transcripts(suite.keys.text, clips.cells["transcript"], clips.planned, entry, clips.lines)
    if RATING in clips.cells and task.name == "mos":
        require_ratings(keys.columns.rating, clips.cells[RATING], clips.planned, entry, clips.lines)
    if rules is not None:
        _require_rule_for_absent(rules, clips.cells["label"], clips.planned, entry)
    unit = suite.keys.score.interval.unit
    if f"{COHORT}{unit}" in clips.cells and unit not in ("clip", *UNITS):
        rule = cohort_rules(keys.columns)[unit]
        require_one_group(rule, clips.cells[f"{COHORT}{unit}"], clips.planned, entry, clips.lines)
    rest = unlisted_parts(manifest, chosen, root, frozenset(clips.lines)) if keys.where else ()
    return Staged(root, clips, rest)


def read(path: Path, shown_as: str, keys: Corpus, environ: Mapping[str, str]) -> Manifest:
    """Read a manifest as a suite describes it; raises `FaultyFile`."""
    asked = listing(keys, BY_NAME, environ)
    return read_manifest(
        path,
        shown_as,
        form_of(keys.format),
        sha256=keys.sha256,
        numeric=numeric_columns(asked),
        texts=text_columns(asked),
        lists=list_columns(asked),
        blank=asked.roles.get("transcript", ()),
    )


def require_rules(rules: LabelRules, cells: Sequence[Cell], planned: Sequence[int], entry: str) -> None:
    """Every planned reference needs a rule, and the suite must say how a label without references counts.

    Raises `FaultyFile`.
    """
    present = {cell for place in planned if isinstance(cell := cells[place], str)}
    strange = sorted(cell for cell in present if rules.reference_of(cell) is None)
    if strange:
        message = f"the label `{strange[0]}` has no rule: add it to `labels.reference` or `labels.drop`"
        raise FaultyFile([Fault(entry, 0, 0, "label-unknown", message)])
    _require_rule_for_absent(rules, cells, planned, entry)


def _require_rule_for_targets(rules: LabelRules, targets: Sequence[str], shown_as: str) -> None:
    """What listeners may choose must lead to a label, also where no clip has it."""
    strange = [target for target in targets if rules.reference_of(target) is None]
    if strange:
        message = f"votes.targets: `{strange[0]}` has no rule: add it to `labels.set` or `labels.reference`"
        raise FaultyFile([Fault(shown_as, 0, 0, "label-unknown", message)])


def _require_rule_for_absent(rules: LabelRules, cells: Sequence[Cell], planned: Sequence[int], entry: str) -> None:
    """A declared label without references changes what macro_f1 means, so the suite must say how it counts."""
    said = {cells[place] for place in planned}
    present = {rules.reference_of(cell) for cell in said if isinstance(cell, str)}
    absent = [label for label in rules.set if label not in present]
    if absent and rules.absent is None and said:
        message = (
            f"no planned clip has {', '.join(absent)}: say `labels.absent: zero` or `omit`, or shorten `labels.set`"
        )
        raise FaultyFile([Fault(entry, 0, 0, "absent-undeclared", message)])


def cohort_rules(columns: Columns) -> dict[str, CohortRule]:
    """How the cells of each cohort are read."""
    return {
        name: CohortRule(name) if isinstance(said, str) else CohortRule(name, said.separator, said.missing)
        for name, said in columns.cohorts.items()
    }


def _manifest_path(root: Path, entry: str) -> Path:
    try:
        return resolve_entry(root, entry)
    except AudioFault as fault:
        raise FaultyFile([Fault(entry, 0, 0, fault.code, fault.message)]) from fault


def listing(keys: Corpus, names: tuple[str, ...], environ: Mapping[str, str]) -> Listing:
    """Which of the columns `names` play which role: those the suite names, else those of a role's own name."""
    template = keys.columns.audio_from
    roles = _written_roles(keys.columns)
    for role in BY_NAME:
        rival = {"id": keys.columns.id_from, "audio": template, "split": keys.columns.split}.get(role)
        if role not in roles and rival is None and role in names:
            roles[role] = (role,)
    if "attempt" in roles and "id" in roles:
        roles["id"] += roles["attempt"]  # each attempt is a clip of its own
    split = keys.columns.split
    axes = {axis: found for axis in AXES if (found := getattr(keys.columns, axis)) is not None}
    return Listing(
        roles=roles,
        audio_from=None if template is None else expand(template, environ),
        split_is=split.is_ if isinstance(split, Constant) else None,
        where=keys.where,
        exclude=keys.exclude,
        exclude_where=tuple(Exclusion(rule.column, rule.is_, rule.reason) for rule in keys.exclude_where),
        ranges={axis: found.range for axis, found in axes.items()},
        kept={
            f"{COHORT}{name}": frozenset(cohort.missing) - {""}
            for name, cohort in keys.columns.cohorts.items()
            if isinstance(cohort, Cohort)
        },
    )


def _written_roles(columns: Columns) -> dict[str, tuple[str, ...]]:
    roles: dict[str, tuple[str, ...]] = {}
    for role in BY_NAME:
        found = getattr(columns, role)
        if isinstance(found, str):
            roles[role] = (found,)
        elif isinstance(found, tuple):
            roles[role] = found
    if columns.id_from is not None:
        roles["id"] = columns.id_from
    for role in (*AXES, RATING):
        if isinstance(found := getattr(columns, role), Axis | Scale):
            roles[role] = (found.column,)
    for name, cohort in columns.cohorts.items():
        roles[f"{COHORT}{name}"] = (cohort if isinstance(cohort, str) else cohort.column,)
    for name, column in columns.conditions.items():
        roles[f"condition.{name}"] = (column,)
    return roles


def label_rules(keys: Labels | None) -> LabelRules | None:
    """The section `labels`, ready to be applied."""
    if keys is None:
        return None
    return LabelRules(
        set=keys.set,
        reference=keys.reference,
        drop=keys.drop,
        answers=keys.answers,
        projection=_projection(keys),
        absent=keys.absent,
        abstain_below=keys.abstain_below,
        strip=keys.strip,
        fold_case=keys.fold_case,
    )


def _projection(keys: Labels) -> Projection | None:
    wanted = keys.projection
    if wanted is None or isinstance(wanted, str):
        return None if wanted is None else NAMED[wanted]
    if isinstance(wanted, AxesKeys):
        rows = {
            label: tuple(Term(weight, axis) for weight, axis in zip(weights, wanted.axes, strict=True))
            for label, weights in wanted.rows.items()
        }
        return AxesProjection("axes", rows, wanted.abstain_below or 0.0)
    return NameProjection("names", wanted)


def contract(keys: AudioContract, adapter_rate: int | None) -> Contract:
    """The audio contract; without a rate of its own it takes the adapter's."""
    return Contract(
        rate=keys.rate or adapter_rate,
        resample=keys.resample,
        channels=keys.channels,
        channel=keys.channel,
        container=keys.container,
        subtype=keys.subtype,
        seconds=keys.seconds,
        short=keys.short,
        long=keys.long,
        clipping=keys.clipping,
    )
