"""Real recordings, written down by the engines that run here: word error rates with speaker intervals.

Runs a whole session per engine over the English clips of ../shared/data/read-speech that have a named speaker, and
prints a table in Markdown: `python benchmarks/read_speech.py [ENGINE ...]`; engines: moonshine, pocketsphinx.
Needs the extras of those names, `audio` and `english`; takes some minutes.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[2] / "shared/data/read-speech"
ENGINES = ("moonshine", "pocketsphinx")
SUITE = """\
task: asr
corpus:
  root: {data}
  manifest: manifest.csv
  columns: {{id: path, audio: path, session: dataset}}
  where: {{split: [test]}}
  audio: {{resample: true}}
adapter: {{use: {engine}}}
text: {{normalizer: english}}
run: {{timeout: 300}}
"""


def staged(folder: Path) -> Path:
    """A folder with the recordings and a manifest whose `split` is `test` where they take part."""
    data = folder / "data"
    data.mkdir()
    with (DATA / "manifest.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        (data / row["path"]).parent.mkdir(exist_ok=True)
        (data / row["path"]).write_bytes((DATA / row["path"]).read_bytes())
    with (data / "manifest.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["path", "dataset", "speaker", "transcript", "split"])
        for row in rows:
            named = row["language"] == "en" and not row["speaker"].endswith("unknown")
            split = "test" if named else "other"
            table.writerow([row["path"], row["dataset"], row["speaker"], row["transcript"], split])
    return data


def heard(engine: str, folder: Path, data: Path) -> dict[str, Any]:
    """The result of one session."""
    home = folder / engine
    (home / "suites").mkdir(parents=True)
    (home / "suites/read.yaml").write_text(SUITE.format(data=data, engine=engine), encoding="utf-8")
    (home / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    session = [sys.executable, "-m", "pytest", "-q", "suites/read.yaml"]
    ended = subprocess.run(session, cwd=home, capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.exit(f"{engine}: the session ended with {ended.returncode}\n{ended.stdout}{ended.stderr}")
    (result,) = (home / ".speval/read").glob("*/out.json")
    found: dict[str, Any] = json.loads(result.read_bytes())
    return found


def row(engine: str, result: dict[str, Any]) -> str:
    """A line of the table."""
    counts, wer, rtf = result["counts"], result["metrics"]["wer"], result["metrics"]["rtf"]
    interval = wer["interval"]
    between = f"{interval['low']:.3f} to {interval['high']:.3f}"
    cells = [
        engine,
        f"{counts['answered']} of {counts['planned']}",
        str(interval["clusters"]),
        f"{wer['denominator']:,}",
        str(wer["numerator"]),
        f"{wer['value']:.3f}",
        between,
        f"{rtf['value']:.2f}",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    if not DATA.is_dir():
        sys.exit(f"no recordings: {DATA} is not there")
    print("| engine | clips answered | speakers | words | errors | WER | 95 % interval | rtf |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        data = staged(Path(name))
        for engine in sys.argv[1:] or ENGINES:
            print(row(engine, heard(engine, Path(name), data)), flush=True)


if __name__ == "__main__":
    main()
