"""Receipts of real sessions: every finished run verifies, whichever way its answers came."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from pytest_speval.evidence.receipt import SigningKey
from pytest_speval.verify.verification import verify
from tests.plugin.conftest import Project

WORDS = ["yes", "no", "raise", "yes", "", "yes", "no", "yes"]
REFERENCES = ["yes", "no", "yes", "no", "yes", "no", "no", "yes"]
TOLERANT = "run: {max_failed: 4}"
WATCHING_ADAPTER = '''
import pathlib
from pytest_speval import EmotionRead

HERE = pathlib.Path(__file__).parent

class Watching:
    """Answers yes and notes which receipts stand while it is asked."""

    def classify(self, pcm, sample_rate):
        receipts = sorted(str(path) for path in HERE.glob(".speval/voice/*/receipt.json"))
        (HERE / "seen.txt").write_text("\\\\n".join(receipts))
        return EmotionRead(label="yes")

def pytest_speval_adapters():
    return {"counting": Watching}
'''
AXES_ADAPTER = '''
from pytest_speval import EmotionRead, Vad

class Middle:
    """Every label scores alike on every clip."""

    def classify(self, pcm, sample_rate):
        return EmotionRead(vad=Vad(0.75, 0.5, 0.5))

def pytest_speval_adapters():
    return {"counting": Middle}
'''


def problems(folder: Path, key: Path | None = None) -> list[str]:
    """What verification finds that does not hold."""
    return [str(found) for found in verify(folder, key) if found.severity == "error"]


def holds(folder: Path) -> str:
    """The note about the verdict of a run that holds."""
    assert problems(folder) == []
    return verify(folder)[-1].message


def new_key(path: Path) -> SigningKey:
    key = Ed25519PrivateKey.generate()
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return SigningKey.of(path)


@pytest.mark.parametrize("more", [(), ("--speval-partial",)], ids=["whole", "partial"])
def test_a_finished_run_verifies(project: Project, distributed: tuple[str, ...], more: tuple[str, ...]) -> None:
    project.write(WORDS, references=REFERENCES, extra=TOLERANT)
    run = project.run(*distributed, *more)
    run.stdout.fnmatch_lines(["unsigned receipt"])
    assert holds(project.folder()).startswith("verdict partial" if more else "verdict pass")
    assert "\nunsigned receipt\n" in (project.folder() / "report.md").read_text()


def test_failed_invalid_and_refused_runs_verify_too(project: Project) -> None:
    project.write(WORDS, references=["no"] * 8, extra=TOLERANT)
    assert project.run().ret == 1
    assert holds(project.folder()).startswith("verdict fail")
    project.suite("voice", gates="gates: {accuracy: {metric: accuracy, min: 0.5, why: chance}}")
    assert project.run().ret == 6
    assert holds(project.folder()).startswith("verdict invalid: 1 of 8 clips failed")
    (project.path / "3.wav").unlink()
    assert project.run().ret == 6
    assert holds(project.folder()).startswith("verdict invalid: audit[corpus] failed")


def test_each_adapter_of_a_suite_has_a_run_that_verifies(project: Project) -> None:
    project.write(WORDS, references=REFERENCES, extra=TOLERANT)
    suite = project.path / "suites/voice.yaml"
    two = "adapters: {one: {use: counting}, two: {use: counting}}"
    suite.write_text(suite.read_text().replace("adapter: {use: counting}", two))
    assert project.run().ret == 0
    folders = list((project.path / ".speval/voice").iterdir())
    assert len(folders) == 2
    for folder in folders:
        assert holds(folder).startswith("verdict pass")


def test_a_key_signs_and_is_named_wherever_the_run_is_told(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(["yes"] * 4)
    key = new_key(project.path / "key.pem")
    run = project.run(*distributed, "--speval-sign=key.pem")
    run.stdout.fnmatch_lines([f"receipt: signed by {key.keyid}"])
    assert f"receipt: signed by {key.keyid}" in (project.folder() / "report.md").read_text()
    assert problems(project.folder()) == []
    assert key.keyid in str(verify(project.folder())[0])


@pytest.mark.parametrize("text", [None, "no key", "-----BEGIN PUBLIC KEY-----\n"])
def test_a_key_that_cannot_sign_is_a_usage_error_before_anything_is_asked(project: Project, text: str | None) -> None:
    project.write(["yes"] * 2)
    if text is not None:
        (project.path / "key.pem").write_text(text)
    run = project.run("--speval-sign=key.pem")
    assert run.ret == 4
    run.stderr.fnmatch_lines(["*key.pem*key-*"])
    assert project.calls == []
    assert not (project.path / ".speval").exists()


def test_a_key_that_goes_missing_while_the_run_is_on_leaves_no_verdict(project: Project) -> None:
    project.write(["yes"] * 2)
    new_key(project.path / "key.pem")
    adapter = (project.path / "conftest.py").read_text()
    gone = "(HERE / 'key.pem').unlink(missing_ok=True)\n        name, word"
    (project.path / "conftest.py").write_text(adapter.replace("name, word", gone, 1))
    run = project.run("--speval-sign=key.pem")
    assert run.ret == 6
    run.stdout.fnmatch_lines(["*voice: invalid: integrity: cannot write the receipt*"])
    assert not (project.folder() / "receipt.json").exists()


def test_no_receipt_stands_while_a_run_goes_on(project: Project, distributed: tuple[str, ...]) -> None:
    project.write(["yes"] * 6, extra="run: {per_item: 1}")
    (project.path / "conftest.py").write_text(WATCHING_ADAPTER)
    project.run("-k", "c0 or c1 or gate")
    folder = project.folder()
    assert holds(folder).startswith("verdict invalid: 2 of 6 clips")
    first = (folder / "receipt.json").read_bytes()
    assert project.run(f"--speval-resume={folder}", *distributed).ret == 0
    assert (project.path / "seen.txt").read_text() == ""
    assert (folder / "receipt.json").read_bytes() != first
    assert holds(folder).startswith("verdict pass")


def test_replays_and_their_post_hoc_rules_verify(project: Project) -> None:
    project.write(WORDS, references=REFERENCES, extra=TOLERANT)
    project.run()
    stored = project.folder()
    (stored / "journal/main.torn").write_text("torn\n")
    project.run(f"--speval-replay={stored}", "--speval-set", "voice.gates.accuracy.min=0.9")
    replayed = project.folder()
    assert replayed != stored
    assert holds(replayed).startswith("verdict fail")
    assert json.loads((replayed / "out.json").read_bytes())["plan"]["postHoc"]
    assert problems(stored) == ["journal/main.torn: is not in the receipt [file-unexpected]"]


def test_shards_verify_and_so_does_what_they_make_together(project: Project) -> None:
    project.write(WORDS, references=REFERENCES, extra=TOLERANT)
    for number in (1, 2, 3):
        project.run(f"--speval-shard={number}/3")
        assert holds(project.folder()).startswith("verdict shard")
    assert project.run("--speval-replay=.speval", "--speval-out=merged").ret == 0
    (merged,) = (project.path / "merged/voice").iterdir()
    assert len(list((merged / "journal").glob("*.jsonl"))) == 3
    assert holds(merged).startswith("verdict pass")


def test_a_tie_between_rows_of_a_projection_goes_to_the_earlier_row_in_every_recomputation(project: Project) -> None:
    project.write(["yes"] * 4)
    (project.path / "conftest.py").write_text(AXES_ADAPTER)
    suite = project.path / "suites/voice.yaml"
    rows = 'projection: {axes: [valence], rows: {"yes": [1.0], "no": [1.0]}}'
    suite.write_text(suite.read_text().replace("absent: zero", f"absent: zero, {rows}"))
    assert project.run().ret == 0
    assert project.document()["metrics"]["accuracy"]["value"] == 1
    assert holds(project.folder()).startswith("verdict pass")


def test_a_frozen_plan_is_proven_by_the_lock_in_the_folder(project: Project) -> None:
    project.write(["yes"] * 4)
    code = "from pytest_speval.command import main; raise SystemExit(main(['freeze', 'voice']))"
    subprocess.run([sys.executable, "-c", code], cwd=project.path, check=True, capture_output=True)
    assert project.run().ret == 0
    assert holds(project.folder()).startswith("seals this plan; not independently")
    assert any(found.code == "verified" for found in verify(project.folder()))


def test_a_killed_worker_leaves_a_run_that_verifies(project: Project) -> None:
    project.write(["yes", "yes", "die", "yes"], extra=TOLERANT)
    project.run("-n", "2")
    assert project.document()["counts"]["unknown"] == 1
    assert problems(project.folder()) == []
