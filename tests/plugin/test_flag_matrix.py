"""No flag turns red into green: what ends in 1 or 6 without flags never ends in 0 with them."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_speval.command import main
from tests.plugin import groups
from tests.plugin.conftest import Project

RED = {
    "gate fails": (["no"] * 4, "", 1),
    "clip raises": (["yes", "raise", "yes", "yes"], "", 6),
    "clip raises, one may": (["no", "raise", "no", "no"], "run: {max_failed: 1}", 1),
    "audit fails": (["yes"] * 4, "audio-missing", 6),
    "unlocked": (["yes"] * 4, "run: {locked: true}", 6),
}
FLAGS: list[tuple[str, ...]] = [
    ("-k", "c0"),
    ("-k", "not c1"),
    ("-k", "gate"),
    ("-k", "audit"),
    ("-m", "speval(kind='clip')"),
    ("-m", "not speval"),
    ("--lf",),
    ("--ff",),
    ("--sw",),
    ("-x",),
    ("--maxfail=2",),
    ("--reruns=2",),
    ("-p", "no:cacheprovider"),
    ("-p", "no:rerunfailures"),
    ("--deselect", "suites/voice.yaml::clip[c1]"),
    ("--deselect", "suites/voice.yaml::gate[accuracy]"),
    ("--deselect", "suites/voice.yaml::audit[corpus]", "--deselect", "suites/voice.yaml::audit[adapter]"),
    ("suites/voice.yaml::clip[c0]",),
    ("--ignore-glob", "*.py"),
    ("--runxfail",),
    ("-o", "strict_xfail=true"),
    ("--continue-on-collection-errors",),
    ("--no-summary", "-qq", "--tb=no"),
    ("-W", "ignore"),
    ("-s",),
    ("--capture=tee-sys",),
    ("--no-header", "--color=yes"),
    ("--junitxml=x.xml",),
    ("--speval-out=elsewhere",),
    ("--import-mode=append",),
    ("-n", "0"),
]
DISTRIBUTED: list[tuple[str, ...]] = [
    ("-n", "2", "-x"),
    ("-n", "1", "--dist=worksteal", "-k", "c0"),
    ("-n", "2", "--dist=loadfile", "--lf"),
    ("-n", "1", "--maxfail=1", "--reruns=1"),
]


def red(project: Project, case: str) -> int:
    """A project of one suite whose plain run is not green; returns how it ends."""
    answers, extra, status = RED[case]
    project.write(answers, extra="" if extra == "audio-missing" else extra)
    if extra == "audio-missing":
        (project.path / "1.wav").unlink()
    assert project.run().ret == status
    return status


@pytest.mark.parametrize("case", RED)
def test_no_flag_turns_red_into_green(project: Project, case: str) -> None:
    red(project, case)
    for flags in FLAGS if case in ("gate fails", "clip raises") else FLAGS[::4]:
        assert project.run(*flags).ret != 0, flags


def test_no_flag_makes_a_release_green(project: Project) -> None:
    red(project, "clip raises, one may")
    for flags in FLAGS:
        assert project.run(*flags, "--speval-release").ret != 0, flags


def test_no_distribution_turns_red_into_green(project: Project) -> None:
    red(project, "clip raises, one may")
    for flags in DISTRIBUTED:
        assert project.run(*flags).ret != 0, flags


@pytest.mark.parametrize("case", RED)
def test_no_stored_run_turns_red_into_green(project: Project, case: str) -> None:
    red(project, case)
    for stored in sorted((project.path / ".speval/voice").iterdir()):
        for option in ("replay", "resume"):
            for release in ((), ("--speval-release",)):
                assert project.run(f"--speval-{option}={stored}", *release).ret != 0, (option, release)


GROUPED = {
    "worst group": ("metric: accuracy, cohort: accent, min: 0.5", 1),
    "worst group, bound": ("metric: accuracy, cohort: accent, min: 0.5, bound: low", 6),
    "gap": ("metric: accuracy, cohort: accent, gap: true, max: 0.1", 1),
    "gap by chance": ("metric: accuracy, cohort: accent, gap: true, max: chance", 1),
    "worst label": ("metric: recall, per_class: true, min: 0.6", 1),
    "baseline": ("metric: accuracy, baseline: ../baseline, max_drop: 0.1", 1),
}
WAIVERS = (
    "",
    "waivers: {red: {reason: late, owner: me, until: 2001-01-01}}",
    "waivers: {fine: {reason: another gate, owner: me, until: 2999-12-31}}",
)
COMBINATIONS = 14


def edit(path: Path, change: Callable[[str], str]) -> None:
    path.write_text(change(path.read_text()))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "nothing": lambda path: path,
    "a misspelt key": lambda path: edit(path / "gates/voice.yaml", lambda text: text.replace("metric:", "metrc:", 1)),
    "a misspelt value": lambda path: edit(
        path / "gates/voice.yaml", lambda text: text.replace("accent", "acent").replace("metric: ", "metric: x")
    ),
    "a gate twice": lambda path: edit(
        path / "gates/voice.yaml", lambda text: text.replace("  fine:", "  red: {min: 0}\n  fine:")
    ),
    "a limit that is none": lambda path: edit(path / "gates/voice.yaml", lambda text: text.replace("0.", ".nan # ", 1)),
    "half a gate file": lambda path: edit(path / "gates/voice.yaml", lambda text: text[: len(text) // 2]),
    "half a suite": lambda path: edit(path / "suites/voice.yaml", lambda text: text[: len(text) // 2]),
    "no groups": lambda path: edit(path / "clips.csv", lambda text: text.replace(",gb", ",").replace(",us", ",")),
    "no column": lambda path: edit(path / "clips.csv", lambda text: text.replace("accent", "accents")),
    "a clip less": lambda path: (path / "5.wav").unlink(),
    "no answers": lambda path: (path / "said.json").unlink(),
    "groups all too small": lambda path: edit(
        path / "suites/voice.yaml", lambda text: text.replace("min_clips: 2", "min_clips: 99")
    ),
}


@pytest.mark.parametrize("case", GROUPED)
def test_no_flag_waiver_or_damage_turns_a_gate_on_several_green(project: Project, case: str) -> None:
    keys, status = GROUPED[case]
    if case == "baseline":
        groups.write(project, "gates: {fine: {suite: voice, metric: clips, min: 1, why: x}}", groups.REFERENCES)
        assert project.run("--speval-out=blessed").ret == 0
        (run,) = (project.path / "blessed/voice").iterdir()
        assert main(["bless", str(run), str(project.path / "baseline")]) == 0
    gate = f"gates:\n  red: {{suite: voice, {keys}, why: x}}\n  fine: {{suite: voice, metric: clips, min: 1, why: x}}\n"
    groups.write(project, gate)
    assert project.run().ret == status
    (stored,) = (project.path / ".speval/voice").iterdir()
    drawn = random.Random(case)
    for number in range(COMBINATIONS):
        flags, waiver = drawn.choice(FLAGS), drawn.choice(WAIVERS)
        damage = [*DAMAGES][number % len(DAMAGES)]
        if drawn.random() < 0.2:
            flags += (f"--speval-replay={stored}",)
        groups.write(project, f"{gate}{waiver}\n")
        if damage in ("no groups", "no column", "groups all too small") and "cohort" not in keys:
            damage = "nothing"  # that gate is on no groups
        DAMAGES[damage](project.path)
        assert project.run(*flags).ret != 0, (flags, waiver, damage)


@pytest.mark.parametrize("gone", ["suites", "clips.csv", "0.wav", ".speval", "corpus", "gates"])
def test_missing_files_turn_nothing_green(project: Project, gone: str) -> None:
    project.write(["no"] * 3)
    (project.path / "gates").mkdir()
    gate = "gates: {fine: {suite: voice, metric: coverage, min: 0.1, why: any}}"
    (project.path / "gates/voice.yaml").write_text(gate)
    assert project.run().ret == 1
    if gone == "corpus":
        suite = project.path / "suites/voice.yaml"
        suite.write_text(suite.read_text().replace("root: ..", "root: '${SPEVAL_NOWHERE}'"))
        assert project.run("--speval-release").ret == 6
        return
    path = project.path / gone
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    if gone == "suites":  # then there is no suite: nothing is in the run
        assert project.run().ret == pytest.ExitCode.NO_TESTS_COLLECTED
    else:
        assert project.run().ret != 0


@pytest.mark.parametrize("flags", [("--speval-partial",), ("--speval-shard=1/2",), ("--collect-only",)])
def test_what_gives_no_verdict_is_no_release(project: Project, flags: tuple[str, ...]) -> None:
    project.write(["no"] * 3)
    assert project.run(*flags).ret == 0, "says so itself, and judges nothing"
    run = project.run(*flags, "--speval-release")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(["*gives no verdict, and --speval-release asks for one*release-refused*"])


@pytest.mark.parametrize(
    ("override", "status"),
    [
        ("voice.gates.accuracy.min=0", pytest.ExitCode.USAGE_ERROR),
        ("voice.gates={}", pytest.ExitCode.USAGE_ERROR),
        ("voice.run.max_failed=9", pytest.ExitCode.USAGE_ERROR),
        ("voice.labels.answers={'no': 'yes'}", pytest.ExitCode.USAGE_ERROR),
        ("voice.adapter.said=said.json", pytest.ExitCode.TESTS_FAILED),
        ("voice.corpus.root=.", pytest.ExitCode.TESTS_FAILED),
    ],
)
def test_a_release_may_name_its_model_and_nothing_else(project: Project, override: str, status: int) -> None:
    project.write(["no"] * 3)
    assert project.run("--speval-release", "--speval-set", override).ret == status


@pytest.mark.parametrize(
    ("waiver", "status"),
    [
        ("{reason: known, owner: speech, until: 2999-12-31}", 0),
        ("{reason: known, owner: speech}", pytest.ExitCode.USAGE_ERROR),
        ("{reason: known, until: 2999-12-31}", pytest.ExitCode.USAGE_ERROR),
    ],
)
def test_a_release_rests_on_waivers_with_owner_and_date_alone(project: Project, waiver: str, status: int) -> None:
    project.write(["no"] * 3)
    (project.path / "gates").mkdir()
    gate = f"gates: {{late: {{suite: voice, metric: accuracy, min: 0.2, why: x}}}}\nwaivers: {{late: {waiver}}}"
    (project.path / "gates/voice.yaml").write_text(gate)
    suite = project.path / "suites/voice.yaml"
    suite.write_text(suite.read_text().partition("gates:")[0])
    assert project.run().ret == 0
    run = project.run("--speval-release")
    assert run.ret == status
    if status:
        run.stderr.fnmatch_lines(["*gates/voice.yaml:2:*the waiver of voice/late needs `owner` and `until`*"])


def test_a_release_skips_no_suite(project: Project) -> None:
    project.write(["yes"] * 3)
    suite = project.path / "suites/voice.yaml"
    suite.write_text(suite.read_text().replace("root: ..", "root: '${SPEVAL_NOWHERE}'"))
    assert project.run().ret == 0
    run = project.run("--speval-release")
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*set SPEVAL_NOWHERE to its folder*"])


def test_a_release_without_any_suite_is_no_release(project: Project) -> None:
    project.write(["yes"] * 2)
    (project.path / "test_x.py").write_text("def test_a():\n    pass\n")
    assert project.run("test_x.py", "suites", "-k", "test_a", "--speval-release").ret == 6
    for option in ("release", "replay=.", "resume=.", "shard=1/2", "spend=voice"):
        run = project.run("test_x.py", f"--speval-{option}")
        assert run.ret == pytest.ExitCode.USAGE_ERROR
        run.stderr.fnmatch_lines(["*is about suites, and none lies where tests are collected*no-suite-here*"])
