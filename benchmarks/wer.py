"""Words aligned, with the alignment that is first in the order M, S, D, I, against other tools.

Prints CPU medians and ratios of one run: `python benchmarks/wer.py`. Goals, by jiwer: at most 0.6 times at 2,620
utterances, 0.3 times at 100,000, 10 times for a pair of 8,600 words. Others are told where they are installed: meeteval
and kaldialign. All find the same number of errors; only ours promises which alignment it is.
"""

from __future__ import annotations

import gc
import random
import statistics
import time
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import jiwer

from pytest_speval.scoring.alignment import Errors, align

Texts = Sequence[str]
Tool = Callable[[Texts, Texts], int]
WRONG = 0.08
"""The share of words at which something goes wrong."""
GOALS = {2_620: 0.6, 100_000: 0.3, 1: 10.0}


def ours(references: Texts, answers: Texts) -> int:
    ops = [align(said.split(), heard.split()) for said, heard in zip(references, answers, strict=True)]
    return Errors.of("".join(ops)).total


def with_jiwer(references: Texts, answers: Texts) -> int:
    found = jiwer.process_words(list(references), list(answers))
    return found.substitutions + found.deletions + found.insertions


def peers() -> dict[str, Tool]:
    """The tools that are installed, beside ours and jiwer."""
    found: dict[str, Tool] = {}
    try:
        import kaldialign
    except ImportError:
        print("kaldialign is not installed")
    else:

        def with_kaldialign(references: Texts, answers: Texts) -> int:
            pairs = zip(references, answers, strict=True)
            return sum(kaldialign.edit_distance(said.split(), heard.split())["total"] for said, heard in pairs)

        found["kaldialign"] = with_kaldialign
    try:
        from meeteval.wer import siso_word_error_rate
    except ImportError:
        print("meeteval is not installed")
    else:

        def with_meeteval(references: Texts, answers: Texts) -> int:
            pairs = zip(references, answers, strict=True)
            return sum(int(siso_word_error_rate(said, heard).errors) for said, heard in pairs)

        found["meeteval"] = with_meeteval
    return found


def corpus(utterances: int, words: int) -> tuple[list[str], list[str]]:
    """Made-up utterances of about so many words, and what a recogniser might make of them."""
    draw = random.Random(0)
    vocabulary = [f"w{int(draw.paretovariate(0.9)) % 5000}" for _ in range(20_000)]
    references, answers = [], []
    for _ in range(utterances):
        said = draw.choices(vocabulary, k=max(1, int(draw.gauss(words, words / 3))) if utterances > 1 else words)
        heard: list[str] = []
        for word in said:
            chance = draw.random() / WRONG
            if chance < 0.6:
                heard.append(draw.choice(vocabulary))
            elif chance >= 0.8:
                heard.append(word)
                if chance < 1:
                    heard.append(draw.choice(vocabulary))
        references.append(" ".join(said))
        answers.append(" ".join(heard))
    return references, answers


def compared(tools: dict[str, Tool], references: Texts, answers: Texts, rounds: int) -> dict[str, float]:
    """Median CPU seconds of each tool; they take turns."""
    taken: dict[str, list[float]] = {name: [] for name in tools}
    errors = set()
    for _ in range(rounds):
        for name, tool in tools.items():
            gc.collect()
            start = time.process_time()
            errors.add(tool(references, answers))
            taken[name].append(time.process_time() - start)
    assert len(errors) == 1, errors
    return {name: statistics.median(times) for name, times in taken.items()}


def main() -> None:
    every: dict[str, Any] = {"pytest-speval": ours, "jiwer": with_jiwer, **peers()}
    for utterances, words, rounds in ((2_620, 20, 7), (100_000, 20, 3), (1, 8_600, 5)):
        references, answers = corpus(utterances, words)
        seconds = compared(every, references, answers, rounds)
        print(f"{utterances:,} utterances of {words:,} words")
        for name, spent in seconds.items():
            print(f"  {name:14s} {spent * 1e3:10.1f} ms")
        print(f"  by jiwer {seconds['pytest-speval'] / seconds['jiwer']:.2f} (goal: at most {GOALS[utterances]})")
    (said,), (heard,) = corpus(1, 15_000)
    start = time.process_time()
    align(said.split(), heard.split())
    spent = time.process_time() - start
    tracemalloc.start()
    align(said.split(), heard.split())
    print(f"15,000 words: {spent:.2f} s, {tracemalloc.get_traced_memory()[1] / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()
