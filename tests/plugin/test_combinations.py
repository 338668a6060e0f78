"""Flags, waivers and damages together, seeded: what ends in 1 or 6 without them never ends green with them."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_speval.command import main
from tests.plugin import groups
from tests.plugin.conftest import Project

SEEDS = range(32)
EACH = 10
"""Sessions of a seed, so 320 combinations."""
SUITE = "suites/voice.yaml"
GATE_FILE = "gates/voice.yaml"
RIGHT = groups.REFERENCES
HALF = groups.GOOD_AND_BAD
EVENLY = [*RIGHT[:2], "no", "yes", *RIGHT[:2], "no", "yes"]
"""Half of each group is right."""
INLINE = "gates: {inline: {metric: macro_f1, min: 0.9, why: x}, whole: {metric: clips, min: 8, why: x}}"
GATES = """\
gates:
  red: {suite: voice, metric: accuracy, min: 0.9, why: x}
  worst: {suite: voice, metric: accuracy, cohort: accent, min: 0.9, why: x}
  waived: {suite: voice, metric: accuracy, min: 0.9, why: x}
  warned: {suite: voice, metric: accuracy, min: 0.9, level: warn, why: x}
  fine: {suite: voice, metric: coverage, min: 0.1, why: x}
waivers:
  waived: {reason: late, owner: me, until: 2999-12-31}
"""
NO_WORSE = "  no-worse: {suite: voice, metric: accuracy, baseline: ../baseline, max_drop: 0.1, why: x}\n"
WAIVERS = {
    "none": "",
    "expired": "  red: {reason: late, owner: me, until: 2001-01-01}\n",
    "expired, of all": "".join(
        f"  {name}: {{reason: late, owner: me, until: 2001-01-01}}\n" for name in ("red", "worst", "inline")
    ),
    "valid, of one": "  red: {reason: late, owner: me, until: 2999-12-31}\n",
    "without an owner": "  worst: {reason: late, until: 2999-12-31}\n",
    "without a date": "  worst: {reason: late, owner: me}\n",
}
FLAGS: dict[str, list[tuple[str, ...]]] = {
    "selection": [
        ("-k", "c0"), ("-k", "not c1"), ("-k", "gate"), ("-k", "audit or fine"), ("-m", "speval(kind='gate')"),
        ("-m", "not speval"), ("--lf",), ("--ff",), ("--sw",), (f"{SUITE}::clip[c0]",), (f"{SUITE}::gate[fine]",),
        ("--deselect", f"{SUITE}::gate[red]"), ("--deselect", f"{SUITE}::clip[c1]"), (SUITE,),
    ],
    "stop": [("-x",), ("--maxfail=1",), ("--maxfail=3",), ("--exitfirst", "--ff")],
    "run": [
        ("--runxfail",), ("--reruns=1",), ("-p", "no:cacheprovider"), ("-p", "no:rerunfailures"), ("-W", "error"),
        ("-n", "0"), ("--tb=no", "-qq"), ("-o", "strict_xfail=true"), ("-s",), ("--junitxml=x.xml",),
        ("-p", "no:randomly"), ("--import-mode=importlib",), ("-p", "no:terminalreporter"), ("--strict-markers",),
    ],
    "speval": [
        ("--speval-release",), ("--speval-partial",), ("--speval-shard=1/2",), ("--speval-shard=2/2",), ("--co",),
        ("--speval-set", "voice.score.interval.replicates=50"), ("--speval-set", "voice.run.per_item=4"),
        ("--speval-set", "voice.adapter.said=said.json"), ("--speval-out=elsewhere",),
        ("--speval-replay=STORED",), ("--speval-replay=STORED",), ("--speval-resume=STORED",),
        ("--speval-replay=.speval",), ("--speval-replay=STORED", "--speval-release"),
    ],
}  # fmt: skip
NO_VERDICT = ("--speval-partial", "--speval-shard=1/2", "--speval-shard=2/2", "--co")
"""What ends in pytest's own status, says that it judged nothing, and is no release."""


def edit(path: Path, change: Callable[[str], str]) -> None:
    path.write_text(change(path.read_text()))


def cut(path: Path, share: float) -> None:
    """Keep the first part of a file."""
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])


def alter(path: Path, share: float) -> None:
    """Change the byte that stands there."""
    data = bytearray(path.read_bytes())
    data[int((len(data) - 1) * share)] ^= 1
    path.write_bytes(data)


def stored(project: Path) -> Path:
    return sorted((project / ".speval/voice").iterdir())[0]


def journal(project: Path) -> Path:
    return next((stored(project) / "journal").iterdir())


