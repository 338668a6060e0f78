"""Gate files of publishing pipelines, v2 and flat v1: read as they are, tied to suites, never looser than they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_speval.errors import FaultyFile
from pytest_speval.plugin.words import session_words
from pytest_speval.suite.gate import GateFile, GateRule
from pytest_speval.suite.load import load_gates, load_suite

VOCABULARY = session_words().vocabulary
FIXTURE = load_suite(Path(__file__).parents[3] / "suites/fixture.yaml", VOCABULARY)
SUITES = {"smallest": FIXTURE, "named": FIXTURE}
V2 = """\
version: 2
gates:
  emotion_f1:
    op: ">="
    unit: "score 0..1"
    manifest_field: "evals.emotionClassifier.macroF1Meld"
    description: "Macro-F1 on the held-out set."
    calibration: "Flip provisional once a release reproduces it."
  lost_clips: {op: "<=", unit: ratio, manifest_field: null}
  latency_ms: {op: "<=", unit: ms, manifest_field: null, needs_hardware: true, description: "On the device."}
  e2e_loop_ok: {op: "bool", manifest_field: "evals.e2eLoopOk", description: "One loop ran."}
mtp: {minAcceptanceRate: 0.65, minSpeedup: 1.5, provisional: true, benchReportGlob: "a-*.json", calibration: "b"}
tiers:
  2b:
    emotion_f1: {threshold: 0.35, required: true, provisional: false}
    lost_clips: {threshold: 0.1, required: false, provisional: false}
    latency_ms: {threshold: 30, required: true, provisional: false}
    e2e_loop_ok: {threshold: true, required: true, provisional: false}
  27b-256k:
    emotion_f1: {threshold: 0.6, required: true, provisional: true}
    latency_ms: {threshold: 40, required: true, provisional: false, needs_hardware: false}
"""
V1 = """\
defaults:
  emotion_f1: {op: ">=", threshold: 0.35, required_for: all, description: "Macro-F1."}
  latency_ms: {metric: latency_ms, op: "<=", threshold: 30, required_for: [27b-256k]}
tiers:
  2b: {}
  27b-256k: {emotion_f1: {threshold: 0.6}}
"""
TIED = """\
published:
  file: ../bench/published.yaml
  tier: 2b
  gates:
    emotion_f1: {suite: smallest, metric: macro_f1, owner: speech}
    lost_clips: {suite: smallest, metric: failure_rate}
    latency_ms: {suite: smallest, metric: latency_ms.mean}
  elsewhere: {e2e_loop_ok: "the endurance harness"}
"""
FLAT = """\
published:
  file: ../bench/published.yaml
  tier: TIER
  gates:
    emotion_f1: {suite: smallest, metric: macro_f1}
    latency_ms: {suite: smallest, metric: latency_ms.mean}
