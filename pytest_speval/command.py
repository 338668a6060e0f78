"""The command `speval`: looks at suites, gate files, projections and finished runs; asks no model."""

from __future__ import annotations

import argparse
import json
import os
import runpy
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_speval.errors import FaultyFile, SpevalError, UsageFault

CODES = {"conftest-failed": "The `conftest.py` of the folder that a command runs in raised."}
FAULTY, USAGE = 1, 2
Out = Callable[[str], object]
CONFTEST = "conftest.py"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns 0, 1 where faults were found, 2 for wrong usage."""
    asked = _parser().parse_args(arguments)
    path = [*sys.path]
    try:
        status = int(asked.act(asked))
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # whoever read has seen enough; nothing is to be written at exit either
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return FAULTY
    except SpevalError as error:
        sys.stderr.write(f"speval: {error}\n")
        return USAGE
    finally:
        sys.path[:] = path


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="speval", description=__doc__)
    acts = parser.add_subparsers(required=True, metavar="COMMAND")
    check = acts.add_parser("check", help="check suite and gate files without running anything")
    check.add_argument("files", nargs="+", type=Path, metavar="FILE")
    check.set_defaults(act=_check)
    schema = acts.add_parser("schema", help="print the JSON Schema of suite files, for editors")
    schema.add_argument("--gates", action="store_true", help="that of gate files instead")
    schema.set_defaults(act=_schema)
    projection = acts.add_parser("projection", help="show what a projection does: shares, corners, ties")
    projection.add_argument("name")
    projection.set_defaults(act=_projection)
    verify = acts.add_parser("verify", help="recompute finished runs from their folders, offline")
    verify.add_argument("places", nargs="+", type=Path, metavar="DIR", help="a run folder, or a folder of them")
    verify.add_argument("--key", type=Path, metavar="PUB.pem", help="the public key that must have signed")
    verify.add_argument("--audio", type=Path, metavar="ROOT", help="hold the sound below this folder against the plan")
    verify.set_defaults(act=_verify)
    bless = acts.add_parser("bless", help="keep the evidence of a finished run as a baseline for later ones")
    bless.add_argument("run", type=Path, metavar="RUN", help="the run folder")
    bless.add_argument("folder", type=Path, metavar="FOLDER", help="where the baseline is kept: baselines/meld")
    bless.set_defaults(act=_bless)
    prove = acts.add_parser("prove", help="show which worthless answers the gates of a finished run would refuse")
    prove.add_argument(
        "run", metavar="SUITE_OR_RUN", help="a run folder, or a suite whose newest finished run is meant"
    )
    prove.add_argument("--speval-out", type=Path, metavar="DIR", default=Path(".speval"), help="where runs lie")
    prove.set_defaults(act=_prove)
    manifest = acts.add_parser(
        "manifest", help="print evals.emotionClassifier of a manifest, from a run of meld and iemocap"
    )
    manifest.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="the run folders")
    manifest.set_defaults(act=_manifest)
    checked = acts.add_parser("check-manifest", help="list every error in evals.emotionClassifier of a manifest")
    checked.add_argument("file", type=Path, metavar="FILE", help="the manifest, JSON")
    checked.add_argument("--strict", action="store_true", help="a release: what did not pass is an error")
    checked.add_argument(
        "--run", type=Path, metavar="RUN", action="append", default=[], help="a run it must agree with"
    )
    checked.set_defaults(act=_check_manifest)
    readiness = acts.add_parser("readiness", help="write the template of a suite's readiness file, to be filled in")
    readiness.add_argument("suite", metavar="SUITE", help="a suite's name or file")
    readiness.set_defaults(act=_readiness)
    for name, help_ in (("plan", "show what a suite would ask and may cost; asks nothing"),
                        ("freeze", "write the lock of a suite: a run whose plan differs is refused")):  # fmt: skip
        about = acts.add_parser(name, help=help_)
        about.add_argument("suite", metavar="SUITE", help="a suite's name or file")
        about.add_argument(
            "--speval-set", metavar="SUITE.KEY=VALUE", action="append", default=[], help="override a value"
        )
        about.set_defaults(act=_freeze if name == "freeze" else _plan)
    return parser


def _words() -> Any:
    """The session's words, with what a `conftest.py` of this folder offers."""
    from pytest_speval.plugin.words import UNUSABLE, session_words

    here = _conftest() if Path(CONFTEST).is_file() else {}
    return session_words(*(_offered(here, name) for name in UNUSABLE))


def _conftest() -> Mapping[str, Any]:
    """What the `conftest.py` of this folder defines; as under pytest the folder comes first on `sys.path`."""
    sys.path.insert(0, str(Path.cwd()))
    try:
        return runpy.run_path(CONFTEST, run_name="conftest")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # sys.exit and pytest.skip would end the command without a word
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == CONFTEST]
        place = f"{CONFTEST}:{lines[-1]}" if lines else CONFTEST
        raise UsageFault("conftest-failed", f"{place}: it raised {type(error).__name__}: {error}") from error


def _offered(here: Mapping[str, Any], name: str) -> list[Any]:
    """What a hook in a `conftest.py` offers; None offers nothing, as under pytest."""
    from pytest_speval.plugin.words import offered

    hook = here.get(name)
    found = offered(name, hook) if callable(hook) else None
    return [] if found is None else [found]