DAMAGES: dict[str, Callable[[Path, float], object]] = {
    "nothing": lambda _path, _share: None,
    "a key misspelt": lambda path, _: edit(path / GATE_FILE, lambda said: said.replace("metric:", "metrc:", 1)),
    "a metric misspelt": lambda path, _: edit(path / GATE_FILE, lambda said: said.replace("accuracy", "acuracy")),
    "a waiver of no gate": lambda path, _: edit(
        path / GATE_FILE, lambda said: f"{said}  rad: {{reason: late, owner: me, until: 2999-12-31}}\n"
    ),
    "a waiver without a reason": lambda path, _: edit(
        path / GATE_FILE, lambda said: f"{said}  warned: {{owner: me, until: 2999-12-31}}\n"
    ),
    "a suite misspelt": lambda path, _: edit(path / GATE_FILE, lambda said: said.replace("voice", "voise", 1)),
    "the first word misspelt": lambda path, _: edit(path / GATE_FILE, lambda said: said.replace("gates:", "gate:", 1)),
    "a gate file of another name": lambda path, _: (path / GATE_FILE).rename(path / "gates/voice.yml"),
    "no gate file": lambda path, _: (path / GATE_FILE).unlink(),
    "part of a gate file": lambda path, share: cut(path / GATE_FILE, share),
    "an empty gate file": lambda path, _: (path / GATE_FILE).write_text(""),
    "a limit that is none": lambda path, _: edit(path / GATE_FILE, lambda said: said.replace("0.9", ".nan")),
    "a limit that is text": lambda path, _: edit(path / GATE_FILE, lambda said: said.replace("0.9", '"0.9"')),
    "a gate twice": lambda path, _: edit(
        path / GATE_FILE, lambda said: said.replace("  fine:", "  red: {suite: voice, metric: clips, min: 0}\n  fine:")
    ),
    "a level misspelt": lambda path, _: edit(path / SUITE, lambda said: said.replace("min:", "level: wran, min:")),
    "part of a suite": lambda path, share: cut(path / SUITE, share),
    "a suite's key misspelt": lambda path, _: edit(path / SUITE, lambda said: said.replace("labels:", "lables:", 1)),
    "part of the manifest": lambda path, share: cut(path / "clips.csv", share),
    "a byte of the manifest": lambda path, share: alter(path / "clips.csv", share),
    "an empty manifest": lambda path, _: (path / "clips.csv").write_text(""),
    "a row twice, unequal": lambda path, _: edit(path / "clips.csv", lambda said: f"{said}c0,no,0.wav,s0,gb\n"),
    "a row twice": lambda path, _: edit(path / "clips.csv", lambda said: said + said.splitlines()[1] + "\n"),
    "a column misspelt": lambda path, _: edit(path / "clips.csv", lambda said: said.replace("accent", "acent", 1)),
    "no groups": lambda path, _: edit(path / "clips.csv", lambda said: said.replace(",gb", ",").replace(",us", ",")),
    "a recording gone": lambda path, _: (path / "5.wav").unlink(),
    "a recording cut": lambda path, share: cut(path / "5.wav", share),
    "part of the answers": lambda path, share: cut(path / "said.json", share),
    "no answers": lambda path, _: (path / "said.json").unlink(),
    "an answer of no sense": lambda path, _: edit(path / "said.json", lambda said: said.replace("yes", "yes, or so")),
    "no adapter": lambda path, _: (path / "conftest.py").write_text(""),
    "no baseline": lambda path, _: shutil.rmtree(path / "baseline"),
    "part of the baseline": lambda path, share: cut(path / "baseline/baseline.json", share),
    "a byte of the baseline": lambda path, share: alter(path / "baseline/baseline.json", share),
    "no lock": lambda path, _: (path / "suites/voice.lock.json").unlink(missing_ok=True),
    "a byte of the lock": lambda path, share: alter(path / "suites/voice.lock.json", share),
    "part of the lock": lambda path, share: cut(path / "suites/voice.lock.json", share),
    "part of the stored journal": lambda path, share: cut(journal(path), share),
    "a byte of the stored journal": lambda path, share: alter(journal(path), share),
    "no stored journal": lambda path, _: journal(path).unlink(),
    "a byte of the stored plan": lambda path, share: alter(stored(path) / "plan.json", share),
    "no stored plan": lambda path, _: (stored(path) / "plan.json").unlink(),
    "a byte of the stored result": lambda path, share: alter(stored(path) / "out.json", share),
    "no receipt": lambda path, _: (stored(path) / "receipt.json").unlink(),
}  # fmt: skip


