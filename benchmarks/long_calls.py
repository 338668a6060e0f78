"""Long calls: the word errors of seven systems on ../shared/data/earnings21-eval10, with time and memory.

Calls of up to 15,000 words are aligned whole, each against its whole reference. Prints per system the errors (with the
expected number, where that differs), the CPU seconds of all alignments and the peak of traced memory of the largest:
`python benchmarks/long_calls.py`.
"""

from __future__ import annotations

import csv
import json
import re
import time
import tracemalloc
from pathlib import Path

from pytest_speval.scoring.alignment import Errors, align

DATA = Path(__file__).resolve().parents[2] / "shared/data/earnings21-eval10"
PUNCTUATION = re.compile(r"[^\w' ]")


def plain(text: str) -> list[str]:
    """The words that the data set's counts are over."""
    return PUNCTUATION.sub(" ", re.sub("[’ʼ‘`]", "'", text.lower()).replace("-", " ")).split()


def said(call: str) -> list[str]:
    """The words of a reference."""
    with (DATA / f"reference/{call}.nlp").open(encoding="utf-8", newline="") as file:
        return plain(" ".join(row["token"] for row in csv.DictReader(file, delimiter="|", quoting=csv.QUOTE_NONE)))


def heard(system: str) -> dict[str, list[str]]:
    """The words of a system's answers, by call."""
    with (DATA / f"hypothesis/{system}.tsv").open(encoding="utf-8", newline="") as file:
        rows = (line.rstrip("\n").split("\t", 1) for line in file)
        return {call: plain(text) for call, text in rows}


def main() -> None:
    expected = json.loads((DATA / "EXPECTED.json").read_text())["systems"]
    references = {call: said(call) for call in next(iter(expected.values()))["per_call_errors_refwords_hypwords"]}
    words = sum(map(len, references.values()))
    print(f"{len(references)} calls, {words:,} words, the longest {max(map(len, references.values())):,}")
    for system, told in expected.items():
        answers = heard(system)
        started = time.process_time()
        ops = {call: align(reference, answers[call]) for call, reference in references.items()}
        spent = time.process_time() - started
        longest = max(references, key=lambda call: len(references[call]) * len(answers[call]))
        tracemalloc.start()
        align(references[longest], answers[longest])
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        errors = Errors.of("".join(ops.values())).total
        mark = "" if errors == told["plain_errors"] else f", EXPECTED {told['plain_errors']:,}"
        print(f"  {system:20s} {errors:7,d} errors{mark}  {errors / words:.4f}  {spent:5.2f} s  {peak:4.0f} MiB")


if __name__ == "__main__":
    main()