"""


def load(folder: Path, own: str = TIED, published: str = V2) -> GateFile:
    for name, text in (("gates/release.yaml", own), ("bench/published.yaml", published)):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return load_gates(folder / "gates/release.yaml", SUITES, VOCABULARY, "gates/release.yaml")


def rules(found: GateFile) -> dict[str, GateRule]:
    return {rule.id: rule for rule in found.gates}


def faults(folder: Path, own: str = TIED, published: str = V2) -> list[str]:
    with pytest.raises(FaultyFile) as caught:
        load(folder, own, published)
    return str(caught.value).splitlines()


def test_the_gates_of_a_tier_are_read_with_what_they_ask_and_why(tmp_path: Path) -> None:
    found = rules(load(tmp_path))
    assert {name: (rule.suite, rule.metric, rule.min, rule.max, rule.level) for name, rule in found.items()} == {
        "emotion_f1": ("smallest", "macro_f1", 0.35, None, "block"),
        "lost_clips": ("smallest", "failure_rate", None, 0.1, "warn"),
        "latency_ms": ("smallest", "latency_ms.mean", None, 30.0, "warn"),
    }
    assert found["emotion_f1"].why == "Macro-F1 on the held-out set. (published.yaml, tier 2b)"
    assert found["lost_clips"].why == "lost_clips (published.yaml, tier 2b, not required)"
    assert found["latency_ms"].why == "On the device. (published.yaml, tier 2b, needs hardware)"
    assert (found["emotion_f1"].owner, found["emotion_f1"].bound) == ("speech", "point")
    assert str(found["emotion_f1"].place) == "gates/release.yaml:5:5"


def test_what_a_tier_says_of_hardware_goes_before_the_gate(tmp_path: Path) -> None:
    own = TIED.replace("tier: 2b", "tier: 27b-256k").replace(
        "    lost_clips: {suite: smallest, metric: failure_rate}\n", ""
    )
    own = own[: own.index("  elsewhere")]
    found = rules(load(tmp_path, own))
    assert (found["latency_ms"].max, found["latency_ms"].level) == (40.0, "block")
    assert (found["emotion_f1"].min, found["emotion_f1"].level) == (0.6, "warn")
    assert found["emotion_f1"].why.endswith("tier 27b-256k, provisional)")


@pytest.mark.parametrize(("tier", "limit", "latency"), [("2b", 0.35, "warn"), ("27b-256k", 0.6, "block")])
def test_the_flat_form_has_thresholds_for_all_tiers(tmp_path: Path, tier: str, limit: float, latency: str) -> None:
    for version in ("", "version: 1\n"):
        found = rules(load(tmp_path, FLAT.replace("TIER", tier), version + V1))
        assert (found["emotion_f1"].min, found["emotion_f1"].level) == (limit, "block")
        assert (found["latency_ms"].max, found["latency_ms"].level) == (30.0, latency)


@pytest.mark.parametrize(
    ("named", "level"),
    [("all", "block"), ("[all]", "block"), ("[2b]", "block"), ("[27b-256k, 2b]", "block"), ("27b-256k", "warn")],
)
def test_a_gate_of_the_flat_form_is_required_for_the_tiers_it_names(tmp_path: Path, named: str, level: str) -> None:
    found = rules(load(tmp_path, FLAT.replace("TIER", "2b"), V1.replace("required_for: all", f"required_for: {named}")))
    assert found["emotion_f1"].level == level


@pytest.mark.parametrize(
    ("named", "code", "hint"),
    [
        ("2B", "unknown-tier", "known: 2b,"),
        ("[2b-]", "unknown-tier", "`2b`?"),
        ("[All]", "unknown-tier", ""),
        ("[]", "bad-value", ""),
    ],
)
def test_a_name_that_is_no_tier_disarms_no_gate(tmp_path: Path, named: str, code: str, hint: str) -> None:
    published = V1.replace("required_for: all", f"required_for: {named}")
    (fault,) = faults(tmp_path, FLAT.replace("TIER", "2b"), published)
    assert "bench/published.yaml:2:" in fault
    assert "required_for" in fault
    assert code in fault
    assert hint in fault


def test_a_tier_that_the_flat_form_does_not_have_is_refused(tmp_path: Path) -> None:
    (fault,) = faults(tmp_path, FLAT.replace("TIER", "27b-256K"), V1)
    assert "no tier `27b-256K`, did you mean `27b-256k`?" in fault


def test_own_gates_and_waivers_stand_beside_published_ones(tmp_path: Path) -> None:
    own = TIED + "gates:\n  uar: {suite: named, metric: uar, min: 0.1, why: a}\nwaivers:\n  emotion_f1: {reason: b}\n"
    found = load(tmp_path, own)
    assert [rule.id for rule in found.gates] == ["uar", "emotion_f1", "lost_clips", "latency_ms"]
    assert [*found.waivers] == [("smallest", "emotion_f1")]


@pytest.mark.parametrize("text", [V2, V1])
def test_a_published_file_among_gate_files_is_refused_and_says_what_to_do(tmp_path: Path, text: str) -> None:
    (fault,) = faults(tmp_path, text)
    assert fault.startswith("gates/release.yaml:1:1: this is a published gate file, which names no suite")
    assert fault.endswith("[published-alone]")


def test_faults_of_a_published_file_that_stands_alone_are_told_too(tmp_path: Path) -> None:
    found = faults(tmp_path, V2.replace("    unit:", "    units:"))
    assert [line.rpartition("[")[2] for line in found] == ["published-alone]", "unknown-key]"]


OURS, THEIRS = "gates/release.yaml", "bench/published.yaml"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("    lost_clips: {s", "    lost_clip: {s", [f"{OURS}:6:5: published.gates.lost_clip: tier 2b has no gate "
         "`lost_clip`, did you mean `lost_clips`? [unknown-gate]", f"{OURS}:1:1: published.gates.lost_clips: tier 2b "
         "asks for `lost_clips`: say which suite and metric measure it, or what does, elsewhere [unmeasured-gate]"]),
        ("  elsewhere: {e2e_loop_ok", "  elsewhere: {emotion_f1", ["emotion_f1: it is measured by a suite",
         "published.gates.e2e_loop_ok: tier 2b asks for"]),
        ("tier: 2b", "tier: 3b", [f"{OURS}:3:9: published.tier: published.yaml has no tier `3b`; known: 2b, 27b-256k "
         "[unknown-tier]"]),
        ("metric: failure_rate", "metric: uar", ["9:20: gates.lost_clips.max: higher is better for uar: write min "
         "[wrong-direction]"]),
        ("metric: failure_rate", "metric: ua", [f"{OURS}:6:43: gates.lost_clips.metric: no metric `ua`"]),
        ("suite: smallest, metric: failure_rate", "suite: small, metric: failure_rate", [f"{OURS}:6:25: "
         "gates.lost_clips.suite: no suite `small`, did you mean `smallest`? [unknown-suite]"]),
        ("published.yaml", "nothing.yaml", ["bench/nothing.yaml: cannot be read"]),
        ("    lost_clips: {suite: smallest, m", "    lost_clips: {m", ["published.gates.lost_clips.suite: a required"]),
        ("  elsewhere: {e2e_loop_ok: \"the endurance harness\"}", "    e2e_loop_ok: {suite: smallest, metric: uar}",
         [f"{OURS}:8:5: published.gates.e2e_loop_ok: it wants true or false"]),
        ("  tier: 2b\n", "", ["published.tier: a required key is missing"]),
        ("  tier: 2b\n", "  tier: 2b\n  tiers: 2b\n", ["published.tiers: unknown key, did you mean `tier`?"]),
    ],
)  # fmt: skip
def test_what_ties_gates_to_suites_is_checked(tmp_path: Path, old: str, new: str, told: list[str]) -> None:
    assert old in TIED
    found = faults(tmp_path, TIED.replace(old, new))
    assert len(found) == len(told), found
    for line, part in zip(sorted(found), sorted(told), strict=True):
        assert any(one in line for one in told), (line, part)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('    op: ">="\n', '    op: ">"\n', ["4:9: gates.emotion_f1.op: ", "`>=`"]),
        ('    op: ">="\n', "", ["gates.emotion_f1.op: a required key is missing"]),
        ("threshold: 0.35, ", "", ["tiers.2b.emotion_f1.threshold: a required key is missing"]),
        ("threshold: 0.35", 'threshold: "0.35"', ["15:29: tiers.2b.emotion_f1.threshold"]),
        ("threshold: 0.35", "threshold: .nan", ["tiers.2b.emotion_f1.threshold"]),
        ("threshold: 0.35", "threshold: true", ["`>=` compares with a number [wrong-type]"]),
        ("threshold: true", "threshold: 1", ["`bool` compares with true or false [wrong-type]"]),
        ("threshold: 0.35", "threshold: 1.35", ["15:29: gates.emotion_f1.min: macro_f1 is between 0 and 1"]),
        ("threshold: 0.35", "threshold: null", ["tiers.2b.emotion_f1.threshold"]),
        ("provisional: false", "provisional: no", ["provisional"]),
        ("required: true, provisional: false}\n    lost", "require: true, provisional: false}\n    lost", [
         "tiers.2b.emotion_f1.require: unknown key, did you mean `required`?"]),
        ("version: 2", "version: 3", ["1:10: version"]),
        ("version: 2\n", "", ["version: a required key is missing"]),
        ("    emotion_f1: {threshold: 0.35", "    emotion: {threshold: 0.35", [
         "15:5: tiers.2b.emotion: no gate `emotion`, did you mean `emotion_f1`? [unknown-gate]"]),
        ("mtp:", "mtq:", ["mtq: unknown key"]),
        ("  2b:\n", "  2b:\n    emotion_f1: {threshold: 0}\n", ["duplicate key"]),
    ],
)  # fmt: skip
def test_a_damaged_published_file_is_refused_with_its_place(
    tmp_path: Path, old: str, new: str, told: list[str]
) -> None:
    assert old in V2
    found = faults(tmp_path, published=V2.replace(old, new, 1))
    for part in told:
        assert any(part in line for line in found), found
    assert any("bench/published.yaml" in line for line in found)


def test_every_cut_of_a_published_file_is_refused_or_asks_no_less(tmp_path: Path) -> None:
    """A file that lost its end has no gate that is looser than it was, and none that is gone without a word."""
    whole = rules(load(tmp_path))
    for end in range(len(V2)):
        try:
            found = rules(load(tmp_path, published=V2[:end]))
        except FaultyFile:
            continue
        assert found.keys() == whole.keys()
        assert all((found[name].min, found[name].max) == (whole[name].min, whole[name].max) for name in whole)