class Red:
    """A project that ends in 1 or 6, kept beside the folder the sessions run in."""

    def __init__(self, project: Project, keep: Path, case: str) -> None:
        self.project, self.keep, self.case = project, keep, case
        groups.write(project, "gates: {fine: {suite: voice, metric: coverage, min: 0.1, why: x}}", RIGHT)
        assert project.run("--speval-out=blessed").ret == 0
        (run,) = (project.path / "blessed/voice").iterdir()
        assert main(["bless", str(run), "baseline"]) == 0
        shutil.rmtree(project.path / "blessed")
        gates, answers, extra = GATES, HALF, groups.SCORE
        if case == "worse than the baseline":
            waivers = gates.partition("waivers:")[2]
            kept = gates.partition("gates:\n")[2].partition("waivers:")[0].replace("min: 0.9", "min: 0.1")
            gates = f"gates:\n{kept}{NO_WORSE}waivers:{waivers}"
            answers = EVENLY
        if case in ("a clip raises", "locked"):
            answers = [*RIGHT[:7], "raise"] if case == "a clip raises" else RIGHT
        if case == "locked":
            extra += "\nrun: {locked: true}"
        groups.write(project, gates, answers, score=extra)
        inline = INLINE.replace("0.9", "0.1") if case == "worse than the baseline" else INLINE
        edit(project.path / SUITE, lambda said: f"{said}{inline}\n")
        if case == "locked":
            assert main(["freeze", "voice"]) == 0
            edit(project.path / SUITE, lambda said: said.replace("min: 0.9", "min: 0.8"))
        assert project.run().ret == (1 if case in ("gates fail", "worse than the baseline") else 6)
        shutil.copytree(project.path, keep, symlinks=True)

    def restore(self) -> None:
        """Put every file back."""
        for entry in self.project.path.iterdir():
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        shutil.copytree(self.keep, self.project.path, symlinks=True, dirs_exist_ok=True)

    def damages(self) -> list[str]:
        """The damages that touch what the case rests on, and do not take away the one demand that makes it red."""
        locks = {name for name in DAMAGES if "lock" in name.split()}
        left = set() if self.case == "locked" else locks
        if self.case == "locked":  # nothing was asked
            left |= {name for name in DAMAGES if "journal" in name}
        if self.case == "worse than the baseline":  # that gate stands in the gate file alone
            left |= {"no gate file", "a gate file of another name", "part of a gate file", "an empty gate file"}
        else:
            left |= {name for name in DAMAGES if "baseline" in name}
        return [name for name in DAMAGES if name not in left]


CASES = ("gates fail", "a clip raises", "worse than the baseline", "locked")


def combination(drawn: random.Random, red: Red) -> tuple[tuple[str, ...], str, str, float]:
    """Flags of two or three kinds, a waiver, a damage, and where in the file it is."""
    damage = drawn.choice(red.damages())
    kinds = drawn.sample([*FLAGS], drawn.choice((2, 3)))
    flags = {kind: drawn.choice(FLAGS[kind]) for kind in kinds}
    if any(word in damage for word in ("stored", "receipt")):
        flags["speval"] = drawn.choice([("--speval-replay=STORED",), ("--speval-resume=STORED",)])
    said = tuple(flag.replace("STORED", str(stored(red.project.path))) for one in flags.values() for flag in one)
    return said, drawn.choice([*WAIVERS]), damage, drawn.random()


def green(red: Red, flags: tuple[str, ...], waiver: str, damage: str, share: float) -> bool:
    """Run a session; say whether it ended as one that holds. What gives no verdict may end in 0, and says no pass."""
    red.restore()
    path = red.project.path
    edit(path / GATE_FILE, lambda said: said + WAIVERS[waiver])
    for file in path.glob("*/summary.json"):
        file.unlink()
    DAMAGES[damage](path, share)
    if red.project.run(*flags).ret != 0:
        return False
    if not set(flags) & set(NO_VERDICT):
        return True
    told = [json.loads(file.read_text()) for file in path.glob("*/summary.json")]
    return any(run["verdict"] in ("pass", "no gates") for one in told for run in one["runs"])


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_turns_red_into_green(project: Project, tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    red = Red(project, tmp_path_factory.mktemp("kept") / "project", CASES[seed % len(CASES)])
    drawn = random.Random(seed)
    for _ in range(EACH):
        chosen = combination(drawn, red)
        assert not green(red, *chosen), (red.case, *chosen)


@pytest.mark.parametrize("case", CASES)
def test_nor_does_it_where_workers_ask(project: Project, tmp_path_factory: pytest.TempPathFactory, case: str) -> None:
    red = Red(project, tmp_path_factory.mktemp("kept") / "project", case)
    drawn = random.Random(case)
    flags, waiver, damage, share = combination(drawn, red)
    assert not green(red, ("-n", "2", *flags), waiver, damage, share), (flags, waiver, damage, share)
