"""Random one-byte changes in the folder of a finished run, signed and unsigned: each must be found where it was made.

A file of the folder is chosen, then a byte of it, then another value. Found means that `verify` finds an error, that
the first one names this file, and that it names the line (journals, `clips.jsonl`, `report.md`) or a key that
stands around the byte (JSON, but for the receipt, which is one record). Ends in 1 where one was not.

    python benchmarks/byte_changes.py [--changes 10000] [--seed 1]
"""

from __future__ import annotations

import argparse
import array
import csv
import json
import random
import re
import subprocess
import sys
import tempfile
import time
import wave
from collections import Counter
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from pytest_speval.verify.verification import verify

ADAPTER = """
from pytest_speval import EmotionRead

class Mine:
    def classify(self, pcm, sample_rate):
        place = round(float(pcm[0]) * 32768)
        if place == 5:
            raise RuntimeError("no luck")
        return EmotionRead(scores={"yes": 0.7 if place % 3 else 1e-7, "no": 0.25})

def pytest_speval_adapters():
    return {"mine": Mine}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--changes", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_project(folder)
        missed = 0
        for out, more in (("unsigned", ()), ("signed", ("--speval-sign=key.pem",))):
            run = make_run(folder, out, more)
            missed += change_bytes(run, asked.changes // 2, random.Random(f"{asked.seed} {out}"), out)
    raise SystemExit(1 if missed else 0)


def make_project(folder: Path) -> None:
    """A suite over twelve short clips, and a key."""
    with (folder / "clips.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "label", "audio", "speaker"])
        for number in range(12):
            rows.writerow([f"ü{number}", "yes" if number % 2 else "no", f"{number}.wav", f"s{number % 4}"])
            with wave.open(str(folder / f"{number}.wav"), "wb") as sound:
                sound.setparams((1, 2, 16_000, 0, "NONE", ""))
                sound.writeframes(array.array("h", [number, *range(159)]).tobytes())
    (folder / "conftest.py").write_text(ADAPTER)
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "suites").mkdir()
    (folder / "suites/voice.yaml").write_text(
        "task: emotion\ncorpus: {root: .., manifest: clips.csv}\n"
        'labels: {set: ["yes", "no"]}\nadapter: {use: mine}\nrun: {max_failed: 1}\n'
        "score: {interval: {replicates: 50}}\n"
        "gates: {accuracy: {metric: accuracy, min: 0.1, why: chance}}\n"
    )
    key = Ed25519PrivateKey.generate()
    (folder / "key.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


def make_run(folder: Path, out: str, more: tuple[str, ...]) -> Path:
    """The folder of one run, which must hold."""
    quiet = ("-q", "-p", "no:randomly", "-p", "no:cacheprovider", "-n", "2")
    command = [sys.executable, "-m", "pytest", *quiet, f"--speval-out={out}", *more, "suites"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (run,) = (folder / out / "voice").iterdir()
    assert not [found for found in verify(run) if found.severity == "error"]
    return run


def change_bytes(run: Path, changes: int, chance: random.Random, title: str) -> int:
    """Change one byte after the other, each put back; returns how many were not found where they were made."""
    files = {path: path.read_bytes() for path in sorted(run.rglob("*")) if path.is_file()}
    found, missed, started = Counter[str](), 0, time.perf_counter()
    for _ in range(changes):
        path, data = chance.choice(list(files.items()))
        place = chance.randrange(len(data))
        value = (data[place] + chance.randrange(1, 256)) % 256
        path.write_bytes(data[:place] + bytes([value]) + data[place + 1 :])
        errors = [one for one in verify(run) if one.severity == "error"]
        path.write_bytes(data)
        name = path.relative_to(run).as_posix()
        if errors and errors[0].file == name and names_place(errors[0].record, name, data, place):
            found[name] += 1
        else:
            missed += 1
            print(f"MISSED {name}, byte {place}: {data[place]} became {value}: {errors[:2]}")
    print(f"{title}: {sum(found.values()):,} of {changes:,} changes found, {time.perf_counter() - started:.0f} s")
    print("".join(f"  {name:<24} {count:6,}\n" for name, count in sorted(found.items())), end="")
    return missed


def names_place(record: str, name: str, data: bytes, place: int) -> bool:
    """Say whether a record is where a byte stands."""
    if name == "receipt.json":
        return record == ""
    if not name.endswith(".json"):
        return record.partition(" (")[0] == f"line {data.count(10, 0, place) + 1}"
    keys = re.split(r"[.\[\]]+", record.rstrip("]"))
    top = json.loads(data)
    if isinstance(top, list):
        return record.startswith("[") or place < 2 or place > len(data) - 3
    if keys == [""]:
        return place == 0 or place > len(data) - 3
    start = data.index(f'"{keys[0]}":'.encode()) - 1
    names = sorted(top)
    after = names[names.index(keys[0]) + 1 :]
    end = data.rindex(f',"{after[0]}":'.encode()) if after else len(data) - 2
    return start <= place < end


if __name__ == "__main__":
    main()
