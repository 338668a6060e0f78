"""Near duplicates: recall on planted copies and false alarms on other speech, by kind; speed.

`python benchmarks/near_duplicates.py` plants some 3,000 copies (about a quarter of an hour on one core); `--clips 12`
is the short form. Goals: recall 1.00 for exact copies, at least 0.95 for each other kind; at most 0.1 % false alarms
on second takes and none on other speech; at least 300 times real time per core. `coarse` is the share of copies that
the coarse index proposes, `rule` the share that the rule calls a duplicate when it tries every lag, `found` the share
that the search finds. Needs `../shared/data` beside the checkout; flite and espeak-ng make the set larger.
"""

from __future__ import annotations

import argparse
import itertools
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")  # figures are per core
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from planted_speech import (
    BEYOND,
    CHANGED,
    DATA,
    EXACT,
    RATE,
    Clip,
    Pcm,
    acted_speech,
    read_speech,
    resampled,
    spoken_digits,
    synthetic_speech,
)

from pytest_speval.audit.alignment import allowed_lags, best_logmel, best_waveform
from pytest_speval.audit.coarse_index import candidates
from pytest_speval.audit.near import near_duplicates, verdict, within
from pytest_speval.corpus.audio import as_float, decode, read_bytes
from pytest_speval.corpus.fingerprint import Fingerprint, assessable, fingerprint

Group = dict[str, list[tuple[Pcm, int]]]  # kind: copies, each with the position of its source


def printed(sound: Pcm) -> Fingerprint:
    return fingerprint(sound, RATE)


def by_rule(first: Fingerprint, second: Fingerprint) -> tuple[float, float, str | None]:
    """Waveform and log-mel correlation at the best of all lags, and what the rule makes of them."""
    lags = allowed_lags(first, second)
    if not lags:
        return 0.0, 0.0, None
    waveform, logmel = best_waveform(first, second, lags), best_logmel(first, second, lags)
    return waveform.score, logmel.score, verdict(waveform, logmel)


def loud_piece(pcm: Pcm, seconds: float, draw: np.random.Generator) -> Pcm:
    """A piece, drawn again while it holds less than half of the clip's power."""
    size = int(seconds * RATE)
    for _ in range(50):
        start = int(draw.integers(0, len(pcm) - size + 1))
        piece = pcm[start : start + size]
        if np.mean(piece**2) >= np.mean(pcm**2) / 2:
            break
    return piece