def _own_normalizers() -> None:
    """Register what a `conftest.py` of this folder offers to count words by; without the hook it is not even run."""
    from pytest_speval.corpus.own_normalizers import HOOK, register

    conftest = Path(CONFTEST)
    offers = conftest.is_file() and HOOK.encode() in conftest.read_bytes()
    register(_offered(_conftest(), HOOK) if offers else [])


def _check(asked: argparse.Namespace) -> int:
    from pytest_speval.suite.load import load_gates, load_suite
    from pytest_speval.suite.readiness import load_readiness
    from pytest_speval.suite.readiness_file import is_readiness
    from pytest_speval.suite.suite import Suite

    vocabulary = _words().vocabulary
    faults: list[FaultyFile] = []
    suites: dict[str, Suite] = {}
    gate_files = [path for path in asked.files if _is_gate_file(path)]
    for path in asked.files:
        if path not in gate_files:
            try:
                if is_readiness(path):
                    load_readiness(path)
                    continue
                suite = load_suite(path, vocabulary)
                suites[suite.name] = suite
            except FaultyFile as faulty:
                faults.append(faulty)
    for path in sorted(Path("suites").glob("*.yaml")) if gate_files else ():
        try:
            suite = load_suite(path, vocabulary)
            suites.setdefault(suite.name, suite)
        except FaultyFile:
            continue
    for path in gate_files:
        try:
            load_gates(path, suites, vocabulary)
        except FaultyFile as faulty:
            faults.append(faulty)
    for found in faults:
        sys.stdout.write(f"{found}\n")
    good = len(asked.files) - len(faults)
    sys.stdout.write(f"{good} of {len(asked.files)} files are good\n")
    return FAULTY if faults else 0


def _is_gate_file(path: Path) -> bool:
    """A gate file has one of the sections of gate files, and neither a task nor a corpus."""
    from pytest_speval.suite.document import read_file
    from pytest_speval.suite.tree import entries_of

    keys = entries_of(read_file(path).root).keys()
    return bool(keys & {"gates", "waivers", "published", "defaults"}) and not keys & {"task", "corpus", "adapter"}


def _plan(asked: argparse.Namespace) -> int:
    from pytest_speval.plugin.errand import run_errand
    from pytest_speval.plugin.freezing import show_plan

    return run_errand(asked.suite, show_plan, asked.speval_set)


def _freeze(asked: argparse.Namespace) -> int:
    from pytest_speval.plugin.errand import run_errand
    from pytest_speval.plugin.freezing import freeze

    return run_errand(asked.suite, freeze, asked.speval_set)


def _readiness(asked: argparse.Namespace) -> int:
    from pytest_speval.plugin.readiness import write_readiness

    return write_readiness(asked.suite, _words().vocabulary)


def _verify(asked: argparse.Namespace) -> int:
    from pytest_speval.verify.verification import run_folders, verify

    _own_normalizers()
    status = 0
    for folder in [folder for place in asked.places for folder in run_folders(place)]:
        findings = verify(folder, asked.key, asked.audio)
        errors = sum(found.severity == "error" for found in findings)
        told = "holds" if not errors else "1 finding" if errors == 1 else f"{errors:,} findings"
        sys.stdout.write(f"{folder}: {told}\n")
        for found in findings:
            sys.stdout.write(f"  {'' if found.severity == 'error' else 'note: '}{found}\n")
        status = FAULTY if errors else status
    return status


def _bless(asked: argparse.Namespace) -> int:
    from pytest_speval.plugin.blessing import bless

    return bless(asked.run, asked.folder)


def _prove(asked: argparse.Namespace) -> int:
    from pytest_speval.plugin.proving import prove_gates

    _own_normalizers()
    return prove_gates(asked.run, asked.speval_out)


def _manifest(asked: argparse.Namespace) -> int:
    from pytest_speval.plugin.publishing import write_block

    return write_block(asked.runs)


def _check_manifest(asked: argparse.Namespace) -> int:
    from pytest_speval.plugin.publishing import check_manifest

    return check_manifest(asked.file, asked.run, strict=asked.strict)


def _schema(asked: argparse.Namespace) -> int:
    from pytest_speval.suite.schema import gates_schema, suite_schema

    schema = gates_schema() if asked.gates else suite_schema(_words().vocabulary)
    sys.stdout.write(json.dumps(schema, indent=2) + "\n")
    return 0


def _projection(asked: argparse.Namespace) -> int:
    from pytest_speval.corpus.projections import NAMED, AxesProjection, geometry

    found = NAMED.get(asked.name)
    if found is None:
        raise SpevalError("unknown-projection", f"no projection `{asked.name}`; there is {', '.join(NAMED)}")
    if not isinstance(found, AxesProjection):
        for name, label in found.names.items():
            sys.stdout.write(f"{name:<16} {label}\n")
        return 0
    shape = geometry(found)
    for label, share in shape.shares.items():
        sys.stdout.write(f"{label:<16} {share:7.2%} of the cube\n")
    sys.stdout.write(f"{'(abstains)':<16} {shape.abstained:7.2%}, best score below {found.abstain_below:g}\n")
    sys.stdout.write(f"{'(ties)':<16} {shape.tied:7.2%}, the earlier label wins\n")
    for (valence, arousal, dominance), winner in shape.corners:
        corner = f"corner V{valence:.0f} A{arousal:.0f} D{dominance:.0f}"
        sys.stdout.write(f"{corner:<16} {winner or '(abstains)'}\n")
    return 0
