"""A baseline holds what its run's estimates follow from, and any damage to it is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.baseline import Baseline, keep_baselines, kept_baselines, read_baseline
from pytest_speval.evidence.canonical import canonical, digest, value_of
from pytest_speval.evidence.folder import RunFolder
from pytest_speval.evidence.store import StoredRun
from pytest_speval.judge.bench import Bench
from pytest_speval.judge.judgement import judge
from pytest_speval.tasks.registry import TASKS
from tests.folders import STARTED, finished_run


@pytest.fixture
def run(tmp_path: Path) -> StoredRun:
    return StoredRun.read(finished_run(tmp_path / "out"))


def test_reading_it_gives_the_estimates_of_its_run(run: StoredRun) -> None:
    baseline = Baseline.read(Baseline.of(run).as_bytes(), "b")
    bench = Bench.of(run.plan, TASKS["emotion"], STARTED.date())
    found = judge(baseline.plan, TASKS["emotion"], bench, baseline.endings, baseline.audits)
    expected = judge(run.plan, TASKS["emotion"], bench, run.endings(), run.audits)
    assert found.estimates == expected.estimates
    assert found.estimates["latency_ms.mean"].value is not None
    assert found.verdicts == expected.verdicts
    assert [row.as_dict() for row in found.rows] == [row.as_dict() for row in expected.rows]


def test_it_is_a_function_of_the_evidence_and_smaller_than_it(run: StoredRun, tmp_path: Path) -> None:
    again = StoredRun.read(finished_run(tmp_path / "again"))
    assert Baseline.of(run).as_bytes() == Baseline.of(again).as_bytes()
    evidence = [path for path in run.folder.path.rglob("*") if path.name in ("plan.json", "audits.json", "gw0.jsonl")]
    assert len(Baseline.of(run).as_bytes()) < sum(path.stat().st_size for path in evidence)


def test_any_changed_byte_is_found(run: StoredRun) -> None:
    data = Baseline.of(run).as_bytes()
    for place in range(0, len(data), 13):
        damaged = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        with pytest.raises(EvidenceFault) as caught:
            Baseline.read(damaged, "b")
        assert caught.value.code in ("baseline-damaged", "baseline-foreign")


@pytest.mark.parametrize("key", ["endings", "audits", "plan"])
def test_a_changed_part_is_found_even_with_a_digest_that_fits(run: StoredRun, key: str) -> None:
    value = value_of(Baseline.of(run).as_bytes())
    del value["baselineSha256"]
    if key == "plan":
        value["plan"]["rules"]["run"]["missing"] = "withhold"
    else:
        value[key].pop()
    forged = canonical(value | {"baselineSha256": digest(value)}) + b"\n"
    if key == "audits":
        assert Baseline.read(forged, "b").sha256 != Baseline.of(run).sha256, "another baseline, as its digest says"
        return
    with pytest.raises(EvidenceFault, match="baseline-damaged"):
        Baseline.read(forged, "b")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "damaged"),
        (b"{}\n", "foreign"),
        (b"[]\n", "foreign"),
        (b'{"schemaVersion":2}\n', "foreign"),
        (b'{"audits":[],"endings":[{"no":1}],"plan":{},"schemaVersion":1}\n', "foreign"),
    ],
)
def test_what_is_no_baseline_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(EvidenceFault, match=f"baseline-{code}"):
        Baseline.read(data, "b")


def test_one_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(EvidenceFault, match=r"\.\./baselines/meld holds no baseline\.json.*\[baseline-missing\]"):
        read_baseline(tmp_path / "meld", "../baselines/meld")


def test_a_run_keeps_a_copy_under_its_digest(run: StoredRun, tmp_path: Path) -> None:
    folder, baseline = RunFolder(tmp_path), Baseline.of(run)
    rules = {"gates": [{"id": "a"}, {"baseline": {"sha256": baseline.sha256}}, {"baseline": {"sha256": None}}]}
    with pytest.raises(EvidenceFault, match="baseline-missing"):
        kept_baselines(folder, rules)
    keep_baselines(folder, [baseline])
    assert kept_baselines(folder, rules).keys() == {baseline.sha256}
    (copy,) = (tmp_path / "baselines").iterdir()
    copy.rename(copy.with_name("0" * 64 + ".json"))
    with pytest.raises(EvidenceFault, match="not the baseline that the plan names"):
        kept_baselines(folder, {"gates": [{"baseline": {"sha256": "0" * 64}}]})