def planted(sources: list[Clip], filler: list[Clip], draw: np.random.Generator) -> Group:
    group: Group = {
        name: [(change(clip.pcm), place) for place, clip in enumerate(sources)]
        for name, change in {**EXACT, **CHANGED, **BEYOND}.items()
    }

    def piece(pcm: Pcm) -> Pcm:
        return loud_piece(pcm, draw.uniform(1, 1.5), draw)

    def other() -> Pcm:
        return filler[int(draw.integers(len(filler)))].pcm

    long = [(place, clip.pcm) for place, clip in enumerate(sources) if len(clip.pcm) >= 1.6 * RATE]
    group["whole, inside a longer file"] = [
        (np.concatenate([other(), clip.pcm, other()]), place) for place, clip in enumerate(sources)
    ]
    group["1.0 to 1.5 s of it"] = [(piece(pcm), place) for place, pcm in long]
    group["last 1.5 s, then other speech"] = [
        (np.concatenate([pcm[-RATE * 3 // 2 :], other()]), place) for place, pcm in long
    ]
    group["1.0 to 1.5 s, spliced into others"] = [
        (np.concatenate([other(), piece(pcm), other()]), place) for place, pcm in long
    ]
    group["MP3 of a louder middle, noisy"] = [
        (CHANGED["MP3"](CHANGED["noise 20 dB"](CHANGED["middle 60 %"](clip.pcm) * np.float32(2))), place)
        for place, clip in enumerate(sources)
    ]
    return group


def copies_table(sources: list[Clip], filler: list[Clip], draw: np.random.Generator) -> None:
    held = [printed(clip.pcm) for clip in sources]
    print(f"\n{len(sources)} sources\n{'planted':34s}    n  too short  coarse  rule   found  others accused")
    total = 0
    for kind, group in planted(sources, filler, draw).items():
        pairs = [
            (found, place) for found, place in ((printed(pcm), place) for pcm, place in group) if assessable(found)
        ]
        copies, places = [found for found, _ in pairs], [place for _, place in pairs]
        proposed = {(each.first, each.second) for each in candidates(copies, held)}
        matches = {(each.evaluated, each.other) for each in near_duplicates(copies, held) if each.kind == "duplicate"}
        right = set(enumerate(places))
        rule = sum(by_rule(found, held[place])[2] == "duplicate" for found, place in pairs)
        total += len(pairs)
        print(
            f"{kind:34s} {len(pairs):4d} {len(group) - len(pairs):6d}     {len(right & proposed) / len(pairs):.3f}  "
            f"{rule / len(pairs):.3f}  {len(right & matches) / len(pairs):.3f} {len(matches - right):6d}",
            flush=True,
        )
    print(f"{total:,} planted pairs")


def alarms_row(kind: str, pairs: list[tuple[Fingerprint, Fingerprint]]) -> None:
    results = [by_rule(*pair) for pair in pairs if all(map(assessable, pair))]
    waveform, logmel, verdicts = zip(*results, strict=True)
    print(
        f"{kind:44s} {len(results):5d}   {max(waveform):.2f}   {max(logmel):.3f} {verdicts.count('duplicate'):6d}  "
        f"{verdicts.count('look') / len(results):7.3f}",
        flush=True,
    )


def alarms_table(groups: dict[str, list[Clip]], most: int, draw: np.random.Generator) -> None:
    print(f"\n{'no copies, every lag tried':44s}     n  waveform log-mel alarms  share to look at")
    for name, clips in groups.items():
        held = [printed(clip.pcm) for clip in clips]
        kinds: dict[str, list[tuple[int, int]]] = {}
        for one, two in itertools.combinations(range(len(clips)), 2):
            voice, words = clips[one].voice == clips[two].voice, clips[one].words == clips[two].words
            if voice and not words and name == "digits":
                continue  # strings of one voice share recordings
            said = (
                "second take"
                if voice and words
                else f"{'same' if voice else 'other'} voice, {'same' if words else 'other'} words"
            )
            kinds.setdefault(said, []).append((one, two))
        for said, pairs in kinds.items():
            chosen = pairs if said == "second take" else [pairs[at] for at in draw.permutation(len(pairs))[:most]]
            alarms_row(f"{name}: {said}", [(held[one], held[two]) for one, two in chosen])
        if name != "digits":
            found = within(held)
            wrong = [each for each in found if each.kind == "duplicate"]
            for each in wrong[:5]:
                print(
                    each,
                    *(
                        f"{clip.voice} {clip.take} {clip.words!r}"
                        for clip in (clips[each.evaluated], clips[each.other])
                    ),
                )
            print(f"{name}: by search, all {len(held) * (len(held) - 1) // 2:,} pairs: {len(wrong)} alarms, "
                  f"{len(found) - len(wrong)} to look at", flush=True)  # fmt: skip


def features_speed(clips: list[Clip]) -> None:
    seconds = sum(len(clip.pcm) for clip in clips) / RATE
    start = time.process_time()
    for clip in clips:
        printed(clip.pcm)
    times = seconds / (time.process_time() - start)
    print(f"\nfeatures of {seconds:,.0f} s in clips of 16 kHz: {times:,.0f} times real time")
    for name in ("emodb-copy", "read-speech"):
        paths = sorted(path for path in (DATA / name).rglob("*") if path.suffix in (".wav", ".mp3", ".flac"))
        seconds, start = 0.0, time.process_time()
        for path in paths:
            sound = decode(read_bytes(path), path.name)
            fingerprint(np.ascontiguousarray(as_float(sound.stored)[:, 0]), sound.rate)
            seconds += sound.seconds
        kinds = "/".join(sorted({path.suffix for path in paths}))
        print(f"  read, hashed and decoded as well, {name} ({kinds}): {seconds / (time.process_time() - start):,.0f}")


def search_speed(clips: list[Clip], evaluated: int, others: int) -> None:
    """Clips at many speeds, 6 % and more apart, are like other speech; half of the evaluated are noisy copies."""
    speeds = [1.06**power for power in range(-6, 7) if power]

    def variant(number: int) -> Pcm:
        clip, speed = clips[number // len(speeds)], speeds[number % len(speeds)]
        return resampled(clip.pcm, RATE, RATE / speed)[: 6 * RATE]

    made = [printed(variant(number)) for number in range(others)]
    asked = [printed(CHANGED["noise 20 dB"](variant(number))) for number in range(0, others, 2 * others // evaluated)]
    planted = len(asked)
    asked += [printed(clip.pcm[: 6 * RATE]) for clip in clips[planted - evaluated :]]
    cpu = time.process_time()
    proposed = candidates(asked, made)
    coarse = time.process_time() - cpu
    found = near_duplicates(asked, made)
    cpu = time.process_time() - cpu
    pairs = [(asked[each % len(asked)], made[-each - 1]) for each in range(100)]
    start = time.process_time()
    for pair in pairs:
        by_rule(*pair)
    exact = (time.process_time() - start) / len(pairs) * len(asked) * len(made)
    duplicates = {each.evaluated for each in found if each.kind == "duplicate"}
    right = len(duplicates & set(range(planted)))
    taken = cpu - coarse
    print(f"\nsearch of {len(asked):,} clips among {len(made):,}: {taken:.1f} s CPU, {coarse:.1f} s of them the index")
    print(f"  {len(proposed):,} candidates; exact alignment of all pairs: {exact:,.0f} s, {exact / taken:,.0f} times")
    print(f"  {right} of {planted} copies found, {len(duplicates) - right} others accused")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--clips", type=int, default=120, help="sources of planted copies")
    most = options.parse_args().clips
    share = most / 120
    draw = np.random.default_rng(20260817)
    read, acted = list(read_speech()), list(acted_speech())
    sentences = sorted({clip.words for clip in read if clip.words.isascii() and len(clip.words) < 90})
    synthetic = list(synthetic_speech(sentences[: max(4, int(60 * share))], takes=3))
    digits = list(spoken_digits(draw, max(2, int(30 * share)), takes=5))
    print(f"{len(read)} read, {len(acted)} acted, {len(synthetic)} synthetic clips, {len(digits)} strings of digits")
    pools = [each for each in (read, acted, synthetic) if each]
    sources = [pool[at] for pool in pools for at in sorted(draw.permutation(len(pool))[: most // len(pools)])]
    chosen = {id(clip) for clip in sources}
    filler = [clip for clip in read + synthetic[::5] if id(clip) not in chosen and len(clip.pcm) < 8 * RATE]
    features_speed(sources)
    copies_table(sources, filler, draw)
    alarms_table({"read": read, "acted": acted, "synthetic": synthetic, "digits": digits}, int(600 * share), draw)
    search_speed(read + acted + synthetic, int(1000 * share), int(10000 * share))


if __name__ == "__main__":
    main()
