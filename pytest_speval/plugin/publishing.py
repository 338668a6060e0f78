"""`speval manifest` and `speval check-manifest`: a model's manifest, from evidence and against it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_speval.errors import UsageFault
from pytest_speval.evidence.canonical import value_of
from pytest_speval.evidence.receipt import NAME as RECEIPT
from pytest_speval.evidence.receipt import Receipt
from pytest_speval.evidence.store import read_plan
from pytest_speval.reports.classifier import SUITES, Classifier
from pytest_speval.verify.manifest import manifest_errors
from pytest_speval.verify.verification import verify

CODES = {
    "manifest-refused": "Runs do not make the block of a manifest: another suite, another model, or nothing measured.",
    "manifest-unopened": "A manifest cannot be read.",
}
JUDGED = ("pass", "fail", "no gates")
FAULTY = 1


def write_block(runs: Sequence[Path]) -> int:
    """Print the block that two runs make, as it stands in a manifest; returns 0. Raises `UsageFault`."""
    block = {"evals": {"emotionClassifier": measured(runs).as_dict()}}
    sys.stdout.write(json.dumps(block, indent=2) + "\n")
    return 0


def check_manifest(file: Path, runs: Sequence[Path], *, strict: bool) -> int:
    """Print every error of a manifest; returns 1 where there is one. Raises `UsageFault`."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageFault("manifest-unopened", f"cannot read {file}: {error.strerror}") from error
    errors = manifest_errors(data, strict=strict, measured=measured(runs) if runs else None)
    for found in errors:
        sys.stdout.write(f"{file}: {found}\n")
    told = "holds" if not errors else "1 error" if len(errors) == 1 else f"{len(errors):,} errors"
    sys.stdout.write(f"{file}: {told}\n")
    return FAULTY if errors else 0


def measured(runs: Sequence[Path]) -> Classifier:
    """The numbers of one run of each suite; raises `UsageFault` for runs that do not hold or do not go together."""
    found: dict[str, Path] = {}
    for run in runs:
        suite = _checked(run)
        if suite not in SUITES or suite in found:
            raise UsageFault(
                "manifest-refused", f"{run} is a run of `{suite}`; wanted is one of each, {' and '.join(SUITES)}"
            )
        found[suite] = run
    if len(found) < len(SUITES):
        raise UsageFault("manifest-refused", f"give two runs, one of each, {' and '.join(SUITES)}")
    models = [_model(found[suite]) for suite in SUITES]
    if models[0] != models[1]:
        raise UsageFault("manifest-refused", f"the runs are of two models: {models[0]['name']} and {models[1]['name']}")
    documents = [value_of((found[suite] / "out.json").read_bytes()) for suite in SUITES]
    try:
        return Classifier.of(*documents)
    except ValueError as error:
        raise UsageFault("manifest-refused", str(error)) from error


def _checked(run: Path) -> str:
    """The suite of a run that verifies and gave a verdict."""
    errors = [finding for finding in verify(run) if finding.severity == "error"]
    if errors or not (run / RECEIPT).is_file():
        raise UsageFault("manifest-refused", f"{run} does not hold: {errors[0] if errors else f'no {RECEIPT}'}")
    receipt, _ = Receipt.read((run / RECEIPT).read_bytes())
    if receipt.verdict not in JUDGED:
        reason = f": {receipt.reason}" if receipt.reason else ""
        raise UsageFault("manifest-refused", f"the verdict of {run} is {receipt.verdict}{reason}")
    return receipt.suite


def _model(run: Path) -> dict[str, object]:
    adapter = read_plan(run / "plan.json").question.adapter
    return {name: adapter[name] for name in ("name", "use", "identity")}
